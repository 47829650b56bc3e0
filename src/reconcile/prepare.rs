//! From a manifest and its live object to its plan: asks the server for a dry run where ownership alone does not decide.
//!
//! Sends nothing but `dryRun=All`.

use serde_json::Value;

use super::blockers;
use super::plan::Planned;
use super::subject::Subject;
use crate::cluster::{Applied, ApplyParams, Cause, Cluster, Error};
use crate::compare::{self, Foreign, Keyed, Verdict};
use crate::manifest::{Manifest, ObjectId};
use crate::ownership;
use crate::path::FieldPath;

/// So many dry runs are made at most to tell the defaults of one object from what others set.
const MOST_PROBES: usize = 40;
/// Under this name nothing exists: a dry run under it tells what the server makes of an object that is new.
const UNUSED_NAME: &str = "bpfman-config-dry-run";

/// Plans for single objects of one cluster.
#[derive(Clone, Copy)]
pub struct Planner<'a> {
    /// Who is asked.
    pub cluster: &'a Cluster,
    /// Whether fields of others are to be removed.
    pub exact: bool,
}

/// What the server made of a dry run, once it was clear what an apply needs.
pub(super) struct Preview {
    pub(super) applied: Applied,
    /// What conflicts with other managers.
    pub(super) causes: Vec<Cause>,
    /// What must be removed first.
    pub(super) blockers: Vec<FieldPath>,
    /// The keys that the server fills in, where it was asked for them.
    pub(super) keyed: Option<Keyed>,
}

impl Preview {
    fn taken(applied: Applied) -> Self {
        Self { applied, causes: Vec::new(), blockers: Vec::new(), keyed: None }
    }
}

impl<'a> Planner<'a> {
    /// Plans for `manifest`, of which `live` was read.
    pub async fn plan(self, manifest: &'a Manifest, live: &'a Result<Option<Value>, Error>) -> Planned {
        let subject = self.subject(manifest, live.as_ref().ok().and_then(Option::as_ref)).await;
        match live {
            Err(error) => subject.failed(error.clone()),
            Ok(Some(live)) if compare::is_terminating(live) => subject.failed(terminating(manifest)),
            Ok(Some(live)) if compare::in_sync(&manifest.object, live, subject.field_manager) == Verdict::InSync => {
                subject.in_sync()
            }
            Ok(_) => match self.preview(&subject).await {
                Ok(Preview { applied, causes, blockers, keyed }) => {
                    Subject { keyed, ..subject }.previewed(applied, &causes, &blockers)
                }
                Err(error) if error.is_forbidden() || error.is_dry_run_unsupported() => subject.approximate(error),
                Err(error) => self.recreated(&subject, error).await,
            },
        }
    }

    /// Of an object that must be recreated the other changes are looked at, too.
    async fn recreated(self, subject: &Subject<'_>, error: Error) -> Planned {
        let object = error.immutable_fields().and_then(|fields| subject.without_immutable(fields));
        let Some(object) = object else { return subject.failed(error) };
        let params = ApplyParams { dry_run: true, force: true };
        match self.cluster.apply(&subject.manifest.id, &object, params).await {
            Ok(applied) => subject.recreated(error, &applied.object),
            Err(_) => subject.failed(error),
        }
    }

