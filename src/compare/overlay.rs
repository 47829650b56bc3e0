//! What an apply would come to, guessed where the server gives no answer: an immutable field, a webhook that cannot
//! take part in a dry run.
//!
//! The desired object is laid over the live one. Fields that we owned and drop stay as they are, and nothing is filled
//! in or checked: what comes of it has to be shown as approximate. Pure functions.

use std::collections::HashSet;

use serde_json::Value;

use super::align::{guessed_step, keys_of};
use crate::ownership::{FieldSet, Managers, has_all_keys, is_item};
use crate::path::Step;

/// `live` with the values of `desired` in it: maps by their fields, lists that are keyed or sets by their items, all
/// else as a whole.
///
/// A key that a desired item leaves out was filled in by the server: such an item is the one that `field_manager` owns, or a new one.
/// Where `recorded` is given, the items of `desired` have all their keys, and it tells which those are.
pub fn overlay(live: &Value, desired: &Value, recorded: Option<&FieldSet>, field_manager: &str) -> Value {
    let managers = Managers::of(live);
    let sets: Vec<&FieldSet> = managers.sets().chain(recorded).collect();
    let ours = managers.applied_by(field_manager).map(|entry| &entry.fields);
    laid_over(&sets, ours, live, desired)
}

fn laid_over(sets: &[&FieldSet], ours: Option<&FieldSet>, live: &Value, desired: &Value) -> Value {
    match (live, desired) {
        // A map that its owners own as one value is replaced as one.
        (Value::Object(live), Value::Object(_)) if !live.is_empty() && is_atomic(sets) => desired.clone(),
        (Value::Object(live), Value::Object(desired)) => {
            let mut merged = live.clone();
            for (name, value) in desired {
                let sets: Vec<&FieldSet> = sets.iter().filter_map(|set| set.field(name)).collect();
                let value = live.get(name).map_or_else(
                    || value.clone(),
                    |live| laid_over(&sets, ours.and_then(|ours| ours.field(name)), live, value),
                );
                merged.insert(name.clone(), value);
            }
            Value::Object(merged)
        }
        (Value::Array(live), Value::Array(desired)) if sets.iter().any(|set| !set.items().is_empty()) => {
            Value::Array(items_laid_over(sets, ours, live, desired))
        }
        (Value::Array(live), Value::Array(desired)) if sets.is_empty() => {
            Value::Array(guessed_laid_over(live, desired))
        }
        _ => desired.clone(),
    }
}

/// A list of which no manager owns anything: its items are told apart as those of the API's keyed lists, if they look like such.
fn guessed_laid_over(live: &[Value], desired: &[Value]) -> Vec<Value> {
    let steps = |list: &[Value]| list.iter().map(guessed_step).collect::<Option<Vec<Step>>>();
    let (Some(live_steps), Some(desired_steps)) = (steps(live), steps(desired)) else { return desired.to_vec() };
    if !is_distinct(&live_steps) || !is_distinct(&desired_steps) {
        // These are not its keys. What is there as desired stays, with the keys that the server filled in.
        let mut left = live.iter();
        let as_desired = |item: &Value| left.any(|live| includes(live, item));
        return if desired.iter().all(as_desired) { live.to_vec() } else { desired.to_vec() };
    }
    let mut merged = live.to_vec();
    for (item, step) in desired.iter().zip(&desired_steps) {
        match live_steps.iter().position(|live| live == step).and_then(|index| merged.get_mut(index)) {
            Some(place) => *place = laid_over(&[], None, place, item),
            None => merged.push(item.clone()),
        }
    }
    merged
}

fn is_atomic(sets: &[&FieldSet]) -> bool {
    !sets.is_empty() && sets.iter().all(|set| set.is_leaf())
}

fn items_laid_over(sets: &[&FieldSet], ours: Option<&FieldSet>, live: &[Value], desired: &[Value]) -> Vec<Value> {
    let mut merged = live.to_vec();
    let steps = |sets: &[&FieldSet]| -> Vec<Step> {
        sets.iter().flat_map(|set| set.items()).map(|(step, _)| step.clone()).collect()
    };
    let (mut all, own) = (steps(sets), steps(ours.as_slice()));
    // Of some items nobody may own anything: those are told apart by the keys of the others.
    if let Some(names) = sets.iter().find_map(|set| set.key_names()) {
        let has_all = |item: &&Value| names.iter().all(|name| item.get(*name).is_some());
        all.extend(desired.iter().filter(has_all).filter_map(|item| keys_of(item, &names)));
    }
    // An item with all its keys first: one that leaves some out takes what is left.
    let position = |item: &Value, exact: bool, taken: &[usize]| {
        let steps = if exact { &all } else { &own };
        let names =
            |step: &&Step| is_item(step, item, usize::MAX) && (!exact || !is_keyed(step) || has_all_keys(step, item));
        steps.iter().filter(names).find_map(|step| {
            live.iter().enumerate().position(|(index, live)| !taken.contains(&index) && is_item(step, live, index))
        })
    };
    let mut taken = Vec::new();
    let mut positions = vec![None; desired.len()];
    for exact in [true, false] {
        for (item, found) in desired.iter().zip(&mut positions).filter(|(_, found)| found.is_none()) {
            *found = position(item, exact, &taken);
            taken.extend(*found);
        }
    }
    // An item that somebody else wrote as we desire it, with the keys that the server fills in.
    for (item, found) in desired.iter().zip(&mut positions).filter(|(_, found)| found.is_none()) {
        *found = live.iter().enumerate().position(|(index, live)| !taken.contains(&index) && includes(live, item));
        taken.extend(*found);
    }
    // The desired items take the places that they have in the live list, in the order of the desired one.
    let mut slots: Vec<usize> = positions.iter().copied().flatten().collect();
    slots.sort_unstable();
    let mut slots = slots.into_iter();
    for (item, position) in desired.iter().zip(positions) {
        let slot = position.and_then(|_| slots.next());
        let place = slot.and_then(|slot| merged.get_mut(slot));
        match position.and_then(|index| Some((place?, live.get(index)?, index))) {
            Some((merged, live, index)) => {
                let sets: Vec<&FieldSet> =
                    sets.iter().filter_map(|set| set.item(live, index)).map(|(_, set)| set).collect();
                let own = ours.and_then(|ours| ours.item(live, index)).map(|(_, set)| set);
                *merged = laid_over(&sets, own, live, item);
            }
            None => merged.push(item.clone()),
        }
    }
    merged
}

fn is_distinct(steps: &[Step]) -> bool {
    steps.iter().collect::<HashSet<_>>().len() == steps.len()
}

/// Whether a live item has all that the desired one has.
fn includes(live: &Value, desired: &Value) -> bool {
    desired.as_object().is_some_and(|fields| fields.iter().all(|(name, value)| live.get(name) == Some(value)))
}

fn is_keyed(step: &Step) -> bool {
    matches!(step, Step::Keys(_))
}
