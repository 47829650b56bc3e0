//! The keys of a mapping: duplicates, merges, and keys that kubectl would rename. Pure.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Visitor};
use serde_json::{Map, Value};

use super::context::{Context, Found};
use super::error::Problem;
use super::scalar::{Scalar, resolve};

/// The key that merges.
pub(super) const MERGE: &str = "<<";

/// What the parser's error says of a key that is a list or a mapping.
pub(super) const NEEDS_TEXT: &str = "a key that is text";

/// The fields of a mapping: its own, and those of its `<<`.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) own: Map<String, Value>,
    merged: Option<Map<String, Value>>,
}

impl Fields {
    /// The earlier mapping of a list wins. kubectl overwrites fields that stand above `<<`, others do not.
    pub(super) fn merge(&mut self, value: Value) -> Result<(), Found> {
        let mappings = match value {
            Value::Array(mappings) => mappings,
            mapping => vec![mapping],
        };
        let merged = self.merged.get_or_insert_default();
        for mapping in mappings {
            let Value::Object(fields) = mapping else { return Err(Found::Merge) };
            for (name, value) in fields {
                if self.own.get(&name).is_some_and(|own| *own != value) {
                    return Err(Found::LateMerge(name));
                }
                merged.entry(name).or_insert(value);
            }
        }
        Ok(())
    }

    pub(super) fn whole(self) -> Map<String, Value> {
        match self.merged {
            None => self.own,
            Some(mut fields) => {
                fields.extend(self.own);
                fields
            }
        }
    }
}

/// Reads the next key of a mapping; none for a merge.
pub(super) struct Key<'context, 'text> {
    pub(super) context: &'context Context<'text>,
    pub(super) fields: &'context Fields,
}

impl<'de> DeserializeSeed<'de> for Key<'_, 'de> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key<'_, 'de> {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(NEEDS_TEXT)
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        if !self.context.is_plain(text) {
            return self.visit_str(text);
        }
        if text == MERGE {
            return match self.fields.merged {
                None => Ok(None),
                Some(_) => Err(self.context.refuse(Found::Duplicate(text.to_owned()))),
            };
        }
        let is_itself = match resolve(text) {
            Scalar::Text => true,
            Scalar::Bool(value) => text == value.to_string(),
            Scalar::Int(number) => text == number.to_string(),
            Scalar::Null | Scalar::Float(_) => false,
        };
        if is_itself { self.visit_str(text) } else { Err(self.context.problem(Problem::Key(text.to_owned()))) }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        self.context.spend(text.len())?;
        if self.fields.own.contains_key(text) {
            return Err(self.context.refuse(Found::Duplicate(text.to_owned())));
        }
        Ok(Some(text.to_owned()))
    }
}
