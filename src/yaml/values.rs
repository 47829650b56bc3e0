//! The values of one document, with what kubectl would read otherwise read the same or refused.
//!
//! `serde_yaml` or `serde_json` gives structure and text; beside it goes the list of nodes, which tells what is plain and where
//! everything is. Where the two do not agree, YAML's parsers do not, and the document is refused. Pure.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize as _;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::LARGEST_DOCUMENT;
use super::document::Text;
use super::error::{Error, ErrorKind};
use super::nodes::{DEEPEST, MOST_NODES, Node, Style};
use super::scalar;

/// The key that merges.
const MERGE: &str = "<<";

/// What a node costs beside its text, in bytes.
const NODE: usize = 64;

/// Reads the value of a document; none if its text is not JSON, though it was taken for that.
pub(super) fn read(text: &Text<'_>) -> Result<Option<Value>, Error> {
    // Ten times the document, but no more than a large one, for what aliases repeat.
    let room = (text.piece.text.len() + NODE * text.nodes.len()).saturating_mul(10);
    let room = room.min(2 * LARGEST_DOCUMENT + NODE * MOST_NODES);
    let mut reader = Reader { text, next: 0, depth: 0, room, error: None };
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
    depth: usize,
    /// Bytes that may still be made.
    room: usize,
    /// What is wrong with the node of this index.
    error: Option<(usize, ErrorKind)>,
}

impl Reader<'_> {
    fn fail<E: serde::de::Error>(&mut self, node: usize, kind: ErrorKind) -> E {
        self.error.get_or_insert((node, kind));
        E::custom("refused")
    }

    /// Reads the next node, or the one that it is an alias of.
    fn follow<T, E: serde::de::Error>(&mut self, read: impl FnOnce(&mut Self, Node) -> Result<T, E>) -> Result<T, E> {
        let at = self.next;
        if let Some(Node { style: Style::Alias(target), .. }) = self.text.nodes.get(at) {
            self.next = *target;
        }
        let Some(node) = self.text.nodes.get(self.next) else { return Err(E::custom("more than there are nodes")) };
        let cost = NODE + node.text(self.text.piece.text).len();
        self.room = self.room.checked_sub(cost).ok_or_else(|| self.fail(at, ErrorKind::Aliases))?;
        let result = read(self, *node)?;
        if matches!(self.text.nodes.get(at), Some(Node { style: Style::Alias(_), .. })) {
            self.next = at + 1;
        }
        Ok(result)
    }

    /// Takes the next node, which is a scalar, and tells whether it is plain.
    fn take_scalar(&mut self) -> bool {
        let is_plain = self.text.nodes.get(self.next).is_some_and(|node| node.style == Style::Plain);
        self.next += 1;
        is_plain
    }

    fn scalar<E: serde::de::Error>(&mut self, text: &str) -> Result<Value, E> {
        let at = self.next;
        let value = if self.take_scalar() { scalar::value(text) } else { Ok(text.into()) };
        value.map_err(|kind| self.fail(at, kind))
    }

    /// Steps into a sequence or mapping, and gives its index.
    fn enter<E: serde::de::Error>(&mut self) -> Result<usize, E> {
        let at = self.next;
        self.next += 1;
        self.depth += 1;
        if self.depth > DEEPEST { Err(self.fail(at, ErrorKind::Deep)) } else { Ok(at) }
    }

    fn leave<E: serde::de::Error>(&mut self, at: usize) -> Result<(), E> {
        self.depth -= 1;
        let is_end = self.text.nodes.get(at).is_some_and(|node| node.next as usize == self.next);
        if is_end { Ok(()) } else { Err(self.fail(at, ErrorKind::Ambiguous)) }
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
        self.follow(|reader, node| match node.style {
            Style::Sequence => parser.deserialize_seq(reader),
            Style::Mapping => parser.deserialize_map(reader),
            Style::Plain if reader.text.is_json => {
                IgnoredAny::deserialize(parser)?;
                reader.scalar(node.text(reader.text.piece.text))
            }
            _ => parser.deserialize_str(reader),
        })
    }
}

impl<'de> Visitor<'de> for &mut Reader<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        self.scalar(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let at = self.enter()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(&mut *self)? {
            list.push(item);
        }
        self.leave(at)?;
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mapping = self.enter()?;
        let (mut own, mut merged) = (Fields::new(), None);
        loop {
            let at = self.next;
            let Some(key) = entries.next_key_seed(Key(self))? else { break };
            let is_duplicate = key.as_ref().map_or(merged.is_some(), |key| own.contains_key(key));
            if is_duplicate {
                let key = key.unwrap_or_else(|| MERGE.to_owned());
                let first_line = self.text.line_of_key(mapping, &key);
                return Err(self.fail(at, ErrorKind::Duplicate { key, first_line }));
            }
            let value = entries.next_value_seed(&mut *self)?;
            if let Some(key) = key {
                own.insert(key, value);
            } else {
                self.merge(mapping, &own, merged.get_or_insert_default(), value).map_err(|kind| self.fail(at, kind))?;
            }
        }
        self.leave(mapping)?;
        let mut fields = merged.unwrap_or_default();
        fields.append(&mut own);
        Ok(Value::Object(fields))
    }
}

/// Reads the next key of a mapping; none for a merge.
struct Key<'reader, 'a>(&'reader mut Reader<'a>);

impl<'de> DeserializeSeed<'de> for Key<'_, '_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        self.0.follow(|reader, node| match node.style {
            Style::Sequence | Style::Mapping => Err(reader.fail(reader.next, ErrorKind::KeyType)),
            _ => parser.deserialize_str(Key(reader)),
        })
    }
}

impl Visitor<'_> for Key<'_, '_> {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key that is text")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        let at = self.0.next;
        match self.0.take_scalar() {
            true if text == MERGE => Ok(None),
            true if !scalar::is_key(text) => Err(self.0.fail(at, ErrorKind::Key(text.to_owned()))),
            _ => Ok(Some(text.to_owned())),
        }
    }
}
