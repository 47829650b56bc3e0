//! What machines read: the document of `diff -o json`, one item an object, and the one shape that errors have everywhere.

use serde_json::{Map, Value, json};

use crate::cluster;
use crate::compare::Change;
use crate::failure::Failure;
use crate::manifest::Manifest;
use crate::ownership::Owner;
use crate::problem::Problem;
use crate::reconcile::preview::{Compared, Preview};
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

/// The whole document.
pub(super) fn document(items: &[Value]) -> String {
    format!("{:#}\n", json!({ "items": items }))
}

/// One object.
pub(super) fn item(manifest: &Manifest, preview: &Preview) -> Value {
    let id = &manifest.id;
    let mut item = json!({
        "object": {"apiVersion": id.api_version, "kind": id.kind, "namespace": id.namespace, "name": id.name},
    });
    let details = match preview {
        Preview::Compared(compared) => of_compared(compared),
        Preview::Unvalidated(error) => json!({"state": "new", "errors": message(error), "changes": []}),
        Preview::Immutable { changes, error } => {
            json!({"state": "needs-recreate", "errors": message(error), "changes": list(changes)})
        }
        Preview::Failed(error) => json!({"state": "unknown", "errors": message(error), "changes": []}),
    };
    if let (Some(item), Value::Object(details)) = (item.as_object_mut(), details) {
        item.extend(details);
    }
    item
}

/// What the server says of one object, in the shape of all errors.
fn message(error: &cluster::Error) -> Value {
    json!([{"message": error.to_string()}])
}

fn of_compared(compared: &Compared) -> Value {
    let comparison = &compared.comparison;
    let state = match (&comparison.live, comparison.unchanged()) {
        (None, _) => "new",
        (_, true) => "in-sync",
        (_, false) => "differs",
    };
    let conflicts = compared.conflicts.iter();
    json!({
        "state": state,
        "changes": list(&comparison.changes),
        "conflicts": conflicts.map(|conflict| json!({
            "path": conflict.path.to_string(),
            "live": conflict.live,
            "desired": conflict.desired,
            "owners": owners(&conflict.owners),
        })).collect::<Vec<_>>(),
        "foreign": compared.foreign.iter().map(|foreign| json!({
            "path": foreign.path.to_string(),
            "owners": owners(&foreign.owners),
        })).collect::<Vec<_>>(),
        "released": comparison.released.iter().map(|released| json!({
            "path": released.path.to_string(),
            "owners": owners(&released.owners),
        })).collect::<Vec<_>>(),
        "restartsPods": comparison.restarts_pods,
    })
}

fn list(changes: &[Change]) -> Vec<Value> {
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

fn owners(owners: &[Owner]) -> Vec<Value> {
    let owner = |owner: &Owner| {
        json!({
            "manager": owner.manager,
            "operation": owner.operation.to_string(),
            "subresource": owner.subresource,
            "time": owner.time,
        })
    };
    owners.iter().map(owner).collect()
}
