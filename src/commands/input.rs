//! The first steps of every command: the flags that say what is wanted, reading it, and rendering it.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::{flags, hints};
use crate::cluster::{self, Cluster, Connection, Served};
use crate::config::file::FromFile;
use crate::config::{self, Config, Lifecycle, Origin};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::{Manifest, ObjectId};
use crate::problem::Problem;
use crate::render::{self, Platform, Rendered};
use crate::templates::Templates;
use crate::ui::Ui;
use crate::yaml;

/// What says what is wanted, beside the Config.
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

/// A Config, checked, and the object it was read from.
pub struct Source {
    /// The Config.
    pub config: Config,
    /// The server-owned metadata of `object`, or of the same Config on the cluster.
    pub lifecycle: Lifecycle,
    /// The object as it stands in the file or on the server.
    pub object: Value,
    /// Which fields of the file are not applied.
    removed: Option<Problem>,
    /// The positions of the overrides in the file.
    overrides: Vec<Problem>,
}

impl Source {
    /// What rendering says about the Config, with its place in the file.
    fn located(&self, problem: Problem) -> Problem {
        let place = self.overrides.iter().find(|place| problem.file.is_none() && place.path == problem.path);
        place.map(|place| Problem { message: problem.message.clone(), ..place.clone() }).unwrap_or(problem)
    }
}

impl File {
    /// Reads and checks the Config of the file, and renders it, so that nothing is sent if anything is wrong; none without the flag.
    pub fn read(&self, input: &Input, ui: &Ui) -> Result<Option<Source>, Failure> {
        let Some(path) = &self.filename else { return Ok(None) };
        let source = input.read_file(path, ui)?;
        source.removed.iter().for_each(|removed| ui.warning(&removed.to_string()));
        input.check_render(&source, input.widest_platform())?;
        Ok(Some(source))
    }

    /// Opens the way to the chosen cluster; standard input is no longer free when it was the file.
    pub fn connect(&self, flags: &Connection, field_manager: &str, limit: Duration) -> Result<Cluster, Failure> {
        let stdin_is_read = self.filename.as_deref() == Some(Path::new("-"));
        connect(&Connection { stdin_is_read, ..flags.clone() }, field_manager, limit)
    }
}

impl Input {
    /// Decides the platform; `served` is none where no cluster is asked, and `auto` then means plain Kubernetes.
    pub fn platform(&self, served: Option<&Served>, ui: &Ui) -> Platform {
        let has = |group| served.is_some_and(|served| served.has_group(group));
        if self.monitoring == MonitoringChoice::Auto && served.is_some() && !has("monitoring.coreos.com") {
            ui.note("monitoring.coreos.com is not served: the monitoring objects are left out");
        }
        Platform {
            openshift: match self.platform {
                PlatformChoice::Auto => has("route.openshift.io"),
                PlatformChoice::Kubernetes => false,
                PlatformChoice::Openshift => true,
            },
            monitoring: match self.monitoring {
                MonitoringChoice::Auto => has("monitoring.coreos.com"),
                MonitoringChoice::On => true,
                MonitoringChoice::Off => false,
            },
        }
    }

    /// The platform with the most objects that the flags allow: a template is wrong before it is known whether it is wanted.
    fn widest_platform(&self) -> Platform {
        Platform {
            openshift: self.platform != PlatformChoice::Kubernetes,
            monitoring: self.monitoring != MonitoringChoice::Off,
        }
    }

    /// Whether the cluster has a say in the platform.
    pub fn is_auto(&self) -> bool {
        self.platform == PlatformChoice::Auto || self.monitoring == MonitoringChoice::Auto
    }

    /// Asks the cluster what it serves, if that matters.
    pub async fn served(&self, cluster: &Cluster) -> Result<Option<Served>, Failure> {
        if !self.is_auto() {
            return Ok(None);
        }
        cluster.served().await.map(Some).map_err(|error| refused(error, "cannot read the API groups"))
    }

    /// Reads the Config from `path` (`-` is standard input) and checks it.
    pub fn read_file(&self, path: &Path, ui: &Ui) -> Result<Source, Failure> {
        let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
        let bytes = read_bytes(path)
            .map_err(|error| Failure::input(vec![Problem::in_file(&name, format!("cannot be read: {error}"))]))?;
        let read = config::file::read(&name, &bytes, &self.name).map_err(Failure::input)?;
        let FromFile { config, object, lifecycle, removed, warnings, overrides } = read;
        let source = Source { config, lifecycle, object, removed, overrides };
        self.checked(source, &warnings, ui)
    }

