//! Live fields that nobody owns and the manifest does not have: mostly the server's defaults, sometimes what was left behind when ownership was
//! cleared. Which of the two only the server can say.
//!
//! Takes both objects, gives candidates. Lists are entered where some manager's set knows their keys. Pure functions.

use serde_json::{Map, Value};

use super::align;
use super::bookkeeping;
use super::foreign::{Foreign, is_kept};
use crate::ownership::{FieldSet, Managers, is_item};
use crate::path::{FieldPath, Step};

/// The fields of `live` without an owner that `desired` does not have; `recorded` tells which lists have keys, besides the managers.
pub fn ownerless(desired: &Value, live: &Value, recorded: Option<&FieldSet>) -> Vec<Foreign> {
    let managers = Managers::of(live);
    let (_, object, _) = bookkeeping::take_out(None, live, None);
    let mut search = Search { managers: &managers, root: live, found: Vec::new() };
    search.value(&FieldPath::default(), &managers.sets().chain(recorded).collect::<Vec<_>>(), desired, &object);
    search.found
}

struct Search<'a> {
    managers: &'a Managers,
    root: &'a Value,
    found: Vec<Foreign>,
}

impl Search<'_> {
    fn value(&mut self, at: &FieldPath, sets: &[&FieldSet], desired: &Value, live: &Value) {
        match (desired, live) {
            (Value::Object(desired), Value::Object(live)) => self.map(at, sets, desired, live),
            (Value::Array(desired), Value::Array(live)) => self.list(at, sets, desired, live),
            _ => {}
        }
    }

    fn map(&mut self, at: &FieldPath, sets: &[&FieldSet], desired: &Map<String, Value>, live: &Map<String, Value>) {
        for (name, value) in live {
            let path = at.field(name);
            match desired.get(name) {
                Some(desired) => {
                    let sets: Vec<&FieldSet> = sets.iter().filter_map(|set| set.field(name)).collect();
                    self.value(&path, &sets, desired, value);
                }
                None => self.note(path, value),
            }
        }
    }

    fn list(&mut self, at: &FieldPath, sets: &[&FieldSet], desired: &[Value], live: &[Value]) {
        let names = sets.iter().find_map(|set| set.key_names());
        for (index, item) in live.iter().enumerate() {
            let known = sets.iter().find_map(|set| set.item(item, index)).map(|(step, _)| step.clone());
            let guessed = || match &names {
                Some(names) => align::keys_of(item, names),
                None if sets.is_empty() => align::guessed_step(item),
                None => None,
            };
            let Some(step) = known.or_else(guessed) else { continue };
            let path = at.join(step.clone());
            match desired.iter().find(|desired| is_item(&step, desired, usize::MAX)) {
                Some(desired) => {
                    let below: Vec<&FieldSet> =
                        sets.iter().filter_map(|set| set.item(item, index)).map(|(_, set)| set).collect();
                    self.value(&path, &below, desired, item);
                }
                None => self.note(path, item),
            }
        }
    }

    fn note(&mut self, path: FieldPath, value: &Value) {
        let is_key = matches!(path.0.as_slice(), [.., Step::Keys(keys), Step::Field(name)] if keys.contains_key(name));
        if !is_key && !is_kept(&path) && self.managers.owners(self.root, &path).is_empty() {
            self.found.push(Foreign { path, value: value.clone(), owners: Vec::new() });
        }
    }
}
