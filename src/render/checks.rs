//! What the API server would refuse, found before anything is sent: names, sizes, selectors.
//!
//! Pure. The limits:
//! <https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/>,
//! <https://kubernetes.io/docs/concepts/configuration/configmap/>.

use serde_json::{Map, Value};

use crate::manifest::ObjectId;
use crate::names;
use crate::path::{FieldPath, Step};

/// All annotations of an object together, names and values, in bytes.
const ANNOTATIONS_LIMIT: usize = 256 << 10;
/// All values of a `ConfigMap` together, in bytes.
const DATA_LIMIT: usize = 1 << 20;

/// Kinds of which the objects belong to the whole cluster, and kinds of which they live in namespaces. What a kind that is
/// not listed does, only the cluster knows.
const CLUSTER_WIDE: &[(&str, &[&str])] = &[
    ("", &["Namespace", "Node", "PersistentVolume"]),
    ("admissionregistration.k8s.io", &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("rbac.authorization.k8s.io", &["ClusterRole", "ClusterRoleBinding"]),
    ("scheduling.k8s.io", &["PriorityClass"]),
    ("security.openshift.io", &["SecurityContextConstraints"]),
    ("storage.k8s.io", &["CSIDriver", "CSINode", "StorageClass"]),
];
const NAMESPACED: &[(&str, &[&str])] = &[
    ("", &["ConfigMap", "PersistentVolumeClaim", "Pod", "Secret", "Service", "ServiceAccount"]),
    ("apps", &["DaemonSet", "Deployment", "StatefulSet"]),
    ("batch", &["CronJob", "Job"]),
    ("monitoring.coreos.com", &["PodMonitor", "PrometheusRule", "ServiceMonitor"]),
    ("networking.k8s.io", &["Ingress", "NetworkPolicy"]),
    ("rbac.authorization.k8s.io", &["Role", "RoleBinding"]),
];

/// A field and what is wrong with it.
type Found = Vec<(FieldPath, String)>;

/// Everything that the API server would refuse about `object`.
pub(super) fn check(id: &ObjectId, object: &Value) -> Found {
    let mut found = Vec::new();
    metadata(id, object, &mut found);
    annotations(object, &FieldPath::default(), &mut found);
    if id.kind == "ConfigMap" {
        data(object, &mut found);
    }
    selector(object, &mut found);
    found
}

fn metadata(id: &ObjectId, object: &Value, found: &mut Found) {
    let root = FieldPath::default().field("metadata");
    let wrong = match (id.group(), id.kind.as_str()) {
        ("rbac.authorization.k8s.io", _) => names::path_error(&id.name),
        ("", "Namespace" | "Service") => names::label_error(&id.name),
        _ => names::subdomain_error(&id.name),
    };
    found.extend(wrong.map(|message| (root.field("name"), message)));
    let wrong = id.namespace.as_deref().and_then(names::label_error);
    found.extend(wrong.map(|message| (root.field("namespace"), message)));
    found.extend(misplaced(id).map(|message| (root.field("namespace"), message)));
    for field in ["generateName", "deletionTimestamp"] {
        if object.pointer(&format!("/metadata/{field}")).is_some_and(|value| !value.is_null()) {
            found.push((root.field(field), "cannot stand in a template".to_owned()));
        }
    }
}

/// An object without namespace would land in whichever the connection happens to name.
fn misplaced(id: &ObjectId) -> Option<String> {
    let is_in = |kinds: &[(&str, &[&str])]| {
        kinds.iter().any(|(group, kinds)| *group == id.group() && kinds.contains(&id.kind.as_str()))
    };
    match &id.namespace {
        None if is_in(NAMESPACED) => Some(format!("is missing: a {} lives in a namespace", id.kind)),
        Some(_) if is_in(CLUSTER_WIDE) => Some(format!("must go: a {} is one for the whole cluster", id.kind)),
        _ => None,
    }
}

/// Sums up every annotation map: the object's own, and that of a pod template.
fn annotations(value: &Value, path: &FieldPath, found: &mut Found) {
    let own = value.pointer("/metadata/annotations").and_then(Value::as_object);
    let place = path.field("metadata").field("annotations");
    if let Some(annotations) = own {
        let size = |(key, value): (&String, &Value)| key.len() + length(value);
        too_big(annotations, size, ANNOTATIONS_LIMIT, &place, found);
    }
    if let Some(template) = value.pointer("/spec/template") {
        annotations(template, &path.field("spec").field("template"), found);
    }
}

fn data(object: &Value, found: &mut Found) {
    for field in ["data", "binaryData"] {
        if let Some(data) = object.get(field).and_then(Value::as_object) {
            too_big(data, |(_, value)| length(value), DATA_LIMIT, &FieldPath::default().field(field), found);
        }
    }
}

fn too_big(
    map: &Map<String, Value>,
    size: impl Fn((&String, &Value)) -> usize,
    limit: usize,
    path: &FieldPath,
    found: &mut Found,
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

/// A selector that does not choose the pods of its own template is refused, and cannot be changed later.
fn selector(object: &Value, found: &mut Found) {
    let wanted = object.pointer("/spec/selector/matchLabels").and_then(Value::as_object);
    let Some((wanted, template)) = wanted.zip(object.pointer("/spec/template")) else {
        return;
    };
    let labels = template.pointer("/metadata/labels");
    let place = FieldPath::default().field("spec").field("selector").field("matchLabels");
    for (key, value) in wanted {
        let label = labels.and_then(|labels| labels.get(key));
        if label != Some(value) {
            let has = label.map_or("has no such label".to_owned(), |label| format!("has {label}"));
            let message = format!("is {value}, but the pod template {has}: the selector would not choose its pods");
            found.push((place.join(Step::Field(key.clone())), message));
        }
    }
}
