//! Wrong input of every kind, as people write it, and all that the program says about it: `tests/golden/wrong-inputs.txt`.
//!
//! The program runs in a folder that holds the input, without home, kubeconfig or network.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use expect_test::expect_file;

use crate::program::PROGRAM;

/// A Config to break, one line a field.
const CONFIG: &str = "apiVersion: bpfman.io/v1alpha1
kind: Config
metadata:
  name: bpfman-config
spec:
  namespace: bpfman
  agent:
    image: quay.io/bpfman/bpfman-agent:v0.6.0
    healthProbePort: 8175
  daemon:
    image: quay.io/bpfman/bpfman:v0.6.0
    logLevel: info
  configuration: |
    [database]
    max_retries = 30
";

/// An object to break, as a template.
const TEMPLATE: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: extra
  namespace: {{ namespace }}
data:
  key: value
";

/// What is wrong, in a few words, and the Config that is.
fn configs() -> Vec<(&'static str, Vec<u8>)> {
    let with = |from: &str, to: &str| {
        assert!(CONFIG.contains(from), "{from}");
        CONFIG.replacen(from, to, 1).into_bytes()
    };
    vec![
        ("an empty file", Vec::new()),
        ("only comments", b"# nothing\n---\n# here\n".to_vec()),
        ("two Configs", format!("{CONFIG}---\n{CONFIG}").into_bytes()),
        ("a list at the top", b"- a\n- b\n".to_vec()),
        ("text at the top", b"i am a teapot\n".to_vec()),
        ("a tab as indentation", with("    image: quay.io/bpfman/bpfman:", "\timage: quay.io/bpfman/bpfman:")),
        ("a missing colon", with("  namespace: bpfman", "  namespace bpfman")),
        ("an unclosed quote", with("logLevel: info", "logLevel: \"info")),
        ("an unclosed bracket", with("  configuration: |", "  overrides: [\n  configuration: |")),
        ("UTF-16", CONFIG.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        (
            "Latin-1",
            with("info", "info # caf\u{e9}").into_iter().map(|byte| if byte == 0xc3 { 0xe9 } else { byte }).collect(),
        ),
        ("a control character", with("info", "in\u{7}fo")),
        ("a key twice", with("    logLevel: info", "    logLevel: info\n    image: other")),
        ("a tag", with("info", "!!str info")),
        ("an alias bomb", alias_bomb().into_bytes()),
        ("nested very deep", format!("a: {}", "[".repeat(5000)).into_bytes()),
        ("a number that is none", with("8175", ".nan")),
        ("text behind the end", with("kind: Config", "kind: Config\n...\nmore: 1")),
        ("another kind", with("kind: Config", "kind: Deployment")),
        ("another name", with("name: bpfman-config", "name: my-config")),
        (
            "the shape of 2025",
            with(
                "  daemon:\n    image: quay.io/bpfman/bpfman:v0.6.0\n    logLevel: info\n",
                "  image: a\n  logLevel: info\n",
            ),
        ),
        ("a port as text", with("8175", "\"8175\"")),
        ("a port out of bounds", with("8175", "70000")),
        ("no images", with("    image: quay.io/bpfman/bpfman:v0.6.0\n", "").into_iter().collect()),
        ("nulls", with("    logLevel: info", "    logLevel:\n  overrides: ~")),
        ("labels that are no text", with("  name: bpfman-config", "  name: bpfman-config\n  labels: {a: 1}")),
        ("carriage returns for newlines", format!("{CONFIG}---\n").replace('\n', "\r").into_bytes()),
        (
            "an image with a blank",
            with("bpfman:v0.6.0", "bpfman:v0.6.0 \n    logLevels: x\n    csiRegistrarImage: ' x'"),
        ),
        ("no namespace, and typos", with("  namespace: bpfman\n", "  namespase: bpfman\n  loglevel: info\n")),
        ("a namespace that is no name", with("namespace: bpfman", "namespace: Bpf_man")),
        ("text that is no TOML", with("[database]", "[database")),
        (
            "keys that bpfman does not know, and a port",
            with("max_retries", "max_retrys").into_iter().chain(*b"status: {}\nspecs: {}\n").collect(),
        ),
        ("a configuration over the limit", with("max_retries = 30", &format!("# {}", "x".repeat(300_000)))),
        ("a configuration that no ConfigMap holds", with("max_retries = 30", &format!("# {}", "x".repeat(1_100_000)))),
        (
            "the same override twice",
            with(
                "  configuration",
                &format!(
                    "  overrides:\n{o}{o}  configuration",
                    o = "  - {apiVersion: v1, kind: Service, namespace: a, name: b, unmanaged: true}\n"
                ),
            ),
        ),
    ]
}

fn alias_bomb() -> String {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let _ = writeln!(text, "a{level}: &a{level} [{}]", vec![format!("*a{}", level - 1); 10].join(", "));
    }
    text
}

