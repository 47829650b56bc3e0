//! One object that is applied: the fewest requests that bring it to what is desired, within a policy.
//!
//! An object that is as desired costs no request, one that deviates costs one. Only what the server refuses is looked at more closely, and
//! nothing is taken by force that was not seen before: such a request carries the resource version of the object that was looked at.

use serde_json::Value;

use super::outcome::{Action, Outcome};
use super::plan::{self, Conflict};
use super::policy::{Conflicts, Policy};
use super::prepare::{self, Planner, Preview};
use super::settlement::Settled;
use super::subject::Subject;
use super::{blockers, object};
use crate::cluster::{Applied, ApplyParams, Cause, Error};
use crate::compare::{self, Change, Comparison, Difference, Foreign, Keyed, Verdict, What};
use crate::manifest::Manifest;
use crate::mask;
use crate::ownership;
use crate::path::FieldPath;

/// How often an object is looked at again that others change at the same time.
pub(super) const MOST_LOOKS: usize = 4;

/// One object to apply.
pub(super) struct Task<'a> {
    pub(super) planner: Planner<'a>,
    pub(super) manifest: &'a Manifest,
    pub(super) policy: Policy<'a>,
    /// The conflicts that were seen at the first look: no others are taken.
    pub(super) shown: Option<Vec<Conflict>>,
}

