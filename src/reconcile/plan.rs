//! What is to be done about each object, and why: the value that `diff` prints and that `apply` and `watch` execute.
//!
//! One [`Planned`] an object, made in `subject`. Pure.

use serde_json::Value;

use crate::cluster::{Cause, Error};
use crate::compare::{Change, Comparison, Foreign};
use crate::manifest::{Manifest, ObjectId};
use crate::mask;
use crate::ownership::{self, Managers, Owner};
use crate::path::FieldPath;

/// What is to be done about one object.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The object.
    pub id: ObjectId,
    /// The template or file that it comes from.
    pub source: String,
    /// What is to be done.
    pub state: State,
    /// The live object beside the one that an apply makes of it; none when nothing could be compared.
    pub comparison: Option<Comparison>,
    /// Who owns what of the live object.
    pub managers: Managers,
    /// Who else has written the object since we applied it, the last of them: of a field that is gone nobody is recorded as the owner.
    pub last_other_writer: Option<Owner>,
    /// The fields that others own with other values: an apply needs force for them.
    pub conflicts: Vec<Conflict>,
    /// The same as the server said it.
    pub causes: Vec<Cause>,
    /// What others set beside our fields so that the server refuses both together: an apply with force removes it.
    pub blockers: Vec<Foreign>,
    /// Live fields that others set and the manifest does not have.
    pub foreign: Vec<Foreign>,
    /// The server's warnings, and what of the object's ownership cannot be read.
    pub warnings: Vec<String>,
    /// Why the server was not asked what an apply would make of it, if so: then the comparison goes by values and ownership alone.
    pub approximate: Option<Error>,
}

/// What is to be done about an object.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Nothing: it is as desired.
    InSync,
    /// To create it.
    Missing,
    /// To create it, which the server could not check yet, and why.
    Unchecked(Error),
    /// To change it.
    Differs,
    /// To change it once the blockers are removed.
    Blocked,
    /// Only deleting and creating it again would do: immutable fields differ.
    NeedsRecreate(Error),
    /// Not known: it cannot be read or compared.
    Unknown(Error),
}

/// A field that another manager owns with another value.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// Where.
    pub path: FieldPath,
    /// Who owns it.
    pub owners: Vec<Owner>,
    /// What is live.
    pub live: Option<Value>,
    /// What the manifest has.
    pub desired: Option<Value>,
}

impl Conflict {
    /// Whether `other` is a conflict over the same field with the same managers.
    pub fn is_same(&self, other: &Self) -> bool {
        let managers =
            |conflict: &Self| -> Vec<String> { conflict.owners.iter().map(|owner| owner.manager.clone()).collect() };
        self.path == other.path && managers(self) == managers(other)
    }
}

impl Planned {
    /// Whether an apply would write something.
    pub fn deviates(&self) -> bool {
        matches!(self.state, State::Missing | State::Unchecked(_) | State::Differs | State::Blocked)
    }

    /// Takes an object whose kind is defined by another of `manifests` as one to create: until then the server does not know the kind.
    #[must_use]
    pub fn after_definitions(mut self, manifests: &[Manifest]) -> Self {
        if let State::Unknown(error @ Error::NotServed { .. }) = &self.state
            && manifests.iter().any(|manifest| manifest.defines(&self.id))
        {
            self.state = State::Unchecked(error.clone());
        }
        self
    }

    /// Why the object could not be compared, if so.
    pub fn error(&self) -> Option<&Error> {
        match &self.state {
            State::NeedsRecreate(error) | State::Unknown(error) => Some(error),
            State::InSync | State::Missing | State::Unchecked(_) | State::Differs | State::Blocked => None,
        }
    }

    /// The values that would change.
    pub fn changes(&self) -> &[Change] {
        self.comparison.as_ref().map_or(&[], |comparison| &comparison.changes)
    }
}

/// Names the fields of a 409 by path, owner and values; the values of a Secret are masked.
pub fn conflicts(causes: &[Cause], live: Option<&Value>, desired: &Value) -> Vec<Conflict> {
    let nothing = Value::Null;
    let (live, desired) = mask::pair(live.unwrap_or(&nothing), desired);
    let (live, desired) = (live.as_ref(), desired.as_ref());
    let managers = Managers::of(live);
    let conflict = |cause: &Cause| {
        let found = ownership::resolve(&cause.field, live).or_else(|| ownership::resolve(&cause.field, desired));
        let path = found.unwrap_or_else(|| FieldPath::default().field(cause.field.trim_start_matches('.')));
        let claimant = ownership::claimant(&cause.message);
        let mut owners = managers.owners(live, &path);
        owners.retain(|owner| claimant.as_ref().is_none_or(|claimant| claimant.manager == owner.manager));
        if owners.is_empty() {
            owners.extend(claimant);
        }
        Conflict {
            live: ownership::value_at(live, &path).cloned(),
            desired: ownership::value_at(desired, &path).cloned(),
            owners,
            path,
        }
    };
    let mut conflicts: Vec<Conflict> = Vec::new();
    // The server has one cause for each owner of a field.
    for conflict in causes.iter().map(conflict) {
        match conflicts.iter_mut().find(|known| known.path == conflict.path) {
            Some(known) => known.owners.extend(conflict.owners),
            None => conflicts.push(conflict),
        }
    }
    conflicts.sort_by_cached_key(|conflict| conflict.path.to_string());
    for conflict in &mut conflicts {
        conflict.owners.sort();
        conflict.owners.dedup();
    }
    conflicts
}
