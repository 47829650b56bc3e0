//! Evaluates a template with the values of a Config: one object, and the template's position of each field.
//!
//! Every string is written as a double-quoted YAML scalar on one line, in which all characters with a meaning in YAML are
//! escaped. An undefined variable is an error, even in a branch that is not taken. Pure.

use std::collections::HashSet;

use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Environment, ErrorKind, Output, UndefinedBehavior};
use serde_json::Value;

use super::Template;
use super::source_map::SourceMap;
use crate::names;
use crate::path::{FieldPath, Step};
use crate::problem::Problem;
use crate::yaml;

/// The limit of one template: evaluation steps, or 16 MB of text, five times the largest document that the API accepts.
const FUEL: u64 = 250_000;

/// The most undefined variables that are reported, because the template is searched for each.
const MOST_UNDEFINED: usize = 20;

/// Evaluates templates with the values of one Config.
pub(crate) struct Engine {
    pub(super) environment: Environment<'static>,
    pub(super) values: minijinja::Value,
    /// The variables that a template can use, `agent` and `agent.image`.
    variables: Vec<String>,
}

/// The object that a template defines.
pub(crate) struct Document {
    /// The object.
    pub(crate) object: Value,
    source: String,
    source_map: SourceMap,
    /// The path to the object in the text: the item of a `List`, else the root.
    root: FieldPath,
}

impl Document {
    /// A finding about the field at `path` of the object.
    pub(crate) fn problem(&self, path: FieldPath, message: impl Into<String>) -> Problem {
        let whole = FieldPath(self.root.0.iter().chain(&path.0).cloned().collect());
        let (line, column) = self.source_map.field_position(&whole);
        let problem = Problem::at(path, message).with_written_number(self.source_map.scalar(&whole).as_deref());
        Problem { file: Some(self.source.clone()), line, column, ..problem }
    }
}

impl Engine {
    /// Prepares to evaluate templates with `values`, an object of scalars and objects.
    pub(crate) fn new(values: &Value) -> Self {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_debug(true);
        environment.set_fuel(Some(FUEL));
        environment.set_formatter(|output, _, value| write(output, value));
        let mut variables = Vec::new();
        for (name, value) in values.as_object().into_iter().flatten() {
            variables.extend(value.as_object().into_iter().flatten().map(|(inner, _)| format!("{name}.{inner}")));
            variables.push(name.clone());
        }
        Self { environment, values: minijinja::value::Serde(values).into(), variables }
    }

    /// Whether the condition in the template's header is true.
    pub(crate) fn is_enabled(&self, template: &Template) -> Result<bool, Vec<Problem>> {
        if let Some(line) = template.ignored_condition() {
            let message =
                "only one \"# when:\" is allowed, and only above the object; combine conditions with \"and\" or \"or\"";
            return Err(vec![Problem { line: Some(line), ..Problem::in_file(&template.source, message) }]);
        }
        let Some((line, condition)) = template.when() else {
            return Ok(true);
        };
        let problem = |message: String| {
            let message = format!("the condition {}: {message}", names::quoted(condition));
            vec![Problem { line: Some(line), ..Problem::in_file(&template.source, message) }]
        };
        let expression = self.environment.compile_expression(condition).map_err(|error| problem(reason(&error)))?;
        if let Some(name) = self.unknown(expression.undeclared_variables(true)).first() {
            return Err(problem(self.undefined(name)));
        }
        let value = expression.eval(&self.values).map_err(|error| problem(reason(&error)))?;
        Ok(value.is_true())
    }

    /// The object that the template defines, or its problems.
    pub(crate) fn evaluate(&self, template: &Template) -> Result<Document, Vec<Problem>> {
        let one = |problem: Problem| vec![problem];
        let compiled = self
            .environment
            .template_from_named_str(&template.source, &template.text)
            .map_err(|error| one(self.located(template, &error)))?;
        let unknown = self.unknown(compiled.undeclared_variables(true));
        if !unknown.is_empty() {
            let line = |name: &str| template.text.lines().position(|line| line.contains(name)).map(|line| line + 1);
            let problem = |name: &String| {
                Problem { line: line(name), ..Problem::in_file(&template.source, self.undefined(name)) }
                    .quoting(template.quotable())
            };
            let mut problems: Vec<Problem> = unknown.iter().take(MOST_UNDEFINED).map(problem).collect();
            let omitted = unknown.len() - problems.len();
            if omitted > 0 {
                problems.push(Problem::in_file(&template.source, format!("{omitted} more undefined variables")));
            }
            return Err(problems);
        }
        let (mut text, spans) =
            compiled.render_with_spans(&self.values).map_err(|error| one(self.located(template, &error)))?;
        // The template language removes the last newline, which a block scalar at the end of the file needs.
        text.push('\n');
        let source_map = SourceMap::new(text, spans, &template.text);
        let embedded: Vec<Problem> = source_map.embedded().map(|(line, name)| embedded(template, line, name)).collect();
        if embedded.is_empty() { read(template, source_map) } else { Err(embedded) }
    }

