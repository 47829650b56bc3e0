//! `--output-dir`: one file an object, and a kustomization that has them in the order of applying.
//!
//! The names say what is in the files, and stay the same whatever else is rendered. The kustomization of the last time says which files are ours.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::manifest::ObjectId;
use crate::ui::Ui;
use crate::yaml;

/// The file that lists the others, in the order of applying.
const KUSTOMIZATION: &str = "kustomization.yaml";

/// Its first line, which says that it and what it lists are ours.
const MARK: &str =
    "# Written by kubectl bpfman config render. Files that it no longer renders are removed by --prune.\n";

/// The lines after it, each with a file of an earlier time that is still there.
const LEFT_OVER: &str = "# left over: ";

/// One file.
pub struct Content {
    name: String,
    text: String,
}

impl Content {
    /// The file of an object; the name is that of the object, with what no file system takes replaced.
    pub fn new(id: &ObjectId, ending: &str, text: String) -> Self {
        let parts = [Some(id.kind.to_lowercase()), id.namespace.clone(), Some(id.name.replace(':', "_"))];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        Self { name: format!("{}.{ending}", parts.join("-")), text }
    }
}

/// Writes `files` and their kustomization into `directory`, which is made if needed. With `prune` it removes what it has written there before and
/// does not now; else it names the manifests that are left over, since whoever applies the directory applies them too.
pub fn write(directory: &Path, files: &[Content], prune: bool, ui: &Ui) -> anyhow::Result<()> {
    let names: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    if let Some(twice) =
        files.iter().map(|file| &file.name).find(|name| files.iter().filter(|file| file.name == **name).count() > 1)
    {
        bail!("two objects would be written to {twice}; nothing was written");
    }
    let before = written_before(directory)?;
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    for file in files {
        replace(&directory.join(&file.name), &file.text)?;
    }
    let resources: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let list = json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "sortOptions": {"order": "fifo"},
        "resources": resources,
    });
    let obsolete: Vec<&String> = before.iter().filter(|name| !names.contains(name.as_str())).collect();
    let kept = obsolete.iter().filter(|name| !prune && directory.join(name).exists());
    let kept: String = kept.map(|name| format!("{LEFT_OVER}{name}\n")).collect();
    replace(&directory.join(KUSTOMIZATION), &format!("{MARK}{kept}{}", yaml::to_string(&list)))?;
    for name in obsolete.iter().filter(|_| prune) {
        let path = directory.join(name);
        match fs::remove_file(&path) {
            Ok(()) => ui.note(&format!("removed {}", path.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("cannot remove {}", path.display())),
        }
    }
    for path in left_over(directory, &names)? {
        ui.warning(&format!("{} was there before, and is none of what was rendered now", path.display()));
    }
    Ok(())
}

/// The files that were written the last time; an error if the kustomization there is somebody else's.
fn written_before(directory: &Path) -> anyhow::Result<Vec<String>> {
    let path = directory.join(KUSTOMIZATION);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let Some(text) = text.strip_prefix(MARK) else {
        bail!("{} was not written by render; choose another directory", path.display());
    };
    let list: Value = serde_yaml::from_str(text).with_context(|| format!("cannot read {}", path.display()))?;
    let names = list.get("resources").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let names = names.chain(text.lines().filter_map(|line| line.strip_prefix(LEFT_OVER)));
    // Only files of the directory itself: somebody may have edited the list.
    Ok(names.filter(|name| Path::new(name).file_name().is_some_and(|file| file == *name)).map(str::to_owned).collect())
}

/// Writes a file so that it is there whole or as it was.
fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = fs::write(&new, text).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // The error that counts is the one above.
        let _ = fs::remove_file(&new);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Other manifests in the directory.
fn left_over(directory: &Path, written: &BTreeSet<&str>) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    let is_left_over = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let ending = path.extension().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
        ["yaml", "yml", "json"].contains(&ending) && !written.contains(name.as_ref()) && name != KUSTOMIZATION
    };
    let mut paths: Vec<PathBuf> = paths.into_iter().filter(is_left_over).collect();
    paths.sort();
    Ok(paths)
}
