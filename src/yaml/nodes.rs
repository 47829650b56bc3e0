//! The nodes of one document: how each is written, and where it begins and ends in the text.
//!
//! One pass, which needs little time and memory for any text, and so guards the readers of values, which do not. For YAML these are
//! the events of `granit-parser`, for JSON its tokens. Pure.

use std::collections::BTreeMap;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, options};

use super::error::{Error, ErrorKind};
use super::text::Piece;

/// Levels of a document; `serde_yaml` and `serde_json` end at 128.
pub(super) const DEEPEST: usize = 100;

/// Keys and values of one document: `serde_yaml` takes 20 MB for them, and as much again is made of them.
pub(super) const MOST_NODES: usize = 100_000;

/// How many nodes more than a scalar a mapping takes the memory of, beside the events that `serde_yaml` keeps.
const MAPPING: usize = 3;

/// How a node is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Style {
    /// A scalar without quotes.
    Plain,
    /// A scalar that is text: in quotes, or a block.
    Quoted,
    Sequence,
    /// Its keys are nodes, too, each in front of its value.
    Mapping,
    /// An alias of the node with this index.
    Alias(usize),
}

/// A node, and where it is in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) style: Style,
    /// The first byte.
    pub(super) start: u32,
    /// Behind the last byte; of sequences and mappings, of their beginning.
    pub(super) end: u32,
    /// The index of the first node behind all that is in this one.
    pub(super) next: u32,
}

impl Node {
    /// The text of a scalar as it is written.
    pub(super) fn text(self, document: &str) -> &str {
        document.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

#[derive(Default)]
struct Nodes {
    list: Vec<Node>,
    /// The sequences and mappings that have not ended.
    open: Vec<usize>,
    /// What the mappings count beside being nodes.
    extra: usize,
    mapping: usize,
}

impl Nodes {
    fn start(&mut self, style: Style, start: usize, end: usize) -> Result<(), ErrorKind> {
        let index = self.list.len();
        if matches!(style, Style::Sequence | Style::Mapping) {
            self.open.push(index);
        }
        self.extra += if style == Style::Mapping { self.mapping } else { 0 };
        if self.open.len() > DEEPEST {
            return Err(ErrorKind::Deep);
        }
        if index + self.extra >= MOST_NODES {
            return Err(ErrorKind::Nodes);
        }
        self.list.push(Node { style, start: short(start), end: short(end), next: short(index + 1) });
        Ok(())
    }

    fn end(&mut self) {
        let next = short(self.list.len());
        if let Some(node) = self.open.pop().and_then(|index| self.list.get_mut(index)) {
            node.next = next;
        }
    }
}

/// No document is so large that this changes a number.
fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Finds the nodes of a YAML document; none if it is empty.
pub(super) fn of_yaml(piece: Piece<'_>) -> Result<Vec<Node>, Error> {
    let (mut nodes, mut anchors) = (Nodes { mapping: MAPPING, ..Nodes::default() }, BTreeMap::new());
    let options = options! { disallow_directives: true, emit_comments: false, flow_nesting_limit: DEEPEST, block_nesting_limit: DEEPEST };
    for event in Parser::new_from_str_with_options(piece.text, options) {
        let (event, span) = event.map_err(|error| syntax(piece, &error))?;
        let range = span.byte_range().unwrap_or_default();
        let (style, anchor) = match event {
            Event::Scalar(_, ScalarStyle::Plain, anchor, _) => (Style::Plain, anchor),
            Event::Scalar(_, _, anchor, _) => (Style::Quoted, anchor),
            Event::SequenceStart(_, anchor, _) => (Style::Sequence, anchor),
            Event::MappingStart(_, anchor, _) => (Style::Mapping, anchor),
            Event::Alias(anchor) => (Style::Alias(anchors.get(&anchor).copied().unwrap_or_default()), 0),
            Event::SequenceEnd | Event::MappingEnd => {
                nodes.end();
                continue;
            }
            Event::DocumentStart(..) if !nodes.list.is_empty() => {
                return Err(piece.error(range.start, ErrorKind::AfterEnd));
            }
            _ => continue,
        };
        if let Some(tag) = span.tag_start() {
            return Err(piece.error(tag.byte_offset().unwrap_or(range.start), ErrorKind::Tag));
        }
        if anchor > 0 {
            anchors.insert(anchor, nodes.list.len());
        }
        nodes.start(style, range.start, range.end).map_err(|kind| piece.error(range.start, kind))?;
    }
    Ok(nodes.list)
}

fn syntax(piece: Piece<'_>, error: &ScanError) -> Error {
    let (offset, kind) = (error.marker().byte_offset().unwrap_or_default(), error.kind().into());
    // The parser has gone past the tab.
    let is_behind_tab = kind == ErrorKind::Tab && piece.text.as_bytes().get(offset.wrapping_sub(1)) == Some(&b'\t');
    piece.error(offset - usize::from(is_behind_tab), kind)
}

/// Finds the nodes of the JSON document at the beginning of `text`, and its length. What it gives is of use only if `serde_json` reads
/// the document; none if it is none, or has too many nodes.
pub(super) fn of_json(text: &str) -> Option<(Vec<Node>, usize)> {
    let bytes = text.strip_prefix('{').map(|_| text.as_bytes())?;
    let (mut nodes, mut at) = (Nodes::default(), 0);
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        let style = match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => continue,
            b'}' | b']' => {
                nodes.end();
                if nodes.open.is_empty() {
                    return Some((nodes.list, at));
                }
                continue;
            }
            b'{' => Style::Mapping,
            b'[' => Style::Sequence,
            b'"' => {
                at = behind_string(bytes, at);
                Style::Quoted
            }
            _ => {
                at += bytes.iter().skip(at).take_while(|byte| !b" \t\r\n,:]}".contains(byte)).count();
                Style::Plain
            }
        };
        nodes.start(style, start, at).ok()?;
    }
    None
}

/// Where the JSON string ends whose first character is at `at`.
fn behind_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        at += if *byte == b'\\' { 2 } else { 1 };
        if *byte == b'"' {
            break;
        }
    }
    at
}
