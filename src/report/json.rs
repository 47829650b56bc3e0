//! What machines read: the document of `diff -o json`, one item an object, and the one shape that errors have everywhere.

use serde_json::{Map, Value, json};

use super::diff::Summary;
use crate::cluster::Error;
use crate::compare::{Change, Foreign, Released};
use crate::failure::Failure;
use crate::manifest::ObjectId;
use crate::ownership::Owner;
use crate::problem::Problem;
use crate::reconcile::orphans::Orphan;
use crate::reconcile::plan::{Conflict, Planned, State};
use crate::report;

/// What ended a command: `{"errors": […], "exitCode": 3, "hints": […]}`. An error has a `message`; where it is known also the
/// `file`, `line` and `column` (from 1), the `path` of the field, and the `causes`.
pub fn failure(failure: &Failure) -> Value {
    json!({"errors": errors(failure), "exitCode": failure.exit.code(), "hints": failure.hints})
}

/// The errors of a failure, each as an object.
pub(super) fn errors(failure: &Failure) -> Vec<Value> {
    failure.errors.iter().map(error).collect()
}

fn error(error: &anyhow::Error) -> Value {
    let mut fields = Map::new();
    if let Some(problem) = error.downcast_ref::<Problem>() {
        let path = Some(&problem.path).filter(|path| !path.0.is_empty()).map(ToString::to_string);
        let known = [
            ("message", Some(json!(problem.sentence()))),
            ("file", problem.file.as_ref().map(|file| json!(file))),
            ("line", problem.line.map(|line| json!(line))),
            ("column", problem.column.map(|column| json!(column))),
            ("path", path.map(|path| json!(path))),
        ];
        fields.extend(known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    } else {
        let mut said = report::sentences(error);
        fields.insert("message".to_owned(), json!(said.remove(0)));
        if !said.is_empty() {
            fields.insert("causes".to_owned(), json!(said));
        }
    }
    Value::Object(fields)
}

/// The whole document of `diff`.
pub(super) fn document(
    items: &[Value],
    orphans: &[Value],
    unlisted: &[String],
    summary: &Summary,
    exit_code: u8,
) -> String {
    let Summary { objects, to_change, to_recreate, terminating, unknown, foreign, approximate, .. } = *summary;
    let summary = json!({
        "objects": objects,
        "toChange": to_change,
        "toRecreate": to_recreate,
        "terminating": terminating,
        "unknown": unknown,
        "foreign": foreign,
        "orphans": orphans.len(),
        "approximate": approximate,
    });
    format!(
        "{:#}\n",
        json!({ "items": items, "orphans": orphans, "kindsNotListed": unlisted, "summary": summary, "exitCode": exit_code })
    )
}

/// One object that is no longer desired.
pub(super) fn orphan(orphan: &Orphan) -> Value {
    json!({"object": object(&orphan.id), "ownedByConfig": orphan.is_owned, "otherOwners": owners(&orphan.others)})
}

/// The identity of an object.
pub(super) fn object(id: &ObjectId) -> Value {
    json!({"apiVersion": id.api_version, "kind": id.kind, "namespace": id.namespace, "name": id.name})
}

/// One object.
pub(super) fn item(planned: &Planned) -> Value {
    let comparison = planned.comparison.as_ref();
    json!({
        "object": object(&planned.id),
        "state": state(&planned.state),
        "changes": if is_new(&planned.state) { Vec::new() } else { list(planned.changes()) },
        "conflicts": conflicts(&planned.conflicts),
        "blockers": foreign(&planned.blockers),
        "foreign": foreign(&planned.foreign),
        "released": comparison.map(|comparison| released(&comparison.released)).unwrap_or_default(),
        "restartsPods": comparison.is_some_and(|comparison| comparison.restart.is_some()),
        "restart": comparison.and_then(|comparison| comparison.restart.as_ref()).map(|restart| json!({
            "pods": restart.pods, "maxUnavailable": restart.at_once, "onDelete": restart.on_delete,
        })),
        "desired": comparison.filter(|_| is_new(&planned.state)).map(|comparison| &comparison.desired),
        "lastOtherWriter": planned.last_other_writer.as_ref().map(owner),
        "warnings": planned.warnings,
        "approximate": planned.approximate.is_some(),
        "errors": message(&planned.state),
    })
}

fn is_new(state: &State) -> bool {
    matches!(state, State::Missing | State::Unchecked(_))
}

fn state(state: &State) -> &'static str {
    match state {
        State::InSync => "in-sync",
        State::Missing | State::Unchecked(_) => "missing",
        State::Differs => "differs",
        State::Blocked => "blocked",
        State::NeedsRecreate(_) => "needs-recreate",
        State::Unknown(Error::Terminating | Error::NamespaceTerminating(_)) => "terminating",
        State::Unknown(_) => "unknown",
    }
}

/// What the server says of one object, in the shape of all errors.
fn message(state: &State) -> Vec<Value> {
    match state {
        State::Unchecked(error) | State::NeedsRecreate(error) | State::Unknown(error) => {
            vec![json!({"message": error.to_string()})]
        }
        State::InSync | State::Missing | State::Differs | State::Blocked => Vec::new(),
    }
}

/// Fields that others own with other values.
pub(super) fn conflicts(conflicts: &[Conflict]) -> Vec<Value> {
    let conflict = |conflict: &Conflict| {
        json!({
            "path": conflict.path.to_string(),
            "live": conflict.live,
            "desired": conflict.desired,
            "owners": owners(&conflict.owners),
        })
    };
    conflicts.iter().map(conflict).collect()
}

/// Fields that are no longer desired and stay.
pub(super) fn released(fields: &[Released]) -> Vec<Value> {
    fields.iter().map(|field| json!({"path": field.path.to_string(), "owners": owners(&field.owners)})).collect()
}

/// Fields that others set.
pub(super) fn foreign(fields: &[Foreign]) -> Vec<Value> {
    let field = |field: &Foreign| json!({"path": field.path.to_string(), "value": field.value, "owners": owners(&field.owners)});
    fields.iter().map(field).collect()
}

/// Values that change.
pub(super) fn list(changes: &[Change]) -> Vec<Value> {
    let change = |change: &Change| {
        json!({
            "path": change.path.to_string(),
            "live": change.live,
            "desired": change.desired,
            "owners": owners(&change.owners),
        })
    };
    changes.iter().map(change).collect()
}

/// Who owns a value.
pub(super) fn owners(owners: &[Owner]) -> Vec<Value> {
    owners.iter().map(owner).collect()
}

/// One owner.
pub(super) fn owner(owner: &Owner) -> Value {
    json!({
        "manager": owner.manager,
        "operation": owner.operation.to_string(),
        "subresource": owner.subresource,
        "time": owner.time,
    })
}
