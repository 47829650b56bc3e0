//! Lists whose items differ in some fields, and what to say when two do not.
//!
//! The API server merges these lists by the fields and cannot apply one in which an item stands twice (kubernetes#121575). Pure.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::path::Step;

/// The object, its list, and the fields in which the items differ: `x-kubernetes-list-map-keys` of the API's description
/// (<https://github.com/kubernetes/kubernetes/blob/master/api/openapi-spec/swagger.json>).
const KEYED: &[(&str, &str, &[&str])] = &[
    ("Container", "env", &["name"]),
    ("Container", "ports", &["containerPort", "protocol"]),
    ("Container", "volumeDevices", &["devicePath"]),
    ("Container", "volumeMounts", &["mountPath"]),
    ("CSINodeSpec", "drivers", &["name"]),
    ("MutatingWebhookConfiguration", "webhooks", &["name"]),
    ("PodSpec", "containers", &["name"]),
    ("PodSpec", "ephemeralContainers", &["name"]),
    ("PodSpec", "hostAliases", &["ip"]),
    ("PodSpec", "imagePullSecrets", &["name"]),
    ("PodSpec", "initContainers", &["name"]),
    ("PodSpec", "resourceClaims", &["name"]),
    ("PodSpec", "schedulingGates", &["name"]),
    ("PodSpec", "topologySpreadConstraints", &["topologyKey", "whenUnsatisfiable"]),
    ("PodSpec", "volumes", &["name"]),
    ("ResourceRequirements", "claims", &["name"]),
    ("ServiceAccount", "secrets", &["name"]),
    ("ServiceSpec", "ports", &["port", "protocol"]),
    ("ValidatingAdmissionPolicySpec", "matchConditions", &["name"]),
    ("ValidatingAdmissionPolicySpec", "variables", &["name"]),
    ("ValidatingWebhookConfiguration", "webhooks", &["name"]),
];

/// The fields in which the items of a list differ; none when it is another list.
pub(super) fn keys(object: &str, field: &str) -> &'static [&'static str] {
    KEYED.iter().find(|(of, list, _)| (*of, *list) == (object, field)).map(|(_, _, keys)| *keys).unwrap_or_default()
}

/// The step to an item; none when it has not all the fields.
pub(super) fn step(item: &Value, keys: &[&str]) -> Option<Step> {
    let named = |key: &&str| match item.get(*key).filter(|value| !value.is_null()) {
        Some(value) => Some(((*key).to_owned(), value.clone())),
        // What the server fills in.
        None if *key == "protocol" => Some(((*key).to_owned(), json!("TCP"))),
        None => None,
    };
    let named = keys.iter().map(named).collect::<Option<_>>()?;
    (!keys.is_empty()).then_some(Step::Keys(named))
}

/// The items that stand in the list before, each with what to say about it.
pub(super) fn duplicates(items: &[Value], keys: &[&str]) -> Vec<(usize, String)> {
    let mut first = HashMap::new();
    let mut again = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(Step::Keys(named)) = step(item, keys) else { continue };
        let words: Vec<String> = named.iter().map(|(key, value)| format!("{key} {value}")).collect();
        let words = words.join(" and ");
        let earlier = *first.entry(words.clone()).or_insert(index);
        if earlier != index {
            again.push((index, format!("has the same {words} as item [{earlier}]")));
        }
    }
    again
}
