//! What a failed object holds up: its namespace's objects, the workloads that read a `ConfigMap`.
//!
//! Pure.

use serde_json::Value;

use super::outcome::{Action, Outcome};
use crate::cluster::Error;
use crate::manifest::{Manifest, Stage};

/// What failed that others depend on.
#[derive(Debug, Default)]
pub(super) struct Dependencies {
    namespace: Option<(String, String)>,
    settings: Option<String>,
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
            self.settings = Some(manifest.id.to_string());
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self {
            namespace: self.namespace.or(other.namespace),
            settings: self.settings.or(other.settings),
            no_answer: self.no_answer || other.no_answer,
        }
    }

    /// Why `manifest` must wait, if it must.
    pub(super) fn holds_up(&self, manifest: &Manifest) -> Option<String> {
        if let Some((name, reason)) = &self.namespace
            && (manifest.id.namespace.as_ref() == Some(name) || grants_to(manifest, name))
        {
            return Some(reason.clone());
        }
        let workload = Stage::of(&manifest.id.kind) == Stage::Workloads;
        self.settings.as_ref().filter(|_| workload).map(|id| format!("depends on {id}"))
    }
}

/// Whether `manifest` binds a role to a service account of `namespace`: moved there too early, it takes the role from the
/// service account of the former namespace, whose pods still run.
fn grants_to(manifest: &Manifest, namespace: &str) -> bool {
    let subjects = manifest.object.get("subjects").and_then(Value::as_array);
    subjects.into_iter().flatten().any(|subject| subject.get("namespace").is_some_and(|name| name == namespace))
}
