//! No string of a Config becomes anything else on its way to the cluster: kubectl reads each in its place, and the rest as it is.
//!
//! The places are those that the operator writes to, listed here once more: what the templates make is held against this list.

use bpfman_config::config::{Config, Origin};
use bpfman_config::render::{Platform, render};
use bpfman_config::templates::Templates;
use bpfman_config::yaml;
use serde_json::{Deserializer, Value, json};

use crate::controlplane::{self, Cluster};
use crate::hostile::Hostile;
use crate::program::live;
use crate::render::{UID, fixture};

/// Configs on each platform: 20,004 strings in all.
const CONFIGS: usize = 1667;

/// What stands in for an empty `csiRegistrarImage`.
const REGISTRAR: &str = "quay.io/bpfman/csi-node-driver-registrar:v2.13.0";

/// A field of the Config, and the places that it is written to: the object's name, and where in it.
type Field = (&'static str, &'static [(&'static str, &'static str)]);

const FIELDS: [Field; 6] = [
    (
        "/spec/configuration",
        &[
            ("bpfman-config", "/data/bpfman.toml"),
            ("bpfman-daemon", "/spec/template/metadata/annotations/bpfman.io.bpfman.toml"),
        ],
    ),
    (
        "/spec/daemon/logLevel",
        &[
            ("bpfman-config", "/data/bpfman.log.level"),
            ("bpfman-daemon", "/spec/template/metadata/annotations/bpfman.io.bpfman.log.level"),
        ],
    ),
    (
        "/spec/agent/logLevel",
        &[
            ("bpfman-config", "/data/bpfman.agent.log.level"),
            ("bpfman-daemon", "/spec/template/metadata/annotations/bpfman.io.bpfman.agent.log.level"),
        ],
    ),
    ("/spec/daemon/csiRegistrarImage", &[("bpfman-daemon", "/spec/template/spec/containers/2/image")]),
    ("/spec/daemon/image", &[("bpfman-daemon", "/spec/template/spec/containers/0/image")]),
    (
        "/spec/agent/image",
        &[
            ("bpfman-daemon", "/spec/template/spec/initContainers/0/image"),
            ("bpfman-daemon", "/spec/template/spec/containers/1/image"),
            ("bpfman-metrics-proxy", "/spec/template/spec/containers/0/image"),
        ],
    ),
];

/// A string for each field. Only some have bounds: what must not be empty, and images, which have no blanks around them.
fn strings(hostile: &mut Hostile) -> Vec<String> {
    let fits = |field: &str, text: &str| match field {
        "/spec/configuration" => !text.is_empty(),
        "/spec/daemon/csiRegistrarImage" => text.trim() == text,
        "/spec/daemon/image" | "/spec/agent/image" => !text.is_empty() && text.trim() == text,
        _ => true,
    };
    let mut string = |field: &str| loop {
        let text = if hostile.below(500) == 0 { hostile.long_text(64 << 10) } else { hostile.text() };
        if fits(field, &text) {
            break text;
        }
    };
    FIELDS.iter().map(|(field, _)| string(field)).collect()
}

fn objects(config: &Value, platform: Platform) -> Vec<Value> {
    let (config, _) = Config::read(config, "bpfman-config", Origin::Live).expect("a Config");
    let rendered = render(&config, UID, &Templates::builtin(), platform, None).expect("manifests");
    rendered.manifests.into_iter().map(|manifest| manifest.object).collect()
}

/// What the fixture becomes, with the strings put where they belong.
fn expected(plain: &Value, strings: &[String]) -> Value {
    let mut object = plain.clone();
    for ((field, places), text) in FIELDS.iter().zip(strings) {
        let text = if text.is_empty() && *field == "/spec/daemon/csiRegistrarImage" { REGISTRAR } else { text };
        for (_, place) in places.iter().filter(|(name, _)| plain["metadata"]["name"] == **name) {
            *object.pointer_mut(place).expect("the place") = json!(text);
        }
    }
    object
}

fn check(cluster: &Cluster, platform: Platform, seed: u64) {
    let mut hostile = Hostile::new(seed);
    let plain = objects(&fixture(), platform);
    let (mut text, mut awaited) = (String::new(), Vec::new());
    for _ in 0..CONFIGS {
        let strings = strings(&mut hostile);
        let mut config = fixture();
        for ((field, _), text) in FIELDS.iter().zip(&strings) {
            *config.pointer_mut(field).unwrap() = json!(text);
        }
        let objects = objects(&config, platform);
        assert_eq!(objects.len(), plain.len());
        for (object, plain) in objects.iter().zip(&plain) {
            let expected = expected(plain, &strings);
            if expected == *plain {
                // It holds no string: nothing for kubectl to misread.
                assert_eq!(object, plain);
            } else {
                text += &("---\n".to_owned() + &yaml::to_string(object));
                awaited.push(expected);
            }
        }
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let words = ["create", "--dry-run=client", "--validate=false", "--output=json", "--filename"];
    let read = cluster.kubectl_ok(&[&words[..], &[file.path().to_str().unwrap()]].concat());
    let read: Vec<Value> = Deserializer::from_str(&read).into_iter().map(Result::unwrap).collect();
    assert_eq!(read.len(), awaited.len());
    for (read, awaited) in read.iter().zip(&awaited) {
        assert_eq!(read, awaited);
    }
}

#[test]
fn kubectl_reads_every_string_of_a_config_as_it_was_in_its_place() {
    let cluster = Cluster::start(controlplane::Platform::ALL);
    std::thread::scope(|scope| {
        scope.spawn(|| check(&cluster, Platform { openshift: false, monitoring: true }, 6));
        scope.spawn(|| check(&cluster, Platform { openshift: true, monitoring: false }, 7));
    });
}

/// kubectl's own server-side apply is refused by the server, or changes U+0085 into a space: such a text is warned of.
#[test]
fn control_characters_survive_the_way_through_kubectl() {
    let cluster = Cluster::start(controlplane::Platform::PLAIN);
    cluster.kubectl_ok(&["create", "namespace", "ebpf"]);
    let all: String = ('\u{1}'..='\u{a0}').chain(['\u{ad}', '\u{2028}', '\u{feff}', '\u{fffe}', '\u{ffff}']).collect();
    let texts = [all.replace(char::is_whitespace, ""), all, "a\u{85}b \u{85} c".to_owned(), "\u{9b}31m".to_owned()];
    for text in texts {
        let mut config = fixture();
        config["spec"]["daemon"]["logLevel"] = json!(text);
        let objects = objects(&config, Platform::default());
        let config_map = objects.iter().find(|object| object["kind"] == "ConfigMap").unwrap();
        let file = cluster.kubeconfig().with_file_name("map.yaml");
        std::fs::write(&file, yaml::to_string(config_map)).unwrap();
        cluster.kubectl_ok(&["apply", "-f", file.to_str().unwrap()]);
        let stored = &live(&cluster, &["configmap/bpfman-config"])[0];
        assert_eq!(stored["data"]["bpfman.log.level"], json!(text));
    }
}
