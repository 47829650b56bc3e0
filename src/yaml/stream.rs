//! A file's bytes, cut into documents at `---` as kubectl cuts them, and read one at a time.
//!
//! What kubectl's parsers never see (byte order marks, directives, documents without content) ends here; so do bytes that are no text.
//! Pure.

use serde_json::Value;

use super::error::{Error, Problem};
use super::locate::Text;
use super::parse;
use super::place::{Piece, is_marker};
use super::{Document, LARGEST_FILE};

/// The documents of a file, read one at a time; ends after the first error.
pub struct Documents<'text> {
    /// What is not cut yet.
    rest: Option<Piece<'text>>,
    /// What follows a JSON document before the next `---`.
    json: Option<Piece<'text>>,
    /// What is wrong with the whole.
    error: Option<Error>,
}

/// Reads the documents of a file one at a time, YAML or JSON; those without content are left out.
pub fn documents(text: &[u8]) -> Documents<'_> {
    match decode(text) {
        Ok(text) => Documents { rest: Some(Piece { text, line: 1, column: 0 }), json: None, error: None },
        Err(error) => Documents { rest: None, json: None, error: Some(error) },
    }
}

impl<'text> Iterator for Documents<'text> {
    type Item = Result<Document<'text>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.error.take() {
            return Some(Err(error));
        }
        let document = self.read_next().transpose()?;
        if document.is_err() {
            (self.rest, self.json) = (None, None);
        }
        Some(document)
    }
}

impl<'text> Documents<'text> {
    fn read_next(&mut self) -> Result<Option<Document<'text>>, Error> {
        loop {
            let (value, piece, content, is_json) = if let Some(content) = self.json.take().and_then(Piece::content) {
                let (value, length) = parse::json(content)?;
                self.json = Some(content.after(length));
                (value, content, content, true)
            } else {
                let Some(piece) = self.cut()? else { return Ok(None) };
                let Some(content) = piece.content() else { continue };
                if content.text.starts_with('{') && parse::begins_with_json(content) {
                    self.json = Some(content);
                    continue;
                }
                (parse::yaml(piece)?, piece, content, false)
            };
            match value {
                Value::Null => {}
                Value::Object(_) => {
                    return Ok(Some(Document { value, line: content.line, text: Text { piece, is_json } }));
                }
                other => return Err(content.error(Problem::Root(kind(&other)))),
            }
        }
    }

    /// Takes the text up to the next separator.
    fn cut(&mut self) -> Result<Option<Piece<'text>>, Error> {
        let Some(mut rest) = self.rest.take() else { return Ok(None) };
        rest.text = rest.text.strip_prefix('\u{feff}').unwrap_or(rest.text);
        let (mut offset, mut end) = (0, None);
        for line in rest.text.split_inclusive('\n') {
            if let Some(behind) = line.strip_prefix("---") {
                let piece = Piece { text: rest.text.split_at(end.unwrap_or(offset)).0, ..rest };
                let separator = rest.after(offset);
                if !(behind.trim().is_empty() || behind.trim_start().starts_with('#')) {
                    let column = 1 + line.chars().count() - behind.trim_start().chars().count();
                    return Err(separator.error_at(1, column, Problem::Separator));
                }
                self.rest = Some(separator.after(line.len()));
                return Ok(Some(piece));
            }
            if is_marker(line, "...") && end.is_none() {
                end = Some(offset);
            } else if end.is_some() && (Piece { text: line, ..rest }).content().is_some() {
                return Err(rest.after(offset).error(Problem::AfterEnd));
            }
            offset += line.len();
        }
        Ok(Some(Piece { text: rest.text.split_at(end.unwrap_or(offset)).0, ..rest }))
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
        return Err(start.error(Problem::LargeFile(LARGEST_FILE)));
    }
    let encoding = match bytes {
        [0, 0, 0xfe, 0xff, ..] | [0xff, 0xfe, 0, 0, ..] => Some("UTF-32"),
        [0xff, 0xfe, ..] | [1..=255, 0, ..] => Some("UTF-16 (little endian)"),
        [0xfe, 0xff, ..] | [0, 1..=255, ..] => Some("UTF-16 (big endian)"),
        _ => None,
    };
    if let Some(encoding) = encoding {
        return Err(start.error(Problem::Encoding(encoding)));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let valid =
            bytes.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or_default();
        Piece { text: valid, ..start }.after(valid.len()).error(Problem::NotUtf8)
    })
}
