//! What an apply would change, and what happens to ownership.

use bpfman_config::compare::{Comparison, Keyed, compare, foreign, may_lack_keys, overlay};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::fixtures::{Fixture, MANAGER, fixture};
use crate::in_sync::verdict;

/// All that is known of an object, line by line.
fn told(fixture: &Fixture) -> String {
    let comparison = compare(Some(&fixture.live).filter(|live| !live.is_null()), &fixture.wanted, MANAGER);
    let mut lines = vec![verdict(&fixture.desired, &fixture.live)];
    lines.extend(changes(&comparison));
    lines.extend(comparison.released.iter().map(|field| format!("released {}", field.path)));
    lines.extend(comparison.hidden.iter().map(|field| format!("hidden {}: {}", field.path, field.reason)));
    lines.extend(comparison.records_ownership.then(|| "records ownership".into()));
    lines.extend(comparison.restart.iter().map(|_| "restarts pods".into()));
    let foreign = foreign(&fixture.desired, &fixture.live, MANAGER);
    lines.extend(foreign.iter().map(|field| format!("foreign {} ({})", field.path, field.owners[0].manager)));
    lines.push(String::new());
    lines.join("\n")
}

fn changes(comparison: &Comparison) -> Vec<String> {
    let side = |value: &Option<Value>| value.as_ref().map_or_else(|| "-".into(), ToString::to_string);
    let line = |change: &bpfman_config::compare::Change| {
        let owners: Vec<&str> = change.owners.iter().map(|owner| owner.manager.as_str()).collect();
        format!("{}: {} -> {} ({})", change.path, side(&change.live), side(&change.desired), owners.join(", "))
    };
    comparison.changes.iter().map(line).collect()
}

fn check(name: &str, expected: &Expect) {
    expected.assert_eq(&told(&fixture(name)));
}

