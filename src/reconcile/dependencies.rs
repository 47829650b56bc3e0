//! What a failed object holds up: its namespace's objects, the workloads that read a `ConfigMap`.
//!
//! Pure.

use serde_json::Value;

use super::outcome::{Action, Outcome};
use crate::cluster::Error;
use crate::manifest::{Manifest, ObjectId};

/// What failed that others depend on.
#[derive(Debug, Default)]
pub(super) struct Dependencies {
    namespace: Option<(String, String)>,
    settings: Vec<ObjectId>,
    /// Whether the server gave no usable answer: nothing more is tried.
    pub(super) no_answer: bool,
}

impl Dependencies {
    /// Takes note of what `outcome` means for others.
    pub(super) fn note(&mut self, manifest: &Manifest, outcome: &Outcome) {
        if !outcome.is_failure() {
            return;
        }
        if let Action::Failed(error) = &outcome.action {
            self.no_answer |= error.is_no_answer();
            if let Error::NamespaceMissing(name) | Error::NamespaceTerminating(name) = error {
                self.namespace = Some((name.clone(), error.to_string()));
            }
        }
        if manifest.id.kind == "ConfigMap" {
            self.settings.push(manifest.id.clone());
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self {
            namespace: self.namespace.or(other.namespace),
            settings: [self.settings, other.settings].concat(),
            no_answer: self.no_answer || other.no_answer,
        }
    }

    /// Why `manifest` must wait, if it must.
    pub(super) fn holds_up(&self, manifest: &Manifest) -> Option<String> {
        if let Some((name, reason)) = &self.namespace
            && needs_namespace(manifest, name)
        {
            return Some(reason.clone());
        }
        let reads =
            |id: &&ObjectId| manifest.id.namespace == id.namespace && reads_config_map(&manifest.object, &id.name);
        self.settings.iter().find(reads).map(|id| format!("needs {id}"))
    }
}

/// Whether `manifest` can be applied only once `namespace` exists.
pub(super) fn needs_namespace(manifest: &Manifest, namespace: &str) -> bool {
    manifest.id.namespace.as_deref() == Some(namespace) || grants_to(manifest, namespace)
}

/// Whether a pod of `object` reads the `ConfigMap` of that name.
fn reads_config_map(object: &Value, config_map: &str) -> bool {
    const REFERENCES: [&str; 3] = ["configMap", "configMapKeyRef", "configMapRef"];
    match object {
        Value::Object(fields) => fields.iter().any(|(field, value)| {
            REFERENCES.contains(&field.as_str()) && value.get("name").is_some_and(|name| name == config_map)
                || reads_config_map(value, config_map)
        }),
        Value::Array(items) => items.iter().any(|item| reads_config_map(item, config_map)),
        _ => false,
    }
}

/// Whether `manifest` binds a role to a service account of `namespace`: moved there too early, it takes the role from the
/// service account of the former namespace, whose pods still run.
fn grants_to(manifest: &Manifest, namespace: &str) -> bool {
    let subjects = manifest.object.get("subjects").and_then(Value::as_array);
    subjects.into_iter().flatten().any(|subject| subject.get("namespace").is_some_and(|name| name == namespace))
}
