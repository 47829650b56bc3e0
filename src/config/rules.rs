//! The walk that holds a value against the custom resource definition, and what the definition cannot say.
//!
//! Pure. The server drops a null where it has a default, and refuses any other.
//! <https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting-and-nullable>

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::schema::{Field, METADATA, ROOT, SPEC, Shape};
use super::{API_VERSION, KIND, Origin, history, toml};
use crate::manifest::{ANNOTATIONS_LIMIT, CONFIG_MAP_LIMIT};
use crate::names;
use crate::path::{FieldPath, Step};
use crate::problem::{self, Problem, mistyped};

/// Everything that the walk found.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

/// Holds `value` against the table and against what makes it the Config that is asked for.
pub(super) fn check(value: &Value, expected_name: &str, origin: Origin) -> Findings {
    let mut walk = Walk { origin, found: Findings::default() };
    let root = FieldPath::default();
    walk.object(value, ROOT, &root);
    walk.identity(value, expected_name, &root);
    walk.configuration(value, &root.field("spec").field("configuration"));
    walk.found
}

/// Adds a finding: one more than are told, so that it shows that there are more.
fn add(list: &mut Vec<Problem>, path: &FieldPath, message: impl Into<String>) {
    if list.len() <= problem::MOST {
        list.push(Problem::at(path.clone(), message));
    }
}

struct Walk {
    origin: Origin,
    found: Findings,
}

impl Walk {
    fn problem(&mut self, path: &FieldPath, message: impl Into<String>) {
        add(&mut self.found.problems, path, message);
    }

    fn warning(&mut self, path: &FieldPath, message: impl Into<String>) {
        add(&mut self.found.warnings, path, message);
    }

    /// What the operator takes and nobody means: who writes it can still mend it.
    fn avoidable(&mut self, path: &FieldPath, message: impl Into<String>) {
        match self.origin {
            Origin::File => self.problem(path, message),
            Origin::Live => self.warning(path, message),
        }
    }

    fn object(&mut self, value: &Value, fields: &[Field], path: &FieldPath) {
        let Some(object) = value.as_object() else {
            return self.mistyped(value, "an object", path);
        };
        self.unknown(object, fields, path);
        let is_metadata = std::ptr::eq(fields, METADATA);
        for field in fields {
            let place = path.field(field.name);
            match object.get(field.name) {
                Some(Value::Null) if matches!(field.shape, Shape::Port | Shape::Any) => {}
                Some(Value::Null) if !field.required && is_metadata => {}
                Some(Value::Null) if !field.required => self.avoidable(&place, "is null; leave it out"),
                Some(Value::Null) | None if field.required => self.problem(&place, "is missing"),
                Some(value) => self.value(value, &field.shape, &place),
                None => {}
            }
        }
    }

    fn value(&mut self, value: &Value, shape: &Shape, path: &FieldPath) {
        match shape {
            Shape::Any => {}
            Shape::Object(fields) => self.object(value, fields, path),
            Shape::List(fields, keys) => self.list(value, fields, keys, path),
            Shape::Texts => self.texts(value, path),
            Shape::Flag if value.is_boolean() => {}
            Shape::Flag => self.mistyped(value, "true or false", path),
            Shape::Port => self.port(value, path),
            Shape::Text | Shape::Filled | Shape::Image | Shape::FilledImage => self.text(value, shape, path),
        }
    }

    fn texts(&mut self, value: &Value, path: &FieldPath) {
        let Some(texts) = value.as_object() else {
            return self.mistyped(value, "an object", path);
        };
        for (name, text) in texts.iter().filter(|(_, text)| !text.is_string()) {
            self.mistyped(text, "a string", &path.field(name));
        }
    }

