//! The desired objects: identity, JSON value, and the order of applying. Pure data.

use std::fmt;

use serde_json::Value;
use thiserror::Error;

/// The limit of all annotations of an object, keys and values, in bytes
/// (<https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/>).
pub(crate) const ANNOTATIONS_LIMIT: usize = 256 << 10;
/// The limit of all values of a `ConfigMap`, in bytes (<https://kubernetes.io/docs/concepts/configuration/configmap/>).
pub(crate) const CONFIG_MAP_LIMIT: usize = 1 << 20;

/// The identity of an object in a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    /// `v1`, `apps/v1`.
    pub api_version: String,
    /// `DaemonSet`.
    pub kind: String,
    /// The namespace; none for a cluster-scoped object.
    pub namespace: Option<String>,
    /// `metadata.name`.
    pub name: String,
}

/// An object has no identity.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{field} is missing or not a string")]
pub struct Unnamed {
    /// `apiVersion`, `kind` or `metadata.name`.
    pub field: &'static str,
}

impl ObjectId {
    /// Reads the identity of `object`.
    pub fn of(object: &Value) -> Result<Self, Unnamed> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            api_version: text("/apiVersion").ok_or(Unnamed { field: "apiVersion" })?,
            kind: text("/kind").ok_or(Unnamed { field: "kind" })?,
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name").ok_or(Unnamed { field: "metadata.name" })?,
        })
    }

    /// With the namespace: `daemonset.apps/bpfman-daemon in bpfman`.
    pub fn full_name(&self) -> String {
        self.namespace.as_ref().map_or_else(|| self.to_string(), |namespace| format!("{self} in {namespace}"))
    }

    /// Whether `other` is this object, perhaps in another version of its kind.
    pub fn is_same_object(&self, other: &Self) -> bool {
        let parts = |id: &Self| (id.group().to_owned(), id.kind.clone(), id.namespace.clone(), id.name.clone());
        parts(self) == parts(other)
    }

    /// The API group, `apps`; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// The version, `v1`.
    pub fn version(&self) -> &str {
        self.api_version.split_once('/').map_or(self.api_version.as_str(), |(_, version)| version)
    }
}

impl fmt::Display for ObjectId {
    /// As kubectl prints it: `daemonset.apps/bpfman-daemon`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.to_lowercase())?;
        if !self.group().is_empty() {
            write!(f, ".{}", self.group())?;
        }
        write!(f, "/{}", self.name)
    }
}

/// A desired object.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Its identity, read from `object`.
    pub id: ObjectId,
    /// The whole object, as it is sent.
    pub object: Value,
    /// The file of its template, for messages.
    pub source: String,
}

impl Manifest {
    /// Whether this is the custom resource definition of the kind of `id`.
    pub fn defines(&self, id: &ObjectId) -> bool {
        let text = |pointer| self.object.pointer(pointer).and_then(Value::as_str);
        self.id.kind == "CustomResourceDefinition"
            && text("/spec/group") == Some(id.group())
            && text("/spec/names/kind") == Some(&id.kind)
    }
}

/// The position of a kind in the order of applying: dependencies first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Custom resource definitions: without them their kinds are not served.
    Definitions,
    /// The namespace, with the pod-security labels that the pods need.
    Namespace,
    /// RBAC and `SecurityContextConstraints`.
    Permissions,
    /// `ConfigMap`s, the CSI driver, and all other kinds.
    Settings,
    /// Services.
    Services,
    /// Service monitors.
    Monitors,
    /// Kinds that start pods.
    Workloads,
}

impl Stage {
    /// The stage of `kind`.
    pub fn of(kind: &str) -> Self {
        match kind {
            "CustomResourceDefinition" => Self::Definitions,
            "Namespace" => Self::Namespace,
            "ServiceAccount"
            | "Role"
            | "ClusterRole"
            | "RoleBinding"
            | "ClusterRoleBinding"
            | "SecurityContextConstraints" => Self::Permissions,
            "Service" => Self::Services,
            "ServiceMonitor" | "PodMonitor" => Self::Monitors,
            "DaemonSet" | "Deployment" | "StatefulSet" | "Job" | "CronJob" | "Pod" => Self::Workloads,
            _ => Self::Settings,
        }
    }
}