    /// Reads the cluster's Config and checks it; none when there is none of that name.
    pub async fn read_live(&self, cluster: &Cluster, ui: &Ui) -> Result<Option<Source>, Failure> {
        let id = config_id(&self.name);
        let live = cluster.get(&id).await.map_err(|error| refused(error, format!("cannot read {id}")))?;
        live.map(|object| self.check(object, ui)).transpose()
    }

    /// The uid of the cluster's Config; none when there is no Config, or no such kind.
    pub async fn live_uid(&self, cluster: &Cluster) -> Result<Option<String>, Failure> {
        let id = config_id(&self.name);
        match cluster.get(&id).await {
            Ok(live) => Ok(live.and_then(|object| Lifecycle::of(&object).uid)),
            Err(cluster::Error::NotServed { .. }) => Ok(None),
            Err(error) => Err(refused(error, format!("cannot read {id}"))),
        }
    }

    /// Reads the cluster's Config, which must be there.
    pub async fn require_live(&self, cluster: &Cluster, ui: &Ui) -> Result<Source, Failure> {
        self.read_live(cluster, ui).await?.ok_or_else(|| {
            Failure::new(Exit::Refused, anyhow::anyhow!("{} not found", config_id(&self.name)))
                .hint("create it, take it from a file with --filename, or choose another with --name")
        })
    }

    /// Reads the cluster's Config, which must be there, and beside it what the cluster serves.
    pub async fn read_cluster(&self, cluster: &Cluster, ui: &Ui) -> Result<(Source, Option<Served>), Failure> {
        let (source, served) = tokio::join!(self.require_live(cluster, ui), self.served(cluster));
        Ok((source?, served?))
    }

    /// Checks a Config that was read from the server.
    pub fn check(&self, object: Value, ui: &Ui) -> Result<Source, Failure> {
        let read = Config::read(&object, &self.name, Origin::Live);
        let (config, warnings) =
            read.map_err(|problems| Failure::input(problems).context(format!("{} is wrong", config_id(&self.name))))?;
        let lifecycle = Lifecycle::of(&object);
        self.checked(Source { config, lifecycle, object, removed: None, overrides: Vec::new() }, &warnings, ui)
    }

    fn checked(&self, source: Source, warnings: &[Problem], ui: &Ui) -> Result<Source, Failure> {
        let config = &source.config;
        for warning in warnings {
            ui.warning(&warning.to_string());
        }
        if let Some(namespace) = self.namespace.as_ref().filter(|name| !name.is_empty() && **name != config.namespace) {
            return Err(Failure::usage(format!(
                "--namespace {namespace} is not what the Config says: spec.namespace is {}",
                config.namespace
            ))
            .hint("leave --namespace out, or change spec.namespace"));
        }
        Ok(source)
    }

    /// Renders and says nothing but what is wrong.
    pub fn check_render(&self, source: &Source, platform: Platform) -> Result<Rendered, Failure> {
        let (templates, warnings) = match &self.templates {
            Some(directory) => Templates::with_overlay(directory).map_err(Failure::input)?,
            None => (Templates::builtin(), Vec::new()),
        };
        let policy = self.image_pull_policy.as_deref();
        let mut rendered =
            render::render(&source.config, source.lifecycle.uid.as_deref(), &templates, platform, policy)
                .map_err(Failure::input)?;
        rendered.warnings.splice(0..0, warnings);
        Ok(rendered)
    }

    /// Renders; says what is left out and why.
    pub fn render(&self, source: &Source, platform: Platform, ui: &Ui) -> Result<Vec<Manifest>, Failure> {
        let rendered = self.check_render(source, platform)?;
        for warning in rendered.warnings {
            ui.warning(&source.located(warning).to_string());
        }
        for id in &rendered.unmanaged {
            ui.note(&format!("{id} skipped (unmanaged)"));
        }
        Ok(rendered.manifests)
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

/// Opens the way to the chosen cluster.
pub fn connect(flags: &Connection, field_manager: &str, limit: Duration) -> Result<Cluster, Failure> {
    Cluster::connect(cluster::choose(flags)?, field_manager, limit)
}

/// The end of a command that could not do without an answer.
pub fn refused(error: cluster::Error, what: impl std::fmt::Display + Send + Sync + 'static) -> Failure {
    let hint = hints::hint(&error);
    let failure = Failure::new(hints::exit(&error), error).context(what);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
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
