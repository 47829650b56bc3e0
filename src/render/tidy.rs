//! Takes out of an object what only the server may write there, as it stands in YAML that was exported from a cluster.
//!
//! Pure. Sent back, these fields are refused (`managedFields`), conflict for ever (`resourceVersion`, `uid`), or claim
//! what others maintain (`status`, the rules of an aggregated role).

use serde_json::{Map, Value};

use crate::path::FieldPath;
use crate::problem::Problem;
use crate::templates::Document;

const METADATA: &[&str] = &[
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "finalizers",
    "generation",
    "managedFields",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

const ANNOTATIONS: &[&str] =
    &["deprecated.daemonset.template.generation", "kubectl.kubernetes.io/last-applied-configuration"];

/// Tidies the object and gives a warning for what was taken out.
pub(super) fn tidy(document: &mut Document) -> Vec<Problem> {
    let mut taken = Vec::new();
    take(&mut document.object, &FieldPath::default(), &["status"], &mut taken);
    take(&mut document.object, &path(&["metadata"]), METADATA, &mut taken);
    take(&mut document.object, &path(&["metadata", "annotations"]), ANNOTATIONS, &mut taken);
    take(&mut document.object, &path(&["spec", "template", "metadata"]), &["creationTimestamp"], &mut taken);
    let mut warnings = Vec::new();
    if !taken.is_empty() {
        let paths: Vec<String> = taken.iter().map(FieldPath::to_string).collect();
        let message = format!("left out what belongs to a live object: {}", paths.join(", "));
        warnings.push(document.problem(FieldPath::default(), message));
    }
    warnings.extend(aggregated(document));
    warnings
}

/// The rules of an aggregated role are the controller's: <https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles>.
fn aggregated(document: &mut Document) -> Option<Problem> {
    document.object.get("aggregationRule").filter(|rule| !rule.is_null())?;
    document.object.as_object_mut()?.remove("rules")?;
    Some(document.problem(path(&["rules"]), "is left out: aggregationRule has the cluster fill it in"))
}

fn path(names: &[&str]) -> FieldPath {
    names.iter().fold(FieldPath::default(), |path, name| path.field(name))
}

fn take(object: &mut Value, parent: &FieldPath, names: &[&str], taken: &mut Vec<FieldPath>) {
    let Some(fields) = child(object, parent).and_then(Value::as_object_mut) else {
        return;
    };
    let before = fields.len();
    taken.extend(names.iter().filter(|name| fields.remove(**name).is_some()).map(|name| parent.field(name)));
    if before > 0 && fields.is_empty() {
        prune(object, parent);
    }
}

/// An annotation map that is empty now was not there before the export either.
fn prune(object: &mut Value, path: &FieldPath) {
    let mut above = path.clone();
    let Some(crate::path::Step::Field(name)) = above.0.pop() else {
        return;
    };
    let fields: Option<&mut Map<String, Value>> = child(object, &above).and_then(Value::as_object_mut);
    if let Some(fields) = fields {
        fields.remove(&name);
    }
}

fn child<'a>(object: &'a mut Value, path: &FieldPath) -> Option<&'a mut Value> {
    path.0.iter().try_fold(object, |value, step| match step {
        crate::path::Step::Field(name) => value.get_mut(name),
        _ => None,
    })
}
