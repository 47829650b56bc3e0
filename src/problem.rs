//! Something wrong in what people wrote: which file, which line, which field, and why.
//!
//! One shape for Config and templates, for what stops us and for what is only worth a warning: which of the two it is
//! depends on the list it stands in. Pure data.

use std::fmt;

use serde_json::Value;

use crate::names::quoted;
use crate::path::FieldPath;

/// A finding in the input. The message continues the path: `spec.namespace` `is empty`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problem {
    /// The file, as messages name it; none when the input is not a file, or when the caller adds it.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The column, from 1.
    pub column: Option<usize>,
    /// The field; empty when the whole document is meant.
    pub path: FieldPath,
    /// What is wrong, and what would be right.
    pub message: String,
    /// The line of the text, where it takes that to see what is wrong, and below it a mark at the column.
    pub excerpt: Option<String>,
}

/// Problems of one object that are told: to find the place of each, its text is read again.
pub(crate) const MOST: usize = 50;

/// The most characters of a line that an excerpt shows.
const SHOWN: usize = 100;

impl Problem {
    /// A finding about a field, of which the place in a file is not known yet.
    pub fn at(path: FieldPath, message: impl Into<String>) -> Self {
        Self { path, message: message.into(), ..Self::default() }
    }

    /// A finding about a whole file.
    pub fn in_file(file: &str, message: impl Into<String>) -> Self {
        Self { file: Some(file.to_owned()), message: message.into(), ..Self::default() }
    }

    /// Adds the line that is meant, out of the `text` of the file.
    #[must_use]
    pub(crate) fn quoting(mut self, text: &str) -> Self {
        let line = self.line.and_then(|number| Some((number, text.lines().nth(number.checked_sub(1)?)?)));
        self.excerpt = line.map(|(number, line)| {
            let column = self.column.unwrap_or(1);
            let skipped = column.saturating_sub(SHOWN / 2);
            // A tab as one sign, so that the mark stands below what it marks.
            let shown: String = line.replace('\t', "→").chars().skip(skipped).take(SHOWN).collect();
            let margin = " ".repeat(number.to_string().len());
            let mark = self.column.map(|_| format!("\n{margin} | {}^", " ".repeat(column - 1 - skipped)));
            format!("{number} | {shown}{}", mark.unwrap_or_default())
        });
        self
    }

    /// Quotes a number as it is `written`: who writes `1.10` does not find `1.1`.
    #[must_use]
    pub(crate) fn with_written_number(mut self, written: Option<&str>) -> Self {
        const NUMBER: &str = "is the number ";
        if let (Some(written), Some(rest)) = (written, self.message.strip_prefix(NUMBER))
            && let Some((_, rest)) = rest.split_once(", ")
        {
            self.message = format!("{NUMBER}{written}, {rest}");
        }
        self
    }

    /// The path and what is wrong there.
    pub(crate) fn sentence(&self) -> String {
        if self.path.0.is_empty() { self.message.clone() } else { format!("{} {}", self.path, self.message) }
    }

    /// What sorts findings in one file as they stand there; those that have no place come first.
    pub(crate) fn place(&self) -> (Option<usize>, Option<usize>) {
        (self.line, self.column)
    }
}

impl fmt::Display for Problem {
    /// Writes `file:line:column: path message`, without what is not known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            f.write_str(file)?;
            for number in [self.line, self.column].into_iter().map_while(|number| number) {
                write!(f, ":{number}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.sentence())
    }
}

impl std::error::Error for Problem {}

/// Gives what was found in one object its place, and sorts it by that; says when there is more than is told.
pub(crate) fn placed<T>(found: Vec<T>, place: impl Fn(T) -> Problem) -> Vec<Problem> {
    let untold = found.len() > MOST;
    let mut told: Vec<Problem> = found.into_iter().take(MOST).map(place).collect();
    told.sort_by_key(Problem::place);
    let file = told.first().and_then(|problem| problem.file.clone());
    let message = "there are more problems, which are not shown".to_owned();
    told.extend(untold.then(|| Problem { file, message, ..Problem::default() }));
    told
}

/// Says that a value is of another type than `wanted`.
pub(crate) fn mistyped(value: &Value, wanted: &str) -> String {
    let found = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string {}", quoted(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    format!("is {found}, must be {wanted}")
}
