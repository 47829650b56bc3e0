//! Lists in place of objects: `kubectl get -o yaml` of several objects gives a `v1` `List`.
//!
//! Pure.

use serde_json::Value;

/// Gives the objects of a list, of lists in it too; of anything else, itself.
///
/// A list is what kubectl takes for one: an object with a list `items`, whatever its kind. Its items without kind and version get theirs
/// from it, as in a `PodList`: the API server leaves them out there.
pub fn unwrap_list(mut value: Value) -> Vec<Value> {
    let Some(Value::Array(items)) = value.get_mut("items").filter(|items| items.is_array()).map(Value::take) else {
        return vec![value];
    };
    let (version, kind) = (value.get("apiVersion"), value.get("kind").and_then(Value::as_str));
    let kind = kind.map(|kind| kind.strip_suffix("List").unwrap_or(kind));
    let named = items.into_iter().map(|mut item| {
        if let (Value::Object(fields), Some(version), Some(kind)) = (&mut item, version, kind)
            && !fields.contains_key("apiVersion")
            && !fields.contains_key("kind")
        {
            fields.insert("apiVersion".to_owned(), version.clone());
            fields.insert("kind".to_owned(), kind.into());
        }
        item
    });
    named.flat_map(unwrap_list).collect()
}
