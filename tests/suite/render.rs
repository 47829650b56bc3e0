//! What the Config becomes on each platform, as golden files (`UPDATE_EXPECT=1` writes them), and what never changes.

use bpfman_config::config::{Config, Origin};
use bpfman_config::problem::Problem;
use bpfman_config::render::{Platform, Rendered, render};
use bpfman_config::templates::Templates;
use bpfman_config::yaml;
use expect_test::{ExpectFile, expect, expect_file};
use serde_json::{Value, json};

pub(crate) const PLAIN: Platform = Platform { openshift: false, monitoring: false };
pub(crate) const BOTH: Platform = Platform { openshift: true, monitoring: true };

/// The uid of the Config.
pub(crate) const UID: Option<&str> = Some("0dd5c0de-1111-4222-8333-444455556666");

/// A Config of which every value differs from the defaults and from every other.
pub(crate) fn fixture() -> Value {
    json!({
        "apiVersion": "bpfman.io/v1alpha1",
        "kind": "Config",
        "metadata": {"name": "bpfman-config", "uid": UID},
        "spec": {
            "namespace": "ebpf",
            "configuration": "[database]\nmax_retries = 35\n\n[signing]\nallow_unsigned = false\n",
            "agent": {"image": "registry.example/agent:v1", "logLevel": "debug", "healthProbePort": 9000},
            "daemon": {
                "image": "registry.example/daemon:v2",
                "logLevel": "bpfman=info",
                "csiRegistrarImage": "registry.example/registrar:v3",
            },
        },
    })
}

/// Reads it as the server's: one that stands in a file may not hold every text.
pub(crate) fn read(value: &Value) -> Config {
    Config::read(value, "bpfman-config", Origin::Live).expect("a valid Config").0
}

