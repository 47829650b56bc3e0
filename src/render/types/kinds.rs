//! The kinds that are built into Kubernetes, their scope and type, and suggestions for misspelled ones.
//!
//! Pure.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope, Resource, api};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{TypeFindings, check_as};
use crate::manifest::ObjectId;
use crate::names;

/// The version of the types: the feature of `k8s-openapi` in Cargo.toml.
pub(super) const KUBERNETES: &str = "Kubernetes 1.37";

/// A kind that is built into Kubernetes.
pub(super) struct Kind {
    group: &'static str,
    api_version: &'static str,
    name: &'static str,
    is_namespaced: bool,
    /// Validates an object of the kind.
    pub(super) check: fn(&Value) -> TypeFindings,
}

/// The result of looking up a kind.
pub(super) enum Match {
    /// A built-in kind.
    BuiltIn(&'static Kind),
    /// Possibly a kind of another version of Kubernetes; a warning.
    OtherVersion(String),
    /// A misspelled built-in kind; an error.
    Misspelled(String),
    /// A custom resource.
    Custom,
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

/// Custom resources that bpfman is commonly deployed with: group, kind, whether they are namespaced.
const CUSTOM_KINDS: &[(&str, &str, bool)] = &[
    ("monitoring.coreos.com", "PodMonitor", true),
    ("monitoring.coreos.com", "PrometheusRule", true),
    ("monitoring.coreos.com", "ServiceMonitor", true),
    ("security.openshift.io", "SecurityContextConstraints", false),
];

/// Whether the kind is namespaced; none when only the cluster knows.
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
        return Match::BuiltIn(known);
    }
    let own = || KINDS.iter().filter(|known| known.group == id.group());
    // Groups of custom resources have a dot in their name.
    if own().next().is_none() && id.group().contains('.') {
        return Match::Custom;
    }
    if let Some(known) = own().rfind(|known| known.name == name) {
        return Match::OtherVersion(format!("is {version}; in {KUBERNETES}, {name} is in {}", known.api_version));
    }
    let near = names::nearest(name, own().map(|known| known.name));
    let meant = own().find(|known| Some(known.name) == near);
    match meant.or_else(|| KINDS.iter().find(|known| known.name.eq_ignore_ascii_case(name))) {
        Some(meant) => Match::Misspelled(format!(
            "is {}, which is not a kind of {version}; did you mean {} ({})?",
            names::quoted(name),
            meant.name,
            meant.api_version
        )),
        None => Match::OtherVersion(format!("is {version}, which has no kind {} in {KUBERNETES}", names::quoted(name))),
    }
}
