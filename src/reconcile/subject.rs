//! One object to plan for, and the plan that follows from what is desired, what is live, and the server's answers.
//!
//! The values of Secrets are masked here, so that no printer can forget. Pure.

use serde_json::Value;

use super::blockers;
use super::plan::{self, Planned, State};
use crate::cluster::{Applied, Cause, Error};
use crate::compare::{self, Change, Comparison, Foreign, Keyed};
use crate::manifest::Manifest;
use crate::mask;
use crate::ownership::{self, Managers, Operation};
use crate::path::{FieldPath, Step};

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
    /// The manifest with the keys that the server fills in, where it was asked for them.
    pub keyed: Option<Keyed>,
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
            foreign.extend(Self::ownerless(manifest, live, None));
        }
        Self { manifest, live, field_manager, foreign, exact, keyed: None }
    }

    /// What nobody owns and the manifest does not have: to be told from the server's defaults.
    pub fn ownerless(manifest: &Manifest, live: Option<&Value>, keyed: Option<&Keyed>) -> Vec<Foreign> {
        let Some(live) = live else { return Vec::new() };
        let (live, desired) = mask::pair(live, keyed.map_or(&manifest.object, |keyed| &keyed.object));
        compare::ownerless(&desired, &live, keyed.map(|keyed| &keyed.fields))
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
        let target = self
            .live
            .map_or_else(|| object.clone(), |live| blockers::target(live, object, None, &[], self.field_manager));
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
            last_other_writer: managers.last_other_writer(self.field_manager).cloned(),
            managers,
            approximate: None,
        }
    }

    fn compared(&self, applied: &Value, causes: &[Cause], blockers: &[FieldPath], warnings: Vec<String>) -> Planned {
        let mut planned = self.planned(State::InSync);
        let foreign = self.without_ours(self.foreign_with(blockers), applied);
        (planned.blockers, planned.foreign) = self.split(foreign, blockers);
        planned.foreign.retain(|field| !self.is_hollow(field));
        let mut desired = applied.clone();
        if self.exact {
            for field in std::mem::take(&mut planned.foreign) {
                ownership::remove(&mut desired, &field.path);
            }
        }
        let comparison = self.compare(&desired);
        planned.causes = causes.to_vec();
        planned.conflicts = plan::conflicts(causes, self.live, &self.manifest.object);
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
            let ownerless = Self::ownerless(self.manifest, self.live, self.keyed.as_ref()).into_iter();
            foreign.extend(ownerless.filter(|field| blockers.iter().any(|path| field.path.contains(path))));
        }
        foreign
    }

    /// The foreign fields without what is ours once `applied`: an item whose keys the server filled in was not recognised before.
    fn without_ours(&self, foreign: Vec<Foreign>, applied: &Value) -> Vec<Foreign> {
        let after = Managers::of(applied);
        let Some(ours) = after.applied_by(self.field_manager).map(|entry| &entry.fields) else { return foreign };
        let beyond_ours = |field: Foreign| match (field.path.0.last(), ours.at(&field.path), &field.value) {
            (Some(Step::Keys(keys)), Some(set), Value::Object(map)) => {
                let is_ours = |name: &String| keys.contains_key(name) || set.field(name).is_some();
                map.iter().filter(|(name, _)| !is_ours(name)).map(|entry| self.entry(&field.path, entry)).collect()
            }
            _ => vec![field],
        };
        foreign.into_iter().flat_map(beyond_ours).collect()
    }

    /// One entry of the foreign map at `path`.
    fn entry(&self, path: &FieldPath, (name, value): (&String, &Value)) -> Foreign {
        let path = path.field(name);
        let live = self.live.unwrap_or(&Value::Null);
        Foreign { owners: Managers::of(live).owners(live, &path), value: value.clone(), path }
    }

    /// Parts the foreign fields into `blockers` and all others; a map of which only some keys block is taken apart.
    fn split(&self, foreign: Vec<Foreign>, blockers: &[FieldPath]) -> (Vec<Foreign>, Vec<Foreign>) {
        let apart = |field: Foreign| match field.value.as_object() {
            Some(map) if blockers.iter().any(|path| field.path != *path && field.path.contains(path)) => {
                map.iter().map(|entry| self.entry(&field.path, entry)).collect()
            }
            _ => vec![field],
        };
        foreign.into_iter().flat_map(apart).partition(|field| blockers.contains(&field.path))
    }

    fn compare(&self, desired: &Value) -> Comparison {
        let nothing = Value::Null;
        let (live, desired) = mask::pair(self.live.unwrap_or(&nothing), desired);
        let recorded = self.keyed.as_ref().map(|keyed| &keyed.fields);
        compare::compare_keyed(self.live.map(|_| live.as_ref()), &desired, recorded, self.field_manager)
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
