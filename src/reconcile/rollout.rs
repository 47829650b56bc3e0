//! Whether the pods of a `DaemonSet` are the ones that it asks for, on every node.
//!
//! The rules are those of `kubectl rollout status`
//! (<https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/#watching-the-rolling-update-status>).

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::select_all;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::cluster::{self, Cluster, Error, Seen};
use crate::manifest::{Manifest, ObjectId};
use crate::signals::Stop;

/// How far a rollout is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Nodes that should run a pod.
    pub desired: u64,
    /// Nodes that run the newest pod.
    pub updated: u64,
    /// Nodes whose pod is available.
    pub available: u64,
    /// Whether the controller has seen the newest generation.
    pub observed: bool,
}

impl Progress {
    /// Reads the status of a `DaemonSet`.
    pub fn of(daemon_set: &Value) -> Self {
        let number = |pointer| daemon_set.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
        Self {
            desired: number("/status/desiredNumberScheduled"),
            updated: number("/status/updatedNumberScheduled"),
            available: number("/status/numberAvailable"),
            observed: number("/status/observedGeneration") >= number("/metadata/generation"),
        }
    }

    /// Whether every node runs the newest pod.
    pub fn done(&self) -> bool {
        self.observed && self.updated >= self.desired && self.available >= self.desired
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { desired, updated, available, observed } = self;
        if !observed {
            return f.write_str("its controller has not seen it yet");
        }
        write!(f, "{updated} of {desired} nodes updated, {available} available")
    }
}

/// Why the wait ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Waited {
    /// All rollouts are complete.
    Done,
    /// The time ran out, with these not complete.
    TimedOut(Vec<ObjectId>),
    /// A signal came.
    Stopped,
}

/// Waits for the rollouts of all `DaemonSet`s among `manifests`, and tells each step of one.
pub async fn wait(
    cluster: &Cluster,
    manifests: &[Manifest],
    limit: Duration,
    stop: &Stop,
    mut tell: impl FnMut(&ObjectId, &Progress),
) -> Result<Waited, Error> {
    let deadline = Instant::now() + limit;
    let mut waiting = BTreeSet::new();
    let mut watches = Vec::new();
    for manifest in manifests.iter().filter(|manifest| manifest.id.kind == "DaemonSet") {
        watches.push(cluster::watch(cluster, manifest.id.clone()).await?);
        waiting.insert(manifest.id.clone());
    }
    let mut events = select_all(watches);
    while !waiting.is_empty() {
        let next = tokio::select! {
            next = timeout_at(deadline, events.next()) => next,
            _ = stop.first() => return Ok(Waited::Stopped),
        };
        match next {
            Err(_) => return Ok(Waited::TimedOut(waiting.into_iter().collect())),
            Ok(Some(Seen { id, state: Ok(Some(daemon_set)) })) => {
                let progress = Progress::of(&daemon_set);
                tell(&id, &progress);
                if progress.done() {
                    waiting.remove(&id);
                }
            }
            Ok(Some(Seen { state: Err(error), .. })) if error.is_forbidden() => return Err(error),
            // A broken watch is started again.
            Ok(_) => {}
        }
    }
    Ok(Waited::Done)
}
