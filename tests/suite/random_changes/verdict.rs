//! Whether `diff -o json` says what is true of an object: its state, the paths, the owners, conflicts, fields of others.
//!
//! Each check gives what is wrong, in words. Pure functions.

use std::collections::BTreeSet;

use serde_json::Value;

use super::delivery::Change;
use super::fields::{as_server, meet};
use super::oracle::Difference;
use super::stage::MANAGER;
use super::truth::{State, Truth};

/// Fields that the server itself sets when somebody sets another.
const ALLOCATED: [&str; 7] = [
    "nodePort",
    "clusterIP",
    "clusterIPs",
    "healthCheckNodePort",
    "externalTrafficPolicy",
    "allocateLoadBalancerNodePorts",
    "sessionAffinityConfig",
];

/// All that is wrong with `item`, given what is true and who changed the object.
pub(super) fn wrong(item: &Value, truth: &Truth, changes: &[Change]) -> Vec<String> {
    let said = item["state"].as_str().unwrap_or("no state");
    if said != truth.state.name() {
        return vec![format!("state: said {said}, right is {}; {}", truth.state.name(), item["errors"])];
    }
    if matches!(truth.state, State::Terminating | State::Unreadable) {
        return Vec::new();
    }
    let checks = [wrong_paths(item, truth), wrong_owners(item, truth, changes), wrong_conflicts(item, truth)];
    let mut wrong = checks.concat();
    wrong.extend(wrong_blockers(item, truth));
    wrong.extend(wrong_foreign(item, truth, changes));
    wrong
}

/// The paths of `list`.
pub(super) fn paths(item: &Value, list: &str) -> Vec<String> {
    let entries = item[list].as_array().into_iter().flatten();
    entries.filter_map(|entry| Some(entry["path"].as_str()?.to_owned())).collect()
}

fn meets_one(path: &str, others: &[String]) -> bool {
    others.iter().any(|other| meet(path, other))
}

fn wrong_paths(item: &Value, truth: &Truth) -> Vec<String> {
    let said = paths(item, "changes");
    if truth.state == State::Missing {
        return Vec::new();
    }
    let right: Vec<String> = truth.changed.iter().map(|change| change.path.clone()).collect();
    let mut beside = paths(item, "blockers");
    // What nobody owns any more goes with ours where both exclude each other.
    beside.extend(truth.others.iter().filter(|_| truth.state == State::Differs).map(|one| one.path.clone()));
    let hidden = right.iter().filter(|path| !meets_one(path, &said));
    let false_alarms = said.iter().filter(|path| !meets_one(path, &right) && !meets_one(path, &beside));
    let hidden = hidden.map(|path| format!("changes: {path} is not among them: {said:?}"));
    hidden.chain(false_alarms.map(|path| format!("changes: {path} did not change"))).collect()
}

/// Who changed a value that is there owns it.
///
/// `serviceAccount` is the old name of `serviceAccountName`: the server writes it, too, when somebody writes that, and its owner stays.
fn wrong_owners(item: &Value, truth: &Truth, changes: &[Change]) -> Vec<String> {
    let mut wrong = Vec::new();
    let releases = changes.iter().any(|change| change.releases);
    let managers: BTreeSet<&str> = changes.iter().map(|change| change.manager.as_str()).collect();
    for change in item["changes"].as_array().into_iter().flatten() {
        let path = change["path"].as_str().unwrap_or_default();
        let owners = owners(change);
        if let Some(other) = owners.iter().find(|name| !managers.contains(name.as_str()) && *name != MANAGER) {
            wrong.push(format!("owners: {path} is said to be owned by {other}, who did nothing"));
        }
        let set = truth.changed.iter().any(|right| meet(&right.path, path) && right.now.is_some() && !right.order);
        let live = change["live"] != Value::Null;
        let is_alias = path.ends_with(".serviceAccount");
        if set && live && !releases && !is_alias && !owners.iter().any(|name| managers.contains(name.as_str())) {
            wrong.push(format!("owners: of {path} {owners:?} are named, not who changed it: {managers:?}"));
        }
    }
    wrong
}

/// The managers that an entry names.
fn owners(entry: &Value) -> Vec<String> {
    let owners = entry["owners"].as_array().into_iter().flatten();
    owners.filter_map(|owner| Some(owner["manager"].as_str()?.to_owned())).collect()
}

/// What the server calls a conflict, and nothing else.
fn wrong_conflicts(item: &Value, truth: &Truth) -> Vec<String> {
    if truth.state == State::NeedsRecreate {
        return Vec::new(); // nothing can be taken there
    }
    let entries = item["conflicts"].as_array().cloned().unwrap_or_default();
    let said: BTreeSet<(String, String)> = entries
        .iter()
        .flat_map(|entry| {
            let path = as_server(entry["path"].as_str().unwrap_or_default());
            owners(entry).into_iter().map(move |manager| (path.clone(), manager))
        })
        .collect();
    let missing = truth.conflicts.difference(&said).map(|one| format!("conflicts: {one:?} is not among {said:?}"));
    let path = |(path, _): &(String, String)| path.clone();
    let right: BTreeSet<String> = truth.conflicts.iter().map(path).collect();
    let more: BTreeSet<String> = said.iter().map(path).filter(|path| !right.contains(path)).collect();
    missing.chain(more.iter().map(|path| format!("conflicts: {path} is none"))).collect()
}

/// What is in the way is a field of others, and is named whenever the server refuses.
fn wrong_blockers(item: &Value, truth: &Truth) -> Vec<String> {
    let said = paths(item, "blockers");
    if truth.state != State::Blocked {
        return said.iter().map(|path| format!("blockers: {path} is not in the way")).collect();
    }
    if said.is_empty() {
        return vec!["blockers: none is named".to_owned()];
    }
    let right: Vec<String> = truth.others.iter().map(|one| one.path.clone()).collect();
    said.iter()
        .filter(|path| !meets_one(path, &right))
        .map(|path| format!("blockers: {path} is not of others"))
        .collect()
}

/// Each field that others set beside ours is named, and no other.
fn wrong_foreign(item: &Value, truth: &Truth, changes: &[Change]) -> Vec<String> {
    if truth.state == State::NeedsRecreate {
        return Vec::new();
    }
    let mut said = paths(item, "foreign");
    let right: Vec<String> = truth.others.iter().map(|one| one.path.clone()).collect();
    // In a custom resource an empty map is as good as none: what is left of a struct when its fields are gone.
    let group = item["object"]["apiVersion"].as_str().unwrap_or_default();
    let custom = group.contains('.') && !group.contains(".k8s.io/");
    let is_hollow = |one: &Difference| custom && one.now.as_ref().is_some_and(|now| *now == serde_json::json!({}));
    let hollow: Vec<&str> = truth.others.iter().filter(|one| is_hollow(one)).map(|one| one.path.as_str()).collect();
    let false_alarms = said.iter().filter(|path| !meets_one(path, &right));
    let mut wrong: Vec<String> =
        false_alarms.map(|path| format!("foreign: {path} is as it was right after our apply")).collect();
    if changes.iter().any(|change| change.releases) {
        return wrong; // what nobody owns is nobody's
    }
    said.extend(paths(item, "blockers"));
    let allocated = |path: &str| ALLOCATED.iter().any(|name| path.ends_with(&format!(".{name}")));
    let is_due = |path: &&String| !allocated(path) && !hollow.contains(&path.as_str());
    let hidden = right.iter().filter(|path| is_due(path) && !meets_one(path, &said));
    wrong.extend(hidden.map(|path| format!("foreign: {path} is not among them: {said:?}")));
    wrong
}
