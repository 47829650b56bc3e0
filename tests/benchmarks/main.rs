//! What reading and rendering cost: time, and the most memory that is held at once (`max alloc`, the text of the file included).
//!
//! `cargo bench`, or `cargo bench -- templates` for some. Everything is read from disk, as the program does it.
#![allow(missing_docs, reason = "nobody links against it")]
#![allow(clippy::expect_used, reason = "a benchmark may end by panicking")]

use std::fs;
use std::path::Path;

use bpfman_config::config::file;
use bpfman_config::render::{Platform, render};
use bpfman_config::templates::Templates;
use bpfman_config::yaml;
use divan::{AllocProfiler, Bencher};
use tempfile::{NamedTempFile, TempDir};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

const CONFIG: &str = include_str!("../demo/config.yaml");
const BOTH: Platform = Platform { openshift: true, monitoring: true };

/// A file as large as one may be.
const LARGEST: usize = yaml::LARGEST_FILE;

/// A document nearly as large as one may be.
const LARGE: usize = yaml::LARGEST_DOCUMENT - 100;

fn main() {
    divan::main();
}

/// Reads a Config, renders its objects with the templates, and writes them.
fn rendered(config: &Path, templates: &Templates) -> String {
    let text = fs::read(config).expect("the file");
    let read = file::read("config.yaml", &text, "bpfman-config").expect("a Config");
    let rendered = render(&read.config, None, templates, BOTH, None).expect("manifests");
    rendered.manifests.iter().map(|manifest| yaml::to_string(&manifest.object)).collect()
}

fn written(text: &str) -> NamedTempFile {
    let file = NamedTempFile::new().expect("a file");
    fs::write(file.path(), text).expect("a file");
    file
}

/// From the file of the Config to the YAML of all objects.
#[divan::bench]
fn a_config(bencher: Bencher) {
    let file = written(CONFIG);
    bencher.bench(|| rendered(file.path(), &Templates::builtin()));
}

/// The same with so many templates in a folder beside the built-in ones.
#[divan::bench(args = [500, 1000, 2000], sample_count = 10, sample_size = 1)]
fn templates(bencher: Bencher, count: usize) {
    let (config, folder) = (written(CONFIG), TempDir::new().expect("a folder"));
    for number in 0..count {
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own-{number}\n  namespace: {{{{ namespace }}}}\n  labels:\n    \
             app: own\n    number: \"{number}\"\ndata:\n  a: {{{{ configuration }}}}\n  b: {{{{ \"x-\" ~ agent.image }}}}\n"
        );
        fs::write(folder.path().join(format!("own-{number}.yaml")), text).expect("a template");
    }
    bencher.bench(|| {
        let (templates, _) = Templates::with_overlay(folder.path()).expect("templates");
        rendered(config.path(), &templates)
    });
}

/// 20 MB of documents, all of which are read to the end.
#[divan::bench(args = ["tiny YAML", "tiny JSON", "scalars", "mappings", "anchors", "JSON mappings"], sample_count = 5, sample_size = 1)]
fn large_file(bencher: Bencher, of: &str) {
    let fields = |field: &dyn Fn(usize) -> String| (0..49_900).map(field).collect::<String>();
    let document = match of {
        "tiny YAML" => "a: 1\n---\n".to_owned(),
        "tiny JSON" => "{}".to_owned(),
        "scalars" => format!("a: {}\n---\n", "x".repeat(LARGE)),
        "mappings" => format!("a:\n{}---\n", fields(&|number| format!("  b{number}: 1\n"))),
        "anchors" => format!("a:\n{}---\n", fields(&|number| format!("  b{number}: &b{number} 1\n"))),
        _ => format!("{{\"a\": {{{}\"c\": 1}}}}\n", fields(&|number| format!("\"b{number}\":{{}},"))),
    };
    refused(bencher, &document.repeat(LARGEST / document.len()));
}

/// One document that costs more than it should.
#[divan::bench(
    args = ["dense list", "dense JSON", "JSON mapping", "merges", "deep", "deep blocks", "long key", "block", "unknown fields"],
    sample_count = 5,
    sample_size = 1,
)]
fn hostile_document(bencher: Bencher, of: &str) {
    let numbered = |count: usize, text: &dyn Fn(usize) -> String| (0..count).map(text).collect::<String>();
    let text = match of {
        "dense list" => format!("a: [{}]", "[],".repeat(LARGE / 3)),
        "dense JSON" => format!("{{\"a\": [{}[]]}}", "[],".repeat(LARGE / 3)),
        "JSON mapping" => format!("{{{}\"b\":1}}", numbered(260_000, &|number| format!("\"a{number}\":1,"))),
        "merges" => format!("a: &a {{b: 1}}\nc:\n{}", "- <<: *a\n".repeat(100_000)),
        "deep" => format!("a: {}", "[".repeat(LARGE)),
        "deep blocks" => format!("a:\n  {}x", "- ".repeat(LARGE / 2)),
        "long key" => format!("\"{}\": 1", "a".repeat(LARGE)),
        "block" => format!("a: |\n{}", "  x\n".repeat(LARGE / 4)),
        _ => format!("{CONFIG}{}", numbered(49_000, &|number| format!("x{number}: 1\n"))),
    };
    refused(bencher, &text);
}

fn refused(bencher: Bencher, text: &str) {
    let file = written(text);
    bencher.bench(|| {
        let text = fs::read(file.path()).expect("the file");
        file::read("config.yaml", &text, "bpfman-config").expect_err("no Config")
    });
}
