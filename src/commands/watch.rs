//! `watch`: keeps the cluster at what is wanted, in the foreground, until a signal comes.

use std::cell::RefCell;

use jiff::Timestamp;

use super::flags::{self, Global};
use super::input::{Input, config_id, connect, refused};
use crate::cluster::Connection;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reconcile::apply::Options;
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
    output: Format,
    /// Name under which the fields are owned; the Config's name unless given
    #[arg(long, value_name = "NAME", value_parser = flags::manager_name)]
    field_manager: Option<String>,
    /// Take fields over from other field managers, as a controller does
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    force_conflicts: bool,
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

impl WatchArgs {
    /// Whether the result is JSON.
    pub fn is_json(&self) -> bool {
        self.output == Format::Json
    }
}

/// Watches until a signal comes.
pub async fn watch(args: &WatchArgs, global: &Global, to: &Connection, ui: &mut Ui) -> Result<Exit, Failure> {
    let input = &args.input;
    let cluster =
        connect(to, flags::field_manager(args.field_manager.as_deref(), &input.name)?, global.request_timeout)?;
    ui.note(&format!("using {}", cluster.chosen()));
    let stop = Stop::listen()?;
    // Whatever is wrong from the start ends the command at once, with its own exit code.
    let (first, served) = tokio::join!(input.require_live(&cluster, ui), input.served(&cluster));
    let platform = input.platform(served?.as_ref(), ui);
    input.render(&first?, platform, ui)?;
    let behaviour = Behaviour {
        options: Options {
            force: args.force_conflicts,
            create_namespace: args.create_namespace,
            unasked: true,
            ..Options::default()
        },
        observe: args.dry_run,
        finalizer: args.finalizer,
    };
    let ui = RefCell::new(ui);
    let render = |object: &serde_json::Value| {
        let ui = ui.borrow();
        let source = input.check(object.clone(), &ui)?;
        let manifests = input.render(&source, platform, &ui)?;
        Ok((source.config, manifests))
    };
    let tell = |event: Event<'_>| {
        log::event(&event, Timestamp::now(), args.output, &mut ui.borrow_mut());
        // What nobody sees must not go on.
        if ui.borrow().is_closed() {
            stop.request(Exit::Done);
        }
    };
    let watch = Watch::new(&cluster, config_id(&input.name), behaviour, Box::new(render), Box::new(tell));
    tokio::select! {
        ended = watch.run(&stop) => ended.map_err(|error| refused(error, "cannot watch")),
        exit = stop.second() => Ok(exit),
    }
}
