//! What the loop remembers of its tries: what an apply cannot improve, and what failed and must wait.
//!
//! Without it, an apply that changes nothing would be sent again on each event, and a refused one on each of them too.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::cluster::Error;
use crate::compare::{self, Verdict};
use crate::manifest::{Manifest, ObjectId};
use crate::reconcile::outcome::{Action, Outcome};

const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The tries of every object.
#[derive(Default)]
pub(super) struct Memory {
    settled: BTreeMap<ObjectId, (Value, Option<Value>)>,
    failed: BTreeMap<ObjectId, Failed>,
    troubles: BTreeMap<ObjectId, Error>,
}

struct Failed {
    times: u32,
    not_before: Instant,
}

impl Memory {
    /// Whether an apply of `manifest` over `live` may help, now.
    pub(super) fn may_try(&self, manifest: &Manifest, live: Option<&Value>) -> bool {
        let waits = self.failed.get(&manifest.id).is_some_and(|failed| failed.not_before > Instant::now());
        let settled = self
            .settled
            .get(&manifest.id)
            .is_some_and(|(desired, seen)| *desired == manifest.object && *seen == live.map(substance));
        !waits && !settled
    }

    /// When the next object that failed may be tried again.
    pub(super) fn next_try(&self) -> Option<Instant> {
        self.failed.values().map(|failed| failed.not_before).min()
    }

    /// Forgets what was tried: the object is as wanted, or not known.
    pub(super) fn forget(&mut self, id: &ObjectId) {
        self.failed.remove(id);
        self.settled.remove(id);
    }

    /// Whether objects are left as they are though they deviate: only observed, or waiting after a failure.
    pub(super) fn has_deviating(&self, observing: bool) -> bool {
        !self.failed.is_empty() || (observing && !self.settled.is_empty())
    }

    /// Learns from what became of an apply.
    pub(super) fn learn(&mut self, manifest: &Manifest, outcome: &Outcome, field_manager: &str) {
        match (&outcome.action, &outcome.object) {
            (Action::Failed(_) | Action::Skipped(_) | Action::Blocked, _) => self.put_off(&manifest.id),
            (_, Some(object)) => {
                self.failed.remove(&manifest.id);
                // The server's own way of writing it: the next apply would change as little.
                if !matches!(compare::in_sync(&manifest.object, object, field_manager), Verdict::InSync) {
                    self.observed(manifest, Some(object));
                }
            }
            (_, None) => {
                self.failed.remove(&manifest.id);
            }
        }
    }

    /// Lets an object wait, longer each time.
    pub(super) fn put_off(&mut self, id: &ObjectId) {
        let times = self.failed.get(id).map_or(0, |failed| failed.times);
        let wait = Duration::from_secs(1 << times.min(6)).min(LONGEST_WAIT);
        self.failed.insert(id.clone(), Failed { times: times + 1, not_before: Instant::now() + wait });
    }

    /// Takes `live` as what there is to have of `manifest`, until one of the two changes.
    pub(super) fn observed(&mut self, manifest: &Manifest, live: Option<&Value>) {
        self.settled.insert(manifest.id.clone(), (manifest.object.clone(), live.map(substance)));
    }

    /// Whether this trouble of a watch was not told yet.
    pub(super) fn is_news(&mut self, id: &ObjectId, error: &Error) -> bool {
        self.troubles.insert(id.clone(), error.clone()).is_none_or(|known| known != *error)
    }
}

/// An object without what moves by itself: versions, status, and the times of ownership.
fn substance(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
        metadata.remove("generation");
        let entries = metadata.get_mut("managedFields").and_then(Value::as_array_mut);
        for entry in entries.into_iter().flatten().filter_map(Value::as_object_mut) {
            entry.remove("time");
        }
    }
    object
}
