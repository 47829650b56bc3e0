//! Writing YAML: the text itself, and that everything written is read back as it was.

use std::fmt::Write as _;

use bpfman_config::yaml;
use expect_test::expect;
use serde_json::{Value, json};

use crate::hostile::Hostile;

#[test]
fn objects_are_written_as_kubectl_prints_them() {
    let object = json!({
        "kind": "DaemonSet", "apiVersion": "apps/v1", "empty": {}, "none": [], "null": null, "float": 0.5, "big": 1e22,
        "data": {"bpfman.toml": "[database]\nmillisec_delay = 10000 \n\n  x = \"ü\"\n", "cut": "a\nb", "kept": "\n a\n\n"},
        "containers": [{"name": "bpfman", "args": ["--port=:8175", "-v", "$(NODE)"], "ports": [{"a": 1, "b": [[1, 2], []]}]}],
    });
    expect![[r#"
        apiVersion: apps/v1
        big: 10000000000000000000000.0
        containers:
        - args:
          - --port=:8175
          - "-v"
          - "$(NODE)"
          name: bpfman
          ports:
          - a: 1
            b:
            - - 1
              - 2
            - []
        data:
          bpfman.toml: |
            [database]
            millisec_delay = 10000 

              x = "ü"
          cut: |-
            a
            b
          kept: |2+

             a

        empty: {}
        float: 0.5
        kind: DaemonSet
        none: []
        "null": null
    "#]]
    .assert_eq(&yaml::to_string(&object));
}

#[test]
fn what_some_reader_would_take_for_something_else_is_quoted() {
    #[rustfmt::skip]
    let texts = [
        "yes", "oN", "y", "Null", "~", "0644", "0x1F", "1_0", "1.0", ".inf", "infinity", "2001-12-14", "1:30", "<<", "=", "", " a", "a ",
        "a: b", "a:", "a #b", "- a", "{a", "[a", "*a", "&a", "!a", "%a", "@a", "`a", "'a", "\"a", "---", "--", "a\tb", "a\r\nb\n", "\n",
        "\u{0}\u{7f}\u{85}\u{2028}\u{feff}", "\u{202e}x", "\u{1f600}", "plain", "a#b", "a:b", "quay.io/x:y@sha256", "--x=1", "größer, 日本",
    ];
    let mut shown = String::new();
    for text in texts {
        shown.push_str(&yaml::to_string(&json!({ text: text })));
    }
    expect![[r#"
        "yes": "yes"
        "oN": "oN"
        "y": "y"
        "Null": "Null"
        "~": "~"
        "0644": "0644"
        "0x1F": "0x1F"
        "1_0": "1_0"
        "1.0": "1.0"
        ".inf": ".inf"
        "infinity": "infinity"
        "2001-12-14": "2001-12-14"
        "1:30": "1:30"
        "<<": "<<"
        "=": "="
        "": ""
        " a": " a"
        "a ": "a "
        "a: b": "a: b"
        "a:": "a:"
        "a #b": "a #b"
        "- a": "- a"
        "{a": "{a"
        "[a": "[a"
        "*a": "*a"
        "&a": "&a"
        "!a": "!a"
        "%a": "%a"
        "@a": "@a"
        "`a": "`a"
        "'a": "'a"
        "\"a": "\"a"
        "---": "---"
        "--": "--"
        "a\tb": "a\tb"
        "a\r\nb\n": "a\r\nb\n"
        "\n": "\n"
        "\x00\x7F\x85\u2028\uFEFF": "\x00\x7F\x85\u2028\uFEFF"
        "\u202Ex": "\u202Ex"
        "\U0001F600": "\U0001F600"
        plain: plain
        "a#b": "a#b"
        a:b: a:b
        quay.io/x:y@sha256: quay.io/x:y@sha256
        --x=1: --x=1
        größer, 日本: größer, 日本
    "#]]
    .assert_eq(&shown);
}

#[test]
fn keys_too_long_for_readers_to_find_their_colon_stand_alone() {
    let long = "k".repeat(1001);
    let object = json!({"a": [{long.clone(): [1]}, {long.clone(): {"b": 2}}, {long.clone(): "x\ny"}]});
    let shown = yaml::to_string(&object).replace(&long, "LONG");
    expect![[r"
        a:
        - ? LONG
          :
          - 1
        - ? LONG
          :
            b: 2
        - ? LONG
          : |-
            x
            y
    "]]
    .assert_eq(&shown);
    assert_eq!(yaml::read(yaml::to_string(&object).as_bytes()).unwrap()[0].value, object);
}

#[test]
fn each_line_tells_what_it_shows() {
    let object = json!({"a": {"b": [{"c": 1, "d": "x\ny\n"}, [2, {}]]}});
    let mut shown = String::new();
    for line in yaml::lines(&object) {
        writeln!(shown, "{:12}{}", line.text, line.path).unwrap();
    }
    expect![[r"
        a:          a
          b:        a.b
          - c: 1    a.b[0].c
            d: |    a.b[0].d
              x     a.b[0].d
              y     a.b[0].d
          - - 2     a.b[1][0]
            - {}    a.b[1][1]
    "]]
    .assert_eq(&shown);
}

#[test]
fn what_is_written_is_read_back_as_it_was() {
    let mut hostile = Hostile::new(1);
    for _ in 0..20_000 {
        let object = json!({"x": hostile.value(4)});
        let text = yaml::to_string(&object);
        let read: Vec<Value> =
            yaml::read(text.as_bytes()).unwrap().into_iter().map(|document| document.value).collect();
        assert_eq!(read, [object], "{text}");
    }
}

#[test]
fn double_quotes_hold_any_string_in_one_line_of_ascii() {
    let mut hostile = Hostile::new(2);
    for _ in 0..20_000 {
        let text = hostile.text();
        let quoted = yaml::double_quoted(&text);
        let written = format!("{{x: {quoted}}}");
        let read = yaml::read(written.as_bytes()).unwrap();
        assert!(quoted.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{quoted}");
        assert_eq!(read[0].value, json!({"x": text}), "{quoted}");
    }
}
