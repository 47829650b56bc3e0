//! Makes the changes that `pool.yaml` lists, and other values for fields that take only some. Pure.

use serde_json::{Value, json};

use super::edits::Edit;
use super::random::Random;

/// Makes a change of the pool that fits `object`.
pub(super) fn edit(random: &mut Random, object: &Value) -> Option<Edit> {
    let changes = fitting(object);
    if changes.is_empty() {
        return None;
    }
    let (place, patch) = random.one_of(&changes);
    let at = chosen(random, object, place)?;
    let mut to = object.clone();
    merge(to.pointer_mut(&at)?, patch);
    (to != *object).then(|| Edit { text: format!("{at} <- {patch}"), to })
}

/// `place` with an item chosen for each `*`.
fn chosen(random: &mut Random, object: &Value, place: &str) -> Option<String> {
    let mut at = String::new();
    for name in place.split('/').skip(1) {
        let name = match name {
            "*" => random.below(object.pointer(&at)?.as_array().filter(|list| !list.is_empty())?.len()).to_string(),
            name => name.to_owned(),
        };
        at = format!("{at}/{name}");
    }
    Some(at)
}

/// Merges as RFC 7386 does; `{"+": item}` adds an item to a list.
fn merge(value: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *value = patch.clone();
        return;
    };
    if let Some(item) = patch.get("+") {
        if !value.is_array() {
            *value = json!([]);
        }
        value.as_array_mut().unwrap().push(item.clone());
        return;
    }
    if !value.is_object() {
        *value = json!({});
    }
    let map = value.as_object_mut().unwrap();
    for (name, patch) in patch {
        if patch.is_null() {
            map.remove(name);
        } else {
            merge(map.entry(name).or_insert(Value::Null), patch);
        }
    }
}

/// The changes of `pool.yaml` that fit `object`, each with its place.
fn fitting(object: &Value) -> Vec<(String, Value)> {
    let pool: Value = serde_yaml::from_str(include_str!("pool.yaml")).expect("the pool");
    let has_pods = object.pointer("/spec/template/spec/containers").is_some();
    let kinds = [object["kind"].as_str(), has_pods.then_some("Pod")];
    let places = kinds.into_iter().flatten().filter_map(|kind| pool[kind].as_object()).flatten();
    let entries = places.flat_map(|(place, patches)| {
        let patches = patches.as_array().cloned().unwrap_or_default();
        patches.into_iter().map(|patch| (place.clone(), patch))
    });
    entries.collect()
}

/// Another text for the field `name`, one that the API may take.
pub(super) fn other_text(random: &mut Random, name: &str, text: &str) -> String {
    let choices: &[&str] = match name {
        "imagePullPolicy" => &["Always", "Never"],
        "terminationMessagePolicy" => &["File", "FallbackToLogsOnError"],
        "mountPropagation" => &["None", "HostToContainer", "Bidirectional"],
        "dnsPolicy" => &["Default", "ClusterFirst", "ClusterFirstWithHostNet"],
        "protocol" => &["TCP", "UDP", "SCTP"],
        "effect" => &["NoSchedule", "NoExecute", "PreferNoSchedule"],
        "fsGroupPolicy" => &["File", "None"],
        "scheme" => &["HTTP", "HTTPS", "http", "https"],
        "medium" => &["", "HugePages"],
        "sessionAffinity" => &["None", "ClientIP"],
        "pathType" => &["Exact", "ImplementationSpecific"],
        "internalTrafficPolicy" => &["Local"],
        "cpu" => &["1", "20m", "0.5"],
        "memory" | "sizeLimit" => &["32Mi", "48Mi", "1Gi"],
        "type" => &["", "Directory", "File", "OnDelete", "RunAsAny", "MustRunAs", "NodePort", "Recreate"],
        "password" | "user" => &["b3RoZXI="],
        _ if name.starts_with("pod-security") => &["baseline", "restricted"],
        _ => return if random.happens(80) { format!("{text}-other") } else { "other".to_owned() },
    };
    (*random.one_of(choices)).to_owned()
}
