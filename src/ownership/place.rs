//! Finding values in an object: what stands at a path, which list item a key means, when two values are the same.
//!
//! Pure functions.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::path::{FieldPath, Step};

/// The value at `path` in `object`.
///
/// A key field that the item leaves out matches any key value: the server's field sets name keys that it filled in
/// itself, such as `protocol`. An item that has them all wins over one that leaves some out.
pub fn value_at<'a>(object: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    path.0.iter().try_fold(object, |value, step| match step {
        Step::Field(name) => value.get(name),
        Step::Index(index) => value.get(index),
        Step::Keys(_) | Step::Item(_) => position(value, step).and_then(|index| value.get(index)),
    })
}

/// The place of the item of `list` that `step` means.
pub(super) fn position(list: &Value, step: &Step) -> Option<usize> {
    let items = list.as_array()?;
    let exact = |item: &Value| !matches!(step, Step::Keys(_)) || has_all_keys(step, item);
    let matches = || items.iter().enumerate().filter(|(index, item)| is_item(step, item, *index));
    matches().find(|(_, item)| exact(item)).or_else(|| matches().next()).map(|(index, _)| index)
}

/// Whether `step` means the list item `item`, which stands at `index`.
pub fn is_item(step: &Step, item: &Value, index: usize) -> bool {
    match step {
        Step::Field(_) => false,
        Step::Index(wanted) => *wanted == index,
        Step::Item(value) => same(value, item),
        Step::Keys(keys) => has_keys(item, keys),
    }
}

fn has_keys(item: &Value, keys: &BTreeMap<String, Value>) -> bool {
    let Some(fields) = item.as_object() else { return false };
    let fits = |(key, value): (&String, &Value)| given(fields, key).is_none_or(|found| same(&found, value));
    keys.keys().any(|key| fields.contains_key(key)) && keys.iter().all(fits)
}

/// Whether two values are equal; unlike `==`, 1 and 1.0 are.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || (left.is_f64() || right.is_f64()) && left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|found| same(value, found)))
        }
        _ => left == right,
    }
}

/// The value of a key field. `protocol` is the one that the API fills in by itself; those of custom resources are not known.
fn given<'a>(item: &'a Map<String, Value>, key: &str) -> Option<Cow<'a, Value>> {
    match item.get(key) {
        Some(value) => Some(Cow::Borrowed(value)),
        None => (key == "protocol").then(|| Cow::Owned(Value::from("TCP"))),
    }
}

/// Whether `item` has all keys of `step`, none left out but what the API fills in.
pub fn has_all_keys(step: &Step, item: &Value) -> bool {
    let (Step::Keys(keys), Some(fields)) = (step, item.as_object()) else { return false };
    keys.iter().all(|(key, value)| given(fields, key).is_some_and(|found| same(&found, value)))
}

/// The value at `path`, to change it.
pub fn value_at_mut<'a>(object: &'a mut Value, path: &[Step]) -> Option<&'a mut Value> {
    path.iter().try_fold(object, |value, step| match step {
        Step::Field(name) => value.get_mut(name),
        Step::Index(index) => value.get_mut(*index),
        Step::Keys(_) | Step::Item(_) => position(value, step).and_then(|index| value.get_mut(index)),
    })
}

/// Removes the value at `path` from `object`; nothing happens when it is not there.
pub fn remove(object: &mut Value, path: &FieldPath) {
    let Some((last, above)) = path.0.split_last() else { return };
    let Some(value) = value_at_mut(object, above) else { return };
    match (last, value) {
        (Step::Field(name), Value::Object(fields)) => drop(fields.remove(name)),
        (step, list) => {
            let index = if let Step::Index(index) = step { Some(*index) } else { position(list, step) };
            if let (Some(index), Some(items)) = (index, list.as_array_mut())
                && index < items.len()
            {
                items.remove(index);
            }
        }
    }
}
