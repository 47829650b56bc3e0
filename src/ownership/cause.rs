//! The causes of a refused apply: a path and a manager, both given as text.
//!
//! Takes the `field` and `message` of a `FieldManagerConflict` cause, gives a path and an owner. The texts are those
//! that the API server writes (`k8s.io/apimachinery`, `managedfields/internal/conflict.go`). Pure functions.

use std::collections::BTreeMap;

use serde_json::Value;

use super::managers::{Operation, Owner};
use super::place;
use crate::path::{FieldPath, Step};

/// The path that `field` means in `object`; none when it leads to nothing there.
///
/// The server writes names as they are, dots included: `.data.bpfman.toml`. So the longest name that exists is tried
/// first, then shorter ones.
pub fn resolve(field: &str, object: &Value) -> Option<FieldPath> {
    steps(field, object).map(|mut steps| {
        steps.reverse();
        FieldPath(steps)
    })
}

/// The steps of `text` from the last to the first.
fn steps(text: &str, value: &Value) -> Option<Vec<Step>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    if let Some(inside) = text.strip_prefix('[') {
        let (step, rest) = bracket(inside)?;
        let found = value.get(place::position(value, &step)?)?;
        return continued(step, rest, found);
    }
    let rest = text.strip_prefix('.')?;
    let mut names: Vec<(&String, &Value)> =
        value.as_object()?.iter().filter(|(name, _)| rest.starts_with(name.as_str())).collect();
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    names
        .into_iter()
        .find_map(|(name, below)| continued(Step::Field(name.clone()), rest.strip_prefix(name.as_str())?, below))
}

fn continued(step: Step, rest: &str, below: &Value) -> Option<Vec<Step>> {
    let mut steps = steps(rest, below)?;
    steps.push(step);
    Some(steps)
}

/// Reads `name="bpfman"]…`, `="x"]…` or `0]…`, which stand behind a bracket.
fn bracket(text: &str) -> Option<(Step, &str)> {
    if let Some(text) = text.strip_prefix('=') {
        let (value, rest) = scalar(text)?;
        return Some((Step::Item(value), rest.strip_prefix(']')?));
    }
    let mut keys = BTreeMap::new();
    let mut left = text;
    while let Some((key, behind)) = left.split_once('=').filter(|(key, _)| !key.contains(']')) {
        let (value, rest) = scalar(behind)?;
        keys.insert(key.to_owned(), value);
        match rest.strip_prefix(',') {
            Some(more) => left = more,
            None => return Some((Step::Keys(keys), rest.strip_prefix(']')?)),
        }
    }
    let (index, rest) = text.split_once(']')?;
    Some((Step::Index(index.parse().ok()?), rest))
}

/// Reads one JSON value from the start of `text`.
fn scalar(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, text.get(values.byte_offset()..)?))
}

/// The manager that a cause's `message` names: `conflict with "kubectl-edit" using apps/v1`.
///
/// For a path that the live object knows, its `managedFields` say more than this text; it is for the others, such as
/// `before-first-apply`, which stands in no entry.
pub fn claimant(message: &str) -> Option<Owner> {
    let (manager, rest) = quoted(message.strip_prefix("conflict with ")?)?;
    let (subresource, rest) = match rest.strip_prefix(" with subresource ") {
        Some(behind) => quoted(behind).map(|(name, rest)| (Some(name), rest))?,
        None => (None, rest),
    };
    let using = rest.strip_prefix(" using ");
    Some(Owner {
        time: using.and_then(|using| using.split_once(" at ")).map(|(_, time)| time.to_owned()),
        manager,
        operation: if using.is_some() { Operation::Update } else { Operation::Apply },
        subresource,
    })
}

fn quoted(text: &str) -> Option<(String, &str)> {
    match scalar(text)? {
        (Value::String(name), rest) => Some((name, rest)),
        _ => None,
    }
}
