//! The owner reference that ties an object's life to the Config's.
//!
//! Pure. A Config belongs to the whole cluster, so it may own objects in every namespace:
//! <https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/>.

use serde_json::{Value, json};

use crate::config::{API_VERSION, KIND};
use crate::manifest::ObjectId;

/// `object` with the owner reference to the Config `name`. Without a uid there is none: the garbage collector deletes an object whose owner
/// has another uid. The namespace gets none either, it is not the Config's.
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
