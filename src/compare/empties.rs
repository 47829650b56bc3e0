//! When an empty value is as good as none.
//!
//! - `null` and an empty list are as good as none everywhere.
//! - An empty map in an object of a built-in API group counts: the server itself has written both sides, and it leaves
//!   out every empty map that means nothing. So `emptyDir: {}` and `podSelector: {}` are never lost.
//! - In a custom resource, an empty map is as good as none where the map around it holds something else, and the same
//!   fields on both sides. Controllers in Go write such maps for structs that were never filled
//!   (`tlsConfig.ca: {}`, `namespaceSelector: {}`); the choice of one field among several (`emptyDir: {}` in place of
//!   `hostPath`, or alone) still counts.
//!
//! Pure functions.

use serde_json::{Map, Value};

/// A field of two maps that counts on at least one side: its name, and its value where there is one.
pub(super) type Pair<'a> = (&'a String, Option<&'a Value>, Option<&'a Value>);

/// Which empty maps count in an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Empties {
    hollow_structs: bool,
}

impl Empties {
    /// The rule for `object`'s kind.
    pub(super) fn of(object: &Value) -> Self {
        let version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let built_in = !group.contains('.') || group.ends_with(".k8s.io");
        Self { hollow_structs: !built_in }
    }

    /// Whether an empty map may be as good as none.
    pub(super) fn forgives_hollow_structs(self) -> bool {
        self.hollow_structs
    }

    /// The fields of two maps side by side, in order, without those that are as good as none on both sides.
    pub(super) fn pairs<'a>(self, live: &'a Map<String, Value>, desired: &'a Map<String, Value>) -> Vec<Pair<'a>> {
        let forgive = self.hollow_structs && same_filled_fields(live, desired);
        let mut names: Vec<&String> =
            live.keys().chain(desired.keys().filter(|name| !live.contains_key(*name))).collect();
        names.sort();
        let side = |map: &'a Map<String, Value>, name: &str| map.get(name).filter(|value| !is_nothing(value));
        let mut pairs: Vec<Pair<'a>> =
            names.into_iter().map(|name| (name, side(live, name), side(desired, name))).collect();
        pairs.retain(|(_, live, desired)| match (live, desired) {
            (None, None) => false,
            (None, Some(only)) | (Some(only), None) => !(forgive && is_empty_map(only)),
            (Some(_), Some(_)) => true,
        });
        pairs
    }

    /// Whether two values are equal but for empty ones that count for nothing.
    pub(super) fn alike(self, live: &Value, desired: &Value) -> bool {
        match (live, desired) {
            (Value::Object(live), Value::Object(desired)) => {
                self.pairs(live, desired).into_iter().all(|(_, live, desired)| match (live, desired) {
                    (Some(live), Some(desired)) => self.alike(live, desired),
                    _ => false,
                })
            }
            (Value::Array(live), Value::Array(desired)) => {
                live.len() == desired.len() && live.iter().zip(desired).all(|(live, desired)| self.alike(live, desired))
            }
            _ => crate::ownership::same(live, desired),
        }
    }
}

fn same_filled_fields(live: &Map<String, Value>, desired: &Map<String, Value>) -> bool {
    let filled = |map: &Map<String, Value>| -> Vec<String> {
        let mut names: Vec<String> = map
            .iter()
            .filter(|(_, value)| !is_nothing(value) && !is_empty_map(value))
            .map(|(name, _)| name.clone())
            .collect();
        names.sort();
        names
    };
    let (live, desired) = (filled(live), filled(desired));
    !live.is_empty() && live == desired
}

/// Whether `value` is `null` or an empty list.
pub(super) fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// Whether `value` is an empty map.
pub(super) fn is_empty_map(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}
