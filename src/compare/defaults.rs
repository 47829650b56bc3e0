//! What the API server fills in by itself: the values that stand in an object though nobody asked for them.
//!
//! A client that creates an object with an update is recorded as the owner of what the server filled in. One table of
//! fields and values keeps those from being told as set by others. It is for telling only: what an apply would change
//! is always the server's own answer. The values: <https://kubernetes.io/docs/reference/kubernetes-api/>.

use serde_json::{Value, json};

use crate::ownership::{same, value_at};
use crate::path::{FieldPath, Step};

/// Whether `value` at `path` is what the server fills in where nothing is given.
pub(super) fn is_default(object: &Value, path: &FieldPath, value: &Value) -> bool {
    let Some((Step::Field(name), above)) = path.0.split_last() else { return false };
    let default = match (name.as_str(), value_at(object, &FieldPath(above.to_vec()))) {
        ("imagePullPolicy", Some(container)) => pull_policy(container),
        _ => match object.get("kind").and_then(Value::as_str) {
            Some("Service") => service_default(name),
            Some("Namespace") => namespace_default(name, object),
            _ => pod_default(name),
        },
    };
    default.is_some_and(|default| same(&default, value))
}

fn service_default(field: &str) -> Option<Value> {
    Some(match field {
        "internalTrafficPolicy" => json!("Cluster"),
        "sessionAffinity" => json!("None"),
        "type" => json!("ClusterIP"),
        "ipFamilyPolicy" => json!("SingleStack"),
        "protocol" => json!("TCP"),
        _ => return None,
    })
}

fn namespace_default(field: &str, namespace: &Value) -> Option<Value> {
    match field {
        "kubernetes.io/metadata.name" => namespace.pointer("/metadata/name").cloned(),
        "spec" => Some(json!({"finalizers": ["kubernetes"]})),
        _ => None,
    }
}

fn pod_default(field: &str) -> Option<Value> {
    Some(match field {
        "terminationMessagePath" => json!("/dev/termination-log"),
        "terminationMessagePolicy" => json!("File"),
        "terminationGracePeriodSeconds" => json!(30),
        "resources" | "securityContext" => json!({}),
        "dnsPolicy" => json!("ClusterFirst"),
        "restartPolicy" => json!("Always"),
        "schedulerName" => json!("default-scheduler"),
        "revisionHistoryLimit" => json!(10),
        "updateStrategy" => json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
        "protocol" => json!("TCP"),
        "defaultMode" => json!(420),
        _ => return None,
    })
}

/// `Always` for an image without a tag or with `latest`.
pub(super) fn pull_policy(container: &Value) -> Option<Value> {
    let image = container.get("image").and_then(Value::as_str)?;
    let name = image.rsplit('/').next().unwrap_or(image);
    let moving = !name.contains('@') && name.split_once(':').is_none_or(|(_, tag)| tag == "latest");
    Some(json!(if moving { "Always" } else { "IfNotPresent" }))
}
