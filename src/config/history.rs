//! Shapes that a Config had in the past: recognised, so that the message says where each setting stands today.
//!
//! Pure. The API kept its version through all of these changes, so nothing else tells an old file from a wrong one.

use serde_json::Value;

use crate::path::FieldPath;
use crate::problem::Problem;

/// What became of a field that earlier versions had. Paths are written as in the schema, `[]` for an item.
const FIELDS: &[(&str, &str)] = &[
    ("spec.image", "is spec.daemon.image since January 2026 (bpfman-operator#488)"),
    ("spec.logLevel", "is spec.daemon.logLevel since January 2026 (bpfman-operator#488)"),
    ("spec.agent.healthProbeAddr", "is spec.agent.healthProbePort since September 2025 (bpfman-operator#478)"),
    (
        "spec.daemon.bpffsInitImage",
        "is gone since March 2026 (bpfman-operator#491): spec.agent.image mounts the BPF file system",
    ),
    ("spec.overrides[].group", "is apiVersion, group and version, such as apps/v1 (bpfman-operator#475)"),
];

/// What became of the keys of the `ConfigMap` that came before the Config.
const KEYS: &[(&str, &str)] = &[
    ("bpfman.agent.healthprobe.addr", "is spec.agent.healthProbePort in a Config, a number without colon"),
    ("bpfman.agent.image", "is spec.agent.image in a Config"),
    ("bpfman.agent.log.level", "is spec.agent.logLevel in a Config"),
    ("bpfman.agent.metric.addr", "has no field in a Config: the metrics proxy has taken its place"),
    ("bpfman.image", "is spec.daemon.image in a Config"),
    ("bpfman.log.level", "is spec.daemon.logLevel in a Config"),
    ("bpfman.toml", "is spec.configuration in a Config"),
];

/// What became of the field at `schema_path`.
pub(super) fn field(schema_path: &str) -> Option<&'static str> {
    FIELDS.iter().find(|(old, _)| *old == schema_path).map(|(_, now)| *now)
}

/// Explains the `ConfigMap` that the operator read up to v0.5.6; none when `value` is no `ConfigMap`.
pub(super) fn config_map(value: &Value) -> Option<Vec<Problem>> {
    if value.get("kind").and_then(Value::as_str) != Some("ConfigMap") {
        return None;
    }
    let root = FieldPath::default();
    let mut problems = vec![Problem::at(
        root.field("kind"),
        "is ConfigMap: bpfman-operator up to v0.5.6 was configured by one, since then by a Config of bpfman.io/v1alpha1",
    )];
    let keys = value.get("data").and_then(Value::as_object).into_iter().flatten();
    let explained = keys.filter_map(|(key, _)| KEYS.iter().find(|(old, _)| old == key));
    problems.extend(explained.map(|(key, now)| Problem::at(root.field("data").field(key), *now)));
    Some(problems)
}
