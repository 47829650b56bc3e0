//! The value of one document, with what kubectl would read otherwise read the same or refused.
//!
//! `serde_yaml` or `serde_json` gives structure and text. In step with it goes the list of nodes, which tells what is plain and where
//! everything is. Where the two do not agree, YAML's parsers do not, and the document is refused. Pure.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize as _, de};
use serde_json::{Map, Value};

use super::LARGEST_DOCUMENT;
use super::document::Text;
use super::error::{Error, ErrorKind};
use super::nodes::{DEEPEST, MOST_NODES, Style};
use super::scalar;

/// What a node costs beside its text, in bytes.
const NODE: usize = 64;

/// Reads the value of a document; none if its text is not JSON, though it was taken for that.
pub(super) fn read(text: &Text<'_>) -> Result<Option<Value>, Error> {
    // Ten times the document, but no more than a large one, for what aliases repeat.
    let room = 10 * (text.piece.text.len() + NODE * text.nodes.len());
    let room = room.min(2 * LARGEST_DOCUMENT + NODE * MOST_NODES);
    let mut reader = Reader { text, next: 0, is_key: false, depth: 0, room, error: None };
    let result = if text.is_json {
        reader.deserialize(&mut serde_json::Deserializer::from_str(text.piece.text)).map_err(|_| None)
    } else {
        let ended = with_final_newline(text.piece.text);
        reader.deserialize(serde_yaml::Deserializer::from_str(&ended)).map_err(|error| error.location())
    };
    match (reader.error, result) {
        (Some((node, kind)), _) => Err(text.error(node, kind)),
        (None, Ok(value)) => Ok(Some(value)),
        (None, Err(_)) if text.is_json => Ok(None),
        (None, Err(place)) => Err(text.piece.error(place.map_or(0, |place| place.index()), ErrorKind::Ambiguous)),
    }
}

/// kubectl ends the last line if the file does not; a block scalar there keeps its final newline by that.
fn with_final_newline(text: &str) -> Cow<'_, str> {
    if text.ends_with('\n') { text.into() } else { format!("{text}\n").into() }
}

/// Goes through the nodes in step with a parser.
struct Reader<'a> {
    text: &'a Text<'a>,
    /// The index of the next node.
    next: usize,
    /// Whether that is the key of a mapping.
    is_key: bool,
    depth: usize,
    /// Bytes that may still be made.
    room: usize,
    /// What is wrong with the node of this index.
    error: Option<(usize, ErrorKind)>,
}

impl Reader<'_> {
    fn fail<E: de::Error>(&mut self, node: usize, kind: ErrorKind) -> E {
        self.error.get_or_insert((node, kind));
        E::custom("refused")
    }

    fn scalar<E: de::Error>(&mut self, text: &str) -> Result<Value, E> {
        let at = self.next;
        self.next += 1;
        let is_plain = self.text.nodes.get(at).is_some_and(|node| node.style == Style::Plain);
        let value = match (is_plain, self.is_key) {
            (false, _) => Ok(text.into()),
            (true, false) => scalar::value(text),
            (true, true) => scalar::key(text),
        };
        value.map_err(|kind| self.fail(at, kind))
    }

    /// Reads a sequence or mapping, which `read` is told the index of, to the end of its nodes.
    fn collection<E: de::Error>(
        &mut self,
        read: impl FnOnce(&mut Self, usize) -> Result<Value, E>,
    ) -> Result<Value, E> {
        let at = self.next;
        self.next += 1;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fail(at, ErrorKind::Deep));
        }
        let value = read(self, at)?;
        self.depth -= 1;
        let is_end = self.text.nodes.get(at).is_some_and(|node| node.next as usize == self.next);
        if is_end { Ok(value) } else { Err(self.fail(at, ErrorKind::Ambiguous)) }
    }

    /// Adds the fields of a `<<`. The earlier mapping of a list wins. kubectl overwrites fields that stand above `<<`, others do not.
    fn merge(&self, mapping: usize, own: &Fields, merged: &mut Fields, value: Value) -> Result<(), ErrorKind> {
        let mappings = match value {
            Value::Array(mappings) => mappings,
            mapping => vec![mapping],
        };
        for fields in mappings {
            let Value::Object(fields) = fields else { return Err(ErrorKind::Merge) };
            for (key, value) in fields {
                if own.get(&key).is_some_and(|own| *own != value) {
                    return Err(ErrorKind::LateMerge { first_line: self.text.line_of_key(mapping, &key), key });
                }
                merged.entry(key).or_insert(value);
            }
        }
        Ok(())
    }
}

type Fields = Map<String, Value>;

impl<'de> DeserializeSeed<'de> for &mut Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Value, D::Error> {
        let (at, nodes) = (self.next, &self.text.nodes);
        let aliased =
            nodes.get(at).and_then(|node| if let Style::Alias(target) = node.style { Some(target) } else { None });
        let Some(node) = nodes.get(aliased.unwrap_or(at)) else { return Err(D::Error::custom("no such node")) };
        let text = node.text(self.text.piece.text);
        self.room = self.room.checked_sub(NODE + text.len()).ok_or_else(|| self.fail(at, ErrorKind::Aliases))?;
        self.next = aliased.unwrap_or(at);
        let value = match node.style {
            Style::Sequence | Style::Mapping if self.is_key => Err(self.fail(at, ErrorKind::KeyType)),
            Style::Sequence => parser.deserialize_seq(&mut *self),
            Style::Mapping => parser.deserialize_map(&mut *self),
            Style::Plain if self.text.is_json => IgnoredAny::deserialize(parser).and_then(|_| self.scalar(text)),
            _ => parser.deserialize_str(&mut *self),
        }?;
        if aliased.is_some() {
            self.next = at + 1;
        }
        Ok(value)
    }
}

impl<'de> Visitor<'de> for &mut Reader<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the same as in the list of nodes")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        self.scalar(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.collection(|reader, _| {
            let mut list = Vec::new();
            while let Some(item) = items.next_element_seed(&mut *reader)? {
                list.push(item);
            }
            Ok(Value::Array(list))
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.collection(|reader, mapping| {
            let (mut own, mut merged) = (Fields::new(), None);
            loop {
                let at = reader.next;
                reader.is_key = true;
                let key = entries.next_key_seed(&mut *reader)?;
                reader.is_key = false;
                let key = match key {
                    None => break,
                    Some(Value::String(key)) => Some(key),
                    Some(_merge) => None,
                };
                if key.as_ref().map_or(merged.is_some(), |key| own.contains_key(key)) {
                    let key = key.unwrap_or_else(|| scalar::MERGE.to_owned());
                    let first_line = reader.text.line_of_key(mapping, &key);
                    return Err(reader.fail(at, ErrorKind::Duplicate { key, first_line }));
                }
                let value = entries.next_value_seed(&mut *reader)?;
                if let Some(key) = key {
                    own.insert(key, value);
                } else {
                    let merged = merged.get_or_insert_default();
                    reader.merge(mapping, &own, merged, value).map_err(|kind| reader.fail(at, kind))?;
                }
            }
            let mut fields = merged.unwrap_or_default();
            fields.append(&mut own);
            Ok(Value::Object(fields))
        })
    }
}
