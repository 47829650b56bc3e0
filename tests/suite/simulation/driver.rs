//! Moves virtual time from one thing to the next: answers of the model, acts of others, wake-ups of the state.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use bpfman_config::cluster::Error;
use bpfman_config::exit::Exit;
use bpfman_config::manifest::ObjectId;
use bpfman_config::reconcile::outcome::{Action as Done, Outcome};
use bpfman_config::reconcile::watch::{Action, Behaviour, Event, Input, Observation, State, Task, Time};
use serde_json::Value;

use super::mode::Mode;
use super::random::Random;
use super::server::Server;
use super::world;

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
    pub(super) number: u64,
    pub(super) since: Time,
    /// The revision up to which events were sent; none for a list, or a watch that is not open.
    pub(super) sent: Option<u64>,
    pub(super) last_delivery: Time,
    pub(super) stalled: bool,
}

/// What will happen.
pub(super) enum Next {
    Input(Input),
    Answer(ObjectId, u64, Option<String>),
    Apply(Vec<Task>),
    Applied(ObjectId, Box<Outcome>, Vec<Task>),
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
    pub(super) next: BTreeMap<(Time, u64), Next>,
    pub(super) number: u64,
    pub(super) connections: BTreeMap<ObjectId, Connection>,
    pub(super) condition: Condition,
    pub(super) forbidden: BTreeSet<ObjectId>,
    pub(super) finalizer_forbidden: bool,
    pub(super) snapshot: Option<Server>,
    pub(super) aborted: bool,
    pub(super) recovered: bool,
    pub(super) stop_at: Option<Time>,
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

    pub(super) fn at(&mut self, at: Time, next: Next) {
        self.number += 1;
        self.next.insert((at, self.number), next);
    }

    pub(super) fn soon(&mut self, next: Next) {
        let delay = self.random.between(1, 20);
        self.at(self.now + Duration::from_millis(delay), next);
    }

    pub(super) fn later(&mut self, seconds: u64, next: Next) {
        self.at(self.now + Duration::from_secs(seconds), next);
    }

    pub(super) fn note(&mut self, text: impl FnOnce() -> String) {
        let now = self.now;
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{now:?} {}", text()));
        }
    }

    pub(super) fn step(&mut self, input: Input) -> Result<(), String> {
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
                self.step(Input::Applied(id, outcome))?;
                if is_over { self.step(Input::PassEnded) } else { self.apply(rest) }
            }
            Next::SetFinalizers(config, finalizers) => {
                self.set_finalizers(&config, &finalizers);
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

    /// When the loop was asked to end.
    pub(super) fn stopped_at(&self) -> Option<Time> {
        self.stop_at
    }
}

fn outcome_is_no_answer(outcome: &Outcome) -> bool {
    matches!(&outcome.action, Done::Failed(Error::Unreachable { .. } | Error::TimedOut { .. }))
}

fn brief(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.chars().take(220).collect()
}
