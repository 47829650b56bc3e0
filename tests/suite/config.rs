//! What a Config may be, and what is said about one that is not right.

use bpfman_config::config::{Config, Lifecycle, Origin, file};
use bpfman_config::problem::Problem;
use bpfman_config::render::render;
use bpfman_config::templates::Templates;
use expect_test::expect;
use serde_json::{Value, json};

use crate::render::{PLAIN, UID, fixture, lines};

/// Everything that is said about the fixture after `change`: problems, else warnings after a line that says so.
fn check(origin: Origin, change: impl FnOnce(&mut Value)) -> String {
    let mut config = fixture();
    change(&mut config);
    match Config::read(&config, "bpfman-config", origin) {
        Ok((_, warnings)) => format!("accepted\n{}", lines(&warnings)),
        Err(problems) => lines(&problems),
    }
}

#[test]
fn all_problems_are_named_in_one_run() {
    let change = |config: &mut Value| {
        config["spec"]["namespace"] = json!("");
        config["spec"]["configuration"] = json!(5);
        config["spec"]["agent"] = json!({"image": "", "healthProbePort": 70000, "logLevel": ["info"]});
        config["spec"]["daemon"] = json!({"image": null, "csiRegistrarImage": {}});
    };
    expect![[r#"
            spec.agent.image is empty
            spec.agent.healthProbePort is 70000, must be an integer from 1 to 65535
            spec.agent.logLevel is a list, must be a string
            spec.configuration is the number 5, must be a string
            spec.daemon.image is missing
            spec.daemon.csiRegistrarImage is an object, must be a string
            spec.namespace is empty
        "#]]
    .assert_eq(&check(Origin::File, change));
}

#[test]
fn the_port_has_bounds_and_is_a_number() {
    let ports = [json!(0), json!(-1), json!(65536), json!("8175"), json!(1.5), json!(65535)];
    let said = ports.map(|port| check(Origin::File, |config| config["spec"]["agent"]["healthProbePort"] = port));
    expect![[r#"
        spec.agent.healthProbePort is 0, must be an integer from 1 to 65535
        spec.agent.healthProbePort is -1, must be an integer from 1 to 65535
        spec.agent.healthProbePort is 65536, must be an integer from 1 to 65535
        spec.agent.healthProbePort is the string "8175", must be an integer from 1 to 65535
        spec.agent.healthProbePort is the number 1.5, must be an integer from 1 to 65535
        accepted
    "#]]
    .assert_eq(&said.concat());
}

#[test]
fn unknown_and_misplaced_fields_come_with_what_was_meant() {
    let change = |config: &mut Value| {
        config["spec"]["agent"]["imgae"] = json!("x");
        config["spec"]["daemon"]["healthProbePort"] = json!(9000);
        config["spec"]["logLevels"] = json!("info");
        config["spec"]["image"] = json!("x");
        config["configuration"] = json!("x");
        config["spec"]["daemon"]["tolerations"] = json!([]);
        config["metadata"]["label"] = json!({});
    };
    expect![[r#"
            configuration is an unknown field; did you mean spec.configuration?
            metadata.label is an unknown field; did you mean metadata.labels?
            spec.image was renamed to spec.daemon.image in January 2026 (bpfman-operator#488)
            spec.logLevels is an unknown field
            spec.agent.imgae is an unknown field; did you mean spec.agent.image?
            spec.daemon.healthProbePort is an unknown field; did you mean spec.agent.healthProbePort?
            spec.daemon.tolerations is an unknown field
        "#]]
    .assert_eq(&check(Origin::File, change));
}

/// The custom resource definition of the cluster may be newer than this program.
#[test]
fn an_unknown_field_of_a_live_config_is_a_warning() {
    expect![[r#"
            accepted
            spec.daemon.tolerations is an unknown field
        "#]]
    .assert_eq(&check(Origin::Live, |config| config["spec"]["daemon"]["tolerations"] = json!([])));
}

#[test]
fn the_shape_of_2025_is_explained() {
    let change = |config: &mut Value| {
        config["spec"] = json!({
            "image": "d", "logLevel": "info", "namespace": "bpfman", "configuration": "# x",
            "agent": {"image": "a", "healthProbeAddr": 8175},
            "overrides": [{"group": "apps", "kind": "DaemonSet", "namespace": "bpfman", "name": "bpfman-daemon", "unmanaged": true}],
        });
    };
    expect![[r#"
            spec.image was renamed to spec.daemon.image in January 2026 (bpfman-operator#488)
            spec.logLevel was renamed to spec.daemon.logLevel in January 2026 (bpfman-operator#488)
            spec.agent.healthProbeAddr was replaced by spec.agent.healthProbePort in September 2025 (bpfman-operator#478)
            spec.daemon is missing
            spec.overrides[0].group was replaced by apiVersion, for example apps/v1 (bpfman-operator#475)
            spec.overrides[0].apiVersion is missing
        "#]].assert_eq(&check(Origin::File, change));
}

#[test]
fn the_config_map_of_old_is_explained() {
    let change = |config: &mut Value| {
        *config = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "bpfman-config", "namespace": "bpfman"},
            "data": {"bpfman.image": "d", "bpfman.agent.healthprobe.addr": ":8175", "bpfman.toml": "x", "other": "y"},
        });
    };
    expect![[r#"
            kind is ConfigMap, must be Config: bpfman-operator no longer reads a ConfigMap (v0.5.6 and earlier did)
            data["bpfman.agent.healthprobe.addr"] was replaced by spec.agent.healthProbePort of the Config, an integer without a colon
            data["bpfman.image"] was replaced by spec.daemon.image of the Config
            data["bpfman.toml"] was replaced by spec.configuration of the Config
        "#]].assert_eq(&check(Origin::File, change));
}

#[test]
fn only_the_config_that_counts_is_accepted() {
    let change = |config: &mut Value| {
        config["apiVersion"] = json!("bpfman.io/v1");
        config["kind"] = json!("Configs");
        config["metadata"] = json!({"name": "my-config", "namespace": "bpfman"});
        config["spec"]["namespace"] = json!("Bad_Name");
    };
    expect![[r#"
        apiVersion is "bpfman.io/v1", must be bpfman.io/v1alpha1
        kind is "Configs", must be Config
        metadata.name is "my-config", must be bpfman-config
        spec.namespace is "Bad_Name", must consist of lowercase letters, digits and '-', and begin and end with a letter or digit
        accepted
        metadata.namespace is "bpfman" and has no effect: a Config is cluster-scoped
        the document is a list, must be an object
        spec is the string "x", must be an object
    "#]].assert_eq(
        &[
            check(Origin::File, change),
            check(Origin::File, |config| config["metadata"]["namespace"] = json!("bpfman")),
            check(Origin::File, |config| *config = json!([])),
            check(Origin::File, |config| config["spec"] = json!("x")),
        ]
        .concat(),
    );
}

#[test]
fn an_agent_log_level_that_the_agent_does_not_know_is_a_warning() {
    expect![[r#"
            accepted
            spec.agent.logLevel is "warn", which the agent treats as info; it supports info, debug and trace
        "#]]
    .assert_eq(&check(Origin::File, |config| config["spec"]["agent"]["logLevel"] = json!("warn")));
}

#[test]
fn overrides_are_checked_and_named_once() {
    let entry = json!({"apiVersion": "v1", "kind": "Service", "namespace": "ebpf", "name": "a", "unmanaged": true});
    let change = |config: &mut Value| {
        config["spec"]["overrides"] = json!([entry, entry, {"kind": "Service", "name": "b", "unmanaged": "yes"}, null]);
    };
    expect![[r#"
            spec.overrides[1] has the same kind, apiVersion, namespace, name as item [0]
            spec.overrides[2].apiVersion is missing
            spec.overrides[2].namespace is missing
            spec.overrides[2].unmanaged is the string "yes", must be true or false
            spec.overrides[3] is null, must be an object
        "#]]
    .assert_eq(&check(Origin::File, change));
}

/// To find the place of each would take longer than anybody waits.
#[test]
fn of_very_many_problems_the_first_are_told() {
    let mut text = fixture().to_string();
    text.pop();
    let fields: String = (0..20_000).map(|number| format!(",\"x{number}\":1")).collect();
    let problems = file::read("file", format!("{text}{fields}}}").as_bytes(), "bpfman-config").unwrap_err();
    let mut overrides = fixture();
    let entry = |number| json!({"apiVersion": "v1", "kind": "A", "namespace": "", "name": format!("b{number}"), "unmanaged": true});
    overrides["spec"]["overrides"] = (0..5_000).map(entry).collect();
    let read = file::read("file", overrides.to_string().as_bytes(), "bpfman-config").expect("a Config");
    let warnings = render(&read.config, UID, &Templates::builtin(), PLAIN, None).expect("manifests").warnings;
    let end = |problems: &[Problem]| format!("{} {}", problems.len(), problems.last().unwrap());
    expect![[r#"
        51 file: there are more problems, which are not shown
        51 there are more problems, which are not shown"#]]
    .assert_eq(&format!("{}\n{}", end(&problems), end(&warnings)));
}

/// Whatever else is wrong with the object, and whatever its kind.
#[test]
fn the_lifecycle_of_an_invalid_object_is_read() {
    let deleted = json!({"spec": 5, "metadata": {
        "uid": "1a", "resourceVersion": "7", "deletionTimestamp": "2026-12-01T00:00:00Z", "finalizers": ["a/b", 3, "c/d"],
    }});
    let lifecycle = Lifecycle::of(&deleted);
    let expected = Lifecycle {
        uid: Some("1a".to_owned()),
        resource_version: Some("7".to_owned()),
        deletion_timestamp: Some("2026-12-01T00:00:00Z".to_owned()),
        finalizers: vec!["a/b".to_owned(), "c/d".to_owned()],
    };
    assert_eq!(lifecycle, expected);
    assert_eq!(
        (lifecycle.is_deleting(), lifecycle.has_finalizer("c/d"), lifecycle.has_finalizer("c")),
        (true, true, false)
    );
    let unset = json!({"uid": "", "resourceVersion": 7, "deletionTimestamp": null, "finalizers": {"a/b": 1}});
    for object in [json!(null), json!([]), json!({"metadata": []}), json!({"metadata": unset})] {
        assert_eq!(Lifecycle::of(&object), Lifecycle::default(), "{object}");
    }
}

#[test]
fn a_control_character_that_kubectl_cannot_apply_is_a_warning() {
    let change = |config: &mut Value| {
        config["spec"]["daemon"]["logLevel"] = json!("a\u{85}\u{9b}");
        config["spec"]["agent"]["image"] = json!("a\u{ffff}");
        config["spec"]["configuration"] = json!("# \u{a0}\u{2028}\n");
    };
    expect![[r#"
        accepted
        spec.agent.image contains U+FFFF, which kubectl apply --server-side cannot send unchanged
        spec.daemon.logLevel contains U+0085, which kubectl apply --server-side cannot send unchanged
    "#]]
    .assert_eq(&check(Origin::File, change));
}
