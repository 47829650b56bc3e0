//! kubectl itself reads what is written here, and what is read here it reads alike.

use std::io::Write as _;
use std::process::{Command, Stdio};

use bpfman_config::yaml;
use serde_json::{Value, json};

use crate::controlplane;
use crate::hostile::Hostile;

/// The object that kubectl reads from `text`; no server is asked.
fn read(text: &str) -> Value {
    let home = tempfile::tempdir().unwrap();
    let mut child = Command::new(controlplane::kubectl().unwrap())
        .args(["annotate", "--local", "--filename=-", "read=yes", "--output=json", "--dry-run=client"])
        .env_clear()
        .env("HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // kubectl reads all of its input before it writes, so neither waits for the other.
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "kubectl refuses what was written");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A plain scalar that may be a number, a word, or neither.
fn scalar(hostile: &mut Hostile) -> String {
    const PARTS: [&str; 33] = [
        "0",
        "1",
        "7",
        "8",
        "9",
        "00",
        "0x",
        "0X",
        "0o",
        "0O",
        "0b",
        "0B",
        "a",
        "F",
        "e",
        "E",
        ".",
        "_",
        "+",
        "-",
        "yes",
        "No",
        "oN",
        "y",
        "n",
        "true",
        "Null",
        "~",
        "1:30",
        "inf",
        "2001-12-14",
        "T21:59:43Z",
        "=",
    ];
    let parts = 1 + hostile.below(5);
    let scalar: String = (0..parts).map(|_| PARTS[hostile.below(PARTS.len())]).collect();
    // What begins so is a list item or a separator.
    if scalar == "-" || scalar.starts_with("---") { "0".to_owned() } else { scalar }
}

fn object(data: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Example", "metadata": {"name": "a"}, "data": data})
}

#[test]
fn kubectl_reads_what_is_written_as_it_was() {
    let mut hostile = Hostile::new(3);
    let data: Vec<Value> = (0..10_000).map(|_| hostile.value(4)).collect();
    let read = read(&yaml::to_string(&object(&data.clone().into())));
    for (index, written) in data.iter().enumerate() {
        assert_eq!(&read["data"][index], written);
    }
}

#[test]
fn kubectl_reads_double_quoted_text_as_it_was() {
    let mut hostile = Hostile::new(4);
    let texts: Vec<String> = (0..10_000).map(|_| hostile.text()).collect();
    let list: Vec<String> = texts.iter().map(|text| format!("- {}\n", yaml::double_quoted(text))).collect();
    let text = yaml::to_string(&object(&Value::Null)) + "texts:\n" + &list.concat();
    assert_eq!(read(&text)["texts"], json!(texts));
}

#[test]
fn kubectl_reads_plain_scalars_alike() {
    let mut hostile = Hostile::new(5);
    let alone = |scalar: &str| Some(yaml::read(format!("x: {scalar}").as_bytes()).ok()?.remove(0).value["x"].take());
    let scalars =
        (0..20_000).map(|_| scalar(&mut hostile)).filter_map(|scalar| alone(&scalar).map(|value| (scalar, value)));
    let scalars: Vec<(String, Value)> = scalars.collect();
    let list: Vec<String> = scalars.iter().map(|(scalar, _)| format!("- {scalar}\n")).collect();
    let read = read(&(yaml::to_string(&object(&Value::Null)) + "scalars:\n" + &list.concat()));
    // Both spell a large float their own way.
    let same = |value: &Value| value.as_f64().map_or_else(|| value.clone(), Value::from);
    for (index, (scalar, value)) in scalars.iter().enumerate() {
        assert_eq!(same(&read["scalars"][index]), same(value), "{scalar}");
    }
}