    /// What is desired and live of one object. The server is asked which foreign fields are its own defaults: those that come back when
    /// they are removed, though somebody has sent them, too.
    pub(super) async fn subject(self, manifest: &'a Manifest, live: Option<&'a Value>) -> Subject<'a> {
        let mut subject = Subject::new(manifest, live, self.cluster.field_manager(), self.exact);
        let Some(live) = live.filter(|live| !subject.foreign.is_empty() && !compare::is_terminating(live)) else {
            return subject;
        };
        let paths =
            |foreign: &[Foreign]| -> Vec<FieldPath> { foreign.iter().map(|field| field.path.clone()).collect() };
        let mut applied = self.without(&subject, live, &paths(&subject.foreign)).await;
        if applied.is_err() {
            // What nobody owns and cannot be removed was given by the server once and for all, as the address of a Service.
            subject.foreign.retain(|field| !field.owners.is_empty());
            if !subject.foreign.is_empty() {
                applied = self.without(&subject, live, &paths(&subject.foreign)).await;
            }
        }
        if applied.is_err() && !subject.exact {
            // What nobody owns may exclude our fields.
            let ownerless = Subject::ownerless(manifest, Some(live), None);
            let everything: Vec<FieldPath> = paths(&subject.foreign).into_iter().chain(paths(&ownerless)).collect();
            applied = self.without(&subject, live, &everything).await;
        }
        let value = |object, path: &FieldPath| ownership::value_at(object, path).cloned();
        if let Ok(applied) = applied {
            subject.foreign.retain(|field| value(&applied.object, &field.path) != value(live, &field.path));
        } else {
            let defaults = self.defaults(manifest, live, paths(&subject.foreign)).await;
            subject.foreign.retain(|field| !defaults.contains(&field.path));
        }
        subject
    }

    /// Those of `paths` that come back when they are removed. Some cannot be removed at all, such as immutable ones: so all are removed
    /// together, then, where that is refused, each half of them.
    async fn defaults(self, manifest: &Manifest, live: &Value, paths: Vec<FieldPath>) -> Vec<FieldPath> {
        let (mut defaults, mut left) = (Vec::new(), vec![paths]);
        for _ in 0..MOST_PROBES {
            let Some(group) = left.pop() else { break };
            let mut target = live.clone();
            for path in &group {
                ownership::remove(&mut target, path);
            }
            let value = |object| group.iter().map(move |path| (path, ownership::value_at(object, path)));
            match self.cluster.json_patch(&manifest.id, &blockers::patch(live, &target), true).await {
                Ok(applied) => {
                    let same = value(live).zip(value(&applied.object)).filter(|(before, after)| before.1 == after.1);
                    defaults.extend(same.map(|((path, _), _)| path.clone()));
                }
                Err(Error::Refused(_)) if group.len() > 1 => {
                    let (one, other) = group.split_at(group.len() / 2);
                    left.extend([one.to_vec(), other.to_vec()]);
                }
                Err(_) => {}
            }
        }
        defaults
    }

    /// An unforced dry run says what conflicts, a forced one then what the object becomes.
    async fn preview(self, subject: &Subject<'_>) -> Result<Preview, Error> {
        let Manifest { id, object, .. } = subject.manifest;
        let params = ApplyParams { dry_run: true, ..ApplyParams::default() };
        match self.cluster.apply(id, object, params).await {
            Ok(applied) => Ok(Preview::taken(applied)),
            Err(Error::Conflict(causes)) => self.forced(subject, causes).await,
            Err(error) => self.without_blockers(subject, error).await,
        }
    }

    /// A forced dry run, once `causes` are known.
    pub(super) async fn forced(self, subject: &Subject<'_>, causes: Vec<Cause>) -> Result<Preview, Error> {
        let Manifest { id, object, .. } = subject.manifest;
        let params = ApplyParams { dry_run: true, force: true };
        match self.cluster.apply(id, object, params).await {
            Ok(applied) => Ok(Preview { causes, ..Preview::taken(applied) }),
            Err(error) => Ok(Preview { causes, ..self.without_blockers(subject, error).await? }),
        }
    }

    /// Looks for the fields of others without which the server takes the object; gives `refusal` back if it does not even take it
    /// without all of them: then the object itself is at fault.
    pub(super) async fn without_blockers(self, subject: &Subject<'_>, refusal: Error) -> Result<Preview, Error> {
        let (Some(live), Some(refused)) = (subject.live, blockers::refused_fields(&refusal)) else {
            return Err(refusal);
        };
        let subject = &Subject { keyed: self.keyed(subject, live).await, ..subject.clone() };
        let foreign: Vec<FieldPath> = subject.foreign.iter().map(|field| field.path.clone()).collect();
        let near = blockers::nearest(&refused, &foreign);
        let ownerless = Subject::ownerless(subject.manifest, subject.live, subject.keyed.as_ref());
        let ownerless = ownerless.into_iter().map(|field| field.path);
        let everything: Vec<FieldPath> = foreign.iter().cloned().chain(ownerless).collect();
        for guess in [near, foreign, everything] {
            if guess.is_empty() {
                continue;
            }
            match self.without(subject, live, &guess).await {
                Ok(applied) => {
                    let preview = self.fewest(subject, live, guess, applied).await;
                    return Ok(Preview { keyed: subject.keyed.clone(), ..preview });
                }
                Err(error) if blockers::refused_fields(&error).is_some() => {}
                Err(error) => return Err(error),
            }
        }
        Err(refusal)
    }

    /// Asks the server what it makes of the manifest where there is nothing yet, if the keys of some list item are not certain without.
    async fn keyed(self, subject: &Subject<'_>, live: &Value) -> Option<Keyed> {
        let desired = &subject.manifest.object;
        if !compare::may_lack_keys(live, desired) {
            return None;
        }
        let id = ObjectId { name: UNUSED_NAME.to_owned(), ..subject.manifest.id.clone() };
        let mut object = desired.clone();
        *object.pointer_mut("/metadata/name")? = UNUSED_NAME.into();
        let created = self.cluster.apply(&id, &object, ApplyParams { dry_run: true, force: true }).await.ok()?;
        Keyed::of(desired, &created.object, subject.field_manager)
    }

    /// Keeps of `blockers` only what the server does not take beside our fields: of a map that others filled, single keys.
    async fn fewest(self, subject: &Subject<'_>, live: &Value, blockers: Vec<FieldPath>, applied: Applied) -> Preview {
        let (mut blockers, mut applied) = self.smaller(subject, live, blockers, applied).await;
        for path in blockers.clone() {
            let keys = blockers::keys_of_map(live, &path);
            if keys.len() > 1 {
                let others = blockers.iter().filter(|one| **one != path).cloned();
                let finer: Vec<FieldPath> = others.chain(keys).collect();
                if let Ok(taken) = self.without(subject, live, &finer).await {
                    (blockers, applied) = self.smaller(subject, live, finer, taken).await;
                }
            }
        }
        Preview { blockers, ..Preview::taken(applied) }
    }

    /// Puts back, in ever smaller groups, what the server takes after all.
    async fn smaller(
        self,
        subject: &Subject<'_>,
        live: &Value,
        mut blockers: Vec<FieldPath>,
        mut applied: Applied,
    ) -> (Vec<FieldPath>, Applied) {
        let mut size = blockers.len() / 2;
        while size > 0 {
            let mut start = 0;
            while start < blockers.len() {
                let end = blockers.len().min(start + size);
                let kept = blockers.iter().enumerate().filter(|(index, _)| !(start..end).contains(index));
                let fewer: Vec<FieldPath> = kept.map(|(_, path)| path.clone()).collect();
                match self.without(subject, live, &fewer).await {
                    Ok(taken) if !fewer.is_empty() => (blockers, applied) = (fewer, taken),
                    _ => start = end,
                }
            }
            size /= 2;
        }
        (blockers, applied)
    }

    async fn without(self, subject: &Subject<'_>, live: &Value, removed: &[FieldPath]) -> Result<Applied, Error> {
        let Manifest { id, object, .. } = subject.manifest;
        let target = blockers::target(live, object, subject.keyed.as_ref(), removed, subject.field_manager);
        self.cluster.json_patch(id, &blockers::patch(live, &target), true).await
    }
}

/// An apply to an object on its way out succeeds, and is lost a moment later.
pub(super) fn terminating(manifest: &Manifest) -> Error {
    match manifest.id.kind.as_str() {
        "Namespace" => Error::NamespaceTerminating(manifest.id.name.clone()),
        _ => Error::Terminating,
    }
}