impl<'a> Task<'a> {
    /// The object as ownership shows it; only to remove what others added exactly, the server is asked which of it are defaults.
    async fn subject<'s>(&self, live: &'s Value) -> Subject<'s>
    where
        'a: 's,
    {
        let (planner, manifest): (Planner<'s>, &'s Manifest) = (self.planner, self.manifest);
        if planner.exact {
            return planner.subject(manifest, Some(live)).await;
        }
        Subject::new(manifest, Some(live), planner.cluster.field_manager(), false)
    }

    /// Applies the object as it is live now.
    pub(super) async fn look(&mut self, live: Option<&Value>) -> Outcome {
        let Some(live) = live else { return self.create().await };
        let subject = self.subject(live).await;
        let (foreign, exact) = (subject.added(), subject.exact);
        match compare::in_sync(&self.manifest.object, live, self.planner.cluster.field_manager()) {
            Verdict::Terminating => return Outcome::of(Action::Failed(prepare::terminating(self.manifest))),
            Verdict::InSync if foreign.is_empty() || !exact => {
                return Outcome { foreign, ..Outcome::of(Action::Unchanged) };
            }
            Verdict::InSync => {}
            Verdict::Differs(_) if exact && !foreign.is_empty() => {}
            Verdict::Differs(found) => {
                if self.is_server_form(live, &found) && self.is_no_op(live).await {
                    return Outcome { foreign, ..Outcome::of(Action::Unchanged) };
                }
                let outcome = self.update(live, &subject).await;
                return Outcome { foreign, ..outcome };
            }
        }
        self.exactly(live, &foreign).await
    }

    /// Whether all that differs may be the server's own form of what we sent: with defaults filled in, or a set in another order.
    fn is_server_form(&self, live: &Value, found: &[Difference]) -> bool {
        found.iter().all(|difference| {
            let value = |object| ownership::value_at(object, &difference.path);
            match (difference.what, value(live), value(&self.manifest.object)) {
                (What::OtherValue, Some(live), Some(desired)) => compare::may_include(live, desired),
                (What::Order, ..) => true,
                _ => false,
            }
        })
    }

    /// Whether a dry run changes nothing: then a real apply would only move times in `managedFields`.
    async fn is_no_op(&self, live: &Value) -> bool {
        let object = pinned(&self.manifest.object, live, false);
        let params = ApplyParams { force: false, dry_run: true };
        let cluster = self.planner.cluster;
        match cluster.apply(&self.manifest.id, &object, params).await {
            Ok(applied) => {
                let comparison = compare::compare(Some(live), &applied.object, cluster.field_manager());
                comparison.unchanged() && !comparison.records_ownership
            }
            Err(_) => false,
        }
    }

    async fn create(&self) -> Outcome {
        if object::is_missing_namespace(self.manifest, self.policy) {
            return Outcome::of(Action::Failed(Error::NamespaceMissing(self.manifest.id.name.clone())));
        }
        match self.send(&self.manifest.object, false).await {
            // Somebody else created it at the same time.
            Err(Error::Conflict(_)) => Outcome::of(Action::Failed(Error::stale("it was created by others meanwhile"))),
            Err(error) => Outcome::of(Action::Failed(error)),
            Ok(applied) => {
                let action = if applied.created { Action::Created } else { Action::Configured };
                let comparison = Some(Box::new(self.compared(None, &applied)));
                Outcome { comparison, altered: self.altered(&applied), ..done(action, applied) }
            }
        }
    }

    pub(super) async fn unread(&self) -> Outcome {
        match self.send(&self.manifest.object, false).await {
            Err(error) => self.failed(None, error),
            Ok(applied) => done(if applied.created { Action::Created } else { Action::Applied }, applied),
        }
    }

    /// Sends what differs; looks more closely only at what the server refuses.
    async fn update(&mut self, live: &Value, subject: &Subject<'_>) -> Outcome {
        let seen = self.policy.conflicts == Conflicts::TakeSeen;
        let object = pinned(&self.manifest.object, live, seen || self.policy.pinned);
        match self.send(&object, seen).await {
            Ok(applied) => self.updated(live, applied),
            Err(Error::Conflict(causes)) => self.conflicting(live, subject, causes).await,
            Err(refusal) => match self.planner.without_blockers(subject, refusal).await {
                Ok(preview) => self.with_force(live, subject, preview).await,
                Err(error) => self.failed(Some(live), error),
            },
        }
    }

    async fn conflicting(&mut self, live: &Value, subject: &Subject<'_>, causes: Vec<Cause>) -> Outcome {
        match self.planner.forced(subject, causes).await {
            Ok(preview) => self.with_force(live, subject, preview).await,
            Err(error) => self.failed(Some(live), error),
        }
    }

    /// Goes on with what needs force, if the policy and what was seen before allow it.
    async fn with_force(&mut self, live: &Value, subject: &Subject<'_>, preview: Preview) -> Outcome {
        let Preview { applied, causes, blockers, keyed } = preview;
        let subject = Subject { keyed, ..subject.clone() };
        let planned = subject.previewed(applied, &causes, &blockers);
        if planned.changes().is_empty() && planned.blockers.is_empty() {
            // As desired; whoever else owns it wrote it another way that means the same.
            return Outcome { warnings: planned.warnings, ..Outcome::of(Action::Unchanged) };
        }
        let expected = match &self.shown {
            Some(shown) => planned.conflicts.iter().all(|conflict| shown.iter().any(|known| known.is_same(conflict))),
            None => true,
        };
        match self.policy.settle(self.manifest, &planned.conflicts, &planned.blockers) {
            Settled::Without(reduced, yielded) => {
                return self.without(live, reduced, yielded, &planned.conflicts).await;
            }
            Settled::Taken => self.policy.conflicts = Conflicts::Take,
            Settled::No => {}
        }
        let needs_force = !planned.conflicts.is_empty() || !planned.blockers.is_empty();
        if (self.policy.conflicts == Conflicts::Refuse && needs_force) || !expected {
            let refusing = Policy { conflicts: Conflicts::Refuse, ..self.policy };
            return Outcome::planned(planned, refusing);
        }
        self.shown = Some(planned.conflicts.clone());
        let written = if blockers.is_empty() {
            self.send(&pinned(&self.manifest.object, live, true), true).await
        } else {
            self.rewrite(live, subject.keyed.as_ref(), &blockers).await
        };
        match written {
            Ok(applied) => {
                Outcome { conflicts: planned.conflicts, blockers: planned.blockers, ..self.updated(live, applied) }
            }
            Err(error) => self.failed(Some(live), error),
        }
    }

    /// Applies the object without the fields that were yielded; all other conflicts may be taken, as they were seen.
    async fn without(&self, live: &Value, reduced: Manifest, yielded: Vec<Conflict>, all: &[Conflict]) -> Outcome {
        let taken = all.iter().filter(|conflict| !yielded.contains(conflict)).cloned().collect();
        let policy = Policy { settlement: None, conflicts: Conflicts::Take, ..self.policy };
        let mut task = Task { manifest: &reduced, policy, shown: Some(taken), planner: self.planner };
        Outcome { yielded, ..Box::pin(task.look(Some(live))).await }
    }

    /// Removes what others added, and puts in what is ours.
    async fn exactly(&mut self, live: &Value, foreign: &[Foreign]) -> Outcome {
        let is_applied =
            |field: &&Foreign| field.owners.iter().any(|owner| owner.operation == ownership::Operation::Apply);
        let applied: Vec<Foreign> = foreign.iter().filter(is_applied).cloned().collect();
        if self.policy.conflicts == Conflicts::Refuse && !applied.is_empty() {
            return Outcome { blockers: applied, ..Outcome::of(Action::Blocked) };
        }
        let planned = self.planner.plan(self.manifest, &Ok(Some(live.clone()))).await;
        let refused = self.policy.conflicts == Conflicts::Refuse && !planned.conflicts.is_empty();
        if refused || planned.error().is_some() {
            return Outcome::planned(planned, self.policy);
        }
        let paths: Vec<FieldPath> = foreign.iter().map(|field| field.path.clone()).collect();
        match self.rewrite(live, None, &paths).await {
            Ok(applied) => {
                let removed = foreign.to_vec();
                Outcome { conflicts: planned.conflicts, blockers: removed, ..self.updated(live, applied) }
            }
            Err(error) => self.failed(Some(live), error),
        }
    }

    /// Writes the object without the fields at `removed` and with ours in one request, then records ownership as an apply does.
    async fn rewrite(&self, live: &Value, keyed: Option<&Keyed>, removed: &[FieldPath]) -> Result<Applied, Error> {
        let Manifest { id, object, .. } = self.manifest;
        let cluster = self.planner.cluster;
        let manager = cluster.field_manager();
        let target = blockers::target(live, object, keyed, removed, manager);
        let patched = cluster.json_patch(id, &blockers::patch(live, &target), false).await;
        let stale = |error: Error| {
            if blockers::is_failed_test(&error) { Error::stale("the object has been modified") } else { error }
        };
        let patched = patched.map_err(stale)?;
        // Our values are there, and all that they displaced was looked at before: this only records them as applied, field by field. It needs
        // force, since the entry that the patch has left of us counts as another manager.
        let applied = self.send(&pinned(object, &patched.object, true), true).await?;
        let mut written = Applied { warnings: [patched.warnings, applied.warnings].concat(), ..applied };
        // The patch has left an entry of its own, unless somebody had used our name before.
        if blockers::entry_patch(live, manager).is_none() {
            written.object = self.without_own_update(written.object).await?;
        }
        Ok(written)
    }

    async fn without_own_update(&self, mut object: Value) -> Result<Value, Error> {
        let (cluster, id) = (self.planner.cluster, &self.manifest.id);
        for _ in 0..MOST_LOOKS {
            let Some(patch) = blockers::entry_patch(&object, cluster.field_manager()) else { break };
            match cluster.json_patch(id, &patch, false).await {
                Ok(applied) => return Ok(applied.object),
                // Another entry has come or gone meanwhile.
                Err(error) if blockers::is_failed_test(&error) || error.is_stale() => match cluster.get(id).await? {
                    Some(latest) => object = latest,
                    None => break,
                },
                Err(error) => return Err(error),
            }
        }
        Ok(object)
    }

    async fn send(&self, object: &Value, force: bool) -> Result<Applied, Error> {
        self.planner.cluster.apply(&self.manifest.id, object, ApplyParams { force, dry_run: false }).await
    }

    fn updated(&self, live: &Value, applied: Applied) -> Outcome {
        let comparison = self.compared(Some(live), &applied);
        let unchanged = comparison.unchanged() && !comparison.records_ownership;
        let action = if unchanged { Action::Unchanged } else { Action::Configured };
        let released = comparison.released.clone();
        let (altered, comparison) = (self.altered(&applied), (!unchanged).then(|| Box::new(comparison)));
        Outcome { altered, released, comparison, ..done(action, applied) }
    }

    /// The values that an admission webhook or policy has changed; another form of the same value is none.
    fn altered(&self, applied: &Applied) -> Vec<Change> {
        let (live, desired) = mask::pair(&applied.object, &self.manifest.object);
        let Verdict::Differs(differences) =
            compare::in_sync(&self.manifest.object, &applied.object, self.planner.cluster.field_manager())
        else {
            return Vec::new();
        };
        let altered = |difference: Difference| {
            let values = [&self.manifest.object, &applied.object]
                .map(|object| ownership::value_at(object, &difference.path).filter(|value| !value.is_null()));
            let [Some(sent), Some(stored)] = values else { return None };
            let is_other = difference.what == What::OtherValue && !compare::may_include(stored, sent);
            let shown = |object: &Value| ownership::value_at(object, &difference.path).cloned();
            is_other.then(|| Change {
                live: shown(&live),
                desired: shown(&desired),
                owners: Vec::new(),
                path: difference.path.clone(),
            })
        };
        differences.into_iter().filter_map(altered).collect()
    }

    /// What changed, the values of a Secret masked.
    fn compared(&self, live: Option<&Value>, applied: &Applied) -> Comparison {
        let (before, after) = mask::pair(live.unwrap_or(&Value::Null), &applied.object);
        compare::compare(live.map(|_| before.as_ref()), &after, self.planner.cluster.field_manager())
    }

    fn failed(&self, live: Option<&Value>, error: Error) -> Outcome {
        let conflicts = match &error {
            Error::Conflict(causes) => plan::conflicts(causes, live, &self.manifest.object),
            _ => Vec::new(),
        };
        Outcome { conflicts, ..Outcome::of(Action::Failed(error)) }
    }
}

fn done(action: Action, applied: Applied) -> Outcome {
    Outcome { warnings: applied.warnings, object: Some(applied.object), ..Outcome::of(action) }
}

/// `object` for this very live object: never creates it anew, and with `version` only as it was seen.
fn pinned(object: &Value, live: &Value, version: bool) -> Value {
    let mut object = object.clone();
    let names: &[&str] = if version { &["uid", "resourceVersion"] } else { &["uid"] };
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for name in names {
            if let Some(value) = live.get("metadata").and_then(|metadata| metadata.get(*name)) {
                metadata.insert((*name).to_owned(), value.clone());
            }
        }
    }
    object
}