    /// The variables that are neither ours nor the template language's, sorted.
    fn unknown(&self, names: HashSet<String>) -> Vec<String> {
        let globals: HashSet<&str> = self.environment.globals().map(|(global, _)| global).collect();
        let known = |name: &String| self.variables.contains(name) || globals.contains(name.as_str());
        let mut unknown: Vec<String> = names.into_iter().filter(|name| !known(name)).collect();
        unknown.sort();
        unknown
    }

    fn undefined(&self, name: &str) -> String {
        let known = || self.variables.iter().map(String::as_str);
        match names::nearest(name, known()) {
            Some(near) => format!("{name} is not defined; did you mean {near}?"),
            None => format!("{name} is not defined; available: {}", known().collect::<Vec<_>>().join(", ")),
        }
    }

    /// An error of the template language, with its position.
    fn located(&self, template: &Template, error: &minijinja::Error) -> Problem {
        let range = error.range();
        let expression = range.clone().and_then(|range| template.text.get(range)).unwrap_or_default();
        let message = match error.kind() {
            ErrorKind::UndefinedError if !expression.is_empty() => self.undefined(expression),
            _ => reason(error),
        };
        let column = range.map(|range| yaml::place_at(&template.text, range.start).1);
        Problem { line: error.line(), column, ..Problem::in_file(&template.source, message) }
            .quoting(template.quotable())
    }
}

fn reason(error: &minijinja::Error) -> String {
    if error.kind() == ErrorKind::OutOfFuel {
        return "exceeds the limit of evaluation steps or output size".to_owned();
    }
    error.detail().map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind()))
}

/// A string that is only a part of a value would insert its quotes there.
fn embedded(template: &Template, line: usize, name: &str) -> Problem {
    let message = format!(
        "{{{{ {name} }}}} is a string, must be the whole value, without quotes; concatenate with ~, for example {{{{ \"text\" ~ {name} }}}}"
    );
    Problem { line: Some(line), ..Problem::in_file(&template.source, message) }.quoting(template.quotable())
}

/// Writes a value so that YAML readers return exactly that value.
fn write(output: &mut Output<'_>, value: &minijinja::Value) -> Result<(), minijinja::Error> {
    let text = match value.kind() {
        ValueKind::String => quoted(value.as_str().unwrap_or_default()),
        ValueKind::Number | ValueKind::Bool => value.to_string(),
        ValueKind::None => "null".to_owned(),
        kind => {
            return Err(minijinja::Error::new(
                ErrorKind::InvalidOperation,
                format!("cannot write a {kind} into a manifest"),
            ));
        }
    };
    Ok(output.write_str(&text)?)
}

/// A double-quoted scalar of letters, digits, a few other characters and escapes: no YAML indicators, quotes or line breaks.
/// So no value can change the structure around it, even inside other quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        let escape = match u32::from(character) {
            _ if character.is_alphanumeric() || " _./=+".contains(character) => character.to_string(),
            code @ ..=0xff => format!("\\x{code:02x}"),
            code @ ..=0xffff => format!("\\u{code:04x}"),
            code => format!("\\U{code:08x}"),
        };
        quoted.push_str(&escape);
    }
    quoted.push('"');
    quoted
}

/// Reads the only object of an evaluated template, possibly in a `List`.
fn read(template: &Template, source_map: SourceMap) -> Result<Document, Vec<Problem>> {
    let documents = yaml::read(source_map.text().as_bytes()).map_err(|error| {
        let (line, column) = source_map.source_position(Some((error.line, error.column)));
        let problem = Problem::in_file(&template.source, source_map.message(&error.kind));
        vec![Problem { line, column, ..problem }.quoting(template.quotable())]
    })?;
    let is_list = documents.iter().any(|document| document.value.get("items").is_some_and(Value::is_array));
    let list = FieldPath::default().field("items").join(Step::Index(0));
    let mut objects: Vec<Value> =
        documents.into_iter().flat_map(|document| yaml::unwrap_list(document.value)).collect();
    let kinds: Vec<&str> =
        objects.iter().map(|object| object.get("kind").and_then(Value::as_str).unwrap_or("no kind")).collect();
    let expected = template.required_kind();
    if kinds.len() != 1 || expected.is_some_and(|expected| kinds != [expected]) {
        let found = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
        let message = format!("expected 1 {}, found {}{found}", expected.unwrap_or("object"), kinds.len());
        return Err(vec![Problem::in_file(&template.source, message)]);
    }
    let root = if is_list { list } else { FieldPath::default() };
    let object = objects.pop().unwrap_or_default();
    Ok(Document { object, source: template.source.clone(), source_map, root })
}