pub(crate) fn lines(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

pub(crate) fn names(rendered: &Rendered) -> Vec<String> {
    rendered.manifests.iter().map(|manifest| manifest.id.to_string()).collect()
}

fn check(openshift: bool, monitoring: bool, golden: &ExpectFile) {
    let platform = Platform { openshift, monitoring };
    let rendered =
        render(&read(&fixture()), UID, &Templates::builtin(), platform, Some("IfNotPresent")).expect("manifests");
    let documents = rendered.manifests.iter().map(|manifest| yaml::to_string(&manifest.object));
    golden.assert_eq(&documents.collect::<Vec<_>>().join("---\n"));
}

#[test]
fn the_objects_of_a_plain_cluster() {
    check(false, false, &expect_file!["../golden/plain.yaml"]);
}

#[test]
fn the_objects_of_a_cluster_with_monitoring() {
    check(false, true, &expect_file!["../golden/monitoring.yaml"]);
}

#[test]
fn the_objects_of_openshift() {
    check(true, false, &expect_file!["../golden/openshift.yaml"]);
}

#[test]
fn the_objects_of_openshift_with_monitoring() {
    check(true, true, &expect_file!["../golden/openshift-monitoring.yaml"]);
}

#[test]
fn the_order_is_that_of_applying() {
    let rendered = render(&read(&fixture()), UID, &Templates::builtin(), BOTH, None).expect("manifests");
    expect![[r#"
        namespace/ebpf
        clusterrole.rbac.authorization.k8s.io/bpfman-user
        clusterrolebinding.rbac.authorization.k8s.io/bpfman-privileged-scc
        clusterrolebinding.rbac.authorization.k8s.io/bpfman-prometheus-metrics-reader
        role.rbac.authorization.k8s.io/bpfman-prometheus-k8s
        rolebinding.rbac.authorization.k8s.io/bpfman-prometheus-k8s
        securitycontextconstraints.security.openshift.io/bpfman-restricted
        csidriver.storage.k8s.io/csi.bpfman.io
        configmap/bpfman-config
        service/bpfman-agent-metrics-service
        service/bpfman-controller-manager-metrics-service
        servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor
        servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor
        daemonset.apps/bpfman-daemon
        daemonset.apps/bpfman-metrics-proxy"#]]
    .assert_eq(&names(&rendered).join("\n"));
}

#[test]
fn settings_that_are_not_there_get_their_defaults() {
    let mut config = fixture();
    config["spec"]["agent"] = json!({"image": "registry.example/agent:v1"});
    config["spec"]["daemon"] = json!({"image": "registry.example/daemon:v2", "csiRegistrarImage": ""});
    let rendered = render(&read(&config), None, &Templates::builtin(), PLAIN, Some("")).expect("manifests");
    let objects: Vec<&Value> = rendered.manifests.iter().map(|manifest| &manifest.object).collect();
    let pods = &objects[3]["spec"]["template"];
    let shown = json!({
        "owners": objects.iter().map(|object| &object["metadata"]["ownerReferences"]).collect::<Vec<_>>(),
        "data": objects[2]["data"],
        "annotations": pods["metadata"]["annotations"],
        "registrar": pods["spec"]["containers"][2]["image"],
        "policy": pods["spec"]["containers"][2]["imagePullPolicy"],
        "args": pods["spec"]["containers"][1]["args"],
    });
    expect![[r#"
        {
          "annotations": {
            "bpfman.io.bpfman.agent.log.level": "",
            "bpfman.io.bpfman.log.level": "",
            "bpfman.io.bpfman.toml": "[database]\nmax_retries = 35\n\n[signing]\nallow_unsigned = false\n"
          },
          "args": [
            "--health-probe-bind-address=:8175"
          ],
          "data": {
            "bpfman.agent.log.level": "",
            "bpfman.log.level": "",
            "bpfman.toml": "[database]\nmax_retries = 35\n\n[signing]\nallow_unsigned = false\n"
          },
          "owners": [
            null,
            null,
            null,
            null
          ],
          "policy": null,
          "registrar": "quay.io/bpfman/csi-node-driver-registrar:v2.13.0"
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&shown).unwrap());
}

/// At 262144 bytes of annotations the API server still takes the `DaemonSet`, above it only the `ConfigMap`.
#[test]
fn a_configuration_too_large_for_an_annotation_is_refused() {
    let keys =
        "bpfman.io.bpfman.toml".len() + "bpfman.io.bpfman.log.level".len() + "bpfman.io.bpfman.agent.log.level".len();
    let room = (256 << 10) - keys - "bpfman=info".len() - "debug".len();
    let sized = |size: usize| {
        let mut config = fixture();
        config["spec"]["configuration"] = json!("x".repeat(size));
        render(&read(&config), UID, &Templates::builtin(), PLAIN, None)
    };
    assert_eq!(sized(room).map(|rendered| rendered.manifests.len()), Ok(4));
    expect![[r#"
        built-in daemonset-daemon.yaml:24:7: spec.template.metadata.annotations has 262145 bytes, at most 262144 are allowed; the largest is bpfman.io.bpfman.toml with 262071 bytes
    "#]].assert_eq(&lines(&sized(room + 1).unwrap_err()));
}

#[test]
fn no_value_changes_the_structure_of_a_manifest() {
    let hostile = [
        "\"",
        "'",
        "a: b",
        "a\nb: c\n",
        "\n---\nkind: Secret\n",
        "# x",
        " #",
        "{{ namespace }}",
        "{% if openshift %}",
        "{# #}",
        "- a",
        "[a",
        "{a",
        "*a",
        "&a",
        "!!int 1",
        "| ",
        "> ",
        "%YAML",
        "@",
        "`",
        "yes",
        "null",
        "~",
        "0644",
        "1e3",
        ".inf",
        "<<",
        "\u{0}\u{1}\u{7f}\u{85}\u{2028}\u{feff}",
        "tab\there",
        "\\n\\",
        "trailing \n\n",
        "\r\n",
        "🦀",
        "",
    ];
    let fields = [
        "/spec/configuration",
        "/spec/agent/image",
        "/spec/agent/logLevel",
        "/spec/daemon/image",
        "/spec/daemon/logLevel",
        "/spec/daemon/csiRegistrarImage",
    ];
    for (field, text) in fields.iter().flat_map(|field| hostile.iter().map(move |text| (field, text))) {
        let value = format!("x{text}x");
        let with = |text: &str| {
            let mut config = fixture();
            *config.pointer_mut(field).unwrap() = json!(text);
            render(&read(&config), UID, &Templates::builtin(), BOTH, None).expect("manifests").manifests
        };
        // The same objects as with a harmless value, once the one is put in the place of the other.
        let harmless = with("harmless").into_iter().map(|manifest| replaced(manifest.object, "harmless", &value));
        let hostile = with(&value).into_iter().map(|manifest| manifest.object);
        assert_eq!(hostile.collect::<Vec<_>>(), harmless.collect::<Vec<_>>(), "{field} {value:?}");
    }
}

fn replaced(value: Value, from: &str, to: &str) -> Value {
    match value {
        Value::String(text) if text == from => Value::from(to),
        Value::Array(items) => items.into_iter().map(|item| replaced(item, from, to)).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, replaced(value, from, to))).collect(),
        other => other,
    }
}
