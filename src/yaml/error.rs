//! What can be wrong with YAML, and where. The caller adds the file's name in front. Pure.

use granit_parser::ErrorKind as Syntax;
use thiserror::Error;

use super::nodes::DEEPEST;

/// A place in the input and what is wrong there.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("line {line}, column {column}: {kind}")]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub kind: ErrorKind,
}

/// What is wrong with the input.
#[derive(Clone, Debug, Error, PartialEq)]
#[expect(missing_docs, reason = "the message of each says what it is")]
pub enum ErrorKind {
    #[error("the text is {0}; save it as UTF-8")]
    Encoding(&'static str),
    #[error("the text is not valid UTF-8; kubectl would replace this byte with U+FFFD")]
    NotUtf8,
    #[error("the file has more than {0} bytes")]
    LargeFile(usize),
    #[error("the document has more than {0} bytes")]
    LargeDocument(usize),
    #[error("control character U+{:04X} is not allowed in YAML; write it as an escape in double quotes", u32::from(*.0))]
    Control(char),
    #[error("a tab is not allowed here; use spaces")]
    Tab,
    #[error("a carriage return without a newline ends a line for some parsers only; save the file with newlines")]
    LineEnd,
    #[error("kubectl does not accept directives (%YAML, %TAG); remove this line")]
    Directive,
    #[error("{0}")]
    Syntax(String),
    #[error("YAML parsers disagree about this; put text in quotes, or write it in another way")]
    Ambiguous,
    #[error("only a comment may follow --- on its line, as in kubectl")]
    Separator,
    #[error("the document has ended above; begin the next one with ---, or kubectl ignores it")]
    AfterEnd,
    #[error("duplicate key {key:?} (first on line {first_line})")]
    Duplicate { key: String, first_line: usize },
    #[error("<< overrides key {key:?} (on line {first_line}) in kubectl, but not in other parsers; put << first")]
    LateMerge { key: String, first_line: usize },
    #[error("<< must be a mapping or a list of mappings")]
    Merge,
    #[error("kubectl does not read the key {0} as text; quote it")]
    Key(String),
    #[error("a key must be text; put it in quotes, including any braces and brackets")]
    KeyType,
    #[error("tags (!…) are not supported; remove it, and put text in quotes")]
    Tag,
    #[error("JSON has no infinite numbers and no .nan; quote it if it is text")]
    NotFinite,
    #[error("the number is too large for a 64-bit integer; quote it if it is text")]
    LargeNumber,
    #[error("{0} looks octal, but kubectl reads it as decimal; quote it or remove the leading zero")]
    LeadingZero(String),
    #[error("nested more than {DEEPEST} levels deep")]
    Deep,
    #[error("the document has too many keys and values")]
    Nodes,
    #[error("aliases make this document much larger than its text")]
    Aliases,
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
            _ => Self::Syntax(described(error)),
        }
    }
}

/// Frequent mistakes in words of ours, others in the parser's.
fn described(error: &Syntax) -> String {
    let words = match error {
        Syntax::UnexpectedCharacter { character: character @ ('|' | '>') } => {
            return format!("{character} is not allowed in brackets; is one above not closed?");
        }
        Syntax::UnexpectedCharacter { character } => {
            return format!("a plain value cannot begin with {character}; put it in quotes");
        }
        Syntax::CommentNotSeparated => "a comment must be separated by a space",
        Syntax::UnknownQuotedScalarEscape => {
            "these double quotes hold an unknown escape; use single quotes, or \\\\ for a backslash"
        }
        Syntax::SimpleKeyExpected => "expected a colon after this key",
        Syntax::InvalidColonPlacement => "a colon is not allowed here; is a bracket above not closed?",
        Syntax::InvalidTrailingSingleQuotedScalar | Syntax::InvalidTrailingDoubleQuotedScalar => {
            "unexpected text after the closing quote"
        }
        Syntax::UnknownAnchor => "this alias has no anchor (&) above",
        other => return other.to_string(),
    };
    words.to_owned()
}
