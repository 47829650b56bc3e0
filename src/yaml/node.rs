//! From the parser's events to a JSON value, with what kubectl would read otherwise read the same or refused.
//!
//! `serde_yaml` resolves plain scalars by YAML 1.2. Where it says "text", it lends the text out of the input, so that what stands around
//! it tells a plain scalar from a quoted one. Pure.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::context::Context;
use super::error::Problem;
use super::mapping::{Fields, Key, MERGE};
use super::scalar::{Scalar, resolve};
use crate::path::Step;

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
