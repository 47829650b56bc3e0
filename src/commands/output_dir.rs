//! `--output-dir`: one file an object, and a kustomization that has them in the order of applying.
//!
//! The names say what is in the files, and stay the same whatever else is rendered. The kustomization also records the digest of all that was
//! written: only what is still as it was written is overwritten or removed, so that nothing of anybody else is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use serde_json::json;

use crate::digest::sha256;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::ObjectId;
use crate::ui::Ui;
use crate::yaml;

/// The file that lists the others, in the order of applying.
const KUSTOMIZATION: &str = "kustomization.yaml";

/// The other names that kubectl knows it by; of two it takes none.
const OTHER_KUSTOMIZATIONS: [&str; 2] = ["kustomization.yml", "Kustomization"];

/// Its first line.
const MARK: &str = "# Written by kubectl bpfman config render, with these files; what was changed since is never overwritten or removed.\n";

/// The lines after it: digest and name of a file that was written.
const RECORD: &str = "# sha256:";

/// The ending of a file that is being written.
const UNFINISHED: &str = "bpfman-config-render";

/// One file.
pub struct Content {
    name: String,
    text: String,
}

impl Content {
    /// The file of an object, named as the object is in messages.
    pub fn new(id: &ObjectId, ending: &str, text: String) -> Self {
        let group = if id.group().is_empty() { String::new() } else { format!(".{}", id.group()) };
        let kind = format!("{}{group}", id.kind.to_lowercase());
        // A name of RBAC may have a colon, which not every file system takes.
        let parts = [Some(kind), id.namespace.clone(), Some(id.name.replace(':', "_"))];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        Self { name: format!("{}.{ending}", parts.join("-")), text }
    }
}

/// What was written: the digests of each file, more than one when a run was interrupted.
type Records = BTreeMap<String, BTreeSet<String>>;

/// Writes `files` and their kustomization into `directory`, which is made if needed. With `prune` it removes what it has written there before and
/// does not now; else it names the manifests that are left over, since whoever applies the directory applies them too.
///
/// Nothing is written when two files have one name, or when a file is in the way that was not written here or was changed since.
pub fn write(directory: &Path, files: &[Content], prune: bool, ui: &Ui) -> Result<(), Failure> {
    let cannot = |error| Failure::new(Exit::NoAnswer, error);
    check_names(files)?;
    let before = records(directory)?;
    check_unchanged(directory, files, &before)?;
    write_all(directory, files, before, prune, ui).map_err(cannot)
}

/// File systems that do not tell upper from lower case count, too.
fn check_names(files: &[Content]) -> Result<(), Failure> {
    let mut names = BTreeSet::new();
    match files.iter().find(|file| !names.insert(file.name.to_lowercase())) {
        Some(twice) => Err(Failure::new(
            Exit::Input,
            anyhow!("two objects would be written to {}; nothing was written", twice.name),
        )),
        None => Ok(()),
    }
}

fn check_unchanged(directory: &Path, files: &[Content], before: &Records) -> Result<(), Failure> {
    let other =
        OTHER_KUSTOMIZATIONS.iter().map(|name| directory.join(name)).find(|path| path.symlink_metadata().is_ok());
    let foreign = |file: &&Content| {
        let path = directory.join(&file.name);
        path.symlink_metadata().is_ok() && !is_as_written(&path, before.get(&file.name), Some(&file.text))
    };
    let found = other.or_else(|| files.iter().find(foreign).map(|file| directory.join(&file.name)));
    found.map_or(Ok(()), |path| Err(in_the_way(&path)))
}

fn in_the_way(path: &Path) -> Failure {
    let error = anyhow!("{} was not written by render, or was changed since; nothing was written", path.display());
    Failure::new(Exit::NoAnswer, error).hint("move it away, or choose another directory")
}

/// Whether a file has one of the digests, or the text that it is to have.
fn is_as_written(path: &Path, digests: Option<&BTreeSet<String>>, text: Option<&str>) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    let Ok(found) = fs::read(path) else { return false };
    let digest = sha256(&found);
    is_file
        && (digests.is_some_and(|known| known.contains(&digest)) || text.is_some_and(|text| text.as_bytes() == found))
}

fn write_all(directory: &Path, files: &[Content], before: Records, prune: bool, ui: &Ui) -> anyhow::Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let names: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let mut written = Records::new();
    for file in files {
        written.entry(file.name.clone()).or_default().insert(sha256(file.text.as_bytes()));
    }
    // All that is there, and all that will be: whenever this ends, the next run knows each file.
    let mut both = before.clone();
    for (name, digests) in &written {
        both.entry(name.clone()).or_default().extend(digests.iter().cloned());
    }
    write_kustomization(directory, files, &both)?;
    for file in files {
        replace(&directory.join(&file.name), &file.text)?;
    }
    for (name, digests) in before.into_iter().filter(|(name, _)| !names.contains(name.as_str())) {
        let path = directory.join(&name);
        let is_as_written = is_as_written(&path, Some(&digests), None);
        if prune && is_as_written {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            ui.note(&format!("removed {}", path.display()));
        } else if is_as_written {
            written.insert(name, digests);
        }
    }
    write_kustomization(directory, files, &written)?;
    for path in left_over(directory, &names)? {
        ui.warning(&format!("{} was there before, and is none of what was rendered now", path.display()));
    }
    Ok(())
}

fn write_kustomization(directory: &Path, files: &[Content], records: &Records) -> anyhow::Result<()> {
    let resources: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let list = json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "sortOptions": {"order": "fifo"},
        "resources": resources,
    });
    let list = yaml::to_string(&list);
    let own = format!("{RECORD}{} {KUSTOMIZATION}\n", sha256(list.as_bytes()));
    let record = |(name, digest): (&String, &String)| format!("{RECORD}{digest} {name}\n");
    let records: String =
        records.iter().flat_map(|(name, digests)| digests.iter().map(move |digest| record((name, digest)))).collect();
    replace(&directory.join(KUSTOMIZATION), &format!("{MARK}{own}{records}{list}"))
}

/// What was written the last time; an error if the kustomization there is somebody else's, or has been changed.
fn records(directory: &Path) -> Result<Records, Failure> {
    let path = directory.join(KUSTOMIZATION);
    match fs::read_to_string(&path) {
        Ok(text) => read_records(&text).ok_or_else(|| in_the_way(&path)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Records::new()),
        Err(error) => Err(Failure::new(
            Exit::NoAnswer,
            anyhow::Error::new(error).context(format!("cannot read {}", path.display())),
        )),
    }
}

fn read_records(text: &str) -> Option<Records> {
    let mut rest = text.strip_prefix(MARK)?;
    let mut records = Records::new();
    while let Some((line, after)) = rest.split_once('\n').filter(|_| rest.starts_with(RECORD)) {
        let (digest, name) = line.strip_prefix(RECORD)?.split_once(' ')?;
        // Nothing outside of the directory is ours, whatever the list says.
        if Path::new(name).file_name().is_some_and(|file| file == name) {
            records.entry(name.to_owned()).or_default().insert(digest.to_owned());
        }
        rest = after;
    }
    let own = records.remove(KUSTOMIZATION)?;
    own.contains(&sha256(rest.as_bytes())).then_some(records)
}

/// Writes a file so that it is there whole or as it was.
fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}.{UNFINISHED}"));
    // What a run left behind that was killed; a link there must not be followed.
    let _ = fs::remove_file(&new);
    let written = fs::File::create_new(&new)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&new, path));
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
