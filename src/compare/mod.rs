//! What an apply would change: the live object beside the result of the server's dry run.
//!
//! Takes JSON values, gives changes with their owners, what was left out and why, and what happens to ownership.
//! `in_sync` answers without a dry run whether there is anything to do. Pure functions.

mod align;
mod bookkeeping;
mod changes;
mod defaults;
mod empties;
mod foreign;
mod impact;
mod in_sync;
mod keys;
mod overlay;
mod ownerless;

use serde_json::Value;

pub use bookkeeping::Hidden;
pub use changes::Change;
pub use foreign::{Foreign, foreign};
pub use impact::Restart;
pub use in_sync::{Difference, Verdict, What, in_sync, is_terminating};
pub use keys::{Keyed, may_lack_keys};
pub use overlay::overlay;
pub use ownerless::ownerless;

use crate::ownership::{Entry, FieldSet, Managers, Owner, same, value_at};
use crate::path::FieldPath;

/// The live object beside the desired one.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The live object without the server's bookkeeping; none when it does not exist.
    pub live: Option<Value>,
    /// The desired object without it. An empty value that counts for nothing stands here as it stands in `live`.
    pub desired: Value,
    /// The values that differ, in the order of the document.
    pub changes: Vec<Change>,
    /// The bookkeeping that differs too, and why it does not count.
    pub hidden: Vec<Hidden>,
    /// Fields that we owned and give up, though their values stay since others own them.
    pub released: Vec<Released>,
    /// Whether an apply changes what is recorded as ours, be it that no value changes.
    pub records_ownership: bool,
    /// The pods of the live object that an apply starts anew.
    pub restart: Option<Restart>,
    /// Pull policies that were the default of the live image, and stay.
    pub stale_pull_policies: Vec<(FieldPath, String)>,
}

/// A field that is no longer desired, and that others keep alive.
#[derive(Clone, Debug, PartialEq)]
pub struct Released {
    /// Where it stands.
    pub path: FieldPath,
    /// Who owns it after the apply.
    pub owners: Vec<Owner>,
}

impl Comparison {
    /// Whether an apply would leave all values as they are, and give up none.
    pub fn unchanged(&self) -> bool {
        self.changes.is_empty() && self.released.is_empty()
    }
}

/// Compares `live` with `desired`, the result of a dry run of an apply by `field_manager`.
pub fn compare(live: Option<&Value>, desired: &Value, field_manager: &str) -> Comparison {
    compare_keyed(live, desired, None, field_manager)
}

/// The same, where `keys` tells which lists have keys besides what the managers of both objects tell.
pub fn compare_keyed(
    live: Option<&Value>,
    desired: &Value,
    keys: Option<&FieldSet>,
    field_manager: &str,
) -> Comparison {
    let owners = live.map(Managers::of).unwrap_or_default();
    let desired_owners = Managers::of(desired);
    let ours = owners.applied_by(field_manager);
    let ours_after = desired_owners.applied_by(field_manager);
    let released = ours.map(|ours| released(ours, ours_after, &desired_owners, desired)).unwrap_or_default();
    let records_ownership = recorded(ours) != recorded(ours_after);

    let before = live;
    let (live, desired, hidden) = bookkeeping::take_out(live, desired, ours_after.map(|entry| &entry.fields));
    let (changes, desired) = changes::find(live.as_ref(), &desired, &owners, desired_owners.sets().chain(keys));
    let restart = before.and_then(|before| impact::restart(before, &desired, &changes));
    let stale_pull_policies = impact::stale_pull_policies(&desired, &changes);
    Comparison { live, desired, changes, hidden, released, records_ownership, restart, stale_pull_policies }
}

/// Whether `value` is an empty map that means nothing in an object of this kind: what controllers in Go write for structs that were never filled.
pub fn is_hollow(object: &Value, value: &Value) -> bool {
    empties::is_empty_map(value) && empties::Empties::of(object).forgives_hollow_structs()
}

/// Whether `live` may be `desired` as the server writes it: with defaults filled in, and quantities in another form.
pub fn may_include(live: &Value, desired: &Value) -> bool {
    match (live, desired) {
        (Value::Object(live), Value::Object(desired)) => {
            desired.iter().all(|(name, value)| live.get(name).is_some_and(|live| may_include(live, value)))
        }
        (Value::Array(live), Value::Array(desired)) => {
            live.len() == desired.len() && live.iter().zip(desired).all(|(live, desired)| may_include(live, desired))
        }
        _ => same(live, desired) || is_like_quantity(live) && is_like_quantity(desired),
    }
}

fn is_like_quantity(value: &Value) -> bool {
    value.is_number()
        || value.as_str().is_some_and(|text| text.len() < 32 && text.starts_with(|c: char| c.is_ascii_digit()))
}

fn recorded(entry: Option<&Entry>) -> Option<(&str, &FieldSet)> {
    entry.map(|entry| (entry.api_version.as_str(), &entry.fields))
}

fn released(ours: &Entry, after: Option<&Entry>, managers: &Managers, desired: &Value) -> Vec<Released> {
    let mut released: Vec<Released> = Vec::new();
    for path in ours.fields.paths() {
        let still_ours = after.is_some_and(|after| after.fields.at(&path).is_some());
        let told = released.last().is_some_and(|above| above.path.contains(&path));
        if still_ours || told || value_at(desired, &path).is_none() {
            continue;
        }
        // A value without owner is the server's own default, come back in place of ours.
        let mut owners = managers.owners(desired, &path);
        owners.retain(|owner| after.is_none_or(|after| after.owner != *owner));
        if !owners.is_empty() {
            released.push(Released { path, owners });
        }
    }
    released
}
