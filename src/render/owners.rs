//! The owner reference by which the objects are deleted together with the Config.
//!
//! Pure. A Config is cluster-scoped, so it can own objects in every namespace:
//! <https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/>.

use serde_json::{Value, json};

use crate::config::{API_VERSION, KIND};
use crate::manifest::ObjectId;

/// Adds the owner reference to the Config `name`. Without a uid there is none, because the garbage collector deletes an
/// object if its owner has another uid. The Namespace has none, because it can hold objects of others.
pub(super) fn owned(mut object: Value, id: &ObjectId, name: &str, uid: Option<&str>) -> Value {
    if let Some(uid) = uid
        && id.kind != "Namespace"
        && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
    {
        let reference = json!([{
            "apiVersion": API_VERSION,
            "kind": KIND,
            "name": name,
            "uid": uid,
            "controller": true,
            "blockOwnerDeletion": true,
        }]);
        metadata.insert("ownerReferences".to_owned(), reference);
    }
    object
}
