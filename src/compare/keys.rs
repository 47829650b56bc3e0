//! The keys that list items leave out and the server fills in, such as the `protocol` of a port: only it knows them for custom kinds.
//!
//! Pure functions.

use serde_json::Value;

use crate::ownership::{FieldSet, Managers};

/// A desired object with the keys that the server fills in.
#[derive(Clone, Debug)]
pub struct Keyed {
    /// The object.
    pub object: Value,
    /// Its fields as the server records them: they tell which lists have keys.
    pub fields: FieldSet,
}

impl Keyed {
    /// Reads the keys from `created`, which is what the server made of `desired` where there was nothing before.
    pub fn of(desired: &Value, created: &Value, field_manager: &str) -> Option<Self> {
        let fields = Managers::of(created).applied_by(field_manager)?.fields.clone();
        let mut object = desired.clone();
        fill(&mut object, created, &fields);
        Some(Self { object, fields })
    }
}

fn fill(desired: &mut Value, created: &Value, set: &FieldSet) {
    match desired {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let (Some(created), Some(set)) = (created.get(name), set.field(name)) {
                    fill(value, created, set);
                }
            }
        }
        Value::Array(items) => {
            let names = set.key_names().unwrap_or_default();
            for (index, (item, created)) in items.iter_mut().zip(created.as_array().into_iter().flatten()).enumerate() {
                if let Some(fields) = item.as_object_mut() {
                    for name in &names {
                        if let (false, Some(key)) = (fields.contains_key(*name), created.get(*name)) {
                            fields.insert((*name).to_owned(), key.clone());
                        }
                    }
                }
                if let Some((_, set)) = set.item(created, index) {
                    fill(item, created, set);
                }
            }
        }
        _ => {}
    }
}

/// Whether `desired` has list items whose keys are not certain: those of a list that nobody owns anything of, and those that leave a key out.
pub fn may_lack_keys(live: &Value, desired: &Value) -> bool {
    let managers = Managers::of(live);
    lacks(&managers.sets().collect::<Vec<_>>(), live, desired)
}

fn lacks(sets: &[&FieldSet], live: &Value, desired: &Value) -> bool {
    match (live, desired) {
        (Value::Object(live), Value::Object(desired)) => desired.iter().any(|(name, desired)| {
            let sets: Vec<&FieldSet> = sets.iter().filter_map(|set| set.field(name)).collect();
            live.get(name).is_some_and(|live| lacks(&sets, live, desired))
        }),
        (Value::Array(live), Value::Array(desired)) if desired.iter().any(Value::is_object) => {
            let Some(names) = sets.iter().find_map(|set| set.key_names()) else { return sets.is_empty() };
            desired.iter().any(|item| {
                let found = live
                    .iter()
                    .enumerate()
                    .find(|(_, live)| names.iter().all(|name| live.get(*name) == item.get(*name)));
                let below = |(index, live): (usize, &Value)| {
                    let sets: Vec<&FieldSet> =
                        sets.iter().filter_map(|set| set.item(live, index)).map(|(_, set)| set).collect();
                    lacks(&sets, live, item)
                };
                names.iter().any(|name| item.get(*name).is_none()) || found.is_some_and(below)
            })
        }
        _ => false,
    }
}
