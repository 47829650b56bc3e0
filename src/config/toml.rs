//! The text of `bpfman.toml`: whether it is TOML, and whether bpfman knows its keys. The text itself is never changed.
//!
//! Pure. The keys are those of <https://github.com/bpfman/bpfman/blob/main/bpfman/src/config.rs>. A text that bpfman cannot
//! read it ignores as a whole, with no more than a line in its log, and runs with its defaults, unsigned programs allowed.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use crate::names;

/// As many errors as are worth reading; a text that is something else altogether has one in each line.
const MOST_ERRORS: usize = 10;

/// What a key may hold.
enum Shape {
    Flag,
    /// A whole number of at most this size.
    Number(u64),
    /// One of these words.
    Word(&'static [&'static str]),
    Table(&'static [(&'static str, Shape)]),
    /// A table with names of one's own, each with such a value.
    Each(&'static Shape),
}

const BPFMAN: Shape = Shape::Table(&[
    (
        "database",
        Shape::Table(&[("max_retries", Shape::Number(u32::MAX as u64)), ("millisec_delay", Shape::Number(u64::MAX))]),
    ),
    ("interfaces", Shape::Each(&Shape::Table(&[("xdp_mode", Shape::Word(&["drv", "hw", "skb"]))]))),
    ("signing", Shape::Table(&[("allow_unsigned", Shape::Flag), ("verify_enabled", Shape::Flag)])),
]);

/// What is to be said about `text`, in its order; each message tells line and column.
pub(super) struct Remarks {
    /// Why it is no TOML.
    pub(super) syntax: Vec<String>,
    /// What bpfman does not take, or not as it is meant.
    pub(super) meaning: Vec<String>,
}

/// Reads `text` as bpfman does.
pub(super) fn check(text: &str) -> Remarks {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut walk = Walk { found: Vec::new() };
    if errors.is_empty() {
        walk.table("", table.get_ref(), &BPFMAN);
    }
    walk.found.sort_by_key(|(start, _)| *start);
    let meaning = walk.found.iter().map(|(start, message)| format!("at its {}: {message}", Place::of(text, *start)));
    Remarks { syntax: syntax(text, &errors), meaning: meaning.collect() }
}

/// What to say of the errors: one a line, since the parser sees a second one in what the first has left over.
fn syntax(text: &str, errors: &[toml::de::Error]) -> Vec<String> {
    let mut said = Vec::new();
    let mut last = None;
    for error in errors {
        let start = error.span().map_or(text.len(), |span| span.start);
        let between = last.replace(start).map(|last| text.get(last..start).unwrap_or_default());
        if between.is_none_or(|between| between.contains('\n')) && said.len() < MOST_ERRORS {
            let (place, message) = (Place::of(text, start), error.message());
            said.push(format!("is not TOML, at its {place}: {message}; bpfman would ignore it and use its defaults"));
        }
    }
    said
}

/// A place in the text, from 1, the column in characters.
struct Place {
    line: usize,
    column: usize,
}

impl Place {
    fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        Self { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

fn fits(number: &DeInteger<'_>, largest: u64) -> bool {
    u64::from_str_radix(number.as_str(), number.radix()).is_ok_and(|number| number <= largest)
}

struct Walk {
    /// Where in the text, and what.
    found: Vec<(usize, String)>,
}

impl Walk {
    fn table(&mut self, path: &str, table: &DeTable<'_>, shape: &Shape) {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            let fields = match shape {
                Shape::Each(inner) => {
                    self.value(&path, value, inner);
                    continue;
                }
                Shape::Table(fields) => *fields,
                _ => &[],
            };
            match fields.iter().find(|(known, _)| *known == name) {
                Some((_, inner)) => self.value(&path, value, inner),
                None => self.unknown(&path, key.span(), names::nearest(name, fields.iter().map(|(known, _)| *known))),
            }
        }
    }

    fn value(&mut self, path: &str, value: &Spanned<DeValue<'_>>, shape: &Shape) {
        let wanted = match (shape, value.get_ref()) {
            (Shape::Table(_) | Shape::Each(_), DeValue::Table(table)) => return self.table(path, table, shape),
            (Shape::Flag, DeValue::Boolean(_)) => return,
            (Shape::Number(largest), DeValue::Integer(number)) if fits(number, *largest) => return,
            (Shape::Word(words), DeValue::String(word)) if words.contains(&word.as_ref()) => return,
            (Shape::Word(words), _) => format!("one of {}", words.join(", ")),
            (Shape::Number(largest), _) => format!("a whole number from 0 to {largest}"),
            (Shape::Flag, _) => "true or false".to_owned(),
            (Shape::Table(_) | Shape::Each(_), _) => "a table".to_owned(),
        };
        let message = format!("{path} must be {wanted}; bpfman would ignore the whole text and use its defaults");
        self.found.push((value.span().start, message));
    }

    fn unknown(&mut self, path: &str, span: Range<usize>, near: Option<&str>) {
        let advice = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        self.found.push((span.start, format!("bpfman does not know {path}{advice}")));
    }
}
