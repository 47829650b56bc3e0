//! Reading YAML: each input with all that is read from it, or the whole error.

use bpfman_config::path::{FieldPath, Step};
use bpfman_config::yaml;
use expect_test::{Expect, expect};
use serde_json::json;

/// Shows what is read from `input`: a line a document, or the error.
fn show(input: &[u8]) -> String {
    match yaml::read(input) {
        Ok(documents) if documents.is_empty() => "nothing".to_owned(),
        Ok(documents) => {
            let shown = documents.iter().map(|document| format!("{}: {}", document.line, document.value));
            shown.collect::<Vec<_>>().join(" | ")
        }
        Err(error) => format!("error: {error}"),
    }
}

/// Compares all `inputs` with what is read from them, a line each.
#[track_caller]
fn check(inputs: &[&str], expected: &Expect) {
    let shown: Vec<String> = inputs.iter().map(|input| format!("{input:?} -> {}", show(input.as_bytes()))).collect();
    expected.assert_eq(&shown.join("\n"));
}

/// InQuicker/ktmpl#22, Glyndor/podup#983: 0644 became 644, "0644" or 644.0.
#[test]
fn octal_modes_are_read_as_kubectl_does() {
    check(
        &["a: 0644", "a: 0o644", "a: 420", "a: \"0644\"", "a: 0777", "a: 0888"],
        &expect![[r#"
            "a: 0644" -> 1: {"a":420}
            "a: 0o644" -> 1: {"a":420}
            "a: 420" -> 1: {"a":420}
            "a: \"0644\"" -> 1: {"a":"0644"}
            "a: 0777" -> 1: {"a":511}
            "a: 0888" -> error: line 1, column 4: the number is too large for a 64-bit integer; quote it if it is text"#]],
    );
}

#[test]
fn plain_scalars_are_what_they_are_to_kubectl() {
    let words = ["yes", "Off", "y", "TRUE", "~", "Null", "yEs", "null_", "\"yes\"", "'no'", "|\n  on", "\"\\\n  yes\""];
    let numbers =
        ["1e3", "1.0", "1.50", "-0.0", ".5_0", "1_000", "0X1F", "0b11", "-0b1", "+12", "1:30", "1e400", "1__0."];
    let others = ["2001-12-14", "2001-12-14 21:59:43", "0x", "1.2.3", "_1", "=", "1e20", "-.5"];
    let inputs: Vec<String> = words.iter().chain(&numbers).chain(&others).map(|text| format!("a: {text}")).collect();
    check(
        &inputs.iter().map(String::as_str).collect::<Vec<_>>(),
        &expect![[r#"
        "a: yes" -> 1: {"a":true}
        "a: Off" -> 1: {"a":false}
        "a: y" -> 1: {"a":true}
        "a: TRUE" -> 1: {"a":true}
        "a: ~" -> 1: {"a":null}
        "a: Null" -> 1: {"a":null}
        "a: yEs" -> 1: {"a":"yEs"}
        "a: null_" -> 1: {"a":"null_"}
        "a: \"yes\"" -> 1: {"a":"yes"}
        "a: 'no'" -> 1: {"a":"no"}
        "a: |\n  on" -> 1: {"a":"on\n"}
        "a: \"\\\n  yes\"" -> 1: {"a":"yes"}
        "a: 1e3" -> 1: {"a":1000}
        "a: 1.0" -> 1: {"a":1}
        "a: 1.50" -> 1: {"a":1.5}
        "a: -0.0" -> 1: {"a":0}
        "a: .5_0" -> 1: {"a":0.5}
        "a: 1_000" -> 1: {"a":1000}
        "a: 0X1F" -> 1: {"a":31}
        "a: 0b11" -> 1: {"a":3}
        "a: -0b1" -> 1: {"a":-1}
        "a: +12" -> 1: {"a":12}
        "a: 1:30" -> 1: {"a":"1:30"}
        "a: 1e400" -> 1: {"a":"1e400"}
        "a: 1__0." -> 1: {"a":10}
        "a: 2001-12-14" -> 1: {"a":"2001-12-14"}
        "a: 2001-12-14 21:59:43" -> 1: {"a":"2001-12-14 21:59:43"}
        "a: 0x" -> 1: {"a":"0x"}
        "a: 1.2.3" -> 1: {"a":"1.2.3"}
        "a: _1" -> 1: {"a":"_1"}
        "a: =" -> 1: {"a":"="}
        "a: 1e20" -> 1: {"a":1e+20}
        "a: -.5" -> 1: {"a":-0.5}"#]],
    );
}

#[test]
fn numbers_that_json_cannot_keep_are_refused() {
    let inputs = [
        "a: .inf",
        "a: -.INF",
        "a:\n- .nan",
        "a: 9223372036854775807",
        "a: 9223372036854775808",
        "a: -9223372036854775809",
    ];
    check(
        &inputs,
        &expect![[r#"
            "a: .inf" -> error: line 1, column 4: JSON has no infinite numbers and no .nan; quote it if it is text
            "a: -.INF" -> error: line 1, column 4: JSON has no infinite numbers and no .nan; quote it if it is text
            "a:\n- .nan" -> error: line 2, column 3: JSON has no infinite numbers and no .nan; quote it if it is text
            "a: 9223372036854775807" -> 1: {"a":9223372036854775807}
            "a: 9223372036854775808" -> error: line 1, column 4: the number is too large for a 64-bit integer; quote it if it is text
            "a: -9223372036854775809" -> error: line 1, column 4: the number is too large for a 64-bit integer; quote it if it is text"#]],
    );
}

/// kubernetes/kubernetes#14791, #99286, #67477: the last one won silently.
#[test]
fn duplicate_keys_are_refused_with_both_lines() {
    let inputs = [
        "a:\n  volumeMounts: []\n  b: 1\n  \"volumeMounts\": []",
        "x: 1\na:\n- b\n- {c: 1,\n   c: 2}",
        "1: a\n\"1\": b",
        "{\"a\": {\"b\": 1,\n\"b\": 2}}",
        "# c\n---\na: 1\n---\nb: 1\nb: 2",
    ];
    check(
        &inputs,
        &expect![[r##"
            "a:\n  volumeMounts: []\n  b: 1\n  \"volumeMounts\": []" -> error: line 4, column 3: duplicate key "volumeMounts" (first on line 2)
            "x: 1\na:\n- b\n- {c: 1,\n   c: 2}" -> error: line 5, column 4: duplicate key "c" (first on line 4)
            "1: a\n\"1\": b" -> error: line 2, column 1: duplicate key "1" (first on line 1)
            "{\"a\": {\"b\": 1,\n\"b\": 2}}" -> error: line 2, column 1: duplicate key "b" (first on line 1)
            "# c\n---\na: 1\n---\nb: 1\nb: 2" -> error: line 6, column 1: duplicate key "b" (first on line 5)"##]],
    );
}

#[test]
fn merges_are_those_of_kubectl_or_refused() {
    let inputs = [
        "x: &x {a: 1, b: 2}\nm:\n  <<: *x\n  b: 3",
        "x: &x {a: 1}\nm:\n  <<: [*x, {a: 2, b: 2}]",
        "m:\n  \"<<\": 1",
        "x: &x {a: 1}\nm:\n  b: 0\n  a: 2\n  <<: *x",
        "m:\n  <<: {a: 1}\n  <<: {b: 1}",
        "m:\n  <<: text",
    ];
    check(
        &inputs,
        &expect![[r#"
            "x: &x {a: 1, b: 2}\nm:\n  <<: *x\n  b: 3" -> 1: {"m":{"a":1,"b":3},"x":{"a":1,"b":2}}
            "x: &x {a: 1}\nm:\n  <<: [*x, {a: 2, b: 2}]" -> 1: {"m":{"a":1,"b":2},"x":{"a":1}}
            "m:\n  \"<<\": 1" -> 1: {"m":{"<<":1}}
            "x: &x {a: 1}\nm:\n  b: 0\n  a: 2\n  <<: *x" -> error: line 5, column 3: << overrides key "a" (on line 4) in kubectl, but not in other parsers; put << first
            "m:\n  <<: {a: 1}\n  <<: {b: 1}" -> error: line 3, column 3: duplicate key "<<" (first on line 2)
            "m:\n  <<: text" -> error: line 2, column 3: << must be a mapping or a list of mappings"#]],
    );
}

#[test]
fn keys_that_kubectl_would_rename_are_refused() {
    let inputs = [
        "y: 1",
        "a: {on: 1}",
        "0644: a",
        "1.10: a",
        "~: a",
        ": a",
        "true: a",
        "12: a",
        "\"y\": a",
        "{{ .x }}: a",
        "a: {{ x }}",
    ];
    check(
        &inputs,
        &expect![[r#"
            "y: 1" -> error: line 1, column 1: kubectl does not read the key y as text; quote it
            "a: {on: 1}" -> error: line 1, column 5: kubectl does not read the key on as text; quote it
            "0644: a" -> error: line 1, column 1: kubectl does not read the key 0644 as text; quote it
            "1.10: a" -> error: line 1, column 1: kubectl does not read the key 1.10 as text; quote it
            "~: a" -> error: line 1, column 1: kubectl does not read the key ~ as text; quote it
            ": a" -> error: line 1, column 1: YAML parsers disagree about this; put text in quotes, or write it in another way
            "true: a" -> 1: {"true":"a"}
            "12: a" -> 1: {"12":"a"}
            "\"y\": a" -> 1: {"y":"a"}
            "{{ .x }}: a" -> error: line 1, column 1: a key must be text; put it in quotes, including any braces and brackets
            "a: {{ x }}" -> error: line 1, column 5: a key must be text; put it in quotes, including any braces and brackets"#]],
    );
}

#[test]
fn tags_are_refused_where_they_are_tags() {
    let inputs = [
        "a: !!binary aGk=",
        "a: !!str 1",
        "!foo a: b",
        "a: ! 12",
        "a: !<tag:yaml.org,2002:str> 1",
        "a: \"!!no\"\nb: |\n  !!no\nc: x !!no # !!no",
    ];
    check(
        &inputs,
        &expect![[r#"
            "a: !!binary aGk=" -> error: line 1, column 4: tags (!…) are not supported; remove it, and put text in quotes
            "a: !!str 1" -> error: line 1, column 4: tags (!…) are not supported; remove it, and put text in quotes
            "!foo a: b" -> error: line 1, column 1: tags (!…) are not supported; remove it, and put text in quotes
            "a: ! 12" -> error: line 1, column 4: tags (!…) are not supported; remove it, and put text in quotes
            "a: !<tag:yaml.org,2002:str> 1" -> error: line 1, column 4: tags (!…) are not supported; remove it, and put text in quotes
            "a: \"!!no\"\nb: |\n  !!no\nc: x !!no # !!no" -> 1: {"a":"!!no","b":"!!no\n","c":"x !!no"}"#]],
    );
}

/// kubernetes/kubernetes#108570, #33588, #34886, kubernetes/kubectl#1810, squaremo/kubeyaml#4: documents were lost or empty.
#[test]
fn every_separator_separates_and_nothing_is_lost() {
    let inputs = [
        "---\n---\n# x\n---\na: 1\n---\n",
        "a: 1\n...\n",
        "a: 1\n--- \t\nb: 2\n---\r\nc: 3\n--- # note\nd: 4",
        "%YAML 1.1\n---\na: 1\n",
        "# c\n\n  # d\na: |\n  x\n  ---\n  y\n",
        "null\n---\n~\n---\na: 1",
        "--- {a: 1}",
        "-----\na: 1",
        "------\na: 1",
        "a: 1\n...\n# c\nb: 2\n",
        "a: 1\n%YAML 1.1\n---\nb: 2\n",
        "- a",
        "# c\n---\n  text",
    ];
    check(
        &inputs,
        &expect![[r##"
            "---\n---\n# x\n---\na: 1\n---\n" -> 5: {"a":1}
            "a: 1\n...\n" -> 1: {"a":1}
            "a: 1\n--- \t\nb: 2\n---\r\nc: 3\n--- # note\nd: 4" -> 1: {"a":1} | 3: {"b":2} | 5: {"c":3} | 7: {"d":4}
            "%YAML 1.1\n---\na: 1\n" -> error: line 1, column 1: kubectl does not accept directives (%YAML, %TAG); remove this line
            "# c\n\n  # d\na: |\n  x\n  ---\n  y\n" -> 4: {"a":"x\n---\ny\n"}
            "null\n---\n~\n---\na: 1" -> 5: {"a":1}
            "--- {a: 1}" -> error: line 1, column 5: only a comment may follow --- on its line, as in kubectl
            "-----\na: 1" -> error: line 1, column 4: only a comment may follow --- on its line, as in kubectl
            "------\na: 1" -> error: line 1, column 4: only a comment may follow --- on its line, as in kubectl
            "a: 1\n...\n# c\nb: 2\n" -> error: line 4, column 1: the document has ended above; begin the next one with ---, or kubectl ignores it
            "a: 1\n%YAML 1.1\n---\nb: 2\n" -> error: line 2, column 1: kubectl does not accept directives (%YAML, %TAG); remove this line
            "- a" -> error: line 1, column 1: a document must be a mapping (key: value), this is a list
            "# c\n---\n  text" -> error: line 3, column 3: a document must be a mapping (key: value), this is text"##]],
    );
}

/// kube-rs/kube#2026: what was not understood counted as nothing.
#[test]
fn what_is_no_yaml_is_an_error_and_no_content_is_nothing() {
    let inputs =
        ["", "# only\n", "a: \"x\nb: c\n", "a: 0\n b: 1\n", "a: [1\nb: 2", "a:\n- b\n c: d\n", "a: *x", "a: @x"];
    check(
        &inputs,
        &expect![[r##"
            "" -> nothing
            "# only\n" -> nothing
            "a: \"x\nb: c\n" -> error: line 1, column 4: unclosed quote
            "a: 0\n b: 1\n" -> error: line 2, column 3: mapping values are not allowed in this context
            "a: [1\nb: 2" -> error: line 2, column 2: a colon is not allowed here; is a bracket above not closed?
            "a:\n- b\n c: d\n" -> error: line 3, column 3: mapping values are not allowed in this context
            "a: *x" -> error: line 1, column 4: this alias has no anchor (&) above
            "a: @x" -> error: line 1, column 4: a plain value cannot begin with @; put it in quotes"##]],
    );
}

/// kubectl's parser ends a line at some more characters than YAML 1.2 does, and takes no empty key; nothing of a value is told.
#[test]
fn what_parsers_disagree_about_is_refused() {
    let inputs = [
        "a: x\u{85}b: y",
        "a:\n- p\u{2028}- q",
        ": a",
        "a: {b:, c: 1}",
        "a:\n- \t\n",
        "a: \"\\'\"",
        "a: {x?y: 1}",
        "a: 1 # b\n#c\nd: [1]#e",
    ];
    check(
        &inputs,
        &expect![[r#"
            "a: x\u{85}b: y" -> error: line 1, column 7: mapping values are not allowed in this context
            "a:\n- p\u{2028}- q" -> error: line 2, column 1: YAML parsers disagree about this; put text in quotes, or write it in another way
            ": a" -> error: line 1, column 1: YAML parsers disagree about this; put text in quotes, or write it in another way
            "a: {b:, c: 1}" -> error: line 1, column 6: YAML parsers disagree about this; put text in quotes, or write it in another way
            "a:\n- \t\n" -> error: line 2, column 3: YAML parsers disagree about this; put text in quotes, or write it in another way
            "a: \"\\'\"" -> error: line 1, column 4: these double quotes hold an unknown escape; use single quotes, or \\ for a backslash
            "a: {x?y: 1}" -> 1: {"a":{"x?y":1}}
            "a: 1 # b\n#c\nd: [1]#e" -> error: line 3, column 7: a comment must be separated by a space"#]],
    );
}

/// mikefarah/yq#1860, linuxacademy/content-kubernetes-security#1: files as Windows and some editors save them.
#[test]
fn marks_line_ends_and_tabs_of_editors_are_harmless_or_named() {
    let inputs = [
        "\u{feff}a: 1\r\n---\r\n\u{feff}b: |\r\n  x\r\n  y\r\n",
        "a: \"x\\r\\n\"",
        "a: |\n  x",
        "a: |\n  [t]\n  \tb = 1\n",
        "a:\n\tb: 1",
        "a: 1\n\u{feff}b: 2",
        "a: x\u{7}",
        "a: |\n  x\u{9b}y",
    ];
    check(
        &inputs,
        &expect![[r#"
            "\u{feff}a: 1\r\n---\r\n\u{feff}b: |\r\n  x\r\n  y\r\n" -> 1: {"a":1} | 3: {"b":"x\ny\n"}
            "a: \"x\\r\\n\"" -> 1: {"a":"x\r\n"}
            "a: |\n  x" -> 1: {"a":"x\n"}
            "a: |\n  [t]\n  \tb = 1\n" -> 1: {"a":"[t]\n\tb = 1\n"}
            "a:\n\tb: 1" -> error: line 2, column 1: a tab is not allowed here; use spaces
            "a: 1\n\u{feff}b: 2" -> error: line 2, column 1: control character U+FEFF is not allowed in YAML; write it as an escape in double quotes
            "a: x\u{7}" -> error: line 1, column 5: control character U+0007 is not allowed in YAML; write it as an escape in double quotes
            "a: |\n  x\u{9b}y" -> error: line 2, column 4: control character U+009B is not allowed in YAML; write it as an escape in double quotes"#]],
    );
}

/// YAML's parsers end a line at more characters than editors do, and JSON's counts bytes.
#[test]
fn places_are_those_of_editors() {
    check(
        &[
            "a: \"\u{2028}\u{85}\u{e9}\"\nb: [\u{e9}, \u{2029}@",
            "a: \"\u{e9}\rb\"",
            "a: \u{e9}\n\u{2028}b: @",
            "{\"a\": \"\u{e9}\u{1f600}\", \"b\": 9223372036854775808}",
            "{\"a\": 1}\n{\"b\n",
        ],
        &expect![[r#"
            "a: \"\u{2028}\u{85}é\"\nb: [é, \u{2029}@" -> error: line 2, column 4: unclosed bracket '['
            "a: \"é\rb\"" -> error: line 1, column 6: a carriage return without a newline ends a line for some parsers only; save the file with newlines
            "a: é\n\u{2028}b: @" -> error: line 2, column 5: a plain value cannot begin with @; put it in quotes
            "{\"a\": \"é😀\", \"b\": 9223372036854775808}" -> error: line 1, column 18: the number is too large for a 64-bit integer; quote it if it is text
            "{\"a\": 1}\n{\"b\n" -> error: line 2, column 2: unclosed quote"#]],
    );
    let large = format!("# {}\n\u{e9}: \"\u{2028}\r\n\", b: c: [{}]", "x".repeat(1 << 16), "1,".repeat(200_000));
    expect!["error: line 3, column 2: unexpected text after the closing quote"].assert_eq(&show(large.as_bytes()));
}

#[test]
fn bytes_of_other_encodings_are_named() {
    let inputs: [&[u8]; 5] = [b"\xff\xfea\0", b"\xfe\xff\0a", b"a\0:\0", b"\0a\0:", b"a: 1\nb: \xc3\xa9\xff"];
    let shown: Vec<String> = inputs.iter().map(|input| show(input)).collect();
    expect![[r#"
        error: line 1, column 1: the text is UTF-16 (little endian); save it as UTF-8
        error: line 1, column 1: the text is UTF-16 (big endian); save it as UTF-8
        error: line 1, column 1: the text is UTF-16 (little endian); save it as UTF-8
        error: line 1, column 1: the text is UTF-16 (big endian); save it as UTF-8
        error: line 2, column 5: the text is not valid UTF-8; kubectl would replace this byte with U+FFFD"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn json_is_read_by_json_rules() {
    let inputs = [
        "{\"a\": \"\\ud83d\\ude00\\/\", \"b\": 1.0, \"y\": [1e3, \"0644\"]}",
        "{\"a\": 1}{\"b\": 2}\n{\"c\": 3}\n# end\n---\n{\"d\": 4}",
        "{\"<<\": 1, \"a\": \"\u{7f}\"}",
        "{\"a\": 1,}",
        "{\"a\": 1}\n{\"b\" 2}",
        "{\"a\" 1}",
        "{\"a\": 1} 2",
        "{\"a\": [9223372036854775808]}",
        "[1]",
    ];
    check(
        &inputs,
        &expect![[r#"
            "{\"a\": \"\\ud83d\\ude00\\/\", \"b\": 1.0, \"y\": [1e3, \"0644\"]}" -> 1: {"a":"😀/","b":1,"y":[1000,"0644"]}
            "{\"a\": 1}{\"b\": 2}\n{\"c\": 3}\n# end\n---\n{\"d\": 4}" -> 1: {"a":1} | 1: {"b":2} | 2: {"c":3} | 5: {"d":4}
            "{\"<<\": 1, \"a\": \"\u{7f}\"}" -> 1: {"<<":1,"a":""}
            "{\"a\": 1,}" -> 1: {"a":1}
            "{\"a\": 1}\n{\"b\" 2}" -> error: line 2, column 6: unexpected text after the closing quote
            "{\"a\" 1}" -> error: line 1, column 6: unexpected text after the closing quote
            "{\"a\": 1} 2" -> error: line 1, column 10: a document must be a mapping (key: value), this is a number
            "{\"a\": [9223372036854775808]}" -> error: line 1, column 8: the number is too large for a 64-bit integer; quote it if it is text
            "[1]" -> error: line 1, column 1: a document must be a mapping (key: value), this is a list"#]],
    );
}

#[test]
fn what_costs_too_much_is_refused_at_once() {
    let bomb = "a: &a [l,l,l,l,l,l,l,l,l]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]\n";
    let texts = [
        bomb.to_owned(),
        "a: &a [*a]".to_owned(),
        format!("a: {}1{}", "[".repeat(99), "]".repeat(99)),
        format!("a: {}{}", "[".repeat(100), "]".repeat(100)),
        format!("a:\n  {}x", "- ".repeat(100)),
        "{a: ".repeat(800_000),
        format!("a: [{}]", "1,".repeat(1_500_000)),
        format!("{{\"a\": [{}1]}}", "1,".repeat(1_500_000)),
        format!("{{\"a\": [{}1]}}", "{},".repeat(90_000)),
        format!("a: 1\n---\nb: {}", "x".repeat(3 << 20)),
        format!("{{\"b\": \"{}\"}}", "x".repeat(3 << 20)),
        "---\n".repeat(5_000_001),
    ];
    let shown: Vec<String> = texts.iter().map(|text| show(text.as_bytes()).chars().take(100).collect()).collect();
    expect![[r#"
        error: line 1, column 8: aliases make this document much larger than its text
        error: line 1, column 8: aliases make this document much larger than its text
        1: {"a":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
        error: line 1, column 103: nested more than 100 levels deep
        error: line 2, column 201: nested more than 100 levels deep
        error: line 1, column 1: the document has more than 3145728 bytes
        error: line 1, column 199993: the document has too many keys and values
        error: line 1, column 199996: the document has too many keys and values
        1: {"a":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{
        error: line 3, column 1: the document has more than 3145728 bytes
        error: line 1, column 1: the document has more than 3145728 bytes
        error: line 1, column 1: the file has more than 20000000 bytes"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn documents_come_one_at_a_time_and_end_with_the_first_error() {
    let mut documents = yaml::documents(b"a: 1\n---\nb: [\n---\nc: 3\n");
    let read: Vec<bool> = documents.by_ref().map(|document| document.is_ok()).collect();
    assert_eq!((read, documents.next()), (vec![true, false], None));
}

#[test]
fn a_path_is_found_in_the_text() {
    let text = "# c\na: 1\n---\nspec:\n  list:\n  - name: x\n    port: {no1: 80}\n  - name: \"y\"\n  set: [p, q]\n---\n{\"j\":\n {\"k\": [1,\n  2]}}";
    let root = FieldPath::default();
    let list = root.field("spec").field("list");
    let keyed = list.join(Step::Keys([("name".to_owned(), "y".into())].into()));
    let places = [
        yaml::locate(text.as_bytes(), 0, &root.field("a")),
        yaml::locate(text.as_bytes(), 1, &list),
        yaml::locate(text.as_bytes(), 1, &list.join(Step::Index(0)).field("port").field("no1")),
        yaml::locate(text.as_bytes(), 1, &keyed),
        yaml::locate(text.as_bytes(), 1, &keyed.field("missing")),
        yaml::locate(text.as_bytes(), 1, &root.field("spec").field("set").join(Step::Item("q".into()))),
        yaml::locate(text.as_bytes(), 2, &root.field("j").field("k").join(Step::Index(1))),
        yaml::locate(text.as_bytes(), 3, &root),
    ];
    let at = |line, column| Some((line, column));
    assert_eq!(places, [at(2, 1), at(5, 3), at(7, 12), at(8, 5), at(8, 5), at(9, 12), at(13, 3), None]);
}

#[test]
fn lists_give_their_objects() {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [
        {"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "p"}}]},
        {"kind": "Service", "apiVersion": "v1"},
    ]});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}});
    let service = json!({"kind": "Service", "apiVersion": "v1"});
    assert_eq!(yaml::unwrap_list(list), [pod, service.clone()]);
    assert_eq!(yaml::unwrap_list(service.clone()), [service]);
}