/// What is wrong, in a few words, and the template that is.
fn templates() -> Vec<(&'static str, String)> {
    let with = |from: &str, to: &str| {
        assert!(TEMPLATE.contains(from), "{from}");
        TEMPLATE.replacen(from, to, 1)
    };
    vec![
        (
            "a Secret, of which no line is shown",
            with("ConfigMap", "Secret").replace("data:\n", "stringData:\n  key: hush\n"),
        ),
        ("a Secret with a number", with("ConfigMap", "Secret").replace("key: value", "key: 4711")),
        ("an empty template", String::new()),
        ("a name that does not exist", with("{{ namespace }}", "{{ namespase }}")),
        ("an expression without end", with("{{ namespace }}", "{{ namespace }")),
        ("a block without end", with("data:", "{% if openshift %}\ndata:")),
        ("a condition without sense", format!("# when: on openshift\n{TEMPLATE}")),
        ("a string inside quotes", with("{{ namespace }}", "\"{{ namespace }}\"")),
        ("two objects", format!("{TEMPLATE}---\n{TEMPLATE}")),
        ("no name", with("  name: extra\n", "")),
        ("no namespace", with("  namespace: {{ namespace }}\n", "")),
        ("a name that the API refuses", with("name: extra", "name: Extra_1")),
        ("an object that is there already", with("name: extra", "name: bpfman-config")),
        ("numbers where strings belong", with("key: value", "key: 1\n  other: yes")),
        ("typos", with("\ndata:", "\nbinarydata:").replace("name: extra", "name: extra\n  lables: {a: b}")),
        ("a name that the cluster makes up", with("name: extra", "name: extra\n  generateName: extra-")),
        ("more than a ConfigMap holds", with("key: value", &format!("key: {}", "x".repeat((1 << 20) + 1)))),
    ]
}

/// What is wrong, in a few words, and the words of the command.
const FLAGS: [(&str, &str); 10] = [
    ("an unknown flag", "render -f config.yaml --outptu json"),
    ("an unknown format", "render -f config.yaml -o yml"),
    ("a flag without its value", "render -f"),
    ("a file that is not there", "render -f missing.yaml"),
    ("a folder that is not there", "render -f config.yaml --templates missing"),
    ("another namespace", "render -f config.yaml -n other"),
    ("a pull policy that is none", "render -f config.yaml --image-pull-policy always"),
    ("a switch that is neither on nor off", "render -f config.yaml --quiet=maybe"),
    ("a name that leads elsewhere", "render --name bpfman-config/status"),
    ("a field manager without a name", "diff -f config.yaml --field-manager="),
];

/// Runs the program in `folder` and gives all it said.
fn run(folder: &Path, words: &str, input: &[u8]) -> String {
    let mut command = Command::new(PROGRAM);
    command.args(words.split_whitespace()).env_clear().current_dir(folder);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it");
    child.stdin.take().expect("its input").write_all(input).expect("room for it");
    let output = child.wait_with_output().expect("its end");
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{out}{error}exit {}\n", output.status.code().unwrap_or(-1))
}

#[test]
fn every_kind_of_wrong_input_is_named_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("own");
    fs::create_dir(&own).expect("a folder");
    let mut said = String::new();
    let mut tell = |what: &str, text: &str| write!(said, "== {what}\n{text}\n").expect("room");
    for (what, config) in configs() {
        fs::write(folder.path().join("config.yaml"), config).expect("a file");
        tell(what, &run(folder.path(), "render -q -f config.yaml", b""));
    }
    fs::write(folder.path().join("config.yaml"), CONFIG).expect("a file");
    for (what, template) in templates() {
        fs::write(own.join("extra.yaml"), template).expect("a file");
        tell(what, &run(folder.path(), "render -q -f config.yaml --templates own", b""));
    }
    for (what, words) in FLAGS {
        tell(what, &run(folder.path(), words, b""));
    }
    let overrides = "  overrides:\n  - {apiVersion: v1, kind: ConfigMap, namespace: bpfman, name: bpfman-config, unmanaged: true}\n  \
        - {apiVersion: v1, kind: Service, namespace: bpfman, name: none, unmanaged: true}\n  configuration";
    let without_effect = CONFIG.replace("  configuration", overrides).replace("max_retries", "max_retrys");
    tell(
        "no error, but worth a warning",
        &run(folder.path(), "render --quiet=false -f - -o name", without_effect.as_bytes()),
    );
    tell("on standard input", &run(folder.path(), "render -f -", b"spec: [a\n"));
    tell("for a machine", &run(folder.path(), "render -q -f - -o json", &CONFIG.replace("8175", "0").into_bytes()));
    expect_file!["../golden/wrong-inputs.txt"].assert_eq(&said);
}
