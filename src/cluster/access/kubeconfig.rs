//! The kubeconfig files: which are read, and what a context, cluster or user of a name is.
//!
//! Reads files and the environment. The types are kube's; reading is ours: kube's own reader merges the files, so that nobody can
//! say where a setting stands, quotes values that may be secrets, and refuses files that kubectl takes. The first file with a
//! name wins (<https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/#merging-kubeconfig-files>).

use std::env;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use kube::config::{AuthInfo, Cluster, Context, Kubeconfig as Content};

use super::error::AccessError;
use super::kubeconfig_file;
use crate::cluster::connect_error::io_words;

/// The files that were found, in the order of the list.
pub(super) struct Kubeconfig {
    files: Vec<(PathBuf, Content)>,
}

/// A context, cluster or user, and where it stands.
#[derive(Clone, Default)]
pub(super) struct Named<T> {
    /// `user "me" in kubeconfig /home/me/.kube/config`.
    pub(super) origin: String,
    /// Where relative paths begin.
    pub(super) folder: PathBuf,
    /// Its fields; none of them is empty.
    pub(super) fields: T,
}

/// The three kinds of what a kubeconfig names.
pub(super) trait Kind: Clone + Default {
    const NAME: &'static str;

    fn list(content: &Content) -> Vec<(&str, Option<&Self>)>;
}

impl Kind for Cluster {
    const NAME: &'static str = "cluster";

    fn list(content: &Content) -> Vec<(&str, Option<&Self>)> {
        content.clusters.iter().map(|named| (named.name.as_str(), named.cluster.as_ref())).collect()
    }
}

impl Kind for AuthInfo {
    const NAME: &'static str = "user";

    fn list(content: &Content) -> Vec<(&str, Option<&Self>)> {
        content.auth_infos.iter().map(|named| (named.name.as_str(), named.auth_info.as_ref())).collect()
    }
}

impl Kind for Context {
    const NAME: &'static str = "context";

    fn list(content: &Content) -> Vec<(&str, Option<&Self>)> {
        content.contexts.iter().map(|named| (named.name.as_str(), named.context.as_ref())).collect()
    }
}

/// What a kubeconfig has to choose from.
#[derive(Clone, Debug, Default)]
pub(crate) struct KubeconfigNames {
    pub(crate) contexts: Vec<String>,
    pub(crate) clusters: Vec<String>,
    pub(crate) users: Vec<String>,
}

impl KubeconfigNames {
    /// Reads the names; none of a file that cannot be read.
    pub(crate) fn read(file: Option<&Path>) -> Self {
        fn names<T: Kind>(kubeconfig: &Kubeconfig) -> Vec<String> {
            kubeconfig.files.iter().flat_map(|(_, content)| T::list(content)).map(|(name, _)| name.to_owned()).collect()
        }
        let Ok(Some(kubeconfig)) = read(file) else { return Self::default() };
        Self {
            contexts: names::<Context>(&kubeconfig),
            clusters: names::<Cluster>(&kubeconfig),
            users: names::<AuthInfo>(&kubeconfig),
        }
    }
}

/// Reads the file that was asked for, or the list in `KUBECONFIG`, or the home directory's file; none when there is no such list
/// and no such file.
pub(super) fn read(file: Option<&Path>) -> Result<Option<Kubeconfig>, AccessError> {
    if let Some(path) = file {
        let content = read_file(path)?.ok_or_else(|| AccessError::KubeconfigNotFound(path.display().to_string()))?;
        return Ok(Some(Kubeconfig { files: vec![(path.to_owned(), content)] }));
    }
    let list = env::var_os("KUBECONFIG").filter(|list| !list.is_empty());
    let paths: Vec<PathBuf> = match &list {
        Some(list) => env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect(),
        None => env::home_dir().map(|home| home.join(".kube").join("config")).into_iter().collect(),
    };
    let mut files = Vec::new();
    for path in &paths {
        // A file of the list that is not there is left out, as kubectl does.
        files.extend(read_file(path)?.map(|content| (path.clone(), content)));
    }
    if files.is_empty() && list.is_some() {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(AccessError::KubeconfigList(paths.join(", ")));
    }
    Ok((!files.is_empty()).then_some(Kubeconfig { files }))
}

fn read_file(path: &Path) -> Result<Option<Content>, AccessError> {
    let content = match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => Err(io_words(&error)),
        Ok(bytes) => kubeconfig_file::parse(bytes),
    };
    content.map(Some).map_err(|reason| AccessError::Kubeconfig { path: path.display().to_string(), reason })
}

impl Kubeconfig {
    /// No file has a context, cluster or user.
    pub(super) fn is_empty(&self) -> bool {
        let is_empty = |content: &Content| {
            content.clusters.is_empty() && content.auth_infos.is_empty() && content.contexts.is_empty()
        };
        self.files.iter().all(|(_, content)| is_empty(content)) && self.current_context().is_none()
    }

    /// `kubeconfig /home/me/.kube/config`, or all of the list.
    pub(super) fn name(&self) -> String {
        let paths: Vec<String> = self.files.iter().map(|(path, _)| path.display().to_string()).collect();
        format!("kubeconfig {}", paths.join(", "))
    }

    /// The first `current-context`.
    pub(super) fn current_context(&self) -> Option<&str> {
        self.files.iter().find_map(|(_, content)| content.current_context.as_deref())
    }

    /// The first of that name.
    pub(super) fn find<T: Kind>(&self, name: &str) -> Result<Named<T>, AccessError> {
        let found = self.files.iter().find_map(|(path, content)| {
            let (_, fields) = T::list(content).into_iter().find(|(entry, _)| *entry == name)?;
            Some(Named {
                origin: format!("{} {name:?} in kubeconfig {}", T::NAME, path.display()),
                folder: path.parent().map(Path::to_owned).unwrap_or_default(),
                fields: fields.cloned().unwrap_or_default(),
            })
        });
        found.ok_or_else(|| self.not_found::<T>(T::NAME, name))
    }

    /// Says that there is none of that name.
    pub(super) fn not_found<T: Kind>(&self, kind: &'static str, name: &str) -> AccessError {
        AccessError::NotFound { kind, name: name.to_owned(), kubeconfig: self.name(), available: self.names::<T>() }
    }

    /// The names that exist, sorted.
    pub(super) fn names<T: Kind>(&self) -> Vec<String> {
        let names = self.files.iter().flat_map(|(_, content)| T::list(content)).map(|(name, _)| name.to_owned());
        names.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    }
}
