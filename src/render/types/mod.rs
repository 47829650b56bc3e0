//! Holds a rendered object against the Kubernetes type of its kind: wrong types, unknown fields, duplicate list items.
//!
//! The type only checks: what is sent stays the value that the template gave. Kinds that are not built into Kubernetes, and other
//! versions of those that are, are only known by where they live. Pure.

mod kinds;
mod lists;
mod node;
mod scalars;
mod walk;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub(super) use self::kinds::is_namespaced;
use self::kinds::{KUBERNETES, Match};
use self::node::Node;
use self::walk::{Object, Walk};
use crate::manifest::ObjectId;
use crate::names;
use crate::path::{FieldPath, Step};

/// A field and what is to be said about it.
pub(super) type Found = Vec<(FieldPath, String)>;

/// What a type says about an object.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Findings {
    /// What the API server would refuse.
    pub(super) problems: Found,
    /// Fields that a newer Kubernetes may have.
    pub(super) warnings: Found,
}

/// Everything that the type of the object says about it; nothing for a kind that is not built into Kubernetes.
pub(super) fn check(id: &ObjectId, object: &Value) -> Findings {
    let root = FieldPath::default();
    let mut findings = match kinds::find(id) {
        Match::Known(kind) => (kind.check)(object),
        Match::Doubtful(message) => {
            Findings { warnings: vec![(root.field("apiVersion"), message)], ..Findings::default() }
        }
        Match::Wrong(message) => Findings { problems: vec![(root.field("kind"), message)], ..Findings::default() },
        Match::Foreign => Findings::default(),
    };
    if id.kind == "Secret" {
        findings.problems.iter_mut().chain(&mut findings.warnings).for_each(conceal);
    }
    findings
}

/// Takes a secret value out of what is said about it: `is the number 1234, must be a string`.
fn conceal((path, message): &mut (FieldPath, String)) {
    let is_secret = matches!(path.0.first(), Some(Step::Field(name)) if name == "data" || name == "stringData");
    if !is_secret {
        return;
    }
    if let Some((_, wanted)) = message.split_once(", must be ") {
        *message = format!("must be {wanted}");
    } else if message == scalars::NOT_BASE64 {
        message.push_str("; plain text goes into stringData");
    }
}

fn check_as<K: DeserializeOwned>(object: &Value) -> Findings {
    let walk = Walk::default();
    let read = K::deserialize(Node::new(&walk, object));
    let seen = walk.finish();
    let mut findings = Findings { problems: seen.problems, warnings: seen.doubts };
    if read.is_err() && findings.problems.is_empty() {
        findings.problems.push((FieldPath::default(), "the object cannot be read as its kind".to_owned()));
    }
    for path in seen.unknown {
        match explain(&path, &seen.objects) {
            Some(message) => findings.problems.push((path, message)),
            None => findings.warnings.push((path, format!("is unknown to {KUBERNETES}; it is sent as it is"))),
        }
    }
    findings
}

/// Which field an unknown one was meant to be: one beside it with nearly the same name, or with a longer one (`secretName` for `name`),
/// or the same name in an object above or below that lacks it. None when there is none: then it may be newer than the types.
fn explain(path: &FieldPath, objects: &[Object]) -> Option<String> {
    let mut parent = path.clone();
    let Some(Step::Field(name)) = parent.0.pop() else { return None };
    let own = objects.iter().find(|object| object.path == parent);
    let fields = || own.into_iter().flat_map(|own| own.fields.iter().copied());
    let fits = |own: &Object, field: &str| own.lacks(field) && field.to_lowercase().ends_with(&name.to_lowercase());
    let longer = || fields().find(|field| name.len() > 3 && own.is_some_and(|own| fits(own, field)));
    if let Some(near) = names::nearest(&name, fields()).or_else(longer) {
        return Some(format!("is no field here; did you mean {near}?"));
    }
    let related = |place: &FieldPath| place.contains(&parent) || parent.contains(place);
    let homes = objects.iter().filter(|object| related(&object.path) && object.lacks(&name));
    let home = homes.min_by_key(|object| object.path.0.len().abs_diff(parent.0.len()))?;
    Some(format!("is no field here; it belongs at {}", home.path.field(&name)))
}
