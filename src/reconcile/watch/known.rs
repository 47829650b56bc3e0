//! What is known of one object, from three sources that overtake each other: lists, watch events, and answers to our writes.
//!
//! Pure. A list that began after our last write is always right, also when its version is lower: etcd may have been restored
//! from a backup. A watch event that contradicts what is known is not followed; it makes the object doubtful, and a list decides.

use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use super::{Live, Time};
use crate::config::Lifecycle;

/// How long a watch may take to show us our own write before it is read again.
const CONFIRMED_WITHIN: Duration = Duration::from_secs(20);

/// What a source changed about what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// The object is another one than before, or is known again.
    Changed,
    /// The source contradicts what is known: read it again.
    Doubtful,
}

/// The state of an object as far as it is known.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// None while it is unknown.
    live: Option<Live>,
    /// Our own write that the watch has not shown yet: its version, and when it was answered.
    written: Option<(Option<u128>, Time)>,
    /// The newest version that a list or a watch has shown: what is older contradicts it.
    newest: Option<u128>,
    /// The uid of the object that was deleted last; it never comes back but from a backup.
    dead: Option<String>,
}

impl Known {
    /// The live object; `None` when its state is unknown.
    pub fn live(&self) -> Option<&Live> {
        self.live.as_ref()
    }

    /// Takes over the result of a list that began at `began`.
    pub fn listed(&mut self, object: Option<Value>, list_version: &str, began: Time) -> Effect {
        if let Some((written, answered)) = self.written
            && began < answered
            && object.as_ref().is_none_or(|object| version(object) < written)
        {
            return Effect::Doubtful; // it may have been read before our write
        }
        self.written = None;
        self.dead = None;
        // Of an object the list says how old it is; without one, that there was none up to then.
        self.newest = object.as_ref().map_or_else(|| list_version.parse().ok(), version);
        self.set(object)
    }

    /// Takes over an `ADDED` or `MODIFIED` event.
    pub fn changed(&mut self, object: Value) -> Effect {
        if self.is_overtaken(&object) {
            return Effect::None;
        }
        let Lifecycle { uid, .. } = Lifecycle::of(&object);
        if (uid.is_some() && uid == self.dead) || version(&object) < self.newest {
            return Effect::Doubtful;
        }
        self.written = None;
        self.newest = version(&object);
        self.set(Some(object))
    }

    /// Takes over a `DELETED` event.
    pub fn deleted(&mut self, object: &Value) -> Effect {
        if self.is_overtaken(object) {
            return Effect::None;
        }
        let uid = Lifecycle::of(object).uid;
        match &self.live {
            Some(Some(known)) if Lifecycle::of(known).uid != uid => return Effect::Doubtful,
            _ => {}
        }
        self.written = None;
        self.newest = version(object);
        self.dead = uid;
        self.set(None)
    }

    /// Takes over the answer to our own write.
    pub fn written(&mut self, object: Value, now: Time) -> Effect {
        let uid = Lifecycle::of(&object).uid;
        if uid.is_some() && uid == self.dead {
            return Effect::None; // deleted meanwhile, and the watch was faster
        }
        match &self.live {
            Some(Some(known)) if Lifecycle::of(known).uid == uid && version(known) >= version(&object) => {
                // Older than what is known: the watch was faster, or a backup was restored.
                if version(known) > version(&object) { Effect::Doubtful } else { Effect::None }
            }
            _ => {
                self.written = Some((version(&object), now));
                self.set(Some(object))
            }
        }
    }

    /// Forgets the state: the watch is broken.
    pub fn lost(&mut self) -> Effect {
        self.written = None;
        if self.live.take().is_some() { Effect::Changed } else { Effect::None }
    }

    /// When a write of ours that the watch has not shown must be read again.
    pub fn confirm_at(&self) -> Option<Time> {
        self.written.map(|(_, answered)| answered + CONFIRMED_WITHIN)
    }

    /// Whether an event is older than our own write: we know what came of it.
    fn is_overtaken(&self, object: &Value) -> bool {
        self.written.is_some_and(|(written, _)| version(object) < written)
    }

    fn set(&mut self, object: Option<Value>) -> Effect {
        let same = match (&self.live, &object) {
            (Some(None), None) => true,
            (Some(Some(known)), Some(object)) => **known == *object,
            _ => false,
        };
        if same {
            return Effect::None;
        }
        self.live = Some(object.map(Rc::new));
        Effect::Changed
    }
}

/// Resource versions of one object can be compared as numbers
/// (<https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions>).
fn version(object: &Value) -> Option<u128> {
    object.pointer("/metadata/resourceVersion")?.as_str()?.parse().ok()
}
