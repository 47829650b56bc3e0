//! Several clusters: each line says which, the worst exit code counts, and one that does not answer holds nobody up.

use std::path::{Path, PathBuf};

use expect_test::expect;
use serde_json::{Value, json};

use crate::controlplane::{Cluster, Platform};
use crate::program::{command, config, prepare, said};

/// One kubeconfig for all clusters, and a context for a server that is not there.
fn kubeconfig(clusters: &[(&str, &Cluster)]) -> PathBuf {
    let mut all = json!({"apiVersion": "v1", "kind": "Config", "clusters": [], "users": [], "contexts": []});
    let mut add = |name: &str, cluster: Value, user: Value| {
        all["clusters"].as_array_mut().unwrap().push(json!({"name": name, "cluster": cluster}));
        all["users"].as_array_mut().unwrap().push(json!({"name": name, "user": user}));
        let context = json!({"name": name, "context": {"cluster": name, "user": name}});
        all["contexts"].as_array_mut().unwrap().push(context);
    };
    for (name, cluster) in clusters {
        let own = std::fs::read_to_string(cluster.kubeconfig()).unwrap();
        let own: Value = serde_yaml::from_str(&own).unwrap();
        add(name, own["clusters"][0]["cluster"].clone(), own["users"][0]["user"].clone());
    }
    add("west-gone", json!({"server": "https://127.0.0.1:1"}), json!({}));
    let file = clusters[0].1.kubeconfig().with_file_name("all.kubeconfig");
    std::fs::write(&file, all.to_string()).unwrap();
    file
}

fn told(kubeconfig: &Path, words: &str) -> String {
    format!("$ {words}\n{}", said(&mut command(kubeconfig, words)))
}

#[test]
fn several_clusters_are_told_apart_and_the_worst_exit_code_counts() {
    let clusters = [Cluster::start(Platform::PLAIN), Cluster::start(Platform::PLAIN)];
    clusters.iter().for_each(prepare);
    let all = kubeconfig(&[("east-1", &clusters[0]), ("east-2", &clusters[1])]);
    let text = [
        "apply -q --context east-1",
        "apply -q --context east-*",
        "diff -o summary --context east-? --context east-1",
        "diff -q --all-contexts -o name",
        "diff --context north-*",
        "watch --context east-1 --context east-2",
        "diff --all-contexts --out plan",
    ]
    .map(|words| told(&all, words))
    .concat();
    let json = command(&all, "diff -q --all-contexts -o json").output().unwrap();
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let codes: Vec<(&Value, &Value)> =
        json["clusters"].as_array().unwrap().iter().map(|one| (&one["context"], &one["exitCode"])).collect();
    expect![[r#"
        $ apply -q --context east-1
        namespace/ebpf configured
        csidriver.storage.k8s.io/csi.bpfman.io created
        configmap/bpfman-config created
        daemonset.apps/bpfman-daemon created
        exit 0
        $ apply -q --context east-*
        east-1: namespace/ebpf unchanged
        east-1: csidriver.storage.k8s.io/csi.bpfman.io unchanged
        east-1: configmap/bpfman-config unchanged
        east-1: daemonset.apps/bpfman-daemon unchanged
        east-2: namespace/ebpf configured
        east-2: csidriver.storage.k8s.io/csi.bpfman.io created
        east-2: configmap/bpfman-config created
        east-2: daemonset.apps/bpfman-daemon created
        exit 0
        $ diff -o summary --context east-? --context east-1
        east-1: namespace/ebpf: in sync
        east-1: csidriver.storage.k8s.io/csi.bpfman.io: in sync
        east-1: configmap/bpfman-config in ebpf: in sync
        east-1: daemonset.apps/bpfman-daemon in ebpf: in sync
        east-2: namespace/ebpf: in sync
        east-2: csidriver.storage.k8s.io/csi.bpfman.io: in sync
        east-2: configmap/bpfman-config in ebpf: in sync
        east-2: daemonset.apps/bpfman-daemon in ebpf: in sync
        2> east-1: monitoring.coreos.com is not served: the monitoring objects are left out
        2> east-1: 4 objects: 0 to change
        2> east-2: monitoring.coreos.com is not served: the monitoring objects are left out
        2> east-2: 4 objects: 0 to change
        2> east-1  in sync
        2> east-2  in sync
        exit 0
        $ diff -q --all-contexts -o name
        2> west-gone: error: cannot read config.bpfman.io/bpfman-config
        2> west-gone:   caused by: cannot reach SERVER: connection refused
        exit 5
        $ diff --context north-*
        2> error: no context "north-*" in the kubeconfig
        2> hint: the contexts are: east-1, east-2, west-gone
        exit 2
        $ watch --context east-1 --context east-2
        2> error: several contexts are possible with diff and apply only
        2> hint: give --context once
        exit 2
        $ diff --all-contexts --out plan
        2> error: --out saves the plan of one cluster: give one --context
        exit 2
        [(String("east-1"), Number(0)), (String("east-2"), Number(0)), (String("west-gone"), Number(5))] 5
    "#]]
    .assert_eq(&format!("{text}{codes:?} {}\n", json["exitCode"]));
}

#[test]
fn a_config_on_standard_input_is_for_all_of_them() {
    let clusters = [Cluster::start(Platform::PLAIN), Cluster::start(Platform::PLAIN)];
    let all = kubeconfig(&[("east-1", &clusters[0]), ("east-2", &clusters[1])]);
    let file = all.with_file_name("config.yaml");
    std::fs::write(&file, config()).unwrap();
    let mut apply = command(&all, "apply -q -f - --create-namespace -o name --context east-*");
    let output = apply.stdin(std::fs::File::open(&file).unwrap()).output().unwrap();
    expect![[r#"
        east-1: config.bpfman.io/bpfman-config
        east-1: namespace/ebpf
        east-1: csidriver.storage.k8s.io/csi.bpfman.io
        east-1: configmap/bpfman-config
        east-1: daemonset.apps/bpfman-daemon
        east-2: config.bpfman.io/bpfman-config
        east-2: namespace/ebpf
        east-2: csidriver.storage.k8s.io/csi.bpfman.io
        east-2: configmap/bpfman-config
        east-2: daemonset.apps/bpfman-daemon
    "#]]
    .assert_eq(&String::from_utf8(output.stdout).unwrap());
}
