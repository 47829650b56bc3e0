//! From the parser's events to a JSON value, with what kubectl would read otherwise read the same or refused.
//!
//! `serde_yaml` resolves plain scalars by YAML 1.2. Where it says "text", it lends the text out of the input, so that what stands around it
//! tells a plain scalar from a quoted one. A problem is kept in the [`Context`]: the parser's own error then only says where.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::LARGEST_DOCUMENT;
use super::error::Problem;
use super::scalar::{Scalar, resolve};
use crate::path::Step;

/// Levels of a document; `serde_yaml` and `serde_json` end at 128.
pub(super) const DEEPEST: usize = 100;

/// Keys and values of one document: the parser takes 40 MB for them.
pub(super) const MOST_NODES: usize = 200_000;

/// The key that merges.
pub(super) const MERGE: &str = "<<";

/// What the parser's error says of a key that is a list or a mapping.
pub(super) const NEEDS_TEXT: &str = "a key that is text";

/// What stopped the reading. A mapping's keys are only looked up again for their lines once there is something to say about them.
pub(super) enum Found {
    Problem(Problem),
    /// This key of the mapping stands there before.
    Duplicate(String),
    /// The mapping's `<<` brings this key, which stands there before.
    LateMerge(String),
    /// The mapping's `<<` is not made of mappings.
    Merge,
}

/// One document, while it is read.
pub(super) struct Context<'text> {
    /// The text that the parser borrows from.
    text: &'text str,
    /// Whether plain scalars exist: false for JSON.
    is_yaml: bool,
    depth: Cell<usize>,
    nodes: Cell<usize>,
    /// Bytes of text and number of nodes that aliases may still make.
    room: Cell<usize>,
    found: RefCell<Option<Found>>,
    /// The steps to what was found, innermost first.
    trail: RefCell<Vec<Step>>,
}

impl<'text> Context<'text> {
    pub(super) fn new(text: &'text str, is_yaml: bool) -> Self {
        Self {
            text,
            is_yaml,
            depth: Cell::new(0),
            nodes: Cell::new(0),
            room: Cell::new(text.len().saturating_mul(10).min(2 * LARGEST_DOCUMENT) + 100),
            found: RefCell::default(),
            trail: RefCell::default(),
        }
    }

    /// What was found, and the steps to it, innermost first.
    pub(super) fn found(self) -> Option<(Found, Vec<Step>)> {
        self.found.into_inner().map(|found| (found, self.trail.into_inner()))
    }

    fn refuse<E: serde::de::Error>(&self, found: Found) -> E {
        *self.found.borrow_mut() = Some(found);
        E::custom("refused")
    }

    fn problem<E: serde::de::Error>(&self, problem: Problem) -> E {
        self.refuse(Found::Problem(problem))
    }

    fn within<T, E>(&self, step: impl FnOnce() -> Step, result: Result<T, E>) -> Result<T, E> {
        result.inspect_err(|_| self.trail.borrow_mut().push(step()))
    }

    fn spend<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        self.nodes.set(self.nodes.get() + 1);
        if self.nodes.get() > MOST_NODES {
            return Err(self.problem(Problem::Nodes(MOST_NODES)));
        }
        let room = self.room.get().checked_sub(bytes + 1).ok_or_else(|| self.problem(Problem::Aliases))?;
        self.room.set(room);
        Ok(())
    }

    fn deeper<T, E: serde::de::Error>(&self, inner: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.depth.set(self.depth.get() + 1);
        if self.depth.get() > DEEPEST {
            return Err(self.problem(Problem::Deep(DEEPEST)));
        }
        let result = inner();
        self.depth.set(self.depth.get() - 1);
        result
    }

    /// Whether `borrowed` stands in the text without quotes. Only a quoted scalar has a quote right behind it: in a plain one, the
    /// quote would be part of it.
    fn is_plain(&self, borrowed: &str) -> bool {
        let start = (borrowed.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let behind = self.text.as_bytes().get(start.wrapping_add(borrowed.len()));
        self.is_yaml && !matches!(behind, Some(b'"' | b'\''))
    }

    fn integer<E: serde::de::Error>(&self, number: i128) -> Result<Value, E> {
        self.spend(0)?;
        match i64::try_from(number) {
            Ok(number) => Ok(Value::from(number)),
            Err(_) => Err(self.problem(Problem::LargeNumber)),
        }
    }

    /// kubectl passes numbers through JSON, where a whole one becomes an integer again.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "only whole numbers in range are cast"
    )]
    fn float<E: serde::de::Error>(&self, number: f64) -> Result<Value, E> {
        self.spend(0)?;
        if number.fract() == 0.0 && number >= i64::MIN as f64 && number < i64::MAX as f64 {
            return Ok(Value::from(number as i64));
        }
        Number::from_f64(number).map(Value::Number).ok_or_else(|| self.problem(Problem::NotFinite))
    }
}

