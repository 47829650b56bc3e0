//! Moving the ownership of another manager's fields to ours, so that a field that is dropped later really goes.
//!
//! Nothing but `managedFields` changes, under the resource version that was read; the apply that follows removes what is ours by then and not
//! desired. As `kubectl apply --server-side` does it for its own former name
//! (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply>).

use serde_json::{Map, Value, json};

use super::blockers;
use crate::cluster::{Cluster, Error};
use crate::compare;
use crate::manifest::Manifest;
use crate::ownership::{Managers, Owner};
use crate::path::FieldPath;

/// What became ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Migrated {
    /// Whose it was.
    pub owner: Owner,
    /// How many fields.
    pub fields: usize,
    /// Those that the manifest does not have: an apply removes them.
    pub removed: Vec<FieldPath>,
}

/// Moves the fields of `from` to our name; gives the object as it is stored then. None when `from` owns nothing.
pub(super) async fn migrate(
    cluster: &Cluster,
    manifest: &Manifest,
    live: &Value,
    from: &[String],
) -> Result<Option<(Value, Vec<Migrated>)>, Error> {
    let migrated = preview(manifest, live, cluster.field_manager(), from);
    if migrated.is_empty() {
        return Ok(None);
    }
    let entries = merged(live, cluster.field_manager(), from);
    let version = live.pointer("/metadata/resourceVersion");
    let patch = json!([
        {"op": "test", "path": "/metadata/resourceVersion", "value": version},
        {"op": "replace", "path": "/metadata/managedFields", "value": entries},
    ]);
    let stale = |error: Error| {
        if blockers::is_failed_test(&error) { Error::stale("the object has been modified") } else { error }
    };
    let applied = cluster.json_patch(&manifest.id, &patch, false).await.map_err(stale)?;
    Ok(Some((applied.object, migrated)))
}

/// What would become ours.
pub(super) fn preview(manifest: &Manifest, live: &Value, field_manager: &str, from: &[String]) -> Vec<Migrated> {
    let foreign = compare::foreign(&manifest.object, live, field_manager);
    let entries = Managers::of(live).entries.into_iter();
    let theirs = entries.filter(|entry| entry.owner.subresource.is_none() && from.contains(&entry.owner.manager));
    theirs
        .filter(|entry| entry.owner.manager != field_manager)
        .map(|entry| Migrated {
            fields: entry.fields.paths().len(),
            removed: foreign
                .iter()
                .filter(|field| field.owners == [entry.owner.clone()])
                .map(|field| field.path.clone())
                .collect(),
            owner: entry.owner,
        })
        .collect()
}

/// The entries of `managedFields` with those of `from` in ours.
fn merged(live: &Value, field_manager: &str, from: &[String]) -> Vec<Value> {
    let entries = live.pointer("/metadata/managedFields").and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |entry: &Value, field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_main = |entry: &Value| text(entry, "subresource").is_empty();
    let is_theirs = |entry: &Value| is_main(entry) && from.contains(&text(entry, "manager"));
    let is_ours = |entry: &Value| {
        is_main(entry) && text(entry, "manager") == field_manager && text(entry, "operation") == "Apply"
    };
    let (moved, mut kept): (Vec<Value>, Vec<Value>) =
        entries.into_iter().partition(|entry| is_theirs(entry) || is_ours(entry));
    let mut fields = Map::new();
    let mut entry = moved.iter().find(|entry| is_ours(entry)).or(moved.first()).cloned().unwrap_or_default();
    for mut one in moved {
        if let Some(Value::Object(mut theirs)) = one.get_mut("fieldsV1").map(Value::take) {
            // Status is its controller's.
            theirs.remove("f:status");
            unite(&mut fields, theirs);
        }
    }
    if let Some(entry) = entry.as_object_mut() {
        entry.insert("manager".to_owned(), json!(field_manager));
        entry.insert("operation".to_owned(), json!("Apply"));
        entry.insert("fieldsV1".to_owned(), Value::Object(fields));
    }
    kept.push(entry);
    kept
}

fn unite(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (name, below) in from {
        match (into.get_mut(&name), below) {
            (Some(Value::Object(known)), Value::Object(below)) => unite(known, below),
            (Some(_), _) => {}
            (None, below) => drop(into.insert(name, below)),
        }
    }
}
