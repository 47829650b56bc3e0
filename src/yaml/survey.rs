//! Keeps texts away from `serde_yaml` that would cost it minutes, or hundreds of megabytes.
//!
//! Its scanner looks at every open `[` and `{` again for each token (400 kB of `{a: {a: …` take 24 seconds, 3 MB half an hour), and it
//! keeps 200 bytes for each node until the document ends. So a large text is first run through a scanner that does neither. Pure.

use granit_parser::{ErrorKind, Event, Marker, Parser, ScanError};

use super::context::{DEEPEST, MOST_NODES};
use super::error::{Error, Problem};
use super::place::{Piece, place_at};

/// Bytes that cannot hold too many nodes.
const SMALL: usize = 64 << 10;

/// Open brackets that do no harm: two seconds for the largest document.
const FEW_BRACKETS: usize = 500;

/// How many nodes more than a scalar a mapping takes the memory of.
const MAPPING: usize = 3;

/// Refuses a large text that is deep, that has very many nodes, or that hides whether it does.
pub(super) fn survey(piece: Piece<'_>) -> Result<(), Error> {
    if is_harmless(piece.text) {
        return Ok(());
    }
    let (mut depth, mut nodes) = (0_usize, 0_usize);
    for event in Parser::new_from_str(piece.text) {
        let (event, span) = match event {
            Ok(event) => event,
            Err(error) => return unsurveyed(piece, &error),
        };
        nodes += 1;
        match event {
            Event::SequenceStart(..) => depth += 1,
            Event::MappingStart(..) => {
                depth += 1;
                nodes += MAPPING;
            }
            Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
            _ => {}
        }
        let problem = match (depth > DEEPEST, nodes > MOST_NODES) {
            (true, _) => Problem::Deep(DEEPEST),
            (false, true) => Problem::Nodes,
            (false, false) => continue,
        };
        return Err(error_at(piece, &span.start, problem));
    }
    Ok(())
}

/// This scanner is stricter than kubectl here and there, which does not matter if little follows.
fn unsurveyed(piece: Piece<'_>, error: &ScanError) -> Result<(), Error> {
    let mark = error.marker();
    let behind: String = piece.text.chars().skip(mark.index()).collect();
    if is_harmless(&behind) {
        return Ok(());
    }
    let problem = match error.kind() {
        ErrorKind::RecursionLimitExceeded => Problem::Deep(DEEPEST),
        kind => Problem::Syntax(kind.to_string()),
    };
    Err(error_at(piece, mark, problem))
}

fn error_at(piece: Piece<'_>, mark: &Marker, problem: Problem) -> Error {
    let (line, column) = place_at(piece.text, mark.byte_offset().unwrap_or_default());
    piece.error_at(line, column, problem)
}

fn is_harmless(text: &str) -> bool {
    text.len() <= SMALL && text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count() <= FEW_BRACKETS
}
