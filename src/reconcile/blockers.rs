//! Which fields of others stand in the way of ours, and what the object is without them.
//!
//! Some fields exclude each other: `value` and `valueFrom`, the sources of a volume, two ports of one name. When somebody sets one beside
//! ours, the server refuses our apply with 422. Its causes say near which field, ownership says whose. No table of the API's unions is
//! needed: the server's dry run is the judge of each guess. Pure.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::cluster::Error;
use crate::compare::{self, Keyed};
use crate::ownership::{self, Managers};
use crate::path::{FieldPath, Step};

/// The fields that the server refused as invalid; none when it refused something else.
pub fn refused_fields(error: &Error) -> Option<Vec<&str>> {
    let Error::Refused(refusal) = error else { return None };
    let fields: Vec<&str> = refusal.causes.iter().map(|cause| cause.field.as_str()).collect();
    (refusal.code == 422 && !fields.is_empty()).then_some(fields)
}

/// The fields among `foreign` that are nearest to the fields that the server refused (as in `spec.ports[1].name`): in the refused field,
/// beside it, or beside what holds it. A first guess: some causes name a field far away from what is in the way.
pub fn nearest(refused: &[&str], foreign: &[FieldPath]) -> Vec<FieldPath> {
    let foreign: Vec<(&FieldPath, Vec<Part>)> = foreign.iter().map(|path| (path, parts_of_path(path))).collect();
    let mut found: Vec<FieldPath> = Vec::new();
    for field in refused {
        let field = parts_of_text(field);
        let nearest = (1..=field.len()).rev().find_map(|length| {
            let above = field.get(..length)?;
            let near = foreign.iter().filter(|(_, parts)| begins_with(parts, above));
            Some(near.map(|(path, _)| (*path).clone()).collect::<Vec<_>>()).filter(|near| !near.is_empty())
        });
        found.extend(nearest.unwrap_or_default());
    }
    found.sort_by_cached_key(ToString::to_string);
    found.dedup();
    found
}

/// A step as far as two ways of writing a path agree: positions and keys of list items do not.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Field(String),
    Item,
}

fn parts_of_path(path: &FieldPath) -> Vec<Part> {
    let part = |step: &Step| match step {
        Step::Field(name) => Part::Field(name.clone()),
        Step::Index(_) | Step::Keys(_) | Step::Item(_) => Part::Item,
    };
    path.0.iter().map(part).collect()
}

/// Reads `spec.containers[0].env[2].valueFrom`; what is in brackets may be the key of a map as well.
fn parts_of_text(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for (position, piece) in text.split('[').enumerate() {
        let names = if position == 0 {
            piece
        } else {
            parts.push(Part::Item);
            piece.split_once(']').map_or("", |(_, rest)| rest)
        };
        parts.extend(names.split('.').filter(|name| !name.is_empty()).map(|name| Part::Field(name.to_owned())));
    }
    parts
}

fn begins_with(path: &[Part], above: &[Part]) -> bool {
    path.len() >= above.len() && path.iter().zip(above).all(|(one, other)| *other == Part::Item || one == other)
}

/// The paths of the keys of a map that others filled; empty for every other value. A struct that is one choice of several, such as the source
/// of a volume, cannot be distinguished from a map here: the server refuses what is left of it.
pub fn keys_of_map(live: &Value, path: &FieldPath) -> Vec<FieldPath> {
    let managers = Managers::of(live);
    let is_map = managers.sets().any(|set| set.at(path).is_some_and(|set| !set.fields().is_empty()));
    let keys = ownership::value_at(live, path).filter(|_| is_map).and_then(Value::as_object);
    keys.into_iter().flatten().map(|(name, _)| path.field(name)).collect()
}

/// What `live` becomes when the fields at `removed` go and those of `desired` are put in, with all their keys where these are known; what we
/// own and no longer desire goes too.
pub fn target(
    live: &Value,
    desired: &Value,
    keyed: Option<&Keyed>,
    removed: &[FieldPath],
    field_manager: &str,
) -> Value {
    let mut object = live.clone();
    for path in removed.iter().chain(&no_longer_desired(live, desired, field_manager)) {
        ownership::remove(&mut object, path);
    }
    let (desired, recorded) = keyed.map_or((desired, None), |keyed| (&keyed.object, Some(&keyed.fields)));
    compare::overlay(&object, desired, recorded, field_manager)
}

/// Our fields that the manifest has dropped and nobody else owns.
fn no_longer_desired(live: &Value, desired: &Value, field_manager: &str) -> Vec<FieldPath> {
    let compare::Verdict::Differs(differences) = compare::in_sync(desired, live, field_manager) else {
        return Vec::new();
    };
    let managers = Managers::of(live);
    let only_ours = |path: &FieldPath| managers.owners(live, path).iter().all(|owner| owner.manager == field_manager);
    differences
        .into_iter()
        .filter(|difference| difference.what == compare::What::NoLongerDesired && only_ours(&difference.path))
        .map(|difference| difference.path)
        .collect()
}

/// The JSON patch (RFC 6902) that makes `target` of `live`; refused when what it replaces has changed meanwhile, but not for a new status.
pub fn patch(live: &Value, target: &Value) -> Value {
    let test = |path: &str, value: &Value| json!({"op": "test", "path": path, "value": value});
    let uid = live.pointer("/metadata/uid").cloned().unwrap_or_default();
    let mut operations = vec![test("/metadata/uid", &uid)];
    let empty = Map::new();
    let fields = |object: &Value, pointer: &str| object.pointer(pointer).and_then(Value::as_object).cloned();
    for prefix in ["/metadata", ""] {
        let (live, target) = (fields(live, prefix), fields(target, prefix));
        let (live, target) = (live.as_ref().unwrap_or(&empty), target.as_ref().unwrap_or(&empty));
        let is_ours =
            |name: &&String| !["metadata", "status", "resourceVersion", "managedFields"].contains(&name.as_str());
        let names: BTreeSet<&String> = live.keys().chain(target.keys()).filter(is_ours).collect();
        for name in names {
            let path = format!("{prefix}/{}", escaped(name));
            let (old, new) = (live.get(name), target.get(name));
            if old != new {
                operations.extend(old.map(|old| test(&path, old)));
                operations.push(match new {
                    Some(new) => json!({"op": "add", "path": path, "value": new}),
                    None => json!({"op": "remove", "path": path}),
                });
            }
        }
    }
    Value::Array(operations)
}

/// Whether the server refused a patch because one of its tests failed: it has no cause for that, only these words.
pub fn is_failed_test(error: &Error) -> bool {
    matches!(error, Error::Refused(refusal) if refusal.code == 422 && refusal.causes.is_empty()
        && refusal.message.contains("the server rejected our request"))
}

/// The JSON patch that takes our entry of operation Update, which a patch leaves behind, out of `managedFields`; none when there is none.
pub fn entry_patch(object: &Value, field_manager: &str) -> Option<Value> {
    let entries = object.pointer("/metadata/managedFields")?.as_array()?;
    let is_ours = |entry: &Value| {
        entry.get("manager").and_then(Value::as_str) == Some(field_manager)
            && entry.get("operation").and_then(Value::as_str) == Some("Update")
            && entry.get("subresource").and_then(Value::as_str).is_none_or(str::is_empty)
    };
    let position = entries.iter().position(is_ours)?;
    let path = format!("/metadata/managedFields/{position}");
    Some(json!([
        {"op": "test", "path": path, "value": entries.get(position)?},
        {"op": "remove", "path": path},
    ]))
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