    fn text(&mut self, value: &Value, shape: &Shape, path: &FieldPath) {
        let Some(text) = value.as_str() else {
            return self.mistyped(value, "a string", path);
        };
        if let Some(control) = text.chars().find(|text| matches!(text, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')) {
            let code = u32::from(control);
            self.warning(
                path,
                format!("contains U+{code:04X}, which kubectl apply --server-side cannot send unchanged"),
            );
        }
        if text.is_empty() && matches!(shape, Shape::Filled | Shape::FilledImage) {
            self.problem(path, "is empty");
        } else if text.trim() != text && matches!(shape, Shape::Image | Shape::FilledImage) {
            self.problem(path, format!("is {}, must have no blanks around it", names::quoted(text)));
        }
    }

    fn port(&mut self, value: &Value, path: &FieldPath) {
        let wanted = "a whole number from 1 to 65535";
        match value.as_i64() {
            Some(1..=65535) => {}
            Some(port) => self.problem(path, format!("is {port}, must be {wanted}")),
            None => self.mistyped(value, wanted, path),
        }
    }

    fn list(&mut self, value: &Value, fields: &[Field], keys: &[&str], path: &FieldPath) {
        let Some(items) = value.as_array() else {
            return self.mistyped(value, "a list", path);
        };
        let mut seen = HashMap::new();
        for (position, item) in items.iter().enumerate() {
            let place = path.join(Step::Index(position));
            self.object(item, fields, &place);
            let identity: Option<Vec<String>> = keys.iter().map(|key| item.get(*key).map(Value::to_string)).collect();
            let earlier = identity.map_or(position, |identity| *seen.entry(identity).or_insert(position));
            if earlier != position {
                self.problem(&place, format!("has the same {} as item [{earlier}]", keys.join(", ")));
            }
        }
    }

    fn mistyped(&mut self, value: &Value, wanted: &str, path: &FieldPath) {
        let subject = if path.0.is_empty() { "the document " } else { "" };
        self.problem(path, format!("{subject}{}", mistyped(value, wanted)));
    }

    fn unknown(&mut self, object: &Map<String, Value>, fields: &[Field], path: &FieldPath) {
        let known = || fields.iter().map(|field| field.name);
        for name in object.keys().filter(|name| !known().any(|known| known == *name)).take(problem::MOST + 1) {
            let place = path.field(name);
            self.avoidable(&place, explain(name, &place, path, names::nearest(name, known())));
        }
    }

    fn configuration(&mut self, value: &Value, path: &FieldPath) {
        let text = value.pointer("/spec/configuration").and_then(Value::as_str).unwrap_or_default();
        if text.len() > CONFIG_MAP_LIMIT {
            return self.problem(path, format!("has {} bytes, a ConfigMap holds {CONFIG_MAP_LIMIT}", text.len()));
        }
        // It fits into no annotation, which rendering says; to read it could take a lot of memory.
        if text.len() > ANNOTATIONS_LIMIT {
            return;
        }
        let toml::Remarks { syntax, meaning } = toml::check(text);
        for message in syntax {
            self.avoidable(path, message);
        }
        for message in meaning {
            self.warning(path, message);
        }
    }

    /// What the table cannot say: which values of `apiVersion`, `kind`, `name` and `namespace` are right.
    fn identity(&mut self, value: &Value, expected_name: &str, root: &FieldPath) {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
        for (name, wanted) in [("apiVersion", API_VERSION), ("kind", KIND)] {
            let found = value.get(name).and_then(Value::as_str);
            if let Some(found) = found.filter(|found| *found != wanted) {
                self.problem(&root.field(name), format!("is {}, must be {wanted}", names::quoted(found)));
            }
        }
        let metadata = root.field("metadata");
        if let Some(found) = text("/metadata/name").filter(|found| !found.is_empty() && *found != expected_name) {
            let message = format!("is {}, but the Config that counts is {expected_name}", names::quoted(found));
            self.problem(&metadata.field("name"), message);
        }
        if let Some(found) = text("/metadata/namespace").filter(|found| !found.is_empty()) {
            let message =
                format!("is {} and has no effect: a Config is one for the whole cluster", names::quoted(found));
            self.warning(&metadata.field("namespace"), message);
        }
        let namespace = text("/spec/namespace").filter(|namespace| !namespace.is_empty());
        if let Some(message) = namespace.and_then(names::label_error) {
            self.problem(&root.field("spec").field("namespace"), message);
        }
    }
}

/// Says what an unknown field may have been meant to be: its name of today, its right place, or the name next to it.
fn explain(name: &str, place: &FieldPath, parent: &FieldPath, near: Option<&str>) -> String {
    if let Some(now) = history::field(&schema_path(place)) {
        return now.to_owned();
    }
    if let Some(near) = near {
        return format!("is not a field of a Config; did you mean {}?", parent.field(near));
    }
    let mut homes = Vec::new();
    find_homes(name, SPEC, "spec", &mut homes);
    if homes.is_empty() {
        return "is not a field of a Config".to_owned();
    }
    format!("is not a field of a Config; it belongs at {}", homes.join(" or "))
}

fn find_homes(name: &str, fields: &[Field], parent: &str, homes: &mut Vec<String>) {
    for field in fields {
        let path = format!("{parent}.{}", field.name);
        if let Shape::Object(inner) = field.shape {
            find_homes(name, inner, &path, homes);
        }
        if field.name.eq_ignore_ascii_case(name) {
            homes.push(path);
        }
    }
}

fn schema_path(path: &FieldPath) -> String {
    let steps = path.0.iter().map(|step| match step {
        Step::Field(name) => format!(".{name}"),
        _ => "[]".to_owned(),
    });
    steps.collect::<String>().trim_start_matches('.').to_owned()
}
