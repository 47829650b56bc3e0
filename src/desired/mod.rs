//! What should be there: read once a pass, from the Config and the templates, and carried from here on as one value.
//!
//! Reads files and asks the API server for the Config and for what it serves; what it makes of them is decided in `config` and `render`.

mod platform;
mod source;

use std::path::PathBuf;

use thiserror::Error;

pub use self::platform::{MonitoringSetting, PlatformSetting};
pub use self::source::Source;
use crate::cluster::{self, Cluster, Served};
use crate::config;
use crate::manifest::{Manifest, ObjectId};
use crate::problem::Problem;
use crate::render::{self, Platform};
use crate::templates::Templates;

/// The settings beside the Config.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name of the Config.
    pub name: String,
    /// The folder of templates that replace built-in ones or are added to them.
    pub templates: Option<PathBuf>,
    /// Which platform to render for.
    pub platform: PlatformSetting,
    /// Whether to render the monitoring objects.
    pub monitoring: MonitoringSetting,
    /// The pull policy of all containers; without one the server decides.
    pub image_pull_policy: Option<String>,
}

/// What should be there.
#[derive(Clone, Debug)]
pub struct Desired {
    /// The Config that it was made from.
    pub source: Source,
    /// The objects, in the order of applying.
    pub manifests: Vec<Manifest>,
    /// The objects that the Config says to leave alone.
    pub unmanaged: Vec<ObjectId>,
    /// What is worth a warning.
    pub warnings: Vec<Problem>,
}

/// Why it is not known what should be there.
#[derive(Debug, Error)]
pub enum Error {
    /// The Config or a template is wrong: every problem, under what they are about.
    #[error("invalid input")]
    Input {
        /// The object, when it is not a file.
        about: Option<String>,
        /// Everything that is wrong.
        problems: Vec<Problem>,
    },
    /// The server did not give what was asked for.
    #[error("cannot read {what}")]
    Cluster {
        /// What was to be read.
        what: String,
        /// Why not.
        source: cluster::Error,
    },
    /// The cluster has no Config of that name.
    #[error("{0} not found")]
    NotFound(ObjectId),
}

/// Turns Configs into what they become, with templates that were read once.
#[derive(Clone, Debug)]
pub struct Renderer {
    settings: Settings,
    templates: Templates,
    template_warnings: Vec<Problem>,
}

impl Renderer {
    /// Reads the templates.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let (templates, template_warnings) = match &settings.templates {
            Some(folder) => Templates::with_overlay(folder).map_err(input)?,
            None => (Templates::builtin(), Vec::new()),
        };
        Ok(Self { settings, templates, template_warnings })
    }

    /// The settings that it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The identity of the Config.
    pub fn config_id(&self) -> ObjectId {
        config_id(&self.settings.name)
    }

    /// Renders `source` for `platform`.
    pub fn render(&self, source: Source, platform: Platform) -> Result<Desired, Error> {
        let policy = self.settings.image_pull_policy.as_deref();
        let rendered =
            render::render(&source.config, source.lifecycle.uid.as_deref(), &self.templates, platform, policy)
                .map_err(input)?;
        let mut warnings = source.warnings.clone();
        warnings.extend(self.template_warnings.iter().cloned());
        warnings.extend(rendered.warnings.into_iter().map(|warning| source.located(warning)));
        Ok(Desired { source, manifests: rendered.manifests, unmanaged: rendered.unmanaged, warnings })
    }

    /// Whether `source` can be rendered for every platform that the settings allow: what is wrong is known before anything is sent.
    pub fn check(&self, source: &Source) -> Result<(), Error> {
        self.render(source.clone(), self.widest_platform()).map(drop)
    }

    /// Reads the cluster's Config, which must be there, and beside it what the cluster serves.
    pub async fn read_cluster(&self, cluster: &Cluster) -> Result<(Source, Option<Served>), Error> {
        let (source, served) = tokio::join!(self.read_live(cluster), self.served(cluster));
        let source = source?.ok_or_else(|| Error::NotFound(self.config_id()))?;
        Ok((source, served?))
    }
}

/// The identity of a Config.
pub fn config_id(name: &str) -> ObjectId {
    ObjectId {
        api_version: config::API_VERSION.to_owned(),
        kind: config::KIND.to_owned(),
        namespace: None,
        name: name.to_owned(),
    }
}

fn input(problems: Vec<Problem>) -> Error {
    Error::Input { about: None, problems }
}
