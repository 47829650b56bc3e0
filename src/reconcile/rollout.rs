//! Whether the pods of a `DaemonSet` are the ones that it asks for, on every node.
//!
//! The rules are those of `kubectl rollout status`
//! (<https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/#watching-the-rolling-update-status>).

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::select_all;
use serde_json::Value;
use tokio::time::{Instant, interval_at, sleep_until};

use super::obstacles;
use crate::cluster::{self, Cluster, Error, Seen};
use crate::manifest::{Manifest, ObjectId};
use crate::signals::Stop;

/// How often the pods are looked at while a rollout is waited for.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// After so many looks in a row an obstacle counts as one that stays.
const LOOKS: u32 = 4;

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
    /// The time ran out, with these not complete, and what is known of why.
    TimedOut(Vec<(ObjectId, Option<String>)>),
    /// One cannot complete, and why.
    Stuck(ObjectId, String),
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
    let mut waiting = Waiting::new();
    let mut watches = Vec::new();
    for manifest in manifests.iter().filter(|manifest| manifest.id.kind == "DaemonSet") {
        watches.push(cluster::watch(cluster, manifest.id.clone()).await?);
        waiting.insert(manifest.id.clone(), None);
    }
    let mut events = select_all(watches);
    let mut looks = interval_at(Instant::now() + LOOK_EVERY, LOOK_EVERY);
    let mut stuck = Stuck::default();
    while !waiting.is_empty() {
        let next = tokio::select! {
            next = events.next() => next,
            _ = stop.first() => return Ok(Waited::Stopped),
            () = sleep_until(deadline) => {
                let why = |id: ObjectId| { let why = stuck.why(&id); (id, why) };
                return Ok(Waited::TimedOut(waiting.into_keys().map(why).collect()));
            }
            _ = looks.tick() => {
                if let Some((id, why)) = stuck.look(cluster, &waiting).await {
                    return Ok(Waited::Stuck(id, why));
                }
                continue;
            }
        };
        match next {
            Some(Seen { id, state: Ok(Some(daemon_set)) }) => {
                let progress = Progress::of(&daemon_set);
                tell(&id, &progress);
                if progress.done() {
                    waiting.remove(&id);
                } else if let Some(why) = obstacles::on_delete(&daemon_set).filter(|_| progress.observed) {
                    return Ok(Waited::Stuck(id, why));
                } else if let Some(known) = waiting.get_mut(&id) {
                    *known = Some(daemon_set);
                }
            }
            Some(Seen { state: Err(error), .. }) if error.is_forbidden() => return Err(error),
            // A broken watch is started again.
            _ => {}
        }
    }
    Ok(Waited::Done)
}

/// The rollouts that are waited for, as they were seen last.
type Waiting = BTreeMap<ObjectId, Option<Value>>;

/// What stands in the way of each rollout, and how often in a row that was seen.
#[derive(Default)]
struct Stuck(BTreeMap<ObjectId, (String, u32)>);

impl Stuck {
    /// Looks at the pods and events of all that is waited for; gives the first that will not complete by itself.
    async fn look(&mut self, cluster: &Cluster, waiting: &Waiting) -> Option<(ObjectId, String)> {
        for (id, daemon_set) in waiting {
            let Some(daemon_set) = daemon_set else { continue };
            match obstacle(cluster, id, daemon_set).await {
                None => drop(self.0.remove(id)),
                Some(why) => {
                    let seen = self.0.get(id).map_or(0, |(_, seen)| *seen) + 1;
                    if seen >= LOOKS {
                        return Some((id.clone(), why));
                    }
                    self.0.insert(id.clone(), (why, seen));
                }
            }
        }
        None
    }

    fn why(&self, id: &ObjectId) -> Option<String> {
        self.0.get(id).map(|(why, _)| why.clone())
    }
}

/// Reads the pods and the events; who may not read them does not know of obstacles.
async fn obstacle(cluster: &Cluster, id: &ObjectId, daemon_set: &Value) -> Option<String> {
    let in_namespace = |kind: &str| ObjectId { api_version: "v1".to_owned(), kind: kind.to_owned(), ..id.clone() };
    let labels = daemon_set.pointer("/spec/selector/matchLabels").and_then(Value::as_object);
    let labels = labels.into_iter().flatten().filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?)));
    let labels = labels.collect::<Vec<_>>().join(",");
    let uid = daemon_set.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
    let about = format!("involvedObject.uid={uid},reason=FailedCreate");
    let (pods, events) = (in_namespace("Pod"), in_namespace("Event"));
    let (pods, events) = tokio::join!(cluster.list(&pods, &labels, ""), cluster.list(&events, "", &about));
    obstacles::find(daemon_set, &pods.unwrap_or_default(), &events.unwrap_or_default())
}
