//! Live fields that others have set and that the desired object does not mention.
//!
//! Takes both objects, gives paths with their owners. What the server has filled in is owned by nobody, or by the client
//! that created the object with an update; it does not show either way. Pure functions.

use serde_json::Value;

use super::bookkeeping;
use super::defaults;
use super::empties::is_nothing;
use crate::ownership::{FieldSet, Managers, Owner, has_all_keys, value_at};
use crate::path::{FieldPath, Step};

/// A live value that is neither ours nor desired.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreign {
    /// Where it stands.
    pub path: FieldPath,
    /// What it is.
    pub value: Value,
    /// Who owns it or anything in it.
    pub owners: Vec<Owner>,
}

/// The fields of `live` that others own, that apply by `field_manager` does not own, and that `desired`, the object
/// as it is sent, does not have. Nulls and empty lists are left out; so is all that is in a value that is given whole.
pub fn foreign(desired: &Value, live: &Value, field_manager: &str) -> Vec<Foreign> {
    let managers = Managers::of(live);
    let (_, live, _) = bookkeeping::take_out(None, live, None);
    let live = &live;
    let ours = managers.applied_by(field_manager);
    let others = managers.entries.iter().filter(|entry| Some(*entry) != ours);
    let mut paths: Vec<FieldPath> = others
        .flat_map(|entry| entry.fields.paths())
        .filter(|path| !path.0.is_empty() && !bookkeeping::is_bookkeeping(path) && !is_kept(path))
        .filter_map(|path| first_absent(desired, ours.map(|ours| &ours.fields), &path))
        .filter(|path| !is_key_of_item(path))
        .filter(|path| ours.is_none_or(|ours| !owns(&ours.fields, path)))
        .collect();
    // What changes what runs, or who may do what, before labels and annotations.
    paths.sort_by_cached_key(|path| (is_metadata(path), path.to_string()));
    paths.dedup();
    let shown = |path: FieldPath| {
        let value = value_at(live, &path).filter(|value| !is_nothing(value))?.clone();
        if defaults::is_default(live, &path, &value) {
            return None;
        }
        Some(Foreign { owners: managers.owners(live, &path), path, value })
    };
    paths.into_iter().filter_map(shown).collect()
}

fn is_metadata(path: &FieldPath) -> bool {
    path.0.iter().any(|step| matches!(step, Step::Field(name) if name == "metadata"))
}

/// A key of an item that the manifest has, and that the server fills in there.
fn is_key_of_item(path: &FieldPath) -> bool {
    matches!(path.0.as_slice(), [.., Step::Keys(keys), Step::Field(name)] if keys.contains_key(name))
}

/// A finalizer is a promise of the controller that set it, and nobody else's to remove.
pub(super) fn is_kept(path: &FieldPath) -> bool {
    FieldPath::default().field("metadata").field("finalizers").contains(path)
}

/// The shortest beginning of `path` that leads to nothing in `desired`; `ours` is what we own of the live object.
fn first_absent(desired: &Value, ours: Option<&FieldSet>, path: &FieldPath) -> Option<FieldPath> {
    let (mut value, mut ours) = (desired, ours);
    let mut at = FieldPath::default();
    for step in &path.0 {
        at = at.join(step.clone());
        let below = value_at(value, &FieldPath(vec![step.clone()]));
        match below.filter(|item| !matches!(step, Step::Keys(_)) || is_ours(step, item, ours)) {
            Some(below) => value = below,
            None => return Some(at),
        }
        ours = ours.and_then(|ours| ours.step(step));
    }
    None
}

/// Whether the desired `item` and the live one that `step` names are the same. A key that the desired one leaves out was filled in by the
/// server: then it is the live item that we own.
fn is_ours(step: &Step, item: &Value, ours: Option<&FieldSet>) -> bool {
    has_all_keys(step, item) || ours.is_some_and(|ours| ours.step(step).is_some())
}

/// Whether `path` is owned, or something above that counts as one, or something below.
fn owns(set: &FieldSet, path: &FieldPath) -> bool {
    let mut set = set;
    for step in &path.0 {
        match set.step(step) {
            Some(below) => set = below,
            None => return false,
        }
    }
    set.owns_anything()
}
