//! Keeps the values of Secrets out of everything that is shown: both sides, before they are compared.
//!
//! Pure. Equal values stay equal, different ones stay different, and neither their text nor their length is left.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// What stands for a value that is the same on both sides.
const SAME: &str = "***";
const BEFORE: &str = "*** (before)";
const AFTER: &str = "*** (after)";

/// kubectl's copy of what was applied, which repeats the values.
const LAST_APPLIED: &str = "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration";

/// Masks the live object and the wanted one against each other; objects that are no Secrets are left as they are.
pub fn pair<'a>(live: &'a Value, wanted: &'a Value) -> (Cow<'a, Value>, Cow<'a, Value>) {
    if !is_secret(live) && !is_secret(wanted) {
        return (Cow::Borrowed(live), Cow::Borrowed(wanted));
    }
    (Cow::Owned(masked(live, wanted, BEFORE)), Cow::Owned(masked(wanted, live, AFTER)))
}

/// Whether an object is a Secret.
pub fn is_secret(object: &Value) -> bool {
    object.get("kind").is_some_and(|kind| kind == "Secret")
        && object.get("apiVersion").is_some_and(|version| version == "v1")
}

fn masked(object: &Value, other: &Value, different: &str) -> Value {
    let mut object = object.clone();
    for field in ["data", "stringData"] {
        let Some(values) = object.get_mut(field) else { continue };
        let others = other.get(field).and_then(Value::as_object);
        match values.as_object_mut() {
            Some(values) => mask_values(values, others, different),
            None => *values = json!(SAME),
        }
    }
    if let Some(copy) = object.pointer_mut(LAST_APPLIED) {
        *copy = json!(SAME);
    }
    object
}

fn mask_values(values: &mut Map<String, Value>, others: Option<&Map<String, Value>>, different: &str) {
    for (key, value) in values.iter_mut() {
        let same = others.and_then(|others| others.get(key)).is_none_or(|other| other == value);
        *value = json!(if same { SAME } else { different });
    }
}
