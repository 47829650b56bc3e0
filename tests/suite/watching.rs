//! `watch` keeps a real cluster at what is wanted: one write for what deviates, none for what does not.

use expect_test::expect;

use crate::controlplane::{Cluster, Platform, lines};
use crate::drift::edit;
use crate::program::{Running, command, config, prepare, requests, run, until, writes};

const DAEMON: &str = "daemonset/bpfman-daemon";

fn finalizers(cluster: &Cluster) -> String {
    cluster.kubectl_ok(&["get", "configs.bpfman.io/bpfman-config", "-o", "jsonpath={.metadata.finalizers}"])
}

/// All that the program wrote since `mark`.
fn written(cluster: &Cluster, mark: usize) -> String {
    let written = lines(&writes(cluster, mark));
    // What can go at once goes at once.
    let mut written: Vec<&str> = written.split_inclusive('\n').collect();
    written.sort_unstable();
    written.concat()
}

#[test]
fn each_deviation_is_one_write() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let mut watch = Running::start(&cluster, "watch");
    let mut told = watch.says("in sync", 1);
    told += &written(&cluster, 0);
    let damage: [&dyn Fn(); 4] = [
        &|| drop(cluster.kubectl_ok(&["set", "image", "-n", "ebpf", DAEMON, "bpfman=registry.example/debug:v9"])),
        &|| edit(&cluster, "configmap/bpfman-config", r#"{"data":{"bpfman.log.level":"trace"}}"#),
        &|| edit(&cluster, "csidriver/csi.bpfman.io", r#"{"spec":{"requiresRepublish":true}}"#),
        &|| drop(cluster.kubectl_ok(&["delete", "-n", "ebpf", DAEMON, "--cascade=background"])),
    ];
    for (round, damage) in damage.iter().enumerate() {
        let (mark, before) = (cluster.requests().len(), watch.said().len());
        damage();
        let said = watch.says("in sync", round + 2);
        told += &["\n", &said[before..], &written(&cluster, mark)].concat();
    }
    expect![[r#"
        2> using context "controlplane", server SERVER
        TIME monitoring.coreos.com is not served: the monitoring objects are left out
        TIME read config.bpfman.io/bpfman-config, for namespace ebpf
        TIME rendered 4 objects
        TIME added the finalizer to the Config
        TIME namespace/ebpf: (root) not owned by us  # kubectl-create (Update) since TIME
        TIME csidriver.storage.k8s.io/csi.bpfman.io: does not exist
        TIME configmap/bpfman-config in ebpf: does not exist
        TIME daemonset.apps/bpfman-daemon in ebpf: does not exist
        TIME namespace/ebpf: configured
        TIME csidriver.storage.k8s.io/csi.bpfman.io: created
        TIME configmap/bpfman-config in ebpf: created
        TIME daemonset.apps/bpfman-daemon in ebpf: created
        TIME in sync: 4 objects
        200 patch /api/v1/namespaces/ebpf?&force=true&fieldManager=bpfman-config&fieldValidation=Strict
        200 patch /apis/bpfman.io/v1alpha1/configs/bpfman-config?&fieldManager=bpfman-config
        201 patch /api/v1/namespaces/ebpf/configmaps/bpfman-config?&fieldManager=bpfman-config&fieldValidation=Strict
        201 patch /apis/apps/v1/namespaces/ebpf/daemonsets/bpfman-daemon?&fieldManager=bpfman-config&fieldValidation=Strict
        201 patch /apis/storage.k8s.io/v1/csidrivers/csi.bpfman.io?&fieldManager=bpfman-config&fieldValidation=Strict

        TIME daemonset.apps/bpfman-daemon in ebpf: spec.template.spec.containers[name="bpfman"].image: "registry.example/debug:v9" -> "registry.example/daemon:v2"  # kubectl-set (Update) since TIME
        TIME daemonset.apps/bpfman-daemon in ebpf: configured
        TIME in sync: 4 objects
        200 patch /apis/apps/v1/namespaces/ebpf/daemonsets/bpfman-daemon?&force=true&fieldManager=bpfman-config&fieldValidation=Strict

        TIME configmap/bpfman-config in ebpf: data["bpfman.log.level"]: "trace" -> "bpfman=info"  # kubectl-edit (Update) since TIME
        TIME configmap/bpfman-config in ebpf: configured
        TIME in sync: 4 objects
        200 patch /api/v1/namespaces/ebpf/configmaps/bpfman-config?&force=true&fieldManager=bpfman-config&fieldValidation=Strict

        TIME csidriver.storage.k8s.io/csi.bpfman.io: spec.requiresRepublish: true -> false  # kubectl-edit (Update) since TIME
        TIME csidriver.storage.k8s.io/csi.bpfman.io: configured
        TIME in sync: 4 objects
        200 patch /apis/storage.k8s.io/v1/csidrivers/csi.bpfman.io?&force=true&fieldManager=bpfman-config&fieldValidation=Strict

        TIME daemonset.apps/bpfman-daemon in ebpf: does not exist
        TIME daemonset.apps/bpfman-daemon in ebpf: created
        TIME in sync: 4 objects
        201 patch /apis/apps/v1/namespaces/ebpf/daemonsets/bpfman-daemon?&fieldManager=bpfman-config&fieldValidation=Strict
    "#]].assert_eq(&told);
    assert_eq!(run(&cluster, "diff -q"), "exit 0\n");
    assert_eq!(watch.end("INT"), Some(130));
    assert_eq!(finalizers(&cluster), "");
}

/// Each object is touched without a change to what is wanted: all of that is read, nothing is sent.
#[test]
fn a_pass_that_changes_nothing_sends_nothing() {
    let cluster = Cluster::start(Platform::ALL);
    prepare(&cluster);
    let mut watch = Running::start(&cluster, "watch -o json");
    watch.says("in sync", 1);
    let mark = cluster.requests().len();
    let annotate = ["annotate", "-n", "ebpf", DAEMON, "configmap/bpfman-config", "csidriver/csi.bpfman.io"];
    cluster.kubectl_ok(&[&annotate[..], &["note=nobody minds"]].concat());
    cluster.kubectl_ok(&["annotate", "configs.bpfman.io/bpfman-config", "note=this neither"]);
    // The next drift is repaired in the pass that these events make, or after it.
    cluster.kubectl_ok(&["set", "image", "-n", "ebpf", DAEMON, "bpfman=registry.example/debug:v9"]);
    watch.says("in sync", 2);
    expect![[r#"
        200 patch /apis/apps/v1/namespaces/ebpf/daemonsets/bpfman-daemon?&force=true&fieldManager=bpfman-config&fieldValidation=Strict
    "#]].assert_eq(&lines(&requests(&cluster, mark)));
    assert_eq!(watch.end("TERM"), Some(143));
}

#[test]
fn a_storm_of_deletions_takes_two_passes_at_most() {
    let cluster = Cluster::start(Platform::ALL);
    prepare(&cluster);
    run(&cluster, "apply");
    let watch = Running::start(&cluster, "watch");
    watch.says("in sync", 1);
    let (mark, before) = (cluster.requests().len(), watch.said().len());
    let all = "daemonsets,configmaps,services,servicemonitors,roles,rolebindings";
    cluster.kubectl_ok(&["delete", all, "-n", "ebpf", "--all", "--wait=false"]);
    until("all repaired", || (writes(&cluster, mark).len() >= 9).then_some(()));
    let said = watch.says("in sync: 15 objects", 2);
    // A pass reports what it finds, then what it did.
    let done: Vec<bool> = said[before..].lines().map(|line| line.ends_with("created")).collect();
    let passes = done.windows(2).filter(|pair| pair[0] && !pair[1]).count();
    assert!(passes <= 2, "{}", &said[before..]);
    let mut writes: Vec<String> = written(&cluster, mark).lines().map(str::to_owned).collect();
    writes.sort();
    expect![[r#"
        201 patch /api/v1/namespaces/ebpf/configmaps/bpfman-config?&fieldManager=bpfman-config&fieldValidation=Strict
        201 patch /api/v1/namespaces/ebpf/services/bpfman-agent-metrics-service?&fieldManager=bpfman-config&fieldValidation=Strict
        201 patch /api/v1/namespaces/ebpf/services/bpfman-controller-manager-metrics-service?&fieldManager=bpfman-config&fieldValidation=Strict
        201 patch /apis/apps/v1/namespaces/ebpf/daemonsets/bpfman-daemon?&fieldManager=bpfman-config&fieldValidation=Strict
        201 patch /apis/apps/v1/namespaces/ebpf/daemonsets/bpfman-metrics-proxy?&fieldManager=bpfman-config&fieldValidation=Strict
        201 patch /apis/monitoring.coreos.com/v1/namespaces/ebpf/servicemonitors/bpfman-agent-metrics-monitor?&fieldManager=bpfman-config&fieldValidation=Strict
        201 patch /apis/monitoring.coreos.com/v1/namespaces/ebpf/servicemonitors/bpfman-controller-manager-metrics-monitor?&fieldManager=bpfman-config&fieldValidation=Strict
        201 patch /apis/rbac.authorization.k8s.io/v1/namespaces/ebpf/rolebindings/bpfman-prometheus-k8s?&fieldManager=bpfman-config&fieldValidation=Strict
        201 patch /apis/rbac.authorization.k8s.io/v1/namespaces/ebpf/roles/bpfman-prometheus-k8s?&fieldManager=bpfman-config&fieldValidation=Strict
    "#]].assert_eq(&(writes.join("\n") + "\n"));
}

#[test]
fn what_changed_while_the_api_server_was_away_is_repaired_when_it_is_back() {
    let mut cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let mut watch = Running::start(&cluster, "watch");
    watch.says("in sync", 1);
    cluster.pause();
    cluster.restart();
    let mark = cluster.requests().len();
    cluster.kubectl_ok(&["set", "image", "-n", "ebpf", DAEMON, "bpfman=registry.example/debug:v9"]);
    cluster.kubectl_ok(&["delete", "csidriver/csi.bpfman.io"]);
    until("both repaired", || (writes(&cluster, mark).len() >= 2).then_some(()));
    watch.says("in sync", 2);
    assert_eq!(run(&cluster, "diff -q"), "exit 0\n");
    assert_eq!(watch.end("INT"), Some(130));
    let mut writes: Vec<String> = written(&cluster, mark).lines().map(str::to_owned).collect();
    writes.sort();
    expect![[r#"
        200 patch /apis/apps/v1/namespaces/ebpf/daemonsets/bpfman-daemon?&force=true&fieldManager=bpfman-config&fieldValidation=Strict
        200 patch /apis/bpfman.io/v1alpha1/configs/bpfman-config?&fieldManager=bpfman-config
        201 patch /apis/storage.k8s.io/v1/csidrivers/csi.bpfman.io?&fieldManager=bpfman-config&fieldValidation=Strict
    "#]].assert_eq(&(writes.join("\n") + "\n"));
    assert!(!watch.said().contains("too old resource version"), "{}", watch.said());
}

#[test]
fn nothing_is_made_again_once_the_config_is_deleted() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let mut watch = Running::start(&cluster, "watch");
    watch.says("in sync", 1);
    assert_eq!(finalizers(&cluster), r#"["bpfman.io/config-finalizer"]"#);
    let (mark, before) = (cluster.requests().len(), watch.said().len());
    cluster.kubectl_ok(&["delete", "configs.bpfman.io/bpfman-config"]);
    cluster.kubectl_ok(&["delete", "-n", "ebpf", DAEMON, "--cascade=background"]);
    watch.says("nothing to reconcile", 1);
    let mut told = watch.said()[before..].to_owned() + &written(&cluster, mark);
    let before = watch.said().len();
    cluster.apply(&config());
    told += &watch.says("in sync", 2)[before..];
    assert_eq!(watch.end("TERM"), Some(143));
    expect![[r#"
        TIME the Config is being deleted; its objects are garbage collected
        TIME removed the finalizer from the Config
        TIME the Config does not exist; nothing to reconcile
        200 patch /apis/bpfman.io/v1alpha1/configs/bpfman-config?&fieldManager=bpfman-config
        TIME read config.bpfman.io/bpfman-config, for namespace ebpf
        TIME rendered 4 objects
        TIME added the finalizer to the Config
        TIME csidriver.storage.k8s.io/csi.bpfman.io: metadata.ownerReferences[0]: {"apiVersion":"bpfman.io/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"Config","name":"bpfman-config","u… (163 bytes) -> {"apiVersion":"bpfman.io/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"Config","name":"bpfman-config","u… (163 bytes)  # bpfman-config (Apply) since TIME
        TIME csidriver.storage.k8s.io/csi.bpfman.io: metadata.ownerReferences[uid=UID] no longer desired  # bpfman-config (Apply) since TIME
        TIME configmap/bpfman-config in ebpf: metadata.ownerReferences[0]: {"apiVersion":"bpfman.io/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"Config","name":"bpfman-config","u… (163 bytes) -> {"apiVersion":"bpfman.io/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"Config","name":"bpfman-config","u… (163 bytes)  # bpfman-config (Apply) since TIME
        TIME configmap/bpfman-config in ebpf: metadata.ownerReferences[uid=UID] no longer desired  # bpfman-config (Apply) since TIME
        TIME daemonset.apps/bpfman-daemon in ebpf: does not exist
        TIME csidriver.storage.k8s.io/csi.bpfman.io: configured
        TIME configmap/bpfman-config in ebpf: configured
        TIME daemonset.apps/bpfman-daemon in ebpf: created
        TIME in sync: 4 objects
    "#]].assert_eq(&told);
}

/// Otherwise its finalizer would keep it until somebody removes it by hand.
#[test]
fn an_invalid_config_can_be_deleted() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let mut watch = Running::start(&cluster, "watch");
    watch.says("in sync", 1);
    let invalid = r#"{"spec":{"namespace":"Not_A_Label"}}"#;
    cluster.kubectl_ok(&["patch", "configs.bpfman.io/bpfman-config", "--type=merge", "-p", invalid]);
    watch.says("spec.namespace is", 1);
    cluster.kubectl_ok(&["delete", "configs.bpfman.io/bpfman-config", "--timeout=20s"]);
    watch.says("removed the finalizer", 1);
    assert_eq!(watch.end("INT"), Some(130));
}

/// It would go on to change the cluster unseen.
#[test]
fn a_watch_that_nobody_can_see_ends() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command(cluster.kubeconfig(), "watch -q").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", String::from_utf8_lossy(&output.stderr));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command(cluster.kubeconfig(), "watch -q").stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    assert_eq!(finalizers(&cluster), "");
}
