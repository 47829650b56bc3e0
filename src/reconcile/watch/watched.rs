//! The connection for one object: which request it makes, and what is known by it.

use super::Time;
use super::backoff::Backoff;
use super::known::Known;
use crate::cluster::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Listing,
    Watching,
    Waiting(Time),
    /// Until the next list, where there are too many watches.
    Polling(Time),
    /// Until the outage ends.
    Parked,
}

/// The connection for one object.
#[derive(Debug)]
pub struct Watched {
    /// What is known of the object.
    pub known: Known,
    /// Why it is unknown.
    pub error: Option<Error>,
    /// Tells the current connection from its predecessors, whose events are late.
    pub(super) connection: u64,
    pub(super) phase: Phase,
    pub(super) since: Time,
    pub(super) open: bool,
    /// The version that the watch continues from.
    pub(super) version: String,
    pub(super) relist_at: Time,
    pub(super) backoff: Backoff,
    pub(super) told: Option<Error>,
}

impl Watched {
    /// Nothing is known yet; the list is due.
    pub(super) fn new(now: Time) -> Self {
        Self {
            known: Known::default(),
            error: None,
            connection: 0,
            phase: Phase::Waiting(now),
            since: now,
            open: false,
            version: String::new(),
            relist_at: now,
            backoff: Backoff::default(),
            told: None,
        }
    }

    pub(super) fn next_at(&self) -> Option<Time> {
        match self.phase {
            Phase::Waiting(until) | Phase::Polling(until) => Some(until),
            Phase::Watching => Some(self.known.confirm_at().map_or(self.relist_at, |at| at.min(self.relist_at))),
            Phase::Listing | Phase::Parked => None,
        }
    }

    pub(super) fn moved_on(&mut self, object: &serde_json::Value) {
        if let Some(version) = object.pointer("/metadata/resourceVersion").and_then(serde_json::Value::as_str) {
            version.clone_into(&mut self.version);
        }
    }
}
