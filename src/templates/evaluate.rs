//! From a template and the values of a Config to one object, with the way back from a field to the template's line.
//!
//! Every string that a template writes comes out as a double-quoted YAML scalar on one line, in which nothing is left that
//! YAML could take for structure, wherever the template has put it. A name that does not exist is an error, in branches
//! that are not taken as well. Pure.

use std::collections::HashSet;

use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Environment, ErrorKind, Output, UndefinedBehavior};
use serde_json::Value;

use super::Template;
use super::places::Places;
use crate::names;
use crate::path::{FieldPath, Step};
use crate::problem::Problem;
use crate::yaml;

/// What one template may cost: about as many steps, or 16 MB of text. The largest document that the API takes is a fifth of that.
const FUEL: u64 = 250_000;

/// Unknown names that are told: the template is searched for each.
const MOST_PROBLEMS: usize = 20;

/// What evaluates templates: the rules of writing and the values.
pub(crate) struct Engine {
    pub(super) environment: Environment<'static>,
    pub(super) values: minijinja::Value,
    /// The names that a template may use, `agent` and `agent.image`.
    names: Vec<String>,
}

/// The one object that a template gave.
pub(crate) struct Document {
    /// The object.
    pub(crate) object: Value,
    source: String,
    places: Places,
    /// Where the object stands in the text: in a `List`, its item; else nothing.
    inside: FieldPath,
}

impl Document {
    /// A finding about the field at `path` of the object.
    pub(crate) fn problem(&self, path: FieldPath, message: impl Into<String>) -> Problem {
        let whole = FieldPath(self.inside.0.iter().chain(&path.0).cloned().collect());
        let (line, column) = self.places.of_field(&whole);
        Problem { line, column, ..Problem { file: Some(self.source.clone()), ..Problem::at(path, message) } }
    }
}

impl Engine {
    /// Gets ready to evaluate templates with `values`, an object whose members may be objects.
    pub(crate) fn new(values: &Value) -> Self {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_debug(true);
        environment.set_fuel(Some(FUEL));
        environment.set_formatter(|output, _, value| write(output, value));
        let mut names = Vec::new();
        for (name, value) in values.as_object().into_iter().flatten() {
            names.extend(value.as_object().into_iter().flatten().map(|(inner, _)| format!("{name}.{inner}")));
            names.push(name.clone());
        }
        Self { environment, values: minijinja::value::Serde(values).into(), names }
    }

    /// Whether the template's header wants it rendered.
    pub(crate) fn wants(&self, template: &Template) -> Result<bool, Vec<Problem>> {
        if let Some(line) = template.stray_condition() {
            let message = "# when: can stand once, above the object; join conditions with and, or";
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

    /// The object that the template gives, or all that is wrong with it.
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
                    .quoting(template.shown())
            };
            let mut told: Vec<Problem> = unknown.iter().take(MOST_PROBLEMS).map(problem).collect();
            let untold = unknown.len() - told.len();
            if untold > 0 {
                told.push(Problem::in_file(&template.source, format!("{untold} more are not shown")));
            }
            return Err(told);
        }
        let (mut text, spans) =
            compiled.render_with_spans(&self.values).map_err(|error| one(self.located(template, &error)))?;
        // The language takes the last newline away, which a block scalar at the end of the file needs.
        text.push('\n');
        let places = Places::new(text, spans, &template.text);
        let embedded: Vec<Problem> = places.embedded().map(|(line, name)| embedded(template, line, name)).collect();
        if embedded.is_empty() { read(template, places) } else { Err(embedded) }
    }

    /// The names that are neither ours nor the template language's, sorted.
    fn unknown(&self, names: HashSet<String>) -> Vec<String> {
        let globals: HashSet<&str> = self.environment.globals().map(|(global, _)| global).collect();
        let known = |name: &String| self.names.contains(name) || globals.contains(name.as_str());
        let mut unknown: Vec<String> = names.into_iter().filter(|name| !known(name)).collect();
        unknown.sort();
        unknown
    }

    fn undefined(&self, name: &str) -> String {
        let known = || self.names.iter().map(String::as_str);
        match names::nearest(name, known()) {
            Some(near) => format!("{name} is not defined; did you mean {near}?"),
            None => format!("{name} is not defined; there are {}", known().collect::<Vec<_>>().join(", ")),
        }
    }

    /// What the template language reports, with its place.
    fn located(&self, template: &Template, error: &minijinja::Error) -> Problem {
        let range = error.range();
        let expression = range.clone().and_then(|range| template.text.get(range)).unwrap_or_default();
        let message = match error.kind() {
            ErrorKind::UndefinedError if !expression.is_empty() => self.undefined(expression),
            _ => reason(error),
        };
        let column = range.map(|range| yaml::place_at(&template.text, range.start).1);
        Problem { line: error.line(), column, ..Problem::in_file(&template.source, message) }.quoting(template.shown())
    }
}

fn reason(error: &minijinja::Error) -> String {
    if error.kind() == ErrorKind::OutOfFuel {
        return "takes too many steps or makes too much text".to_owned();
    }
    error.detail().map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind()))
}

/// A string in the middle of other text would bring its quotes into it.
fn embedded(template: &Template, line: usize, name: &str) -> Problem {
    let message = format!(
        "{{{{ {name} }}}} is a string and must be the whole value, without quotes; join text with ~, such as {{{{ \"text\" ~ {name} }}}}"
    );
    Problem { line: Some(line), ..Problem::in_file(&template.source, message) }.quoting(template.shown())
}

/// Writes a value so that YAML reads exactly that value.
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

/// A double-quoted scalar that holds letters, digits, a few harmless signs and escapes: no indicator of YAML, no quote, no
/// line end. So the structure around it is the same for every value, even where a template puts it into other quotes.
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

/// Reads the one object of an evaluated template; a list that holds one object counts as that object.
fn read(template: &Template, places: Places) -> Result<Document, Vec<Problem>> {
    let documents = yaml::read(places.text().as_bytes()).map_err(|error| {
        let (line, column) = places.of_output(Some((error.line(), error.column())));
        let problem = Problem::in_file(&template.source, places.reworded(error.kind()));
        vec![Problem { line, column, ..problem }.quoting(template.shown())]
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
    let inside = if is_list { list } else { FieldPath::default() };
    let object = objects.pop().unwrap_or_default();
    Ok(Document { object, source: template.source.clone(), places, inside })
}
