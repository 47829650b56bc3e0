//! One run of `apply`: the Config of a file first, the objects stage by stage, then pruning and waiting.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use super::apply::ApplyArgs;
use super::hints;
use super::input;
use super::plan_file;
use crate::cluster::{Cluster, Error};
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
use crate::render::Platform;
use crate::report;
use crate::report::apply::Report;
use crate::report::results;
use crate::signals::Stop;

/// One run: what it may do, and what it has done so far.
pub(super) struct Pass<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) renderer: &'a Renderer,
    pub(super) policy: Policy<'a>,
    pub(super) stop: &'a Stop,
    pub(super) report: Report<'a>,
    pub(super) tally: Tally,
}

/// What was done, and how the command ends so far.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) done: Vec<ObjectId>,
    /// How many warnings the server gave.
    warnings: usize,
    exit: Exit,
}

impl Pass<'_> {
    /// Applies what the Config becomes, then does what else the flags ask for.
    pub(super) async fn run(&mut self, args: &ApplyArgs, file: Option<Source>) -> Result<Exit, Failure> {
        let (source, platform) = match file {
            None => args.input.read_cluster(self.renderer, self.cluster, self.report.ui).await?,
            Some(mut source) => {
                let (lifecycle, served) =
                    tokio::join!(self.renderer.read_lifecycle(self.cluster), self.renderer.served(self.cluster));
                source.lifecycle = lifecycle.map_err(input::failure)?;
                (source, input::platform(self.renderer, served.map_err(input::failure)?.as_ref(), self.report.ui))
            }
        };
        if source.lifecycle.is_deleting() {
            let deleting = format!("{} is being deleted; nothing was applied", self.renderer.config_id());
            return Err(Failure::new(Exit::Refused, anyhow::anyhow!(deleting))
                .hint("its objects go with it; apply again once it is gone"));
        }
        if let Some(file) = &args.plan {
            self.check_plan(args, file, &source, platform).await?;
        }
        let Some(source) = self.apply_config(args, source).await else { return Ok(self.tally.exit) };
        let owner = self.owner(&source);
        let desired = input::render(self.renderer, source, platform, self.report.ui)?;
        let manifests = desired.manifests;
        let live = read_live(self.cluster, &manifests).await;
        self.apply(&manifests, &live, owner.as_ref()).await;
        if let Some(exit) = self.stop.requested() {
            results::not_done(&self.tally.done, &manifests, self.report.ui);
            return Ok(exit);
        }
        if args.prune {
            let uid = owner.as_ref().map(|owner| owner.uid.as_str());
            self.prune(Wanted { manifests: &manifests, unmanaged: &desired.unmanaged, uid }).await;
        }
        let goes_on = |exit| self.policy.dry_run == DryRun::None && exit == Exit::Done;
        let mut exit = self.tally.exit;
        if args.wait && goes_on(exit) {
            exit = self.wait(&manifests, args.timeout).await;
        }
        if let Some(time) = args.settle.filter(|_| goes_on(exit)) {
            exit = self.settle(&manifests, time).await;
        }
        let warned = args.warnings_as_errors && self.tally.warnings > 0;
        Ok(exit.worst(if warned { Exit::Refused } else { Exit::Done }))
    }

    /// Makes sure that everything is as it was when the plan was made.
    async fn check_plan(
        &mut self,
        args: &ApplyArgs,
        file: &Path,
        source: &Source,
        platform: Platform,
    ) -> Result<(), Failure> {
        let mut manifests = Vec::new();
        if args.file.is_given() {
            manifests.push(source.manifest(self.renderer.config_id()));
        }
        let desired = self.renderer.render(source.clone(), platform).map_err(input::failure)?;
        manifests.extend(desired.manifests);
        let live = read_live(self.cluster, &manifests).await;
        let exact = self.policy.foreign == ForeignFields::Remove;
        let plan = plan_file::For { cluster: self.cluster, config: source.lifecycle.uid.as_deref(), exact };
        plan.check(file, &manifests, &live)
    }

    /// Looks again after a while whether the values are still there.
    async fn settle(&self, manifests: &[Manifest], time: Duration) -> Exit {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            exit = self.stop.first() => return exit,
        }
        let live = read_live(self.cluster, manifests).await;
        let mut exit = Exit::Done;
        for manifest in manifests {
            match live.get(&manifest.id) {
                Some(Err(error)) => {
                    self.report.ui.error(&format!("cannot read {} again: {error}", manifest.id.full_name()));
                    exit = exit.worst(hints::exit(error));
                }
                Some(Ok(object)) => {
                    let changed =
                        results::changed_back(manifest, object.as_ref(), self.cluster.field_manager(), self.report.ui);
                    exit = exit.worst(if changed { Exit::Refused } else { Exit::Done });
                }
                None => {}
            }
        }
        exit
    }

    /// The Config that must still be there whenever an object is created.
    fn owner(&self, source: &Source) -> Option<Owner> {
        let uid = source.lifecycle.uid.clone()?;
        Some(Owner { id: self.renderer.config_id(), uid })
    }

    async fn apply(&mut self, manifests: &[Manifest], live: &Live, owner: Option<&Owner>) -> Option<Outcome> {
        let (policy, tally, report) = (self.policy, &mut self.tally, RefCell::new(&mut self.report));
        let mut last = None;
        let announce = |manifest: &Manifest, error: &Error| report.borrow_mut().recreating(manifest, error);
        let execution = Execution { cluster: self.cluster, policy, owner, announce: &announce, stop: self.stop };
        execution
            .run(manifests, live, |manifest, outcome| {
                let before = live.get(&manifest.id).and_then(|live| live.as_ref().ok()?.as_ref());
                let report = &mut report.borrow_mut();
                report.outcome(manifest, outcome, before);
                if let Some(hint) = hints::of_names(outcome.conflicts.iter().flat_map(|conflict| &conflict.owners)) {
                    report.ui.hint(hint);
                }
                if let Some(hint) = hints::of_outcome(outcome) {
                    report.ui.hint(&hint);
                }
                tally.note(manifest, outcome);
                last = Some(outcome.clone());
            })
            .await;
        last
    }

    /// Applies the Config of a file; gives it with the uid that the server knows it by, or nothing when that failed.
    async fn apply_config(&mut self, args: &ApplyArgs, mut source: Source) -> Option<Source> {
        if !args.file.is_given() {
            return Some(source);
        }
        let manifest = source.manifest(self.renderer.config_id());
        let live = read_live(self.cluster, std::slice::from_ref(&manifest)).await;
        // Finalizers, labels and annotations of others are theirs: a Config is never brought to exactly what a file says.
        let exact = std::mem::replace(&mut self.policy.foreign, ForeignFields::Keep);
        let outcome = self.apply(&[manifest], &live, None).await;
        self.policy.foreign = exact;
        let outcome = outcome.filter(|outcome| !outcome.is_failure())?;
        if let Some(object) = outcome.object.filter(|_| self.policy.dry_run == DryRun::None) {
            source.lifecycle = Lifecycle::of(&object);
        }
        Some(source)
    }

    /// Deletes what is no longer desired, if all that is desired is done: a new set must not lack what the old one had.
    async fn prune(&mut self, wanted: Wanted<'_>) {
        if self.tally.exit != Exit::Done {
            return self.report.ui.warning("nothing was pruned, since not all objects were applied");
        }
        let Orphans { found, unlisted } = orphans::find(self.cluster, wanted).await;
        for (kind, error) in &unlisted {
            self.report.ui.error(&format!("cannot look for orphans of kind {kind}: {error}"));
            self.tally.exit = self.tally.exit.worst(hints::exit(error));
        }
        let force = self.policy.conflicts != Conflicts::Refuse;
        for orphan in &found {
            if self.stop.requested().is_some() {
                return;
            }
            let pruned = orphans::prune(self.cluster, orphan, force, self.policy.dry_run != DryRun::None).await;
            self.report.pruned(orphan, &pruned);
            self.tally.exit = self.tally.exit.worst(match &pruned {
                Pruned::Deleted => Exit::Done,
                Pruned::Kept => Exit::Refused,
                Pruned::Failed(error) => hints::exit(error),
            });
            match pruned {
                Pruned::Deleted => self.tally.done.push(orphan.id.clone()),
                Pruned::Kept => self.report.ui.hint(hints::KEPT_ORPHAN),
                Pruned::Failed(_) => {}
            }
        }
    }

    /// Waits for the pods; what keeps them from becoming ready is printed here, since the objects themselves are done.
    async fn wait(&self, manifests: &[Manifest], limit: Duration) -> Exit {
        let mut told = HashMap::new();
        let waited = rollout::wait(self.cluster, manifests, limit, self.stop, |id, progress| {
            if told.insert(id.clone(), progress.clone()).as_ref() != Some(progress) {
                results::rollout(id, progress, self.report.ui);
            }
        });
        let failure = match waited.await {
            Ok(Waited::Done) => return Exit::Done,
            Ok(Waited::Stopped) => return self.stop.requested().unwrap_or(Exit::Interrupted),
            Err(error) => hints::failure(error, "cannot watch the rollout"),
            Ok(Waited::Stuck(id, why)) => {
                let stuck = anyhow::anyhow!(why).context(format!("{} does not roll out", id.full_name()));
                Failure::new(Exit::Refused, stuck).hint(hints::pods(&id))
            }
            Ok(Waited::TimedOut(ids)) => {
                let why = |(id, why): &(ObjectId, Option<String>)| match why {
                    Some(why) => format!("{} ({why})", id.full_name()),
                    None => id.full_name(),
                };
                let names: Vec<String> = ids.iter().map(why).collect();
                let failure = anyhow::anyhow!("not rolled out in time: {}", names.join(", "));
                let failure = Failure::new(Exit::NoAnswer, failure).hint("allow more time with --timeout");
                ids.first().map(|(id, _)| hints::pods(id)).into_iter().fold(failure, Failure::hint)
            }
        };
        report::failure(&failure, self.report.ui);
        failure.exit
    }
}

impl Tally {
    fn note(&mut self, manifest: &Manifest, outcome: &Outcome) {
        if !outcome.is_failure() && !matches!(outcome.action, Action::Skipped(_)) {
            self.done.push(manifest.id.clone());
        }
        self.warnings += outcome.warnings.len();
        self.exit = self.exit.worst(hints::exit_of(outcome));
    }
}
