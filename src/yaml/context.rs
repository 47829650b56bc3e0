//! What is known while one document is read: how deep and how large it has become, and what stopped the reading.
//!
//! A problem is kept here: the parser's own error then only says where. Pure.

use std::cell::{Cell, RefCell};

use serde_json::{Number, Value};

use super::LARGEST_DOCUMENT;
use super::error::Problem;
use crate::path::Step;

/// Levels of a document; `serde_yaml` and `serde_json` end at 128.
pub(super) const DEEPEST: usize = 100;

/// Keys and values of one document: the parser takes 20 MB for them, and as much again is made of them.
pub(super) const MOST_NODES: usize = 100_000;

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

    pub(super) fn refuse<E: serde::de::Error>(&self, found: Found) -> E {
        *self.found.borrow_mut() = Some(found);
        E::custom("refused")
    }

    pub(super) fn problem<E: serde::de::Error>(&self, problem: Problem) -> E {
        self.refuse(Found::Problem(problem))
    }

    pub(super) fn within<T, E>(&self, step: impl FnOnce() -> Step, result: Result<T, E>) -> Result<T, E> {
        result.inspect_err(|_| self.trail.borrow_mut().push(step()))
    }

    pub(super) fn spend<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        self.nodes.set(self.nodes.get() + 1);
        if self.nodes.get() > MOST_NODES {
            return Err(self.problem(Problem::Nodes));
        }
        let room = self.room.get().checked_sub(bytes + 1).ok_or_else(|| self.problem(Problem::Aliases))?;
        self.room.set(room);
        Ok(())
    }

    pub(super) fn deeper<T, E: serde::de::Error>(&self, inner: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
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
    pub(super) fn is_plain(&self, borrowed: &str) -> bool {
        let start = (borrowed.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let behind = self.text.as_bytes().get(start.wrapping_add(borrowed.len()));
        self.is_yaml && !matches!(behind, Some(b'"' | b'\''))
    }

    pub(super) fn integer<E: serde::de::Error>(&self, number: i128) -> Result<Value, E> {
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
    pub(super) fn float<E: serde::de::Error>(&self, number: f64) -> Result<Value, E> {
        self.spend(0)?;
        if number.fract() == 0.0 && number >= i64::MIN as f64 && number < i64::MAX as f64 {
            return Ok(Value::from(number as i64));
        }
        Number::from_f64(number).map(Value::Number).ok_or_else(|| self.problem(Problem::NotFinite))
    }
}
