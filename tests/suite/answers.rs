//! Answers that a real API server gives rarely or never: a webhook's, a proxy's page, endless texts, times that no clock holds.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::{Value, json};

use crate::connection::Folder;
use crate::network::answers;
use crate::program::config;

fn status(code: u16, reason: &str, message: &str, causes: &Value) -> (String, String) {
    let details = json!({"name": "x", "causes": causes});
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason,
        "details": details, "code": code});
    (format!("{code} {reason}"), status.to_string())
}

/// What `diff` says about the `ConfigMap` when an apply of it is answered so; nothing else is there, and all else may be applied.
fn compared(answer: impl Fn() -> (String, String) + Send + Sync + 'static) -> String {
    let port = answers(move |request| match request.split(' ').collect::<Vec<_>>()[..2] {
        ["GET", "/apis"] => ("200 OK".to_owned(), json!({"groups": []}).to_string()),
        ["GET", _] => status(404, "NotFound", "not found", &json!([])),
        ["PATCH", path] if path.contains("configmaps") => answer(),
        _ => ("201 Created".to_owned(), json!({"apiVersion": "v1", "kind": "Any", "metadata": {}}).to_string()),
    });
    let folder = Folder::new();
    folder.write("config.json", &config());
    let said = folder.run("", &format!("diff -q -o name --server=http://127.0.0.1:{port} -f DIR/config.json"));
    let about: Vec<&str> = said.lines().filter(|line| line.starts_with("2>") || line.starts_with("exit")).collect();
    about.join("\n") + "\n"
}

#[test]
fn a_webhook_that_speaks_of_immutable_fields_is_a_webhook_with_its_text() {
    let causes = json!([{"reason": "FieldValueInvalid", "field": "spec.image", "message": "field is immutable"}]);
    let message = "admission webhook \"images.example.com\" denied the request: spec.image: field is immutable";
    let said = [422, 403, 400, 409].map(|code| {
        let causes = causes.clone();
        compared(move || status(code, "Invalid", message, &causes))
    });
    assert_eq!(said.iter().collect::<std::collections::BTreeSet<_>>().len(), 1);
    expect![[r#"
        2> error: cannot compare configmap/bpfman-config in ebpf: admission webhook "images.example.com" denied the request: spec.image: field is immutable
        exit 4
    "#]].assert_eq(&said[0]);
}

#[test]
fn causes_are_told_in_one_order_and_each_once() {
    let cause = |field: &str, message: &str| json!({"reason": "FieldValueInvalid", "field": field, "message": message});
    let causes = [
        cause("b", "two"),
        cause("a", "Invalid value: 7: one"),
        cause("b", "two"),
        cause("b", "field is not immutable"),
    ];
    let told = |causes: Value| compared(move || status(422, "Invalid", "x is invalid: [random order]", &causes));
    let said = told(json!(causes));
    assert_eq!(said, told(causes.iter().rev().cloned().collect()));
    expect![[r#"
        2> error: cannot compare configmap/bpfman-config in ebpf: invalid: a: Invalid value: 7: one; b: field is not immutable; b: two
        exit 4
    "#]].assert_eq(&said);
}

#[test]
fn a_conflict_without_causes_is_told_in_the_words_of_the_server() {
    let said = [
        ("AlreadyExists", "configmaps \"x\" already exists"),
        ("Conflict", "Operation cannot be fulfilled on configmaps \"x\": the object has been modified"),
        ("Conflict", "Precondition failed: UID in precondition: 1, UID in object meta: 2"),
    ]
    .map(|(reason, message)| compared(move || status(409, reason, message, &json!([]))));
    expect![[r#"
        2> error: cannot compare configmap/bpfman-config in ebpf: configmaps "x" already exists
        exit 4

        2> error: cannot compare configmap/bpfman-config in ebpf: Operation cannot be fulfilled on configmaps "x": the object has been modified
        exit 4

        2> error: cannot compare configmap/bpfman-config in ebpf: Precondition failed: UID in precondition: 1, UID in object meta: 2
        exit 4
    "#]].assert_eq(&said.join("\n"));
}

#[test]
fn an_object_that_was_replaced_is_not_told_to_be_deleted() {
    let uid = json!({"reason": "FieldValueInvalid", "field": "metadata.uid", "message": "Invalid value: \"1\": field is immutable"});
    let said = compared(move || status(422, "Invalid", "x is invalid", &json!([uid, uid])));
    expect![[r#"
        2> error: cannot compare configmap/bpfman-config in ebpf: the object was replaced since it was read: its uid differs
        exit 4
    "#]].assert_eq(&said);
}

#[test]
fn the_page_of_a_proxy_is_about_this_object_when_it_refuses_this_request() {
    let page = "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n</html>\r\n";
    let said = ["413 Request Entity Too Large", "403 Forbidden", "502 Bad Gateway"]
        .map(|status| compared(move || (status.to_owned(), page.to_owned())));
    expect![[r#"
        2> error: cannot compare configmap/bpfman-config in ebpf: HTTP 413 from http://SERVER: 413 Request Entity Too Large
        exit 4

        2> error: cannot compare configmap/bpfman-config in ebpf: HTTP 403 from http://SERVER: 413 Request Entity Too Large
        exit 4

        2> error: cannot compare configmap/bpfman-config in ebpf: HTTP 502 from http://SERVER: 413 Request Entity Too Large
        exit 5
    "#]].assert_eq(&said.join("\n"));
}

#[test]
fn a_long_text_keeps_its_beginning_and_its_end() {
    let message = format!("begins\n{}\nends", "ä, ".repeat(100_000));
    let said = compared(move || status(500, "InternalError", &message, &json!([])));
    assert!(said.contains("begins ä, ") && said.contains(" … (400011 bytes) … ") && said.contains("ends\n"), "{said}");
    assert!(said.len() < 1300, "{}", said.len());
}

/// Years of seconds, and dates, abort no program and are not waited for.
#[test]
fn retry_after_may_be_anything() {
    let times = ["18446744073709551615", "99999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "-1", "soon"];
    for time in times {
        let asked = Mutex::new(0);
        let begun = Instant::now();
        let said = compared(move || {
            *asked.lock().unwrap() += 1;
            (format!("429 Too Many Requests\r\nRetry-After: {time}"), "slow down".to_owned())
        });
        assert!(said.contains("HTTP 429 from") && said.ends_with("exit 5\n"), "{time}: {said}");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}

#[test]
fn a_date_in_retry_after_that_has_passed_is_now() {
    let asked = Mutex::new(0);
    let said = compared(move || {
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        match *asked {
            1 => ("503 Service Unavailable\r\nRetry-After: Wed, 21 Oct 2015 07:28:00 GMT".to_owned(), String::new()),
            _ => status(400, "BadRequest", "the second answer", &json!([])),
        }
    });
    assert!(said.contains("the second answer"), "{said}");
}
