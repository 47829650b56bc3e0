//! A deserializer that does not stop at an error: it records the error, passes the type a valid value, and continues.
//!
//! It learns about the types of `k8s-openapi` only what they pass to a deserializer: the field names of an object, and
//! what a visitor expects. Pure.

use std::fmt;

use serde::de::value::{BorrowedStrDeserializer, Error};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Value, map};

use super::recorder::Recorder;
use super::{lists, scalars};
use crate::path::Step;
use crate::problem::mistyped;

/// A value, and the recorder of what is wrong with it.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    recorder: &'a Recorder,
    value: &'a Value,
    /// The key fields, if this is a keyed list.
    keys: &'static [&'static str],
}

impl<'a> Node<'a> {
    /// The object itself, or an item of a list.
    pub(super) fn new(recorder: &'a Recorder, value: &'a Value) -> Self {
        Self { recorder, value, keys: &[] }
    }

    /// Records the error, if there is one, and returns whether there is.
    fn is_invalid(self, error: Option<String>) -> bool {
        let is_invalid = error.is_some();
        match error {
            // The server treats null like a missing or an empty value.
            Some(message) if self.value.is_null() => self.recorder.warning(message),
            Some(message) => self.recorder.problem(message),
            None => {}
        }
        is_invalid
    }

    fn integer(self, smallest: i64, largest: i64) -> i64 {
        let is_invalid = self.is_invalid(scalars::integer_error(self.value, smallest, largest));
        self.value.as_i64().filter(|_| !is_invalid).unwrap_or_default()
    }

    fn text<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let is_base64 = expected(&visitor) == "a base64-encoded string";
        let error = if is_base64 { scalars::base64_error } else { scalars::text_error };
        let is_invalid = self.is_invalid(error(self.value));
        // The type does not accept line breaks.
        visitor.visit_borrowed_str(self.value.as_str().filter(|_| !is_invalid && !is_base64).unwrap_or_default())
    }

    fn items(self) -> Items<'a> {
        self.is_invalid((!self.value.is_array()).then(|| mistyped(self.value, "a list")));
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        for (index, message) in lists::duplicates(items, self.keys) {
            self.recorder.problem_at(&[Step::Index(index)], message);
        }
        Items { node: self, items: items.iter().enumerate() }
    }

    fn fields(self, object_type: Option<ObjectType>) -> Fields<'a> {
        if let Some(object_type) = &object_type {
            let present = self.value.as_object().into_iter().flatten().map(|(name, _)| name.clone());
            self.recorder.object(object_type.fields, present.collect());
        }
        self.is_invalid((!self.value.is_object()).then(|| mistyped(self.value, "an object")));
        let entries = self.value.as_object().map(map::Map::iter);
        Fields { recorder: self.recorder, entries, value: None, object_type }
    }
}

/// What the visitor says that it expects.
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
        if expected(&visitor) == "IntOrString" && self.is_invalid(scalars::int_or_string_error(self.value)) {
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
        self.is_invalid(scalars::flag_error(self.value));
        visitor.visit_bool(self.value.as_bool().unwrap_or_default())
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i64(self.integer(i32::MIN.into(), i32::MAX.into()))
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i64(self.integer(i64::MIN, i64::MAX))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.is_invalid(scalars::number_error(self.value));
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
            // Most servers accept a number too (kubernetes#94275).
            self.recorder.warning(format!("is the number {}; quote it: quantities are strings", self.value));
        }
        let valid = match name {
            "Quantity" if self.is_invalid(scalars::quantity_error(self.value)) => "0",
            "Time" | "MicroTime" if self.is_invalid(scalars::time_error(self.value)) => "1970-01-01T00:00:00Z",
            _ => return visitor.visit_newtype_struct(self),
        };
        visitor.visit_newtype_struct(BorrowedStrDeserializer::new(valid))
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
        visitor.visit_map(self.fields(Some(ObjectType { name, fields })))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u32 u64 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct enum identifier
    }
}

/// The name and the fields of a type.
struct ObjectType {
    name: &'static str,
    fields: &'static [&'static str],
}

struct Fields<'a> {
    recorder: &'a Recorder,
    entries: Option<map::Iter<'a>>,
    value: Option<(&'a String, &'a Value)>,
    object_type: Option<ObjectType>,
}

impl<'a> Fields<'a> {
    /// The next field's name; records an unknown field.
    fn next_name(&mut self) -> Option<&'a str> {
        self.value = self.entries.as_mut().and_then(Iterator::next);
        let name = self.value?.0.as_str();
        if self.object_type.as_ref().is_some_and(|object_type| !object_type.fields.contains(&name)) {
            self.recorder.unknown_field(name);
        }
        Some(name)
    }

    /// Goes down to the value of the last field.
    fn enter(&mut self) -> Node<'a> {
        let (name, value) = self.value.take().unzip();
        let (name, value) = (name.map_or("", String::as_str), value.unwrap_or(&Value::Null));
        let keys = self.object_type.as_ref().map(|object_type| lists::keys(object_type.name, name)).unwrap_or_default();
        self.recorder.enter(Step::Field(name.to_owned()));
        Node { recorder: self.recorder, value, keys }
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
            self.recorder.failure();
        }
        self.recorder.leave();
        result
    }
}

struct Items<'a> {
    node: Node<'a>,
    items: std::iter::Enumerate<std::slice::Iter<'a, Value>>,
}

impl<'a> Items<'a> {
    /// Goes down to the next item.
    fn enter(&mut self) -> Option<Node<'a>> {
        let (index, value) = self.items.next()?;
        let recorder = self.node.recorder;
        recorder.enter(lists::step(value, self.node.keys).unwrap_or(Step::Index(index)));
        Some(Node::new(recorder, value))
    }
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(node) = self.enter() else { return Ok(None) };
        let result = seed.deserialize(node);
        self.node.recorder.leave();
        result.map(Some)
    }
}
