//! The state of the loop: takes what happened and the time, returns what to do.
//!
//! Pure: no clock, network, file or terminal. After a step without input the next wake-up lies in the future.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use super::apis::{self, Apis};
use super::backoff::Jitter;
use super::connections::Connections;
use super::finalizer::{Finalizer, Next};
use super::known::Effect;
use super::object::{Decision, Object};
use super::stop::Stopping;
use super::{Action, Behaviour, Desired, Event, Input, Invalid, Observation, Time, Until};
use crate::cluster::{Error, Served};
use crate::compare;
use crate::config::Lifecycle;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::ObjectId;
use crate::ownership::Managers;
use crate::reconcile::outcome::{Action as Done, Outcome};
use crate::reconcile::rollout::Progress;

/// After a pass, events are gathered for so long: a burst is one more pass.
pub const WINDOW: Duration = Duration::from_millis(500);
/// The field manager of bpfman-operator, which is its program's name.
const OPERATOR: &str = "bpfman-operator";
/// The next pass waits until changes have ceased for so long,
const CALM: Duration = Duration::from_millis(150);
/// but no longer than this.
const LONGEST_WINDOW: Duration = Duration::from_secs(2);
/// How long the first pass waits for objects whose state is not known yet.
const FIRST_LOOK: Duration = Duration::from_secs(2);

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
    apis: Apis,
    config: Config,
    objects: BTreeMap<ObjectId, Object>,
    /// The objects in the order of applying.
    order: Vec<ObjectId>,
    last_pass: Option<Time>,
    /// When an object changed last.
    last_change: Time,
    rendered_at: Time,
    told_in_sync: bool,
    /// When the plan has something to do next.
    next_try: Option<Time>,
    passes: u64,
    /// Whether something happened since the last plan.
    is_stale: bool,
    /// Whether other objects may have to be watched than before.
    watches_others: bool,
    is_rendering: bool,
    has_looked_for_operator: bool,
}

/// What is known about the Config beyond its object.
#[derive(Debug, Default)]
struct Config {
    /// The object that was rendered last, successfully or not.
    rendered: Option<Rc<Value>>,
    /// The uid of the Config that the desired objects are of.
    desired_uid: Option<String>,
    /// Whether the desired objects are those of the Config as it is now.
    is_current: bool,
    told: Option<Told>,
    warnings: BTreeSet<String>,
    invalid_templates: Option<String>,
}

