//! Where something stands in the text: looked for only when there is something to say about it.
//!
//! The parsers tell places in errors only. So the search descends by the path and fails on purpose where it ends. Pure.

use std::convert::Infallible;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::place::{Piece, json_place, place};
use crate::path::{FieldPath, Step};

/// The text that one document was read from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Text<'text> {
    pub(super) piece: Piece<'text>,
    pub(super) is_json: bool,
}

impl Text<'_> {
    /// Tells line and column of the file, from 1, of the value at `path`, which goes by fields and indices: of its key, if it has one.
    ///
    /// Where the text does not hold the path (a field that is missing, or merged in), the value that should hold it is told instead.
    pub fn locate(&self, path: &FieldPath) -> (usize, usize) {
        let Piece { text, line: first_line, column: first_column } = self.piece;
        let (line, column) = if self.is_json { in_json(text, &path.0) } else { in_yaml(text, &path.0) };
        (first_line + line - 1, if line == 1 { first_column + column } else { column })
    }
}

/// Turns the items that are named by keys or value into indices.
pub(super) fn by_index(value: &Value, path: &FieldPath) -> Vec<Step> {
    let mut value = Some(value);
    let step_down = |step: &Step| {
        let items = value.and_then(Value::as_array);
        let index = match step {
            Step::Field(_) => None,
            Step::Index(index) => Some(*index),
            Step::Keys(keys) => items.and_then(|items| {
                items.iter().position(|item| keys.iter().all(|(key, wanted)| item.get(key) == Some(wanted)))
            }),
            Step::Item(wanted) => items.and_then(|items| items.iter().position(|item| item == wanted)),
        };
        value = match (step, index) {
            (Step::Field(name), _) => value.and_then(|value| value.get(name)),
            (_, Some(index)) => items.and_then(|items| items.get(index)),
            _ => None,
        };
        index.map_or_else(|| step.clone(), Step::Index)
    };
    path.0.iter().map(step_down).collect()
}

/// The place of the value at `steps` in a text that is one YAML document.
pub(super) fn in_yaml(text: &str, steps: &[Step]) -> (usize, usize) {
    let document = serde_yaml::Deserializer::from_str(text).next();
    match document.map(|document| Seek(steps).deserialize(document)) {
        Some(Err(error)) => place(text, &error),
        _ => (1, 1),
    }
}

/// The place where the value at `steps`, or its key, ends in a text that begins with a JSON document.
pub(super) fn in_json(text: &str, steps: &[Step]) -> (usize, usize) {
    let mut parser = serde_json::Deserializer::from_str(text);
    match Seek(steps).deserialize(&mut parser) {
        Err(error) => json_place(text, &error),
        Ok(never) => match never {},
    }
}

/// Fails at the node it is given.
pub(super) struct Stop;

impl<'de> DeserializeSeed<'de> for Stop {
    type Value = Infallible;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Infallible, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Stop {
    type Value = Infallible;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the end of the document")
    }
}

/// Fails at the node that the steps lead to.
struct Seek<'steps>(&'steps [Step]);

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = Infallible;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Infallible, D::Error> {
        if self.0.is_empty() { Stop.deserialize(deserializer) } else { deserializer.deserialize_any(self) }
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = Infallible;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("what holds the value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Infallible, A::Error> {
        if let [Step::Index(index), rest @ ..] = self.0 {
            for _ in 0..*index {
                items.next_element::<IgnoredAny>()?;
            }
            items.next_element_seed(Seek(rest))?;
        }
        Err(A::Error::custom("not in this list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Infallible, A::Error> {
        if let [Step::Field(name), rest @ ..] = self.0 {
            while let Some(is_it) = fields.next_key_seed(SeekKey { name, is_last: rest.is_empty() })? {
                if is_it {
                    fields.next_value_seed(Seek(rest))?;
                }
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Err(A::Error::custom("not in this mapping"))
    }
}

/// Tells whether a key is the wanted one; fails there if it is the last step.
struct SeekKey<'steps> {
    name: &'steps str,
    is_last: bool,
}

impl<'de> DeserializeSeed<'de> for SeekKey<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for SeekKey<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<bool, E> {
        match (text == self.name, self.is_last) {
            (true, true) => Err(E::custom("here")),
            (is_it, _) => Ok(is_it),
        }
    }
}
