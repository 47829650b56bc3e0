//! A Config in a file: that there is one, and where its problems stand.

use bpfman_config::config::file;
use expect_test::{Expect, expect};

use crate::render::{fixture, lines};

fn check(text: &str, expected: &Expect) {
    let said = match file::read("FILE", text.as_bytes(), "bpfman-config") {
        Ok(read) => format!("accepted\n{}", lines(&read.warnings)),
        Err(problems) => lines(&problems),
    };
    expected.assert_eq(&said);
}

#[test]
fn there_is_exactly_one_object_in_whichever_document() {
    let config = fixture();
    check(
        &format!("items: []\n---\n# c\n---\n{{\"items\": [{config}]}}\n"),
        &expect![[r#"
        accepted
    "#]],
    );
    check(
        "items: []\n",
        &expect![[r#"
        FILE: expected one Config, found 0 objects
    "#]],
    );
    check(
        &format!("{config}\n---\na: 1\n"),
        &expect![[r#"
        FILE: expected one Config, found 2 objects
    "#]],
    );
    check(
        &format!("{config}\n---\na: [\n"),
        &expect![[r#"
        FILE:4:1: did not find expected node content while parsing a flow node
    "#]],
    );
}

#[test]
fn places_are_those_of_the_file() {
    let text = "items: []\n---\nkind: List\nitems:\n- kind: Config\n  spec:\n    agent: {image: 1}\n";
    check(
        text,
        &expect![[r#"
        FILE:5:3: apiVersion is missing
        FILE:5:3: metadata is missing
        FILE:7:13: spec.agent.image is the number 1, must be a string
        FILE:7:5: spec.configuration is missing
        FILE:7:5: spec.daemon is missing
        FILE:7:5: spec.namespace is missing
    "#]],
    );
}

#[test]
fn of_very_many_problems_some_are_told() {
    let fields: String = (0..30_000).map(|number| format!("x{number}: 1\n")).collect();
    let problems = file::read("FILE", fields.as_bytes(), "bpfman-config").unwrap_err();
    expect![[r#"
        FILE:1:1: x0 is not a field of a Config
        FILE: 29984 more are not shown
    "#]]
    .assert_eq(&lines(&[problems[0].clone(), problems[problems.len() - 1].clone()]));
}
