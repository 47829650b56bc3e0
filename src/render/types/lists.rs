//! Keyed lists (`x-kubernetes-list-type: map`) and their duplicate items.
//!
//! The API server merges these lists by their keys and cannot apply duplicates (kubernetes#121575). Pure.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::path::Step;

/// The type, its list, and the key fields of the items: `x-kubernetes-list-map-keys` of the API's description
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

/// The key fields of a list; none when it is not keyed.
pub(super) fn keys(object: &str, field: &str) -> &'static [&'static str] {
    KEYED.iter().find(|(of, list, _)| (*of, *list) == (object, field)).map(|(_, _, keys)| *keys).unwrap_or_default()
}

/// The step to an item; none when a key field is missing.
pub(super) fn step(item: &Value, keys: &[&str]) -> Option<Step> {
    let named = |key: &&str| match item.get(*key).filter(|value| !value.is_null()) {
        Some(value) => Some(((*key).to_owned(), value.clone())),
        // The server's default.
        None if *key == "protocol" => Some(((*key).to_owned(), json!("TCP"))),
        None => None,
    };
    let named = keys.iter().map(named).collect::<Option<_>>()?;
    (!keys.is_empty()).then_some(Step::Keys(named))
}

/// The position of each duplicate item, and a message.
pub(super) fn duplicates(items: &[Value], keys: &[&str]) -> Vec<(usize, String)> {
    let mut first = HashMap::new();
    let mut duplicates = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(Step::Keys(named)) = step(item, keys) else { continue };
        let pairs: Vec<String> = named.iter().map(|(key, value)| format!("{key} {value}")).collect();
        let keys = pairs.join(" and ");
        let earlier = *first.entry(keys.clone()).or_insert(index);
        if earlier != index {
            duplicates.push((index, format!("has the same {keys} as item [{earlier}]")));
        }
    }
    duplicates
}
