//! Which permissions a command needs: one table of its requests, written as RBAC roles.
//!
//! An apply of an object that is not there is authorized as a create of that name, too, so that everything can be limited to names but lists of
//! whole kinds and what is deleted. Pure; <https://kubernetes.io/docs/reference/access-authn-authz/rbac/>.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::orphans;
use super::watch::apis::{PLATFORM_APIS, is_optional, service};
use crate::cluster::Resource;
use crate::manifest::{Manifest, ObjectId};

/// What is to be permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To compare with the server's dry run, and to look for what is no longer desired.
    Diff,
    /// To apply once.
    Apply {
        /// The namespace may be created.
        create_namespace: bool,
        /// What is no longer desired is deleted.
        prune: bool,
        /// Rollouts are waited for.
        wait: bool,
        /// What cannot be changed is deleted and created again.
        recreate: bool,
    },
    /// To apply on every change.
    Watch {
        /// The namespace may be created.
        create_namespace: bool,
        /// The platform depends on what the server serves.
        platform_is_auto: bool,
    },
}

/// What is desired, for which the permissions are.
pub struct Subject<'a> {
    /// The identity of the Config.
    pub config: ObjectId,
    /// Whether the Config itself is compared or applied.
    pub from_file: bool,
    /// The desired objects.
    pub manifests: &'a [Manifest],
    /// How a kind is addressed.
    pub resources: &'a BTreeMap<(String, String), Resource>,
}

/// Where a rule holds: in the whole cluster, or in a namespace.
type Scope = Option<String>;
/// Group, resource, and the name that it is limited to.
type Target = (String, String, Option<String>);

