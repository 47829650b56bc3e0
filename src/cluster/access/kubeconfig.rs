//! The kubeconfig files: which are read, and what their entries say.
//!
//! Reads files and the environment. The first file with an entry of a name wins, and no two entries are mixed
//! (<https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/#merging-kubeconfig-files>).
//! Only what is chosen must be complete, but what is there must be of the right shape in all files, as for kubectl.

use std::env;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::entry::{CLUSTERS, CONTEXTS, Entry, List, USERS, name_of};
use crate::cluster::connect_error::io_words;
use crate::failure::Failure;
use crate::yaml;

/// The files that were found, in the order of the list.
pub(super) struct Kubeconfig {
    files: Vec<File>,
}

struct File {
    path: PathBuf,
    content: Map<String, Value>,
}

/// Reads the file of `--kubeconfig`, or the list in `KUBECONFIG`, or the home folder's file; none when there is no such list and
/// no such file.
pub(super) fn read(named: Option<&Path>) -> Result<Option<Kubeconfig>, Failure> {
    if let Some(path) = named {
        let file = read_file(path)?.ok_or_else(|| {
            Failure::usage(format!("cannot read kubeconfig {}: no such file or directory", path.display()))
                .hint("without --kubeconfig the files of $KUBECONFIG are read, or ~/.kube/config")
        })?;
        return Ok(Some(Kubeconfig { files: vec![file] }));
    }
    let list = env::var_os("KUBECONFIG").filter(|list| !list.is_empty());
    let paths: Vec<PathBuf> = match &list {
        Some(list) => env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect(),
        None => env::home_dir().map(|home| home.join(".kube").join("config")).into_iter().collect(),
    };
    // A file of the list that is not there is left out, as kubectl does.
    let files: Vec<File> = paths.iter().filter_map(|path| read_file(path).transpose()).collect::<Result<_, _>>()?;
    if files.is_empty() && list.is_some() {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::usage(format!("KUBECONFIG names no file that exists: {}", paths.join(", ")))
            .hint("unset KUBECONFIG to use ~/.kube/config, or name a file with --kubeconfig"));
    }
    Ok((!files.is_empty()).then_some(Kubeconfig { files }))
}

fn read_file(path: &Path) -> Result<Option<File>, Failure> {
    let wrong = |what: String| {
        Failure::usage(format!("cannot read kubeconfig {}: {what}", path.display()))
            .hint("repair the file, or name another with --kubeconfig")
    };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(io_words(&error))),
    };
    // Only the first document counts, as for kubectl.
    let text = utf8(bytes);
    let document = yaml::documents(&text).next().transpose().map_err(|error| wrong(error.to_string()))?;
    let content = match document.map(|document| document.value) {
        Some(Value::Object(content)) => content,
        _ => Map::new(),
    };
    check(&content).map_err(wrong)?;
    Ok(Some(File { path: path.to_owned(), content }))
}

/// What Windows shells write into a file is UTF-16 with a mark at its beginning; kubectl reads that too.
fn utf8(bytes: Vec<u8>) -> Vec<u8> {
    let (unit, units): (fn([u8; 2]) -> u16, _) = match bytes.as_slice() {
        [0xFF, 0xFE, units @ ..] => (u16::from_le_bytes, units),
        [0xFE, 0xFF, units @ ..] => (u16::from_be_bytes, units),
        _ => return bytes,
    };
    let (pairs, []) = units.as_chunks::<2>() else { return bytes };
    String::from_utf16(&pairs.iter().copied().map(unit).collect::<Vec<_>>()).map_or(bytes, String::into_bytes)
}

fn check(content: &Map<String, Value>) -> Result<(), String> {
    let text = |key| content.get(key).and_then(Value::as_str).unwrap_or_default();
    let (kind, version) = (text("kind"), text("apiVersion"));
    if !matches!(kind, "" | "Config") || !matches!(version, "" | "v1") {
        return Err(format!("it is of kind {kind:?} and version {version:?}, not a Config of version v1"));
    }
    if content.get("current-context").is_some_and(|name| !name.is_null() && !name.is_string()) {
        return Err("current-context must be text".to_owned());
    }
    [&CLUSTERS, &USERS, &CONTEXTS].into_iter().try_for_each(|list| list.check(content.get(list.key)))
}

impl Kubeconfig {
    /// No entry and no choice in any file.
    pub(super) fn is_empty(&self) -> bool {
        self.files.iter().all(|file| file.content.values().all(|value| value.as_array().is_none_or(Vec::is_empty)))
            && self.current_context().is_none()
    }

    /// `kubeconfig /home/me/.kube/config`, or all of the list.
    pub(super) fn name(&self) -> String {
        let paths: Vec<String> = self.files.iter().map(|file| file.path.display().to_string()).collect();
        format!("kubeconfig {}", paths.join(", "))
    }

    /// The first `current-context` that is not empty: kubectl leaves an empty one behind.
    pub(super) fn current_context(&self) -> Option<&str> {
        let mut contexts = self.files.iter().filter_map(|file| file.content.get("current-context")?.as_str());
        contexts.find(|name| !name.is_empty())
    }

    /// The first entry of that name.
    pub(super) fn find(&self, list: &List, name: &str) -> Option<Entry> {
        self.files.iter().find_map(|file| {
            let entry = file.entries(list).find(|entry| name_of(entry) == Some(name))?;
            Some(Entry::of_file(list, name, entry, &file.path))
        })
    }

    /// That there is no entry of that name, and the names that there are.
    pub(super) fn missing(&self, list: &List, name: &str) -> Failure {
        let failure = Failure::usage(format!("there is no {} {name:?} in {}", list.kind, self.name()));
        match self.names(list) {
            Some(names) => failure.hint(format!("there is: {names}")),
            None => failure.hint(format!("it has no {} at all", list.kind)),
        }
    }

    /// The names of a list's entries, none when there are none.
    pub(super) fn names(&self, list: &List) -> Option<String> {
        let mut names: Vec<&str> = self.files.iter().flat_map(|file| file.entries(list)).filter_map(name_of).collect();
        names.sort_unstable();
        names.dedup();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

impl File {
    fn entries(&self, list: &List) -> impl Iterator<Item = &Value> {
        self.content.get(list.key).and_then(Value::as_array).into_iter().flatten()
    }
}
