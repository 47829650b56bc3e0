//! `watch`: keeps the cluster as desired, in the foreground, until a signal comes.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use jiff::Timestamp;
use serde_json::Value;

use super::connection::Connection;
use super::flags::{self, Global};
use super::hints;
use super::input::{self, Input};
use crate::cluster::{Cluster, Served};
use crate::desired::{self, Renderer};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reconcile::policy::{Conflicts, DryRun, ForeignFields, Policy};
use crate::reconcile::watch::{Behaviour, Desired, Event, Invalid, Reconnect, Source, State, Surroundings, Until, run};
use crate::report::log::{self, Format};
use crate::signals::Stop;
use crate::ui::Ui;

/// Flags of `watch`.
#[derive(Clone, Debug, clap::Args)]
pub struct WatchArgs {
    /// Form of the log
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    output: Output,
    /// Name under which the fields are owned; the Config's name unless given
    #[arg(long, value_name = "NAME", value_parser = flags::manager_name)]
    field_manager: Option<String>,
    /// Take fields over from other field managers, as a controller does
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    force_conflicts: bool,
    /// Also remove fields that others set and the Config does not mention, as the operator does
    #[arg(long)]
    exact: bool,
    /// Create the namespace if it does not exist
    #[arg(long)]
    create_namespace: bool,
    /// Report what deviates, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Keep the finalizer on the Config while watching, as the operator does
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    finalizer: bool,
    /// How often everything is read again although nothing seems to have changed
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = flags::duration)]
    resync: Duration,
    /// Condition that ends the command: in sync, an object deviates, or in sync and all pods ready
    #[arg(long, value_enum, value_name = "CONDITION")]
    until: Option<Condition>,
    /// Longest wait for --until, e.g. 90s, 5m; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = flags::duration, requires = "until")]
    timeout: Duration,
    /// Report each step
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    input: Input,
}

impl WatchArgs {
    /// Whether the result is JSON.
    pub fn is_json(&self) -> bool {
        self.output == Output::Json
    }
}

/// `--output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// Lines for people
    #[default]
    Text,
    /// One JSON object a line
    Json,
}

/// `--until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Condition {
    /// Every object is as desired
    InSync,
    /// An object deviates
    Drift,
    /// Every object is as desired, and every node runs the newest pods
    Ready,
}

impl WatchArgs {
    fn behaviour(&self, manager: &str, is_auto: bool) -> Behaviour {
        let until = |condition| match condition {
            Condition::InSync => Until::InSync,
            Condition::Drift => Until::Drift,
            Condition::Ready => Until::Ready,
        };
        Behaviour {
            observe: self.dry_run,
            exact: self.exact,
            finalizer: self.finalizer,
            field_manager: manager.to_owned(),
            resync: self.resync,
            platform_is_auto: is_auto,
            until: self.until.map(|condition| (until(condition), self.timeout)),
        }
    }

    fn policy(&self) -> Policy<'static> {
        Policy {
            conflicts: if self.force_conflicts { Conflicts::TakeSeen } else { Conflicts::Refuse },
            foreign: if self.exact { ForeignFields::Remove } else { ForeignFields::Keep },
            create_namespace: self.create_namespace,
            dry_run: DryRun::None,
            ..Policy::default()
        }
    }

    fn format(&self) -> Format {
        match self.output {
            Output::Text => Format::Text,
            Output::Json => Format::Json,
        }
    }
}

/// Watches until a signal comes.
pub async fn watch(args: &WatchArgs, global: &Global, to: &Connection, ui: &mut Ui) -> Result<Exit, Failure> {
    to.is_one()?;
    let input = &args.input;
    let manager = flags::field_manager(args.field_manager.as_deref(), &input.name)?;
    let cluster = to.connect(false, manager, global.request_timeout).await?;
    ui.note(&format!("using {}", cluster.chosen()));
    let stop = Stop::listen()?;
    let mut files = Files::new(input)?;
    let id = files.renderer.config_id();
    // Whatever makes it impossible from the start ends the command at once, with its own exit code.
    let served = tokio::select! {
        served = first_look(&files.renderer, &cluster) => served?,
        exit = stop.first() => return Ok(exit),
    };
    let behaviour = args.behaviour(manager, files.renderer.is_auto());
    let state = State::new(behaviour, id.clone(), served, RandomState::new().hash_one(manager));
    let mut closed = Box::pin(ui.detach());
    let mut log = Log { args, ui: RefCell::new(ui), in_sync_since: None };
    let surroundings = Surroundings {
        cluster: &cluster,
        source: &mut files,
        policy: args.policy(),
        stop: &stop,
        reconnect: reconnect(to, manager, global.request_timeout),
        closed: &mut closed,
        report: &mut |event, state| log.report(event, state),
    };
    Ok(run(state, &id, surroundings).await)
}

