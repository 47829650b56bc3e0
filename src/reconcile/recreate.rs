//! Deleting an object and creating it again, where immutable fields differ.

use std::time::Duration;

use serde_json::Value;

use super::outcome::{Action, Outcome};
use crate::cluster::{ApplyParams, Cluster, Error};
use crate::manifest::Manifest;

/// How long, and how often, the end of the old object is waited for.
const WAIT: Duration = Duration::from_millis(250);
const MOST_WAITS: u32 = 480;

/// Kinds that are never deleted: with them goes what is not ours.
pub(super) fn is_possible(manifest: &Manifest) -> bool {
    !matches!(manifest.id.kind.as_str(), "Namespace" | "CustomResourceDefinition" | "Config")
}

/// Whether the pods of a kind go before the object itself, so that the new ones find their ports and files free.
pub(super) fn has_pods(manifest: &Manifest) -> bool {
    matches!(manifest.id.kind.as_str(), "DaemonSet" | "Deployment" | "StatefulSet" | "Job" | "ReplicaSet")
}

/// Deletes the object that was read as `live`, waits until it is gone, and creates it.
pub(super) async fn recreate(cluster: &Cluster, manifest: &Manifest, live: &Value) -> Outcome {
    let text = |pointer| live.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (uid, version) = (text("/metadata/uid"), text("/metadata/resourceVersion"));
    let created = async {
        cluster.delete(&manifest.id, (uid, version), has_pods(manifest), false).await?;
        gone(cluster, manifest, uid).await?;
        cluster.apply(&manifest.id, &manifest.object, ApplyParams::default()).await
    };
    match created.await {
        Ok(applied) => {
            Outcome { warnings: applied.warnings, object: Some(applied.object), ..Outcome::of(Action::Recreated) }
        }
        Err(error) => Outcome::of(Action::Failed(error)),
    }
}

/// Waits until the object of this uid is gone; a finalizer may hold it.
async fn gone(cluster: &Cluster, manifest: &Manifest, uid: &str) -> Result<(), Error> {
    for _ in 0..MOST_WAITS {
        match cluster.get(&manifest.id).await? {
            Some(object) if object.pointer("/metadata/uid").is_some_and(|found| found == uid) => {
                tokio::time::sleep(WAIT).await;
            }
            _ => return Ok(()),
        }
    }
    Err(Error::Terminating)
}
