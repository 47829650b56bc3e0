//! What a plain scalar is to kubectl, whose parser follows YAML 1.1.
//!
//! A port of the rules of go-yaml v2 (<https://github.com/yaml/go-yaml/blob/v2.4.3/resolve.go>), which `serde_yaml`, a reader of YAML 1.2,
//! does not share. Pure text.

/// What a plain scalar means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    /// Wide enough for both kinds of Go integers.
    Int(i128),
    Float(f64),
    Text,
}

/// Reads the plain scalar `text` as kubectl does. Timestamps are text: kubectl hands them on as they are written.
pub(super) fn resolve(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => return Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Scalar::Bool(false);
        }
        ".nan" | ".NaN" | ".NAN" => return Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Scalar::Float(f64::NEG_INFINITY),
        _ => {}
    }
    match text.as_bytes().first() {
        Some(b'.') if has_separating_underscores(text) => number(&text.replace('_', "")),
        Some(b'0'..=b'9' | b'+' | b'-') => number(&text.replace('_', "")),
        _ => Scalar::Text,
    }
}

fn number(text: &str) -> Scalar {
    match integer(text) {
        Some(number) => Scalar::Int(number),
        None => float(text).map_or(Scalar::Text, Scalar::Float),
    }
}

/// An integer as Go's base 0 has it: `0x1F`, `0b11`, `0o17`, `017`; nothing that neither `int64` nor `uint64` holds.
fn integer(text: &str) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (if text.starts_with('-') { -1 } else { 1 }, digits),
        None => (1, text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    // Go looks for a sign behind this prefix, and this one only.
    if let Some(signed) = text.strip_prefix("0b").filter(|digits| digits.starts_with(['+', '-'])) {
        return i64::from_str_radix(signed, 2).ok().map(i128::from);
    }
    if !digits.starts_with(|first: char| first.is_digit(radix)) {
        return None;
    }
    let number = sign * i128::from(u64::from_str_radix(digits, radix).ok()?);
    // A sign makes it an int64 in Go, where uint64 takes none.
    let largest = if text.starts_with('+') { i128::from(i64::MAX) } else { i128::from(u64::MAX) };
    (i128::from(i64::MIN)..=largest).contains(&number).then_some(number)
}

/// Whether each underscore stands between two digits: so Go has them in what begins with a dot.
fn has_separating_underscores(text: &str) -> bool {
    let is_digit = |character: Option<char>| character.is_some_and(|character| character.is_ascii_digit());
    text.match_indices('_').all(|(index, _)| {
        let (before, behind) = text.split_at(index);
        is_digit(before.chars().next_back()) && is_digit(behind.chars().nth(1))
    })
}

fn float(text: &str) -> Option<f64> {
    let is_decimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    text.parse().ok().filter(|number: &f64| is_decimal && number.is_finite())
}
