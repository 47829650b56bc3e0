//! `apply`: brings the cluster to what is wanted, by server-side apply, and tells what became of each object.

use std::collections::HashMap;
use std::time::Duration;

use super::connection::Connection;
use super::flags::{self, Global, duration};
use super::hints;
use super::input::{self, File, Input};
use crate::cluster::Cluster;
use crate::config::Lifecycle;
use crate::desired::{Renderer, Source};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::{Manifest, ObjectId};
use crate::reconcile::execute::{Execution, Owner};
use crate::reconcile::orphans::{self, Orphans, Pruned, Wanted};
use crate::reconcile::outcome::{Action, Outcome};
use crate::reconcile::policy::{Conflicts, DryRun, ForeignFields, Policy};
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
    /// Also remove fields that others set and the Config does not mention, as the operator does
    #[arg(long)]
    exact: bool,
    /// Delete objects that were applied before and are no longer desired, once all others are done
    #[arg(long)]
    prune: bool,
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
    let renderer = input.renderer()?;
    let file = args.file.read_to_apply(input, &renderer, ui)?;
    let manager = flags::field_manager(args.field_manager.as_deref(), &input.name)?;
    let cluster = args.file.connect(to, manager, global.request_timeout).await?;
    let stop = Stop::listen()?;
    ui.note(&format!("using {}", cluster.chosen()));
    let policy = args.policy();
    let mut pass = Pass { cluster: &cluster, renderer: &renderer, policy, stop: &stop, tally: Tally::default() };
    let ended = tokio::select! {
        // First, so that a pass that was stopped tells by itself what it did.
        biased;
        ended = pass.run(args, file, ui) => Some(ended),
        () = stop.grace_expired() => None,
    };
    ended.unwrap_or_else(|| {
        results::not_done(&pass.tally.done, &[], ui);
        Ok(stop.requested().unwrap_or(Exit::Interrupted))
    })
}

impl ApplyArgs {
    fn policy(&self) -> Policy {
        Policy {
            dry_run: self.dry_run.into(),
            conflicts: if self.force_conflicts { Conflicts::Take } else { Conflicts::Refuse },
            foreign: if self.exact { ForeignFields::Remove } else { ForeignFields::Keep },
            create_namespace: self.create_namespace,
        }
    }
}

