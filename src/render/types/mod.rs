//! Validates a rendered object against the Kubernetes type of its kind: wrong types, unknown fields, duplicate list items.
//!
//! The object itself is never converted. Of kinds that are not built into Kubernetes, and of other versions of those that
//! are, only the scope is known. Pure.

mod kinds;
mod lists;
mod node;
mod recorder;
mod scalars;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub(super) use self::kinds::is_namespaced;
use self::kinds::{KUBERNETES, Match};
use self::node::Node;
use self::recorder::{Recorder, TypedObject};
use crate::manifest::ObjectId;
use crate::names;
use crate::path::{FieldPath, Step};

/// Fields, each with a message.
pub(super) type FieldMessages = Vec<(FieldPath, String)>;

/// What the validation found.
#[derive(Debug, Default, PartialEq)]
pub(super) struct TypeFindings {
    /// What the API server would reject.
    pub(super) problems: FieldMessages,
    /// Fields that a newer Kubernetes may have, values that some servers accept.
    pub(super) warnings: FieldMessages,
}

/// Validates `object`; nothing is found in a kind that is not built into Kubernetes.
pub(super) fn check(id: &ObjectId, object: &Value) -> TypeFindings {
    let root = FieldPath::default();
    let mut findings = match kinds::find(id) {
        Match::BuiltIn(kind) => (kind.check)(object),
        Match::OtherVersion(message) => {
            TypeFindings { warnings: vec![(root.field("apiVersion"), message)], ..TypeFindings::default() }
        }
        Match::Misspelled(message) => {
            TypeFindings { problems: vec![(root.field("kind"), message)], ..TypeFindings::default() }
        }
        Match::Custom => TypeFindings::default(),
    };
    if id.kind == "Secret" {
        findings.problems.iter_mut().chain(&mut findings.warnings).for_each(mask);
    }
    findings
}

/// Removes a secret value from a message: `is the number 1234, must be a string`.
fn mask((path, message): &mut (FieldPath, String)) {
    let is_secret = matches!(path.0.first(), Some(Step::Field(name)) if name == "data" || name == "stringData");
    if !is_secret {
        return;
    }
    if let Some((_, expected)) = message.split_once(", must be ") {
        *message = format!("must be {expected}");
    } else if message == scalars::NOT_BASE64 {
        message.push_str("; plain text goes into stringData");
    }
}

fn check_as<K: DeserializeOwned>(object: &Value) -> TypeFindings {
    let recorder = Recorder::default();
    let read = K::deserialize(Node::new(&recorder, object));
    let recorded = recorder.finish();
    let mut findings = TypeFindings { problems: recorded.problems, warnings: recorded.warnings };
    if read.is_err() && findings.problems.is_empty() {
        findings.problems.push((FieldPath::default(), "is not a valid object of its kind".to_owned()));
    }
    for path in recorded.unknown {
        match explain(&path, &recorded.objects) {
            Some(message) => findings.problems.push((path, message)),
            None => findings.warnings.push((path, format!("is not a field of {KUBERNETES}; it is sent unchanged"))),
        }
    }
    findings
}

/// Suggests a field for an unknown one: a similar name in the same object, a longer one (`secretName` for `name`), or the same
/// name in an object above or below. None when there is none: then the field may be newer than the types.
fn explain(path: &FieldPath, objects: &[TypedObject]) -> Option<String> {
    let mut parent = path.clone();
    let Some(Step::Field(name)) = parent.0.pop() else { return None };
    let own = objects.iter().find(|object| object.path == parent);
    let fields = || own.into_iter().flat_map(|own| own.fields.iter().copied());
    let fits =
        |own: &TypedObject, field: &str| own.lacks(field) && field.to_lowercase().ends_with(&name.to_lowercase());
    let longer = || fields().find(|field| name.len() > 3 && own.is_some_and(|own| fits(own, field)));
    if let Some(near) = names::nearest(&name, fields()).or_else(longer) {
        return Some(format!("is an unknown field; did you mean {near}?"));
    }
    let related = |place: &FieldPath| place.contains(&parent) || parent.contains(place);
    let candidates = objects.iter().filter(|object| related(&object.path) && object.lacks(&name));
    let candidate = candidates.min_by_key(|object| object.path.0.len().abs_diff(parent.0.len()))?;
    Some(format!("is an unknown field; did you mean {}?", candidate.path.field(&name)))
}
