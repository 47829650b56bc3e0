//! The text of `bpfman.toml`: whether it is TOML, and whether bpfman knows its keys. The text itself is never changed.
//!
//! Pure. The keys are those of <https://github.com/bpfman/bpfman/blob/main/bpfman/src/config.rs>. A text that bpfman cannot
//! read it ignores as a whole, with no more than a line in its log, and runs with its defaults, unsigned programs allowed.

use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

use crate::names;
use crate::path::FieldPath;
use crate::problem::MOST;
use crate::yaml;

type Key<'a> = Spanned<DeString<'a>>;

/// What comes of a value of the wrong type.
const IGNORED: &str = "; bpfman would ignore the whole text and use its defaults";

/// As many errors as are worth reading; a text that is something else altogether has one in each line.
const MOST_ERRORS: usize = 10;

/// What a key may hold.
enum Shape {
    Flag,
    /// A whole number of at most this size.
    Number(u64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// These keys, of which the second ones must be there.
    Table(&'static [(&'static str, Shape)], &'static [&'static str]),
    /// A table with names of one's own, each with such a value.
    Each(&'static Shape),
}

const BPFMAN: Shape = Shape::Table(
    &[
        ("database", Shape::Table(DATABASE, &[])),
        ("interfaces", Shape::Each(&Shape::Table(INTERFACE, &["xdp_mode"]))),
        ("signing", Shape::Table(SIGNING, &[])),
    ],
    &[],
);

const DATABASE: &[(&str, Shape)] =
    &[("max_retries", Shape::Number(u32::MAX as u64)), ("millisec_delay", Shape::Number(u64::MAX))];

const INTERFACE: &[(&str, Shape)] = &[("xdp_mode", Shape::Word(&["drv", "hw", "skb"]))];

const SIGNING: &[(&str, Shape)] = &[("allow_unsigned", Shape::Flag), ("verify_enabled", Shape::Flag)];

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
        let (span, table) = (table.span(), DeValue::Table(table.into_inner()));
        walk.value(&FieldPath::default(), &Spanned::new(span, table), &BPFMAN);
    }
    walk.found.sort_by_key(|(start, _)| *start);
    let meaning = walk.found.iter().map(|(start, message)| format!("at its {}: {message}", place(text, *start)));
    Remarks { syntax: syntax(text, &errors), meaning: meaning.take(MOST + 1).collect() }
}

/// What to say of the errors: one a line, since the parser sees a second one in what the first has left over.
fn syntax(text: &str, errors: &[toml::de::Error]) -> Vec<String> {
    let mut said = Vec::new();
    let mut last = None;
    let start = |error: &&toml::de::Error| error.span().map_or(text.len(), |span| span.start);
    let mut errors: Vec<_> = errors.iter().collect();
    errors.sort_by_key(start);
    for error in errors {
        let start = start(&error);
        let between = last.replace(start).map(|last| text.get(last..start).unwrap_or_default());
        if between.is_none_or(|between| between.contains('\n')) && said.len() < MOST_ERRORS {
            let (place, message) = (place(text, start), error.message());
            said.push(format!("is not TOML, at its {place}: {message}; bpfman would ignore it and use its defaults"));
        }
    }
    said
}

/// `line 2, column 5` of a byte of the text.
fn place(text: &str, offset: usize) -> String {
    let (line, column) = yaml::place_at(text, offset);
    format!("line {line}, column {column}")
}

fn fits(number: &DeInteger<'_>, largest: u64) -> bool {
    u64::from_str_radix(number.as_str(), number.radix()).is_ok_and(|number| number <= largest)
}

struct Walk {
    /// Where in the text, and what.
    found: Vec<(usize, String)>,
}

impl Walk {
    fn value(&mut self, path: &FieldPath, value: &Spanned<DeValue<'_>>, shape: &Shape) {
        let wanted = match (shape, value.get_ref()) {
            (Shape::Table(fields, required), DeValue::Table(table)) => {
                let missing = required.iter().filter(|name| !table.contains_key(**name));
                let missing =
                    missing.map(|name| (value.span().start, format!("{} is missing{IGNORED}", path.field(name))));
                self.found.extend(missing);
                return table.iter().for_each(|(key, value)| self.field(path, key, value, fields));
            }
            (Shape::Each(inner), DeValue::Table(table)) => {
                return table.iter().for_each(|(key, value)| self.value(&path.field(key.get_ref()), value, inner));
            }
            (Shape::Flag, DeValue::Boolean(_)) => return,
            (Shape::Number(largest), DeValue::Integer(number)) if fits(number, *largest) => return,
            (Shape::Word(words), DeValue::String(word)) if words.contains(&word.as_ref()) => return,
            (Shape::Word(words), _) => format!("one of {}", words.join(", ")),
            (Shape::Number(largest), _) => format!("a whole number from 0 to {largest}"),
            (Shape::Flag, _) => "true or false".to_owned(),
            (Shape::Table(..) | Shape::Each(_), _) => "a table".to_owned(),
        };
        self.found.push((value.span().start, format!("{path} must be {wanted}{IGNORED}")));
    }

    fn field(&mut self, path: &FieldPath, key: &Key<'_>, value: &Spanned<DeValue<'_>>, fields: &[(&str, Shape)]) {
        let path = path.field(key.get_ref());
        if let Some((_, shape)) = fields.iter().find(|(known, _)| known == key.get_ref()) {
            return self.value(&path, value, shape);
        }
        let near = names::nearest(key.get_ref(), fields.iter().map(|(known, _)| *known));
        let advice = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        self.found.push((key.span().start, format!("bpfman does not know {path}{advice}")));
    }
}
