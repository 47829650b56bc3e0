//! The pass, again and again: on each change of the Config or of a wanted object, from cached reads.
//!
//! Every object has a watch of its own. Events are gathered for a moment, so that a burst is one pass; a pass compares
//! locally and sends one apply for each object that deviates, and nothing else.

mod finalizer;
mod memory;

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{BoxStream, SelectAll, select_all};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use self::memory::Memory;
use super::Live;
use super::execute::{Execution, Owner};
use super::outcome::Outcome;
use super::policy::Policy;
use crate::cluster::{self, Cluster, Error, Seen};
use crate::compare::{self, Difference, Verdict};
use crate::config::{Config, Lifecycle};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::{Manifest, ObjectId};
use crate::signals::Stop;

/// How long events are gathered before a pass.
const GATHER: Duration = Duration::from_millis(500);

/// What the loop has to tell.
#[derive(Debug)]
pub enum Event<'a> {
    /// The Config was read.
    Read(&'a Config),
    /// The wanted objects were rendered anew.
    Rendered(&'a [Manifest]),
    /// The Config in the cluster is wrong; what was wanted before stays wanted.
    Invalid(&'a Failure),
    /// The Config is not there; nothing is wanted.
    Gone,
    /// The Config is being deleted; its objects are left to the garbage collector.
    Deleting,
    /// The finalizer was put on the Config (true) or taken off.
    Finalizer(bool),
    /// An object deviates: as wanted, as it is live, and where.
    Deviates(&'a Manifest, &'a Value, &'a [Difference]),
    /// An object is missing.
    Missing(&'a ObjectId),
    /// What was done about it.
    Done(&'a Manifest, &'a Outcome),
    /// All objects are as wanted.
    InSync(usize),
    /// A watch or the finalizer failed; it is tried again.
    Trouble(&'a ObjectId, &'a Error),
}

/// How the loop acts.
#[derive(Clone, Copy, Debug)]
pub struct Behaviour {
    /// Whether fields are taken over, and the namespace created.
    pub policy: Policy,
    /// Only observe.
    pub observe: bool,
    /// Keep the finalizer on the Config.
    pub finalizer: bool,
}

/// Turns the Config's object into what is wanted.
pub type Render<'a> = dyn FnMut(&Value) -> Result<(Config, Vec<Manifest>), Failure> + 'a;

/// The loop's state: what is wanted, what is live, what was tried.
pub struct Watch<'a> {
    cluster: &'a Cluster,
    behaviour: Behaviour,
    render: Box<Render<'a>>,
    tell: Box<dyn FnMut(Event<'_>) + 'a>,
    config_id: ObjectId,
    /// The Config's object, valid or not.
    config: Option<Value>,
    manifests: Vec<Manifest>,
    live: Live,
    events: SelectAll<BoxStream<'static, Seen>>,
    memory: Memory,
    in_sync: bool,
    added_finalizer: bool,
}

impl<'a> Watch<'a> {
    /// Prepares a loop; nothing is sent yet.
    pub fn new(
        cluster: &'a Cluster,
        config_id: ObjectId,
        behaviour: Behaviour,
        render: Box<Render<'a>>,
        tell: Box<dyn FnMut(Event<'_>) + 'a>,
    ) -> Self {
        Self {
            cluster,
            behaviour,
            render,
            tell,
            config_id,
            config: None,
            manifests: Vec::new(),
            live: BTreeMap::new(),
            events: select_all([]),
            memory: Memory::default(),
            in_sync: false,
            added_finalizer: false,
        }
    }

    /// Runs until a signal comes.
    pub async fn run(mut self, stop: &Stop) -> Result<Exit, Error> {
        let mut configs = cluster::watch(self.cluster, self.config_id.clone()).await?;
        let mut due: Option<Instant> = None;
        let exit = loop {
            let wait = due.or(self.memory.next_try());
            tokio::select! {
                exit = stop.first() => break exit,
                Some(seen) = configs.next() => self.note_config(seen).await?,
                Some(seen) = self.events.next() => self.note_object(seen),
                () = sleep_until(wait.unwrap_or_else(Instant::now)), if wait.is_some() && self.all_seen() => {
                    // An apply that changes nothing makes no event: what came of it is looked at all the same.
                    due = self.pass(stop).await.then(|| Instant::now() + GATHER);
                    continue;
                }
            }
            due = due.or_else(|| Some(Instant::now() + GATHER));
        };
        self.take_finalizer_off().await;
        Ok(exit)
    }

    fn all_seen(&self) -> bool {
        self.manifests.iter().all(|manifest| self.live.contains_key(&manifest.id))
    }

    async fn note_config(&mut self, seen: Seen) -> Result<(), Error> {
        let object = match seen.state {
            Err(error) => {
                (self.tell)(Event::Trouble(&seen.id, &error));
                return Ok(());
            }
            Ok(None) => {
                self.config = None;
                self.want(Vec::new()).await?;
                (self.tell)(Event::Gone);
                return Ok(());
            }
            Ok(Some(object)) => object,
        };
        let rendered = (self.render)(&object);
        // Its deletion counts even if its spec is invalid.
        self.config = Some(object);
        match rendered {
            Err(failure) => (self.tell)(Event::Invalid(&failure)),
            Ok((config, manifests)) => {
                if manifests != self.manifests {
                    (self.tell)(Event::Read(&config));
                }
                self.want(manifests).await?;
            }
        }
        Ok(())
    }

    /// Takes over what is wanted now; watches start anew when other objects are wanted than before.
    async fn want(&mut self, manifests: Vec<Manifest>) -> Result<(), Error> {
        if manifests == self.manifests {
            return Ok(());
        }
        let ids = |manifests: &[Manifest]| manifests.iter().map(|manifest| manifest.id.clone()).collect::<Vec<_>>();
        let other_objects = ids(&manifests) != ids(&self.manifests);
        self.manifests = manifests;
        self.in_sync = false;
        (self.tell)(Event::Rendered(&self.manifests));
        if other_objects {
            let mut watches = Vec::new();
            for manifest in &self.manifests {
                watches.push(cluster::watch(self.cluster, manifest.id.clone()).await?);
            }
            self.events = select_all(watches);
            self.live.clear();
            self.memory = Memory::default();
        }
        Ok(())
    }

    fn note_object(&mut self, seen: Seen) {
        match seen.state {
            Err(error) => {
                // Stays unknown, and is left alone, until the watch works again.
                if self.memory.is_news(&seen.id, &error) {
                    (self.tell)(Event::Trouble(&seen.id, &error));
                }
                self.live.entry(seen.id).or_insert(Err(error));
            }
            Ok(state) => {
                let older = match (&state, self.live.get(&seen.id)) {
                    (Some(new), Some(Ok(Some(known)))) => version(new) < version(known),
                    _ => false,
                };
                // The answer to our own apply may be ahead of the watch.
                if !older {
                    self.live.insert(seen.id, Ok(state));
                }
            }
        }
    }

    /// Reconciles once; true when something was sent.
    async fn pass(&mut self, stop: &Stop) -> bool {
        if !self.tend_finalizer().await {
            return false;
        }
        let manifests = std::mem::take(&mut self.manifests);
        let due: Vec<Manifest> = manifests.iter().filter(|manifest| self.deviates(manifest)).cloned().collect();
        self.manifests = manifests;
        if due.is_empty() {
            let deviating = self.memory.has_deviating(self.behaviour.observe);
            if !self.in_sync && !deviating && !self.manifests.is_empty() {
                self.in_sync = true;
                (self.tell)(Event::InSync(self.manifests.len()));
            }
            return false;
        }
        self.in_sync = false;
        if self.behaviour.observe {
            return false;
        }
        let mut outcomes = Vec::new();
        let owner = self.owner();
        let tell = &mut self.tell;
        let execution = Execution { cluster: self.cluster, policy: self.behaviour.policy, owner: owner.as_ref(), stop };
        execution
            .run(&due, &self.live, |manifest, outcome| {
                tell(Event::Done(manifest, outcome));
                outcomes.push((manifest.clone(), outcome.clone()));
            })
            .await;
        // The pass ends early when the server is gone.
        for manifest in due.iter().filter(|manifest| outcomes.iter().all(|(done, _)| done.id != manifest.id)) {
            self.memory.put_off(&manifest.id);
        }
        for (manifest, outcome) in outcomes {
            self.memory.learn(&manifest, &outcome, self.cluster.field_manager());
            if let Some(object) = outcome.object {
                self.live.insert(manifest.id, Ok(Some(object)));
            }
        }
        true
    }

    fn owner(&self) -> Option<Owner> {
        let uid = Lifecycle::of(self.config.as_ref()?).uid?;
        Some(Owner { id: self.config_id.clone(), uid })
    }

    /// Whether an object needs an apply now; tells what deviates.
    fn deviates(&mut self, manifest: &Manifest) -> bool {
        let Some(Ok(live)) = self.live.get(&manifest.id) else {
            self.memory.forget(&manifest.id);
            return false;
        };
        if !self.memory.may_try(manifest, live.as_ref()) {
            return false;
        }
        match live {
            None => (self.tell)(Event::Missing(&manifest.id)),
            Some(live) => match compare::in_sync(&manifest.object, live, self.cluster.field_manager()) {
                Verdict::InSync => {
                    self.memory.forget(&manifest.id);
                    return false;
                }
                Verdict::Terminating => {}
                Verdict::Differs(differences) => (self.tell)(Event::Deviates(manifest, live, &differences)),
            },
        }
        if self.behaviour.observe {
            self.memory.observed(manifest, live.as_ref());
        }
        true
    }
}

/// Resource versions of one object can be compared as numbers
/// (<https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions>).
fn version(object: &Value) -> Option<u128> {
    object.pointer("/metadata/resourceVersion")?.as_str()?.parse().ok()
}
