//! Fields of earlier versions of the Config, and what replaced them.
//!
//! Pure. The API version never changed, so only the fields themselves distinguish an old file from an invalid one.

use serde_json::Value;

use crate::path::FieldPath;
use crate::problem::Problem;

/// Former fields and their replacements; `[]` is a list item.
const FIELDS: &[(&str, &str)] = &[
    ("spec.image", "was renamed to spec.daemon.image in January 2026 (bpfman-operator#488)"),
    ("spec.logLevel", "was renamed to spec.daemon.logLevel in January 2026 (bpfman-operator#488)"),
    (
        "spec.agent.healthProbeAddr",
        "was replaced by spec.agent.healthProbePort in September 2025 (bpfman-operator#478)",
    ),
    (
        "spec.daemon.bpffsInitImage",
        "was removed in March 2026 (bpfman-operator#491): spec.agent.image now mounts the BPF file system",
    ),
    ("spec.overrides[].group", "was replaced by apiVersion, for example apps/v1 (bpfman-operator#475)"),
];

/// Keys of the former `ConfigMap` and the fields of the Config that replaced them.
const KEYS: &[(&str, &str)] = &[
    (
        "bpfman.agent.healthprobe.addr",
        "was replaced by spec.agent.healthProbePort of the Config, an integer without a colon",
    ),
    ("bpfman.agent.image", "was replaced by spec.agent.image of the Config"),
    ("bpfman.agent.log.level", "was replaced by spec.agent.logLevel of the Config"),
    ("bpfman.agent.metric.addr", "was removed: the metrics proxy replaced it"),
    ("bpfman.image", "was replaced by spec.daemon.image of the Config"),
    ("bpfman.log.level", "was replaced by spec.daemon.logLevel of the Config"),
    ("bpfman.toml", "was replaced by spec.configuration of the Config"),
];

/// What replaced the former field at `schema_path`.
pub(super) fn field(schema_path: &str) -> Option<&'static str> {
    FIELDS.iter().find(|(old, _)| *old == schema_path).map(|(_, now)| *now)
}

/// Explains how to convert the `ConfigMap` that bpfman-operator v0.5.6 and earlier read; none for another kind.
pub(super) fn config_map(value: &Value) -> Option<Vec<Problem>> {
    if value.get("kind").and_then(Value::as_str) != Some("ConfigMap") {
        return None;
    }
    let root = FieldPath::default();
    let mut problems = vec![Problem::at(
        root.field("kind"),
        "is ConfigMap, must be Config: bpfman-operator no longer reads a ConfigMap (v0.5.6 and earlier did)",
    )];
    let keys = value.get("data").and_then(Value::as_object).into_iter().flatten();
    let explained = keys.filter_map(|(key, _)| KEYS.iter().find(|(old, _)| old == key));
    problems.extend(explained.map(|(key, now)| Problem::at(root.field("data").field(key), *now)));
    Some(problems)
}
