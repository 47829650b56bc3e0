//! Validates the content of `bpfman.toml`: the syntax, the keys that bpfman reads, and the types of their values.
//!
//! Pure. The keys are those of <https://github.com/bpfman/bpfman/blob/main/bpfman/src/config.rs>. If bpfman cannot parse
//! the file, it only logs that and uses its defaults, which allow unsigned programs.

use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

use crate::names;
use crate::path::FieldPath;
use crate::problem::MOST;
use crate::yaml;

type Key<'a> = Spanned<DeString<'a>>;

/// The consequence of a value of the wrong type.
const IGNORED: &str = "; bpfman would ignore the whole file and use its defaults";

/// The most syntax errors that are reported; a file in another format has one in each line.
const MOST_ERRORS: usize = 10;

/// The type of a value.
enum Type {
    Boolean,
    /// An integer from 0 to this one.
    Integer(u64),
    /// One of these strings.
    Enum(&'static [&'static str]),
    /// A table with these keys; the second list names the required ones.
    Table(&'static [(&'static str, Type)], &'static [&'static str]),
    /// A table with arbitrary keys and values of this type.
    Map(&'static Type),
}

const BPFMAN: Type = Type::Table(
    &[
        ("database", Type::Table(DATABASE, &[])),
        ("interfaces", Type::Map(&Type::Table(INTERFACE, &["xdp_mode"]))),
        ("signing", Type::Table(SIGNING, &[])),
    ],
    &[],
);

const DATABASE: &[(&str, Type)] =
    &[("max_retries", Type::Integer(u32::MAX as u64)), ("millisec_delay", Type::Integer(u64::MAX))];

const INTERFACE: &[(&str, Type)] = &[("xdp_mode", Type::Enum(&["drv", "hw", "skb"]))];

const SIGNING: &[(&str, Type)] = &[("allow_unsigned", Type::Boolean), ("verify_enabled", Type::Boolean)];

/// What the validation found, in the order of the file, each with its line and column.
pub(super) struct Findings {
    pub(super) syntax_errors: Vec<String>,
    /// Keys and values that bpfman does not accept.
    pub(super) warnings: Vec<String>,
}

/// Validates `text` as bpfman reads it.
pub(super) fn check(text: &str) -> Findings {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut validator = Validator { warnings: Vec::new() };
    if errors.is_empty() {
        let (span, table) = (table.span(), DeValue::Table(table.into_inner()));
        validator.value(&FieldPath::default(), &Spanned::new(span, table), &BPFMAN);
    }
    validator.warnings.sort_by_key(|(start, _)| *start);
    let warnings =
        validator.warnings.iter().map(|(start, message)| format!("at {}: {message}", position(text, *start)));
    Findings { syntax_errors: syntax_errors(text, &errors), warnings: warnings.take(MOST + 1).collect() }
}

/// The first error of each line, since the parser reports the rest of an invalid line as another error.
fn syntax_errors(text: &str, errors: &[toml::de::Error]) -> Vec<String> {
    let mut messages = Vec::new();
    let mut last = None;
    let start = |error: &&toml::de::Error| error.span().map_or(text.len(), |span| span.start);
    let mut errors: Vec<_> = errors.iter().collect();
    errors.sort_by_key(start);
    for error in errors {
        let start = start(&error);
        let between = last.replace(start).map(|last| text.get(last..start).unwrap_or_default());
        if between.is_none_or(|between| between.contains('\n')) && messages.len() < MOST_ERRORS {
            let (position, message) = (position(text, start), error.message());
            messages.push(format!("is invalid TOML at {position}: {message}{IGNORED}"));
        }
    }
    messages
}

/// `line 2, column 5`.
fn position(text: &str, offset: usize) -> String {
    let (line, column) = yaml::place_at(text, offset);
    format!("line {line}, column {column}")
}

fn fits(number: &DeInteger<'_>, largest: u64) -> bool {
    u64::from_str_radix(number.as_str(), number.radix()).is_ok_and(|number| number <= largest)
}

struct Validator {
    /// Offset in the text, message.
    warnings: Vec<(usize, String)>,
}

impl Validator {
    fn value(&mut self, path: &FieldPath, value: &Spanned<DeValue<'_>>, value_type: &Type) {
        let expected = match (value_type, value.get_ref()) {
            (Type::Table(fields, required), DeValue::Table(table)) => {
                let missing = required.iter().filter(|name| !table.contains_key(**name));
                let missing =
                    missing.map(|name| (value.span().start, format!("{} is missing{IGNORED}", path.field(name))));
                self.warnings.extend(missing);
                return table.iter().for_each(|(key, value)| self.field(path, key, value, fields));
            }
            (Type::Map(inner), DeValue::Table(table)) => {
                return table.iter().for_each(|(key, value)| self.value(&path.field(key.get_ref()), value, inner));
            }
            (Type::Boolean, DeValue::Boolean(_)) => return,
            (Type::Integer(largest), DeValue::Integer(number)) if fits(number, *largest) => return,
            (Type::Enum(words), DeValue::String(word)) if words.contains(&word.as_ref()) => return,
            (Type::Enum(words), _) => format!("one of {}", words.join(", ")),
            (Type::Integer(largest), _) => format!("an integer from 0 to {largest}"),
            (Type::Boolean, _) => "true or false".to_owned(),
            (Type::Table(..) | Type::Map(_), _) => "a table".to_owned(),
        };
        self.warnings.push((value.span().start, format!("{path} must be {expected}{IGNORED}")));
    }

    fn field(&mut self, path: &FieldPath, key: &Key<'_>, value: &Spanned<DeValue<'_>>, fields: &[(&str, Type)]) {
        let path = path.field(key.get_ref());
        if let Some((_, value_type)) = fields.iter().find(|(known, _)| known == key.get_ref()) {
            return self.value(&path, value, value_type);
        }
        let near = names::nearest(key.get_ref(), fields.iter().map(|(known, _)| *known));
        let suggestion = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        self.warnings.push((key.span().start, format!("unknown key {path}{suggestion}")));
    }
}
