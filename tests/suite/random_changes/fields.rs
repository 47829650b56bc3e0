//! What the types of the API say of lists and maps, as far as the objects here need it, and how a place is written.
//!
//! Written down by hand: the oracle must not learn it from `managedFields`, which is what the program reads.

use serde_json::Value;

/// Lists of built-in types whose items are told apart by key fields.
const KEYED: [(&str, &[&str]); 13] = [
    ("containers", &["name"]),
    ("env", &["name"]),
    ("hostAliases", &["ip"]),
    ("imagePullSecrets", &["name"]),
    ("initContainers", &["name"]),
    ("topologySpreadConstraints", &["topologyKey", "whenUnsatisfiable"]),
    ("volumeDevices", &["devicePath"]),
    ("volumeMounts", &["mountPath"]),
    ("volumes", &["name"]),
    ("ownerReferences", &["uid"]),
    ("secrets", &["name"]),
    ("webhooks", &["name"]),
    ("matchConditions", &["name"]),
];

/// Lists of the kinds of CRDs whose items are told apart by key fields.
const CUSTOM_KEYED: [(&str, &[&str]); 2] = [("ownerReferences", &["uid"]), ("probes", &["port", "zone"])];

/// Lists whose items are told apart by their values.
const SETS: [&str; 3] = ["finalizers", "tags", "volumeLifecycleModes"];

/// Maps that count as one value: whoever sets a part of one sets all of it. A list item goes by its list's name.
const ONE_VALUE: [&str; 13] = [
    "selector",
    "nodeSelector",
    "namespaceSelector",
    "roleRef",
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
    "ownerReferences",
    "imagePullSecrets",
    "port", // of an Ingress backend
    "podSelector",
    "objectSelector",
];

/// What the kind of an object decides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Types {
    custom: bool,
    service: bool,
    sensor: bool,
    service_account: bool,
}

impl Types {
    /// The types of `object`.
    pub(super) fn of(object: &Value) -> Self {
        let version = object["apiVersion"].as_str().unwrap_or_default();
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let custom = group.contains('.') && !group.ends_with(".k8s.io");
        let is = |kind: &str| object["kind"] == kind;
        Self { custom, service: is("Service"), sensor: is("Sensor"), service_account: is("ServiceAccount") }
    }

    /// Whether the API server knows the kind by a CRD only.
    pub(super) fn is_custom(self) -> bool {
        self.custom
    }

    /// The key fields of the list `name`: none at all for a set, and nothing for a list that counts as one value.
    pub(super) fn keys(self, name: &str, list: &[Value]) -> Option<&'static [&'static str]> {
        if is_set(name) {
            return Some(&[]);
        }
        if self.custom {
            return CUSTOM_KEYED.iter().find(|(known, _)| *known == name).map(|(_, keys)| *keys);
        }
        if name == "imagePullSecrets" && self.service_account {
            return None;
        }
        if name == "ports" && self.service {
            return Some(&["port", "protocol"]);
        }
        if name == "ports" && list.iter().any(|item| item.get("containerPort").is_some()) {
            return Some(&["containerPort", "protocol"]);
        }
        // `volumes` of a pod and the like hold objects, lists of plain strings have no keys.
        let (_, keys) = KEYED.iter().find(|(known, _)| *known == name)?;
        list.iter().all(Value::is_object).then_some(*keys)
    }

    /// Whether the map `name` counts as one value.
    pub(super) fn is_one_value(self, name: &str) -> bool {
        ONE_VALUE.contains(&name) || self.sensor && name == "limits"
    }
}

/// Whether the list `name` is a set: its order means nothing.
pub(super) fn is_set(name: &str) -> bool {
    SETS.contains(&name)
}

/// The value of a key field, or its default.
pub(super) fn key(item: &Value, name: &str) -> Value {
    match item.get(name) {
        None if name == "protocol" => Value::from("TCP"),
        None if name == "zone" => Value::from("main"),
        value => value.cloned().unwrap_or_default(),
    }
}

/// Whether two items have the same keys; those of a set have none and are equal.
pub(super) fn same_item(keys: &[&str], one: &Value, other: &Value) -> bool {
    if keys.is_empty() { one == other } else { keys.iter().all(|name| key(one, name) == key(other, name)) }
}

/// Where the item with the keys of `item` stands in `list`.
pub(super) fn position(list: &[Value], keys: &[&str], item: &Value) -> Option<usize> {
    list.iter().position(|other| same_item(keys, other, item))
}

/// `path` and a field more, as the program writes it.
pub(super) fn field(path: &str, name: &str) -> String {
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    match (plain, path.is_empty()) {
        (true, true) => name.to_owned(),
        (true, false) => format!("{path}.{name}"),
        (false, _) => format!("{path}[{}]", Value::from(name)),
    }
}

/// `path` and a list item more.
pub(super) fn item(path: &str, keys: &[&str], item: &Value) -> String {
    if keys.is_empty() {
        return format!("{path}[={item}]");
    }
    let keys: Vec<String> = keys.iter().map(|name| format!("{name}={}", key(item, name))).collect();
    format!("{path}[{}]", keys.join(","))
}

/// Whether `path` is `other` or leads to something that `other` stands in.
pub(super) fn is_within(path: &str, other: &str) -> bool {
    let rest = if other == "(root)" || other.is_empty() { return true } else { path.strip_prefix(other) };
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Whether one of two paths stands in the other.
pub(super) fn meet(one: &str, other: &str) -> bool {
    is_within(one, other) || is_within(other, one)
}

/// `path` as the API server writes it in the cause of a conflict: `.data.a.b` for `data["a.b"]`.
pub(super) fn as_server(path: &str) -> String {
    let mut text = String::from(".");
    let mut rest = path;
    while let Some(next) = rest.chars().next() {
        if rest.starts_with("[\"") {
            let end = rest.find("\"]").unwrap_or(rest.len() - 2);
            text.push('.');
            text.push_str(&rest[2..end]);
            rest = &rest[end + 2..];
        } else {
            text.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    text
}
