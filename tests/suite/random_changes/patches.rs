//! The same change written in each of the ways that the API takes: merge, JSON and strategic patches, and an apply.
//!
//! Takes the object as it is and as it shall be. Pure functions.

use serde_json::{Map, Value, json};

use super::edits::step;
use super::fields::{self, Types};

/// RFC 7386: lists are given whole.
pub(super) fn merge(from: &Value, to: &Value) -> Value {
    let (Value::Object(from), Value::Object(to)) = (from, to) else { return to.clone() };
    let mut patch = Map::new();
    for (name, value) in to {
        match from.get(name) {
            Some(before) if before == value => {}
            Some(before) if before.is_object() && value.is_object() => {
                patch.insert(name.clone(), merge(before, value));
            }
            _ => {
                patch.insert(name.clone(), value.clone());
            }
        }
    }
    patch.extend(from.keys().filter(|name| !to.contains_key(*name)).map(|name| (name.clone(), Value::Null)));
    Value::Object(patch)
}

/// RFC 6902, each value by itself where the lists are as long as before.
pub(super) fn json_patch(from: &Value, to: &Value) -> Value {
    let mut operations = Vec::new();
    operations_at("", from, to, &mut operations);
    Value::Array(operations)
}

fn operations_at(at: &str, from: &Value, to: &Value, operations: &mut Vec<Value>) {
    match (from, to) {
        _ if from == to => {}
        (Value::Object(from), Value::Object(to)) => {
            let gone = from.keys().filter(|name| !to.contains_key(*name));
            operations.extend(gone.map(|name| json!({"op": "remove", "path": step(at, name)})));
            for (name, value) in to {
                match from.get(name) {
                    Some(before) => operations_at(&step(at, name), before, value, operations),
                    None => operations.push(json!({"op": "add", "path": step(at, name), "value": value})),
                }
            }
        }
        (Value::Array(from), Value::Array(to)) if from.len() == to.len() => {
            for (index, (before, value)) in from.iter().zip(to).enumerate() {
                operations_at(&format!("{at}/{index}"), before, value, operations);
            }
        }
        _ => operations.push(json!({"op": "replace", "path": at, "value": to})),
    }
}

/// As `kubectl edit` writes it for built-in types: keyed lists item by item.
pub(super) fn strategic(types: Types, name: &str, from: &Value, to: &Value) -> Value {
    match (from, to) {
        (Value::Object(from), Value::Object(to)) => Value::Object(strategic_map(types, from, to)),
        (Value::Array(from), Value::Array(to)) => match merge_key(types, name, from) {
            Some(key) => strategic_list(types, (name, key), from, to),
            None => Value::from(to.clone()),
        },
        _ => to.clone(),
    }
}

/// The one field that such a patch tells items apart by; lists of plain strings have none and are given whole.
fn merge_key(types: Types, name: &str, list: &[Value]) -> Option<&'static str> {
    types.keys(name, list).and_then(|keys| keys.first().copied())
}

fn strategic_map(types: Types, from: &Map<String, Value>, to: &Map<String, Value>) -> Map<String, Value> {
    let mut patch = Map::new();
    for (name, value) in to.iter().filter(|(name, value)| from.get(*name) != Some(value)) {
        let before = from.get(name).unwrap_or(&Value::Null);
        patch.insert(name.clone(), strategic(types, name, before, value));
        if let (Value::Array(before), Value::Array(list)) = (before, value)
            && let Some(key) = merge_key(types, name, before)
        {
            let order: Vec<Value> = list.iter().map(|item| json!({key: item[key]})).collect();
            patch.insert(format!("$setElementOrder/{name}"), json!(order));
        }
    }
    patch.extend(from.keys().filter(|name| !to.contains_key(*name)).map(|name| (name.clone(), Value::Null)));
    patch
}

fn strategic_list(types: Types, (name, key): (&str, &str), from: &[Value], to: &[Value]) -> Value {
    let find = |list: &[Value], item: &Value| list.iter().find(|other| other[key] == item[key]).cloned();
    let mut items = Vec::new();
    for item in to {
        match find(from, item) {
            Some(before) if before == *item => {}
            Some(before) => {
                let mut patch = strategic(types, name, &before, item);
                patch[key] = item[key].clone();
                items.push(patch);
            }
            None => items.push(item.clone()),
        }
    }
    let gone = from.iter().filter(|item| find(to, item).is_none());
    items.extend(gone.map(|item| json!({"$patch": "delete", key: item[key]})));
    Value::Array(items)
}

/// What of `to` is new beside `from`, as an apply gives it; none where something is only taken out.
pub(super) fn applied(types: Types, name: &str, from: Option<&Value>, to: &Value) -> Option<Value> {
    match (from, to) {
        (Some(from), to) if from == to => None,
        (Some(Value::Object(from)), Value::Object(to)) if !types.is_one_value(name) => {
            let new = to
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), applied(types, name, from.get(name), value)?)));
            let new: Map<String, Value> = new.collect();
            (!new.is_empty()).then_some(Value::Object(new))
        }
        (Some(Value::Array(from)), Value::Array(to)) if types.keys(name, to).is_some() => {
            let keys = types.keys(name, to).unwrap_or_default();
            let new = to.iter().filter_map(|item| {
                let before = fields::position(from, keys, item).map(|index| &from[index]);
                let mut new = applied(types, name, before, item)?;
                for key in keys {
                    new[*key] = fields::key(item, key);
                }
                Some(new)
            });
            let new: Vec<Value> = new.collect();
            (!new.is_empty()).then(|| Value::from(new))
        }
        _ => Some(to.clone()),
    }
}
