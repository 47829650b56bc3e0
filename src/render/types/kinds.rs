//! The kinds that are built into Kubernetes: what is known of each, and what to say of one that is nearly one of them.
//!
//! Pure.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope, Resource, api};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Findings, check_as};
use crate::manifest::ObjectId;
use crate::names;

/// Which one the types are of: the feature of `k8s-openapi` in Cargo.toml.
pub(super) const KUBERNETES: &str = "Kubernetes 1.37";

/// A kind that is built into Kubernetes.
pub(super) struct Kind {
    group: &'static str,
    api_version: &'static str,
    name: &'static str,
    is_namespaced: bool,
    /// Holds an object against the type.
    pub(super) check: fn(&Value) -> Findings,
}

/// What a kind is.
pub(super) enum Match {
    /// This one, in this version.
    Known(&'static Kind),
    /// Perhaps one that is newer or older than we are.
    Doubtful(String),
    /// Certainly meant to be another one.
    Wrong(String),
    /// Nothing of Kubernetes' own.
    Foreign,
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

macro_rules! kinds {
    ($($group:ident::$version:ident: $($name:ident),+;)+) => {
        &[kind::<APIService>(), kind::<CustomResourceDefinition>(), $($(kind::<api::$group::$version::$name>()),+),+]
    };
}

const KINDS: &[Kind] = kinds! {
    admissionregistration::v1: MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration;
    apps::v1: ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet;
    autoscaling::v1: HorizontalPodAutoscaler;
    autoscaling::v2: HorizontalPodAutoscaler;
    batch::v1: CronJob, Job;
    certificates::v1: CertificateSigningRequest, ClusterTrustBundle, PodCertificateRequest;
    coordination::v1: Lease;
    core::v1: ConfigMap, Endpoints, Event, LimitRange, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate, ReplicationController, ResourceQuota, Secret, Service, ServiceAccount;
    discovery::v1: EndpointSlice;
    events::v1: Event;
    flowcontrol::v1: FlowSchema, PriorityLevelConfiguration;
    networking::v1: IPAddress, Ingress, IngressClass, NetworkPolicy, ServiceCIDR;
    node::v1: RuntimeClass;
    policy::v1: PodDisruptionBudget;
    rbac::v1: ClusterRole, ClusterRoleBinding, Role, RoleBinding;
    resource::v1: DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice;
    scheduling::v1: PriorityClass;
    storage::v1: CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment, VolumeAttributesClass;
};

/// Kinds of custom resource definitions that come with bpfman's surroundings: group, kind, and whether they live in a namespace.
const CUSTOM_KINDS: &[(&str, &str, bool)] = &[
    ("monitoring.coreos.com", "PodMonitor", true),
    ("monitoring.coreos.com", "PrometheusRule", true),
    ("monitoring.coreos.com", "ServiceMonitor", true),
    ("security.openshift.io", "SecurityContextConstraints", false),
];

/// Whether objects of this kind live in a namespace; none when only the cluster knows.
pub(in crate::render) fn is_namespaced(id: &ObjectId) -> Option<bool> {
    let built_in = KINDS.iter().map(|known| (known.group, known.name, known.is_namespaced));
    built_in
        .chain(CUSTOM_KINDS.iter().copied())
        .find(|(group, kind, _)| (*group, *kind) == (id.group(), id.kind.as_str()))
        .map(|(_, _, is_namespaced)| is_namespaced)
}

/// Finds the kind of an object.
pub(super) fn find(id: &ObjectId) -> Match {
    let (version, name) = (id.api_version.as_str(), id.kind.as_str());
    if let Some(known) = KINDS.iter().find(|known| (known.api_version, known.name) == (version, name)) {
        return Match::Known(known);
    }
    let own = || KINDS.iter().filter(|known| known.group == id.group());
    // Groups of custom resources have a dot in their name.
    if own().next().is_none() && id.group().contains('.') {
        return Match::Foreign;
    }
    if let Some(known) = own().rfind(|known| known.name == name) {
        return Match::Doubtful(format!("is {version}; {KUBERNETES} has {name} as {}", known.api_version));
    }
    let near = names::nearest(name, own().map(|known| known.name));
    let meant = own().find(|known| Some(known.name) == near);
    match meant.or_else(|| KINDS.iter().find(|known| known.name.eq_ignore_ascii_case(name))) {
        Some(meant) => Match::Wrong(format!(
            "is {}, which {version} has not; did you mean {} ({})?",
            names::quoted(name),
            meant.name,
            meant.api_version
        )),
        None => Match::Doubtful(format!("is {version}, in which no {} is known here", names::quoted(name))),
    }
}
