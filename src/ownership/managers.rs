//! The managers of an object: what each entry of `metadata.managedFields` owns, and who owns the value at a path.
//!
//! Takes the object, gives owners in a fixed order and paths that people can read. An entry that cannot be read is kept
//! apart with its reason; the others still count. Pure functions.

use std::fmt;

use serde_json::Value;
use thiserror::Error;

use super::fields::{FieldSet, Malformed};
use super::place;
use crate::path::{FieldPath, Step};

/// How a manager came to own its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// By server-side apply.
    Apply,
    /// By a create, update or patch.
    Update,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        })
    }
}

/// Who owns a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// When it last changed its fields, in RFC 3339; first, so that owners sort by it.
    pub time: Option<String>,
    /// The field manager's name.
    pub manager: String,
    /// Apply or Update.
    pub operation: Operation,
    /// `status`, `scale`; none for the object itself.
    pub subresource: Option<String>,
}

/// One entry of `managedFields`.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Whose it is.
    pub owner: Owner,
    /// The version that its paths are written in.
    pub api_version: String,
    /// What it owns.
    pub fields: FieldSet,
}

/// An entry that cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("managedFields entry of {manager:?}: {reason}")]
pub struct Unreadable {
    /// The name in the entry; empty when there is none.
    pub manager: String,
    /// What is wrong with it.
    pub reason: Malformed,
}

/// All managers of one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Managers {
    /// The readable entries, earliest first.
    pub entries: Vec<Entry>,
    /// The others.
    pub unreadable: Vec<Unreadable>,
}

impl Managers {
    /// Reads the managers of `object`; an object without any has none.
    pub fn of(object: &Value) -> Self {
        let mut managers = Self::default();
        for entry in object.pointer("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten() {
            match read(entry) {
                Ok(entry) => managers.entries.push(entry),
                Err(reason) => {
                    let manager = text(entry, "manager").unwrap_or_default();
                    managers.unreadable.push(Unreadable { manager, reason });
                }
            }
        }
        managers.entries.sort_by(|one, other| one.owner.cmp(&other.owner));
        managers
    }

    /// The entry that server-side apply by `manager` keeps; none also when there are two, which no server writes.
    pub fn applied_by(&self, manager: &str) -> Option<&Entry> {
        let mut entries = self.entries.iter().filter(|entry| is_apply_of(entry, manager));
        entries.next().filter(|_| entries.next().is_none())
    }

    /// Who else has written the object last, and not before `manager` applied it: whoever removed a field owns nothing of it any more.
    pub fn last_other_writer(&self, manager: &str) -> Option<&Owner> {
        let applied = self.entries.iter().find(|entry| is_apply_of(entry, manager))?;
        let others = self.entries.iter().filter(|entry| *entry != applied && entry.owner.subresource.is_none());
        others.map(|entry| &entry.owner).next_back().filter(|owner| owner.time >= applied.owner.time)
    }

    /// Who owns the value at `path` or anything in it, the latest last.
    ///
    /// Whoever owns a value that counts as one owns what is in it. Whether an owned value counts as one is seen from
    /// the others: an empty map that others put fields into does not.
    pub fn owners(&self, object: &Value, path: &FieldPath) -> Vec<Owner> {
        let mut sets: Vec<(&Owner, &FieldSet)> =
            self.entries.iter().map(|entry| (&entry.owner, &entry.fields)).collect();
        let mut value = Some(object);
        for step in &path.0 {
            let below: Vec<_> =
                sets.iter().filter_map(|(owner, set)| Some((*owner, descend(set, value, step)?))).collect();
            let counts_as_one = sets.iter().all(|(_, set)| set.is_leaf());
            value = value.and_then(|value| place::value_at(value, &FieldPath(vec![step.clone()])));
            if !counts_as_one {
                sets = below;
            }
        }
        let mut owners: Vec<Owner> =
            sets.into_iter().filter(|(_, set)| set.owns_anything()).map(|(owner, _)| owner.clone()).collect();
        owners.dedup();
        owners
    }

    /// `path` with keys or values in place of list positions, wherever some manager's set knows them.
    #[must_use]
    pub fn named(&self, object: &Value, path: &FieldPath) -> FieldPath {
        let mut sets: Vec<&FieldSet> = self.sets().collect();
        let mut value = Some(object);
        let mut named = FieldPath::default();
        for step in &path.0 {
            let item = value.and_then(|value| place::value_at(value, &FieldPath(vec![step.clone()])));
            let known = match (step, item) {
                (Step::Index(index), Some(item)) => {
                    sets.iter().find_map(|set| set.item(item, *index)).map(|(step, _)| step.clone())
                }
                _ => None,
            };
            sets = sets.iter().filter_map(|set| descend(set, value, step)).collect();
            value = item;
            named.0.push(known.unwrap_or_else(|| step.clone()));
        }
        named
    }

    /// The sets of all managers.
    pub fn sets(&self) -> impl Iterator<Item = &FieldSet> {
        self.entries.iter().map(|entry| &entry.fields)
    }
}

/// The set behind `step`, which leads on from `value`.
fn descend<'a>(set: &'a FieldSet, value: Option<&Value>, step: &Step) -> Option<&'a FieldSet> {
    let index = match step {
        Step::Field(name) => return set.field(name),
        Step::Index(index) => Some(*index),
        Step::Keys(_) | Step::Item(_) => value.and_then(|list| place::position(list, step)),
    };
    let found = index.and_then(|index| Some((value?.get(index)?, index)));
    match found {
        Some((item, index)) => set.item(item, index).map(|(_, set)| set),
        None => set.step(step),
    }
}

fn is_apply_of(entry: &Entry, manager: &str) -> bool {
    entry.owner.manager == manager && entry.owner.operation == Operation::Apply && entry.owner.subresource.is_none()
}

fn read(entry: &Value) -> Result<Entry, Malformed> {
    // An entry may own nothing: the server then leaves `fieldsV1` empty or out.
    let fields = entry.get("fieldsV1").filter(|fields| !fields.is_null());
    let operation = match text(entry, "operation").as_deref() {
        Some("Apply") => Operation::Apply,
        _ => Operation::Update,
    };
    Ok(Entry {
        owner: Owner {
            time: text(entry, "time"),
            manager: text(entry, "manager").unwrap_or_default(),
            operation,
            subresource: text(entry, "subresource").filter(|name| !name.is_empty()),
        },
        api_version: text(entry, "apiVersion").unwrap_or_default(),
        fields: fields.map(FieldSet::parse).transpose()?.unwrap_or_default(),
    })
}

fn text(entry: &Value, field: &str) -> Option<String> {
    entry.get(field).and_then(Value::as_str).map(str::to_owned)
}
