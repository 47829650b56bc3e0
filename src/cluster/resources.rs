//! Where a kind lives in the API: its plural, whether it is namespaced, which groups and versions are served.
//!
//! The kinds that the Config becomes are known, so that the common run asks the server for nothing but its group list;
//! other kinds (from `--templates`) are looked up once a group and version.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::manifest::ObjectId;

/// How a kind is addressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// `daemonsets`.
    pub plural: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

/// Group, kind, plural, namespaced.
const KNOWN: [(&str, &str, &str, bool); 15] = [
    ("", "ConfigMap", "configmaps", true),
    ("", "Event", "events", true),
    ("", "Namespace", "namespaces", false),
    ("", "Pod", "pods", true),
    ("", "Service", "services", true),
    ("apiregistration.k8s.io", "APIService", "apiservices", false),
    ("apps", "DaemonSet", "daemonsets", true),
    ("bpfman.io", "Config", "configs", false),
    ("monitoring.coreos.com", "ServiceMonitor", "servicemonitors", true),
    ("rbac.authorization.k8s.io", "ClusterRole", "clusterroles", false),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", "clusterrolebindings", false),
    ("rbac.authorization.k8s.io", "Role", "roles", true),
    ("rbac.authorization.k8s.io", "RoleBinding", "rolebindings", true),
    ("security.openshift.io", "SecurityContextConstraints", "securitycontextconstraints", false),
    ("storage.k8s.io", "CSIDriver", "csidrivers", false),
];

impl Resource {
    /// The resource of a kind that every Config needs.
    pub fn known(id: &ObjectId) -> Option<Self> {
        KNOWN
            .iter()
            .find(|(group, kind, ..)| *group == id.group() && *kind == id.kind)
            .map(|(_, _, plural, namespaced)| Self { plural: (*plural).to_owned(), namespaced: *namespaced })
    }

    /// The path of the collection that holds `id`.
    pub fn collection(&self, id: &ObjectId) -> String {
        let root = group_version_path(&id.api_version);
        match id.namespace.as_deref().filter(|_| self.namespaced) {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{}", self.plural),
            None => format!("{root}/{}", self.plural),
        }
    }

    /// The plural with its group, as `kubectl` takes it.
    pub fn qualified(&self, id: &ObjectId) -> String {
        if id.group().is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, id.group()) }
    }
}

/// `/api/v1`, `/apis/apps/v1`.
pub(super) fn group_version_path(api_version: &str) -> String {
    if api_version.contains('/') { format!("/apis/{api_version}") } else { format!("/api/{api_version}") }
}

/// The API groups of a server and their versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served(pub BTreeMap<String, Vec<String>>);

impl Served {
    /// Whether the server has the group, in whatever version.
    pub fn has_group(&self, group: &str) -> bool {
        self.0.contains_key(group)
    }
}

#[derive(Deserialize)]
pub(super) struct GroupList {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    name: String,
    versions: Vec<GroupVersion>,
}

#[derive(Deserialize)]
struct GroupVersion {
    version: String,
}

impl From<GroupList> for Served {
    fn from(list: GroupList) -> Self {
        let versions = |group: Vec<GroupVersion>| group.into_iter().map(|version| version.version).collect();
        Self(list.groups.into_iter().map(|group| (group.name, versions(group.versions))).collect())
    }
}

#[derive(Deserialize)]
pub(super) struct ResourceList {
    resources: Vec<ListedResource>,
}

#[derive(Deserialize)]
struct ListedResource {
    name: String,
    kind: String,
    namespaced: bool,
}

impl ResourceList {
    /// The resource of `kind`, subresources aside.
    pub(super) fn find(self, kind: &str) -> Option<Resource> {
        self.resources
            .into_iter()
            .find(|resource| resource.kind == kind && !resource.name.contains('/'))
            .map(|resource| Resource { plural: resource.name, namespaced: resource.namespaced })
    }
}
