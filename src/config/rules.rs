//! Validates a value against the custom resource definition, and by rules that the definition does not express.
//!
//! Pure. The server drops a null where it has a default, and refuses any other.
//! <https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting-and-nullable>

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::schema::{Field, METADATA, ROOT, SPEC, Type};
use super::{API_VERSION, KIND, Origin, history, toml};
use crate::manifest::{ANNOTATIONS_LIMIT, CONFIG_MAP_LIMIT};
use crate::names;
use crate::path::{FieldPath, Step};
use crate::problem::{self, Problem, mistyped};

/// What the validation found.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

/// Validates `value` as the Config named `expected_name`.
pub(super) fn check(value: &Value, expected_name: &str, origin: Origin) -> Findings {
    let mut validator = Validator { origin, findings: Findings::default() };
    let root = FieldPath::default();
    validator.object(value, ROOT, &root);
    validator.identity(value, expected_name, &root);
    validator.configuration(value, &root.field("spec").field("configuration"));
    validator.findings
}

/// Adds a finding, up to one more than are reported.
fn add(list: &mut Vec<Problem>, path: &FieldPath, message: impl Into<String>) {
    if list.len() <= problem::MOST {
        list.push(Problem::at(path.clone(), message));
    }
}

struct Validator {
    origin: Origin,
    findings: Findings,
}

impl Validator {
    fn problem(&mut self, path: &FieldPath, message: impl Into<String>) {
        add(&mut self.findings.problems, path, message);
    }

    fn warning(&mut self, path: &FieldPath, message: impl Into<String>) {
        add(&mut self.findings.warnings, path, message);
    }

