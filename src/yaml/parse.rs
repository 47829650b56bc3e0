//! One document, from text to value: the parsers, and their errors in our words and with lines of the file.
//!
//! `serde_yaml` reads YAML, `serde_json` reads JSON, both into the same [`Node`]. Pure.

use std::borrow::Cow;

use serde::Deserialize as _;
use serde::de::{DeserializeSeed as _, IgnoredAny};
use serde_json::Value;

use super::LARGEST_DOCUMENT;

use super::context::{Context, DEEPEST, Found};
use super::error::{Error, Problem};
use super::locate::{self, Stop};
use super::mapping::{MERGE, NEEDS_TEXT};
use super::node::Node;
use super::place::{Piece, json_place, place};
use super::survey::survey;
use super::tags::{TAG, Tags};
use crate::path::Step;

/// Reads a piece that holds one YAML document.
pub(super) fn yaml(piece: Piece<'_>) -> Result<Value, Error> {
    if piece.text.len() > LARGEST_DOCUMENT {
        return Err(piece.error(Problem::LargeDocument(LARGEST_DOCUMENT)));
    }
    check_characters(piece)?;
    survey(piece)?;
    let text = terminated(piece.text);
    let value = value(piece, &text);
    match tag(&text, value.is_ok()) {
        Some((line, column)) => Err(piece.error_at(line, column, Problem::Tag)),
        None => value,
    }
}

fn value(piece: Piece<'_>, text: &str) -> Result<Value, Error> {
    let context = Context::new(text, true);
    let mut parser = serde_yaml::Deserializer::from_str(text);
    let Some(document) = parser.next() else { return Ok(Value::Null) };
    let value = match Node(&context).deserialize(document) {
        Ok(value) => value,
        Err(error) => {
            let at = place(text, &error);
            return Err(match context.found() {
                Some((found, trail)) => explain(piece, found, trail, at, &|steps| locate::in_yaml(text, steps)),
                None => syntax(piece, &error),
            });
        }
    };
    match parser.next().map(|second| Stop.deserialize(second)) {
        Some(Err(error)) => Err(syntax(piece, &error)),
        _ => Ok(value),
    }
}

/// Whether kubectl would find a JSON document at the beginning of `piece`, and so read the whole piece as JSON.
pub(super) fn begins_with_json(piece: Piece<'_>) -> bool {
    let mut parser = serde_json::Deserializer::from_str(window(piece.text));
    // What is cut off within JSON is too large, which is for [`json`] to say.
    IgnoredAny::deserialize(&mut parser).is_ok()
}

/// Reads the JSON document at the beginning of `piece`; gives it and its length in bytes.
pub(super) fn json(piece: Piece<'_>) -> Result<(Value, usize), Error> {
    let text = window(piece.text);
    let context = Context::new(text, false);
    let mut parser = serde_json::Deserializer::from_str(text);
    match Node(&context).deserialize(&mut parser) {
        Ok(value) => Ok((value, parser.into_iter::<IgnoredAny>().byte_offset())),
        Err(error) => {
            let at = json_place(text, &error);
            Err(match context.found() {
                Some((found, trail)) => explain(piece, found, trail, at, &|steps| locate::in_json(text, steps)),
                None if error.is_eof() && text.len() < piece.text.len() => {
                    piece.error(Problem::LargeDocument(LARGEST_DOCUMENT))
                }
                None => piece.error_at(at.0, at.1, Problem::Syntax(before(&error.to_string(), " at line "))),
            })
        }
    }
}

/// As much text as a document may have.
fn window(text: &str) -> &str {
    let mut end = text.len().min(LARGEST_DOCUMENT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.split_at(end).0
}

/// kubectl ends the last line if the file does not; a block scalar there keeps its final newline by that.
fn terminated(text: &str) -> Cow<'_, str> {
    if text.ends_with('\n') { Cow::Borrowed(text) } else { Cow::Owned(format!("{text}\n")) }
}

