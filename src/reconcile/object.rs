//! Applying one object: from what was read of it to what became of it.

use serde_json::Value;

use super::migrate;
use super::outcome::{Action, Outcome};
use super::plan::Planned;
use super::policy::{Conflicts, DryRun, ForeignFields, Policy};
use super::prepare::Planner;
use super::recreate;
use super::settlement::Settled;
use super::task::{MOST_LOOKS, Task};
use crate::cluster::{Cluster, Error};
use crate::manifest::Manifest;

/// What is said before an object is deleted and created again, and why that is needed.
pub type Announce<'a> = &'a dyn Fn(&Manifest, &Error);

/// Applies `manifest`, of which `live` was read; within `policy`.
pub async fn apply_object(
    cluster: &Cluster,
    manifest: &Manifest,
    live: &Result<Option<Value>, Error>,
    policy: Policy<'_>,
    announce: Announce<'_>,
) -> Outcome {
    let exact = policy.foreign == ForeignFields::Remove;
    let planner = Planner { cluster, exact };
    if policy.dry_run != DryRun::None {
        return dry_run(planner, manifest, live, policy).await;
    }
    let mut task = Task { planner, manifest, policy, shown: None };
    let mut live = match live {
        Ok(live) => live.clone(),
        // Who may not read may still write; what changes is unknown then.
        Err(error) if error.is_forbidden() => return task.unread().await,
        Err(error) => return Outcome::of(Action::Failed(error.clone())),
    };
    let mut migrated = Vec::new();
    if let Some(object) = &live {
        match migrate::migrate(cluster, manifest, object, policy.migrate_from).await {
            Ok(None) => {}
            Ok(Some((object, from))) => (live, migrated) = (Some(object), from),
            Err(error) => return Outcome::of(Action::Failed(error)),
        }
    }
    let mut outcome = task.look(live.as_ref()).await;
    for _ in 1..MOST_LOOKS {
        if !matches!(&outcome.action, Action::Failed(error) if error.is_stale())
            || policy.conflicts == Conflicts::TakeSeen
            || policy.pinned
        {
            break;
        }
        live = match cluster.get(&manifest.id).await {
            Ok(live) => live,
            Err(error) => return Outcome::of(Action::Failed(error)),
        };
        outcome = task.look(live.as_ref()).await;
    }
    if let (Action::Failed(error), Some(object), true) = (&outcome.action, &live, policy.recreate)
        && error.immutable_fields().is_some()
        && recreate::is_possible(manifest)
    {
        announce(manifest, error);
        outcome = recreate::recreate(cluster, manifest, object).await;
    }
    if !migrated.is_empty() && outcome.action == Action::Unchanged {
        outcome.action = Action::Configured;
    }
    Outcome { migrated, ..outcome }
}

async fn dry_run(
    planner: Planner<'_>,
    manifest: &Manifest,
    live: &Result<Option<Value>, Error>,
    policy: Policy<'_>,
) -> Outcome {
    if matches!(live, Ok(None)) && is_missing_namespace(manifest, policy) {
        return Outcome::of(Action::Failed(Error::NamespaceMissing(manifest.id.name.clone())));
    }
    // The conflicts with these managers end when their fields are ours.
    let mut settlement = policy.settlement.cloned().unwrap_or_default();
    settlement.take.extend_from_slice(policy.migrate_from);
    let policy = Policy { settlement: Some(&settlement).filter(|settlement| !settlement.is_empty()), ..policy };
    let mut planned: Planned = planner.plan(manifest, live).await;
    if let Settled::Without(reduced, yielded) = policy.settle(manifest, &planned.conflicts, &planned.blockers) {
        let policy = Policy { settlement: None, conflicts: Conflicts::Take, ..policy };
        return Outcome { yielded, ..Box::pin(dry_run(planner, &reduced, live, policy)).await };
    }
    let settled = policy.settle(manifest, &planned.conflicts, &planned.blockers) == Settled::Taken;
    let policy = if settled { Policy { conflicts: Conflicts::Take, ..policy } } else { policy };
    match planned.approximate.take() {
        // Only the server itself can say what it would do.
        Some(error) if policy.dry_run == DryRun::Server => return Outcome::of(Action::Failed(error)),
        Some(error) => planned.warnings.push(format!("not checked by the server: {error}")),
        None => {}
    }
    let immutable = planned.error().is_some_and(|error| error.immutable_fields().is_some());
    let object = live.as_ref().ok().and_then(Option::as_ref);
    let migrated =
        object.map(|object| migrate::preview(manifest, object, planner.cluster.field_manager(), policy.migrate_from));
    let mut outcome = Outcome { migrated: migrated.unwrap_or_default(), ..Outcome::planned(planned, policy) };
    if policy.recreate && immutable && recreate::is_possible(manifest) {
        outcome.action = Action::Recreated;
    }
    if !outcome.migrated.is_empty() && outcome.action == Action::Unchanged {
        outcome.action = Action::Configured;
    }
    outcome
}

/// Whether `manifest` is a namespace that may not be created.
pub(super) fn is_missing_namespace(manifest: &Manifest, policy: Policy<'_>) -> bool {
    manifest.id.kind == "Namespace" && !policy.create_namespace
}
