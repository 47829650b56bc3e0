//! The finalizer on the Config: added before the first object is touched, removed when the Config is deleted or the loop ends.
//!
//! Pure. `managedFields` says who added it. One that our own field manager added is ours to remove, be it that an earlier run
//! was killed: another watch that still runs, or the operator, adds it again as soon as it sees the Config without it.

use std::time::Duration;

use serde_json::{Value, json};

use super::Time;
use super::backoff::{Backoff, Jitter};
use crate::cluster::Error;
use crate::config::Lifecycle;
use crate::ownership::{Managers, Operation};
use crate::path::{FieldPath, Step};

/// The finalizer that keeps objects from being created again while the Config is being deleted
/// (<https://github.com/bpfman/bpfman-operator/pull/465>).
pub const FINALIZER: &str = "bpfman.io/config-finalizer";

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long the watch may take to show what we have written.
const SHOWN_WITHIN: Duration = Duration::from_secs(5);

/// What is known of the finalizer, and what is being done about it.
#[derive(Debug, Default)]
pub struct Finalizer {
    /// The uid of the Config that we may have added it to.
    ours: Option<String>,
    /// What the request in flight does: adds (true) or removes.
    in_flight: Option<bool>,
    /// The version of the Config that the last request was for; its answer is a later one, which the watch delivers.
    asked_for: Option<String>,
    /// Until then the watch may take to show it. A restored backup may have that version again.
    shown_by: Time,
    backoff: Backoff,
    retry_at: Time,
    /// Whether the loop ends: then only short pauses are worth it.
    hurries: bool,
    told: Option<Error>,
}

/// What is to be done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing: it is as it should be.
    Done,
    /// Wait for the answer.
    Wait,
    /// Try again then.
    Later(Time),
    /// Send these finalizers.
    Send(Vec<String>),
}

impl Finalizer {
    /// Decides what to do, so that the finalizer is on a Config that stays (`desired`) or off.
    pub fn next(&mut self, config: &Lifecycle, desired: bool, now: Time) -> Next {
        if self.in_flight.is_some() {
            return Next::Wait;
        }
        if config.has_finalizer(FINALIZER) == desired {
            self.backoff.reset();
            self.told = None;
            return Next::Done;
        }
        if self.asked_for.is_some() && self.asked_for == config.resource_version && now < self.shown_by {
            return Next::Later(self.shown_by);
        }
        if now < self.retry_at {
            return Next::Later(self.retry_at);
        }
        let mut finalizers = config.finalizers.clone();
        finalizers.retain(|finalizer| finalizer != FINALIZER);
        if desired {
            finalizers.push(FINALIZER.to_owned());
            // It may arrive although no answer comes.
            self.ours.clone_from(&config.uid);
        }
        self.in_flight = Some(desired);
        self.asked_for.clone_from(&config.resource_version);
        Next::Send(finalizers)
    }

    /// Takes over the answer; returns what was done, or the error if it was not reported yet.
    pub fn answered(
        &mut self,
        answer: Result<(), Error>,
        now: Time,
        jitter: &mut Jitter,
    ) -> Option<Result<bool, Error>> {
        let added = self.in_flight.take()?;
        match answer {
            Ok(()) => {
                self.retry_at = now;
                self.shown_by = now + if self.hurries { FIRST_PAUSE } else { SHOWN_WITHIN };
                if !added {
                    self.ours = None;
                }
                Some(Ok(added))
            }
            Err(error) => {
                self.asked_for = None;
                if added && !error.is_no_answer() {
                    self.ours = None;
                }
                self.retry_at = now
                    + self.backoff.next(FIRST_PAUSE, if self.hurries { FIRST_PAUSE } else { LONGEST_PAUSE }, jitter);
                let is_news = !error.is_stale() && self.told.as_ref() != Some(&error);
                self.told = Some(error.clone());
                is_news.then_some(Err(error))
            }
        }
    }

    /// The Config is gone; returns whether that is what a removal in flight has brought about.
    pub fn config_is_gone(&mut self) -> bool {
        self.in_flight.take_if(|added| !*added).is_some()
    }

    /// The end has come: no pause is waited for.
    pub fn hurry(&mut self) {
        self.retry_at = Time::ZERO;
        self.shown_by = Time::ZERO;
        self.hurries = true;
    }

    /// Whether a request is in flight.
    pub fn is_in_flight(&self) -> bool {
        self.in_flight.is_some()
    }

    /// Takes over the finalizer that our field manager added in an earlier run; returns whether that is so and new.
    pub fn adopt(&mut self, config: &Value, field_manager: &str) -> bool {
        let lifecycle = Lifecycle::of(config);
        if self.in_flight.is_some() || lifecycle.uid == self.ours || !lifecycle.has_finalizer(FINALIZER) {
            return false;
        }
        let adopted = added_by(config, field_manager);
        if adopted {
            self.ours = lifecycle.uid;
        }
        adopted
    }

    /// Whether it is ours to remove from this Config.
    pub fn is_ours(&self, config: &Lifecycle) -> bool {
        self.ours.is_some() && self.ours == config.uid
    }

    /// Whether we may have added it to any Config.
    pub fn may_be_anywhere(&self) -> bool {
        self.ours.is_some()
    }
}

/// Whether `field_manager` added the finalizer with an update or patch, as this program does.
fn added_by(config: &Value, field_manager: &str) -> bool {
    let list = FieldPath::default().field("metadata").field("finalizers");
    let item = list.join(Step::Item(json!(FINALIZER)));
    Managers::of(config).entries.iter().any(|entry| {
        entry.owner.manager == field_manager
            && entry.owner.operation == Operation::Update
            && entry.fields.at(&item).is_some()
    })
}
