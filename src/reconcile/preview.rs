//! What an apply would do to one object: the server's dry run, compared with what is live. Writes nothing.

use serde_json::Value;

use crate::cluster::{Applied, ApplyParams, Cause, Cluster, Error};
use crate::compare::{self, Change, Comparison, Foreign};
use crate::exit::Exit;
use crate::manifest::Manifest;
use crate::mask;
use crate::ownership::{self, Managers, Owner};
use crate::path::FieldPath;

/// What an apply would do.
#[derive(Debug)]
pub enum Preview {
    /// The server went through it.
    Compared(Box<Compared>),
    /// The namespace is missing: all of the object would be new, but the server could not check it.
    Unvalidated(Error),
    /// The server refuses to change these fields.
    Immutable {
        /// The fields, with their live and their wanted value.
        changes: Vec<Change>,
        /// The server's refusal.
        error: Error,
    },
    /// Nothing is known.
    Failed(Error),
}

/// The live object beside the one that an apply would make of it.
#[derive(Debug)]
pub struct Compared {
    /// How the two differ; the values of Secrets are masked.
    pub comparison: Comparison,
    /// Who owns what of the live object.
    pub managers: Managers,
    /// Live fields that others set and nobody wants.
    pub foreign: Vec<Foreign>,
    /// The fields that others own with other values; an apply needs force for them.
    pub conflicts: Vec<Conflict>,
    /// The same as the server said it.
    pub causes: Vec<Cause>,
    /// The server's warnings.
    pub warnings: Vec<String>,
}

/// A field that another manager owns with another value.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// Where.
    pub path: FieldPath,
    /// Who owns it.
    pub owners: Vec<Owner>,
    /// What is live.
    pub live: Option<Value>,
    /// What we want.
    pub desired: Option<Value>,
}

impl Preview {
    /// How `diff` ends after this; fields of others count with `strict`.
    pub fn exit(&self, strict: bool) -> Exit {
        match self {
            Self::Compared(compared) if !compared.comparison.unchanged() => Exit::Drift,
            Self::Compared(compared) if strict && !compared.foreign.is_empty() => Exit::Drift,
            Self::Compared(_) => Exit::Done,
            Self::Unvalidated(_) => Exit::Drift,
            Self::Immutable { error, .. } | Self::Failed(error) if error.is_no_answer() => Exit::NoAnswer,
            Self::Immutable { .. } | Self::Failed(_) => Exit::Refused,
        }
    }
}

/// Asks the server what an apply of `manifest` over `live` would do.
pub async fn preview(cluster: &Cluster, manifest: &Manifest, live: Option<&Value>) -> Preview {
    if live.is_some_and(compare::is_terminating) {
        return Preview::Failed(terminating(manifest));
    }
    match dry_run(cluster, manifest).await {
        Ok((applied, causes)) => Preview::Compared(Box::new(compared(cluster, manifest, live, applied, causes))),
        Err(error @ Error::NamespaceMissing(_)) if live.is_none() => Preview::Unvalidated(error),
        Err(error) => match error.immutable_fields() {
            Some(fields) => Preview::Immutable {
                changes: fields.iter().filter_map(|field| immutable(field, manifest, live)).collect(),
                error,
            },
            None => Preview::Failed(error),
        },
    }
}

/// An apply to an object on its way out succeeds, and is lost a moment later.
pub fn terminating(manifest: &Manifest) -> Error {
    match manifest.id.kind.as_str() {
        "Namespace" => Error::NamespaceTerminating(manifest.id.name.clone()),
        _ => Error::Terminating,
    }
}

/// An unforced dry run says what conflicts, a forced one then what the object would become.
async fn dry_run(cluster: &Cluster, manifest: &Manifest) -> Result<(Applied, Vec<Cause>), Error> {
    let params = ApplyParams { dry_run: true, force: false };
    match cluster.apply(&manifest.id, &manifest.object, params).await {
        Ok(applied) => Ok((applied, Vec::new())),
        Err(Error::Conflict(causes)) => {
            let forced = ApplyParams { force: true, ..params };
            cluster.apply(&manifest.id, &manifest.object, forced).await.map(|applied| (applied, causes))
        }
        Err(error) => Err(error),
    }
}

fn compared(
    cluster: &Cluster,
    manifest: &Manifest,
    live: Option<&Value>,
    applied: Applied,
    causes: Vec<Cause>,
) -> Compared {
    let nothing = Value::Null;
    let (masked_live, masked_wanted) = mask::pair(live.unwrap_or(&nothing), &applied.object);
    let comparison = compare::compare(live.map(|_| masked_live.as_ref()), &masked_wanted, cluster.field_manager());
    let mut conflicts = conflicts(&causes, live, &manifest.object);
    // Another way of writing the same is no conflict that anybody needs to decide.
    conflicts.retain(|conflict| comparison.touches(&conflict.path));
    let foreign =
        live.map(|live| compare::foreign(&manifest.object, live, cluster.field_manager())).unwrap_or_default();
    let managers = live.map(Managers::of).unwrap_or_default();
    Compared { comparison, managers, conflicts, causes, foreign, warnings: applied.warnings }
}

/// Names the fields of a 409 by path, owner and values; the values of a Secret are masked.
pub fn conflicts(causes: &[Cause], live: Option<&Value>, desired: &Value) -> Vec<Conflict> {
    let nothing = Value::Null;
    let (live, desired) = mask::pair(live.unwrap_or(&nothing), desired);
    let (live, desired) = (live.as_ref(), desired.as_ref());
    let managers = Managers::of(live);
    causes
        .iter()
        .map(|cause| {
            let found = ownership::resolve(&cause.field, live).or_else(|| ownership::resolve(&cause.field, desired));
            let path = found.unwrap_or_else(|| FieldPath::default().field(cause.field.trim_start_matches('.')));
            let said = ownership::claimant(&cause.message);
            let mut owners = managers.owners(live, &path);
            owners.retain(|owner| said.as_ref().is_none_or(|said| said.manager == owner.manager));
            if owners.is_empty() {
                owners.extend(said);
            }
            Conflict {
                live: ownership::value_at(live, &path).cloned(),
                desired: ownership::value_at(desired, &path).cloned(),
                owners,
                path,
            }
        })
        .collect()
}

fn immutable(field: &str, manifest: &Manifest, live: Option<&Value>) -> Option<Change> {
    let live = live?;
    let field = format!(".{field}");
    let path = ownership::resolve(&field, live).or_else(|| ownership::resolve(&field, &manifest.object))?;
    Some(Change {
        live: ownership::value_at(live, &path).cloned(),
        desired: ownership::value_at(&manifest.object, &path).cloned(),
        owners: Managers::of(live).owners(live, &path),
        path,
    })
}
