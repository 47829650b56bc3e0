//! Validates what the API server would reject: names, sizes, selectors.
//!
//! Pure.

use serde_json::{Map, Value};

use super::types::{self, FieldMessages};
use crate::manifest::{ANNOTATIONS_LIMIT, CONFIG_MAP_LIMIT, ObjectId};
use crate::names;
use crate::path::{FieldPath, Step};

/// Everything that the API server would reject in `object`.
pub(super) fn check(id: &ObjectId, object: &Value) -> FieldMessages {
    let mut found = Vec::new();
    kind(id, &mut found);
    metadata(id, object, &mut found);
    annotations(object, &FieldPath::default(), &mut found);
    if id.kind == "ConfigMap" {
        data(object, &mut found);
    }
    selector(object, &mut found);
    found
}

/// Both become part of paths: of requests, and of the files of an output directory.
fn kind(id: &ObjectId, found: &mut FieldMessages) {
    let root = FieldPath::default();
    if names::label_error(&id.kind.to_lowercase()).is_some() {
        let message =
            format!("is {}, must be a name such as DaemonSet, of letters and digits", names::quoted(&id.kind));
        found.push((root.field("kind"), message));
    }
    let has_group = id.api_version.contains('/');
    let is_wrong =
        has_group && names::subdomain_error(id.group()).is_some() || names::label_error(id.version()).is_some();
    if is_wrong {
        let message = format!("is {}, must be a version such as v1, or apps/v1", names::quoted(&id.api_version));
        found.push((root.field("apiVersion"), message));
    }
}

fn metadata(id: &ObjectId, object: &Value, found: &mut FieldMessages) {
    let root = FieldPath::default().field("metadata");
    let error = match (id.group(), id.kind.as_str()) {
        ("rbac.authorization.k8s.io", _) | (_, "APIService" | "ClusterTrustBundle" | "IPAddress") => {
            names::path_error(&id.name)
        }
        ("", "Namespace" | "Service") => names::label_error(&id.name),
        _ if types::is_namespaced(id).is_some() => names::subdomain_error(&id.name),
        // The rule of a custom resource is not known.
        _ => names::path_error(&id.name),
    };
    found.extend(error.map(|message| (root.field("name"), message)));
    let error = id.namespace.as_deref().and_then(names::label_error);
    found.extend(error.map(|message| (root.field("namespace"), message)));
    found.extend(scope_error(id).map(|message| (root.field("namespace"), message)));
    if object.pointer("/metadata/generateName").is_some_and(|value| !value.is_null()) {
        found.push((root.field("generateName"), "must not be set in a template".to_owned()));
    }
}

/// A namespaced object without a namespace would be created in the namespace of the kubeconfig context.
fn scope_error(id: &ObjectId) -> Option<String> {
    match (types::is_namespaced(id)?, &id.namespace) {
        (true, None) => Some(format!("is missing: a {} is namespaced", id.kind)),
        (false, Some(_)) => Some(format!("must not be set: a {} is cluster-scoped", id.kind)),
        _ => None,
    }
}

/// Checks the size of the annotations of the object and of its pod template.
fn annotations(value: &Value, path: &FieldPath, found: &mut FieldMessages) {
    let own = value.pointer("/metadata/annotations").and_then(Value::as_object);
    let place = path.field("metadata").field("annotations");
    if let Some(annotations) = own {
        let size = |(key, value): (&String, &Value)| key.len() + length(value);
        check_size(annotations, size, ANNOTATIONS_LIMIT, &place, found);
    }
    if let Some(template) = value.pointer("/spec/template") {
        annotations(template, &path.field("spec").field("template"), found);
    }
}

fn data(object: &Value, found: &mut FieldMessages) {
    for field in ["data", "binaryData"] {
        if let Some(data) = object.get(field).and_then(Value::as_object) {
            check_size(data, |(_, value)| length(value), CONFIG_MAP_LIMIT, &FieldPath::default().field(field), found);
        }
    }
}

fn check_size(
    map: &Map<String, Value>,
    size: impl Fn((&String, &Value)) -> usize,
    limit: usize,
    path: &FieldPath,
    found: &mut FieldMessages,
) {
    let total: usize = map.iter().map(&size).sum();
    let Some((largest, value)) = map.iter().max_by_key(|entry| size(*entry)).filter(|_| total > limit) else {
        return;
    };
    let message = format!(
        "has {total} bytes, at most {limit} are allowed; the largest is {largest} with {} bytes",
        size((largest, value))
    );
    found.push((path.clone(), message));
}

fn length(value: &Value) -> usize {
    value.as_str().map_or(0, str::len)
}

/// The API server rejects a selector that does not match the pod template, and the selector is immutable.
fn selector(object: &Value, found: &mut FieldMessages) {
    let Some((selector, template)) = object.pointer("/spec/selector").zip(object.pointer("/spec/template")) else {
        return;
    };
    let label = |key: &str| template.pointer("/metadata/labels").and_then(|labels| labels.get(key));
    let has = |key: &str| label(key).map_or("has no such label".to_owned(), |label| format!("has {label}"));
    let path = FieldPath::default().field("spec").field("selector");
    let mut mismatch = |path: FieldPath, requirement: String, key: &str| {
        let has = has(key);
        found.push((path, format!("{requirement}, but the pod template {has}: the selector must match its labels")));
    };
    for (key, value) in selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten() {
        if label(key) != Some(value) {
            mismatch(path.field("matchLabels").field(key), format!("is {value}"), key);
        }
    }
    let expressions = selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten();
    for (position, expression) in expressions.enumerate() {
        let key = expression.get("key").and_then(Value::as_str).unwrap_or_default();
        if matches_label(expression, label(key)) == Some(false) {
            let place = path.field("matchExpressions").join(Step::Index(position));
            mismatch(place, format!("is {expression}"), key);
        }
    }
}

/// Whether a `matchExpressions` entry matches a label
/// (<https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#set-based-requirement>); none when it is not valid.
fn matches_label(expression: &Value, label: Option<&Value>) -> Option<bool> {
    let values = expression.get("values").and_then(Value::as_array);
    let among = || Some(label.is_some_and(|label| values.is_some_and(|values| values.contains(label))));
    match expression.get("operator")?.as_str()? {
        "In" => among(),
        "NotIn" => among().map(|is_in| !is_in),
        "Exists" => Some(label.is_some()),
        "DoesNotExist" => Some(label.is_none()),
        _ => None,
    }
}
