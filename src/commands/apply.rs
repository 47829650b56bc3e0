//! `apply`: the flags, and how they become a policy; the run itself is in `pass`.

use std::path::PathBuf;
use std::time::Duration;

use super::clusters::{self, Clusters, Merged};
use super::connection::Connection;
use super::flags::{self, Global, duration};
use super::input::{File, Input};
use super::pass::{Pass, Tally};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reconcile::policy::{Conflicts, DryRun, ForeignFields, Policy};
use crate::reconcile::settlement::Settlement;
use crate::report::apply::{Format, Report};
use crate::report::results;
use crate::signals::Stop;
use crate::ui::Ui;

/// Flags of `apply`.
#[derive(Clone, Debug, clap::Args)]
pub struct ApplyArgs {
    /// Apply on the server; there is no other way, the flag is taken for habit's sake
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    server_side: bool,
    /// Name under which the fields are owned; the Config's name unless given
    #[arg(long, value_name = "NAME", value_parser = flags::manager_name)]
    field_manager: Option<String>,
    /// Take fields over that other field managers own with other values
    #[arg(long)]
    force_conflicts: bool,
    /// Take single fields over: those of a manager, or a field by its path; may be repeated
    #[arg(long, value_name = "PATH|MANAGER")]
    take: Vec<String>,
    /// Leave single fields to their owners, and out of what is sent: those of a manager, or a field by its path; may be repeated
    #[arg(long, value_name = "PATH|MANAGER")]
    r#yield: Vec<String>,
    /// Become the owner of the fields of another field manager; those that are not desired are removed; may be repeated
    #[arg(long, value_name = "MANAGER")]
    migrate_from: Vec<String>,
    /// Delete and create again what cannot be changed otherwise, as an immutable field
    #[arg(long)]
    recreate: bool,
    /// Plan of diff --out: apply only if nothing has moved since
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) plan: Option<PathBuf>,
    /// Look again after this time whether the values are still there, e.g. 30s
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) settle: Option<Duration>,
    /// Also remove fields that others set and the Config does not mention, as the operator does
    #[arg(long)]
    exact: bool,
    /// Delete objects that were applied before and are no longer desired, once all others are done
    #[arg(long)]
    pub(super) prune: bool,
    /// Create the namespace if it is not there
    #[arg(long)]
    create_namespace: bool,
    /// Change nothing: client compares only, server goes through all of it
    #[arg(long, value_enum, value_name = "WHERE", default_value_t, num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    dry_run: DryRunChoice,
    /// Output format
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    output: Output,
    /// Show what changes, below the line of each object
    #[arg(long)]
    diff: bool,
    /// Treat warnings of the server as errors: exit code 4
    #[arg(long)]
    pub(super) warnings_as_errors: bool,
    /// Wait until every node runs the new pods
    #[arg(long)]
    pub(super) wait: bool,
    /// Longest wait for the pods, e.g. 90s, 5m; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub(super) timeout: Duration,
    #[command(flatten)]
    clusters: Clusters,
    #[command(flatten)]
    pub(super) file: File,
    #[command(flatten)]
    pub(super) input: Input,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum DryRunChoice {
    #[default]
    None,
    Client,
    Server,
}

impl From<DryRunChoice> for DryRun {
    fn from(choice: DryRunChoice) -> Self {
        match choice {
            DryRunChoice::None => Self::None,
            DryRunChoice::Client => Self::Client,
            DryRunChoice::Server => Self::Server,
        }
    }
}

/// `--output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// A line an object
    #[default]
    Text,
    /// One JSON document
    Json,
    /// The names of the objects that are as desired now
    Name,
    /// The objects as the server has them now
    Yaml,
}

impl From<Output> for Format {
    fn from(output: Output) -> Self {
        match output {
            Output::Text => Self::Text,
            Output::Json => Self::Json,
            Output::Name => Self::Name,
            Output::Yaml => Self::Yaml,
        }
    }
}

/// Applies what the Config becomes; with a file, the Config itself first.
pub async fn apply(args: &ApplyArgs, global: &Global, to: &Connection, ui: &mut Ui) -> Result<Exit, Failure> {
    if !args.server_side {
        return Err(Failure::usage("--server-side=false is not possible: server-side apply is the only way here")
            .hint("leave the flag out"));
    }
    if let Some(contexts) = args.clusters.of(to)? {
        let merged = match args.output {
            Output::Json => Merged::Json,
            Output::Yaml => Merged::Documents("# context:"),
            Output::Text | Output::Name => Merged::Lines,
        };
        if args.plan.is_some() {
            return Err(Failure::usage("--plan is for one cluster: give one --context"));
        }
        return clusters::run(contexts, (merged, "applied"), args.file.piped()?, ui).await;
    }
    let input = &args.input;
    let renderer = input.renderer()?;
    let file = args.file.read_to_apply(input, &renderer, ui)?;
    let manager = flags::field_manager(args.field_manager.as_deref(), &input.name)?;
    let cluster = args.file.connect(to, manager, global.request_timeout).await?;
    let stop = Stop::listen()?;
    ui.note(&format!("using {}", cluster.chosen()));
    let settlement = args.settlement();
    let policy = args.policy(&settlement);
    let report = Report::new(args.output.into(), args.diff, policy.dry_run, ui);
    let mut pass =
        Pass { cluster: &cluster, renderer: &renderer, policy, stop: &stop, report, tally: Tally::default() };
    let ended = tokio::select! {
        // First, so that a pass that was stopped tells by itself what it did.
        biased;
        ended = pass.run(args, file) => Some(ended),
        () = stop.grace_expired() => None,
    };
    let exit = if let Some(ended) = ended {
        ended?
    } else {
        results::not_done(&pass.tally.done, &[], pass.report.ui);
        stop.requested().unwrap_or(Exit::Interrupted)
    };
    pass.report.finish(exit.code());
    Ok(exit)
}

impl ApplyArgs {
    /// Whether the result is JSON.
    pub fn is_json(&self) -> bool {
        self.output == Output::Json
    }

    fn settlement(&self) -> Settlement {
        Settlement { take: self.take.clone(), yields: self.r#yield.clone() }
    }

    fn policy<'a>(&'a self, settlement: &'a Settlement) -> Policy<'a> {
        Policy {
            dry_run: self.dry_run.into(),
            conflicts: if self.force_conflicts { Conflicts::Take } else { Conflicts::Refuse },
            foreign: if self.exact { ForeignFields::Remove } else { ForeignFields::Keep },
            create_namespace: self.create_namespace,
            recreate: self.recreate,
            pinned: self.plan.is_some(),
            settlement: Some(settlement).filter(|settlement| !settlement.is_empty()),
            migrate_from: &self.migrate_from,
        }
    }
}
