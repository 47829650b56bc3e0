//! A deserializer that never stops at a mistake: it notes the mistake, gives the type a harmless value, and goes on.
//!
//! The types of `k8s-openapi` name their fields when they ask for an object, and say what they expect where they ask for a
//! value; nothing else is known of them. Pure.

use std::fmt;

use serde::de::value::{BorrowedStrDeserializer, Error};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Value, map};

use super::walk::Walk;
use super::{lists, scalars};
use crate::path::Step;
use crate::problem::mistyped;

/// A value, and the walk that has come to it.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    walk: &'a Walk,
    value: &'a Value,
    /// If this is a list whose items differ in some fields: these fields.
    keys: &'static [&'static str],
}

impl<'a> Node<'a> {
    /// Where a walk begins, or an item of a list.
    pub(super) fn new(walk: &'a Walk, value: &'a Value) -> Self {
        Self { walk, value, keys: &[] }
    }

    /// Notes what is wrong with the value, if anything; tells whether there is.
    fn is_wrong(self, error: Option<String>) -> bool {
        let is_wrong = error.is_some();
        match error {
            // Where a value is text or a number, the server takes null for none, or for an empty one.
            Some(message) if self.value.is_null() => self.walk.doubt(message),
            Some(message) => self.walk.problem(message),
            None => {}
        }
        is_wrong
    }

    fn integer(self, smallest: i64, largest: i64) -> i64 {
        let is_wrong = self.is_wrong(scalars::integer_error(self.value, smallest, largest));
        self.value.as_i64().filter(|_| !is_wrong).unwrap_or_default()
    }

    fn text<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let is_base64 = expected(&visitor) == "a base64-encoded string";
        let error = if is_base64 { scalars::base64_error } else { scalars::text_error };
        let is_wrong = self.is_wrong(error(self.value));
        // The type reads over no line ends.
        visitor.visit_borrowed_str(self.value.as_str().filter(|_| !is_wrong && !is_base64).unwrap_or_default())
    }

    fn items(self) -> Items<'a> {
        self.is_wrong((!self.value.is_array()).then(|| mistyped(self.value, "a list")));
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        for (index, message) in lists::duplicates(items, self.keys) {
            self.walk.problem_at(&[Step::Index(index)], message);
        }
        Items { node: self, items: items.iter().enumerate() }
    }

    fn fields(self, known: Option<Known>) -> Fields<'a> {
        if let Some(known) = &known {
            let present = self.value.as_object().into_iter().flatten().map(|(name, _)| name.clone());
            self.walk.note_object(known.fields, present.collect());
        }
        self.is_wrong((!self.value.is_object()).then(|| mistyped(self.value, "an object")));
        let entries = self.value.as_object().map(map::Map::iter);
        Fields { walk: self.walk, entries, value: None, known }
    }
}

/// What the type asks for; its own words.
fn expected<'a, V: Visitor<'a>>(visitor: &V) -> String {
    struct Words<'v, V>(&'v V);
    impl<'a, V: Visitor<'a>> fmt::Display for Words<'_, V> {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.expecting(formatter)
        }
    }
    Words(visitor).to_string()
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if expected(&visitor) == "IntOrString" && self.is_wrong(scalars::int_or_string_error(self.value)) {
            return visitor.visit_str("");
        }
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(number) => match number.as_i64() {
                Some(number) => visitor.visit_i64(number),
                None => visitor.visit_f64(number.as_f64().unwrap_or_default()),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(_) => visitor.visit_seq(self.items()),
            Value::Object(_) => visitor.visit_map(self.fields(None)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.is_wrong(scalars::flag_error(self.value));
        visitor.visit_bool(self.value.as_bool().unwrap_or_default())
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i64(self.integer(i32::MIN.into(), i32::MAX.into()))
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i64(self.integer(i64::MIN, i64::MAX))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.is_wrong(scalars::number_error(self.value));
        visitor.visit_f64(self.value.as_f64().unwrap_or_default())
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.text(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.text(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        if name == "Quantity" && self.value.is_number() {
            // Quotes are right everywhere, but most servers take a bare number too (kubernetes#94275).
            self.walk.doubt(format!("is the number {}; a quantity is best put in quotes", self.value));
        }
        let harmless = match name {
            "Quantity" if self.is_wrong(scalars::quantity_error(self.value)) => "0",
            "Time" | "MicroTime" if self.is_wrong(scalars::time_error(self.value)) => "1970-01-01T00:00:00Z",
            _ => return visitor.visit_newtype_struct(self),
        };
        visitor.visit_newtype_struct(BorrowedStrDeserializer::new(harmless))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(self.items())
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(self.fields(None))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_map(self.fields(Some(Known { name, fields })))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u32 u64 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct enum identifier
    }
}

/// The type of an object, as far as it shows.
struct Known {
    name: &'static str,
    fields: &'static [&'static str],
}

struct Fields<'a> {
    walk: &'a Walk,
    entries: Option<map::Iter<'a>>,
    value: Option<(&'a String, &'a Value)>,
    known: Option<Known>,
}

impl<'a> Fields<'a> {
    /// The next field's name; notes one that its object does not have.
    fn next_name(&mut self) -> Option<&'a str> {
        self.value = self.entries.as_mut().and_then(Iterator::next);
        let name = self.value?.0.as_str();
        if self.known.as_ref().is_some_and(|known| !known.fields.contains(&name)) {
            self.walk.note_unknown(name);
        }
        Some(name)
    }

    /// Steps into the value of the field that was named last.
    fn enter(&mut self) -> Node<'a> {
        let (name, value) = self.value.take().unzip();
        let (name, value) = (name.map_or("", String::as_str), value.unwrap_or(&Value::Null));
        let keys = self.known.as_ref().map(|known| lists::keys(known.name, name)).unwrap_or_default();
        self.walk.enter(Step::Field(name.to_owned()));
        Node { walk: self.walk, value, keys }
    }
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.next_name().map(|name| seed.deserialize(BorrowedStrDeserializer::new(name))).transpose()
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let result = seed.deserialize(self.enter());
        if result.is_err() {
            self.walk.note_failure();
        }
        self.walk.leave();
        result
    }
}

struct Items<'a> {
    node: Node<'a>,
    items: std::iter::Enumerate<std::slice::Iter<'a, Value>>,
}

impl<'a> Items<'a> {
    /// Steps into the next item.
    fn enter(&mut self) -> Option<Node<'a>> {
        let (index, value) = self.items.next()?;
        let walk = self.node.walk;
        walk.enter(lists::step(value, self.node.keys).unwrap_or(Step::Index(index)));
        Some(Node::new(walk, value))
    }
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(node) = self.enter() else { return Ok(None) };
        let result = seed.deserialize(node);
        self.node.walk.leave();
        result.map(Some)
    }
}
