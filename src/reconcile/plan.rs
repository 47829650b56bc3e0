//! What is to be done about each object, and why: the value that `diff` prints and that `apply` and `watch` execute.
//!
//! Takes a manifest, its live object and the server's answers, gives one [`Planned`] an object. The values of Secrets are masked here, so that
//! no printer can forget. Pure.

use serde_json::Value;

use super::blockers;
use crate::cluster::{Applied, Cause, Error};
use crate::compare::{self, Change, Comparison, Foreign};
use crate::manifest::{Manifest, ObjectId};
use crate::mask;
use crate::ownership::{self, Managers, Operation, Owner};
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

/// One object to plan for: what is desired, and what is live of it.
#[derive(Clone)]
pub struct Subject<'a> {
    /// What is desired.
    pub manifest: &'a Manifest,
    /// What is live.
    pub live: Option<&'a Value>,
    /// Our field manager.
    pub field_manager: &'a str,
    /// The live fields that others set and the manifest does not have; the values of a Secret are masked.
    pub foreign: Vec<Foreign>,
    /// Whether they are to be removed; on a namespace they belong to those that use it, as for the operator.
    pub exact: bool,
}

impl<'a> Subject<'a> {
    /// Reads from the ownership of `live` what others set.
    pub fn new(manifest: &'a Manifest, live: Option<&'a Value>, field_manager: &'a str, exact: bool) -> Self {
        let foreign = live.map(|live| {
            let (live, desired) = mask::pair(live, &manifest.object);
            compare::foreign(&desired, &live, field_manager)
        });
        let mut foreign = foreign.unwrap_or_default();
        let exact = exact && manifest.id.kind != "Namespace";
        if exact {
            foreign.extend(Self::ownerless(manifest, live));
        }
        Self { manifest, live, field_manager, foreign, exact }
    }

    /// What nobody owns and the manifest does not have: to be told from the server's defaults.
    pub fn ownerless(manifest: &Manifest, live: Option<&Value>) -> Vec<Foreign> {
        let Some(live) = live else { return Vec::new() };
        let (live, desired) = mask::pair(live, &manifest.object);
        compare::ownerless(&desired, &live)
    }

    /// The plan for an object that is as desired, foreign fields aside.
    pub fn in_sync(&self) -> Planned {
        self.compared(self.live.unwrap_or(&Value::Null), &[], &[], Vec::new())
    }

    /// The plan after a dry run: what the server made of the object, with which managers it saw a conflict, and the fields that had to be
    /// removed first. It is blocked only by fields of others: what nobody owns, such as the defaults of another strategy, goes with ours.
    pub fn previewed(&self, applied: Applied, causes: &[Cause], blockers: &[FieldPath]) -> Planned {
        let managers = self.live.map(Managers::of).unwrap_or_default();
        let is_ours = |path: &FieldPath| {
            let owners = self.live.map(|live| managers.owners(live, path)).unwrap_or_default();
            owners.iter().all(|owner| owner.manager == self.field_manager && owner.operation == Operation::Apply)
        };
        if blockers.iter().all(is_ours) {
            return self.compared(&applied.object, causes, &[], applied.warnings);
        }
        let mut planned = self.compared(&applied.object, causes, blockers, applied.warnings);
        planned.state = State::Blocked;
        planned
    }

    /// The plan without the server's answer, by values and ownership: what the server fills in or checks is not known.
    pub fn approximate(&self, error: Error) -> Planned {
        let object = &self.manifest.object;
        let target =
            self.live.map_or_else(|| object.clone(), |live| blockers::target(live, object, &[], self.field_manager));
        Planned { approximate: Some(error), ..self.compared(&target, &[], &[], Vec::new()) }
    }

    /// The plan for an object that could not be compared.
    pub fn failed(&self, error: Error) -> Planned {
        let (comparison, state) = match (&error, error.immutable_fields()) {
            (_, Some(fields)) => (Some(self.immutable(fields, None)), State::NeedsRecreate(error)),
            (Error::NamespaceMissing(_), None) if self.live.is_none() => {
                (Some(self.compare(&self.manifest.object)), State::Unchecked(error))
            }
            _ => (None, State::Unknown(error)),
        };
        Planned { comparison, ..self.planned(state) }
    }

    /// Whether a foreign field means nothing, unless it blocks ours.
    fn is_hollow(&self, field: &Foreign) -> bool {
        compare::is_hollow(&self.manifest.object, &field.value)
    }

    /// What others added.
    pub fn added(&self) -> Vec<Foreign> {
        self.foreign.iter().filter(|field| !self.is_hollow(field)).cloned().collect()
    }

