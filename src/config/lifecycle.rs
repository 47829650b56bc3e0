//! The metadata of an object that says whether it still exists and who holds it: uid, resource version, deletion, finalizers.
//!
//! Pure. It is read independently of the rest of the object: a Config with an invalid spec can be deleted, too.

use serde_json::Value;

/// The server-owned metadata that decides what may be done with an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lifecycle {
    /// `metadata.uid`; none in an object that was never stored.
    pub uid: Option<String>,
    /// `metadata.resourceVersion`.
    pub resource_version: Option<String>,
    /// `metadata.deletionTimestamp`, as written; set while the object is being deleted.
    pub deletion_timestamp: Option<String>,
    /// `metadata.finalizers`.
    pub finalizers: Vec<String>,
}

impl Lifecycle {
    /// Reads the lifecycle of any object; a field that is missing, null, empty or of another type is not set.
    pub fn of(object: &Value) -> Self {
        let field = |name| object.get("metadata").and_then(|metadata| metadata.get(name));
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let finalizers = field("finalizers").and_then(Value::as_array).into_iter().flatten();
        Self {
            uid: field("uid").and_then(text),
            resource_version: field("resourceVersion").and_then(text),
            deletion_timestamp: field("deletionTimestamp").and_then(text),
            finalizers: finalizers.filter_map(text).collect(),
        }
    }

    /// Whether the object is being deleted.
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// Whether `finalizer` is set.
    pub fn has_finalizer(&self, finalizer: &str) -> bool {
        self.finalizers.iter().any(|set| set == finalizer)
    }
}
