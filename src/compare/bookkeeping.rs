//! What the server keeps for itself in an object: never shown, never counted.
//!
//! One table of places, each with its reason. Takes both objects, gives them without those places, and what was hidden
//! that would have shown as a change. Pure functions.

use serde_json::Value;

use crate::ownership::FieldSet;
use crate::path::{FieldPath, Step};

/// A place in objects; `*` is each item of a list.
type Pointer = &'static [&'static str];

/// What belongs to the server in each object.
const SERVER_OWNED: &[(Pointer, &str)] = &[
    (&["metadata", "managedFields"], "who owns which field; shown beside each change"),
    (&["metadata", "resourceVersion"], "moves with every write"),
    (&["metadata", "generation"], "counts the writes of the spec"),
    (&["metadata", "uid"], "given at creation"),
    (&["metadata", "creationTimestamp"], "given at creation"),
    (&["metadata", "deletionTimestamp"], "set by a deletion"),
    (&["metadata", "deletionGracePeriodSeconds"], "set by a deletion"),
    (&["metadata", "selfLink"], "written by old servers"),
    (&["metadata", "annotations", "deprecated.daemonset.template.generation"], "counts the pod templates"),
    (&["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"], "kubectl's own record"),
    (&["status"], "written by controllers"),
];

/// What the server picks anew for each object that is created, unless it was asked for.
const GIVEN_AT_CREATION: &[(Pointer, &str)] = &[
    (&["spec", "clusterIP"], "given at creation"),
    (&["spec", "clusterIPs"], "given at creation"),
    (&["spec", "ipFamilies"], "given at creation"),
    (&["spec", "ipFamilyPolicy"], "given at creation"),
    (&["spec", "healthCheckNodePort"], "given at creation"),
    (&["spec", "ports", "*", "nodePort"], "given at creation"),
];

/// Bookkeeping that differs, though it is no change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// Where it stands.
    pub path: FieldPath,
    /// Why it does not count.
    pub reason: &'static str,
}

/// Gives both objects without bookkeeping. `ours` is what the desired object asks for.
pub(super) fn take_out(
    live: Option<&Value>,
    desired: &Value,
    ours: Option<&FieldSet>,
) -> (Option<Value>, Value, Vec<Hidden>) {
    let (mut live, mut desired) = (live.cloned(), desired.clone());
    let mut hidden = Vec::new();
    for (place, reason) in SERVER_OWNED {
        let from_live = live.as_mut().map(|live| take(live, place)).unwrap_or_default();
        let from_desired = take(&mut desired, place);
        if without_times(&from_live) != without_times(&from_desired) {
            let taken = from_desired.into_iter().chain(from_live).take(1);
            hidden.extend(taken.map(|(path, _)| Hidden { path, reason }));
        }
    }
    let is_service = desired.get("kind").and_then(Value::as_str) == Some("Service");
    if live.is_none() && is_service {
        for (place, reason) in GIVEN_AT_CREATION.iter().filter(|(place, _)| !is_asked_for(ours, place)) {
            hidden.extend(take(&mut desired, place).into_iter().map(|(path, _)| Hidden { path, reason }));
        }
    }
    (live, desired, hidden)
}

/// The entries of `managedFields` without their times: a dry run gives them that of its own second.
fn without_times(taken: &[(FieldPath, Value)]) -> Vec<Value> {
    let mut values: Vec<Value> = taken.iter().map(|(_, value)| value.clone()).collect();
    for entry in values.iter_mut().filter_map(Value::as_array_mut).flatten().filter_map(Value::as_object_mut) {
        entry.remove("time");
    }
    values
}

/// Whether `path` leads to bookkeeping or into it.
pub(super) fn is_bookkeeping(path: &FieldPath) -> bool {
    SERVER_OWNED.iter().any(|(place, _)| {
        let place = FieldPath(place.iter().map(|name| Step::Field((*name).to_owned())).collect());
        place.contains(path)
    })
}

fn is_asked_for(ours: Option<&FieldSet>, place: &[&str]) -> bool {
    let Some(set) = ours else { return false };
    match place {
        [] => true,
        ["*", rest @ ..] => set.items().iter().any(|(_, item)| is_asked_for(Some(item), rest)),
        [name, rest @ ..] => is_asked_for(set.field(name), rest),
    }
}

fn take(value: &mut Value, place: &[&str]) -> Vec<(FieldPath, Value)> {
    let mut taken = take_below(value, place);
    for (path, _) in &mut taken {
        path.0.reverse();
    }
    taken
}

/// Takes out what stands at `place`; the paths come with their last step first.
fn take_below(value: &mut Value, place: &[&str]) -> Vec<(FieldPath, Value)> {
    let add = |mut taken: Vec<(FieldPath, Value)>, step: &Step| {
        for (path, _) in &mut taken {
            path.0.push(step.clone());
        }
        taken
    };
    match place {
        [] => Vec::new(),
        ["*", rest @ ..] => {
            let items = value.as_array_mut().into_iter().flatten().enumerate();
            items.flat_map(|(index, item)| add(take_below(item, rest), &Step::Index(index))).collect()
        }
        [name, rest @ ..] => {
            let Some(fields) = value.as_object_mut() else { return Vec::new() };
            let step = Step::Field((*name).to_owned());
            if rest.is_empty() {
                return fields.remove(*name).map(|value| (FieldPath(vec![step]), value)).into_iter().collect();
            }
            let Some(below) = fields.get_mut(*name) else { return Vec::new() };
            let taken = add(take_below(below, rest), &step);
            // An annotation that was the only one leaves no empty map behind.
            if *name == "annotations" && !taken.is_empty() && below.as_object().is_some_and(serde_json::Map::is_empty) {
                fields.remove(*name);
            }
            taken
        }
    }
}
