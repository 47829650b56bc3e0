//! What became of an object, and what there is to say about it. Pure data.

use serde_json::Value;

pub use super::migrate::Migrated;
use super::plan::{Conflict, Planned, State};
use super::policy::{Conflicts, Policy};
use crate::cluster::Error;
use crate::compare::{Change, Comparison, Foreign, Released};

/// What became of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// It was not there.
    Created,
    /// It was changed.
    Configured,
    /// It was deleted and created again.
    Recreated,
    /// It was as desired; nothing was sent.
    Unchanged,
    /// It was sent without being read first, for lack of the right: what changed is not known.
    Applied,
    /// It was left alone, and why.
    Skipped(String),
    /// It was left alone: fields that others set block ours.
    Blocked,
    /// It could not be done.
    Failed(Error),
}

/// What became of one object, and what there is to say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was done.
    pub action: Action,
    /// The conflicts: those that stopped it, or what was taken over.
    pub conflicts: Vec<Conflict>,
    /// The fields of others that block ours, or that were removed.
    pub blockers: Vec<Foreign>,
    /// Conflicts that were left to their owners: the fields were left out of what was sent.
    pub yielded: Vec<Conflict>,
    /// Fields of other managers whose ownership became ours.
    pub migrated: Vec<Migrated>,
    /// Values that the server stores otherwise than they were sent: `live` beside `desired`.
    pub altered: Vec<Change>,
    /// Fields of others that are still there.
    pub foreign: Vec<Foreign>,
    /// Fields that are no longer desired and stay, since others own them.
    pub released: Vec<Released>,
    /// What changed, where that is known; the values of a Secret are masked.
    pub comparison: Option<Box<Comparison>>,
    /// The server's warnings.
    pub warnings: Vec<String>,
    /// The object as the server has it now, where it was sent.
    pub object: Option<Value>,
}

impl Outcome {
    /// An outcome with nothing more to say.
    pub fn of(action: Action) -> Self {
        Self {
            action,
            conflicts: Vec::new(),
            blockers: Vec::new(),
            yielded: Vec::new(),
            altered: Vec::new(),
            migrated: Vec::new(),
            foreign: Vec::new(),
            released: Vec::new(),
            comparison: None,
            warnings: Vec::new(),
            object: None,
        }
    }

    /// Whether the object is not as desired after this.
    pub fn is_failure(&self) -> bool {
        matches!(self.action, Action::Failed(_) | Action::Blocked)
    }

    /// What an apply with `policy` would come to.
    pub fn planned(planned: Planned, policy: Policy<'_>) -> Self {
        let refuses = policy.conflicts == Conflicts::Refuse;
        let action = match planned.state {
            State::InSync => Action::Unchanged,
            State::Missing | State::Unchecked(_) => Action::Created,
            State::Blocked if refuses => Action::Blocked,
            State::Differs if refuses && !planned.conflicts.is_empty() => {
                Action::Failed(Error::Conflict(planned.causes))
            }
            State::Differs | State::Blocked => Action::Configured,
            State::NeedsRecreate(error) | State::Unknown(error) => Action::Failed(error),
        };
        let changes = matches!(action, Action::Created | Action::Configured);
        Self {
            conflicts: planned.conflicts,
            blockers: planned.blockers,
            foreign: planned.foreign,
            released: planned.comparison.as_ref().map(|comparison| comparison.released.clone()).unwrap_or_default(),
            comparison: planned.comparison.filter(|_| changes).map(Box::new),
            warnings: planned.warnings,
            ..Self::of(action)
        }
    }
}
