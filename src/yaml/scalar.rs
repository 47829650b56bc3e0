//! What a plain scalar is to kubectl, whose parser follows YAML 1.1.
//!
//! A port of the rules of go-yaml v2 (<https://github.com/yaml/go-yaml/blob/v2.4.3/resolve.go>), which `serde_yaml`, a reader of YAML 1.2,
//! does not share. Pure text.

use serde_json::{Number, Value};

use super::error::ErrorKind;

/// The key that merges.
pub(super) const MERGE: &str = "<<";

/// Reads the plain scalar `text` as kubectl does. Timestamps are text: kubectl hands them on as they are written.
pub(super) fn value(text: &str) -> Result<Value, ErrorKind> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => return Ok(true.into()),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => return Ok(false.into()),
        ".nan" | ".NaN" | ".NAN" => return Err(ErrorKind::NotFinite),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf" | "-.INF" => {
            return Err(ErrorKind::NotFinite);
        }
        _ => {}
    }
    let number = match text.as_bytes().first() {
        Some(b'.') if has_separating_underscores(text) => number(&text.replace('_', ""))?,
        Some(b'0'..=b'9' | b'+' | b'-') => number(&text.replace('_', ""))?,
        _ => None,
    };
    let looks_octal = text.trim_start_matches(['+', '-']).starts_with('0') && text.contains(['8', '9']);
    match number {
        Some(_) if looks_octal && !text.contains(['x', 'X', '.', 'e', 'E']) => {
            Err(ErrorKind::LeadingZero(text.to_owned()))
        }
        Some(number) => Ok(Value::Number(number)),
        None => Ok(text.into()),
    }
}

/// Reads the plain scalar `text` as a key: as text, if it is that to kubectl, or as null for a merge.
pub(super) fn key(text: &str) -> Result<Value, ErrorKind> {
    let is_text = match value(text) {
        Ok(Value::String(_)) if text == MERGE => return Ok(Value::Null),
        Ok(Value::String(_)) => true,
        Ok(Value::Number(number)) => number.is_i64() && number.to_string() == text,
        Ok(Value::Bool(flag)) => flag.to_string() == text,
        _ => false,
    };
    if is_text { Ok(text.into()) } else { Err(ErrorKind::Key(text.to_owned())) }
}

fn number(text: &str) -> Result<Option<Number>, ErrorKind> {
    let is_whole = text.trim_start_matches(['+', '-']).bytes().all(|byte| byte.is_ascii_digit());
    match (integer(text).map(i64::try_from), float(text)) {
        (Some(Ok(number)), _) => Ok(Some(number.into())),
        (Some(Err(_)), _) => Err(ErrorKind::LargeNumber),
        (None, Some(_)) if is_whole => Err(ErrorKind::LargeNumber),
        (None, float) => Ok(float),
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

/// kubectl passes numbers through JSON, where a whole one becomes an integer again.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "only whole numbers in range are cast"
)]
fn float(text: &str) -> Option<Number> {
    let is_decimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    let number: f64 = text.parse().ok().filter(|_| is_decimal)?;
    if number.fract() == 0.0 && number >= i64::MIN as f64 && number < i64::MAX as f64 {
        return Some((number as i64).into());
    }
    Number::from_f64(number)
}
