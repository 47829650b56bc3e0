//! The time in which the server gives no usable answer: who asks again, when, and the two lines that tell of it.

use std::time::Duration;

use super::backoff::{Backoff, Jitter};
use super::{Action, Event, Time};
use crate::cluster::Error;
use crate::manifest::ObjectId;

const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// A server that is ready again is noticed within five seconds; only one request at a time asks for it.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// After so long without an outage the pauses start over.
const STABLE: Duration = Duration::from_secs(10);

/// Whether the server answers.
#[derive(Debug, Default)]
pub struct Outage {
    active: Option<Active>,
    /// Reported as begun and not yet as ended: since when.
    told: Option<Time>,
    opened: Option<Time>,
    backoff: Backoff,
}

#[derive(Debug)]
struct Active {
    next: Time,
    probe: Option<ObjectId>,
    /// Whether connections broke or fell silent, in contrast to a server that answers and cannot serve.
    broke_connections: bool,
}

impl Outage {
    /// Whether there is one.
    pub fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// Whether it was reported.
    pub fn is_reported(&self) -> bool {
        self.active.is_some() && self.told.is_some()
    }

    /// A request for `id` got no usable answer.
    pub fn failed(
        &mut self,
        id: &ObjectId,
        error: Error,
        retry_after: Option<Duration>,
        now: Time,
        jitter: &mut Jitter,
        out: &mut Vec<Action>,
    ) {
        let broke = matches!(error, Error::Unreachable { .. } | Error::TimedOut { .. });
        match &mut self.active {
            Some(active) => {
                active.broke_connections |= broke;
                // The others that fail now are the same outage.
                if active.probe.as_ref() != Some(id) {
                    return;
                }
            }
            None if self.opened.is_none_or(|opened| now >= opened + STABLE) => self.backoff.reset(),
            None => {}
        }
        // A server that starts asks for up to ten seconds, and may be ready in one; an overloaded one (429) means what it says.
        let is_starting = matches!(error, Error::Unusable { code: 503, .. });
        let asked =
            if is_starting { super::bounded(retry_after).min(LONGEST_PAUSE) } else { super::bounded(retry_after) };
        let pause = self.backoff.next(FIRST_PAUSE, LONGEST_PAUSE, jitter).max(asked);
        let broke_connections = broke || self.active.as_ref().is_some_and(|active| active.broke_connections);
        self.active = Some(Active { next: now + pause, probe: None, broke_connections });
        if self.told.is_none() {
            self.told = Some(now);
            out.push(Action::Report(Event::OutageBegan(error)));
        }
    }

    /// A connection broke: one request finds out whether the server is still there, the others wait for its answer.
    pub fn suspected(&mut self, next: Time) {
        self.active.get_or_insert(Active { next, probe: None, broke_connections: false });
    }

    /// The server answered; returns whether the outage broke connections, if there was one.
    pub fn answered(&mut self) -> Option<bool> {
        self.active.take().map(|active| active.broke_connections)
    }

    /// A watch is open: the outage is over for whoever reads the log, too.
    pub fn opened(&mut self, now: Time, out: &mut Vec<Action>) {
        if self.active.is_none() {
            self.opened = Some(now);
            if let Some(since) = self.told.take() {
                out.push(Action::Report(Event::OutageEnded(now.saturating_sub(since))));
            }
        }
    }

    /// Decides who asks now; `candidate` is the first of those that wait.
    pub fn probe(&mut self, candidate: Option<&ObjectId>, now: Time) -> Option<ObjectId> {
        let active = self.active.as_mut()?;
        let Some(candidate) = candidate else {
            if active.probe.is_none() {
                self.active = None; // nobody is left who failed
            }
            return None;
        };
        if active.probe.is_some() || now < active.next {
            return None;
        }
        active.probe = Some(candidate.clone());
        active.probe.clone()
    }

    /// When the next request is due.
    pub fn probe_at(&self) -> Option<Time> {
        self.active.as_ref().filter(|active| active.probe.is_none()).map(|active| active.next)
    }

    /// `id` is not watched any more.
    pub fn forget(&mut self, id: &ObjectId) {
        if let Some(active) = self.active.as_mut().filter(|active| active.probe.as_ref() == Some(id)) {
            active.probe = None;
        }
    }
}
