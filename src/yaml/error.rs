//! What can be wrong with YAML, and where. The caller adds the file's name in front. Pure.

use granit_parser::ErrorKind as Syntax;
use thiserror::Error;

use super::nodes::DEEPEST;

/// A place in the input and what is wrong there.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("line {line}, column {column}: {kind}")]
pub struct Error {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) kind: ErrorKind,
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
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

/// What is wrong with the input.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ErrorKind {
    /// Bytes of another encoding.
    #[error("the text is {0}; save it as UTF-8")]
    Encoding(&'static str),
    /// Bytes that are not UTF-8.
    #[error("the text is not valid UTF-8; kubectl would replace this byte with U+FFFD")]
    NotUtf8,
    /// More bytes than a file may have.
    #[error("the file has more than {0} bytes")]
    LargeFile(usize),
    /// More bytes than a document may have.
    #[error("the document has more than {0} bytes")]
    LargeDocument(usize),
    /// A character that YAML forbids.
    #[error("control character U+{:04X} is not allowed in YAML; write it as an escape in double quotes", u32::from(*.0))]
    Control(char),
    /// A tab where only spaces are allowed.
    #[error("a tab is not allowed here; use spaces")]
    Tab,
    /// A carriage return without a newline.
    #[error("a carriage return without a newline ends a line for some parsers only; save the file with newlines")]
    LineEnd,
    /// `%YAML 1.2`.
    #[error("kubectl does not accept directives (%YAML, %TAG); remove this line")]
    Directive,
    /// Something else that is not YAML, in the parser's words.
    #[error("{0}")]
    Syntax(String),
    /// A text that not all parsers accept, or of which they see another structure.
    #[error("YAML parsers disagree about this; put text in quotes, or write it in another way")]
    Ambiguous,
    /// `--- {a: b}`.
    #[error("only a comment may follow --- on its line, as in kubectl")]
    Separator,
    /// Content behind the end of a document, such as `...`.
    #[error("the document has ended above; begin the next one with ---, or kubectl ignores it")]
    AfterEnd,
    /// The same key twice in one mapping.
    #[error("duplicate key {key:?} (first on line {first_line})")]
    Duplicate {
        /// The key.
        key: String,
        /// The line of its first occurrence.
        first_line: usize,
    },
    /// A merge after a key that it holds too.
    #[error("<< overrides key {key:?} (on line {first_line}) in kubectl, but not in other parsers; put << first")]
    LateMerge {
        /// The key.
        key: String,
        /// Its line in the mapping itself.
        first_line: usize,
    },
    /// `<<` with something else than mappings.
    #[error("<< must be a mapping or a list of mappings")]
    Merge,
    /// A plain key that kubectl does not take for the text it is.
    #[error("kubectl does not read the key {0} as text; quote it")]
    Key(String),
    /// A mapping or a list as a key.
    #[error("a key must be text; put it in quotes, including any braces and brackets")]
    KeyType,
    /// `!tag`.
    #[error("tags (!…) are not supported; remove it, and put text in quotes")]
    Tag,
    /// `.inf`, `.nan`.
    #[error("JSON has no infinite numbers and no .nan; quote it if it is text")]
    NotFinite,
    /// An integer that JSON readers would round.
    #[error("the number is too large for a 64-bit integer; quote it if it is text")]
    LargeNumber,
    /// `0888`.
    #[error("{0} looks octal, but kubectl reads it as decimal; quote it or remove the leading zero")]
    LeadingZero(String),
    /// Too many levels.
    #[error("nested more than {DEEPEST} levels deep")]
    Deep,
    /// More keys and values than fit in a bounded memory.
    #[error("the document has too many keys and values")]
    Nodes,
    /// An alias bomb.
    #[error("aliases make this document much larger than its text")]
    Aliases,
    /// A document that is not a mapping.
    #[error("a document must be a mapping (key: value), this is {0}")]
    Root(&'static str),
}

impl From<&Syntax> for ErrorKind {
    fn from(error: &Syntax) -> Self {
        match error {
            Syntax::BomInsideDocument => Self::Control('\u{feff}'),
            Syntax::DirectiveDisallowed => Self::Directive,
            Syntax::TabNotAllowed
            | Syntax::TabInBlockIndentation
            | Syntax::TabInIndentation
            | Syntax::TabAtBlockScalarStart
            | Syntax::TabInPlainScalar => Self::Tab,
            Syntax::RecursionLimitExceeded => Self::Deep,
            Syntax::UnexpectedCharacter { character: character @ ('|' | '>') } => {
                Self::Syntax(format!("{character} is not allowed in brackets; is one above not closed?"))
            }
            Syntax::UnexpectedCharacter { character } => {
                Self::Syntax(format!("a plain value cannot begin with {character}; put it in quotes"))
            }
            other => Self::Syntax(
                match other {
                    Syntax::SimpleKeyExpected => "expected a colon after this key",
                    Syntax::InvalidColonPlacement => "a colon is not allowed here; is a bracket above not closed?",
                    Syntax::InvalidTrailingSingleQuotedScalar | Syntax::InvalidTrailingDoubleQuotedScalar => {
                        "unexpected text after the closing quote"
                    }
                    Syntax::UnknownAnchor => "this alias has no anchor (&) above",
                    _ => return Self::Syntax(other.to_string()),
                }
                .to_owned(),
            ),
        }
    }
}