/// Another connection as the first one.
fn reconnect(to: &Connection, manager: &str, limit: Duration) -> Reconnect {
    let (to, manager) = (to.clone(), manager.to_owned());
    Rc::new(move || {
        let (to, manager) = (to.clone(), manager.clone());
        async move { to.connect(false, &manager, limit).await.ok() }.boxed_local()
    })
}

/// Reads the Config, which must exist, valid or not, and what the cluster serves.
async fn first_look(renderer: &Renderer, cluster: &Cluster) -> Result<Option<Served>, Failure> {
    let id = renderer.config_id();
    let (config, served) = tokio::join!(cluster.get(&id), renderer.served(cluster));
    match config {
        Err(error) => Err(hints::failure(error, format!("cannot read {id}"))),
        Ok(None) => Err(Failure::new(Exit::Refused, anyhow::anyhow!("{id} not found"))
            .hint("create it, or choose another one with --name")),
        Ok(Some(_)) => served.map_err(input::failure),
    }
}

/// Prints what is reported, and below it the last line of a terminal.
struct Log<'a> {
    args: &'a WatchArgs,
    ui: RefCell<&'a mut Ui>,
    in_sync_since: Option<Timestamp>,
}

impl Log<'_> {
    fn report(&mut self, event: &Event, state: &State) {
        let now = Timestamp::now();
        if matches!(event, Event::InSync(_)) {
            self.in_sync_since = Some(now);
        }
        let ui = &mut self.ui.borrow_mut();
        log::event(event, now, self.args.format(), self.args.verbose, ui);
        if self.args.output == Output::Text {
            ui.status(&log::status(state, self.in_sync_since));
        }
    }
}

/// The templates in memory, and the folder that they come from.
struct Files<'a> {
    input: &'a Input,
    /// The last valid templates.
    renderer: Renderer,
    stamps: Vec<Stamp>,
}

/// The name of a file, when it was changed, and its size.
type Stamp = (std::ffi::OsString, Option<SystemTime>, u64);

impl<'a> Files<'a> {
    fn new(input: &'a Input) -> Result<Self, Failure> {
        let stamps = input.templates.as_deref().map(stamps).unwrap_or_default();
        Ok(Self { input, renderer: input.renderer()?, stamps })
    }

    /// Renders with the templates as they are now; if they are at fault, with the last valid ones.
    fn render_any(
        &mut self,
        source: &desired::Source,
        served: Option<&Served>,
    ) -> Result<(desired::Desired, Option<Failure>), Invalid> {
        let platform = self.renderer.platform(served);
        let render = |renderer: &Renderer| renderer.render(source.clone(), platform).map_err(input::failure);
        let latest = self.input.renderer().and_then(|renderer| Ok((render(&renderer)?, renderer)));
        match latest {
            Ok((desired, renderer)) => {
                self.renderer = renderer;
                Ok((desired, None))
            }
            Err(failure) => match render(&self.renderer) {
                Ok(desired) => Ok((desired, Some(failure))),
                Err(of_config) => Err(Invalid::Config(Rc::new(of_config))),
            },
        }
    }
}

impl Source for Files<'_> {
    fn render(&mut self, object: &Value, served: Option<&Served>) -> Result<Desired, Invalid> {
        let invalid = |failure| Invalid::Config(Rc::new(failure));
        let id = self.renderer.config_id();
        let source = desired::Source::of_live(object.clone(), &id).map_err(|error| invalid(input::failure(error)))?;
        self.input.check_namespace(&source.config).map_err(invalid)?;
        let (desired, failure) = self.render_any(&source, served)?;
        let mut notes: Vec<String> = desired.unmanaged.iter().map(|id| format!("{id} skipped (unmanaged)")).collect();
        if self.renderer.lacks_monitoring(served) {
            notes.push("monitoring.coreos.com is not served: the monitoring objects are left out".to_owned());
        }
        Ok(Desired {
            namespace: source.config.namespace,
            warnings: desired.warnings.iter().map(ToString::to_string).collect(),
            notes,
            manifests: desired.manifests,
            invalid_templates: failure.map(Rc::new),
        })
    }

    /// Names, times and sizes say enough, on every file system and every platform; a folder has a few dozen files.
    fn has_changed(&mut self) -> bool {
        let Some(directory) = self.input.templates.as_deref() else { return false };
        let now = stamps(directory);
        let changed = now != self.stamps;
        self.stamps = now;
        changed
    }
}

/// The files in `directory`; a folder that cannot be read has none, and is reported when it is loaded.
fn stamps(directory: &Path) -> Vec<Stamp> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut stamps: Vec<Stamp> = entries
        .map(|entry| {
            // Of a mounted ConfigMap the files are links, which stay while what they point at is replaced.
            let metadata = std::fs::metadata(entry.path()).ok();
            let size = metadata.as_ref().map(std::fs::Metadata::len).unwrap_or_default();
            (entry.file_name(), metadata.and_then(|metadata| metadata.modified().ok()), size)
        })
        .collect();
    stamps.sort();
    stamps
}
