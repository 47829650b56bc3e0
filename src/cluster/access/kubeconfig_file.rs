//! One kubeconfig file: from bytes to kube's type.
//!
//! Pure. What is wrong is told by field and expected type, never by value, which may be a secret. Only what is used must be
//! complete, but all of the file must have the right types, as for kubectl.

use kube::config::Kubeconfig;
use serde_json::{Map, Value};

use crate::yaml;

/// The fields that matter here.
const FIELDS: [&str; 6] = ["kind", "apiVersion", "clusters", "users", "contexts", "current-context"];

/// The texts of `interactiveMode` that kube's type has.
const INTERACTIVE_MODES: [&str; 3] = ["Never", "IfAvailable", "Always"];

/// Reads a kubeconfig; the error is what is wrong with it.
pub(super) fn parse(bytes: Vec<u8>) -> Result<Kubeconfig, String> {
    let text = utf8(bytes);
    // Only the first document counts, as for kubectl.
    let document = yaml::documents(&text).next().transpose().map_err(|error| error.to_string())?;
    let Some(Value::Object(mut document)) = document.map(|document| document.value) else {
        return Ok(Kubeconfig::default());
    };
    normalize(&mut document);
    let kubeconfig = serde_path_to_error::deserialize::<_, Kubeconfig>(Value::Object(document))
        .map_err(|error| type_error(&error.path().to_string(), &error.inner().to_string()))?;
    check(&kubeconfig)?;
    Ok(kubeconfig)
}

/// PowerShell's `>` writes UTF-16 with a byte order mark; kubectl reads that too.
fn utf8(bytes: Vec<u8>) -> Vec<u8> {
    let (unit, units): (fn([u8; 2]) -> u16, _) = match bytes.as_slice() {
        [0xFF, 0xFE, units @ ..] => (u16::from_le_bytes, units),
        [0xFE, 0xFF, units @ ..] => (u16::from_be_bytes, units),
        _ => return bytes,
    };
    let (pairs, []) = units.as_chunks::<2>() else { return bytes };
    String::from_utf16(&pairs.iter().copied().map(unit).collect::<Vec<_>>()).map_or(bytes, String::into_bytes)
}

/// Makes kube's types take what kubectl takes: an empty field is one that is not set, a context may have no cluster, an extension
/// no content, and the `interactiveMode` of a plugin matters only when that is run.
fn normalize(document: &mut Map<String, Value>) {
    document.retain(|key, _| FIELDS.contains(&key.as_str()));
    drop_empty(document);
    for (list, kind) in [("clusters", "cluster"), ("users", "user"), ("contexts", "context")] {
        for named in document.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(fields) = named.get_mut(kind).and_then(Value::as_object_mut) else { continue };
            drop_empty(fields);
            if kind == "context" {
                fields.entry("cluster").or_insert_with(|| "".into());
            }
            for extension in fields.get_mut("extensions").and_then(Value::as_array_mut).into_iter().flatten() {
                extension.as_object_mut().map(|extension| extension.entry("extension").or_insert(Value::Null));
            }
            if let Some(exec) = fields.get_mut("exec").and_then(Value::as_object_mut) {
                drop_empty(exec);
                let is_known = |mode: &Value| mode.as_str().is_none_or(|mode| INTERACTIVE_MODES.contains(&mode));
                exec.retain(|key, value| key != "interactiveMode" || is_known(value));
            }
        }
    }
}

fn drop_empty(fields: &mut Map<String, Value>) {
    fields.retain(|_, value| !value.is_null() && value != "");
}

/// Says which type a field must have, out of the text of serde, which ends so and quotes the value before.
fn type_error(path: &str, text: &str) -> String {
    if let Some(field) = text.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        return format!("{path}.{field} is missing");
    }
    let expected = match text.rsplit_once(", expected ").map(|(_, expected)| expected) {
        Some("a string") => "a string; quote what looks like a number or a boolean",
        Some("a boolean") => "true or false",
        Some("a sequence") => "a list",
        Some(other) if other == "a map" || other.starts_with("struct ") => "a mapping",
        _ => "of another type",
    };
    format!("{path} must be {expected}")
}

fn check(kubeconfig: &Kubeconfig) -> Result<(), String> {
    let (kind, version) = (kubeconfig.kind.as_deref(), kubeconfig.api_version.as_deref());
    if kind.is_some_and(|kind| kind != "Config") || version.is_some_and(|version| version != "v1") {
        return Err(format!(
            "kind {:?} of apiVersion {:?} is not supported, it must be kind Config of apiVersion v1",
            kind.unwrap_or_default(),
            version.unwrap_or_default()
        ));
    }
    no_duplicate("clusters", kubeconfig.clusters.iter().map(|named| &named.name))?;
    no_duplicate("users", kubeconfig.auth_infos.iter().map(|named| &named.name))?;
    no_duplicate("contexts", kubeconfig.contexts.iter().map(|named| &named.name))
}

fn no_duplicate<'a>(list: &str, names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!("duplicate name {name:?} in {list}"));
        }
    }
    Ok(())
}
