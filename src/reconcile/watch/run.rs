//! Feeds the state from the API server, the files, the signals and the clock, and carries out what it decides.
//!
//! Everything that is in flight is a stream of inputs in one set, so that nothing runs unseen and all of it ends with the loop.

use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::rc::Rc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable, LocalBoxFuture};
use futures_util::stream::{self, LocalBoxStream, SelectAll};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use super::{Action, Desired, Event, Input, Invalid, State, Task};
use crate::cluster::{self, Cluster, Error, Observer, Served};
use crate::exit::Exit;
use crate::manifest::{Manifest, ObjectId};
use crate::reconcile::Live;
use crate::reconcile::execute::{Execution, Owner};
use crate::reconcile::policy::Policy;
use crate::signals::Stop;

/// The state is asked at most so often, whatever it says: a mistake in it must not burn a core.
const SHORTEST_SLEEP: Duration = Duration::from_millis(5);
/// How long an answer is waited for at the end, before it is asked for by another connection.
const LAST_WAIT: Duration = Duration::from_secs(1);
/// How often the folder of templates is looked at.
const FILES_EVERY: Duration = Duration::from_secs(1);

/// What turns the Config into desired objects.
pub trait Source {
    /// Renders the objects of this Config for a server that serves this.
    fn render(&mut self, config: &Value, served: Option<&Served>) -> Result<Desired, Invalid>;

    /// Whether the folder of templates has changed since the last call.
    fn has_changed(&mut self) -> bool;
}

/// Makes another connection to the same server as the same user.
pub type Reconnect = Rc<dyn Fn() -> LocalBoxFuture<'static, Option<Cluster>>>;

/// What the loop needs of its surroundings.
pub struct Surroundings<'a> {
    /// The API server.
    pub cluster: &'a Cluster,
    /// The templates.
    pub source: &'a mut dyn Source,
    /// How objects are applied.
    pub policy: Policy<'static>,
    /// The signals.
    pub stop: &'a Stop,
    /// Makes another connection, for the end; the one there is may have fallen silent.
    pub reconnect: Reconnect,
    /// Ready when nobody reads the output any more.
    pub closed: &'a mut (dyn Future<Output = ()> + Unpin),
    /// Reports.
    pub report: &'a mut dyn FnMut(&Event, &State),
}

/// Runs the loop until the state ends it.
pub async fn run(mut state: State, config_id: &ObjectId, surroundings: Surroundings<'_>) -> Exit {
    let Surroundings { cluster, source, policy, stop, reconnect, closed, report } = surroundings;
    let observer = Observer::new(cluster);
    let context = Context { cluster, observer: &observer, policy, stop, reconnect: &reconnect, config_id };
    let mut in_flight =
        InFlight { inputs: SelectAll::new(), connections: BTreeMap::new(), signals: 0, is_closed: false };
    in_flight.inputs.push(stream::pending().boxed_local());
    let started = Instant::now();
    let mut files = interval(FILES_EVERY);
    files.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut input = Input::Tick;
    loop {
        let mut actions = state.step(input, started.elapsed());
        while let Some(exit) = in_flight.carry_out(&context, actions, source, &mut |event| report(event, &state)) {
            match exit {
                Next::End(exit) => return exit,
                Next::Input(input) => actions = state.step(*input, started.elapsed()),
            }
        }
        let wake = state.wake_at().map(|at| (started + at).max(Instant::now() + SHORTEST_SLEEP));
        input = tokio::select! {
            Some(input) = in_flight.inputs.next() => input,
            exit = stop.nth(in_flight.signals + 1) => {
                in_flight.signals += 1;
                Input::Stop(exit)
            }
            () = &mut *closed, if !in_flight.is_closed => {
                in_flight.is_closed = true;
                Input::Stop(Exit::Done)
            }
            _ = files.tick() => if source.has_changed() { Input::TemplatesChanged } else { Input::Tick },
            () = sleep(wake) => Input::Tick,
        };
    }
}

async fn sleep(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => pending().await,
    }
}

struct Context<'a> {
    cluster: &'a Cluster,
    observer: &'a Observer<'a>,
    policy: Policy<'static>,
    stop: &'a Stop,
    reconnect: &'a Reconnect,
    config_id: &'a ObjectId,
}

struct InFlight<'a> {
    inputs: SelectAll<LocalBoxStream<'a, Input>>,
    connections: BTreeMap<ObjectId, AbortHandle>,
    /// How many signals have been seen.
    signals: usize,
    /// Whether nobody reads the output any more.
    is_closed: bool,
}

enum Next {
    End(Exit),
    Input(Box<Input>),
}