/// The parser says only at which byte a control character stands, and takes a byte order mark for a separator.
fn check_characters(piece: Piece<'_>) -> Result<(), Error> {
    for (index, line) in piece.text.split('\n').enumerate() {
        // In front of a newline it belongs to that; anywhere else it ends a line for some readers only.
        let ended = line.strip_suffix('\r').unwrap_or(line);
        let bad = |(column, character): (usize, char)| match character {
            '\t' | '\u{85}' => false,
            '\u{feff}' => column == 0,
            _ => character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}'),
        };
        // Nearly all lines are printable ASCII, for which the search by bytes is quick.
        if ended.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            continue;
        }
        if let Some((column, character)) = ended.chars().enumerate().find(|found| bad(*found)) {
            let problem = if character == '\r' { Problem::LineEnd } else { Problem::Control(character) };
            return Err(piece.error_at(index + 1, column + 1, problem));
        }
    }
    Ok(())
}

/// Where the first tag is. The parser shows `!local` tags only, so `!!binary` is made local in a copy; where `!!` is text, this does no
/// harm. The copy of a text `is_good` can only be refused for a tag in its long form, `!<…>`.
fn tag(text: &str, is_good: bool) -> Option<(usize, usize)> {
    if !text.contains('!') {
        return None;
    }
    let local = text.replace("!!", "!_").replace("!<", "!_");
    match Tags.deserialize(serde_yaml::Deserializer::from_str(&local).next()?) {
        Err(error) if is_good || error.to_string().contains(TAG) => Some(place(&local, &error)),
        _ => None,
    }
}

/// Completes what was found with the lines that only a second look at the text gives.
fn explain(
    piece: Piece<'_>,
    found: Found,
    trail: Vec<Step>,
    at: (usize, usize),
    look: &dyn Fn(&[Step]) -> (usize, usize),
) -> Error {
    let mut steps: Vec<Step> = trail.into_iter().rev().collect();
    let mut look = |name: &str| {
        steps.push(Step::Field(name.to_owned()));
        let place = look(&steps);
        steps.pop();
        place
    };
    let (at, problem) = match found {
        Found::Problem(problem) => (at, problem),
        Found::Duplicate(key) => {
            let first_line = piece.line + look(&key).0 - 1;
            (at, Problem::Duplicate { key, first_line })
        }
        Found::LateMerge(key) => {
            let first_line = piece.line + look(&key).0 - 1;
            (look(MERGE), Problem::LateMerge { key, first_line })
        }
        Found::Merge => (look(MERGE), Problem::Merge),
    };
    piece.error_at(at.0, at.1, problem)
}

fn syntax(piece: Piece<'_>, error: &serde_yaml::Error) -> Error {
    let (line, column) = place(piece.text, error);
    let text = error.to_string();
    let shown = piece.text.lines().nth(line - 1).unwrap_or_default();
    let problem = if text.contains(NEEDS_TEXT) {
        Problem::KeyShape
    } else if text.contains("recursion limit") {
        Problem::Deep(DEEPEST)
    } else if text.contains("repetition limit") {
        Problem::Aliases
    } else if text.starts_with("invalid type") {
        Problem::LineEnd
    } else if text.contains("expected <document start>") {
        Problem::AfterEnd
    } else if shown.chars().nth(column - 1) == Some('\t') {
        Problem::Tab
    } else {
        Problem::Syntax(reworded(&text, piece))
    };
    piece.error_at(line, column, problem)
}

/// The parser's words, its second place with the line of the file.
fn reworded(text: &str, piece: Piece<'_>) -> String {
    let (problem, context) = text.split_once(", while ").unwrap_or((text, ""));
    let context = if context.starts_with("scanning for the next token") { "" } else { context };
    let problem = before(problem, " at line ");
    let (what, place) = context.split_once(" at line ").unwrap_or((context, ""));
    match place.split(' ').next().and_then(|line| line.parse::<usize>().ok()) {
        Some(line) if has_only_newlines(piece.text) => {
            format!("{problem} while {what} (from line {})", piece.line + line - 1)
        }
        _ if what.is_empty() => problem,
        _ => format!("{problem} while {what}"),
    }
}

/// Whether the parser counts lines as [`place_at`] does.
fn has_only_newlines(text: &str) -> bool {
    !text.contains(['\u{85}', '\u{2028}', '\u{2029}']) && text.matches('\r').count() == text.matches("\r\n").count()
}

fn before(text: &str, end: &str) -> String {
    text.split_once(end).map_or(text, |(text, _)| text).to_owned()
}
