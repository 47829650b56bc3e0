//! From a manifest and its live object to its plan: asks the server for a dry run where ownership alone does not decide.
//!
//! Sends nothing but `dryRun=All`.

use serde_json::Value;

use super::blockers;
use super::plan::{Planned, Subject};
use crate::cluster::{Applied, ApplyParams, Cause, Cluster, Error};
use crate::compare::{self, Verdict};
use crate::manifest::Manifest;
use crate::path::FieldPath;

/// How often more fields are taken into account, after the server has refused the object without the first ones.
const MOST_ROUNDS: usize = 8;

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
}

impl Planner<'_> {
    /// Plans for `manifest`, of which `live` was read.
    pub async fn plan(self, manifest: &Manifest, live: &Result<Option<Value>, Error>) -> Planned {
        let subject = self.subject(manifest, live.as_ref().ok().and_then(Option::as_ref));
        match live {
            Err(error) => subject.failed(error.clone()),
            Ok(Some(live)) if compare::is_terminating(live) => subject.failed(terminating(manifest)),
            Ok(Some(live)) if compare::in_sync(&manifest.object, live, subject.field_manager) == Verdict::InSync => {
                subject.in_sync()
            }
            Ok(_) => match self.preview(subject).await {
                Ok(Preview { applied, causes, blockers }) if blockers.is_empty() => subject.applied(applied, &causes),
                Ok(Preview { applied, causes, blockers }) => subject.blocked(applied, &causes, &blockers),
                Err(error) => subject.failed(error),
            },
        }
    }

    pub(super) fn subject<'s>(&'s self, manifest: &'s Manifest, live: Option<&'s Value>) -> Subject<'s> {
        Subject { manifest, live, field_manager: self.cluster.field_manager(), exact: self.exact }
    }

    /// An unforced dry run says what conflicts, a forced one then what the object becomes.
    async fn preview(self, subject: Subject<'_>) -> Result<Preview, Error> {
        let Manifest { id, object, .. } = subject.manifest;
        let params = ApplyParams { dry_run: true, ..ApplyParams::default() };
        match self.cluster.apply(id, object, params).await {
            Ok(applied) => Ok(Preview { applied, causes: Vec::new(), blockers: Vec::new() }),
            Err(Error::Conflict(causes)) => self.forced(subject, causes).await,
            Err(error) => self.without_blockers(subject, error).await,
        }
    }

    /// A forced dry run, once `causes` are known.
    pub(super) async fn forced(self, subject: Subject<'_>, causes: Vec<Cause>) -> Result<Preview, Error> {
        let Manifest { id, object, .. } = subject.manifest;
        let params = ApplyParams { dry_run: true, force: true };
        match self.cluster.apply(id, object, params).await {
            Ok(applied) => Ok(Preview { applied, causes, blockers: Vec::new() }),
            Err(error) => Ok(Preview { causes, ..self.without_blockers(subject, error).await? }),
        }
    }

    /// Looks for the fields of others without which the server takes the object; gives `refusal` back if there are none.
    pub(super) async fn without_blockers(self, subject: Subject<'_>, refusal: Error) -> Result<Preview, Error> {
        let (Some(live), true) = (subject.live, blockers::refused_fields(&refusal).is_some()) else {
            return Err(refusal);
        };
        let foreign: Vec<FieldPath> = subject.foreign().into_iter().map(|field| field.path).collect();
        let mut blockers = Vec::new();
        let mut latest = refusal.clone();
        for _ in 0..MOST_ROUNDS {
            let fields = blockers::refused_fields(&latest).unwrap_or_default();
            let more = blockers::candidates(&fields, &foreign, &blockers);
            if more.is_empty() {
                break;
            }
            blockers.extend(more);
            match self.without(subject, live, &blockers).await {
                Ok(applied) => return self.fewest(subject, live, blockers, applied).await,
                Err(error) if blockers::refused_fields(&error).is_some() => latest = error,
                Err(error) => return Err(error),
            }
        }
        Err(refusal)
    }

    /// Leaves out of `blockers` what the server takes beside our fields after all.
    async fn fewest(
        self,
        subject: Subject<'_>,
        live: &Value,
        mut blockers: Vec<FieldPath>,
        mut applied: Applied,
    ) -> Result<Preview, Error> {
        for path in blockers.clone() {
            let fewer: Vec<FieldPath> = blockers.iter().filter(|one| **one != path).cloned().collect();
            if fewer.is_empty() {
                break;
            }
            if let Ok(taken) = self.without(subject, live, &fewer).await {
                (blockers, applied) = (fewer, taken);
            }
        }
        Ok(Preview { applied, causes: Vec::new(), blockers })
    }

    async fn without(self, subject: Subject<'_>, live: &Value, removed: &[FieldPath]) -> Result<Applied, Error> {
        let Manifest { id, object, .. } = subject.manifest;
        let target = blockers::target(live, object, removed, subject.field_manager);
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
