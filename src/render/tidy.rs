//! Removes from a template's object what controllers and the server maintain, as exported YAML holds it. Pure.

use crate::exported;
use crate::path::FieldPath;
use crate::problem::Problem;
use crate::templates::Document;

/// Tidies the object and gives a warning for what was removed.
pub(super) fn tidy(document: &mut Document) -> Vec<Problem> {
    let stripped = exported::strip(&mut document.object);
    let stripped = stripped.map(|message| document.problem(FieldPath::default(), message));
    stripped.into_iter().chain(aggregated(document)).collect()
}

/// The rules of an aggregated role are the controller's: <https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles>.
fn aggregated(document: &mut Document) -> Option<Problem> {
    document.object.get("aggregationRule").filter(|rule| !rule.is_null())?;
    document.object.as_object_mut()?.remove("rules")?;
    Some(
        document.problem(
            FieldPath::default().field("rules"),
            "is ignored: the control plane fills it in from aggregationRule",
        ),
    )
}
