//! Whether an apply would be a no-op, told from the live object alone; this saves the request.
//!
//! The rule: our entry in `managedFields` lists exactly the fields of the desired object, and each of them has the
//! desired value. Then the server merges equal values into the same places under the same owner, and writes nothing.
//! It is sound before it is complete: whatever is not certain counts as a difference. Pure functions.

use std::fmt;

use serde_json::Value;

use crate::ownership::{FieldSet, Managers, is_item, same};
use crate::path::{FieldPath, Step};

/// What can be told without asking the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// An apply would be a no-op.
    InSync,
    /// An apply might change something; this is what speaks for it.
    Differs(Vec<Difference>),
    /// The live object is being deleted: an apply would be taken, and lost.
    Terminating,
}

/// One reason to ask the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where it stands.
    pub path: FieldPath,
    /// What is known of it.
    pub what: What,
}

/// What is known of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It is desired and not there.
    Missing,
    /// It has another value.
    OtherValue,
    /// It is desired, and not recorded as ours.
    NotOurs,
    /// It is recorded as ours and not desired.
    NoLongerDesired,
    /// The items of a list stand in another order.
    Order,
    /// It unknown.
    Unclear,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "missing",
            Self::OtherValue => "has another value",
            Self::NotOurs => "not owned by us",
            Self::NoLongerDesired => "no longer desired",
            Self::Order => "in another order",
            Self::Unclear => "unknown",
        })
    }
}

/// Tells whether a server-side apply of `desired` by `field_manager` would leave `live` as it is.
pub fn in_sync(desired: &Value, live: &Value, field_manager: &str) -> Verdict {
    if is_terminating(live) {
        return Verdict::Terminating;
    }
    let managers = Managers::of(live);
    let mut check = Check { managers: &managers, found: Vec::new() };
    let root = FieldPath::default();
    for pointer in ["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace"] {
        if desired.pointer(pointer) != live.pointer(pointer) {
            check.note(&root, What::Unclear);
        }
    }
    match managers.applied_by(field_manager) {
        Some(ours) if desired.get("apiVersion").and_then(Value::as_str) == Some(&ours.api_version) => {
            check.value(&root, &ours.fields, &without_identity(desired), Some(live));
        }
        _ => check.note(&root, What::NotOurs),
    }
    if check.found.is_empty() { Verdict::InSync } else { Verdict::Differs(check.found) }
}

/// Whether an object is being deleted: an apply to it would be taken, and lost.
pub fn is_terminating(live: &Value) -> bool {
    live.pointer("/metadata/deletionTimestamp").is_some_and(|time| !time.is_null())
}

/// `object` without what names it; that is never part of a field set.
fn without_identity(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("name");
            metadata.remove("namespace");
            if metadata.is_empty() {
                fields.remove("metadata");
            }
        }
    }
    object
}

struct Check<'a> {
    managers: &'a Managers,
    found: Vec<Difference>,
}

impl Check<'_> {
    fn note(&mut self, path: &FieldPath, what: What) {
        self.found.push(Difference { path: path.clone(), what });
    }

    fn value(&mut self, at: &FieldPath, set: &FieldSet, desired: &Value, live: Option<&Value>) {
        match (desired, live) {
            _ if set.is_leaf() => self.leaf(at, desired, live),
            (_, None) => self.note(at, What::Missing),
            (Value::Object(_), Some(live)) if set.items().is_empty() => self.map(at, set, desired, live),
            (Value::Array(desired), Some(Value::Array(live))) if set.fields().is_empty() => {
                self.list(at, set, desired, live);
            }
            _ => self.note(at, What::OtherValue),
        }
    }

    /// A scalar, a value that counts as one, or an empty map.
    fn leaf(&mut self, at: &FieldPath, desired: &Value, live: Option<&Value>) {
        let live = live.filter(|live| !live.is_null());
        let equal = match live {
            Some(live) => same(desired, live) || is_empty(desired) && live.is_object() && self.has_fields_of_others(at),
            // Recorded as ours and not there: the server stores nothing for an empty value.
            None => desired.is_null() || is_empty(desired),
        };
        if !equal {
            self.note(at, if live.is_none() { What::Missing } else { What::OtherValue });
        }
    }

    /// Whether others own fields in the map at `at`; then our empty map is not compared as one value.
    fn has_fields_of_others(&self, at: &FieldPath) -> bool {
        self.managers.sets().filter_map(|set| set.at(at)).any(|set| !set.fields().is_empty())
    }

    fn map(&mut self, at: &FieldPath, set: &FieldSet, desired: &Value, live: &Value) {
        for (name, value) in desired.as_object().into_iter().flatten() {
            let live = live.get(name);
            match (set.field(name), live) {
                (Some(set), _) => self.value(&at.field(name), set, value, live),
                (None, None) => self.note(&at.field(name), What::Missing),
                (None, Some(_)) => self.note(&at.field(name), What::NotOurs),
            }
        }
        for name in set.fields().keys().filter(|name| desired.get(name.as_str()).is_none()) {
            self.note(&at.field(name), What::NoLongerDesired);
        }
    }

    fn list(&mut self, at: &FieldPath, set: &FieldSet, desired: &[Value], live: &[Value]) {
        let mut unclaimed: Vec<(Step, &FieldSet)> = set.items().iter().map(|(step, set)| (step.clone(), set)).collect();
        let mut places = Vec::new();
        for (index, item) in desired.iter().enumerate() {
            let claim = unclaimed.iter().position(|(step, set)| names(step, set, item));
            let Some((step, set)) = claim.map(|claim| unclaimed.remove(claim)) else {
                self.note(&at.join(Step::Index(index)), What::NotOurs);
                continue;
            };
            let at = at.join(step.clone());
            match place_of(&step, live) {
                Place::At(place) => {
                    places.push(place);
                    self.value(&at, set, item, live.get(place));
                }
                Place::Nowhere => self.note(&at, What::Missing),
                Place::Many => self.note(&at, What::Unclear),
            }
        }
        for (step, _) in unclaimed {
            self.note(&at.join(step), What::NoLongerDesired);
        }
        if !places.is_sorted() {
            self.note(at, What::Order);
        }
    }
}

/// Whether `step` with its `set` was recorded for `item`. A key that the item leaves out was filled in by the server;
/// then the set does not list it as a field.
fn names(step: &Step, set: &FieldSet, item: &Value) -> bool {
    match step {
        Step::Keys(keys) => keys.iter().all(|(key, value)| match item.get(key) {
            // An item that counts as one, such as an owner reference, lists no fields at all.
            Some(given) => same(given, value) && (set.is_leaf() || set.field(key).is_some()),
            None => !set.is_leaf() && set.field(key).is_none(),
        }),
        Step::Item(value) => same(value, item),
        Step::Field(_) | Step::Index(_) => false,
    }
}

enum Place {
    Nowhere,
    At(usize),
    Many,
}

fn place_of(step: &Step, live: &[Value]) -> Place {
    let mut places = live.iter().enumerate().filter(|(index, item)| is_item(step, item, *index));
    match (places.next(), places.next()) {
        (None, _) => Place::Nowhere,
        (Some((place, _)), None) => Place::At(place),
        _ => Place::Many,
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}
