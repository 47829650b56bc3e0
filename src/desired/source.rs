//! The Config and where it comes from: a file, or the cluster. Its lifecycle is read before its spec.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::{Error, Renderer, input};
use crate::cluster::{self, Cluster};
use crate::config::{self, Config, Lifecycle, Origin};
use crate::manifest::{Manifest, ObjectId};
use crate::problem::Problem;
use crate::yaml;

/// A Config, checked, and what is known of the cluster's object of that name.
#[derive(Clone, Debug)]
pub struct Source {
    /// The Config.
    pub config: Config,
    /// The object as it is in the file, or on the server.
    pub object: Value,
    /// The lifecycle of the cluster's object; where no cluster was asked, what a file has of it.
    pub lifecycle: Lifecycle,
    /// Which server-owned fields of a file are not applied, if it has any.
    pub removed: Option<Problem>,
    /// What is worth a warning.
    pub warnings: Vec<Problem>,
    /// Where the overrides are in the file.
    overrides: Vec<Problem>,
}

impl Source {
    /// Checks a Config that was read from the server.
    pub fn of_live(object: Value, id: &ObjectId) -> Result<Self, Error> {
        match Config::read(&object, &id.name, Origin::Live) {
            Ok((config, warnings)) => {
                let lifecycle = Lifecycle::of(&object);
                Ok(Self { config, lifecycle, object, removed: None, warnings, overrides: Vec::new() })
            }
            Err(problems) => Err(Error::Input { about: Some(id.to_string()), problems }),
        }
    }

    /// The Config itself as an object to apply.
    pub fn manifest(&self, id: ObjectId) -> Manifest {
        Manifest { id, object: self.object.clone(), source: "the Config's file".to_owned() }
    }

    /// What rendering says about the Config, with its place in the file.
    pub(super) fn located(&self, problem: Problem) -> Problem {
        let entry = self.overrides.iter().find(|entry| problem.file.is_none() && entry.path == problem.path);
        entry.map(|entry| Problem { message: problem.message.clone(), ..entry.clone() }).unwrap_or(problem)
    }
}

impl Renderer {
    /// Reads the Config from `path` (`-` is standard input) and checks it and what it becomes.
    pub fn read_file(&self, path: &Path) -> Result<Source, Error> {
        let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
        let bytes = read_bytes(path).map_err(|error| {
            let why = match () {
                () if name.contains("://") => "is a URL; download it, and read it from standard input".to_owned(),
                () if path.is_dir() => "is a directory; name the one file that holds the Config".to_owned(),
                () => format!("cannot be read: {error}"),
            };
            input(vec![Problem::in_file(&name, why)])
        })?;
        let read = config::file::read(&name, &bytes, &self.settings.name).map_err(input)?;
        let source = Source {
            config: read.config,
            object: read.object,
            lifecycle: read.lifecycle,
            removed: read.removed,
            warnings: read.warnings,
            overrides: read.overrides,
        };
        self.check(&source)?;
        Ok(source)
    }

    /// Reads the cluster's Config and checks it; none when there is none of that name.
    pub async fn read_live(&self, cluster: &Cluster) -> Result<Option<Source>, Error> {
        let id = self.config_id();
        let live = cluster.get(&id).await.map_err(|source| Error::Cluster { what: id.to_string(), source })?;
        live.map(|object| Source::of_live(object, &id)).transpose()
    }

    /// Reads the lifecycle of the cluster's Config, whatever its spec; empty when there is no Config, or no such kind.
    pub async fn read_lifecycle(&self, cluster: &Cluster) -> Result<Lifecycle, Error> {
        let id = self.config_id();
        match cluster.get(&id).await {
            Ok(live) => Ok(live.as_ref().map(Lifecycle::of).unwrap_or_default()),
            Err(cluster::Error::NotServed { .. }) => Ok(Lifecycle::default()),
            Err(source) => Err(Error::Cluster { what: id.to_string(), source }),
        }
    }
}

fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than is allowed is enough to be refused.
    let limit = yaml::LARGEST_FILE as u64 + 1;
    if path == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
