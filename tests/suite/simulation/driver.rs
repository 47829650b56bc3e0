//! Moves virtual time from one thing to the next: answers of the model, acts of others, wake-ups of the state.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use bpfman_config::cluster::Error;
use bpfman_config::exit::Exit;
use bpfman_config::manifest::{Manifest, ObjectId};
use bpfman_config::reconcile::outcome::{Action as Done, Outcome};
use bpfman_config::reconcile::watch::{
    Action, Behaviour, Event, Input, Observation, State, Time, finalizer::FINALIZER,
};
use serde_json::Value;

use super::random::Random;
use super::server::{self, Server};
use super::world;

/// Which faults a schedule has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mode {
    pub(super) network: bool,
    pub(super) everything: bool,
    pub(super) observe: bool,
    /// How long after the last fault everything must be as desired.
    pub(super) settles: Duration,
}

impl Mode {
    pub(super) fn restarts() -> Self {
        Self { network: false, everything: false, observe: false, settles: Duration::ZERO }
    }

    pub(super) fn network() -> Self {
        Self { network: true, ..Self::restarts() }
    }

    pub(super) fn anything() -> Self {
        // A lost event is found by the next resync, a refusal that is lifted in silence by the longest pause.
        Self { everything: true, settles: Duration::from_secs(110), ..Self::network() }
    }
}

/// How the server answers at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Up,
    /// Refuses connections.
    Down,
    /// Takes requests and answers none.
    Silent,
    /// Answers 429.
    Busy,
    /// Answers 403, as right after its start.
    NotReady,
}

pub(super) struct Connection {
    number: u64,
    since: Time,
    /// The revision up to which events were sent; none for a list, or a watch that is not open.
    sent: Option<u64>,
    last_delivery: Time,
    pub(super) stalled: bool,
}

/// What will happen.
enum Next {
    Input(Input),
    Answer(ObjectId, u64, Option<String>),
    Apply(Vec<(Rc<Manifest>, Option<Rc<Value>>)>),
    Applied(ObjectId, Box<Outcome>, Vec<(Rc<Manifest>, Option<Rc<Value>>)>),
    SetFinalizers(Rc<Value>, Vec<String>),
    ReadConfig,
    Act,
    Recover,
    Stop,
}

pub(super) struct Simulation {
    pub(super) mode: Mode,
    pub(super) random: Random,
    pub(super) server: Server,
    pub(super) state: State,
    pub(super) now: Time,
    next: BTreeMap<(Time, u64), Next>,
    number: u64,
    pub(super) connections: BTreeMap<ObjectId, Connection>,
    pub(super) condition: Condition,
    pub(super) forbidden: BTreeSet<ObjectId>,
    pub(super) finalizer_forbidden: bool,
    pub(super) snapshot: Option<Server>,
    aborted: bool,
    pub(super) recovered: bool,
    stop_at: Option<Time>,
    ended: Option<Exit>,
    // What the invariants need.
    pub(super) lost: BTreeSet<ObjectId>,
    pub(super) fights: BTreeMap<ObjectId, Time>,
    pub(super) dead_uids: BTreeSet<String>,
    pub(super) patched: BTreeMap<ObjectId, (String, Value)>,
    pub(super) in_sync: bool,
    pub(super) left: bool,
    pub(super) requests: u64,
    /// Whether the server could not be asked, or refused, some time during the end.
    pub(super) was_disturbed: bool,
    ticks: (Time, u32),
    /// The reports, kept for tests that read them.
    pub(super) said: Vec<String>,
    pub(super) patches: Vec<(Time, ObjectId)>,
    /// What happened, kept only for a schedule that is known to fail.
    trace: Option<Vec<String>>,
    pub(super) finalizer_is_ours: bool,
}

/// How long the faults last.
const FAULTS: Duration = Duration::from_secs(40);

impl Simulation {
    /// A schedule of random faults.
    pub(super) fn new(mode: Mode, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut simulation = Self::quiet(mode, seed);
        for _ in 0..random.between(1, 14) {
            let at = random.between(0, 40_000);
            simulation.at(Duration::from_millis(at), Next::Act);
        }
        simulation.at(FAULTS, Next::Recover);
        let end = 45_000 + u64::try_from(mode.settles.as_millis()).unwrap();
        let stop = if random.percent(30) { random.between(0, 40_000) } else { end };
        simulation.at(Duration::from_millis(stop), Next::Stop);
        simulation
    }

