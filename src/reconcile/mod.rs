//! One pass over the desired objects: read live, plan, execute the plan; and the loop that does so again on every change.
//!
//! Takes manifests and a cluster, gives one result an object; one object's failure never stops the others. What it finds it
//! gives as values, printed elsewhere.

mod blockers;
mod dependencies;
pub mod execute;
mod migrate;
pub mod object;
pub mod obstacles;
pub mod orphans;
pub mod outcome;
pub mod permissions;
pub mod plan;
pub mod policy;
pub mod prepare;
mod recreate;
pub mod rollout;
pub mod settlement;
mod subject;
mod task;
pub mod watch;

use std::collections::BTreeMap;

use futures_util::StreamExt;
use futures_util::stream;
use serde_json::Value;

use crate::cluster::{Cluster, Error};
use crate::manifest::{Manifest, ObjectId};

/// How many requests are in flight at once: an API server takes 100 on one connection.
pub const IN_FLIGHT: usize = 64;

/// What is live of each wanted object.
pub type Live = BTreeMap<ObjectId, Result<Option<Value>, Error>>;

/// Reads the live state of all wanted objects.
pub async fn read_live(cluster: &Cluster, manifests: &[Manifest]) -> Live {
    stream::iter(manifests)
        .map(|manifest| async { (manifest.id.clone(), cluster.get(&manifest.id).await) })
        .buffer_unordered(IN_FLIGHT)
        .collect()
        .await
}
