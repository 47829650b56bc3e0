//! The flags that say what is desired, and how what is read by them is reported.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::connection::Connection;
use super::flags;
use super::hints;
use crate::cluster::{Cluster, Served};
use crate::config::{self, Config};
use crate::desired::{Desired, Error, MonitoringSetting, PlatformSetting, Renderer, Settings, Source};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::Platform;
use crate::ui::Ui;

/// A little more than a Config may have, in bytes: the process that reads it says what is wrong.
const MOST_PIPED: u64 = 21 << 20;

/// What says what is desired, beside the Config.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct Input {
    /// Name of the Config, and the field manager's name
    #[arg(long, value_name = "NAME", default_value = config::DEFAULT_NAME, value_parser = flags::object_name)]
    pub name: String,
    /// Directory of templates: a file there replaces the built-in one of the same name, others are added
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub templates: Option<PathBuf>,
    /// Platform to render for; auto asks the cluster whether it serves route.openshift.io
    #[arg(long, value_enum, value_name = "PLATFORM", default_value_t)]
    pub platform: PlatformChoice,
    /// Whether to render the monitoring objects; auto asks the cluster whether it serves monitoring.coreos.com
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub monitoring: MonitoringChoice,
    /// Pull policy of all containers, as a pod has it; without it the server decides
    #[arg(long, value_name = "POLICY", env = "BPFMAN_IMAGE_PULL_POLICY", value_parser = flags::pull_policy)]
    pub image_pull_policy: Option<String>,
    /// Namespace that the Config must name; a check, the Config decides
    #[arg(long, short, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
}

/// The flag that takes the Config from a file.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct File {
    /// File that holds the Config, - for standard input; without it the cluster's own is read
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub filename: Option<PathBuf>,
}

/// `--platform`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum PlatformChoice {
    /// What the cluster serves decides.
    #[default]
    Auto,
    /// Plain Kubernetes.
    Kubernetes,
    /// OpenShift.
    Openshift,
}

/// `--monitoring`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum MonitoringChoice {
    /// What the cluster serves decides.
    #[default]
    Auto,
    /// Render them.
    On,
    /// Leave them out.
    Off,
}

impl File {
    /// Reads the file as [`Self::read`] does, to compare or apply the Config itself; says which fields are left out of that.
    pub fn read_to_apply(&self, input: &Input, renderer: &Renderer, ui: &Ui) -> Result<Option<Source>, Failure> {
        let source = self.read(input, renderer)?;
        if let Some(removed) = source.as_ref().and_then(|source| source.removed.as_ref()) {
            ui.warning(&removed.to_string());
        }
        Ok(source)
    }

    /// Reads and checks the Config of the file, and what it becomes, so that nothing is sent if anything is wrong; none without the flag.
    pub fn read(&self, input: &Input, renderer: &Renderer) -> Result<Option<Source>, Failure> {
        let Some(path) = &self.filename else { return Ok(None) };
        let source = renderer.read_file(path).map_err(failure)?;
        input.check_namespace(&source.config)?;
        Ok(Some(source))
    }

    /// What is on standard input, if the Config is read from there: for several clusters it is read once.
    pub fn piped(&self) -> Result<Option<Vec<u8>>, Failure> {
        if self.filename.as_deref() != Some(Path::new("-")) {
            return Ok(None);
        }
        let mut text = Vec::new();
        let read = std::io::stdin().lock().take(MOST_PIPED).read_to_end(&mut text);
        read.map_err(|error| Failure::new(Exit::Input, error).context("cannot read standard input"))?;
        Ok(Some(text))
    }

    /// Whether the Config comes from a file.
    pub fn is_given(&self) -> bool {
        self.filename.is_some()
    }

    /// Prepares the connection to the chosen cluster; standard input is in use when the Config is read from it.
    pub async fn connect(&self, to: &Connection, field_manager: &str, limit: Duration) -> Result<Cluster, Failure> {
        to.connect(self.filename.as_deref() == Some(Path::new("-")), field_manager, limit).await
    }
}

impl Input {
    /// Reads the templates.
    pub fn renderer(&self) -> Result<Renderer, Failure> {
        let settings = Settings {
            name: self.name.clone(),
            templates: self.templates.clone(),
            platform: match self.platform {
                PlatformChoice::Auto => PlatformSetting::Auto,
                PlatformChoice::Kubernetes => PlatformSetting::Kubernetes,
                PlatformChoice::Openshift => PlatformSetting::Openshift,
            },
            monitoring: match self.monitoring {
                MonitoringChoice::Auto => MonitoringSetting::Auto,
                MonitoringChoice::On => MonitoringSetting::On,
                MonitoringChoice::Off => MonitoringSetting::Off,
            },
            image_pull_policy: self.image_pull_policy.clone(),
        };
        Renderer::new(settings).map_err(failure)
    }

    /// Reads the cluster's Config, which must be there, and the platform beside it.
    pub async fn read_cluster(
        &self,
        renderer: &Renderer,
        cluster: &Cluster,
        ui: &Ui,
    ) -> Result<(Source, Platform), Failure> {
        let (source, served) = renderer.read_cluster(cluster).await.map_err(failure)?;
        self.check_namespace(&source.config)?;
        Ok((source, platform(renderer, served.as_ref(), ui)))
    }

    /// Checks that the Config names the namespace that was typed.
    pub fn check_namespace(&self, config: &Config) -> Result<(), Failure> {
        match self.namespace.as_ref().filter(|name| !name.is_empty() && **name != config.namespace) {
            None => Ok(()),
            Some(namespace) => Err(Failure::usage(format!(
                "--namespace {namespace} is not the namespace of the Config: spec.namespace is {}",
                config.namespace
            ))
            .hint("leave --namespace out, or change spec.namespace")),
        }
    }
}

/// Decides the platform, and says what is left out.
pub fn platform(renderer: &Renderer, served: Option<&Served>, ui: &Ui) -> Platform {
    if renderer.lacks_monitoring(served) {
        ui.note("monitoring.coreos.com is not served: the monitoring objects are left out");
    }
    renderer.platform(served)
}

/// Renders; prints warnings and what is left out.
pub fn render(renderer: &Renderer, source: Source, platform: Platform, ui: &Ui) -> Result<Desired, Failure> {
    let desired = renderer.render(source, platform).map_err(failure)?;
    for warning in &desired.warnings {
        ui.warning(&warning.to_string());
    }
    for id in &desired.unmanaged {
        ui.note(&format!("{id} skipped (unmanaged)"));
    }
    Ok(desired)
}

/// The end of a command that does not know what is desired.
pub fn failure(error: Error) -> Failure {
    match error {
        Error::Input { about: None, problems } => Failure::input(problems),
        Error::Input { about: Some(object), problems } => {
            Failure::input(problems).context(format!("{object} is invalid"))
        }
        Error::Cluster { what, source } => hints::failure(source, format!("cannot read {what}")),
        Error::NotFound(id) => Failure::new(Exit::Refused, anyhow::anyhow!("{id} not found"))
            .hint("create it, read it from a file with --filename, or choose another one with --name"),
    }
}