    /// A cluster in which nothing happens by itself.
    pub(super) fn quiet(mode: Mode, seed: u64) -> Self {
        let behaviour = Behaviour {
            observe: mode.observe,
            exact: false,
            finalizer: true,
            field_manager: "bpfman-config".to_owned(),
            resync: Duration::from_secs(if mode.everything { 30 } else { 600 }),
            platform_is_auto: false,
            until: None,
        };
        let mut server = Server::default();
        server.create(&world::namespace("ebpf"));
        server.create(&world::service());
        server.create(&world::config());
        server.update(&world::config(), |config| config["spec"] = serde_json::json!({"value": "v0"}));
        Self {
            state: State::new(behaviour, world::config(), None, seed),
            mode,
            server,
            now: Time::ZERO,
            next: BTreeMap::new(),
            number: 0,
            connections: BTreeMap::new(),
            condition: Condition::Up,
            forbidden: BTreeSet::new(),
            finalizer_forbidden: false,
            snapshot: None,
            aborted: false,
            recovered: false,
            stop_at: None,
            ended: None,
            lost: BTreeSet::new(),
            fights: BTreeMap::new(),
            dead_uids: BTreeSet::new(),
            patched: BTreeMap::new(),
            in_sync: false,
            left: false,
            requests: 0,
            was_disturbed: false,
            ticks: (Time::ZERO, 0),
            said: Vec::new(),
            patches: Vec::new(),
            trace: None,
            finalizer_is_ours: false,
            random: Random::new(seed.wrapping_mul(31)),
        }
    }

    pub(super) fn run(mut self) -> Result<(), String> {
        self.run_to_end().map_err(|what| format!("at {:?}: {what}", self.now))
    }

    /// The same, with the last steps of a schedule that fails.
    pub(super) fn explain(mut self) -> Result<(), String> {
        self.trace = Some(Vec::new());
        let result = self.run_to_end();
        let trace = self.trace.take().unwrap_or_default();
        let from = trace.len().saturating_sub(40);
        result.map_err(|what| format!("at {:?}: {what}\n{}", self.now, trace[from..].join("\n")))
    }

    /// Lets time pass up to `end`.
    pub(super) fn advance(&mut self, end: Time) -> Result<(), String> {
        self.trace.get_or_insert_default();
        self.step(Input::Tick)?;
        while self.ended.is_none() {
            let wake = self.state.wake_at();
            let happens = self.next.keys().next().map(|(at, _)| *at);
            let Some(at) = wake.into_iter().chain(happens).min().filter(|at| *at <= end) else { break };
            self.now = at.max(self.now);
            if happens == Some(at) {
                let (_, next) = self.next.pop_first().ok_or("no first")?;
                self.happen(next)?;
            } else {
                self.count_tick()?;
                self.step(Input::Tick)?;
            }
        }
        self.now = self.now.max(end);
        Ok(())
    }

    /// An event comes late.
    pub(super) fn see(&mut self, id: &ObjectId, object: Value) {
        let Some(number) = self.connections.get(id).map(|connection| connection.number) else { return };
        self.soon(Next::Input(Input::Seen(id.clone(), number, Observation::Changed(object))));
    }

    /// Asks the loop to end.
    pub(super) fn stop(&mut self) -> Result<(), String> {
        self.happen(Next::Stop)
    }

    pub(super) fn ended(&self) -> Option<Exit> {
        self.ended
    }

    fn run_to_end(&mut self) -> Result<(), String> {
        self.step(Input::Tick)?;
        let settled_at = FAULTS + self.mode.settles;
        let mut is_checked = false;
        while self.ended.is_none() {
            let wake = self.state.wake_at();
            let happens = self.next.keys().next().map(|(at, _)| *at);
            let at = wake.into_iter().chain(happens).min().ok_or("nothing will ever happen again")?;
            if !is_checked && at > settled_at && self.stop_at.is_none() {
                is_checked = true;
                self.now = settled_at;
                self.check_settled()?;
                continue;
            }
            self.now = at.max(self.now);
            if happens == Some(at) {
                let (_, next) = self.next.pop_first().ok_or("no first")?;
                self.happen(next)?;
            } else {
                self.count_tick()?;
                self.step(Input::Tick)?;
            }
        }
        self.check_end()
    }

    /// After a step without input the next wake-up lies in the future, and not all the time in the next moment.
    fn count_tick(&mut self) -> Result<(), String> {
        let second = Duration::from_secs(self.now.as_secs());
        let count = if self.ticks.0 == second { self.ticks.1 + 1 } else { 1 };
        self.ticks = (second, count);
        if count > 60 { Err("a busy loop".to_owned()) } else { Ok(()) }
    }

    fn at(&mut self, at: Time, next: Next) {
        self.number += 1;
        self.next.insert((at, self.number), next);
    }

    fn soon(&mut self, next: Next) {
        let delay = self.random.between(1, 20);
        self.at(self.now + Duration::from_millis(delay), next);
    }