#[derive(Debug, PartialEq)]
enum Told {
    Gone,
    Deleting,
    Invalid(String),
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
            Input::Applied(id, outcome) => self.applied(&id, outcome, now, out),
            Input::PassEnded => self.pass_ended(now),
            Input::FinalizersSet(answer) => self.finalizers_set(answer, now, out),
            Input::ConfigRead(answer) => self.config_read(answer, now),
            Input::Stop(exit) => self.stop(exit, now, out),
        }
    }

    /// The objects to watch.
    fn watched(&self) -> BTreeSet<ObjectId> {
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
        if id.kind == "Namespace" && live.flatten().is_some_and(|live| !compare::is_terminating(live)) {
            for object in self.objects.values_mut() {
                if object.manifest.id.namespace.as_ref() == Some(&id.name) {
                    object.attempts.unblock(now);
                }
            }
        }
        if let Some((group, is_there)) = apis::group_of(id).zip(live.map(|live| live.is_some())) {
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

    fn live_config(&self) -> Option<Option<&Rc<Value>>> {
        self.connections.get(&self.config_id)?.known.live()
    }

    fn look_at_config(&mut self, out: &mut Vec<Action>) {
        let Some(live) = self.live_config() else { return };
        let Some(config) = live.cloned() else {
            self.forget_desired();
            if self.finalizer.config_is_gone() {
                out.push(Action::Report(Event::Finalizer(false)));
            }
            return self.tell(Told::Gone, Event::Gone, out);
        };
        let lifecycle = Lifecycle::of(&config);
        if lifecycle.is_deleting() {
            return self.tell(Told::Deleting, Event::Deleting, out);
        }
        if self.config.desired_uid != lifecycle.uid {
            self.config.is_current = false;
        }
        if self.manages_finalizer() && self.finalizer.adopt(&config, &self.behaviour.field_manager) {
            out.push(Action::Report(Event::FinalizerAdopted));
        }
        let same =
            |field: &str| self.config.rendered.as_ref().is_some_and(|old| old.pointer(field) == config.pointer(field));
        if !(same("/spec") && same("/metadata/uid")) {
            self.config.is_current = false;
            self.config.rendered = Some(Rc::clone(&config));
            self.is_rendering = true;
            out.push(Action::Render(config, self.apis.served().cloned()));
        }
    }

    /// The Config does not exist: nothing is desired.
    fn forget_desired(&mut self) {
        self.watches_others = true;
        self.objects.clear();
        self.order.clear();
        let warnings = std::mem::take(&mut self.config.warnings);
        self.config = Config { told: self.config.told.take(), warnings, ..Config::default() };
        self.told_in_sync = false;
    }

    fn tell(&mut self, told: Told, event: Event, out: &mut Vec<Action>) {
        if self.config.told.as_ref() != Some(&told) {
            self.config.told = Some(told);
            self.told_in_sync = false;
            out.push(Action::Report(event));
        }
    }

    fn rendered(&mut self, rendered: Result<Desired, Invalid>, now: Time, out: &mut Vec<Action>) {
        self.is_rendering = false;
        self.watches_others = true;
        let Some(config) = self.config.rendered.clone() else { return };
        let uid = Lifecycle::of(&config).uid;
        match rendered {
            Ok(desired) => {
                self.config.is_current = desired.invalid_templates.is_none();
                self.config.told = None;
                self.tell_remarks(&desired, out);
                self.config.desired_uid = uid;
                self.desire(&config, desired, now, out);
            }
            Err(Invalid::Config(failure)) => {
                let keeps = !self.order.is_empty() && self.config.desired_uid == uid;
                let event = Event::InvalidConfig(Rc::clone(&failure), keeps);
                self.tell(Told::Invalid(text_of(&failure)), event, out);
                if !keeps {
                    self.objects.clear();
                    self.order.clear();
                }
            }
            Err(Invalid::Templates(failure)) => {
                self.tell(Told::Invalid(text_of(&failure)), Event::InvalidTemplates(failure), out);
            }
        }
    }

    /// Reports what was not reported before about this Config and these templates.
    fn tell_remarks(&mut self, desired: &Desired, out: &mut Vec<Action>) {
        let text = desired.invalid_templates.as_deref().map(text_of);
        if let Some(failure) = desired.invalid_templates.as_ref().filter(|_| text != self.config.invalid_templates) {
            out.push(Action::Report(Event::InvalidTemplates(Rc::clone(failure))));
            self.told_in_sync = false;
        }
        self.config.invalid_templates = text;
        let is_new = |text: &&String| !self.config.warnings.contains(*text);
        let warnings = desired.warnings.iter().filter(is_new).map(|text| Event::Warning(text.clone()));
        let notes = desired.notes.iter().filter(is_new).map(|text| Event::Note(text.clone()));
        out.extend(warnings.chain(notes).map(Action::Report));
        self.config.warnings = desired.warnings.iter().chain(&desired.notes).cloned().collect();
    }

    fn desire(&mut self, config: &Value, desired: Desired, now: Time, out: &mut Vec<Action>) {
        let same = self.order.len() == desired.manifests.len()
            && self
                .order
                .iter()
                .zip(&desired.manifests)
                .all(|(id, manifest)| self.objects.get(id).is_some_and(|object| *object.manifest == *manifest));
        if same {
            return;
        }
        let name = config.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
        out.push(Action::Report(Event::Read(name, desired.namespace)));
        out.push(Action::Report(Event::Rendered(desired.manifests.len())));
        self.told_in_sync = false;
        self.rendered_at = now;
        self.order = desired.manifests.iter().map(|manifest| manifest.id.clone()).collect();
        for id in self.objects.keys().filter(|id| !self.order.contains(id)) {
            out.push(Action::Report(Event::NoLongerDesired(id.clone())));
        }
        self.objects.retain(|id, _| self.order.contains(id));
        for manifest in desired.manifests {
            match self.objects.get_mut(&manifest.id) {
                Some(object) => object.replace(manifest),
                None => drop(self.objects.insert(manifest.id.clone(), Object::new(manifest))),
            }
        }
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

    fn live(&self, id: &ObjectId) -> Option<Rc<Value>> {
        self.connections.get(id)?.known.live()?.cloned()
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

    /// Cares for the finalizer; returns whether the objects may be applied.
    fn care_for_finalizer(&mut self, config: &Rc<Value>, now: Time, out: &mut Vec<Action>) -> bool {
        let lifecycle = Lifecycle::of(config);
        let stays = !lifecycle.is_deleting();
        // Without anything to apply there is nothing to protect.
        if !self.manages_finalizer() || (stays && self.order.is_empty()) {
            return stays;
        }
        match self.finalizer.next(&lifecycle, stays, now) {
            Next::Done => stays,
            Next::Wait => false,
            Next::Later(at) => {
                self.try_at(at);
                stays // without the finalizer the objects are kept all the same
            }
            Next::Send(finalizers) => {
                out.push(Action::SetFinalizers(Rc::clone(config), finalizers));
                false
            }
        }
    }

    fn try_at(&mut self, at: Time) {
        self.next_try = Some(self.next_try.map_or(at, |next| next.min(at)));
    }

    /// Decides about every object, and begins a pass if an apply is due.
    fn plan(&mut self, now: Time, out: &mut Vec<Action>) {
        self.next_try = None;
        let config = self.live_config().flatten().cloned();
        self.told_in_sync &= config.is_some() && !self.connections.is_known_to_be_out();
        let Some(config) = config.filter(|_| !self.connections.is_out()) else { return };
        if !self.care_for_finalizer(&config, now, out) || self.pass_is_running || self.is_rendering {
            return;
        }
        if self.config.desired_uid != Lifecycle::of(&config).uid || self.is_first_look(now) {
            return;
        }
        self.look_for_operator(&config, out);
        let (mut due, mut all_in_sync) = (Vec::new(), true);
        for position in 0..self.order.len() {
            let Some(id) = self.order.get(position).cloned() else { continue };
            match self.decide(&id, now, out) {
                Some(Decision::InSync(again)) => {
                    again.into_iter().for_each(|at| self.try_at(at));
                    continue;
                }
                None | Some(Decision::Wait) => {}
                Some(Decision::At(at)) => self.try_at(at),
                Some(Decision::Now) => due.push(id),
            }
            all_in_sync = false;
        }
        if all_in_sync {
            return self.tell_in_sync(out);
        }
        self.told_in_sync = false;
        self.begin_pass(&due, now, out);
    }

    /// Reports once, at the start, that the operator has written these objects.
    fn look_for_operator(&mut self, config: &Value, out: &mut Vec<Action>) {
        if std::mem::replace(&mut self.has_looked_for_operator, true) {
            return;
        }
        let wrote = |object: &Value| Managers::of(object).entries.iter().any(|entry| entry.owner.manager == OPERATOR);
        if wrote(config) || self.order.iter().filter_map(|id| self.live(id)).any(|live| wrote(&live)) {
            out.push(Action::Report(Event::Operator));
        }
    }

    /// Decides about one object; none when its state is unknown.
    fn decide(&mut self, id: &ObjectId, now: Time, out: &mut Vec<Action>) -> Option<Decision> {
        let live = self.connections.get(id)?.known.live()?;
        Some(self.objects.get_mut(id)?.decide(live, &self.behaviour, now, out))
    }

    fn begin_pass(&mut self, due: &[ObjectId], now: Time, out: &mut Vec<Action>) {
        if due.is_empty() {
            return;
        }
        let calm = self.last_change + CALM;
        let window = |last: Time| (last + WINDOW).max(calm.min(last + LONGEST_WINDOW));
        let earliest = self.last_pass.map_or(now, window);
        if earliest > now {
            return self.try_at(earliest);
        }
        let mut tasks = Vec::new();
        for id in due {
            let live = self.live(id);
            if let Some(object) = self.objects.get_mut(id) {
                object.begin(live.as_ref(), out);
                tasks.push((Rc::clone(&object.manifest), live));
            }
        }
        self.passes += 1;
        self.pass_is_running = true;
        self.told_in_sync = false;
        out.push(Action::Apply(tasks, self.config.desired_uid.clone()));
    }

    /// Whether some objects have not been seen at all, and may be in a moment.
    fn is_first_look(&mut self, now: Time) -> bool {
        let end = self.rendered_at + FIRST_LOOK;
        let is_pending = |id: &ObjectId| {
            self.connections.get(id).is_none_or(|watched| watched.known.live().is_none() && watched.error.is_none())
        };
        let waits = now < end && self.order.iter().any(is_pending);
        if waits {
            self.try_at(end);
        }
        waits
    }

    fn tell_in_sync(&mut self, out: &mut Vec<Action>) {
        let open = self.order.iter().chain([&self.config_id]).all(|id| self.connections.is_open(id));
        if !self.config.is_current {
            self.told_in_sync = false;
        } else if open && !self.told_in_sync {
            self.told_in_sync = true;
            out.push(Action::Report(Event::InSync(self.order.len())));
        }
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

    /// Ends the loop if the condition that it was to run for is met, or its time is over.
    fn check_until(&mut self, now: Time, out: &mut Vec<Action>) {
        let Some((until, timeout)) = self.behaviour.until else { return };
        let deviates =
            || out.iter().any(|action| matches!(action, Action::Report(Event::Deviates(_) | Event::Missing(_))));
        let met = match until {
            Until::InSync => self.told_in_sync,
            Until::Drift => deviates(),
            Until::Ready => self.told_in_sync && self.not_rolled_out().is_none(),
        };
        if met {
            self.stop(Exit::Done, now, out);
        } else if now >= timeout {
            let refused = self.objects.values().find(|object| object.attempts.error().is_some());
            let in_the_way = refused.map(|object| object.manifest.id.clone()).or_else(|| self.not_rolled_out());
            out.push(Action::Report(Event::TimedOut(in_the_way)));
            self.stop(if refused.is_some() { Exit::Refused } else { Exit::NoAnswer }, now, out);
        }
    }

    fn not_rolled_out(&self) -> Option<ObjectId> {
        let rolls = self.order.iter().filter(|id| id.kind == "DaemonSet");
        rolls.into_iter().find(|id| self.live(id).is_none_or(|live| !Progress::of(&live).done())).cloned()
    }
}

fn text_of(failure: &Failure) -> String {
    failure.errors.iter().map(|error| format!("{error:#}\n")).collect()
}

fn namespace(name: &str) -> ObjectId {
    ObjectId { api_version: "v1".to_owned(), kind: "Namespace".to_owned(), namespace: None, name: name.to_owned() }
}
