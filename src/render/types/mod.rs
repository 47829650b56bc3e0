//! Holds a rendered object against the Kubernetes type of its kind: wrong types, unknown fields, duplicate list items.
//!
//! The type only checks: what is sent stays the value that the template gave. Kinds that are not built into Kubernetes, and other
//! versions of those that are, are only known by where they live. Pure.

mod lists;
mod node;
mod scalars;

use k8s_openapi::api::admissionregistration::v1 as admission;
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::batch::v1 as batch;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::networking::v1 as networking;
use k8s_openapi::api::policy::v1 as policy;
use k8s_openapi::api::rbac::v1 as rbac;
use k8s_openapi::api::scheduling::v1 as scheduling;
use k8s_openapi::api::storage::v1 as storage;
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope, Resource};
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::node::Walk;
use crate::manifest::ObjectId;
use crate::names;
use crate::path::{FieldPath, Step};

/// A field and what is to be said about it.
pub(super) type Found = Vec<(FieldPath, String)>;

/// What a type says about an object.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Findings {
    /// What the API server would refuse.
    pub(super) problems: Found,
    /// Fields that a newer Kubernetes may have.
    pub(super) warnings: Found,
}

/// A kind that is built into Kubernetes.
struct Kind {
    group: &'static str,
    api_version: &'static str,
    name: &'static str,
    is_namespaced: bool,
    check: fn(&Value) -> Findings,
}

trait Scope {
    const IS_NAMESPACED: bool;
}

impl Scope for NamespaceResourceScope {
    const IS_NAMESPACED: bool = true;
}

impl Scope for ClusterResourceScope {
    const IS_NAMESPACED: bool = false;
}

const fn kind<K: Resource<Scope: Scope> + DeserializeOwned>() -> Kind {
    Kind {
        group: K::GROUP,
        api_version: K::API_VERSION,
        name: K::KIND,
        is_namespaced: <K::Scope as Scope>::IS_NAMESPACED,
        check: check_as::<K>,
    }
}

/// What a set of manifests for bpfman may hold.
const KINDS: &[Kind] = &[
    kind::<admission::MutatingWebhookConfiguration>(),
    kind::<admission::ValidatingAdmissionPolicy>(),
    kind::<admission::ValidatingAdmissionPolicyBinding>(),
    kind::<admission::ValidatingWebhookConfiguration>(),
    kind::<apps::DaemonSet>(),
    kind::<apps::Deployment>(),
    kind::<apps::StatefulSet>(),
    kind::<batch::CronJob>(),
    kind::<batch::Job>(),
    kind::<core::ConfigMap>(),
    kind::<core::LimitRange>(),
    kind::<core::Namespace>(),
    kind::<core::PersistentVolume>(),
    kind::<core::PersistentVolumeClaim>(),
    kind::<core::Pod>(),
    kind::<core::ResourceQuota>(),
    kind::<core::Secret>(),
    kind::<core::Service>(),
    kind::<core::ServiceAccount>(),
    kind::<networking::Ingress>(),
    kind::<networking::NetworkPolicy>(),
    kind::<policy::PodDisruptionBudget>(),
    kind::<rbac::ClusterRole>(),
    kind::<rbac::ClusterRoleBinding>(),
    kind::<rbac::Role>(),
    kind::<rbac::RoleBinding>(),
    kind::<scheduling::PriorityClass>(),
    kind::<storage::CSIDriver>(),
    kind::<storage::StorageClass>(),
];

/// Kinds of custom resource definitions that come with bpfman's surroundings: group, kind, and whether they live in a namespace.
const CUSTOM_KINDS: &[(&str, &str, bool)] = &[
    ("apiextensions.k8s.io", "CustomResourceDefinition", false),
    ("monitoring.coreos.com", "PodMonitor", true),
    ("monitoring.coreos.com", "PrometheusRule", true),
    ("monitoring.coreos.com", "ServiceMonitor", true),
    ("security.openshift.io", "SecurityContextConstraints", false),
];

/// Whether objects of this kind live in a namespace; none when only the cluster knows.
pub(super) fn is_namespaced(id: &ObjectId) -> Option<bool> {
    let built_in = KINDS.iter().map(|known| (known.group, known.name, known.is_namespaced));
    built_in
        .chain(CUSTOM_KINDS.iter().copied())
        .find(|(group, kind, _)| (*group, *kind) == (id.group(), id.kind.as_str()))
        .map(|(_, _, is_namespaced)| is_namespaced)
}

/// Everything that the type of the object says about it; nothing for a kind or version without a known type.
pub(super) fn check(id: &ObjectId, object: &Value) -> Findings {
    let known = |known: &&Kind| (known.api_version, known.name) == (id.api_version.as_str(), id.kind.as_str());
    let mut findings = KINDS.iter().find(known).map(|known| (known.check)(object)).unwrap_or_default();
    if id.kind == "Secret" {
        findings.problems.iter_mut().for_each(conceal);
    }
    findings
}

/// Takes a secret value out of what is said about it: `is the number 1234, must be a string`.
fn conceal((path, message): &mut (FieldPath, String)) {
    let is_secret = matches!(path.0.first(), Some(Step::Field(name)) if name == "data" || name == "stringData");
    if let Some((_, wanted)) = message.split_once(", must be ").filter(|_| is_secret) {
        *message = format!("must be {wanted}");
    }
}

fn check_as<K: DeserializeOwned>(object: &Value) -> Findings {
    let walk = Walk::default();
    if let Err(error) = K::deserialize(walk.node(object)) {
        walk.problem(format!("cannot be read: {error}"));
    }
    let seen = walk.finish();
    let mut findings = Findings { problems: seen.problems, warnings: Vec::new() };
    for path in seen.unknown {
        match explain(&path, &seen.objects) {
            Some(message) => findings.problems.push((path, message)),
            None => findings.warnings.push((path, "is unknown to Kubernetes 1.37; it is sent as it is".to_owned())),
        }
    }
    findings
}

/// Which field an unknown one was meant to be: one with nearly the same name beside it, or the same name in an object above or
/// below. None when there is neither: then it may be newer than the types.
fn explain(path: &FieldPath, objects: &[(FieldPath, &'static [&'static str])]) -> Option<String> {
    let mut parent = path.clone();
    let Some(Step::Field(name)) = parent.0.pop() else { return None };
    let own = objects.iter().find(|(place, _)| *place == parent).map(|(_, fields)| *fields).unwrap_or_default();
    if let Some(near) = names::nearest(&name, own.iter().copied()) {
        return Some(format!("is no field here; did you mean {near}?"));
    }
    let related = |place: &FieldPath| place.contains(&parent) || parent.contains(place);
    let homes = objects.iter().filter(|(place, fields)| related(place) && fields.contains(&name.as_str()));
    let (home, _) = homes.min_by_key(|(place, _)| place.0.len().abs_diff(parent.0.len()))?;
    Some(format!("is no field here; it belongs at {}", home.field(&name)))
}