#[test]
fn an_applied_object_is_in_sync() {
    check(
        "fresh",
        &expect![[r#"
        in sync
    "#]],
    );
}

/// k3s-io/helm-controller#343, kubernetes/kubernetes#99003, kubernetes/website#16725.
#[test]
fn edits_by_hand_are_changes_and_additions_are_foreign() {
    check(
        "edited",
        &expect![[r#"
            differs: spec.template.spec.containers[name="main"].image not owned by us; spec.template.spec.tolerations not owned by us
            spec.template.spec.containers[name="main"].image: "quay.io/x/main:debug" -> "quay.io/x/main:v1" (kubectl-set, node-tuner)
            spec.template.spec.tolerations[0]: {"key":"z","operator":"Exists"} -> - (node-tuner)
            hidden metadata.managedFields: who owns which field; shown beside each change
            hidden metadata.generation: counts the writes of the spec
            hidden metadata.annotations["deprecated.daemonset.template.generation"]: counts the pod templates
            records ownership
            restarts pods
            foreign spec.template.spec.containers[name="main"].env[name="DEBUG"] (kubectl-edit)
            foreign metadata.labels["a.b/c"] (kubectl-label)
            foreign spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"] (kubectl-rollout)
        "#]],
    );
}

/// kubernetes/kubernetes#99003: a field that another manager still owns stays when we drop it.
#[test]
fn a_field_that_others_keep_alive_is_released() {
    check(
        "released",
        &expect![[r#"
        differs: data.legacy no longer desired
        released data.legacy
        hidden metadata.managedFields: who owns which field; shown beside each change
        records ownership
    "#]],
    );
}

/// kubernetes/kubernetes#39188, #105610: ports are told apart by number and protocol.
#[test]
fn the_same_port_for_udp_is_removed_alone() {
    check(
        "ports",
        &expect![[r#"
        differs: spec.ports[port=53,protocol="UDP"] no longer desired
        spec.ports[port=53,protocol="UDP"]: {"name":"dns-udp","port":53,"protocol":"UDP","targetPort":53} -> - (bpfman-config)
        hidden metadata.managedFields: who owns which field; shown beside each change
        records ownership
    "#]],
    );
}

#[test]
fn what_a_scale_changed_comes_back() {
    check(
        "scaled",
        &expect![[r#"
        differs: spec.replicas not owned by us
        spec.replicas: 3 -> 1 (kubectl)
        hidden metadata.managedFields: who owns which field; shown beside each change
        hidden metadata.generation: counts the writes of the spec
        records ownership
    "#]],
    );
}

/// curie-eng/curie#1190: what the server picks anew each time stays out of the comparison.
#[test]
fn a_created_object_has_nothing_that_the_server_picked() {
    let created = fixture("created");
    let comparison = compare(None, &created.wanted, MANAGER);
    expect![[r#"
        {
          "apiVersion": "v1",
          "kind": "Service",
          "metadata": {
            "name": "probe",
            "namespace": "bpfman"
          },
          "spec": {
            "internalTrafficPolicy": "Cluster",
            "ports": [
              {
                "name": "dns-tcp",
                "port": 53,
                "protocol": "TCP",
                "targetPort": 53
              },
              {
                "name": "dns-udp",
                "port": 53,
                "protocol": "UDP",
                "targetPort": 53
              }
            ],
            "selector": {
              "name": "probe"
            },
            "sessionAffinity": "None",
            "type": "ClusterIP"
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&comparison.desired).unwrap());
    let mut headless = created.wanted;
    headless["spec"]["clusterIP"] = json!("None");
    let ours = headless.pointer_mut("/metadata/managedFields/0/fieldsV1/f:spec").unwrap();
    ours["f:clusterIP"] = json!({});
    assert_eq!(compare(None, &headless, MANAGER).desired["spec"]["clusterIP"], "None");
}

#[test]
fn hollow_structs_of_a_go_controller_are_no_change() {
    check(
        "hollow",
        &expect![[r#"
            differs: (root) not owned by us
            hidden metadata.managedFields: who owns which field; shown beside each change
            hidden metadata.generation: counts the writes of the spec
            records ownership
            foreign spec.namespaceSelector (bpfman-operator)
        "#]],
    );
    let Fixture { live, wanted, .. } = fixture("hollow");
    let comparison = compare(Some(&live), &wanted, MANAGER);
    assert_eq!(comparison.live, Some(comparison.desired));
}

#[test]
fn what_the_server_filled_in_for_another_client_is_not_foreign() {
    check(
        "adopted",
        &expect![[r#"
            differs: (root) not owned by us
            hidden metadata.managedFields: who owns which field; shown beside each change
            records ownership
        "#]],
    );
}

#[test]
fn a_default_that_comes_back_is_not_released() {
    let Fixture { live, mut wanted, .. } = fixture("fresh");
    let ours = wanted.pointer_mut("/metadata/managedFields/0/fieldsV1/f:spec/f:template/f:spec").unwrap();
    ours.as_object_mut().unwrap().remove("f:securityContext");
    let comparison = compare(Some(&live), &wanted, MANAGER);
    assert_eq!((comparison.unchanged(), comparison.records_ownership), (true, true));
}

#[test]
fn keyed_items_in_another_order_are_one_change() {
    let Fixture { live, mut wanted, .. } = fixture("edited");
    let env = |object: &mut Value| object["spec"]["template"]["spec"]["containers"][0]["env"].take();
    wanted["spec"] = live["spec"].clone();
    let mut reversed = env(&mut wanted);
    reversed.as_array_mut().unwrap().reverse();
    wanted["spec"]["template"]["spec"]["containers"][0]["env"] = reversed;
    expect![[r#"
        spec.template.spec.containers[name="main"].env: [{"name":"DEBUG","value":"1"},{"name":"LEVEL","value":"info"}] -> [{"name":"LEVEL","value":"info"},{"name":"DEBUG","value":"1"}] (bpfman-config, kubectl-edit, node-tuner)
    "#]].assert_eq(&(changes(&compare(Some(&live), &wanted, MANAGER)).join("\n") + "\n"));
}

#[test]
fn empty_values_count_only_where_they_mean_something() {
    let custom = "monitoring.coreos.com/v1";
    let expected = [
        ("apps/v1", json!({"v": {"name": 1, "emptyDir": {}}}), json!({"v": {"name": 1}}), 1),
        ("networking.k8s.io/v1", json!({"peer": {"a": 1, "namespaceSelector": {}}}), json!({"peer": {"a": 1}}), 1),
        ("apps/v1", json!({"args": [], "x": null}), json!({}), 0),
        ("apps/v1", json!({"one": 1}), json!({"one": 1.0}), 0),
        (custom, json!({"tls": {"ca": {}, "cert": {}, "skip": true}}), json!({"tls": {"skip": true}}), 0),
        (custom, json!({"tls": {"skip": true}}), json!({"tls": {"ca": {}, "skip": true}}), 0),
        (custom, json!({"tls": {"ca": {}, "skip": true}}), json!({"tls": {"skip": false}}), 1),
        (custom, json!({"v": {"name": 1, "emptyDir": {}}}), json!({"v": {"name": 1, "hostPath": {"path": "/"}}}), 2),
        (custom, json!({"storage": {"emptyDir": {}}}), json!({"storage": {}}), 1),
        (custom, json!({"users": null}), json!({}), 0),
    ];
    for (version, live, wanted, count) in expected {
        let object = |spec: &Value| json!({"apiVersion": version, "kind": "Probe", "spec": spec});
        let comparison = compare(Some(&object(&live)), &object(&wanted), MANAGER);
        assert_eq!(comparison.changes.len(), count, "{live} beside {wanted}: {:?}", changes(&comparison));
    }
}

/// kubernetes/kubernetes#118261: a PUT may give a list two items of one key.
#[test]
fn of_two_live_items_with_one_key_the_other_one_is_removed() {
    let spec = |ports: Value| json!({"apiVersion": "v1", "kind": "Service", "spec": {"ports": ports}});
    let port = |name: &str, protocol: &str| json!({"name": name, "port": 53, "protocol": protocol});
    let live = spec(json!([port("dns-tcp", "UDP"), port("dns-udp", "UDP")]));
    let desired = spec(json!([port("dns-tcp", "TCP"), port("dns-udp", "UDP")]));
    expect![[r#"
        spec.ports[port=53,protocol="UDP"]: {"name":"dns-tcp","port":53,"protocol":"UDP"} -> - ()
        spec.ports[port=53,protocol="TCP"]: - -> {"name":"dns-tcp","port":53,"protocol":"TCP"} ()
    "#]]
    .assert_eq(&(changes(&compare(Some(&live), &desired, MANAGER)).join("\n") + "\n"));
}

#[test]
fn an_item_that_nobody_owns_is_the_one_with_the_same_key() {
    let hooks = json!([{"name": "one", "timeoutSeconds": 3}, {"name": "two", "timeoutSeconds": 5}]);
    let fields = json!({"f:webhooks": {"k:{\"name\":\"one\"}": {".": {}, "f:name": {}}}});
    let entry = json!({"manager": "kubectl", "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": fields});
    let object =
        |hooks: &Value| json!({"apiVersion": "v1", "kind": "Probe", "metadata": {"name": "probe"}, "webhooks": hooks});
    let mut live = object(&hooks);
    live["metadata"]["managedFields"] = json!([entry]);
    let laid_over = overlay(&live, &object(&json!([{"name": "one"}, {"name": "two"}])), None, MANAGER);
    assert_eq!(laid_over["webhooks"], hooks);
}

/// The server fills the key in; who replaced the whole object owns the item.
#[test]
fn an_item_without_its_key_is_the_one_that_has_all_its_values() {
    let probes = json!([{"zone": "other", "port": 9090}, {"zone": "main", "port": 9090, "path": "/metrics"}]);
    let item = |zone: &str| format!(r#"k:{{"port":9090,"zone":"{zone}"}}"#);
    let fields = json!({"f:probes": {item("other"): {".": {}, "f:port": {}}, item("main"): {".": {}, "f:path": {}}}});
    let entry =
        json!({"manager": "kubectl-replace", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": fields});
    let object = |probes: &Value| json!({"apiVersion": "example.com/v1", "kind": "Probe", "metadata": {"name": "probe"}, "probes": probes});
    let mut live = object(&probes);
    live["metadata"]["managedFields"] = json!([entry]);
    let desired = object(&json!([{"port": 9090, "path": "/metrics"}]));
    assert_eq!(overlay(&live, &desired, None, MANAGER)["probes"], probes);
}

/// Only the server knows that the key of the first item is `main`; the live item with another one is somebody else's.
#[test]
fn keys_that_the_server_fills_in_are_read_from_its_answer() {
    let object = |probes: Value| json!({"apiVersion": "example.com/v1", "kind": "Probe", "metadata": {"name": "probe"}, "probes": probes});
    let desired = object(json!([{"port": 9090}, {"port": 9090, "zone": "other"}]));
    let live = object(json!([{"port": 9090, "zone": "moved"}, {"port": 9090, "zone": "other", "path": "/"}]));
    assert!(may_lack_keys(&live, &desired));
    let item = |zone: &str| format!(r#"k:{{"port":9090,"zone":"{zone}"}}"#);
    let fields = json!({"f:probes": {item("main"): {".": {}, "f:port": {}}, item("other"): {".": {}, "f:port": {}, "f:zone": {}}}});
    let mut created = object(json!([{"port": 9090, "zone": "main"}, {"port": 9090, "zone": "other"}]));
    created["metadata"]["managedFields"] =
        json!([{"manager": MANAGER, "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": fields}]);
    let keyed = Keyed::of(&desired, &created, MANAGER).unwrap();
    assert_eq!(keyed.object["probes"], created["probes"]);
    let laid_over = overlay(&live, &keyed.object, Some(&keyed.fields), MANAGER);
    let expected = json!([
        {"port": 9090, "zone": "moved"},
        {"port": 9090, "zone": "other", "path": "/"},
        {"port": 9090, "zone": "main"},
    ]);
    assert_eq!(laid_over["probes"], expected);
}

#[test]
fn lists_without_keys_are_compared_item_by_item() {
    let list = |items: &str| json!({"apiVersion": "v1", "kind": "Probe", "list": items.split(' ').collect::<Vec<_>>()});
    let told: Vec<String> = [
        ("a b c", "a c"),
        ("a c", "a b c"),
        ("a b c", "a x c"),
        ("a b c d", "x a c y"),
        ("a b c d e", "a x e"),
        ("a b", "b a"),
        ("a a a", "a a"),
    ]
    .iter()
    .map(|(live, wanted)| {
        let found = changes(&compare(Some(&list(live)), &list(wanted), MANAGER));
        format!("{live} / {wanted}: {}\n", found.join(" ").replace(" ()", ";"))
    })
    .collect();
    expect![[r#"
        a b c / a c: list[1]: "b" -> -;
        a c / a b c: list[1]: - -> "b";
        a b c / a x c: list[1]: "b" -> "x";
        a b c d / x a c y: list[0]: - -> "x"; list[1]: "b" -> -; list[3]: "d" -> "y";
        a b c d e / a x e: list[1]: "b" -> -; list[2]: "c" -> -; list[3]: "d" -> -; list[1]: - -> "x";
        a b / b a: list[0]: - -> "b"; list[1]: "b" -> -;
        a a a / a a: list[2]: "a" -> -;
    "#]]
    .assert_eq(&told.concat());
}

#[test]
fn an_object_beside_itself_has_no_changes() {
    for name in ["fresh", "edited", "released", "ports", "hollow", "scaled", "created"] {
        let wanted = fixture(name).wanted;
        assert!(compare(Some(&wanted), &wanted, MANAGER).unchanged(), "{name}");
    }
}

/// kubernetes/kubernetes#66353: an immutable field is refused, and its change is still shown.
#[test]
fn a_guess_stands_in_for_a_dry_run_that_was_refused() {
    let Fixture { mut desired, live, .. } = fixture("edited");
    desired["spec"]["selector"]["matchLabels"]["name"] = json!("other");
    let guess = compare(Some(&live), &overlay(&live, &desired, None, MANAGER), MANAGER);
    expect![[r#"
        spec.selector.matchLabels.name: "probe" -> "other" (bpfman-config, node-tuner)
        spec.template.spec.containers[name="main"].image: "quay.io/x/main:debug" -> "quay.io/x/main:v1" (kubectl-set, node-tuner)
        spec.template.spec.tolerations[0]: {"key":"z","operator":"Exists"} -> - (node-tuner)
    "#]].assert_eq(&(changes(&guess).join("\n") + "\n"));
}

#[test]
fn an_annotation_that_was_bookkeeping_leaves_no_empty_map() {
    let object = |metadata: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    let live = object(json!({"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}}));
    assert!(compare(Some(&live), &object(json!({})), MANAGER).unchanged());
}
