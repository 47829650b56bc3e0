//! The pass, again and again: on each change of the Config, of a template, or of a desired object, from what is watched.
//!
//! [`State`] decides: it is pure, takes what happened and the time, and returns what to do. `run` feeds it from the API server,
//! the files and the signals, and carries the actions out. A simulation drives the same state under virtual time.

pub mod apis;
pub mod attempts;
pub mod backoff;
mod config;
pub mod connections;
pub mod event;
pub mod fights;
pub mod finalizer;
pub mod known;
mod object;
pub mod outage;
mod plan;
mod run;
pub mod state;
mod stop;
mod until;
pub mod watched;

use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

pub use self::event::{Deviation, Event};
pub use self::run::{Reconnect, Source, Surroundings, run};
pub use self::state::State;
pub use self::until::{Lacking, Until};
pub use crate::cluster::Observation;
use crate::cluster::{Error, Served};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::{Manifest, ObjectId};
use crate::reconcile::outcome::Outcome;

/// An object as it is live; none when it does not exist.
pub type Live = Option<Rc<Value>>;

/// The time since the loop began.
pub type Time = Duration;

/// How the loop acts.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// Only observe: nothing is ever written.
    pub observe: bool,
    /// Keep the finalizer on the Config.
    pub finalizer: bool,
    /// The name under which fields are owned.
    pub field_manager: String,
    /// Whether fields that others set and the manifests do not have count as deviations.
    pub exact: bool,
    /// How often everything is read again although nothing seems to have changed.
    pub resync: Duration,
    /// Whether the platform depends on what the server serves.
    pub platform_is_auto: bool,
    /// The condition that ends the loop, and how long it may take.
    pub until: Option<(Until, Duration)>,
}

/// What happened.
#[derive(Debug)]
pub enum Input {
    /// Only time has passed.
    Tick,
    /// The connection of this number for this object saw something.
    Seen(ObjectId, u64, Observation),
    /// The answer to [`Action::Render`].
    Rendered(Result<Desired, Invalid>),
    /// A file in the folder of templates changed.
    TemplatesChanged,
    /// The answer to [`Action::ReadServed`].
    Served(Result<Served, Error>),
    /// What became of one object of the pass.
    Applied(ObjectId, Box<Outcome>),
    /// The pass has ended.
    PassEnded,
    /// The answer to [`Action::SetFinalizers`]: the Config as it is stored now.
    FinalizersSet(Result<Value, Error>),
    /// The answer to [`Action::ReadConfig`].
    ConfigRead(Result<Option<Value>, Error>),
    /// Somebody wants the loop to end.
    Stop(Exit),
}

/// An object to apply, and what is live of it.
pub type Task = (Rc<Manifest>, Live);

/// What is to be done.
#[derive(Clone, Debug)]
pub enum Action {
    /// Replace the connection for `id`: list it, or watch it `from` a version.
    Connect {
        /// The object.
        id: ObjectId,
        /// The number by which its observations are told from those of earlier connections.
        connection: u64,
        /// The version to watch from; a list when there is none.
        from: Option<String>,
    },
    /// End the connection for the object.
    Disconnect(ObjectId),
    /// Render the desired objects of this Config for a server that serves this.
    Render(Rc<Value>, Option<Served>),
    /// Read which API groups are served.
    ReadServed,
    /// Apply these objects, each over what is live of it, for the Config of this uid.
    Apply(Vec<Task>, Option<String>),
    /// Give up the pass that is being carried out.
    Abort,
    /// Replace the finalizers of the Config, provided that it is still the one given.
    SetFinalizers(Rc<Value>, Vec<String>),
    /// Read the Config.
    ReadConfig,
    /// Report.
    Report(Event),
    /// End the loop.
    End(Exit),
}

/// What a Config becomes.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// The namespace of the Config.
    pub namespace: String,
    /// The objects, in the order of applying.
    pub manifests: Vec<Manifest>,
    /// What a person should know about the Config and the templates.
    pub warnings: Vec<String>,
    /// What is left out and why.
    pub notes: Vec<String>,
    /// The templates are invalid, and the last valid ones were rendered.
    pub invalid_templates: Option<Rc<Failure>>,
}

/// Why a Config cannot be rendered.
#[derive(Clone, Debug)]
pub enum Invalid {
    /// The Config.
    Config(Rc<Failure>),
    /// The templates, and there are no earlier ones.
    Templates(Rc<Failure>),
}

/// The wait that a server asks for, as far as we follow: it may be back sooner.
fn bounded(retry_after: Option<Duration>) -> Duration {
    retry_after.unwrap_or_default().min(Duration::from_secs(60))
}
