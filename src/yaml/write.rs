//! YAML out: one document, block style, keys sorted, lists at their key's column as kubectl prints them.
//!
//! Takes a JSON value, gives text that every reader takes for that same value. Each line comes with the path of what it shows, so that
//! a diff can say more about it. Pure text.

use serde_json::{Map, Number, Value};

use super::quote::{block_header, one_line};
use crate::path::{FieldPath, Step};

/// Longer keys are written after `? `: readers look for the colon of others no further than 1024 characters.
const LONGEST_KEY: usize = 1000;

/// One line of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The line without its end.
    pub text: String,
    /// The value that it shows, by fields and indices: the innermost one where several begin on this line.
    pub path: FieldPath,
}

/// Writes `value` as one document with a final newline and without `---`.
pub fn to_string(value: &Value) -> String {
    let mut text = String::new();
    for line in lines(value) {
        text.push_str(&line.text);
        text.push('\n');
    }
    text
}

/// Writes `value` as [`to_string`] does, line by line.
pub fn lines(value: &Value) -> Vec<Line> {
    let mut writer = Writer { lines: Vec::new() };
    let (start, root) = (String::new(), FieldPath::default());
    match value {
        Value::Object(fields) if !fields.is_empty() => writer.fields(start, 0, fields, &root),
        Value::Array(items) if !items.is_empty() => writer.items(start, 0, items, &root),
        scalar => writer.scalar(start, 2, scalar, root),
    }
    writer.lines
}

/// In all methods `start` is what already stands on the line, `column` where the lines below begin.
struct Writer {
    lines: Vec<Line>,
}

impl Writer {
    fn fields(&mut self, start: String, column: usize, fields: &Map<String, Value>, path: &FieldPath) {
        let mut start = Some(start);
        for (name, value) in fields {
            let start = start.take().unwrap_or_else(|| blanks(column));
            self.field(start, column, name, value, path.field(name));
        }
    }

    fn field(&mut self, mut start: String, column: usize, name: &str, value: &Value, path: FieldPath) {
        let key = one_line(name);
        if key.len() > LONGEST_KEY {
            self.push(start + "? " + &key, path.clone());
            start = blanks(column) + ":";
        } else {
            start = start + &key + ":";
        }
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                self.push(start, path.clone());
                self.fields(blanks(column + 2), column + 2, fields, &path);
            }
            Value::Array(items) if !items.is_empty() => {
                self.push(start, path.clone());
                self.items(blanks(column), column, items, &path);
            }
            scalar => self.scalar(start + " ", column + 2, scalar, path),
        }
    }

    fn items(&mut self, start: String, column: usize, items: &[Value], path: &FieldPath) {
        let mut start = Some(start);
        for (index, item) in items.iter().enumerate() {
            let start = start.take().unwrap_or_else(|| blanks(column)) + "- ";
            let path = path.join(Step::Index(index));
            match item {
                Value::Object(fields) if !fields.is_empty() => self.fields(start, column + 2, fields, &path),
                Value::Array(items) if !items.is_empty() => self.items(start, column + 2, items, &path),
                scalar => self.scalar(start, column + 2, scalar, path),
            }
        }
    }

    fn scalar(&mut self, start: String, column: usize, value: &Value, path: FieldPath) {
        let text = match value {
            Value::String(text) => match block_header(text) {
                Some(header) => return self.block(start + &header, column, text, &path),
                None => one_line(text),
            },
            Value::Number(number) => decimal(number),
            other => other.to_string(),
        };
        self.push(start + &text, path);
    }

    fn block(&mut self, start: String, column: usize, text: &str, path: &FieldPath) {
        self.push(start, path.clone());
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            let line = if line.is_empty() { String::new() } else { blanks(column) + line };
            self.push(line, path.clone());
        }
    }

    fn push(&mut self, text: String, path: FieldPath) {
        self.lines.push(Line { text, path });
    }
}

fn blanks(column: usize) -> String {
    " ".repeat(column)
}

/// Never with an exponent: to YAML 1.1, `1e21` is a string.
fn decimal(number: &Number) -> String {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else { return number.to_string() };
    let text = float.to_string();
    if text.contains('.') { text } else { text + ".0" }
}
