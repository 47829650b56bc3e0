//! What the loop reports: values, which `report::log` turns into lines. The kinds are those of `watch -o json`.

use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use super::Behaviour;
use super::until::{Lacking, Until};
use crate::cluster::Error;
use crate::compare::Difference;
use crate::failure::Failure;
use crate::manifest::{Manifest, ObjectId};
use crate::ownership::{Managers, Owner};
use crate::reconcile::outcome::Outcome;

/// What the loop reports.
#[derive(Clone, Debug)]
pub enum Event {
    /// The Config was read: its name and its namespace.
    Read(String, String),
    /// The desired objects were rendered anew: their number.
    Rendered(usize),
    /// Something about the Config, a template or the platform that a person should know.
    Warning(String),
    /// The same, less important.
    Note(String),
    /// The Config is invalid; whether the last valid configuration is kept.
    InvalidConfig(Rc<Failure>, bool),
    /// A template is invalid; the last valid ones are kept.
    InvalidTemplates(Rc<Failure>),
    /// The Config does not exist.
    Gone,
    /// The Config is being deleted.
    Deleting,
    /// The finalizer was added to the Config (true) or removed.
    Finalizer(bool),
    /// The finalizer of an earlier run is on the Config; it is removed at the end.
    FinalizerAdopted,
    /// The finalizer could not be added or removed; it is tried again.
    FinalizerRefused(Error),
    /// The finalizer stays on the Config at the end, and why.
    FinalizerLeft(String),
    /// bpfman-operator has written these objects, too.
    Operator,
    /// An object deviates from what is desired.
    Deviates(Deviation),
    /// An object does not exist.
    Missing(ObjectId),
    /// An object is being deleted, and created again when it is gone.
    Terminating(ObjectId),
    /// An apply was made or refused.
    Applied(Rc<Manifest>, Outcome),
    /// The server stores other values than those that were applied.
    ChangedByAdmission(Deviation),
    /// Another manager keeps setting a field back; the object is left alone for a while.
    Fight {
        /// The object.
        id: ObjectId,
        /// The field that is fought over; none when the object is deleted each time.
        deviation: Option<Deviation>,
        /// For how long the object is left alone.
        pause: Duration,
    },
    /// An object is no longer desired, and stays as it is.
    NoLongerDesired(ObjectId),
    /// All objects are as desired: their number.
    InSync(usize),
    /// An object cannot be watched; its state is unknown.
    Unknown(ObjectId, Error),
    /// An object can be watched again.
    KnownAgain(ObjectId),
    /// The server gives no usable answer.
    OutageBegan(Error),
    /// The server answers again, after this time.
    OutageEnded(Duration),
    /// The time is over, and the condition is not met.
    TimedOut {
        /// The condition.
        until: Until,
        /// The object that keeps it from being met.
        id: Option<ObjectId>,
        /// Why.
        lacking: Lacking,
    },
    /// A step that is shown with `--verbose`.
    Step(String),
}

/// An object and the fields in which it deviates.
#[derive(Clone, Debug)]
pub struct Deviation {
    /// What is desired.
    pub manifest: Rc<Manifest>,
    /// What is live.
    pub live: Rc<Value>,
    /// Where they differ.
    pub differences: Vec<Difference>,
    /// Who else has written the object last since we applied it.
    pub last_other_writer: Option<Owner>,
}

impl Deviation {
    pub(super) fn new(
        manifest: &Rc<Manifest>,
        live: &Rc<Value>,
        differences: Vec<Difference>,
        behaviour: &Behaviour,
    ) -> Self {
        let last_other_writer = Managers::of(live).last_other_writer(&behaviour.field_manager).cloned();
        Self { manifest: Rc::clone(manifest), live: Rc::clone(live), differences, last_other_writer }
    }
}
