//! What can be typed, and under which name this program was called.
//!
//! Each command's own flags stand with the command.

use std::ffi::OsStr;
use std::path::Path;

use clap::builder::BoolishValueParser;
use clap::{ArgAction, CommandFactory, Parser, Subcommand};

use crate::commands::connection::Connection;
use crate::commands::flags::Global;
use crate::commands::help;
use crate::commands::{apply, complete, completion, diff, rbac, render, version, watch};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::Ui;

/// The command that shells and kubectl ask; its name is that of kubectl's own.
const COMPLETE: &str = "__complete";

/// Render, diff, apply and watch what bpfman's Config becomes on a cluster
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// What every command takes.
    #[command(flatten)]
    pub global: Global,
    /// Which cluster, as whom.
    #[command(flatten)]
    pub connection: Connection,
}

/// The commands: one pipeline, stopped at four places.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the objects that the Config becomes
    Render(render::RenderArgs),
    /// Show where the cluster deviates, and who changed it
    Diff(diff::DiffArgs),
    /// Bring the cluster to the desired state, by server-side apply
    Apply(apply::ApplyArgs),
    /// Keep the cluster in the desired state, until stopped
    Watch(watch::WatchArgs),
    /// Print the roles with which diff, apply or watch works
    Rbac(rbac::RbacArgs),
    /// Print the completion script of a shell
    Completion(completion::CompletionArgs),
    /// Print the version of this program, and of the server
    Version(version::VersionArgs),
    /// Print the flags that all commands take
    Options,
    /// Print what may stand at the end of a command line
    #[command(name = COMPLETE, hide = true, disable_help_flag = true)]
    Complete(complete::CompleteArgs),
}

impl Cli {
    /// Whether a machine reads the result, so that what ends the command goes there too.
    pub fn is_for_machines(&self) -> bool {
        match &self.command {
            Command::Render(args) => args.is_json(),
            Command::Diff(args) => args.is_json(),
            Command::Apply(args) => args.is_json(),
            Command::Watch(args) => args.is_json(),
            Command::Version(args) => args.is_json(),
            Command::Rbac(_) | Command::Completion(_) | Command::Options | Command::Complete(_) => false,
        }
    }

    /// Runs the command that was typed.
    pub async fn run(self, ui: &mut Ui) -> Result<Exit, Failure> {
        let Self { command, global, connection } = self;
        match command {
            Command::Render(args) => render::render(&args, &global, &connection, ui).await,
            Command::Diff(args) => diff::diff(&args, &global, &connection, ui).await,
            Command::Apply(args) => apply::apply(&args, &global, &connection, ui).await,
            Command::Watch(args) => watch::watch(&args, &global, &connection, ui).await,
            Command::Rbac(args) => rbac::rbac(&args, &global, &connection, ui).await,
            Command::Completion(args) => Ok(completion::completion(&args, ui)),
            Command::Version(args) => version::version(&args, &connection, ui).await,
            Command::Options => {
                ui.document(&options());
                Ok(Exit::Done)
            }
            Command::Complete(args) => {
                complete::complete(&args, &self::command(), ui).await;
                Ok(Exit::Done)
            }
        }
    }
}

/// Reads the words of the command line; the usage text shows them as they were typed.
pub fn parse(words: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Cli, clap::Error> {
    let mut words: Vec<_> = words.into_iter().collect();
    if words.get(1).is_some_and(|word| word == COMPLETE) {
        // What follows is another command line, whose flags are not ours.
        words.insert(2, "--".into());
    }
    let program = words.first().map(std::ffi::OsString::as_os_str);
    let name = called_as(program, is_plugin_call(program));
    let matches = command().bin_name(name).try_get_matches_from(words)?;
    <Cli as clap::FromArgMatches>::from_arg_matches(&matches)
}

/// The whole command line, for completion scripts and manual pages.
pub fn command() -> clap::Command {
    let with_values = |command: clap::Command| {
        let examples = help::of(command.get_name());
        let command = command.mut_args(with_value);
        match examples {
            Some(text) => command.after_long_help(text),
            None => command,
        }
    };
    Cli::command()
        .mut_args(with_value)
        .mut_args(shown_once)
        .after_help(help::MORE)
        .after_long_help(help::EXIT_CODES)
        .mut_subcommands(with_values)
}

/// The flags that all commands take, as a text.
fn options() -> String {
    let mut command = clap::Command::new("options").disable_help_flag(true).disable_version_flag(true);
    command = command.help_template("{all-args}\n").term_width(100).max_term_width(100);
    command.args(Cli::command().get_arguments().cloned()).render_help().to_string()
}

/// Leaves the flags that all commands take out of the short help of each.
fn shown_once(flag: clap::Arg) -> clap::Arg {
    let is_shared = flag.is_global_set();
    flag.hide_short_help(is_shared)
}

/// Lets a switch be written out, `--wait=false`, as kubectl does.
fn with_value(switch: clap::Arg) -> clap::Arg {
    if !matches!(switch.get_action(), ArgAction::SetTrue) {
        return switch;
    }
    let switch = switch.action(ArgAction::Set).num_args(0..=1).require_equals(true).value_name("BOOL");
    let id = switch.get_id().clone();
    let switch = switch.value_parser(BoolishValueParser::new()).overrides_with(id);
    switch.default_value("false").default_missing_value("true").hide_default_value(true).hide_possible_values(true)
}

/// Whether kubectl started this program: newer ones say so, older ones give the whole path, which a shell would have
/// named in `_` if it had been typed.
fn is_plugin_call(program: Option<&OsStr>) -> bool {
    let typed = std::env::var_os("_");
    std::env::var_os("KUBECTL_PATH").is_some()
        || program.is_some_and(|program| Path::new(program).is_absolute() && typed.as_deref() != Some(program))
}

/// `kubectl bpfman config` when kubectl called us as a plugin, else the program's own name.
///
/// kubectl sets `KUBECTL_PATH` for plugins; it reads `-` in a file's name as a blank and `_` as a dash
/// (<https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/#naming-a-plugin>).
pub fn called_as(program: Option<&OsStr>, through_kubectl: bool) -> String {
    let file = program.map(Path::new).and_then(Path::file_stem).and_then(OsStr::to_str);
    match file {
        Some(file) if through_kubectl && file.starts_with("kubectl-") => file.replace('-', " ").replace('_', "-"),
        Some(file) => file.to_owned(),
        None => "kubectl-bpfman-config".to_owned(),
    }
}
