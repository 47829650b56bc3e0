//! A file's bytes, cut into documents at `---` as kubectl cuts them, and read one at a time. Pure.

use serde_json::Value;

use super::document::{Document, Text};
use super::error::{Error, ErrorKind};
use super::nodes::{self, Node};
use super::text::Piece;
use super::{LARGEST_DOCUMENT, LARGEST_FILE, values};

/// The documents of a file, read one at a time; ends after the first error.
pub struct Documents<'text> {
    /// What is not cut yet.
    rest: Option<Piece<'text>>,
    /// What follows a JSON document before the next `---`.
    after_json: Option<Piece<'text>>,
    /// What is wrong with the whole.
    error: Option<Error>,
}

/// Reads the documents of a file one at a time, YAML or JSON; those without content are left out.
pub fn documents(text: &[u8]) -> Documents<'_> {
    match decode(text) {
        Ok(text) => Documents { rest: Some(Piece { text, line: 1, column: 0 }), after_json: None, error: None },
        Err(error) => Documents { rest: None, after_json: None, error: Some(error) },
    }
}

impl<'text> Iterator for Documents<'text> {
    type Item = Result<Document<'text>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let document = match self.error.take() {
            Some(error) => Err(error),
            None => self.read_next().transpose()?,
        };
        if document.is_err() {
            (self.rest, self.after_json) = (None, None);
        }
        Some(document)
    }
}

impl<'text> Documents<'text> {
    fn read_next(&mut self) -> Result<Option<Document<'text>>, Error> {
        loop {
            let after_json = self.after_json.take();
            let Some(piece) = after_json.map_or_else(|| self.cut(), |piece| Ok(Some(piece)))? else { return Ok(None) };
            let (_, content) = piece.split(piece.text.len() - piece.text.trim_start().len());
            if let Some((document, rest)) = json(content)? {
                self.after_json = Some(rest);
                return Ok(Some(document));
            }
            match yaml(piece)? {
                Some(document) if after_json.is_none() => return Ok(Some(document)),
                Some(_) => return Err(content.error(0, ErrorKind::AfterEnd)),
                None => {}
            }
        }
    }

    /// Takes the text up to the next separator.
    fn cut(&mut self) -> Result<Option<Piece<'text>>, Error> {
        let Some(mut rest) = self.rest.take() else { return Ok(None) };
        rest.text = rest.text.strip_prefix('\u{feff}').unwrap_or(rest.text);
        let start = if rest.text.starts_with("---") { Some(0) } else { rest.text.find("\n---").map(|end| end + 1) };
        let Some(start) = start else { return Ok(Some(rest)) };
        let (piece, separator) = rest.split(start);
        let line = separator.text.split_inclusive('\n').next().unwrap_or_default();
        let behind = line.strip_prefix("---").unwrap_or_default().trim_start();
        if !(behind.is_empty() || behind.starts_with('#')) {
            return Err(separator.error(line.len() - behind.len(), ErrorKind::Separator));
        }
        self.rest = Some(separator.split(line.len()).1);
        Ok(Some(piece))
    }
}

/// Reads the JSON document at the beginning of `piece`, and gives what follows it; none where kubectl would read YAML.
fn json(piece: Piece<'_>) -> Result<Option<(Document<'_>, Piece<'_>)>, Error> {
    let Some((nodes, length)) = nodes::of_json(piece.text) else { return Ok(None) };
    let (piece, rest) = piece.split(length);
    check_size(piece)?;
    Ok(read(piece, nodes, true)?.map(|document| (document, rest)))
}

/// Reads a piece that is one YAML document; none if it has no content.
fn yaml(piece: Piece<'_>) -> Result<Option<Document<'_>>, Error> {
    check_size(piece)?;
    check_characters(piece)?;
    read(piece, nodes::of_yaml(piece)?, false)
}

fn check_size(piece: Piece<'_>) -> Result<(), Error> {
    let is_large = piece.text.len() > LARGEST_DOCUMENT;
    if is_large { Err(piece.error(0, ErrorKind::LargeDocument(LARGEST_DOCUMENT))) } else { Ok(()) }
}

fn read(piece: Piece<'_>, nodes: Vec<Node>, is_json: bool) -> Result<Option<Document<'_>>, Error> {
    if nodes.is_empty() {
        return Ok(None);
    }
    let text = Text { piece, nodes: nodes.into(), is_json };
    match values::read(&text)? {
        None | Some(Value::Null) => Ok(None),
        Some(value) if value.is_object() => Ok(Some(Document { value, line: text.place(0).0, text })),
        Some(other) => Err(text.error(0, ErrorKind::Root(kind(&other)))),
    }
}

/// Refuses characters that YAML does not allow, of which `serde_yaml` would not tell the place.
fn check_characters(piece: Piece<'_>) -> Result<(), Error> {
    let is_bad = |character: char| {
        matches!(character, '\u{fffe}' | '\u{ffff}')
            || character.is_control() && !matches!(character, '\n' | '\t' | '\r' | '\u{85}')
    };
    // In front of a newline it belongs to that; anywhere else it ends a line for some parsers only.
    let is_alone = |(at, _): &(usize, _)| piece.text.as_bytes().get(at + 1).is_some_and(|next| *next != b'\n');
    let control = piece.text.char_indices().find(|(_, character)| is_bad(*character));
    let line_end = piece.text.match_indices('\r').find(is_alone);
    match (control, line_end) {
        (Some((at, character)), line_end) if line_end.is_none_or(|(end, _)| at < end) => {
            Err(piece.error(at, ErrorKind::Control(character)))
        }
        (_, Some((at, _))) => Err(piece.error(at, ErrorKind::LineEnd)),
        _ => Ok(()),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "a list",
        Value::String(_) => "text",
        Value::Number(_) => "a number",
        _ => "a boolean",
    }
}

fn decode(bytes: &[u8]) -> Result<&str, Error> {
    let start = Piece { text: "", line: 1, column: 0 };
    if bytes.len() > LARGEST_FILE {
        return Err(start.error(0, ErrorKind::LargeFile(LARGEST_FILE)));
    }
    let encoding = match bytes {
        [0, 0, 0xfe, 0xff, ..] | [0xff, 0xfe, 0, 0, ..] => Some("UTF-32"),
        [0xff, 0xfe, ..] | [1..=255, 0, ..] => Some("UTF-16 (little endian)"),
        [0xfe, 0xff, ..] | [0, 1..=255, ..] => Some("UTF-16 (big endian)"),
        _ => None,
    };
    if let Some(encoding) = encoding {
        return Err(start.error(0, ErrorKind::Encoding(encoding)));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let text = bytes.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok());
        let text = text.unwrap_or_default();
        Piece { text, ..start }.error(text.len(), ErrorKind::NotUtf8)
    })
}
