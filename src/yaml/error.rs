//! What can be wrong with YAML, and where.
//!
//! The caller adds the file's name in front.

use thiserror::Error;

/// A place in the input and what is wrong there.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("line {line}, column {column}: {problem}")]
pub struct Error {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) problem: Problem,
}

impl Error {
    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in characters, from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// What is wrong there.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

/// What is wrong with the input.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Problem {
    /// Bytes of another encoding.
    #[error("the text is {0}; save it as UTF-8")]
    Encoding(&'static str),
    /// Bytes that are no UTF-8.
    #[error("the text is not UTF-8; kubectl would put U+FFFD here")]
    NotUtf8,
    /// More bytes than a file may have.
    #[error("the file has more than {0} bytes")]
    LargeFile(usize),
    /// More bytes than a document may have.
    #[error("the document has more than {0} bytes")]
    LargeDocument(usize),
    /// A character that YAML forbids.
    #[error("control character U+{:04X} is not allowed in YAML; in double quotes it can be escaped", u32::from(*.0))]
    Control(char),
    /// A tab where only spaces are allowed.
    #[error("a tab cannot stand here, use spaces")]
    Tab,
    /// A carriage return alone and the like.
    #[error("a line ends here for some readers only; save the file with newlines")]
    LineEnd,
    /// Something else that is no YAML, in the parser's words.
    #[error("{0}")]
    Syntax(String),
    /// `--- {a: b}`.
    #[error("only a comment can follow --- on its line, as kubectl has it")]
    Separator,
    /// Content behind the end of a document, such as `...`.
    #[error("the document has ended above; begin the next one with ---, or kubectl drops it")]
    AfterEnd,
    /// The same key twice in one mapping.
    #[error("duplicate key {key:?} (first on line {first_line})")]
    Duplicate {
        /// The key.
        key: String,
        /// Where it stands for the first time.
        first_line: usize,
    },
    /// A merge after a key that it holds too.
    #[error("<< would change key {key:?} (on line {first_line}) in kubectl, but not elsewhere; put << first")]
    LateMerge {
        /// The key.
        key: String,
        /// Where it stands in the mapping itself.
        first_line: usize,
    },
    /// `<<` with something else than mappings.
    #[error("<< needs a mapping or a list of mappings")]
    Merge,
    /// A plain key that kubectl does not take for the text it is.
    #[error("kubectl does not read the key {0} as this text; quote it")]
    Key(String),
    /// A mapping or a list as a key.
    #[error("a key must be text; quote it, braces and brackets too")]
    KeyShape,
    /// `!tag`.
    #[error("tags (!…) are not read here; without one, quotes make text")]
    Tag,
    /// `.inf`, `.nan`.
    #[error("JSON has no infinite number and no .nan; quote it if it is text")]
    NotFinite,
    /// An integer that JSON readers would round.
    #[error("the API keeps no integer of this size exactly; quote it if it is text")]
    LargeNumber,
    /// `0888`.
    #[error("{0} looks octal, but kubectl reads it as decimal; quote it or drop the zero")]
    LeadingZero(String),
    /// Too many levels.
    #[error("nested more than {0} levels deep")]
    Deep(usize),
    /// More keys and values than fit in a bounded memory.
    #[error("the document has too many keys and values")]
    Nodes,
    /// An alias bomb.
    #[error("aliases make this document much larger than its text")]
    Aliases,
    /// A document that is no mapping.
    #[error("a document must be a mapping (key: value), this is {0}")]
    Root(&'static str),
}
