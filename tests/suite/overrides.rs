//! Which objects an override leaves alone, and what is said about one that leaves none.

use bpfman_config::render::{Platform, render};
use bpfman_config::templates::Templates;
use expect_test::expect;
use serde_json::{Value, json};

use crate::render::{BOTH, PLAIN, UID, fixture, lines, read};

/// What is left alone, then the warnings, with `overrides` of apiVersion, kind, namespace, name.
fn report(overrides: &[[&str; 4]], platform: Platform) -> String {
    let mut config = fixture();
    let entry = |[api_version, kind, namespace, name]: &[&str; 4]| json!({"apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name, "unmanaged": true});
    config["spec"]["overrides"] = overrides.iter().map(entry).collect();
    let rendered = render(&read(&config), UID, &Templates::builtin(), platform, None).expect("manifests");
    let unmanaged: String = rendered.unmanaged.iter().map(|id| format!("{id}\n")).collect();
    assert!(rendered.manifests.iter().all(|manifest| !rendered.unmanaged.contains(&manifest.id)));
    format!("{unmanaged}{}", lines(&rendered.warnings))
}

/// bpfman-operator#475: the group counts, the version does not.
#[test]
fn unmanaged_objects_are_left_out() {
    let overrides = [
        ["apps/v1beta1", "DaemonSet", "ebpf", "bpfman-daemon"],
        ["v1", "ConfigMap", "ebpf", "bpfman-config"],
        ["storage.k8s.io/v1", "CSIDriver", "", "csi.bpfman.io"],
    ];
    expect![[r#"
        csidriver.storage.k8s.io/csi.bpfman.io
        configmap/bpfman-config
        daemonset.apps/bpfman-daemon
    "#]]
    .assert_eq(&report(&overrides, BOTH));
}

#[test]
fn an_override_without_effect_is_a_warning() {
    let overrides = [
        ["a/b/c", "DaemonSet", "ebpf", "bpfman-daemon"],
        ["v1", "DaemonSet", "ebpf", "bpfman-daemon"],
        ["storage.k8s.io/v1", "CSIDriver", "bpfman", "csi.bpfman.io"],
        ["v1", "ConfigMap", "bpfman", "bpfman-config"],
        ["v1", "Namespace", "", "ebpf"],
        ["v1", "Service", "ebpf", "bpfman-agent-metrics-service"],
        ["apps/v1", "DaemonSet", "ebpf", "bpfman-deamon"],
        ["apps/v1", "Daemonset", "ebpf", "bpfman-daemon"],
    ];
    expect![[r#"
        spec.overrides[0] has no effect: apiVersion "a/b/c" is not group/version
        spec.overrides[1] matches nothing: DaemonSet bpfman-daemon has apiVersion apps/v1
        spec.overrides[2] matches nothing: CSIDriver csi.bpfman.io has namespace ""
        spec.overrides[3] matches nothing: ConfigMap bpfman-config has namespace "ebpf"
        spec.overrides[4] has no effect: the namespace cannot be left unmanaged
        spec.overrides[5] has no effect: service/bpfman-agent-metrics-service is not rendered on this platform
        spec.overrides[6] matches nothing: no DaemonSet is named "bpfman-deamon"
        spec.overrides[7] matches nothing: no Daemonset is named "bpfman-daemon"
    "#]]
    .assert_eq(&report(&overrides, PLAIN));
}

#[test]
fn an_override_that_says_false_is_a_warning() {
    let mut config = fixture();
    config["spec"]["overrides"] = json!([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ebpf", "name": "bpfman-config", "unmanaged": false}]);
    let rendered = render(&read(&config), UID, &Templates::builtin(), PLAIN, None).expect("manifests");
    expect![[r#"
        spec.overrides[0] has no effect: unmanaged is false
    "#]]
    .assert_eq(&lines(&rendered.warnings));
    assert_eq!((rendered.manifests.len(), rendered.unmanaged), (4, vec![]));
}

/// Every object but the namespace can be left alone, on every platform.
#[test]
fn all_objects_can_be_left_alone() {
    let wanted = render(&read(&fixture()), UID, &Templates::builtin(), BOTH, None).expect("manifests").manifests;
    let entry = |id: &bpfman_config::manifest::ObjectId| {
        let namespace = id.namespace.clone().unwrap_or_default();
        json!({"apiVersion": id.api_version, "kind": id.kind, "namespace": namespace, "name": id.name, "unmanaged": true})
    };
    let mut config = fixture();
    config["spec"]["overrides"] = wanted.iter().skip(1).map(|manifest| entry(&manifest.id)).collect::<Value>();
    let counts = [(false, false), (false, true), (true, false), (true, true)].map(|(openshift, monitoring)| {
        let platform = Platform { openshift, monitoring };
        let rendered = render(&read(&config), UID, &Templates::builtin(), platform, None).expect("manifests");
        (rendered.manifests.len(), rendered.unmanaged.len())
    });
    assert_eq!(counts, [(1, 3), (1, 8), (1, 6), (1, 14)]);
}
