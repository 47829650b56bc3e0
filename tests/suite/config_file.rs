//! A Config in a file: that there is one, and where its problems stand.

use bpfman_config::config::file;
use expect_test::expect;

use crate::render::{fixture, lines};

fn check(text: &str) -> String {
    match file::read("FILE", text.as_bytes(), "bpfman-config") {
        Ok(read) => format!("accepted\n{}", lines(&read.warnings)),
        Err(problems) => lines(&problems),
    }
}

#[test]
fn there_is_exactly_one_object_in_whichever_document() {
    let config = fixture();
    expect![[r#"
        accepted
        FILE: expected one Config, found 0 objects
        FILE: expected one Config, found 2 objects
        FILE:3:4: unclosed bracket '['
    "#]]
    .assert_eq(
        &[
            check(&format!("items: []\n---\n# c\n---\n{{\"items\": [{config}]}}\n")),
            check("items: []\n"),
            check(&format!("{config}\n---\na: 1\n")),
            check(&format!("{config}\n---\na: [\n")),
        ]
        .concat(),
    );
}

#[test]
fn places_and_numbers_are_those_of_the_file() {
    let text = "items: []\n---\nkind: List\nitems:\n- kind: Config\n  spec:\n    agent: {image: 1.10}\n";
    expect![[r#"
        FILE:5:3: apiVersion is missing
        FILE:5:3: metadata is missing
        FILE:7:5: spec.configuration is missing
        FILE:7:5: spec.daemon is missing
        FILE:7:5: spec.namespace is missing
        FILE:7:13: spec.agent.image is the number 1.10, must be a string
    "#]]
    .assert_eq(&check(text));
}

#[test]
fn of_very_many_problems_some_are_told() {
    let fields: String = (0..30_000).map(|number| format!("x{number}: 1\n")).collect();
    let problems = file::read("FILE", fields.as_bytes(), "bpfman-config").unwrap_err();
    expect![[r#"
        FILE:1:1: x0 is an unknown field
        FILE: there are more problems, which are not shown
    "#]]
    .assert_eq(&lines(&[problems[0].clone(), problems[problems.len() - 1].clone()]));
}
