//! The values of Secrets in what is printed: none of them is left, in any form.

use bpfman_config::mask;
use serde_json::{Value, json};

use crate::hostile::Hostile;

fn secret(data: &Value, strings: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": data, "stringData": strings})
}

#[test]
fn a_value_is_masked_as_it_is_as_base64_and_as_it_is_quoted() {
    let object = secret(&json!({"a": "aHVzaCBodXNo"}), &json!({"b": "two\n\"lines\"", "c": 12345, "d": "1"}));
    let text = r#"a=hush hush a64=aHVzaCBodXNo b="two\n\"lines\"" c=12345 at byte 1 of 10: "1""#;
    assert_eq!(mask::text(text, &object), r#"a=*** a64=*** b="***" c=*** at byte *** of 10: "***""#);
    assert_eq!(mask::text(text, &json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "hush"}})), text);
}

#[test]
fn an_object_that_the_server_quotes_is_masked_as_a_whole() {
    let text =
        r#"secrets "s": Invalid value: "{\"data\":{\"b\":\"aHVzaA==\"}}": illegal base64 data at byte 4, "open {"#;
    let masked = mask::text(text, &secret(&json!({}), &json!({})));
    assert_eq!(masked, r#"secrets "s": Invalid value: "***": illegal base64 data at byte 4, "***"#);
}

#[test]
fn no_value_of_four_bytes_or_more_is_left_whatever_it_is() {
    let mut hostile = Hostile::new(5);
    for _ in 0..500 {
        let (one, other) = (hostile.text(), hostile.text());
        let object = secret(&json!({}), &json!({"a": one, "b": other}));
        let masked = mask::text(&format!("Invalid value: {one:?} {one}, {other} {}", json!(other)), &object);
        for value in [one, other].iter().filter(|value| value.len() >= 4 && !value.trim().is_empty()) {
            assert!(
                !masked.contains(value.as_str()) || "*** Invalid value: ".contains(value.trim()),
                "{value:?} in {masked:?}"
            );
        }
    }
}
