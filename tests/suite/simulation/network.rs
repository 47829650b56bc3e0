//! How lists and watches are answered, and how connections break and stall.

use std::time::Duration;

use bpfman_config::cluster::Error;
use bpfman_config::manifest::ObjectId;
use bpfman_config::reconcile::watch::{Input, Observation, Time};

use super::driver::{Condition, Next, Simulation};
use super::{server, world};

impl Simulation {
    /// What a request gets by the condition of the server; none when it is answered.
    pub(super) fn disturbed(&self) -> Option<(Error, Duration)> {
        let at_once = Duration::from_millis(2);
        match self.condition {
            Condition::Up => None,
            Condition::Down => Some((world::unreachable(), at_once)),
            Condition::Silent => Some((world::silent(10), Duration::from_secs(10))),
            Condition::Busy => Some((world::busy(), at_once)),
            Condition::NotReady => Some((world::forbidden(), at_once)),
        }
    }

    /// The server answers a list or a watch.
    pub(super) fn answer(&mut self, id: &ObjectId, number: u64, from: Option<String>) {
        let Some(since) = self.connections.get(id).filter(|one| one.number == number).map(|one| one.since) else {
            return;
        };
        if let Some((error, after)) = self.disturbed() {
            return self.send(id, number, self.now + after, failed(error));
        }
        if self.forbidden.contains(id) {
            return self.send(id, number, self.now, failed(world::forbidden()));
        }
        if !self.server.serves(id) {
            return self.send(id, number, self.now, failed(server::not_served(id)));
        }
        let Some(from) = from else {
            let object = self.server.get(id).cloned();
            let version = self.server.revision.to_string();
            // The answer may be long on its way.
            let delay = if self.mode.everything && self.random.percent(5) { 400 } else { 5 };
            let listed = Observation::Listed { object, version };
            return self.send(id, number, self.now + Duration::from_millis(delay), listed);
        };
        let from: u64 = from.parse().unwrap();
        if from > self.server.revision {
            return self.send(id, number, self.now + Duration::from_secs(3), failed(world::busy()));
        }
        self.send(id, number, self.now, Observation::Opened);
        if let Some(connection) = self.connections.get_mut(id) {
            connection.sent = Some(from);
        }
        let life = self.random.between(25, 30);
        self.send(id, number, since + Duration::from_secs(life), Observation::Ended);
        self.broadcast();
    }

    pub(super) fn send(&mut self, id: &ObjectId, number: u64, at: Time, observation: Observation) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        if connection.stalled {
            return; // the end of patience was scheduled when it stalled
        }
        let at = at.max(connection.last_delivery).max(self.now);
        if !matches!(observation, Observation::Ended) {
            connection.last_delivery = at;
        }
        self.at(at, Next::Input(Input::Seen(id.clone(), number, observation)));
    }

    /// Breaks a connection, or lets it stall: then only its announced end shows that (HTTP/1.1), or an unanswered ping (HTTP/2).
    pub(super) fn disturb(&mut self, id: &ObjectId, stalls: bool) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let (number, since, is_open) = (connection.number, connection.since, connection.sent.is_some());
        if !is_open {
            return;
        }
        connection.sent = None;
        let (at, observation) = match stalls {
            false => (self.now, Observation::Interrupted),
            true if self.random.percent(50) => (since + Duration::from_secs(30), failed(world::silent(30))),
            true => (self.now + Duration::from_secs(35), Observation::Interrupted),
        };
        connection.stalled = stalls;
        self.next.retain(|_, next| !matches!(next, Next::Input(Input::Seen(of, ..)) if of == id && stalls));
        self.at(at.max(self.now), Next::Input(Input::Seen(id.clone(), number, observation)));
    }

    /// Sends what has changed to the watches.
    pub(super) fn broadcast(&mut self) {
        if self.mode.everything || self.random.percent(50) {
            self.server.collect_garbage();
        }
        let ids: Vec<ObjectId> = self.connections.keys().cloned().collect();
        for id in ids {
            let Some((number, Some(sent))) = self.connections.get(&id).map(|one| (one.number, one.sent)) else {
                continue;
            };
            let new = self.server.history.iter().rev().take_while(|change| change.revision > sent);
            let mut new: Vec<_> = new.filter(|change| change.id == id).cloned().collect();
            new.reverse();
            for change in new {
                let observation = if change.is_deletion {
                    Observation::Deleted(change.object)
                } else {
                    Observation::Changed(change.object)
                };
                self.send_event(&id, number, observation);
            }
            if let Some(connection) = self.connections.get_mut(&id) {
                connection.sent = Some(self.server.revision.max(sent));
            }
        }
    }

    pub(super) fn send_event(&mut self, id: &ObjectId, number: u64, observation: Observation) {
        let delay = self.random.between(0, 30);
        let at = self.now + Duration::from_millis(delay);
        let is_messy = self.mode.everything && !self.recovered;
        if is_messy && self.random.percent(4) {
            self.lost.insert(id.clone());
            return;
        }
        if is_messy && self.random.percent(4) {
            self.send(id, number, at, observation.clone());
        }
        if is_messy && self.random.percent(4) {
            // Overtaken by those that follow.
            let late = self.now + Duration::from_millis(self.random.between(100, 3000));
            self.lost.insert(id.clone());
            return self.at(late, Next::Input(Input::Seen(id.clone(), number, observation)));
        }
        self.send(id, number, at, observation);
    }

    /// Whether events of `id` are still on their way, so that the state cannot know what the server knows.
    pub(super) fn is_on_its_way(&self, id: &ObjectId) -> bool {
        self.lost.contains(id)
            || self.connections.get(id).is_some_and(|connection| connection.stalled)
            || self.next.values().any(|next| match next {
                Next::Input(Input::Seen(of, _, seen)) => {
                    of == id && !matches!(seen, Observation::Ended | Observation::Opened)
                }
                _ => false,
            })
    }
}

fn failed(error: Error) -> Observation {
    Observation::Failed { error, retry_after: None }
}
