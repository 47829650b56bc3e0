//! Lines and columns of the input, as editors show them. Pure.

use super::error::{Error, ErrorKind};

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
    /// The first `length` bytes, and what is left after them.
    pub(super) fn split(self, length: usize) -> (Self, Self) {
        let (before, text) = self.text.split_at_checked(length).unwrap_or((self.text, ""));
        let (line, column) = self.place(length);
        (Self { text: before, ..self }, Self { text, line, column: column - 1 })
    }

    /// The line and the column of a byte of this piece.
    pub(super) fn place(self, offset: usize) -> (usize, usize) {
        let (line, column) = place_at(self.text, offset);
        (self.line + line - 1, if line == 1 { self.column + column } else { column })
    }

    /// An error at a byte of this piece.
    pub(super) fn error(self, offset: usize, kind: ErrorKind) -> Error {
        let (line, column) = self.place(offset);
        Error { line, column, kind }
    }
}

/// The line and column of a byte. Only a newline ends a line, as in editors: YAML's parsers end one at U+2028 and some others, too.
pub(crate) fn place_at(text: &str, offset: usize) -> (usize, usize) {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    // The characters that begin in these bytes.
    let characters = before.iter().skip(line_start).filter(|byte| **byte & 0xc0 != 0x80).count();
    (before.split(|byte| *byte == b'\n').count(), 1 + characters)
}
