//! The list and the watch of every object: which request to make next, when, and what an outage means.
//!
//! Pure: takes observations and the time, gives the next requests. While the server gives no usable answer only one request at
//! a time asks for it; its first answer resumes all others, so that an outage costs little and its end is noticed by everyone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::backoff::Jitter;
use super::known::Effect;
use super::outage::Outage;
use super::watched::{Phase, Watched};
use super::{Action, Event, Observation, Time};
use crate::cluster::Error;
use crate::manifest::ObjectId;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// A connection carries a limited number of streams (100 for kube-apiserver, `--http2-max-streams-per-connection`), and other
/// requests need some, too. What is beyond that is listed from time to time.
const MOST_WATCHES: usize = 80;
const LISTED_EVERY: Duration = Duration::from_secs(30);
/// Without the first object there is nothing to do; a server that has just started may refuse it for a moment.
const LONGEST_PAUSE_OF_FIRST: Duration = Duration::from_secs(5);
/// A watch that lived this long was a good one: pauses start over.
const STABLE: Duration = Duration::from_secs(5);

/// The connections for all objects.
#[derive(Debug)]
pub struct Connections {
    watched: BTreeMap<ObjectId, Watched>,
    /// The object that asks first during an outage, and last gives up.
    first: ObjectId,
    outage: Outage,
    jitter: Jitter,
    next: u64,
    resync: Duration,
}

impl Connections {
    /// Prepares connections that read every object again each `resync`; `first` is the one that asks during an outage.
    pub fn new(first: ObjectId, resync: Duration, jitter: Jitter) -> Self {
        Self { watched: BTreeMap::new(), first, outage: Outage::default(), jitter, next: 0, resync }
    }

    /// The connection for `id`; none when it is not watched.
    pub fn get(&self, id: &ObjectId) -> Option<&Watched> {
        self.watched.get(id)
    }

    /// Whether the state of `id` is known and its watch is open, so that no change can go unseen.
    pub fn is_open(&self, id: &ObjectId) -> bool {
        self.watched.get(id).is_some_and(|watched| watched.open && watched.known.live().is_some())
    }

    /// Whether the server gives no usable answer at present.
    pub fn is_out(&self) -> bool {
        self.outage.is_active()
    }

    /// The same, reported: more than one connection that broke.
    pub fn is_known_to_be_out(&self) -> bool {
        self.outage.is_reported()
    }

    /// Watches exactly `ids` from now on.
    pub fn want(&mut self, ids: &BTreeSet<ObjectId>, now: Time, out: &mut Vec<Action>) {
        let gone: Vec<_> = self.watched.keys().filter(|id| !ids.contains(*id)).cloned().collect();
        for id in gone {
            self.watched.remove(&id);
            self.outage.forget(&id);
            out.push(Action::Disconnect(id));
        }
        for id in ids {
            if !self.watched.contains_key(id) {
                self.watched.insert(id.clone(), Watched::new(now));
            }
        }
    }

