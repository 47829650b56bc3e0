//! The state of the loop: takes what happened and the time, returns what to do.
//!
//! Pure: no clock, network, file or terminal. After a step without input the next wake-up lies in the future.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use super::apis::{self, Apis};
use super::backoff::Jitter;
use super::config::Config;
use super::connections::Connections;
use super::finalizer::Finalizer;
use super::known::Effect;
use super::object::Object;
use super::stop::Stopping;
use super::{Action, Behaviour, Event, Input, Live, Observation, Time};
use crate::cluster::{Error, Served};
use crate::compare;
use crate::manifest::ObjectId;
use crate::reconcile::outcome::{Action as Done, Outcome};

/// The state of the loop.
#[derive(Debug)]
pub struct State {
    pub(super) behaviour: Behaviour,
    pub(super) config_id: ObjectId,
    pub(super) connections: Connections,
    pub(super) finalizer: Finalizer,
    pub(super) stopping: Option<Stopping>,
    pub(super) jitter: Jitter,
    pub(super) pass_is_running: bool,
    pub(super) apis: Apis,
    pub(super) config: Config,
    pub(super) objects: BTreeMap<ObjectId, Object>,
    /// The objects in the order of applying.
    pub(super) order: Vec<ObjectId>,
    pub(super) last_pass: Option<Time>,
    /// Whether objects deviate so soon after a pass that the next one waits for more.
    pub(super) is_burst: bool,
    /// When an object changed last.
    pub(super) last_change: Time,
    pub(super) rendered_at: Time,
    pub(super) told_in_sync: bool,
    /// When the plan has something to do next.
    pub(super) next_try: Option<Time>,
    pub(super) passes: u64,
    /// Whether something happened since the last plan.
    pub(super) is_stale: bool,
    /// Whether other objects may have to be watched than before.
    pub(super) watches_others: bool,
    pub(super) is_rendering: bool,
    pub(super) has_looked_for_operator: bool,
}

impl State {
    /// Prepares the loop for the Config `config_id`; `served` was read before if the platform depends on it.
    pub fn new(behaviour: Behaviour, config_id: ObjectId, served: Option<Served>, seed: u64) -> Self {
        let connections = Connections::new(config_id.clone(), behaviour.resync, Jitter::new(seed));
        Self {
            apis: Apis::new(behaviour.platform_is_auto, served),
            behaviour,
            config_id,
            connections,
            finalizer: Finalizer::default(),
            stopping: None,
            jitter: Jitter::new(seed.rotate_left(17)),
            pass_is_running: false,
            config: Config::default(),
            objects: BTreeMap::new(),
            order: Vec::new(),
            last_pass: None,
            is_burst: false,
            last_change: Time::ZERO,
            rendered_at: Time::ZERO,
            told_in_sync: false,
            next_try: None,
            passes: 0,
            is_stale: true,
            watches_others: true,
            is_rendering: false,
            has_looked_for_operator: false,
        }
    }

    /// Takes over what happened at `now` and returns what to do.
    pub fn step(&mut self, input: Input, now: Time) -> Vec<Action> {
        let mut out = Vec::new();
        self.is_stale |= !matches!(input, Input::Tick | Input::Seen(_, _, Observation::Bookmark(_)));
        self.take(input, now, &mut out);
        if self.stopping.is_some() {
            self.advance_stop(now, &mut out);
            return out;
        }
        if std::mem::take(&mut self.watches_others) {
            self.connections.want(&self.watched(), now, &mut out);
        }
        self.connections.tick(now, &mut out);
        if !self.connections.is_out() && self.apis.is_due(self.can_watch_apis(), now, &mut self.jitter) {
            out.push(Action::ReadServed);
        }
        if std::mem::take(&mut self.is_stale) || self.next_try.is_some_and(|at| at <= now) {
            self.plan(now, &mut out);
        }
        self.check_until(now, &mut out);
        if self.stopping.is_some() {
            self.advance_stop(now, &mut out);
        }
        out
    }

    /// When `step` is to be called again although nothing happened.
    pub fn wake_at(&self) -> Option<Time> {
        if let Some(stopping) = &self.stopping {
            return Some(stopping.wake_at());
        }
        let until = self.behaviour.until.map(|(_, timeout)| timeout);
        let apis = self.apis.wake_at().filter(|_| !self.connections.is_out());
        self.connections.wake_at().into_iter().chain(apis).chain(self.next_try).chain(until).min()
    }

    /// How many passes have sent something.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    /// How many objects are desired.
    pub fn objects(&self) -> usize {
        self.order.len()
    }

    /// The objects whose state is not known.
    pub fn unknown(&self) -> usize {
        self.order.iter().filter(|id| !self.connections.is_open(id)).count()
    }

    /// Whether every object was seen to be as desired, and none has been seen otherwise since.
    pub fn is_in_sync(&self) -> bool {
        self.told_in_sync
    }

    /// Whether the server gives no usable answer at present.
    pub fn is_out(&self) -> bool {
        self.connections.is_known_to_be_out()
    }

    fn take(&mut self, input: Input, now: Time, out: &mut Vec<Action>) {
        match input {
            Input::Tick => {}
            Input::Seen(id, connection, observation) => {
                let effect = self.connections.seen(&id, connection, observation, now, out);
                if effect == Effect::Changed {
                    self.changed(&id, now, out);
                }
            }
            Input::Rendered(rendered) => self.rendered(rendered, now, out),
            Input::TemplatesChanged => {
                self.config.rendered = None;
                self.look_at_config(out);
            }
            Input::Served(served) => {
                let expected = self.expected_groups();
                if self.apis.read(served, &expected, now, &mut self.jitter) {
                    self.config.rendered = None;
                    self.look_at_config(out);
                }
            }
            Input::Applied(id, outcome) => self.applied(&id, *outcome, now, out),
            Input::PassEnded => self.pass_ended(now),
            Input::FinalizersSet(answer) => self.finalizers_set(answer, now, out),
            Input::ConfigRead(answer) => self.config_read(answer, now),
            Input::Stop(exit) => self.stop(exit, now, out),
        }
    }

