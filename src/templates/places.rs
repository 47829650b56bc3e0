//! The way back from a line of an evaluated template to the line of the template that made it.
//!
//! Pure.

use minijinja::{OutputSpan, OutputSpanKind};

use crate::path::FieldPath;
use crate::yaml;

/// An evaluated template and which part of it comes from where.
pub(super) struct Places {
    text: String,
    spans: Vec<OutputSpan>,
    template: String,
}

/// A line and a column, from 1, where known.
type Place = (Option<usize>, Option<usize>);

impl Places {
    pub(super) fn new(text: String, spans: Vec<OutputSpan>, template: &str) -> Self {
        Self { text, spans, template: template.to_owned() }
    }

    /// The evaluated text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The place in the template of a field, or of the nearest one above it.
    pub(super) fn of_field(&self, document: usize, path: &FieldPath) -> Place {
        self.of_output(yaml::locate(self.text.as_bytes(), document, path))
    }

    /// The place in the template of a place in the text. A line that the template has as it is keeps its column.
    pub(super) fn of_output(&self, at: Option<(usize, usize)>) -> Place {
        let Some((source, line, column)) = at.and_then(|(line, column)| Some((self.source_line(line)?, line, column)))
        else {
            return (None, None);
        };
        let same = self.text.lines().nth(line - 1) == self.template.lines().nth(source - 1);
        (Some(source), same.then_some(column))
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

/// The column of a byte of `text`, in characters from 1.
pub(super) fn column_at(text: &str, offset: usize) -> Option<usize> {
    Some(text.get(..offset)?.rsplit('\n').next()?.chars().count() + 1)
}
