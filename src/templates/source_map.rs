//! Maps positions in an evaluated template to positions in the template.
//!
//! Pure.

use std::ops::Range;

use minijinja::{OutputSpan, OutputSpanKind};

use crate::path::FieldPath;
use crate::yaml;

/// An evaluated template, and the part of the template that each part of it comes from.
pub(super) struct SourceMap {
    text: String,
    spans: Vec<OutputSpan>,
    template: String,
}

/// A line and a column, from 1, where known.
type Position = (Option<usize>, Option<usize>);

impl SourceMap {
    pub(super) fn new(text: String, spans: Vec<OutputSpan>, template: &str) -> Self {
        Self { text, spans, template: template.to_owned() }
    }

    /// The evaluated text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The position in the template of a field, or of the nearest one above it.
    pub(super) fn field_position(&self, path: &FieldPath) -> Position {
        self.source_position(yaml::locate(self.text.as_bytes(), 0, path))
    }

    /// The value of a field as it is written, if it is a scalar without quotes.
    pub(super) fn scalar(&self, path: &FieldPath) -> Option<String> {
        let document = yaml::documents(self.text.as_bytes()).next()?.ok()?;
        document.text.scalar(path).map(str::to_owned)
    }

    /// The position in the template of a position in the text. The column is known only in a line that has no expressions.
    pub(super) fn source_position(&self, at: Option<(usize, usize)>) -> Position {
        let Some((source, line, column)) = at.and_then(|(line, column)| Some((self.source_line(line)?, line, column)))
        else {
            return (None, None);
        };
        let same = self.text.lines().nth(line - 1) == self.template.lines().nth(source - 1);
        (Some(source), same.then_some(column))
    }

    /// The message of `problem`, in which line numbers are those of the template.
    pub(super) fn message(&self, problem: &yaml::ErrorKind) -> String {
        let source = |line: usize| self.source_line(line).unwrap_or(line);
        match problem.clone() {
            yaml::ErrorKind::Duplicate { key, first_line } => {
                yaml::ErrorKind::Duplicate { key, first_line: source(first_line) }.to_string()
            }
            yaml::ErrorKind::LateMerge { key, first_line } => {
                yaml::ErrorKind::LateMerge { key, first_line: source(first_line) }.to_string()
            }
            other => other.to_string(),
        }
    }

    /// The strings that are not whole values: line and expression. Comments may contain them.
    pub(super) fn embedded(&self) -> impl Iterator<Item = (usize, &str)> {
        let strings = self.spans.iter().filter(|span| span.kind() == OutputSpanKind::Expression);
        strings.filter(|span| self.is_embedded(span.output_range())).map(|span| {
            let expression = self.template.get(span.source_range()).unwrap_or_default();
            (span.line(), expression.trim())
        })
    }

    fn is_embedded(&self, range: Range<usize>) -> bool {
        let part = |range| self.text.get(range).unwrap_or_default();
        let before = part(0..range.start).rsplit('\n').next().unwrap_or_default();
        let after = part(range.end..self.text.len()).lines().next().unwrap_or_default().trim();
        let (line, spaced) = (before.trim(), before.ends_with([' ', '\t']));
        let begins = line.is_empty() || line.ends_with(['[', '{', ',']) || spaced && line.ends_with([':', '-', '?']);
        let ends = after.is_empty() || after.starts_with([':', ',', ']', '}', '#']);
        let fits = begins && ends || line.starts_with('#') || line.contains(" #");
        part(range).starts_with('"') && !fits
    }

    fn source_line(&self, line: usize) -> Option<usize> {
        let start: usize = self.text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
        let span = self.spans.iter().rfind(|span| span.output_range().start <= start)?;
        let above = match span.kind() {
            OutputSpanKind::Raw => self.text.get(span.output_range().start..start)?.matches('\n').count(),
            _ => 0,
        };
        Some(span.line() + above)
    }
}
