//! Whether an apply did to an object what it must: left it alone, or healed it and took nothing else.

use serde_json::{Value, json};

use super::fields::{self, Types, meet};
use super::oracle::{self, Difference, comparable, value_at};
use super::stage::{JSON, Object, Stage};
use super::truth::{State, Truth, ours};

/// What is wrong with an object after an apply that found it as in `before`; what is at `blockers` may go.
pub(super) fn wrong(
    stage: &Stage,
    object: &Object,
    before: &Truth,
    now: Option<&Value>,
    stays: bool,
    blockers: &[String],
) -> Vec<String> {
    let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
    let Some(now) = now else { return if stays { Vec::new() } else { vec!["is not there".to_owned()] } };
    let moved = before.live.as_ref().is_none_or(|live| version(live) != version(now));
    if stays || before.state == State::InSync && !before.moves_owners {
        let written = || format!("was written: {} to {}", json!(before.live), json!(now));
        return if moved { vec![written()] } else { Vec::new() };
    }
    let values = comparable(now);
    let healed = oracle::changed(&object.rendered, &object.after, now);
    let mut wrong: Vec<String> = healed.iter().map(|change| format!("{} is not healed", change.path)).collect();
    for one in before.others.iter().filter(|one| value_at(&values, &one.path) != one.now.as_ref()) {
        if !blockers.iter().any(|path| meet(path, &one.path)) {
            wrong.push(format!("{} of others was {:?}, is {:?}", one.path, one.now, value_at(&values, &one.path)));
        } else if wrong.is_empty() && could_stay(stage, object, before, now, one) {
            wrong.push(format!("{} of others was not in the way", one.path));
        }
    }
    if ours(now) != ours(&object.after) && before.state != State::InSync {
        wrong.push(format!("owns {}, right is {}", json!(ours(now)), json!(ours(&object.after))));
    }
    wrong
}

/// Whether the API server takes the healed object with the value of others put back.
fn could_stay(stage: &Stage, object: &Object, before: &Truth, healed: &Value, other: &Difference) -> bool {
    let mut body = healed.clone();
    let Some(live) = &before.live else { return false };
    put_back(object.types(), ("", ""), &mut body, live, &other.path);
    let (code, answer) = stage.send("PUT", &format!("{}?dryRun=All&fieldManager=oracle", object.uri), JSON, &body);
    code == 200
        && value_at(&comparable(&answer), &other.path) == other.now.as_ref()
        && oracle::changed(&object.rendered, &object.after, &answer).is_empty()
}

/// Puts what stands at `path` of `from` into `into`; both are at `at`, of the field or the list `name`.
fn put_back(types: Types, (at, name): (&str, &str), into: &mut Value, from: &Value, path: &str) {
    match from {
        Value::Object(map) => {
            for (name, value) in map {
                let below = fields::field(at, name);
                if below == path {
                    into[name] = value.clone();
                } else if fields::is_within(path, &below) {
                    put_back(types, (&below, name), &mut into[name], value, path);
                }
            }
        }
        Value::Array(list) => {
            let Some(keys) = types.keys(name, list) else { return };
            let Some(items) = into.as_array_mut() else { return *into = from.clone() };
            for item in list {
                let below = fields::item(at, keys, item);
                match fields::position(items, keys, item) {
                    Some(index) if fields::is_within(path, &below) => {
                        put_back(types, (&below, name), &mut items[index], item, path);
                    }
                    None if below == path => items.push(item.clone()),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// What is wrong with an object after an exact apply: it must be as it was right after our first one.
pub(super) fn wrong_when_exact(object: &Object, now: &Value) -> Vec<String> {
    let left = oracle::others(&object.rendered, &object.after, now);
    if left.is_empty() && without_addresses(now) != without_addresses(&object.after) {
        return vec![format!("is {}, right is {}", comparable(now), comparable(&object.after))];
    }
    // In a custom resource an empty map is as good as none.
    let is_hollow =
        |one: &Difference| object.types().is_custom() && one.now.as_ref().is_some_and(|now| *now == json!({}));
    left.iter().filter(|one| !is_hollow(one)).map(|one| format!("{} is left", one.path)).collect()
}

/// A Service that was created again has another address.
fn without_addresses(object: &Value) -> Value {
    let mut object = comparable(object);
    if let Some(spec) = object["spec"].as_object_mut() {
        spec.remove("clusterIP");
        spec.remove("clusterIPs");
    }
    object
}
