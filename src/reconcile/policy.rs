//! What an apply may do about what it meets: conflicts, fields of others, a missing namespace.
//!
//! Pure data.

use super::plan::Conflict;
use super::settlement::{Settled, Settlement};
use crate::compare::Foreign;
use crate::manifest::Manifest;

/// How far an apply goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DryRun {
    /// It writes.
    #[default]
    None,
    /// It plans and stores nothing; without the right to a dry run it goes by what ownership says.
    Client,
    /// It lets the server go through all of it, and stores nothing.
    Server,
}

/// What to do about fields that others own with other values, and about what blocks ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflicts {
    /// Leave the object as it is.
    #[default]
    Refuse,
    /// Take them over, after they were looked at.
    Take,
    /// Take them over with the first request: what is live was looked at, and the request is pinned to it.
    TakeSeen,
}

/// What to do about fields that others set and the manifest does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForeignFields {
    /// Leave them.
    #[default]
    Keep,
    /// Remove them.
    Remove,
}

/// What an apply may do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policy<'a> {
    /// How far it goes.
    pub dry_run: DryRun,
    /// About conflicts.
    pub conflicts: Conflicts,
    /// About fields of others.
    pub foreign: ForeignFields,
    /// Whether it creates the namespace.
    pub create_namespace: bool,
    /// Whether it deletes and creates again what cannot be changed otherwise.
    pub recreate: bool,
    /// Whether an object must be of the version that was read.
    pub pinned: bool,
    /// Single conflicts that are decided, whatever `conflicts` says.
    pub settlement: Option<&'a Settlement>,
    /// Managers whose fields become ours.
    pub migrate_from: &'a [String],
}

impl Policy<'_> {
    /// Decides about all that is in the way, if that is possible.
    pub fn settle(&self, manifest: &Manifest, conflicts: &[Conflict], blockers: &[Foreign]) -> Settled {
        let settlement = self.settlement.filter(|_| !(conflicts.is_empty() && blockers.is_empty()));
        settlement.map_or(Settled::No, |settlement| {
            settlement.settle(manifest, conflicts, blockers, self.conflicts != Conflicts::Refuse)
        })
    }
}
