//! Keeps the values of Secrets out of everything that is shown: both sides, before they are compared.
//!
//! Pure. Equal values stay equal, different ones stay different, and neither their text nor their length is left.

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

/// What stands for a value that is the same on both sides.
const SAME: &str = "***";
/// Values below this length may be parts of words, in bytes.
const SHORT: usize = 4;
/// A line of a longer value that is masked by itself, in bytes.
const LONG_LINE: usize = 8;
const BEFORE: &str = "*** (before)";
const AFTER: &str = "*** (after)";

/// kubectl's copy of what was applied, which repeats the values.
const LAST_APPLIED: &str = "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration";

/// Masks the live object and the wanted one against each other; objects that are no Secrets are left as they are.
pub fn pair<'a>(live: &'a Value, wanted: &'a Value) -> (Cow<'a, Value>, Cow<'a, Value>) {
    if !is_secret(live) && !is_secret(wanted) {
        return (Cow::Borrowed(live), Cow::Borrowed(wanted));
    }
    (Cow::Owned(masked(live, wanted, BEFORE)), Cow::Owned(masked(wanted, live, AFTER)))
}

/// Whether an object is a Secret.
pub fn is_secret(object: &Value) -> bool {
    object.get("kind").is_some_and(|kind| kind == "Secret")
        && object.get("apiVersion").is_some_and(|version| version == "v1")
}

fn masked(object: &Value, other: &Value, different: &str) -> Value {
    let mut object = object.clone();
    for field in ["data", "stringData"] {
        let Some(values) = object.get_mut(field) else { continue };
        let others = other.get(field).and_then(Value::as_object);
        match values.as_object_mut() {
            Some(values) => mask_values(values, others, different),
            None => *values = json!(SAME),
        }
    }
    if let Some(copy) = object.pointer_mut(LAST_APPLIED) {
        *copy = json!(SAME);
    }
    object
}

fn mask_values(values: &mut Map<String, Value>, others: Option<&Map<String, Value>>, different: &str) {
    for (key, value) in values.iter_mut() {
        let same = others.and_then(|others| others.get(key)).is_none_or(|other| other == value);
        *value = json!(if same { SAME } else { different });
    }
}

/// Masks the values of `object`, where it is a Secret, in a text of the server: as they are, as base64 and as Go and JSON
/// quote them. The server may quote the whole object that it stores, with values that are not in `object`: that goes too.
pub fn text(text: &str, object: &Value) -> String {
    if !is_secret(object) {
        return text.to_owned();
    }
    let mut forms = Vec::new();
    for field in ["data", "stringData"] {
        scalars(object.get(field), &mut |value| add_forms(value, &mut forms));
    }
    scalars(object.pointer(LAST_APPLIED), &mut |value| add_forms(value, &mut forms));
    // The longest first: a value may be a part of another.
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms.dedup();
    forms.iter().fold(without_objects(text), |text, form| replaced(&text, form))
}

/// The text with `"***"` for each quoted text that holds an object.
fn without_objects(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, quoted)) = rest.split_once('"') {
        let mut is_escaped = false;
        let end = quoted.find(|character| {
            let is_end = character == '"' && !is_escaped;
            is_escaped = character == '\\' && !is_escaped;
            is_end
        });
        let (inner, after) = quoted.split_at(end.unwrap_or(quoted.len()));
        let closing = if end.is_some() { "\"" } else { "" };
        masked.extend([before, "\"", if inner.contains('{') { SAME } else { inner }, closing]);
        rest = after.get(closing.len()..).unwrap_or_default();
    }
    masked + rest
}

fn scalars(value: Option<&Value>, found: &mut dyn FnMut(&str)) {
    match value {
        Some(Value::String(text)) => found(text),
        Some(Value::Array(items)) => items.iter().for_each(|item| scalars(Some(item), found)),
        Some(Value::Object(fields)) => fields.values().for_each(|field| scalars(Some(field), found)),
        Some(Value::Null) | None => {}
        Some(other) => found(&other.to_string()),
    }
}

fn add_forms(value: &str, forms: &mut Vec<String>) {
    let decoded = BASE64_STANDARD.decode(value).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    for plain in [Some(value.to_owned()), decoded].into_iter().flatten() {
        forms.push(BASE64_STANDARD.encode(&plain));
        let quoted = json!(plain).to_string();
        forms.push(quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&quoted).to_owned());
        forms.extend(plain.lines().filter(|line| line.len() >= LONG_LINE).map(str::to_owned));
        forms.push(plain);
    }
    forms.retain(|form| !form.trim().is_empty());
}

/// A short value is masked only where it stands alone: the text would not be readable otherwise.
fn replaced(text: &str, value: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(value) {
        let (before, found) = rest.split_at(at);
        let after = found.get(value.len()..).unwrap_or_default();
        masked.push_str(before);
        let is_part = masked.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric);
        masked.push_str(if is_part && value.len() < SHORT { value } else { SAME });
        rest = after;
    }
    masked + rest
}
