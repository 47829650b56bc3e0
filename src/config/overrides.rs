//! `spec.overrides`: which objects are unmanaged, matched as the operator matches them, and which entries have no effect.
//!
//! Pure. The rule: <https://github.com/bpfman/bpfman-operator/pull/475>.

use serde_json::Value;

use crate::manifest::ObjectId;
use crate::names::quoted;

/// An entry of `spec.overrides`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// `apps/v1`; only the group is compared.
    pub api_version: String,
    /// The exact kind.
    pub kind: String,
    /// The exact namespace; empty for a cluster-scoped object.
    pub namespace: String,
    /// The exact name.
    pub name: String,
    /// Whether the object is unmanaged; an entry with `false` has no effect.
    pub unmanaged: bool,
}

impl Override {
    /// Reads a valid entry.
    pub(super) fn from_valid(value: &Value) -> Self {
        let text = |key| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            api_version: text("apiVersion"),
            kind: text("kind"),
            namespace: text("namespace"),
            name: text("name"),
            unmanaged: value.get("unmanaged").and_then(Value::as_bool).unwrap_or_default(),
        }
    }

    /// Whether the object is unmanaged. A Namespace never is: the operator ignores such an entry.
    pub fn matches(&self, id: &ObjectId) -> bool {
        self.unmanaged && !self.is_namespace() && self.refers_to(id)
    }

    /// Why the entry has no effect, given the objects of this platform and those of other platforms.
    pub fn warning(&self, rendered: &[ObjectId], excluded: &[ObjectId]) -> Option<String> {
        let Some(group) = self.group() else {
            return Some(format!("has no effect: apiVersion {} is not group/version", quoted(&self.api_version)));
        };
        if !self.unmanaged {
            return Some("has no effect: unmanaged is false".to_owned());
        }
        if self.is_namespace() {
            return Some("has no effect: the namespace cannot be left unmanaged".to_owned());
        }
        if rendered.iter().any(|id| self.refers_to(id)) {
            return None;
        }
        if let Some(id) = excluded.iter().find(|id| self.refers_to(id)) {
            return Some(format!("has no effect: {id} is not rendered on this platform"));
        }
        let close = rendered.iter().chain(excluded).find(|id| id.kind == self.kind && id.name == self.name);
        Some(match close {
            Some(id) if id.group() != group => {
                format!("matches nothing: {} {} has apiVersion {}", id.kind, id.name, id.api_version)
            }
            Some(id) => {
                let namespace = quoted(id.namespace.as_deref().unwrap_or_default());
                format!("matches nothing: {} {} has namespace {namespace}", id.kind, id.name)
            }
            None => format!("matches nothing: no {} is named {}", self.kind, quoted(&self.name)),
        })
    }

    fn refers_to(&self, id: &ObjectId) -> bool {
        self.group() == Some(id.group())
            && self.kind == id.kind
            && self.name == id.name
            && self.namespace == id.namespace.as_deref().unwrap_or_default()
    }

    fn is_namespace(&self) -> bool {
        self.kind == "Namespace" && self.group() == Some("")
    }

    /// The group of `api_version`; none when it is not valid.
    fn group(&self) -> Option<&str> {
        match self.api_version.split_once('/') {
            None => Some(""),
            Some((group, version)) => (!version.contains('/')).then_some(group),
        }
    }
}