    /// Takes over what the connection `connection` for `id` saw.
    pub fn seen(
        &mut self,
        id: &ObjectId,
        connection: u64,
        observation: Observation,
        now: Time,
        out: &mut Vec<Action>,
    ) -> Effect {
        let Some(watched) = self.watched.get_mut(id).filter(|watched| watched.connection == connection) else {
            return Effect::None;
        };
        match observation {
            Observation::Listed { object, version } => {
                let effect = watched.known.listed(object, &version, watched.since);
                watched.error = None;
                watched.relist_at = now + self.jitter.spread(self.resync);
                watched.version = version;
                self.answered(id, now);
                if effect == Effect::Doubtful {
                    self.pause_then_list(id, now);
                } else if self.may_watch_another() {
                    self.connect(id, Phase::Watching, now, out);
                } else {
                    self.poll(id, now, out);
                }
                effect
            }
            Observation::Opened => {
                self.opened(id, now, out);
                Effect::Changed
            }
            Observation::Changed(object) => {
                watched.moved_on(&object);
                let effect = watched.known.changed(object);
                self.followed(id, effect, now)
            }
            Observation::Deleted(object) => {
                watched.moved_on(&object);
                let effect = watched.known.deleted(&object);
                self.followed(id, effect, now)
            }
            Observation::Bookmark(version) => {
                watched.version = version;
                Effect::None
            }
            Observation::Ended => {
                let brief = now < watched.since + STABLE;
                watched.open = false;
                if brief {
                    self.pause_then_list(id, now);
                } else {
                    watched.backoff.reset();
                    self.connect(id, Phase::Watching, now, out);
                }
                Effect::None
            }
            Observation::Interrupted => {
                let pause = if now < watched.since + STABLE { FIRST_PAUSE } else { Duration::ZERO };
                watched.open = false;
                watched.phase = Phase::Parked;
                self.outage.suspected(now + pause);
                Effect::None
            }
            Observation::Failed { error, retry_after } => self.failed(id, error, retry_after, now, out),
        }
    }

    fn followed(&mut self, id: &ObjectId, effect: Effect, now: Time) -> Effect {
        if effect == Effect::Doubtful {
            self.pause_then_list(id, now);
        }
        effect
    }

    fn failed(
        &mut self,
        id: &ObjectId,
        error: Error,
        retry_after: Option<Duration>,
        now: Time,
        out: &mut Vec<Action>,
    ) -> Effect {
        // A server that answers others is not away; a kind whose CRD was just created is busy for a moment.
        let is_of_one = matches!(error, Error::Unusable { .. })
            && self.watched.iter().any(|(other, watched)| other != id && watched.open);
        let Some(watched) = self.watched.get_mut(id) else { return Effect::None };
        let stable = watched.open && now >= watched.since + STABLE;
        watched.open = false;
        let effect = watched.known.lost();
        watched.error = Some(error.clone());
        if error.is_no_answer() && !is_of_one {
            watched.phase = Phase::Parked;
            self.outage.failed(id, error, retry_after, now, &mut self.jitter, out);
            return effect;
        }
        if stable {
            watched.backoff.reset();
        }
        let cap = if *id == self.first { LONGEST_PAUSE_OF_FIRST } else { longest_pause(&error) };
        let pause = watched.backoff.next(FIRST_PAUSE, cap, &mut self.jitter);
        watched.phase = Phase::Waiting(now + pause.max(super::bounded(retry_after)));
        let passes = is_of_one && watched.backoff.failures() < 2;
        if !passes && watched.told.as_ref() != Some(&error) {
            watched.told = Some(error.clone());
            out.push(Action::Report(Event::Unknown(id.clone(), error)));
        }
        self.answered(id, now);
        effect
    }

    /// The server answered: whoever waits for that goes on.
    fn answered(&mut self, by: &ObjectId, now: Time) {
        let Some(broke_connections) = self.outage.answered() else { return };
        for (id, watched) in &mut self.watched {
            let resumes = match watched.phase {
                Phase::Parked | Phase::Waiting(_) => true,
                // A connection from before the outage may be dead without knowing.
                Phase::Watching | Phase::Listing | Phase::Polling(_) => broke_connections,
            };
            if id != by && resumes {
                watched.phase = Phase::Waiting(now);
                watched.backoff.reset();
            }
        }
    }

    /// What was refused to one and is granted now may be granted to the others, too: a server that has just started, a new role.
    fn retry_refused(&mut self, now: Time) {
        for watched in self.watched.values_mut().filter(|watched| watched.error.is_some()) {
            if let Phase::Waiting(until) = &mut watched.phase {
                *until = now.min(*until);
            }
        }
    }

    fn may_watch_another(&self) -> bool {
        self.watched.values().filter(|watched| watched.phase == Phase::Watching).count() < MOST_WATCHES
    }