    fn later(&mut self, seconds: u64, next: Next) {
        self.at(self.now + Duration::from_secs(seconds), next);
    }

    pub(super) fn note(&mut self, text: impl FnOnce() -> String) {
        let now = self.now;
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{now:?} {}", text()));
        }
    }

    fn step(&mut self, input: Input) -> Result<(), String> {
        let is_tick = matches!(input, Input::Tick);
        self.note(|| format!("  <- {}", brief(&input)));
        self.learn(&input);
        let actions = self.state.step(input, self.now);
        let mut rendered = None;
        for action in actions {
            self.note(|| format!("  -> {}", brief(&action)));
            match action {
                Action::Render(config, _) => rendered = Some(world::render(&config)),
                action => self.carry_out(action)?,
            }
        }
        if let Some(rendered) = rendered {
            return self.step(Input::Rendered(rendered));
        }
        match self.state.wake_at() {
            Some(at) if is_tick && self.ended.is_none() && at <= self.now => Err(format!("wakes up at {at:?} again")),
            _ => Ok(()),
        }
    }

    fn carry_out(&mut self, action: Action) -> Result<(), String> {
        match action {
            Action::Connect { id, connection, from } => {
                let new = Connection {
                    number: connection,
                    since: self.now,
                    sent: None,
                    last_delivery: self.now,
                    stalled: false,
                };
                self.connections.insert(id.clone(), new);
                self.requests += 1;
                self.soon(Next::Answer(id, connection, from));
            }
            Action::Disconnect(id) => drop(self.connections.remove(&id)),
            Action::Apply(tasks, _) => {
                self.check_apply(&tasks)?;
                self.aborted = false;
                self.soon(Next::Apply(tasks));
            }
            Action::Abort => self.aborted = true,
            Action::SetFinalizers(config, finalizers) => {
                if self.mode.observe {
                    return Err("a dry run sets finalizers".to_owned());
                }
                self.requests += 1;
                self.soon(Next::SetFinalizers(config, finalizers));
            }
            Action::ReadConfig => self.soon(Next::ReadConfig),
            Action::Report(event) => self.reported(event)?,
            Action::End(exit) => self.ended = Some(exit),
            Action::ReadServed | Action::Render(..) => return Err("unexpected".to_owned()),
        }
        Ok(())
    }

    fn reported(&mut self, event: Event) -> Result<(), String> {
        if self.trace.is_some() {
            let words = super::script::words(&event);
            self.said.push(format!("{:.1} {words}", self.now.as_secs_f32()));
        }
        match event {
            Event::InSync(_) => {
                self.in_sync = true;
                self.check_in_sync()?;
            }
            Event::Fight { id, pause, .. } => drop(self.fights.insert(id, self.now + pause)),
            Event::FinalizerLeft(_) => self.left = true,
            _ => {}
        }
        Ok(())
    }

    fn happen(&mut self, next: Next) -> Result<(), String> {
        self.was_disturbed |= self.stop_at.is_some() && (self.condition != Condition::Up || self.finalizer_forbidden);
        match next {
            Next::Input(Input::Seen(id, number, observation)) => {
                if self.connections.get(&id).is_none_or(|connection| connection.number != number) {
                    return Ok(()); // the stream was dropped
                }
                self.step(Input::Seen(id, number, observation))
            }
            Next::Input(input) => self.step(input),
            Next::Answer(id, number, from) => {
                self.answer(&id, number, from);
                Ok(())
            }
            Next::Apply(tasks) => self.apply(tasks),
            Next::Applied(id, outcome, rest) => {
                let is_over = outcome_is_no_answer(&outcome);
                self.step(Input::Applied(id, *outcome))?;
                if is_over { self.step(Input::PassEnded) } else { self.apply(rest) }
            }
            Next::SetFinalizers(config, finalizers) => {
                self.set_finalizers(&config, finalizers);
                Ok(())
            }
            Next::ReadConfig => {
                self.read_config();
                Ok(())
            }
            Next::Act => {
                self.act();
                self.broadcast();
                Ok(())
            }
            Next::Recover => {
                self.recover();
                self.broadcast();
                Ok(())
            }
            Next::Stop => {
                self.stop_at = Some(self.now);
                if self.random.percent(20) {
                    self.later(1, Next::Input(Input::Stop(Exit::Interrupted)));
                }
                self.step(Input::Stop(Exit::Terminated))
            }
        }
    }

    /// What a request gets by the condition of the server; none when it is answered.
    fn disturbed(&self) -> Option<(Error, Duration)> {
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
    fn answer(&mut self, id: &ObjectId, number: u64, from: Option<String>) {
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

    fn send(&mut self, id: &ObjectId, number: u64, at: Time, observation: Observation) {
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

    /// Breaks a connection, or lets it stall: then only its announced end shows that.
    pub(super) fn disturb(&mut self, id: &ObjectId, stalls: bool) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let (number, since, is_open) = (connection.number, connection.since, connection.sent.is_some());
        if !is_open {
            return;
        }
        connection.sent = None;
        let observation = if stalls { failed(world::silent(30)) } else { Observation::Interrupted };
        let at = if stalls { since + Duration::from_secs(30) } else { self.now };
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

    fn send_event(&mut self, id: &ObjectId, number: u64, observation: Observation) {
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

    /// The server answers the first apply of a pass.
    fn apply(&mut self, mut tasks: Vec<(Rc<Manifest>, Option<Rc<Value>>)>) -> Result<(), String> {
        if tasks.is_empty() || self.aborted {
            return self.step(Input::PassEnded);
        }
        let (manifest, _) = tasks.remove(0);
        self.requests += 1;
        self.patches.push((self.now, manifest.id.clone()));
        let answered = self.condition == Condition::Up;
        let arrives = answered || (self.condition == Condition::Silent && self.random.percent(50));
        let applied = if arrives { self.applied(&manifest, answered)? } else { Err(world::unreachable()) };
        let (applied, after) = match self.disturbed() {
            Some((_, after)) if self.condition == Condition::Silent => (Err(world::silent(30)), after * 3),
            Some((error, after)) => (Err(error), after),
            None => (applied, Duration::from_millis(self.random.between(1, 20))),
        };
        let outcome = match applied {
            Ok((object, true)) => Outcome { object: Some(object), ..Outcome::of(Done::Created) },
            Ok((object, false)) => Outcome { object: Some(object), ..Outcome::of(Done::Configured) },
            Err(error) => Outcome::of(Done::Failed(error)),
        };
        self.broadcast();
        let next = Next::Applied(manifest.id.clone(), Box::new(outcome), tasks);
        self.at(self.now + after, next);
        Ok(())
    }

    fn applied(&mut self, manifest: &Manifest, answered: bool) -> Result<Result<(Value, bool), Error>, String> {
        let (id, desired) = (&manifest.id, &manifest.object);
        if id.kind == "Namespace" && self.server.get(id).is_none() {
            return Ok(Err(Error::NamespaceMissing(id.name.clone())));
        }
        self.check_patch(id, desired)?;
        let result = self.server.apply(id, desired);
        if let Ok((object, _)) = &result
            && answered
        {
            let version = object["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
            self.patched.insert(id.clone(), (version, desired.clone()));
        }
        Ok(result)
    }

    fn set_finalizers(&mut self, config: &Value, finalizers: Vec<String>) {
        let id = world::config();
        let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
        let live = self.server.get(&id).cloned();
        let adds = finalizers.iter().any(|finalizer| finalizer == FINALIZER);
        let result = match live {
            _ if self.finalizer_forbidden => Err(world::forbidden()),
            Some(live) if version(&live) == version(config) => {
                if matches!(self.condition, Condition::Up | Condition::Silent) {
                    self.server.update(&id, |object| object["metadata"]["finalizers"] = serde_json::json!(finalizers));
                    self.finalizer_is_ours = adds;
                }
                let mut answer = live;
                answer["metadata"]["finalizers"] = serde_json::json!(finalizers);
                answer["metadata"]["resourceVersion"] = serde_json::json!(self.server.revision.to_string());
                Ok(self.server.get(&id).cloned().unwrap_or(answer))
            }
            _ => Err(world::stale()),
        };
        let (result, after) = match self.disturbed() {
            Some((error, after)) => (Err(error), after),
            None => (result, Duration::from_millis(self.random.between(1, 20))),
        };
        self.broadcast();
        self.at(self.now + after, Next::Input(Input::FinalizersSet(result)));
    }

    fn read_config(&mut self) {
        let config = Ok(self.server.get(&world::config()).cloned());
        let (result, after) = match self.disturbed() {
            Some((error, after)) => (Err(error), after),
            None => (config, Duration::from_millis(self.random.between(1, 20))),
        };
        self.at(self.now + after, Next::Input(Input::ConfigRead(result)));
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

    /// When the loop was asked to end.
    pub(super) fn stopped_at(&self) -> Option<Time> {
        self.stop_at
    }
}

fn failed(error: Error) -> Observation {
    Observation::Failed { error, retry_after: None }
}

fn outcome_is_no_answer(outcome: &Outcome) -> bool {
    matches!(&outcome.action, Done::Failed(Error::Unreachable { .. } | Error::TimedOut { .. }))
}

fn brief(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.chars().take(220).collect()
}
