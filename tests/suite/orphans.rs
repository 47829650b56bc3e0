//! Objects that are no longer desired: `diff` lists them, `apply --prune` deletes just these.

use expect_test::expect;

use crate::controlplane::{Cluster, Platform};
use crate::program::{command, prepare, run, said};

fn quiet(cluster: &Cluster, words: &str) -> String {
    said(&mut command(cluster.kubeconfig(), &format!("{words} -q")))
}

fn applied(platform: Platform) -> Cluster {
    let cluster = Cluster::start(platform);
    prepare(&cluster);
    assert!(run(&cluster, "apply").ends_with("exit 0\n"));
    cluster
}

/// D20, and monitoring that was turned off: nothing is deleted unless a flag asks for it, and then only what was ours alone.
#[test]
fn what_is_no_longer_desired_is_listed_and_pruned_on_request() {
    let cluster = applied(Platform::MONITORING);
    cluster.kubectl_ok(&["label", "-n", "ebpf", "service/bpfman-agent-metrics-service", "team=blue"]);
    cluster.kubectl_ok(&["create", "configmap", "-n", "ebpf", "somebody-elses"]);
    let told = [
        "diff --monitoring off",
        "diff --monitoring off --exact -o paths",
        "diff --monitoring off -o name",
        "apply --monitoring off",
        "apply --monitoring off --prune --dry-run=server",
        "apply --monitoring off --prune",
        "apply --monitoring off --prune --force-conflicts",
        "diff --monitoring off",
    ]
    .map(|words| format!("$ {words}\n{}", said(&mut command(cluster.kubeconfig(), words))));
    expect![[r#"
        $ diff --monitoring off
        daemonset.apps/bpfman-metrics-proxy in ebpf: orphan; no longer desired, owned by the Config
        servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor in ebpf: orphan; no longer desired, owned by the Config
        servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor in ebpf: orphan; no longer desired, owned by the Config
        service/bpfman-agent-metrics-service in ebpf: orphan; no longer desired, owned by the Config; fields of kubectl-label (Update) since TIME
        service/bpfman-controller-manager-metrics-service in ebpf: orphan; no longer desired, owned by the Config
        2> hint: kubectl bpfman config apply --prune deletes the orphans
        2> 4 objects: 0 to change, 5 orphans
        exit 0
        $ diff --monitoring off --exact -o paths
        daemonset.apps/bpfman-metrics-proxy in ebpf (root): orphan; no longer desired, owned by the Config
        servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor in ebpf (root): orphan; no longer desired, owned by the Config
        servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor in ebpf (root): orphan; no longer desired, owned by the Config
        service/bpfman-agent-metrics-service in ebpf (root): orphan; no longer desired, owned by the Config; fields of kubectl-label (Update) since TIME
        service/bpfman-controller-manager-metrics-service in ebpf (root): orphan; no longer desired, owned by the Config
        2> hint: kubectl bpfman config apply --prune deletes the orphans
        2> 4 objects: 0 to change, 5 orphans
        exit 1
        $ diff --monitoring off -o name
        2> hint: kubectl bpfman config apply --prune deletes the orphans
        2> 4 objects: 0 to change, 5 orphans
        exit 0
        $ apply --monitoring off
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon unchanged
        2> using context "controlplane", server SERVER
        2> 4 unchanged
        exit 0
        $ apply --monitoring off --prune --dry-run=server
        namespace/ebpf unchanged (server dry run)
        csidriver.storage.k8s.io/csi.bpfman.io unchanged (server dry run)
        configmap/bpfman-config unchanged (server dry run)
        daemonset.apps/bpfman-daemon unchanged (server dry run)
        daemonset.apps/bpfman-metrics-proxy pruned (server dry run)
        servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor pruned (server dry run)
        servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor pruned (server dry run)
        service/bpfman-agent-metrics-service failed (server dry run)
        service/bpfman-controller-manager-metrics-service pruned (server dry run)
        2> using context "controlplane", server SERVER
        2> error: cannot prune service/bpfman-agent-metrics-service in ebpf: fields of it are owned by kubectl-label (Update) since TIME
        2> hint: kubectl bpfman config apply --prune --force-conflicts deletes it all the same
        2> 4 pruned, 4 unchanged, 1 failed (server dry run)
        exit 4
        $ apply --monitoring off --prune
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon unchanged
        daemonset.apps/bpfman-metrics-proxy pruned
        servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor pruned
        servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor pruned
        service/bpfman-agent-metrics-service failed
        service/bpfman-controller-manager-metrics-service pruned
        2> using context "controlplane", server SERVER
        2> error: cannot prune service/bpfman-agent-metrics-service in ebpf: fields of it are owned by kubectl-label (Update) since TIME
        2> hint: kubectl bpfman config apply --prune --force-conflicts deletes it all the same
        2> 4 pruned, 4 unchanged, 1 failed
        exit 4
        $ apply --monitoring off --prune --force-conflicts
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon unchanged
        service/bpfman-agent-metrics-service pruned
        2> using context "controlplane", server SERVER
        2> 1 pruned, 4 unchanged
        exit 0
        $ diff --monitoring off
        2> 4 objects: 0 to change
        exit 0
    "#]].assert_eq(&told.concat());
}

/// An override leaves its object alone; a former namespace's objects are left over.
#[test]
fn what_moved_is_an_orphan_and_what_an_override_leaves_alone_is_none() {
    let cluster = applied(Platform::PLAIN);
    cluster.kubectl_ok(&["create", "namespace", "other"]);
    let overrides = r#"{"spec": {"namespace": "other", "overrides": [{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "namespace": "", "name": "csi.bpfman.io", "unmanaged": true}]}}"#;
    cluster.kubectl_ok(&["patch", "configs.bpfman.io/bpfman-config", "--type", "merge", "-p", overrides]);
    let told = ["apply --prune", "diff"].map(|words| quiet(&cluster, words));
    expect![[r#"
        namespace/other configured
        configmap/bpfman-config created
        daemonset.apps/bpfman-daemon created
        daemonset.apps/bpfman-daemon pruned
        configmap/bpfman-config pruned
        exit 0
        exit 0
    "#]]
    .assert_eq(&told.concat());
}