impl<'a> InFlight<'a> {
    /// Carries out the actions; returns what follows at once.
    fn carry_out(
        &mut self,
        context: &Context<'a>,
        actions: Vec<Action>,
        source: &mut dyn Source,
        report: &mut dyn FnMut(&Event),
    ) -> Option<Next> {
        let mut next = None;
        for action in actions {
            match action {
                Action::Report(event) => report(&event),
                Action::End(exit) => return Some(Next::End(exit)),
                Action::Render(config, served) => {
                    report(&Event::Step("reading the configuration and rendering the templates".to_owned()));
                    next = Some(Next::Input(Box::new(Input::Rendered(source.render(&config, served.as_ref())))));
                }
                Action::Connect { id, connection, from } => self.connect(context, id, connection, from),
                Action::Disconnect(id) => {
                    if let Some(handle) = self.connections.remove(&id) {
                        handle.abort();
                    }
                }
                // Requests in flight may end; the pass sends no more.
                Action::Abort if context.stop.requested().is_none() => {
                    context.stop.request(Exit::Done);
                    self.signals += 1;
                }
                Action::Abort => {}
                Action::Apply(tasks, uid) => {
                    for (manifest, _) in &tasks {
                        report(&Event::Step(format!("applying {}", manifest.id.full_name())));
                    }
                    self.inputs.push(apply(context, &tasks, uid));
                }
                action => self.ask(context, action),
            }
        }
        next
    }

    fn connect(&mut self, context: &Context<'a>, id: ObjectId, connection: u64, from: Option<String>) {
        let (handle, registration) = AbortHandle::new_pair();
        let observer = context.observer;
        let observations = observer.observe(id.clone(), from, connection);
        let of = id.clone();
        let inputs = observations.map(move |observation| Input::Seen(of.clone(), connection, observation));
        if let Some(earlier) = self.connections.insert(id, handle) {
            earlier.abort();
        }
        self.inputs.push(Abortable::new(inputs, registration).boxed_local());
    }

    /// Sends one request whose answer is an input; at the end a connection that is silent is not waited for.
    fn ask(&mut self, context: &Context<'a>, action: Action) {
        let (cluster, config_id, reconnect) = (context.cluster, context.config_id, context.reconnect);
        let ends = self.signals > 0 || self.is_closed;
        let answer = async move {
            if !ends {
                return answer(cluster, config_id, &action).await;
            }
            if let Ok(input) = timeout(LAST_WAIT, answer(cluster, config_id, &action)).await {
                return input;
            }
            let again = async { Some(answer(&reconnect().await?, config_id, &action).await) };
            let silent = || Error::TimedOut { host: cluster.host().to_owned(), seconds: LAST_WAIT.as_secs() };
            timeout(LAST_WAIT * 2, again).await.ok().flatten().unwrap_or_else(|| match action {
                Action::SetFinalizers(..) => Input::FinalizersSet(Err(silent())),
                _ => Input::ConfigRead(Err(silent())),
            })
        };
        self.inputs.push(stream::once(answer).boxed_local());
    }
}

async fn answer(cluster: &Cluster, config_id: &ObjectId, action: &Action) -> Input {
    match action {
        Action::ReadServed => Input::Served(cluster.served().await),
        Action::ReadConfig => Input::ConfigRead(cluster.get(config_id).await),
        Action::SetFinalizers(config, finalizers) => {
            Input::FinalizersSet(cluster.set_finalizers(config_id, config, finalizers).await)
        }
        _ => Input::Tick,
    }
}

/// One pass, which the command `apply` makes the same way.
fn apply<'a>(context: &Context<'a>, tasks: &[Task], uid: Option<String>) -> LocalBoxStream<'a, Input> {
    let Context { cluster, policy, stop, .. } = *context;
    let owner = uid.map(|uid| Owner { id: context.config_id.clone(), uid });
    let live: Live = tasks.iter().map(|(manifest, live)| (manifest.id.clone(), Ok(live.as_deref().cloned()))).collect();
    let manifests: Vec<Manifest> = tasks.iter().map(|(manifest, _)| (**manifest).clone()).collect();
    let work = async move |inputs: mpsc::Sender<Input>| {
        let mut late = Vec::new();
        let execution = Execution { cluster, policy, owner: owner.as_ref(), announce: &|_, _| {}, stop };
        execution
            .run(&manifests, &live, |manifest, outcome| {
                let input = Input::Applied(manifest.id.clone(), Box::new(outcome.clone()));
                // What does not fit into the channel at once follows at the end.
                if let Err(mpsc::error::TrySendError::Full(input)) = inputs.try_send(input) {
                    late.push(input);
                }
            })
            .await;
        late.push(Input::PassEnded);
        for input in late {
            let _ = inputs.send(input).await;
        }
    };
    cluster::produced(work).boxed_local()
}
