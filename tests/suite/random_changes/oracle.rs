//! What is true of an object, told from values alone: those right after our apply, and those that are there now.
//!
//! It knows nothing of `managedFields`, of the program or of the server. Pure functions.

use serde_json::{Map, Value};

use super::fields::{self, Types};

/// A place where the object is not as it was right after our apply.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    /// Where, as the program writes it.
    pub(super) path: String,
    /// What is there now.
    pub(super) now: Option<Value>,
    /// Whether only the order of a list's items is another.
    pub(super) order: bool,
}

/// What the server keeps for itself, with what it allocates once.
const BOOKKEEPING: [&str; 8] = [
    "managedFields",
    "resourceVersion",
    "generation",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
];
const BOOKKEEPING_ANNOTATIONS: [&str; 2] =
    ["deprecated.daemonset.template.generation", "kubectl.kubernetes.io/last-applied-configuration"];

/// `object` without what the server keeps for itself and what is as good as nothing; sets in one order.
pub(super) fn comparable(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|name, _| !BOOKKEEPING.contains(&name.as_str()));
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.retain(|name, _| !BOOKKEEPING_ANNOTATIONS.contains(&name.as_str()));
        }
        metadata.retain(|_, value| !value.as_object().is_some_and(Map::is_empty));
    }
    without_nothing(&mut object);
    object
}

fn without_nothing(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                without_nothing(value);
                if let Some(set) = value.as_array_mut().filter(|_| fields::is_set(name)) {
                    set.sort_by_key(ToString::to_string);
                }
            }
            fields.retain(|_, value| !value.is_null() && !value.as_array().is_some_and(Vec::is_empty));
        }
        Value::Array(items) => items.iter_mut().for_each(without_nothing),
        _ => {}
    }
}

/// Where the fields of `rendered` no longer have the value that they had `after` our apply.
pub(super) fn changed(rendered: &Value, after: &Value, now: &Value) -> Vec<Difference> {
    let (after, now) = (comparable(after), comparable(now));
    let mut walk = Walk { types: Types::of(rendered), found: Vec::new() };
    walk.ours(&At::default(), rendered, Some(&after), Some(&now));
    walk.found
}

/// The fields that `rendered` does not have and that are not as they were `after` our apply: set by others.
pub(super) fn others(rendered: &Value, after: &Value, now: &Value) -> Vec<Difference> {
    let (after, now) = (comparable(after), comparable(now));
    let mut walk = Walk { types: Types::of(rendered), found: Vec::new() };
    walk.theirs(&At::default(), Some(rendered), Some(&after), &now);
    // A Service that was created again has another address.
    walk.found.retain(|one| !["spec.clusterIP", "spec.clusterIPs"].contains(&one.path.as_str()));
    walk.found
}

/// A place, and the name of the field there; an item goes by the name of its list.
#[derive(Default)]
struct At<'a> {
    path: String,
    name: &'a str,
}

struct Walk {
    types: Types,
    found: Vec<Difference>,
}

impl Walk {
    fn note(&mut self, path: &str, now: Option<&Value>, order: bool) {
        self.found.push(Difference { path: path.to_owned(), now: now.cloned(), order });
    }

    fn ours(&mut self, at: &At<'_>, rendered: &Value, after: Option<&Value>, now: Option<&Value>) {
        match (rendered, after, now) {
            (Value::Object(rendered), Some(Value::Object(after)), Some(Value::Object(now)))
                if !self.types.is_one_value(at.name) =>
            {
                for (name, rendered) in rendered {
                    let below = At { path: fields::field(&at.path, name), name };
                    self.ours(&below, rendered, after.get(name), now.get(name));
                }
            }
            (Value::Array(rendered), Some(Value::Array(after)), Some(Value::Array(now)))
                if self.types.keys(at.name, rendered).is_some() =>
            {
                let keys = self.types.keys(at.name, rendered).unwrap_or_default();
                self.our_items(at, keys, rendered, after, now);
            }
            _ if after == now => {}
            _ => self.note(&at.path, now, false),
        }
    }

    fn our_items(&mut self, at: &At<'_>, keys: &[&str], rendered: &[Value], after: &[Value], now: &[Value]) {
        let mut places = Vec::new();
        for item in rendered {
            let path = fields::item(&at.path, keys, item);
            let before = fields::position(after, keys, item);
            let place = fields::position(now, keys, item);
            places.extend(place);
            let below = At { path, name: at.name };
            self.ours(&below, item, before.map(|index| &after[index]), place.map(|index| &now[index]));
        }
        // The items of a set have no order.
        if !keys.is_empty() && !places.is_sorted() {
            self.note(&at.path, Some(&Value::from(now)), true);
        }
    }

    fn theirs(&mut self, at: &At<'_>, rendered: Option<&Value>, after: Option<&Value>, now: &Value) {
        match (rendered, after, now) {
            (None, None, _) => self.note(&at.path, Some(now), false),
            (None, Some(after), now) if after == now => {}
            // A null of ours, or a value that counts as one, is ours whole.
            (Some(Value::Null), ..) => {}
            (Some(Value::Object(_)) | None, after, Value::Object(now)) if !self.types.is_one_value(at.name) => {
                for (name, now) in now {
                    let below = At { path: fields::field(&at.path, name), name };
                    self.theirs(
                        &below,
                        rendered.and_then(|map| map.get(name)),
                        after.and_then(|map| map.get(name)),
                        now,
                    );
                }
            }
            (rendered, after, Value::Array(now)) if self.types.keys(at.name, now).is_some() => {
                let keys = self.types.keys(at.name, now).unwrap_or_default();
                for item in now {
                    let find = |list: Option<&'_ Value>| -> Option<Value> {
                        let list = list?.as_array()?;
                        Some(list[fields::position(list, keys, item)?].clone())
                    };
                    let below = At { path: fields::item(&at.path, keys, item), name: at.name };
                    self.theirs(&below, find(rendered).as_ref(), find(after).as_ref(), item);
                }
            }
            (None, Some(_), now) => self.note(&at.path, Some(now), false),
            _ => {}
        }
    }
}

/// The value at `path` of `object`, as the paths of this module are written.
pub(super) fn value_at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let mut walk = vec![(String::new(), "", object)];
    let types = Types::of(object);
    while let Some((at, name, value)) = walk.pop() {
        if at == path {
            return Some(value);
        }
        if !at.is_empty() && !fields::is_within(path, &at) {
            continue;
        }
        match value {
            Value::Object(map) => {
                walk.extend(map.iter().map(|(name, value)| (fields::field(&at, name), name.as_str(), value)));
            }
            Value::Array(list) => match types.keys(name, list) {
                Some(keys) => walk.extend(list.iter().map(|item| (fields::item(&at, keys, item), name, item))),
                None => walk.extend(list.iter().enumerate().map(|(index, item)| (format!("{at}[{index}]"), "", item))),
            },
            _ => {}
        }
    }
    None
}
