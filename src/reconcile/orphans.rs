//! Objects that we made and that are no longer desired: of monitoring that was turned off, of a former namespace, of a template that is gone.
//!
//! They are told by the owner reference to the Config or by our field manager, whose names `metadata` has. Only metadata is read.

use std::collections::BTreeSet;

use futures_util::StreamExt;
use futures_util::stream;
use serde_json::Value;

use super::IN_FLIGHT;
use crate::cluster::{Class, Cluster, Error};
use crate::manifest::{Manifest, ObjectId};
use crate::ownership::{Managers, Operation, Owner};

/// The kinds that the built-in templates make. Namespaces hold what is not ours, and custom resource definitions all their objects: neither
/// is ever an orphan.
const KINDS: [(&str, &str); 10] = [
    ("v1", "ConfigMap"),
    ("v1", "Service"),
    ("apps/v1", "DaemonSet"),
    ("monitoring.coreos.com/v1", "ServiceMonitor"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("security.openshift.io/v1", "SecurityContextConstraints"),
    ("storage.k8s.io/v1", "CSIDriver"),
];

/// An object that is no longer desired.
#[derive(Clone, Debug, PartialEq)]
pub struct Orphan {
    /// The object.
    pub id: ObjectId,
    /// Whether it is owned by the Config, and goes with it.
    pub is_owned: bool,
    /// Who else owns fields of it, status aside.
    pub others: Vec<Owner>,
    /// Which object it was when it was seen.
    pub uid: String,
    /// Which version of it.
    pub resource_version: String,
}

/// What there is, and of which kinds that is not known.
#[derive(Clone, Debug, Default)]
pub struct Orphans {
    /// The orphans, in the order of their names.
    pub found: Vec<Orphan>,
    /// The kinds that could not be listed, and why.
    pub unlisted: Vec<(String, Error)>,
}

/// What is desired, for telling what is not.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// What is desired.
    pub manifests: &'a [Manifest],
    /// What the Config says to leave alone.
    pub unmanaged: &'a [ObjectId],
    /// The uid of the Config, if it is there.
    pub uid: Option<&'a str>,
}

/// Lists all kinds that we make, at once.
pub async fn find(cluster: &Cluster, wanted: Wanted<'_>) -> Orphans {
    let mut lists = stream::iter(kinds(wanted.manifests))
        .map(|kind| async move {
            let found =
                cluster.list_metadata(&kind, |object| orphan(&kind, object, wanted, cluster.field_manager())).await;
            (kind.kind, found)
        })
        .buffer_unordered(IN_FLIGHT);
    let mut orphans = Orphans::default();
    while let Some((kind, found)) = lists.next().await {
        match found {
            Ok(found) => orphans.found.extend(found),
            // A kind that is not served has no objects.
            Err(Error::NotServed { .. }) => {}
            Err(Error::Refused(refusal)) if matches!(refusal.class, Class::NotFound { .. }) => {}
            Err(error) => orphans.unlisted.push((kind, error)),
        }
    }
    orphans.found.sort_by(|one, other| one.id.cmp(&other.id));
    orphans.unlisted.sort_by(|one, other| one.0.cmp(&other.0));
    orphans
}

/// The kinds that are looked through: those that the built-in templates make, and those of `manifests`.
pub(super) fn kinds(manifests: &[Manifest]) -> BTreeSet<ObjectId> {
    let made = KINDS.map(|(api_version, kind)| (api_version.to_owned(), kind.to_owned()));
    let desired = manifests.iter().map(|manifest| (manifest.id.api_version.clone(), manifest.id.kind.clone()));
    made.into_iter()
        .chain(desired)
        .filter(|(api_version, kind)| {
            kind != "Namespace" && kind != "CustomResourceDefinition" && api_version != crate::config::API_VERSION
        })
        .map(|(api_version, kind)| ObjectId { api_version, kind, namespace: None, name: String::new() })
        .collect()
}

fn orphan(kind: &ObjectId, object: &Value, wanted: Wanted<'_>, field_manager: &str) -> Option<Orphan> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let id = ObjectId { namespace: text("/metadata/namespace"), name: text("/metadata/name")?, ..kind.clone() };
    let is_desired = wanted.manifests.iter().any(|manifest| manifest.id.is_same_object(&id))
        || wanted.unmanaged.iter().any(|other| other.is_same_object(&id));
    if is_desired || text("/metadata/deletionTimestamp").is_some() {
        return None;
    }
    let references = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let is_owner =
        |reference: &Value| wanted.uid.is_some() && reference.get("uid").and_then(Value::as_str) == wanted.uid;
    let is_owned = references.is_some_and(|references| references.iter().any(is_owner));
    let managers = Managers::of(object);
    if !is_owned && managers.applied_by(field_manager).is_none() {
        return None;
    }
    let is_other = |owner: &Owner| {
        let is_ours = owner.manager == field_manager && owner.operation == Operation::Apply;
        !is_ours && owner.subresource.as_ref().is_none_or(String::is_empty)
    };
    let owners = managers.entries.iter().map(|entry| entry.owner.clone());
    let others = owners.filter(is_other).collect();
    Some(Orphan {
        id,
        is_owned,
        others,
        uid: text("/metadata/uid")?,
        resource_version: text("/metadata/resourceVersion")?,
    })
}

/// What `--prune` did about an orphan.
#[derive(Clone, Debug, PartialEq)]
pub enum Pruned {
    /// It was deleted.
    Deleted,
    /// It was left alone, since others own fields of it.
    Kept,
    /// It could not be deleted.
    Failed(Error),
}

/// Deletes an orphan as it was seen; with `force` also one of which others own fields.
pub async fn prune(cluster: &Cluster, orphan: &Orphan, force: bool, dry_run: bool) -> Pruned {
    if !orphan.others.is_empty() && !force {
        return Pruned::Kept;
    }
    match cluster.delete(&orphan.id, (&orphan.uid, &orphan.resource_version), false, dry_run).await {
        Ok(()) => Pruned::Deleted,
        Err(error) => Pruned::Failed(error),
    }
}
