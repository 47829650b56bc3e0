//! The deepest values in which two objects differ, each with its readable path and its owners.
//!
//! Takes both objects without bookkeeping, the managers of one and the field sets of the other, gives the changes in the order of the document.
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
    /// list is that in the live list, or in the desired one for an item that is new.
    pub path: FieldPath,
    /// What is there now.
    pub live: Option<Value>,
    /// What would be there.
    pub desired: Option<Value>,
    /// Who owns the live value or anything in it, the latest last.
    pub owners: Vec<Owner>,
}

/// Finds the changes; gives also `desired` with the empty values that count for nothing written as in `live`.
pub(super) fn find<'a>(
    live: Option<&Value>,
    desired: &Value,
    owners: &'a Managers,
    desired_sets: impl Iterator<Item = &'a FieldSet>,
) -> (Vec<Change>, Value) {
    let Some(live) = live else {
        let created =
            Change { path: FieldPath::default(), live: None, desired: Some(desired.clone()), owners: Vec::new() };
        return (vec![created], desired.clone());
    };
    let mut search = Search { root: live, owners, empties: Empties::of(desired), found: Vec::new() };
    let sets: Vec<&FieldSet> = owners.sets().chain(desired_sets).collect();
    let desired = search.value(&FieldPath::default(), &sets, live, desired);
    (search.found, desired)
}

struct Search<'a> {
    root: &'a Value,
    owners: &'a Managers,
    empties: Empties,
    found: Vec<Change>,
}

impl Search<'_> {
    fn value(&mut self, at: &FieldPath, sets: &[&FieldSet], live: &Value, desired: &Value) -> Value {
        if self.empties.alike(live, desired) {
            return live.clone();
        }
        match (live, desired) {
            (Value::Object(live), Value::Object(desired)) => Value::Object(self.map(at, sets, live, desired)),
            (Value::Array(left), Value::Array(right)) => match align::align(sets, left, right, self.empties) {
                Some(pairs) => Value::Array(self.list(at, sets, &pairs, (left, right))),
                None => self.change(at, Some(live), Some(desired)),
            },
            _ => self.change(at, Some(live), Some(desired)),
        }
    }

    fn map(
        &mut self,
        at: &FieldPath,
        sets: &[&FieldSet],
        live: &Map<String, Value>,
        desired: &Map<String, Value>,
    ) -> Map<String, Value> {
        // What is left out of the pairs counts for nothing: it stays as it is.
        let mut shown = live.clone();
        for (name, live, desired) in self.empties.pairs(live, desired) {
            let at = at.field(name);
            let value = match (live, desired) {
                (Some(live), Some(desired)) => {
                    let sets: Vec<&FieldSet> = sets.iter().filter_map(|set| set.field(name)).collect();
                    self.value(&at, &sets, live, desired)
                }
                _ => self.change(&at, live, desired),
            };
            if desired.is_some() {
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
        (live, desired): (&[Value], &[Value]),
    ) -> Vec<Value> {
        let mut shown: Vec<Value> = desired.to_vec();
        for pair in pairs {
            let at = at.join(pair.step.clone());
            let left = pair.live.and_then(|index| Some((live.get(index)?, index)));
            let right = pair.desired.and_then(|index| desired.get(index));
            let value = match (left, right) {
                (Some((left, index)), Some(right)) => {
                    let sets: Vec<&FieldSet> =
                        sets.iter().filter_map(|set| set.item(left, index)).map(|(_, set)| set).collect();
                    self.value(&at, &sets, left, right)
                }
                _ => self.change(&at, left.map(|(left, _)| left), right),
            };
            if let Some(place) = pair.desired.and_then(|index| shown.get_mut(index)) {
                *place = value;
            }
        }
        shown
    }

    /// Notes a change and gives the desired value.
    fn change(&mut self, at: &FieldPath, live: Option<&Value>, desired: Option<&Value>) -> Value {
        let owners = if live.is_some() { self.owners.owners(self.root, at) } else { Vec::new() };
        self.found.push(Change { path: at.clone(), live: live.cloned(), desired: desired.cloned(), owners });
        desired.cloned().unwrap_or_default()
    }
}
