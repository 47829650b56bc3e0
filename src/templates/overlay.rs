//! Reads a directory of templates. The only part of rendering that accesses files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Problem, Templates};

/// The limit of a template file, in bytes; manifests that the API accepts are smaller.
const LIMIT: u64 = 3 << 20;

impl Templates {
    /// The built-in templates, replaced and complemented by the `*.yaml` and `*.yml` files of `directory`.
    ///
    /// Warns of each other file, except those whose name begins with a dot. Errors are a directory that does not exist or
    /// has no templates, and files that cannot be read.
    pub fn with_overlay(directory: &Path) -> Result<(Self, Vec<Problem>), Vec<Problem>> {
        let named = |path: &Path, message: String| Problem::in_file(&path.display().to_string(), message);
        let entries = list(directory).map_err(|error| vec![named(directory, format!("cannot be read: {error}"))])?;
        let mut templates = Self::builtin();
        let (mut problems, mut warnings, mut count) = (Vec::new(), Vec::new(), 0);
        for path in entries {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let read = if has_yaml_extension(&path) { read(&path) } else { Ok(None) };
            match read {
                Ok(None) => {
                    let expected = if has_yaml_extension(&path) { "a regular file" } else { "a *.yaml or *.yml file" };
                    warnings.push(named(&path, format!("is ignored: not {expected}")));
                    continue;
                }
                Ok(Some(text)) => templates.insert(&name, path.display().to_string(), text),
                Err(error) => problems.push(named(&path, format!("cannot be read: {error}"))),
            }
            count += 1;
        }
        if count == 0 {
            problems.push(named(directory, "contains no *.yaml or *.yml files".to_owned()));
        }
        if problems.is_empty() { Ok((templates, warnings)) } else { Err(problems) }
    }
}

fn list(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    // Editors and mounted ConfigMaps create such files.
    paths.retain(|path| !path.file_name().unwrap_or_default().to_string_lossy().starts_with('.'));
    paths.sort();
    Ok(paths)
}

fn has_yaml_extension(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// The text of a regular file.
fn read(path: &Path) -> io::Result<Option<String>> {
    if !fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LIMIT + 1).read_to_end(&mut bytes)?;
    let invalid = |message: String| io::Error::new(io::ErrorKind::InvalidData, message);
    if bytes.len() as u64 > LIMIT {
        return Err(invalid(format!("larger than {} MiB", LIMIT >> 20)));
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| invalid(format!("byte {} is not UTF-8", error.utf8_error().valid_up_to() + 1)))?;
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}