    /// Reports what the operator accepts but nobody intends: an error in a file, where it can still be corrected.
    fn unintended(&mut self, path: &FieldPath, message: impl Into<String>) {
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
            let field_path = path.field(field.name);
            match object.get(field.name) {
                Some(Value::Null) if matches!(field.value_type, Type::Port | Type::Any) => {}
                Some(Value::Null) if !field.required && is_metadata => {}
                Some(Value::Null) if !field.required => self.unintended(&field_path, "is null; omit the field"),
                Some(Value::Null) | None if field.required => self.problem(&field_path, "is missing"),
                Some(value) => self.value(value, &field.value_type, &field_path),
                None => {}
            }
        }
    }

    fn value(&mut self, value: &Value, value_type: &Type, path: &FieldPath) {
        match value_type {
            Type::Any => {}
            Type::Object(fields) => self.object(value, fields, path),
            Type::List(fields, keys) => self.list(value, fields, keys, path),
            Type::StringMap => self.string_map(value, path),
            Type::Boolean if value.is_boolean() => {}
            Type::Boolean => self.mistyped(value, "true or false", path),
            Type::Port => self.port(value, path),
            Type::String | Type::NonEmptyString | Type::Image | Type::NonEmptyImage => {
                self.string(value, value_type, path);
            }
        }
    }

    fn string_map(&mut self, value: &Value, path: &FieldPath) {
        let Some(texts) = value.as_object() else {
            return self.mistyped(value, "an object", path);
        };
        for (name, text) in texts.iter().filter(|(_, text)| !text.is_string()) {
            self.mistyped(text, "a string", &path.field(name));
        }
    }

    fn string(&mut self, value: &Value, value_type: &Type, path: &FieldPath) {
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
        if text.is_empty() && matches!(value_type, Type::NonEmptyString | Type::NonEmptyImage) {
            self.problem(path, "is empty");
        } else if text.trim() != text && matches!(value_type, Type::Image | Type::NonEmptyImage) {
            self.problem(path, format!("is {}, must not begin or end with whitespace", names::quoted(text)));
        }
    }

    fn port(&mut self, value: &Value, path: &FieldPath) {
        let expected = "an integer from 1 to 65535";
        match value.as_i64() {
            Some(1..=65535) => {}
            Some(port) => self.problem(path, format!("is {port}, must be {expected}")),
            None => self.mistyped(value, expected, path),
        }
    }

    fn list(&mut self, value: &Value, fields: &[Field], keys: &[&str], path: &FieldPath) {
        let Some(items) = value.as_array() else {
            return self.mistyped(value, "a list", path);
        };
        let mut seen = HashMap::new();
        for (position, item) in items.iter().enumerate() {
            let field_path = path.join(Step::Index(position));
            self.object(item, fields, &field_path);
            let identity: Option<Vec<String>> = keys.iter().map(|key| item.get(*key).map(Value::to_string)).collect();
            let earlier = identity.map_or(position, |identity| *seen.entry(identity).or_insert(position));
            if earlier != position {
                self.problem(&field_path, format!("has the same {} as item [{earlier}]", keys.join(", ")));
            }
        }
    }

    fn mistyped(&mut self, value: &Value, expected: &str, path: &FieldPath) {
        let subject = if path.0.is_empty() { "the document " } else { "" };
        self.problem(path, format!("{subject}{}", mistyped(value, expected)));
    }

    fn unknown(&mut self, object: &Map<String, Value>, fields: &[Field], path: &FieldPath) {
        let known = || fields.iter().map(|field| field.name);
        for name in object.keys().filter(|name| !known().any(|known| known == *name)).take(problem::MOST + 1) {
            let field_path = path.field(name);
            self.unintended(&field_path, explain(name, &field_path, path, names::nearest(name, known())));
        }
    }

    fn configuration(&mut self, value: &Value, path: &FieldPath) {
        let text = value.pointer("/spec/configuration").and_then(Value::as_str).unwrap_or_default();
        if text.len() > CONFIG_MAP_LIMIT {
            return self
                .problem(path, format!("has {} bytes; a ConfigMap holds at most {CONFIG_MAP_LIMIT}", text.len()));
        }
        // Rendering reports that it exceeds the limit of annotations; parsing it could take a lot of memory.
        if text.len() > ANNOTATIONS_LIMIT {
            return;
        }
        let toml::Findings { syntax_errors, warnings } = toml::check(text);
        for message in syntax_errors {
            self.unintended(path, message);
        }
        for message in warnings {
            self.warning(path, message);
        }
    }

    /// Validates `apiVersion`, `kind`, `metadata.name` and the namespaces.
    fn identity(&mut self, value: &Value, expected_name: &str, root: &FieldPath) {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
        for (name, expected) in [("apiVersion", API_VERSION), ("kind", KIND)] {
            let found = value.get(name).and_then(Value::as_str);
            if let Some(found) = found.filter(|found| *found != expected) {
                self.problem(&root.field(name), format!("is {}, must be {expected}", names::quoted(found)));
            }
        }
        let metadata = root.field("metadata");
        if let Some(found) = text("/metadata/name").filter(|found| !found.is_empty() && *found != expected_name) {
            let message = format!("is {}, must be {expected_name}", names::quoted(found));
            self.problem(&metadata.field("name"), message);
        }
        if let Some(found) = text("/metadata/namespace").filter(|found| !found.is_empty()) {
            let message = format!("is {} and has no effect: a Config is cluster-scoped", names::quoted(found));
            self.warning(&metadata.field("namespace"), message);
        }
        let namespace = text("/spec/namespace").filter(|namespace| !namespace.is_empty());
        if let Some(message) = namespace.and_then(names::label_error) {
            self.problem(&root.field("spec").field("namespace"), message);
        }
    }
}

/// Explains an unknown field: it was renamed, misspelled, or belongs to another object.
fn explain(name: &str, field_path: &FieldPath, parent: &FieldPath, near: Option<&str>) -> String {
    if let Some(now) = history::field(&schema_path(field_path)) {
        return now.to_owned();
    }
    if let Some(near) = near {
        return format!("is an unknown field; did you mean {}?", parent.field(near));
    }
    let mut candidates = Vec::new();
    find_fields(name, SPEC, "spec", &mut candidates);
    if candidates.is_empty() {
        return "is an unknown field".to_owned();
    }
    format!("is an unknown field; did you mean {}?", candidates.join(" or "))
}

fn find_fields(name: &str, fields: &[Field], parent: &str, candidates: &mut Vec<String>) {
    for field in fields {
        let path = format!("{parent}.{}", field.name);
        if let Type::Object(inner) = field.value_type {
            find_fields(name, inner, &path, candidates);
        }
        if field.name.eq_ignore_ascii_case(name) {
            candidates.push(path);
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
