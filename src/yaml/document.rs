//! One document and the places of its values. Pure.

use std::rc::Rc;

use serde_json::Value;

use super::error::{Error, ErrorKind};
use super::nodes::{Node, Style};
use super::scalar;
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
    pub(super) nodes: Rc<Vec<Node>>,
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

    /// The value at `path` as it is written, if it is a scalar without quotes.
    pub fn scalar(&self, path: &FieldPath) -> Option<&str> {
        let value = path.0.iter().try_fold(0, |value, step| Some(self.child(value, step)?.1))?;
        let (_, node) = self.follow(value)?;
        (node.style == Style::Plain).then(|| node.text(self.piece.text))
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
        let (parent, Node { style, next: end, .. }) = self.follow(parent)?;
        let (mut child, mut position) = (parent + 1, 0);
        while child < end as usize {
            let next = self.nodes.get(child)?.next as usize;
            let value = if style == Style::Mapping { next } else { child };
            let is_wanted = match step {
                Step::Field(name) => style == Style::Mapping && self.is_key(child, name),
                Step::Index(index) => style == Style::Sequence && position == *index,
                Step::Keys(keys) => keys.iter().all(|(name, wanted)| {
                    let field = self.child(child, &Step::Field(name.clone()));
                    field.is_some_and(|(_, value)| self.is_scalar(value, wanted))
                }),
                Step::Item(wanted) => self.is_scalar(child, wanted),
            };
            if is_wanted {
                return Some((child, value));
            }
            child = self.nodes.get(value)?.next as usize;
            position += 1;
        }
        None
    }

    /// A node, or the one that it is an alias of.
    fn follow(&self, index: usize) -> Option<(usize, Node)> {
        let node = *self.nodes.get(index)?;
        if let Style::Alias(target) = node.style {
            Some((target, *self.nodes.get(target)?))
        } else {
            Some((index, node))
        }
    }

    fn is_key(&self, node: usize, name: &str) -> bool {
        let Some((_, node)) = self.follow(node) else { return false };
        let text = node.text(self.piece.text);
        let inner = text.get(1..text.len().saturating_sub(1)).filter(|_| node.style == Style::Quoted);
        match inner {
            None => text == name,
            Some(inner) if !inner.contains(['\\', '\'']) => inner == name,
            Some(_) => unquoted(text).is_some_and(|read| read == name),
        }
    }

    fn is_scalar(&self, node: usize, wanted: &Value) -> bool {
        let Some((_, node)) = self.follow(node) else { return false };
        let text = node.text(self.piece.text);
        match node.style {
            Style::Plain => scalar::value(text).is_ok_and(|value| value == *wanted),
            Style::Quoted => wanted.is_string() && unquoted(text).as_deref() == wanted.as_str(),
            _ => false,
        }
    }
}

fn unquoted(text: &str) -> Option<String> {
    serde_json::from_str(text).ok().or_else(|| serde_yaml::from_str(text).ok())
}
