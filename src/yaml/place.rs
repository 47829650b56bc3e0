//! Where a part of the input begins, and where in it a parser's error is: lines and columns as editors show them. Pure.

use super::error::{Error, Problem};

/// A part of the input and where it begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece<'text> {
    pub(super) text: &'text str,
    /// The line of its first character, from 1.
    pub(super) line: usize,
    /// Characters before it on that line.
    pub(super) column: usize,
}

impl Piece<'_> {
    /// What is left after the first `length` bytes.
    pub(super) fn after(self, length: usize) -> Self {
        let (gone, text) = self.text.split_at(length);
        match gone.rfind('\n') {
            Some(end) => {
                let lines = gone.bytes().filter(|byte| *byte == b'\n').count();
                Self { text, line: self.line + lines, column: gone.split_at(end + 1).1.chars().count() }
            }
            None => Self { text, line: self.line, column: self.column + gone.chars().count() },
        }
    }

    /// The same without blanks, empty lines, comments and `%YAML` in front; none if nothing else is there.
    pub(super) fn content(self) -> Option<Self> {
        let mut left = self.text;
        loop {
            let text = left.trim_start();
            let offset = self.text.len() - text.len();
            let begins_line =
                if offset == 0 { self.column == 0 } else { self.text.as_bytes().get(offset - 1) == Some(&b'\n') };
            let is_skipped =
                text.starts_with('#') || begins_line && (text.starts_with("%YAML") || is_marker(text, "..."));
            if !is_skipped {
                return (!text.is_empty()).then(|| self.after(offset));
            }
            left = text.split_once('\n').map_or("", |(_, left)| left);
        }
    }

    /// An error at the beginning of this piece.
    pub(super) fn error(&self, problem: Problem) -> Error {
        self.error_at(1, 1, problem)
    }

    /// An error at a place that was counted from the beginning of this piece.
    pub(super) fn error_at(&self, line: usize, column: usize, problem: Problem) -> Error {
        let column = if line == 1 { self.column + column } else { column };
        Error { line: self.line + line - 1, column, problem }
    }
}

/// Whether a line is a marker of the stream, such as `...`.
pub(super) fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker).is_some_and(|behind| behind.is_empty() || behind.starts_with([' ', '\t', '\r', '\n']))
}

/// Where the parser's error is in `text`; the beginning where it does not say.
pub(super) fn place(text: &str, error: &serde_yaml::Error) -> (usize, usize) {
    place_at(text, error.location().map_or(0, |location| location.index()))
}

/// The line and column of a byte. Only a newline ends a line, as in editors: YAML's parsers end one at U+2028 and some others, too.
pub(crate) fn place_at(text: &str, offset: usize) -> (usize, usize) {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    let lines = || before.split(|byte| *byte == b'\n');
    (lines().count(), 1 + lines().next_back().map_or(0, characters))
}

/// The same for JSON, of which the parser counts the bytes that it has read of the line.
pub(super) fn json_place(text: &str, error: &serde_json::Error) -> (usize, usize) {
    let line = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default().as_bytes();
    (error.line(), characters(line.get(..error.column()).unwrap_or(line)).max(1))
}

/// The characters that begin in these bytes.
fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}
