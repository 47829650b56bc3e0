//! What an apply would come to, guessed where the server gives no answer: an immutable field, a webhook that cannot
//! take part in a dry run.
//!
//! The desired object is laid over the live one. Fields that we owned and drop stay as they are, and nothing is filled
//! in or checked: what comes of it has to be shown as approximate. Pure functions.

use serde_json::Value;

use crate::ownership::{FieldSet, Managers, is_item};

/// `live` with the values of `desired` in it: maps by their fields, lists that are keyed or sets by their items, all
/// else as a whole.
pub fn overlay(live: &Value, desired: &Value) -> Value {
    let managers = Managers::of(live);
    let sets: Vec<&FieldSet> = managers.sets().collect();
    laid_over(&sets, live, desired)
}

fn laid_over(sets: &[&FieldSet], live: &Value, desired: &Value) -> Value {
    match (live, desired) {
        (Value::Object(live), Value::Object(desired)) => {
            let mut merged = live.clone();
            for (name, value) in desired {
                let sets: Vec<&FieldSet> = sets.iter().filter_map(|set| set.field(name)).collect();
                let value = live.get(name).map_or_else(|| value.clone(), |live| laid_over(&sets, live, value));
                merged.insert(name.clone(), value);
            }
            Value::Object(merged)
        }
        (Value::Array(live), Value::Array(desired)) if sets.iter().any(|set| !set.items().is_empty()) => {
            Value::Array(items_laid_over(sets, live, desired))
        }
        _ => desired.clone(),
    }
}

fn items_laid_over(sets: &[&FieldSet], live: &[Value], desired: &[Value]) -> Vec<Value> {
    let mut merged = live.to_vec();
    for (index, item) in desired.iter().enumerate() {
        let step = sets.iter().find_map(|set| set.item(item, index)).map(|(step, _)| step);
        let place = step.and_then(|step| live.iter().position(|live| is_item(step, live, index)));
        match place.and_then(|place| Some((merged.get_mut(place)?, live.get(place)?, place))) {
            Some((merged, live, place)) => {
                let below = sets.iter().filter_map(|set| set.item(live, place)).map(|(_, set)| set);
                *merged = laid_over(&below.collect::<Vec<_>>(), live, item);
            }
            None => merged.push(item.clone()),
        }
    }
    merged
}
