//! One document and the places of its values. Pure.

use std::rc::Rc;

use serde_json::Value;

use super::error::{Error, ErrorKind};
use super::nodes::{Node, Style};
use super::text::Piece;
use crate::path::{FieldPath, Step};

/// A document that has content.
#[derive(Clone, Debug, PartialEq)]
pub struct Document<'text> {
    /// Always an object.
    pub value: Value,
    /// The line of its first content, from 1.
    pub line: usize,
    /// What it was read from.
    pub text: Text<'text>,
}

/// The text that one document was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Text<'text> {
    pub(super) piece: Piece<'text>,
    pub(super) nodes: Rc<[Node]>,
    pub(super) is_json: bool,
}

impl Text<'_> {
    /// Tells line and column of the file, from 1, of the value at `path`, which goes by fields and indices: of its key, if it has one.
    ///
    /// Where the text does not hold the path (a field that is missing, or merged in), the value that should hold it is told instead.
    pub fn locate(&self, path: &FieldPath) -> (usize, usize) {
        let (mut place, mut value) = (0, 0);
        for step in &path.0 {
            let Some(child) = self.child(value, step) else { return self.place(value) };
            (place, value) = child;
        }
        self.place(place)
    }

    /// The line of a key in the mapping with the index `mapping`.
    pub(super) fn line_of_key(&self, mapping: usize, key: &str) -> usize {
        let child = self.child(mapping, &Step::Field(key.to_owned()));
        self.place(child.map_or(mapping, |(key, _)| key)).0
    }

    /// An error at the node with this index.
    pub(super) fn error(&self, node: usize, kind: ErrorKind) -> Error {
        let (line, column) = self.place(node);
        Error { line, column, kind }
    }

    pub(super) fn place(&self, node: usize) -> (usize, usize) {
        self.piece.place(self.nodes.get(node).map_or(0, |node| node.start as usize))
    }

    /// The indices of a child of a node: of what is told as its place, and of its value.
    fn child(&self, parent: usize, step: &Step) -> Option<(usize, usize)> {
        let node = |index: usize| self.nodes.get(index);
        let parent = match node(parent)?.style {
            Style::Alias(target) => target,
            _ => parent,
        };
        let (style, end) = (node(parent)?.style, node(parent)?.next as usize);
        let mut child = parent + 1;
        let mut position = 0;
        while child < end {
            let next = node(child)?.next as usize;
            match (style, step) {
                (Style::Mapping, Step::Field(name)) if self.is_key(child, name) => return Some((child, next)),
                (Style::Mapping, _) => child = node(next)?.next as usize,
                (_, Step::Index(index)) if position == *index => return Some((child, child)),
                _ => child = next,
            }
            position += 1;
        }
        None
    }

    fn is_key(&self, node: usize, name: &str) -> bool {
        let Some(node) = self.nodes.get(node) else { return false };
        let node = match node.style {
            Style::Alias(target) => self.nodes.get(target).unwrap_or(node),
            _ => node,
        };
        let text = node.text(self.piece.text);
        match text.get(1..text.len().saturating_sub(1)) {
            Some(inner) if node.style == Style::Quoted && !inner.contains(['\\', '\'']) => inner == name,
            Some(_) if node.style == Style::Quoted => {
                let read = serde_json::from_str::<String>(text).ok().or_else(|| serde_yaml::from_str(text).ok());
                read.is_some_and(|read| read == name)
            }
            _ => text == name,
        }
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
