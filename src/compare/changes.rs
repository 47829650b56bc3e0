//! The deepest values in which two objects differ, each with its readable path and its owners.
//!
//! Takes both objects without bookkeeping and the managers of both, gives the changes in the order of the document.
//! Pure functions.

use serde_json::{Map, Value};

use super::align::{self, Pair};
use super::empties::Empties;
use crate::ownership::{FieldSet, Managers, Owner};
use crate::path::FieldPath;

/// A value that an apply would set, change or remove.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Where it stands; list items by their keys or values where the list has any. The position of an item of another
    /// list is that in the live list, or in the wanted one for an item that is new.
    pub path: FieldPath,
    /// What is there now.
    pub live: Option<Value>,
    /// What would be there.
    pub wanted: Option<Value>,
    /// Who owns the live value or anything in it, the latest last.
    pub owners: Vec<Owner>,
}

/// Finds the changes; gives also `wanted` with the empty values that count for nothing written as in `live`.
pub(super) fn find(
    live: Option<&Value>,
    wanted: &Value,
    owners: &Managers,
    wanted_owners: &Managers,
) -> (Vec<Change>, Value) {
    let Some(live) = live else {
        let created =
            Change { path: FieldPath::default(), live: None, wanted: Some(wanted.clone()), owners: Vec::new() };
        return (vec![created], wanted.clone());
    };
    let mut walk = Walk { root: live, owners, empties: Empties::of(wanted), changes: Vec::new() };
    let sets: Vec<&FieldSet> = owners.sets().chain(wanted_owners.sets()).collect();
    let wanted = walk.value(&FieldPath::default(), &sets, live, wanted);
    (walk.changes, wanted)
}

struct Walk<'a> {
    root: &'a Value,
    owners: &'a Managers,
    empties: Empties,
    changes: Vec<Change>,
}

impl Walk<'_> {
    fn value(&mut self, at: &FieldPath, sets: &[&FieldSet], live: &Value, wanted: &Value) -> Value {
        if self.empties.alike(live, wanted) {
            return live.clone();
        }
        match (live, wanted) {
            (Value::Object(live), Value::Object(wanted)) => Value::Object(self.map(at, sets, live, wanted)),
            (Value::Array(left), Value::Array(right)) => match align::align(sets, left, right, self.empties) {
                Some(pairs) => Value::Array(self.list(at, sets, &pairs, (left, right))),
                None => self.change(at, Some(live), Some(wanted)),
            },
            _ => self.change(at, Some(live), Some(wanted)),
        }
    }

    fn map(
        &mut self,
        at: &FieldPath,
        sets: &[&FieldSet],
        live: &Map<String, Value>,
        wanted: &Map<String, Value>,
    ) -> Map<String, Value> {
        // What is left out of the pairs counts for nothing: it stays as it is.
        let mut shown = live.clone();
        for (name, live, wanted) in self.empties.pairs(live, wanted) {
            let at = at.field(name);
            let value = match (live, wanted) {
                (Some(live), Some(wanted)) => {
                    let sets: Vec<&FieldSet> = sets.iter().filter_map(|set| set.field(name)).collect();
                    self.value(&at, &sets, live, wanted)
                }
                _ => self.change(&at, live, wanted),
            };
            if wanted.is_some() {
                shown.insert(name.clone(), value);
            } else {
                shown.remove(name);
            }
        }
        shown
    }

    fn list(
        &mut self,
        at: &FieldPath,
        sets: &[&FieldSet],
        pairs: &[Pair],
        (live, wanted): (&[Value], &[Value]),
    ) -> Vec<Value> {
        let mut shown: Vec<Value> = wanted.to_vec();
        for pair in pairs {
            let at = at.join(pair.step.clone());
            let left = pair.live.and_then(|index| Some((live.get(index)?, index)));
            let right = pair.wanted.and_then(|index| wanted.get(index));
            let value = match (left, right) {
                (Some((left, index)), Some(right)) => {
                    let sets: Vec<&FieldSet> =
                        sets.iter().filter_map(|set| set.item(left, index)).map(|(_, set)| set).collect();
                    self.value(&at, &sets, left, right)
                }
                _ => self.change(&at, left.map(|(left, _)| left), right),
            };
            if let Some(place) = pair.wanted.and_then(|index| shown.get_mut(index)) {
                *place = value;
            }
        }
        shown
    }

    /// Notes a change and gives the wanted value.
    fn change(&mut self, at: &FieldPath, live: Option<&Value>, wanted: Option<&Value>) -> Value {
        let owners = if live.is_some() { self.owners.owners(self.root, at) } else { Vec::new() };
        self.changes.push(Change { path: at.clone(), live: live.cloned(), wanted: wanted.cloned(), owners });
        wanted.cloned().unwrap_or_default()
    }
}