    fn poll(&mut self, id: &ObjectId, now: Time, out: &mut Vec<Action>) {
        let pause = self.jitter.spread(LISTED_EVERY);
        if let Some(watched) = self.watched.get_mut(id) {
            watched.phase = Phase::Polling(now + pause);
            watched.backoff.reset();
        }
        self.opened(id, now, out);
    }

    /// The state of `id` is known, and changes will be seen.
    fn opened(&mut self, id: &ObjectId, now: Time, out: &mut Vec<Action>) {
        let Some(watched) = self.watched.get_mut(id) else { return };
        watched.open = true;
        if watched.told.take().is_some() {
            out.push(Action::Report(Event::KnownAgain(id.clone())));
            self.retry_refused(now);
        }
        self.outage.opened(now, out);
    }

    fn pause_then_list(&mut self, id: &ObjectId, now: Time) {
        let Some(watched) = self.watched.get_mut(id) else { return };
        let pause = watched.backoff.next(FIRST_PAUSE, longest_pause_of_doubt(), &mut self.jitter);
        watched.open = false;
        watched.phase = Phase::Waiting(now + pause);
    }

    /// Takes over the answer to our own write.
    pub fn written(&mut self, id: &ObjectId, object: serde_json::Value, now: Time) {
        let Some(watched) = self.watched.get_mut(id).filter(|watched| watched.known.live().is_some()) else { return };
        if watched.known.written(object, now) == Effect::Doubtful {
            self.read_again(id, now);
        }
    }

    /// Reads `id` again at once, whatever it waits for.
    pub fn read_again(&mut self, id: &ObjectId, now: Time) {
        let phase = if self.outage.is_active() { Phase::Parked } else { Phase::Waiting(now) };
        if let Some(watched) = self.watched.get_mut(id).filter(|watched| watched.phase != Phase::Listing) {
            watched.backoff.reset();
            watched.phase = phase;
        }
    }

    /// Makes the requests whose time has come.
    pub fn tick(&mut self, now: Time, out: &mut Vec<Action>) {
        let parked: Vec<ObjectId> = self.ids_in(|watched| watched.phase == Phase::Parked);
        if self.outage.is_active() {
            let probe = parked.iter().find(|id| **id == self.first).or(parked.first());
            if let Some(probe) = self.outage.probe(probe, now) {
                self.connect(&probe, Phase::Listing, now, out);
            }
        }
        for id in self.ids_in(|watched| watched.next_at().is_some_and(|at| at <= now)) {
            self.connect(&id, Phase::Listing, now, out);
        }
    }

    /// When `tick` has something to do.
    pub fn wake_at(&self) -> Option<Time> {
        self.watched.values().filter_map(Watched::next_at).chain(self.outage.probe_at()).min()
    }

    fn ids_in(&self, is: impl Fn(&Watched) -> bool) -> Vec<ObjectId> {
        self.watched.iter().filter(|(_, watched)| is(watched)).map(|(id, _)| id.clone()).collect()
    }

    fn connect(&mut self, id: &ObjectId, phase: Phase, now: Time, out: &mut Vec<Action>) {
        let Some(watched) = self.watched.get_mut(id) else { return };
        self.next += 1;
        watched.connection = self.next;
        watched.since = now;
        // Of an object that is listed from time to time the last list counts until the next.
        watched.open &= matches!(watched.phase, Phase::Polling(_));
        watched.phase = phase;
        let from = (phase == Phase::Watching).then(|| watched.version.clone());
        out.push(Action::Connect { id: id.clone(), connection: self.next, from });
    }
}

/// A kind that is not served may come at any time; a right that is missing comes more rarely.
fn longest_pause(error: &Error) -> Duration {
    let comes_soon = matches!(error, Error::NotServed { .. } | Error::Unusable { .. });
    Duration::from_secs(if comes_soon { 8 } else { 30 })
}

fn longest_pause_of_doubt() -> Duration {
    Duration::from_secs(10)
}