    fn planned(&self, state: State) -> Planned {
        let managers = self.live.map(Managers::of).unwrap_or_default();
        Planned {
            id: self.manifest.id.clone(),
            source: self.manifest.source.clone(),
            state,
            comparison: None,
            conflicts: Vec::new(),
            causes: Vec::new(),
            blockers: Vec::new(),
            foreign: self.added(),
            warnings: managers.unreadable.iter().map(|entry| format!("{entry}; its fields are unknown")).collect(),
            managers,
            approximate: None,
        }
    }

    fn compared(&self, applied: &Value, causes: &[Cause], blockers: &[FieldPath], warnings: Vec<String>) -> Planned {
        let mut planned = self.planned(State::InSync);
        (planned.blockers, planned.foreign) = self.split(self.foreign_with(blockers), blockers);
        planned.foreign.retain(|field| !self.is_hollow(field));
        let mut desired = applied.clone();
        if self.exact {
            for field in std::mem::take(&mut planned.foreign) {
                ownership::remove(&mut desired, &field.path);
            }
        }
        let comparison = self.compare(&desired);
        planned.causes = causes.to_vec();
        planned.conflicts = conflicts(causes, self.live, &self.manifest.object);
        // Another way of writing the same is no conflict that anybody needs to decide, unless something else needs an apply.
        if comparison.unchanged() {
            planned.conflicts.clear();
        }
        planned.state = match (self.live, comparison.unchanged()) {
            (None, _) => State::Missing,
            (Some(_), true) => State::InSync,
            (Some(_), false) => State::Differs,
        };
        planned.warnings.extend(warnings);
        planned.comparison = Some(comparison);
        planned
    }

    /// The foreign fields, and of those that nobody owns the ones that block ours.
    fn foreign_with(&self, blockers: &[FieldPath]) -> Vec<Foreign> {
        let mut foreign = self.foreign.clone();
        if blockers.iter().any(|path| !foreign.iter().any(|field| field.path.contains(path))) {
            let ownerless = Self::ownerless(self.manifest, self.live).into_iter();
            foreign.extend(ownerless.filter(|field| blockers.iter().any(|path| field.path.contains(path))));
        }
        foreign
    }

    /// Parts the foreign fields into `blockers` and all others; a map of which only some keys block is taken apart.
    fn split(&self, foreign: Vec<Foreign>, blockers: &[FieldPath]) -> (Vec<Foreign>, Vec<Foreign>) {
        let nothing = Value::Null;
        let (live, _) = mask::pair(self.live.unwrap_or(&nothing), &self.manifest.object);
        let managers = Managers::of(&live);
        let key = |map: &Foreign, (name, value): (&String, &Value)| {
            let path = map.path.field(name);
            Foreign { owners: managers.owners(&live, &path), value: value.clone(), path }
        };
        let apart = |field: Foreign| match field.value.as_object() {
            Some(map) if blockers.iter().any(|path| field.path != *path && field.path.contains(path)) => {
                map.iter().map(|entry| key(&field, entry)).collect()
            }
            _ => vec![field],
        };
        foreign.into_iter().flat_map(apart).partition(|field| blockers.contains(&field.path))
    }

    fn compare(&self, desired: &Value) -> Comparison {
        let nothing = Value::Null;
        let (live, desired) = mask::pair(self.live.unwrap_or(&nothing), desired);
        compare::compare(self.live.map(|_| live.as_ref()), &desired, self.field_manager)
    }

    /// The plan for an object of which immutable fields differ; `applied` is what would come of all others.
    pub fn recreated(&self, error: Error, applied: &Value) -> Planned {
        let comparison = error.immutable_fields().map(|fields| self.immutable(fields, Some(applied)));
        Planned { comparison, ..self.planned(State::NeedsRecreate(error)) }
    }

    /// The manifest with the live values of the immutable `fields`.
    pub fn without_immutable(&self, fields: &[String]) -> Option<Value> {
        let live = self.live?;
        let mut object = self.manifest.object.clone();
        for field in fields {
            let field = format!(".{field}");
            let path = ownership::resolve(&field, &object)?;
            let kept = ownership::value_at(live, &path)?.clone();
            *ownership::value_at_mut(&mut object, &path.0)? = kept;
        }
        Some(object)
    }

    /// What is known of an object whose immutable `fields` differ: these, and what else would change.
    fn immutable(&self, fields: &[String], applied: Option<&Value>) -> Comparison {
        let mut comparison = self.compare(applied.or(self.live).unwrap_or(&Value::Null));
        let nothing = Value::Null;
        let (live, desired) = mask::pair(self.live.unwrap_or(&nothing), &self.manifest.object);
        let managers = Managers::of(&live);
        let change = |field: &String| {
            let field = format!(".{field}");
            let path = ownership::resolve(&field, &live).or_else(|| ownership::resolve(&field, &desired))?;
            let value = |object| ownership::value_at(object, &path).cloned();
            Some(Change { live: value(&live), desired: value(&desired), owners: managers.owners(&live, &path), path })
        };
        comparison.changes.splice(0..0, fields.iter().filter_map(change));
        comparison
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
