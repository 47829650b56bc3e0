//! Server-owned fields: removed from objects that were exported from a cluster (`kubectl get -o yaml`) and are to be applied.
//!
//! Pure. Sent back, these fields are refused (`managedFields`), conflict for ever (`resourceVersion`, `uid`), or claim what
//! others maintain (`finalizers`, `status`).

use serde_json::{Map, Value};

use crate::path::FieldPath;

/// The fields, each with the path of the object that holds it.
const SERVER_OWNED: &[(&[&str], &[&str])] = &[
    (&[], &["status"]),
    (
        &["metadata"],
        &[
            "creationTimestamp",
            "deletionGracePeriodSeconds",
            "deletionTimestamp",
            "finalizers",
            "generation",
            "managedFields",
            "ownerReferences",
            "resourceVersion",
            "selfLink",
            "uid",
        ],
    ),
    (
        &["metadata", "annotations"],
        &["deprecated.daemonset.template.generation", "kubectl.kubernetes.io/last-applied-configuration"],
    ),
    (&["spec", "template", "metadata"], &["creationTimestamp"]),
];

/// Removes the server-owned fields of `object`, and a map that is empty then; names those that had a value.
pub(crate) fn strip(object: &mut Value) -> Option<String> {
    let mut removed = Vec::new();
    for (parent, names) in SERVER_OWNED {
        let path = parent.iter().fold(FieldPath::default(), |path, name| path.field(name));
        let Some(fields) = fields(object, parent) else { continue };
        let before = fields.len();
        for name in *names {
            let value = fields.remove(*name);
            removed.extend(value.filter(|value| !value.is_null()).map(|_| path.field(name).to_string()));
        }
        let is_emptied = before > 0 && fields.is_empty();
        if let (true, Some((name, above))) = (is_emptied, parent.split_last()) {
            self::fields(object, above).map(|fields| fields.remove(*name));
        }
    }
    (!removed.is_empty())
        .then(|| format!("these fields are managed by the cluster and are not applied: {}", removed.join(", ")))
}

fn fields<'a>(object: &'a mut Value, path: &[&str]) -> Option<&'a mut Map<String, Value>> {
    path.iter().try_fold(object, |value, name| value.get_mut(*name))?.as_object_mut()
}