/// The rules of a purpose, before those that say the same of several objects become one.
#[derive(Default)]
struct Rules(BTreeMap<(Scope, Target), BTreeSet<&'static str>>);

impl Rules {
    fn permit(&mut self, scope: Scope, (group, resource, name): (&str, &str, Option<&str>), verbs: &[&'static str]) {
        let target = (group.to_owned(), resource.to_owned(), name.map(str::to_owned));
        self.0.entry((scope, target)).or_default().extend(verbs);
    }
}

impl Subject<'_> {
    /// The roles that permit `purpose`, named `name`: one for the cluster, and one in each namespace that has objects.
    pub fn roles(&self, purpose: Purpose, name: &str) -> Vec<Value> {
        let mut rules = Rules::default();
        self.permit_config(purpose, &mut rules);
        for manifest in self.manifests {
            self.permit_object(manifest, purpose, &mut rules);
        }
        match purpose {
            Purpose::Diff => self.permit_kinds(&["list"], &mut rules),
            Purpose::Apply { prune: true, .. } => self.permit_kinds(&["list", "delete"], &mut rules),
            Purpose::Apply { .. } => {}
            Purpose::Watch { platform_is_auto, .. } => self.permit_apis(platform_is_auto, &mut rules),
        }
        roles(rules, name)
    }

    fn permit_config(&self, purpose: Purpose, rules: &mut Rules) {
        let (group, name) = (self.config.group(), Some(self.config.name.as_str()));
        let mut verbs = vec!["get"];
        match purpose {
            Purpose::Diff | Purpose::Apply { .. } if self.from_file => verbs.extend(["patch", "create"]),
            Purpose::Diff | Purpose::Apply { .. } => {}
            Purpose::Watch { .. } => verbs.extend(["list", "watch", "patch"]),
        }
        rules.permit(None, (group, "configs", name), &verbs);
        // For owner references that block the deletion of the owner, where the server checks them.
        rules.permit(None, (group, "configs/finalizers", name), &["update"]);
    }

    fn permit_object(&self, manifest: &Manifest, purpose: Purpose, rules: &mut Rules) {
        let Some(resource) = self.resource(&manifest.id) else { return };
        let (group, name) = (manifest.id.group(), Some(manifest.id.name.as_str()));
        let is_namespace = manifest.id.kind == "Namespace";
        let mut verbs = vec!["get", "patch"];
        let creates = match purpose {
            Purpose::Diff => true,
            Purpose::Apply { create_namespace, .. } | Purpose::Watch { create_namespace, .. } => {
                !is_namespace || create_namespace
            }
        };
        verbs.extend(creates.then_some("create"));
        let waits = matches!(purpose, Purpose::Apply { wait: true, .. }) && manifest.id.kind == "DaemonSet";
        if waits || matches!(purpose, Purpose::Watch { .. }) {
            verbs.extend(["list", "watch"]);
        }
        verbs.extend(matches!(purpose, Purpose::Apply { recreate: true, .. } if !is_namespace).then_some("delete"));
        let scope = manifest.id.namespace.clone().filter(|_| resource.namespaced);
        rules.permit(scope.clone(), (group, &resource.plural, name), &verbs);
        if waits {
            rules.permit(scope.clone(), ("", "pods", None), &["list"]);
            rules.permit(scope.clone(), ("", "events", None), &["list"]);
        }
        permit_grants(manifest, &resource.plural, scope, rules);
    }

    /// The kinds whose objects are looked through for what is no longer desired.
    fn permit_kinds(&self, verbs: &[&'static str], rules: &mut Rules) {
        for kind in orphans::kinds(self.manifests) {
            if let Some(resource) = self.resource(&kind) {
                rules.permit(None, (kind.group(), &resource.plural, None), verbs);
            }
        }
    }

    /// The APIs that come and go.
    fn permit_apis(&self, platform_is_auto: bool, rules: &mut Rules) {
        let versions = self.manifests.iter().map(|manifest| manifest.id.api_version.as_str());
        let versions = versions.filter(|version| is_optional(version)).chain([self.config.api_version.as_str()]);
        let platform = PLATFORM_APIS.into_iter().filter(|_| platform_is_auto);
        for id in versions.chain(platform).filter_map(service) {
            rules.permit(None, (id.group(), "apiservices", Some(&id.name)), &["list", "watch"]);
        }
    }

    fn resource(&self, id: &ObjectId) -> Option<Resource> {
        let key = (id.api_version.clone(), id.kind.clone());
        Resource::known(id).or_else(|| self.resources.get(&key).cloned())
    }
}

/// Nobody may grant what they do not have, unless these verbs allow it
/// (<https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping>).
fn permit_grants(manifest: &Manifest, plural: &str, scope: Scope, rules: &mut Rules) {
    if manifest.id.group() != "rbac.authorization.k8s.io" {
        return;
    }
    let group = manifest.id.group();
    let text = |pointer| manifest.object.pointer(pointer).and_then(Value::as_str);
    match (plural, text("/roleRef/kind"), text("/roleRef/name")) {
        ("roles" | "clusterroles", ..) => {
            rules.permit(scope, (group, plural, Some(&manifest.id.name)), &["escalate"]);
        }
        // A binding is authorized where it stands, also one of a role of the whole cluster.
        (_, Some("ClusterRole"), Some(role)) => rules.permit(scope, (group, "clusterroles", Some(role)), &["bind"]),
        (_, _, Some(role)) => rules.permit(scope, (group, "roles", Some(role)), &["bind"]),
        _ => {}
    }
}

/// A rule without its names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rule {
    group: String,
    resource: String,
    verbs: Vec<&'static str>,
    /// Whether it is limited to names.
    is_limited: bool,
}

impl Rule {
    fn written(self, names: &[String]) -> Value {
        let Self { group, resource, verbs, is_limited } = self;
        let mut rule = json!({"apiGroups": [group], "resources": [resource], "verbs": verbs});
        if let (true, Some(fields)) = (is_limited, rule.as_object_mut()) {
            fields.insert("resourceNames".to_owned(), json!(names));
        }
        rule
    }
}

/// Writes the rules; those of one group and resource with the same verbs are one.
fn roles(Rules(rules): Rules, name: &str) -> Vec<Value> {
    let mut scopes: BTreeMap<Scope, BTreeMap<Rule, Vec<String>>> = BTreeMap::new();
    for ((scope, (group, resource, object)), verbs) in rules {
        let verbs = VERBS.into_iter().filter(|verb| verbs.contains(verb)).collect();
        let rule = Rule { group, resource, verbs, is_limited: object.is_some() };
        scopes.entry(scope).or_default().entry(rule).or_default().extend(object);
    }
    let role = |(scope, rules): (Scope, BTreeMap<Rule, Vec<String>>)| {
        let kind = if scope.is_some() { "Role" } else { "ClusterRole" };
        let mut metadata = json!({"name": name});
        if let (Some(namespace), Some(fields)) = (scope, metadata.as_object_mut()) {
            fields.insert("namespace".to_owned(), json!(namespace));
        }
        let rules: Vec<Value> = rules.into_iter().map(|(rule, names)| rule.written(&names)).collect();
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "rules": rules})
    };
    scopes.into_iter().map(role).collect()
}

/// All verbs, in the order in which people write them.
const VERBS: [&str; 9] = ["get", "list", "watch", "create", "update", "patch", "delete", "bind", "escalate"];

/// A binding of `role` to a service account.
pub fn binding(role: &Value, (namespace, account): (&str, &str)) -> Value {
    let text = |pointer| role.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": format!("{}Binding", text("/kind")),
        "metadata": role.get("metadata"),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": text("/kind"), "name": text("/metadata/name")},
        "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": account}],
    })
}
