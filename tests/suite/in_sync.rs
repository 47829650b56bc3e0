//! Whether an apply is a no-op, told without asking: whatever is told to be in sync must be.

use bpfman_config::compare::{Verdict, in_sync};
use expect_test::expect;
use serde_json::{Value, json};

use crate::fixtures::{Fixture, MANAGER, fixture};

pub(crate) fn verdict(desired: &Value, live: &Value) -> String {
    match in_sync(desired, live, MANAGER) {
        Verdict::InSync => "in sync".into(),
        Verdict::Terminating => "terminating".into(),
        Verdict::Differs(found) => {
            let found: Vec<String> = found.iter().map(|found| format!("{} {}", found.path, found.what)).collect();
            format!("differs: {}", found.join("; "))
        }
    }
}

/// The server filled in `protocol` for both ports; ours names it for one.
#[test]
fn a_key_that_the_server_filled_in_matches_an_item_without_it() {
    let Fixture { mut desired, live, wanted } = fixture("ports");
    let mut before = desired.clone();
    before["spec"]["ports"].as_array_mut().unwrap().push(json!({"name": "dns-udp", "port": 53, "protocol": "UDP"}));
    assert_eq!([verdict(&before, &live), verdict(&desired, &wanted)], ["in sync", "in sync"]);
    desired["spec"]["ports"][0]["protocol"] = json!("UDP");
    before["spec"]["ports"].as_array_mut().unwrap().reverse();
    let told = [verdict(&desired, &wanted), verdict(&before, &live)];
    expect![[r#"
        differs: spec.ports[0] not owned by us; spec.ports[port=53,protocol="TCP"] no longer desired
        differs: spec.ports in another order
    "#]]
    .assert_eq(&(told.join("\n") + "\n"));
}

/// Each of these would be a write; none may pass as in sync.
#[test]
fn nothing_that_an_apply_would_write_passes_as_in_sync() {
    let fresh = fixture("fresh");
    let damage: [(&str, Value); 12] = [
        ("/metadata/labels", json!({"app.kubernetes.io/name": "probe", "more": "x"})),
        ("/metadata/ownerReferences/0/uid", json!("1")),
        ("/metadata/ownerReferences/0/controller", json!(false)),
        ("/spec/template/metadata/annotations", json!({})),
        ("/spec/template/spec/securityContext", json!(null)),
        ("/spec/template/spec/tolerations", json!([])),
        ("/spec/template/spec/containers/0/args", json!(["--two", "--one"])),
        ("/spec/template/spec/containers/0/env", json!([{"name": "LEVEL"}])),
        ("/spec/template/spec/containers/0/ports", json!([{"containerPort": 8443, "protocol": "TCP"}])),
        ("/spec/template/spec/containers/0/resources", json!({"requests": {"cpu": "0.1"}})),
        ("/spec/template/spec/volumes", json!([])),
        ("/spec/template/spec/volumes/0", json!({"name": "sock", "hostPath": {"path": "/"}})),
    ];
    let told: Vec<String> = damage
        .into_iter()
        .map(|(pointer, value)| {
            let mut desired = fresh.desired.clone();
            *desired.pointer_mut(pointer).unwrap() = value;
            verdict(&desired, &fresh.live) + "\n"
        })
        .collect();
    expect![[r#"
        differs: metadata.labels.more missing
        differs: metadata.ownerReferences[0] not owned by us; metadata.ownerReferences[uid="0d3d6c26-7c7e-4f5c-9b5e-1d2f9a3c4b5d"] no longer desired
        differs: metadata.ownerReferences[uid="0d3d6c26-7c7e-4f5c-9b5e-1d2f9a3c4b5d"] has another value
        differs: spec.template.metadata.annotations["probe.toml"] no longer desired
        differs: spec.template.spec.securityContext has another value
        differs: spec.template.spec.tolerations has another value
        differs: spec.template.spec.containers[name="main"].args has another value
        differs: spec.template.spec.containers[name="main"].env[name="LEVEL"].value no longer desired
        differs: spec.template.spec.containers[name="main"].ports[0] not owned by us; spec.template.spec.containers[name="main"].ports[containerPort=8443,protocol="TCP"] no longer desired
        differs: spec.template.spec.containers[name="main"].resources.requests.cpu has another value
        differs: spec.template.spec.volumes[name="sock"] no longer desired
        differs: spec.template.spec.volumes[name="sock"].hostPath missing; spec.template.spec.volumes[name="sock"].emptyDir no longer desired
    "#]].assert_eq(&told.concat());
}

#[test]
fn a_live_object_that_is_not_plainly_ours_is_not_in_sync() {
    let Fixture { desired, live, .. } = fixture("fresh");
    let told = |change: &dyn Fn(&mut Value)| {
        let mut live = live.clone();
        change(&mut live);
        verdict(&desired, &live)
    };
    let told = [
        told(&|live| live["metadata"]["deletionTimestamp"] = json!("2026-11-30T04:53:55Z")),
        told(&|live| live["metadata"]["managedFields"] = json!([])),
        told(&|live| live["metadata"]["managedFields"][0]["apiVersion"] = json!("apps/v1beta1")),
        told(&|live| live["metadata"]["managedFields"][0]["operation"] = json!("Update")),
        told(&|live| live["metadata"]["managedFields"][0]["subresource"] = json!("status")),
        told(&|live| live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"] = json!(1)),
        told(&|live| live["metadata"]["namespace"] = json!("other")),
        told(&|live| *live = json!("nothing")),
        verdict(&desired, &live),
    ];
    expect![[r#"
        terminating
        differs: (root) not owned by us
        differs: (root) not owned by us
        differs: (root) not owned by us
        differs: (root) not owned by us
        differs: (root) not owned by us
        differs: (root) unknown
        differs: (root) unknown; (root) unknown; (root) unknown; (root) unknown; (root) not owned by us
        in sync
    "#]]
    .assert_eq(&(told.join("\n") + "\n"));
}
