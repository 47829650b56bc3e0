//! What an apply does to pods: how many start anew and how many at once, and which pull policies stay from an earlier image.
//!
//! Pure.

use serde_json::Value;

use super::changes::Change;
use super::defaults;
use crate::ownership::value_at;
use crate::path::{FieldPath, Step};

/// The pods that an apply starts anew.
#[derive(Clone, Debug, PartialEq)]
pub struct Restart {
    /// On how many nodes, or how many there are; none when no controller has said so.
    pub pods: Option<u64>,
    /// How many at once, as the object has it: `1`, `10%`.
    pub at_once: Option<String>,
    /// Whether they start anew only when somebody deletes them.
    pub on_delete: bool,
}

/// What happens to the pods of `live` when it becomes `desired`; none when nothing in their template changes.
pub(super) fn restart(live: &Value, desired: &Value, changes: &[Change]) -> Option<Restart> {
    let template = FieldPath::default().field("spec").field("template");
    if !has_pods(desired) || !changes.iter().any(|change| template.contains(&change.path)) {
        return None;
    }
    let number = |pointer| live.pointer(pointer).and_then(Value::as_u64).filter(|number| *number > 0);
    let strategy = |pointer: &str| {
        ["updateStrategy", "strategy"].into_iter().find_map(|name| desired.pointer(&format!("/spec/{name}{pointer}")))
    };
    Some(Restart {
        pods: number("/status/desiredNumberScheduled").or_else(|| number("/status/replicas")),
        at_once: strategy("/rollingUpdate/maxUnavailable").map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }),
        on_delete: strategy("/type").is_some_and(|kind| kind == "OnDelete"),
    })
}

fn has_pods(object: &Value) -> bool {
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
    matches!(kind, "DaemonSet" | "Deployment" | "StatefulSet")
}

/// The pull policies that were the default of the live image and stay, though another is that of the desired image: with their values.
pub(super) fn stale_pull_policies(desired: &Value, changes: &[Change]) -> Vec<(FieldPath, String)> {
    let stale = |change: &Change| {
        let (last, container) = change.path.0.split_last()?;
        let container = FieldPath(container.to_vec());
        let object = value_at(desired, &container).filter(|_| *last == Step::Field("image".to_owned()))?;
        let policy = object.get("imagePullPolicy")?;
        let before = serde_json::json!({"image": change.live});
        let was_default = defaults::pull_policy(&before).as_ref() == Some(policy);
        let is_default = defaults::pull_policy(object).as_ref() == Some(policy);
        (was_default && !is_default)
            .then(|| (container.field("imagePullPolicy"), policy.as_str().unwrap_or_default().to_owned()))
    };
    changes.iter().filter_map(stale).collect()
}
