//! The three ways in which text that somebody wrote comes in, and what must hold for any bytes at all.
//!
//! Shared by the fuzz targets and the suite. Each ends with a panic when something does not hold; no network, no file.

use bpfman_config::config::{self, Config, Origin};
use bpfman_config::path::{FieldPath, Step};
use bpfman_config::problem::Problem;
use bpfman_config::render::{Platform, render};
use bpfman_config::templates::Templates;
use bpfman_config::yaml;
use serde_json::{Value, json};

/// Written documents that are larger than this are not read again: escapes may make them larger than a document may be.
const LARGEST_WRITTEN: usize = 256 << 10;

/// Reads YAML: what was read is read again from what is written of it, and each of its values has a place in the text.
pub fn yaml(data: &[u8]) {
    let lines = lines(data);
    let documents = match yaml::read(data) {
        Ok(documents) => documents,
        Err(error) => {
            assert!((1..=lines).contains(&error.line) && error.column > 0 && !error.to_string().is_empty());
            return;
        }
    };
    for (number, document) in documents.iter().enumerate() {
        let written = yaml::lines(&document.value);
        let place = |path: &FieldPath| yaml::locate(data, number, path).expect("the document is there");
        // One of its values, another one for other bytes; then one that is not there.
        let path = &written[data.len() % written.len()].path;
        for path in [path, &path.field("no such"), &path.join(Step::Index(data.len()))] {
            let (line, column) = place(path);
            assert!((1..=lines).contains(&line) && column > 0);
        }
        let text = yaml::to_string(&document.value);
        if text.len() < LARGEST_WRITTEN {
            let again = yaml::read(text.as_bytes()).expect("what was written");
            assert_eq!(again.iter().map(|document| &document.value).collect::<Vec<_>>(), [&document.value]);
        }
    }
}

/// Reads a Config from a file: it is rendered, and is the same once it was written; or all problems have a place and words.
pub fn config(data: &[u8]) {
    match config::file::read("file", data, config::DEFAULT_NAME) {
        Ok(read) => {
            let text = yaml::to_string(&read.object);
            let again = config::file::read("file", text.as_bytes(), config::DEFAULT_NAME).expect("what was written");
            assert_eq!(again.config, read.config);
            if let Err(problems) = render(&read.config, None, &Templates::builtin(), Platform::default(), None) {
                check(&problems, None);
            }
        }
        Err(problems) => check(&problems, Some(data)),
    }
}

/// Evaluates a template of one's own, beside no other: objects, or problems.
pub fn templates(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let templates = Templates::from_texts([("own.yaml", text)]);
    let platform = Platform { openshift: true, monitoring: false };
    match render(&own_config(), Some("1"), &templates, platform, Some("Always")) {
        Ok(rendered) => assert_eq!(rendered.manifests.len() + rendered.excluded.len(), 1),
        Err(problems) => check(&problems, Some(data)),
    }
}

/// A problem has words, and no place that is not in the text.
fn check(problems: &[Problem], text: Option<&[u8]>) {
    let lines = text.map(lines);
    assert!(!problems.is_empty());
    for problem in problems {
        assert!(!problem.message.is_empty() && !problem.to_string().is_empty());
        if let Some((line, lines)) = problem.line.zip(lines) {
            assert!((1..=lines).contains(&line) && problem.column != Some(0), "{problem}");
        }
    }
}

/// The last line that can be told: that of the end, where a final newline is taken for granted.
fn lines(text: &[u8]) -> usize {
    1 + text.split(|byte| *byte == b'\n').count()
}

fn own_config() -> Config {
    let value: Value = json!({
        "apiVersion": "bpfman.io/v1alpha1",
        "kind": "Config",
        "metadata": {"name": "bpfman-config", "uid": "1"},
        "spec": {
            "namespace": "ebpf",
            "configuration": "[a]\nb = \"c\"\n",
            "agent": {"image": "a:1", "logLevel": "debug"},
            "daemon": {"image": "b:2", "logLevel": "info"},
        },
    });
    Config::read(&value, config::DEFAULT_NAME, Origin::Live).expect("a Config").0
}