    /// The objects to watch.
    pub(super) fn watched(&self) -> BTreeSet<ObjectId> {
        let mut ids: BTreeSet<ObjectId> = self.order.iter().cloned().collect();
        ids.insert(self.config_id.clone());
        ids.extend(self.apis.services(self.order.iter().chain([&self.config_id])));
        // A namespace that objects wait for, though it is not among them.
        ids.extend(self.objects.values().filter_map(|object| match object.attempts.error()? {
            Error::NamespaceMissing(name) | Error::NamespaceTerminating(name) => Some(namespace(name)),
            _ => None,
        }));
        ids
    }

    /// What is known about `id` has changed: whatever waited for that is tried again.
    fn changed(&mut self, id: &ObjectId, now: Time, out: &mut Vec<Action>) {
        self.last_change = now;
        if *id == self.config_id {
            self.look_at_config(out);
        }
        let live = self.connections.get(id).and_then(|watched| watched.known.live());
        if id.kind == "Namespace" && live.and_then(Option::as_ref).is_some_and(|live| !compare::is_terminating(live)) {
            for object in self.objects.values_mut() {
                if object.manifest.id.namespace.as_ref() == Some(&id.name) {
                    object.attempts.unblock(now);
                }
            }
        }
        if let Some((group, is_there)) = apis::group_of(id).zip(live.map(Option::is_some)) {
            if self.apis.served().is_some_and(|served| served.has_group(group) != is_there) {
                self.apis.changed(now);
            }
            let in_group = |id: &ObjectId| id.group() == group;
            for object in self.objects.values_mut().filter(|object| in_group(&object.manifest.id)) {
                object.attempts.unblock(now);
            }
            for id in self.order.iter().chain([&self.config_id]).filter(|id| in_group(id)) {
                if self.connections.get(id).is_some_and(|watched| watched.error.is_some()) {
                    self.connections.read_again(id, now);
                }
            }
        }
    }

    pub(super) fn live_config(&self) -> Option<&Live> {
        self.connections.get(&self.config_id)?.known.live()
    }

    fn applied(&mut self, id: &ObjectId, outcome: Outcome, now: Time, out: &mut Vec<Action>) {
        if let Some(object) = &outcome.object {
            self.connections.written(id, object.clone(), now);
        }
        let succeeded = !outcome.is_failure() && !matches!(outcome.action, Done::Skipped(_));
        let live = self.live(id);
        if let Some(object) = self.objects.get_mut(id) {
            object.applied(outcome, live, &self.behaviour, now, &mut self.jitter, out);
        }
        if succeeded {
            // Whoever was skipped waited for one of those that failed.
            for object in self.objects.values_mut().filter(|object| object.attempts.error().is_none()) {
                object.attempts.unblock(now);
            }
        }
    }

    pub(super) fn live(&self, id: &ObjectId) -> Option<Rc<Value>> {
        self.connections.get(id)?.known.live()?.clone()
    }

    fn pass_ended(&mut self, now: Time) {
        self.pass_is_running = false;
        self.watches_others = true;
        self.last_pass = Some(now);
        let ids: Vec<_> = self.objects.keys().cloned().collect();
        for id in ids {
            let live = self.live(&id);
            if let Some(object) = self.objects.get_mut(&id) {
                object.not_applied(live, now, &mut self.jitter);
            }
        }
    }

    fn finalizers_set(&mut self, answer: Result<Value, Error>, now: Time, out: &mut Vec<Action>) {
        let is_stale = answer.as_ref().is_err_and(Error::is_stale);
        let answer = answer.map(|config| {
            let id = self.config_id.clone();
            self.connections.written(&id, config, now);
        });
        if is_stale {
            self.connections.read_again(&self.config_id.clone(), now);
        }
        let error = answer.as_ref().err().cloned();
        match self.finalizer.answered(answer, now, &mut self.jitter) {
            Some(Ok(added)) => out.push(Action::Report(Event::Finalizer(added))),
            Some(Err(error)) if self.stopping.is_none() => out.push(Action::Report(Event::FinalizerRefused(error))),
            _ => {}
        }
        if let Some(stopping) = &mut self.stopping {
            stopping.finalizers_set(error);
        }
    }

    pub(super) fn manages_finalizer(&self) -> bool {
        self.behaviour.finalizer && !self.behaviour.observe
    }

    fn can_watch_apis(&self) -> bool {
        self.apis.services([].into_iter()).iter().all(|id| {
            let error = self.connections.get(id).and_then(|watched| watched.error.as_ref());
            error.is_none_or(Error::is_no_answer)
        })
    }

    /// The groups of the platform of which a watch says whether they are there.
    fn expected_groups(&self) -> Vec<(String, bool)> {
        let services = self.apis.services([].into_iter());
        let known = |id: &ObjectId| {
            let is_there = self.connections.get(id)?.known.live()?.is_some();
            Some((apis::group_of(id)?.to_owned(), is_there))
        };
        services.iter().filter_map(known).collect()
    }
}

fn namespace(name: &str) -> ObjectId {
    ObjectId { api_version: "v1".to_owned(), kind: "Namespace".to_owned(), namespace: None, name: name.to_owned() }
}
