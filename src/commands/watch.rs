//! `watch`: keeps the cluster at what is wanted, in the foreground, until a signal comes.

use std::cell::RefCell;

use jiff::Timestamp;

use super::connection::Connection;
use super::flags::{self, Global};
use super::hints;
use super::input::{self, Input};
use crate::desired::Source;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reconcile::policy::{Conflicts, DryRun, ForeignFields, Policy};
use crate::reconcile::watch::{Behaviour, Event, Watch};
use crate::report::log::{self, Format};
use crate::signals::Stop;
use crate::ui::Ui;

/// Flags of `watch`.
#[derive(Clone, Debug, clap::Args)]
pub struct WatchArgs {
    #[command(flatten)]
    input: Input,
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
    /// Create the namespace if it is not there
    #[arg(long)]
    create_namespace: bool,
    /// Tell what deviates, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Keep the finalizer on the Config while watching, as the operator does
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    finalizer: bool,
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

impl WatchArgs {
    /// Whether the result is JSON.
    pub fn is_json(&self) -> bool {
        self.output == Output::Json
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
    let input = &args.input;
    let cluster = to
        .connect(false, flags::field_manager(args.field_manager.as_deref(), &input.name)?, global.request_timeout)
        .await?;
    ui.note(&format!("using {}", cluster.chosen()));
    let stop = Stop::listen()?;
    // Whatever is wrong from the start ends the command at once, with its own exit code.
    let renderer = input.renderer()?;
    let (first, platform) = input.read_cluster(&renderer, &cluster, ui).await?;
    input::render(&renderer, first, platform, ui)?;
    let behaviour = Behaviour {
        policy: Policy {
            conflicts: if args.force_conflicts { Conflicts::TakeSeen } else { Conflicts::Refuse },
            foreign: if args.exact { ForeignFields::Remove } else { ForeignFields::Keep },
            create_namespace: args.create_namespace,
            dry_run: DryRun::None,
        },
        observe: args.dry_run,
        finalizer: args.finalizer,
    };
    let ui = RefCell::new(ui);
    let id = renderer.config_id();
    let render = |object: &serde_json::Value| {
        let ui = ui.borrow();
        let source = Source::of_live(object.clone(), &id).map_err(input::failure)?;
        input.check_namespace(&source.config)?;
        let desired = input::render(&renderer, source, platform, &ui)?;
        Ok((desired.source.config, desired.manifests))
    };
    let tell = |event: Event<'_>| {
        log::event(&event, Timestamp::now(), args.format(), &mut ui.borrow_mut());
        // What nobody sees must not go on.
        if ui.borrow().is_closed() {
            stop.request(Exit::Done);
        }
    };
    let watch = Watch::new(&cluster, id.clone(), behaviour, Box::new(render), Box::new(tell));
    tokio::select! {
        ended = watch.run(&stop) => ended.map_err(|error| hints::failure(error, "cannot watch")),
        exit = stop.second() => Ok(exit),
    }
}
