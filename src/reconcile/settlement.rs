//! Single conflicts that are decided one by one: which fields are taken, and which are left to their owners.
//!
//! Pure. A path means the field and all that is in it; it wins over a manager, and the longer of two paths over the shorter.

use super::plan::Conflict;
use crate::compare::Foreign;
use crate::manifest::Manifest;
use crate::ownership::{self, Owner};
use crate::path::FieldPath;

/// Paths and managers whose fields are taken, and those that are left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settlement {
    /// What is taken over.
    pub take: Vec<String>,
    /// What is left as it is, and left out of what is sent.
    pub yields: Vec<String>,
}

/// What a settlement comes to for one object.
#[derive(Clone, Debug, PartialEq)]
pub enum Settled {
    /// Something is left undecided.
    No,
    /// All is taken.
    Taken,
    /// The object is applied without these fields; all other conflicts are taken.
    Without(Manifest, Vec<Conflict>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Take,
    Yield,
}

impl Settlement {
    /// Whether nothing is settled.
    pub fn is_empty(&self) -> bool {
        self.take.is_empty() && self.yields.is_empty()
    }

    /// Decides about the conflicts and blockers of `manifest`; what is not named is taken if `takes_others`.
    pub fn settle(
        &self,
        manifest: &Manifest,
        conflicts: &[Conflict],
        blockers: &[Foreign],
        takes_others: bool,
    ) -> Settled {
        let others = takes_others.then_some(Decision::Take);
        // What blocks our fields cannot stay beside them: it is taken, or all stays as it is.
        let is_taken =
            |blocker: &Foreign| self.decide(&blocker.path, &blocker.owners).or(others) == Some(Decision::Take);
        let decided: Option<Vec<Decision>> =
            conflicts.iter().map(|conflict| self.decide(&conflict.path, &conflict.owners).or(others)).collect();
        let Some(decided) = decided.filter(|_| blockers.iter().all(is_taken)) else { return Settled::No };
        let yielded = conflicts.iter().zip(decided).filter(|(_, decision)| *decision == Decision::Yield);
        let yielded: Vec<Conflict> = yielded.map(|(conflict, _)| conflict.clone()).collect();
        if yielded.is_empty() {
            return Settled::Taken;
        }
        let mut reduced = manifest.clone();
        for conflict in &yielded {
            ownership::remove(&mut reduced.object, &conflict.path);
        }
        Settled::Without(reduced, yielded)
    }

    fn decide(&self, path: &FieldPath, owners: &[Owner]) -> Option<Decision> {
        // A shell takes the quotes around keys away.
        let path = path.to_string().replace('"', "");
        let given = |list: &'_ [String], decision: Decision| -> Vec<(String, Decision)> {
            list.iter().map(|one| (one.trim_start_matches('.').replace('"', ""), decision)).collect()
        };
        let all = [given(&self.take, Decision::Take), given(&self.yields, Decision::Yield)].concat();
        let by_path = all.iter().filter(|(given, _)| is_at_or_in(&path, given)).max_by_key(|(given, _)| given.len());
        let by_manager = || all.iter().find(|(given, _)| owners.iter().any(|owner| owner.manager == *given));
        by_path.or_else(by_manager).map(|(_, decision)| *decision)
    }
}

fn is_at_or_in(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