/// One run: what it may do, and what it has done so far.
struct Pass<'a> {
    cluster: &'a Cluster,
    renderer: &'a Renderer,
    policy: Policy,
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
        let (source, platform) = match file {
            None => args.input.read_cluster(self.renderer, self.cluster, ui).await?,
            Some(mut source) => {
                let (lifecycle, served) =
                    tokio::join!(self.renderer.read_lifecycle(self.cluster), self.renderer.served(self.cluster));
                source.lifecycle = lifecycle.map_err(input::failure)?;
                (source, input::platform(self.renderer, served.map_err(input::failure)?.as_ref(), ui))
            }
        };
        if source.lifecycle.is_deleting() {
            let deleting = format!("{} is being deleted; nothing was applied", self.renderer.config_id());
            return Err(Failure::new(Exit::Refused, anyhow::anyhow!(deleting))
                .hint("its objects go with it; apply again once it is gone"));
        }
        let Some(source) = self.apply_config(args, source, ui).await else { return Ok(self.tally.exit) };
        let owner = self.owner(&source);
        let desired = input::render(self.renderer, source, platform, ui)?;
        let manifests = desired.manifests;
        let live = read_live(self.cluster, &manifests).await;
        self.apply(&manifests, &live, owner.as_ref(), ui).await;
        if let Some(exit) = self.stop.requested() {
            results::not_done(&self.tally.done, &manifests, ui);
            return Ok(exit);
        }
        if args.prune {
            let uid = owner.as_ref().map(|owner| owner.uid.as_str());
            self.prune(Wanted { manifests: &manifests, unmanaged: &desired.unmanaged, uid }, ui).await;
        }
        results::summary(self.tally.done.len(), self.tally.failed, self.tally.skipped, ui);
        if args.wait && self.policy.dry_run == DryRun::None && self.tally.exit == Exit::Done {
            return self.wait(&manifests, args.timeout, ui).await;
        }
        Ok(self.tally.exit)
    }

    /// The Config that must still be there whenever an object is created.
    fn owner(&self, source: &Source) -> Option<Owner> {
        let uid = source.lifecycle.uid.clone()?;
        Some(Owner { id: self.renderer.config_id(), uid })
    }

    async fn apply(
        &mut self,
        manifests: &[Manifest],
        live: &Live,
        owner: Option<&Owner>,
        ui: &mut Ui,
    ) -> Option<Outcome> {
        let (policy, tally) = (self.policy, &mut self.tally);
        let mut last = None;
        let execution = Execution { cluster: self.cluster, policy, owner, stop: self.stop };
        execution
            .run(manifests, live, |manifest, outcome| {
                results::outcome(manifest, outcome, policy.dry_run, ui);
                if let Some(hint) = hints::of_outcome(outcome) {
                    ui.hint(&hint);
                }
                tally.note(manifest, outcome);
                last = Some(outcome.clone());
            })
            .await;
        last
    }

    /// Applies the Config of a file; gives it with the uid that the server knows it by, or nothing when that failed.
    async fn apply_config(&mut self, args: &ApplyArgs, mut source: Source, ui: &mut Ui) -> Option<Source> {
        if !args.file.is_given() {
            return Some(source);
        }
        let manifest = source.manifest(self.renderer.config_id());
        let live = read_live(self.cluster, std::slice::from_ref(&manifest)).await;
        // Finalizers, labels and annotations of others are theirs: a Config is never brought to exactly what a file says.
        let exact = std::mem::replace(&mut self.policy.foreign, ForeignFields::Keep);
        let outcome = self.apply(&[manifest], &live, None, ui).await;
        self.policy.foreign = exact;
        let outcome = outcome.filter(|outcome| !outcome.is_failure())?;
        if let Some(object) = outcome.object.filter(|_| self.policy.dry_run == DryRun::None) {
            source.lifecycle = Lifecycle::of(&object);
        }
        Some(source)
    }

    /// Deletes what is no longer desired, if all that is desired is done: a new set must not lack what the old one had.
    async fn prune(&mut self, wanted: Wanted<'_>, ui: &mut Ui) {
        if self.tally.exit != Exit::Done {
            return ui.warning("nothing was pruned, since not all objects were applied");
        }
        let Orphans { found, unlisted } = orphans::find(self.cluster, wanted).await;
        for (kind, error) in &unlisted {
            ui.error(&format!("cannot look for orphans of kind {kind}: {error}"));
            self.tally.exit = self.tally.exit.worst(hints::exit(error));
        }
        let force = self.policy.conflicts != Conflicts::Refuse;
        for orphan in &found {
            if self.stop.requested().is_some() {
                return;
            }
            let pruned = orphans::prune(self.cluster, orphan, force, self.policy.dry_run != DryRun::None).await;
            results::pruned(orphan, &pruned, self.policy.dry_run, ui);
            self.tally.exit = self.tally.exit.worst(match &pruned {
                Pruned::Deleted => Exit::Done,
                Pruned::Kept => Exit::Refused,
                Pruned::Failed(error) => hints::exit(error),
            });
            match pruned {
                Pruned::Deleted => self.tally.done.push(orphan.id.clone()),
                Pruned::Kept | Pruned::Failed(_) => self.tally.failed += 1,
            }
            if pruned == Pruned::Kept {
                ui.hint(hints::KEPT_ORPHAN);
            }
        }
    }

    async fn wait(&self, manifests: &[Manifest], limit: Duration, ui: &Ui) -> Result<Exit, Failure> {
        let mut told = HashMap::new();
        let waited = rollout::wait(self.cluster, manifests, limit, self.stop, |id, progress| {
            if told.insert(id.clone(), progress.clone()).as_ref() != Some(progress) {
                results::rollout(id, progress, ui);
            }
        });
        match waited.await.map_err(|error| hints::failure(error, "cannot watch the rollout"))? {
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
            Action::Failed(_) | Action::Blocked => self.failed += 1,
            Action::Skipped(_) => self.skipped += 1,
            _ => self.done.push(manifest.id.clone()),
        }
        self.exit = self.exit.worst(hints::exit_of(outcome));
    }
}
