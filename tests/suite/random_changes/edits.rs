//! What somebody may make of a live object: any of its values changed or taken out, and things added that people add.
//!
//! Gives the object as it shall be, whoever writes it and however. What the API refuses is found out by asking. Pure.

use serde_json::{Map, Value, json};

use super::pool;
use super::random::Random;

/// What stands in front of values that nobody can edit, or that name the object.
const UNTOUCHED: [&str; 16] = [
    "/apiVersion",
    "/kind",
    "/status",
    "/metadata/name",
    "/metadata/namespace",
    "/metadata/uid",
    "/metadata/resourceVersion",
    "/metadata/generation",
    "/metadata/creationTimestamp",
    "/metadata/managedFields",
    "/metadata/annotations/deprecated.daemonset.template.generation",
    "/spec/finalizers",
    "/metadata/labels/kubernetes.io~1metadata.name",
    "/spec/clusterIPs",
    "/spec/ipFamilies",
    "/spec/ipFamilyPolicy",
];

/// An object as somebody wants it, and in words what is new in it.
pub(super) struct Edit {
    /// What was done.
    pub(super) text: String,
    /// The whole object.
    pub(super) to: Value,
}

/// Makes one change to `object`; none where the choice does not fit.
pub(super) fn edit(random: &mut Random, object: &Value) -> Option<Edit> {
    match random.below(10) {
        0..=3 => pool::edit(random, object),
        4 => add_key(random, object),
        5 => take_out(random, object),
        6 => rearrange(random, object),
        _ => other_value(random, object),
    }
}

/// The JSON pointers of all values in `object` that may be edited.
pub(super) fn pointers(object: &Value, wanted: impl Fn(&Value) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut walk = vec![(String::new(), object)];
    while let Some((at, value)) = walk.pop() {
        if UNTOUCHED.iter().any(|place| at == *place) {
            continue;
        }
        if !at.is_empty() && wanted(value) {
            found.push(at.clone());
        }
        match value {
            Value::Object(map) => walk.extend(map.iter().map(|(name, value)| (step(&at, name), value))),
            Value::Array(list) => {
                walk.extend(list.iter().enumerate().map(|(index, item)| (format!("{at}/{index}"), item)));
            }
            _ => {}
        }
    }
    found.retain(|at| !["/metadata", "/spec"].contains(&at.as_str()));
    found.sort();
    found
}

/// A JSON pointer and one name more.
pub(super) fn step(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn choose(random: &mut Random, object: &Value, wanted: impl Fn(&Value) -> bool) -> Option<String> {
    let found = pointers(object, wanted);
    if found.is_empty() { None } else { Some(random.one_of(&found).clone()) }
}

fn other_value(random: &mut Random, object: &Value) -> Option<Edit> {
    let at = choose(random, object, |value| !value.is_object() && !value.is_array())?;
    let mut to = object.clone();
    let place = to.pointer_mut(&at)?;
    let name = at.rsplit('/').next().unwrap_or_default();
    let other = match &*place {
        Value::Bool(value) => json!(!value),
        Value::Number(number) => {
            let number = number.as_i64()?;
            json!(*random.one_of(&[number + 1, number * 2, number - 1, 7]))
        }
        Value::String(text) => json!(pool::other_text(random, name, text)),
        Value::Null => json!(*random.one_of(&[1, 10])),
        _ => return None,
    };
    if *place == other {
        return None;
    }
    let text = format!("{at}: {place} -> {other}");
    *place = other;
    Some(Edit { text, to })
}

fn take_out(random: &mut Random, object: &Value) -> Option<Edit> {
    let at = choose(random, object, |_| true)?;
    let mut to = object.clone();
    remove(&mut to, &at)?;
    Some(Edit { text: format!("{at} taken out"), to })
}

/// Takes out what `at` leads to.
pub(super) fn remove(object: &mut Value, at: &str) -> Option<Value> {
    let (parent, name) = at.rsplit_once('/')?;
    match object.pointer_mut(parent)? {
        Value::Object(map) => map.remove(&name.replace("~1", "/").replace("~0", "~")),
        Value::Array(list) => {
            let index = name.parse::<usize>().ok()?;
            (index < list.len()).then(|| list.remove(index))
        }
        _ => None,
    }
}

/// Another order, an item twice with another name, or none at all.
fn rearrange(random: &mut Random, object: &Value) -> Option<Edit> {
    let at = choose(random, object, |value| value.as_array().is_some_and(|list| !list.is_empty()))?;
    let mut to = object.clone();
    let list = to.pointer_mut(&at)?.as_array_mut()?;
    let index = random.below(list.len());
    let what = match random.below(4) {
        0 | 1 if list.len() > 1 => {
            let next = (index + 1) % list.len();
            list.swap(index, next);
            "another order"
        }
        2 => {
            list.clear();
            "emptied"
        }
        _ => {
            let mut item = list[index].clone();
            rename(&mut item);
            let place = random.below(list.len() + 1);
            list.insert(place, item);
            "an item like another"
        }
    };
    Some(Edit { text: format!("{at}: {what}"), to })
}

/// Gives an item another name, number or path, so that it is another item.
fn rename(item: &mut Value) {
    match item {
        Value::String(text) => text.push_str("-copy"),
        Value::Object(map) => {
            for (name, value) in map.iter_mut() {
                match (name.as_str(), value) {
                    ("name" | "mountPath" | "uid", Value::String(text)) => text.push_str("-copy"),
                    ("port" | "containerPort", value) => *value = json!(value.as_i64().unwrap_or(6000) + 11),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// One key more in a map whose keys are free.
fn add_key(random: &mut Random, object: &Value) -> Option<Edit> {
    let free = ["labels", "annotations", "data", "matchLabels", "selector", "limits", "requests", "nodeSelector"];
    let mut maps = pointers(object, Value::is_object);
    maps.retain(|at| at.rsplit('/').next().is_some_and(|name| free.contains(&name)));
    maps.extend(["/metadata/labels".to_owned(), "/metadata/annotations".to_owned()]);
    let at = random.one_of(&maps).clone();
    let mut to = object.clone();
    let (parent, name) = at.rsplit_once('/')?;
    let map = to.pointer_mut(parent)?.as_object_mut()?.entry(name).or_insert_with(|| json!({}));
    let (key, value) = match name {
        "limits" | "requests" => (*random.one_of(&["memory", "ephemeral-storage"]), "2Gi"),
        "data" if object["kind"] == "Secret" => ("extra", "ZXh0cmE="),
        _ => (*random.one_of(&["team", "example.com/owner", "tier"]), "blue"),
    };
    let map: &mut Map<String, Value> = map.as_object_mut()?;
    map.insert(key.to_owned(), json!(value));
    Some(Edit { text: format!("{at}: {key} set to {value}"), to })
}