/// Reads one node.
#[derive(Clone, Copy)]
pub(super) struct Node<'context, 'text>(pub(super) &'context Context<'text>);

impl<'de> DeserializeSeed<'de> for Node<'_, 'de> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_, 'de> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Value, E> {
        self.0.spend(0)?;
        Ok(Value::Null)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Value, E> {
        self.0.spend(0)?;
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Value, E> {
        self.0.integer(number.into())
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Value, E> {
        self.0.integer(number.into())
    }

    fn visit_i128<E: serde::de::Error>(self, number: i128) -> Result<Value, E> {
        self.0.integer(number)
    }

    fn visit_u128<E: serde::de::Error>(self, _: u128) -> Result<Value, E> {
        Err(self.0.problem(Problem::LargeNumber))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Value, E> {
        self.0.float(number)
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Value, E> {
        if !self.0.is_plain(text) {
            return self.visit_str(text);
        }
        let is_decimal_octal = text.trim_start_matches(['+', '-']).starts_with('0') && text.contains(['8', '9']);
        match resolve(text) {
            Scalar::Int(_) | Scalar::Float(_) if is_decimal_octal && !text.contains(['x', 'X', '.', 'e', 'E']) => {
                Err(self.0.problem(Problem::LeadingZero(text.to_owned())))
            }
            Scalar::Null => self.visit_unit(),
            Scalar::Bool(value) => self.visit_bool(value),
            Scalar::Int(number) => self.0.integer(number),
            Scalar::Float(number) => self.0.float(number),
            Scalar::Text => self.visit_str(text),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        self.0.spend(text.len())?;
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.0.spend(0)?;
        self.0.deeper(|| {
            let mut list = Vec::new();
            while let Some(item) = self.0.within(|| Step::Index(list.len()), items.next_element_seed(self))? {
                list.push(item);
            }
            Ok(Value::Array(list))
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.0.spend(0)?;
        self.0.deeper(|| {
            let mut fields = Fields::default();
            while let Some(name) = entries.next_key_seed(Key { context: self.0, fields: &fields })? {
                let value = entries.next_value_seed(self);
                if let Some(name) = name {
                    let value = self.0.within(|| Step::Field(name.clone()), value)?;
                    fields.own.insert(name, value);
                } else {
                    let value = self.0.within(|| Step::Field(MERGE.to_owned()), value)?;
                    fields.merge(value).map_err(|found| self.0.refuse(found))?;
                }
            }
            Ok(Value::Object(fields.whole()))
        })
    }
}

/// The fields of a mapping: its own, and those of its `<<`.
#[derive(Default)]
struct Fields {
    own: Map<String, Value>,
    merged: Option<Map<String, Value>>,
}

impl Fields {
    /// The earlier mapping of a list wins. kubectl overwrites fields that stand above `<<`, others do not.
    fn merge(&mut self, value: Value) -> Result<(), Found> {
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

    fn whole(self) -> Map<String, Value> {
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
struct Key<'context, 'text> {
    context: &'context Context<'text>,
    fields: &'context Fields,
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
