//! Reads a folder of templates. The only place where rendering meets the file system.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Problem, Templates};

/// The most that a template file may hold, in bytes; a manifest that the API takes is smaller.
const LIMIT: u64 = 3 << 20;

impl Templates {
    /// Lays the `*.yaml` and `*.yml` files of `folder` over the built-in templates; a file of the same name replaces one.
    ///
    /// Gives the templates and a warning for each other file (names that begin with a dot aside). A folder that is not
    /// there or holds no template, and a file that cannot be read, are errors; all are given.
    pub fn with_overlay(folder: &Path) -> Result<(Self, Vec<Problem>), Vec<Problem>> {
        let named = |path: &Path, message: String| Problem::in_file(&path.display().to_string(), message);
        let entries = list(folder).map_err(|error| vec![named(folder, format!("cannot read the folder: {error}"))])?;
        let mut templates = Self::builtin();
        let (mut problems, mut warnings, mut count) = (Vec::new(), Vec::new(), 0);
        for path in entries {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let read = if is_named_as_template(&path) { read(&path) } else { Ok(None) };
            match read {
                Ok(None) => {
                    let what = if is_named_as_template(&path) { "a regular file" } else { "a *.yaml or *.yml file" };
                    warnings.push(named(&path, format!("is not {what} and is not used")));
                    continue;
                }
                Ok(Some(text)) => templates.lay_over(&name, path.display().to_string(), text),
                Err(error) => problems.push(named(&path, format!("cannot read the template: {error}"))),
            }
            count += 1;
        }
        if count == 0 {
            problems.push(named(folder, "the folder holds no *.yaml or *.yml file".to_owned()));
        }
        if problems.is_empty() { Ok((templates, warnings)) } else { Err(problems) }
    }
}

fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    // Dotted names are what editors and mounted config maps leave beside the files.
    paths.retain(|path| !path.file_name().unwrap_or_default().to_string_lossy().starts_with('.'));
    paths.sort();
    Ok(paths)
}

fn is_named_as_template(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// The text of a file; none for a folder, a pipe and the like.
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
