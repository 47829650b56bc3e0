//! Validates single values. Each function returns why a value is not valid, none when it is. Pure.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use crate::problem::mistyped;

/// An integer in the range.
pub(super) fn integer_error(value: &Value, smallest: i64, largest: i64) -> Option<String> {
    match value.as_i64() {
        Some(number) if (smallest..=largest).contains(&number) => None,
        Some(_) => Some(mistyped(value, &format!("an integer from {smallest} to {largest}"))),
        None => Some(with_example(mistyped(value, "an integer"), value.as_str().and_then(as_integer))),
    }
}

/// The number that a string shows, for YAML; one with a leading zero is meant to be octal.
fn as_integer(text: &str) -> Option<String> {
    let octal = text.strip_prefix("0o").or_else(|| text.strip_prefix('0').filter(|digits| !digits.is_empty()));
    match octal {
        Some(digits) => {
            let number = i64::from_str_radix(digits, 8).ok()?;
            Some(format!("{number} or 0o{number:o}"))
        }
        None => text.parse::<i64>().ok().map(|number| number.to_string()),
    }
}

/// A string.
pub(super) fn text_error(value: &Value) -> Option<String> {
    let expected = match value {
        Value::Number(_) | Value::Bool(_) => "a string: put quotes around it",
        _ => "a string",
    };
    (!value.is_string()).then(|| mistyped(value, expected))
}

/// A boolean.
pub(super) fn flag_error(value: &Value) -> Option<String> {
    let word = value.as_str().map(str::to_lowercase).filter(|word| word == "true" || word == "false");
    (!value.is_boolean()).then(|| with_example(mistyped(value, "true or false"), word))
}

/// A number.
pub(super) fn number_error(value: &Value) -> Option<String> {
    (!value.is_number()).then(|| mistyped(value, "a number"))
}

fn with_example(message: String, example: Option<String>) -> String {
    match example {
        Some(example) => format!("{message}; write {example}"),
        None => message,
    }
}

/// As Go decodes it: unused bits may be set.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// The message about a string that is not base64.
pub(super) const NOT_BASE64: &str = "is not valid base64";

/// Base64; the API ignores line breaks in it.
pub(super) fn base64_error(value: &Value) -> Option<String> {
    let not_base64 = |text: &str| BASE64.decode(text.replace(['\r', '\n'], "")).is_err();
    match value.as_str() {
        Some(text) => not_base64(text).then(|| NOT_BASE64.to_owned()),
        None => text_error(value),
    }
}

/// `IntOrString`: a port's number or name, a number or a percentage.
pub(super) fn int_or_string_error(value: &Value) -> Option<String> {
    let fits = value.is_string() || value.as_i64().is_some_and(|number| i32::try_from(number).is_ok());
    (!fits).then(|| mistyped(value, "an integer or a string"))
}

/// A quantity
/// (<https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>).
pub(super) fn quantity_error(value: &Value) -> Option<String> {
    let fits = value.is_number() || value.as_str().is_some_and(is_quantity);
    (!fits).then(|| mistyped(value, "a quantity such as 100m, 2 or 512Mi"))
}

fn is_quantity(text: &str) -> bool {
    const SUFFIXES: [&str; 16] = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let number = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = number.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(number.len());
    let (digits, suffix) = number.split_at(end);
    let exponent = suffix.strip_prefix(['e', 'E']).is_some_and(|exponent| exponent.parse::<i32>().is_ok());
    let has_digits = digits.bytes().any(|byte| byte.is_ascii_digit()) && digits.matches('.').count() <= 1;
    has_digits && (exponent || SUFFIXES.contains(&suffix))
}

/// A time.
pub(super) fn time_error(value: &Value) -> Option<String> {
    let fits = value.as_str().is_some_and(|text| text.parse::<jiff::Timestamp>().is_ok());
    (!fits).then(|| mistyped(value, "a time such as 2026-01-31T12:00:00Z"))
}
