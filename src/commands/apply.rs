//! `apply`: brings the cluster to what is wanted, by server-side apply, and tells what became of each object.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;

use super::flags::{self, Global, duration};
use super::input::{File, Input, Source, config_id, refused};
use crate::cluster::{Cluster, Connection};
use crate::config::Lifecycle;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::{Manifest, ObjectId};
use crate::reconcile::apply::{self, Action, DryRun, Options, Outcome};
use crate::reconcile::rollout::{self, Waited};
use crate::reconcile::{Live, read_live};
use crate::report::results;
use crate::signals::Stop;
use crate::ui::Ui;

/// Flags of `apply`.
#[derive(Clone, Debug, clap::Args)]
pub struct ApplyArgs {
    #[command(flatten)]
    file: File,
    #[command(flatten)]
    input: Input,
    /// Apply on the server; there is no other way, the flag is taken for habit's sake
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    server_side: bool,
    /// Name under which the fields are owned; the Config's name unless given
    #[arg(long, value_name = "NAME", value_parser = flags::manager_name)]
    field_manager: Option<String>,
    /// Take fields over that other field managers own with other values
    #[arg(long)]
    force_conflicts: bool,
    /// Create the namespace if it is not there
    #[arg(long)]
    create_namespace: bool,
    /// Change nothing: client compares only, server goes through all of it
    #[arg(long, value_enum, value_name = "WHERE", default_value_t, num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    dry_run: DryRunChoice,
    /// Wait until every node runs the new pods
    #[arg(long)]
    wait: bool,
    /// Longest wait for the pods, e.g. 90s, 5m; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    timeout: Duration,
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

/// Applies what the Config becomes; with a file, the Config itself first.
pub async fn apply(args: &ApplyArgs, global: &Global, to: &Connection, ui: &mut Ui) -> Result<Exit, Failure> {
    if !args.server_side {
        return Err(Failure::usage("--server-side=false is not possible: server-side apply is the only way here")
            .hint("leave the flag out"));
    }
    let input = &args.input;
    let file = args.file.read(input, ui)?;
    let manager = flags::field_manager(args.field_manager.as_deref(), &input.name)?;
    let cluster = args.file.connect(to, manager, global.request_timeout)?;
    let stop = Stop::listen()?;
    ui.note(&format!("using {}", cluster.chosen()));
    let mut pass = Pass { cluster: &cluster, options: args.options(), stop: &stop, tally: Tally::default() };
    let ended = tokio::select! {
        // First, so that a pass that was stopped tells by itself what it did.
        biased;
        ended = pass.run(args, file, ui) => Some(ended),
        () = stop.patience_ends() => None,
    };
    ended.unwrap_or_else(|| {
        results::not_done(&pass.tally.done, &[], ui);
        Ok(stop.requested().unwrap_or(Exit::Interrupted))
    })
}

impl ApplyArgs {
    fn options(&self) -> Options {
        Options {
            force: self.force_conflicts,
            create_namespace: self.create_namespace,
            dry_run: self.dry_run.into(),
            unasked: false,
        }
    }
}

/// One run: what it may do, and what it has done so far.
struct Pass<'a> {
    cluster: &'a Cluster,
    options: Options,
    stop: &'a Stop,
    tally: Tally,
}

#[derive(Default)]
struct Tally {
    done: Vec<ObjectId>,
    failed: usize,
    skipped: usize,
    exit: Exit,
}

impl Pass<'_> {
    async fn run(&mut self, args: &ApplyArgs, file: Option<Source>, ui: &mut Ui) -> Result<Exit, Failure> {
        let input = &args.input;
        let (source, platform) = if let Some(source) = file {
            let platform = input.platform(input.served(self.cluster).await?.as_ref(), ui);
            input.check_render(&source, platform)?;
            (self.apply_config(source, ui).await, platform)
        } else {
            let (source, served) = input.read_cluster(self.cluster, ui).await?;
            (Some(source), input.platform(served.as_ref(), ui))
        };
        let Some(source) = source else { return Ok(self.tally.exit) };
        let manifests = input.render(&source, platform, ui)?;
        let live = read_live(self.cluster, &manifests).await;
        self.apply(&manifests, &live, ui).await;
        if let Some(exit) = self.stop.requested() {
            results::not_done(&self.tally.done, &manifests, ui);
            return Ok(exit);
        }
        results::summary(self.tally.done.len(), self.tally.failed, self.tally.skipped, ui);
        if args.wait && self.options.dry_run == DryRun::None && self.tally.exit == Exit::Done {
            return self.wait(&manifests, args.timeout, ui).await;
        }
        Ok(self.tally.exit)
    }

    async fn apply(&mut self, manifests: &[Manifest], live: &Live, ui: &mut Ui) -> Option<Outcome> {
        let (options, tally) = (self.options, &mut self.tally);
        let mut last = None;
        apply::apply(self.cluster, manifests, live, options, self.stop, |manifest, outcome| {
            results::outcome(manifest, outcome, options.dry_run, ui);
            tally.note(manifest, outcome);
            last = Some(outcome.clone());
        })
        .await;
        last
    }

    /// Applies the Config of a file; gives it with the uid that the server knows it by, or nothing when that failed.
    async fn apply_config(&mut self, mut source: Source, ui: &mut Ui) -> Option<Source> {
        let id = config_id(&source.config.name);
        let manifest = Manifest { id: id.clone(), object: source.object.clone(), source: "--filename".to_owned() };
        let live = read_live(self.cluster, std::slice::from_ref(&manifest)).await;
        let uid = |object: &Value| Lifecycle::of(object).uid;
        let known = live.get(&id).and_then(|live| live.as_ref().ok()).and_then(Option::as_ref).and_then(uid);
        let outcome = self.apply(&[manifest], &live, ui).await?;
        if matches!(outcome.action, Action::Failed(_)) {
            return None;
        }
        let stored = outcome.object.as_ref().filter(|_| self.options.dry_run == DryRun::None).and_then(uid);
        source.lifecycle.uid = known.or(stored);
        Some(source)
    }

    async fn wait(&self, manifests: &[Manifest], limit: Duration, ui: &Ui) -> Result<Exit, Failure> {
        let mut told = HashMap::new();
        let waited = rollout::wait(self.cluster, manifests, limit, self.stop, |id, progress| {
            if told.insert(id.clone(), progress.clone()).as_ref() != Some(progress) {
                results::rollout(id, progress, ui);
            }
        });
        match waited.await.map_err(|error| refused(error, "cannot watch the rollout"))? {
            Waited::Done => Ok(Exit::Done),
            Waited::Stopped => Ok(self.stop.requested().unwrap_or(Exit::Interrupted)),
            Waited::TimedOut(ids) => {
                let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
                Err(Failure::new(Exit::NoAnswer, anyhow::anyhow!("not rolled out in time: {}", names.join(", ")))
                    .hint("look at the pods (kubectl get pods -o wide), or allow more with --timeout"))
            }
        }
    }
}

impl Tally {
    fn note(&mut self, manifest: &Manifest, outcome: &Outcome) {
        match outcome.action {
            Action::Failed(_) => self.failed += 1,
            Action::Skipped(_) => self.skipped += 1,
            _ => self.done.push(manifest.id.clone()),
        }
        self.exit = self.exit.worst(outcome.exit());
    }
}
