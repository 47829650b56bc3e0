//! Answers of a real API server (1.36.3): a desired object, the live one, and the result of a forced dry run.

use serde_json::Value;

/// The field manager of every apply in the fixtures.
pub(crate) const MANAGER: &str = "bpfman-config";

pub(crate) struct Fixture {
    pub(crate) desired: Value,
    pub(crate) live: Value,
    pub(crate) wanted: Value,
}

pub(crate) fn fixture(name: &str) -> Fixture {
    let path = format!("{}/tests/fixtures/ownership/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let mut sides: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    Fixture { desired: sides["desired"].take(), live: sides["live"].take(), wanted: sides["wanted"].take() }
}
