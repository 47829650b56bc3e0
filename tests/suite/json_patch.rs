//! The library's JSON patches, on a real server: what they change, as whom, and what is said when one is refused.

use std::ffi::OsString;
use std::time::Duration;

use bpfman_config::cli;
use bpfman_config::cluster::{Applied, Error};
use bpfman_config::manifest::ObjectId;
use expect_test::expect;
use serde_json::{Value, json};

use crate::controlplane::{Cluster, Platform};
use crate::program::live;

fn id(kind: &str) -> ObjectId {
    ObjectId {
        api_version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespace: Some("ebpf".to_owned()),
        name: "own".to_owned(),
    }
}

fn patch(cluster: &Cluster, kind: &str, steps: &Value, dry_run: bool) -> Result<Applied, Error> {
    let words = ["kubectl-bpfman-config", "diff", "--kubeconfig"].map(OsString::from);
    let typed = cli::parse(words.into_iter().chain([cluster.kubeconfig().into()])).unwrap();
    let limit = Duration::from_secs(u64::MAX);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = typed.connection.connect(false, "tester", limit).await.unwrap();
        client.json_patch(&id(kind), steps, dry_run).await
    })
}

#[test]
fn a_patch_changes_what_it_says_under_our_name_and_a_dry_run_changes_nothing() {
    let cluster = Cluster::start(Platform::PLAIN);
    cluster.kubectl_ok(&["create", "namespace", "ebpf"]);
    cluster.kubectl_ok(&["create", "configmap", "own", "-n", "ebpf", "--from-literal=a=1", "--from-literal=b=2"]);
    let steps = json!([{"op": "test", "path": "/data/a", "value": "1"}, {"op": "replace", "path": "/data/b", "value": "x\u{85}"}]);
    let would = patch(&cluster, "ConfigMap", &steps, true).unwrap();
    assert_eq!(
        (&would.object["data"]["b"], &live(&cluster, &["configmap/own"])[0]["data"]["b"]),
        (&json!("x\u{85}"), &json!("2"))
    );
    assert!(!patch(&cluster, "ConfigMap", &steps, false).unwrap().created);
    let stored = live(&cluster, &["configmap/own"]).remove(0);
    assert_eq!(stored["data"], json!({"a": "1", "b": "x\u{85}"}));
    let owned =
        stored["metadata"]["managedFields"].as_array().unwrap().iter().find(|entry| entry["manager"] == "tester");
    assert_eq!(owned.unwrap()["fieldsV1"], json!({"f:data": {"f:b": {}}}));
}

#[test]
fn a_patch_that_no_longer_fits_is_refused_in_the_words_of_the_server() {
    let cluster = Cluster::start(Platform::PLAIN);
    cluster.kubectl_ok(&["create", "namespace", "ebpf"]);
    cluster.kubectl_ok(&["create", "secret", "generic", "own", "-n", "ebpf", "--from-literal=a=hush"]);
    let test = |value: &str| json!([{"op": "test", "path": "/data/a", "value": value}]);
    let steps = [
        test("aHVzaGVk"),
        json!([{"op": "remove", "path": "/data/gone"}]),
        json!([{"op": "add", "path": "/data/b", "value": "hushed"}]),
    ];
    let refused = steps.map(|steps| patch(&cluster, "Secret", &steps, false).unwrap_err().to_string());
    expect![[r#"
        the server rejected our request due to an error in our request
        the server rejected our request due to an error in our request
        invalid: patch: Invalid value: "***": illegal base64 data at input byte 4"#]]
    .assert_eq(&refused.join("\n"));
    let gone = patch(&cluster, "ConfigMap", &test("1"), false).unwrap_err();
    assert!(gone.is_stale() && !gone.is_no_answer(), "{gone:?}");
}
