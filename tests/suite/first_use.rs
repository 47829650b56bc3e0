//! From an empty cluster to one that is as wanted, on every platform.

use expect_test::{Expect, expect};

use crate::controlplane::{Cluster, Platform};
use crate::program::{command, config, live, prepare, requests, run, said, writes};

/// Everything that may be wanted, as kubectl names it.
const KINDS: &str = "configmaps,services,daemonsets,csidrivers,clusterroles,clusterrolebindings,roles,rolebindings";

/// Name and resource version of all objects of these kinds, and of what only some platforms serve.
fn versions(cluster: &Cluster, platform: Platform) -> String {
    let mut kinds = KINDS.to_owned() + ",namespaces";
    for (served, kind) in
        [(platform.openshift, ",securitycontextconstraints"), (platform.monitoring, ",servicemonitors")]
    {
        kinds += if served { kind } else { "" };
    }
    let columns = r#"jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{"\n"}{end}"#;
    cluster.kubectl_ok(&["get", &kinds, "--all-namespaces", "-o", columns])
}

/// The text with each object's `word` in place of `as it was`.
fn all(names: &str, word: &str) -> String {
    names.lines().map(|name| format!("{name} {word}\n")).collect()
}

fn from_empty_to_in_sync(platform: Platform, names: &Expect) {
    let cluster = Cluster::start(platform);
    prepare(&cluster);
    let new = run(&cluster, "diff -q -o name");
    let listed = new.strip_suffix("exit 1\n").expect("drift, and nothing on standard error");
    names.assert_eq(listed);
    // The namespace is there, without our labels.
    let created = all(listed, "created").replace("namespace/ebpf created", "namespace/ebpf configured");
    assert_eq!(run(&cluster, "apply -q"), created + "exit 0\n");
    let (before, mark) = (versions(&cluster, platform), cluster.requests().len());
    assert_eq!(run(&cluster, "apply -q"), all(listed, "unchanged") + "exit 0\n");
    assert_eq!(run(&cluster, "diff -q"), "exit 0\n");
    assert_eq!(writes(&cluster, mark), []);
    assert_eq!(versions(&cluster, platform), before);
}

#[test]
fn a_plain_cluster_becomes_as_wanted_and_stays_so() {
    from_empty_to_in_sync(
        Platform::PLAIN,
        &expect![[r#"
        namespace/ebpf
        csidriver.storage.k8s.io/csi.bpfman.io
        configmap/bpfman-config
        daemonset.apps/bpfman-daemon
    "#]],
    );
}

#[test]
fn a_cluster_with_monitoring_becomes_as_wanted_and_stays_so() {
    from_empty_to_in_sync(
        Platform::MONITORING,
        &expect![[r#"
        namespace/ebpf
        csidriver.storage.k8s.io/csi.bpfman.io
        configmap/bpfman-config
        service/bpfman-agent-metrics-service
        service/bpfman-controller-manager-metrics-service
        servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor
        servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor
        daemonset.apps/bpfman-daemon
        daemonset.apps/bpfman-metrics-proxy
    "#]],
    );
}

#[test]
fn openshift_becomes_as_wanted_and_stays_so() {
    from_empty_to_in_sync(
        Platform::OPENSHIFT,
        &expect![[r#"
        namespace/ebpf
        clusterrole.rbac.authorization.k8s.io/bpfman-user
        clusterrolebinding.rbac.authorization.k8s.io/bpfman-privileged-scc
        securitycontextconstraints.security.openshift.io/bpfman-restricted
        csidriver.storage.k8s.io/csi.bpfman.io
        configmap/bpfman-config
        daemonset.apps/bpfman-daemon
    "#]],
    );
}

#[test]
fn openshift_with_monitoring_becomes_as_wanted_and_stays_so() {
    from_empty_to_in_sync(
        Platform::ALL,
        &expect![[r#"
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
        daemonset.apps/bpfman-metrics-proxy
    "#]],
    );
}

/// Nothing but the kinds is there: all is told as new, and `apply -f` brings the Config and the namespace too.
#[test]
fn an_empty_cluster_gets_the_config_of_a_file_and_all_of_its_objects() {
    let cluster = Cluster::start(Platform::PLAIN);
    let file = cluster.kubeconfig().with_file_name("config.json");
    std::fs::write(&file, config()).unwrap();
    let file = file.display();
    let told = [
        run(&cluster, &format!("diff -f {file} -o paths")),
        run(&cluster, &format!("apply -f {file} --create-namespace")),
        run(&cluster, &format!("apply -f {file}")),
        run(&cluster, "diff"),
    ];
    expect![[r#"
        config.bpfman.io/bpfman-config (root): missing
        namespace/ebpf (root): missing
        csidriver.storage.k8s.io/csi.bpfman.io (root): missing
        configmap/bpfman-config in ebpf (root): missing (namespace "ebpf" not found)
        daemonset.apps/bpfman-daemon in ebpf (root): missing (namespace "ebpf" not found)
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> 5 objects: 5 to change; hidden: 11 fields of server bookkeeping
        exit 1

        config.bpfman.io/bpfman-config created
        namespace/ebpf created
        csidriver.storage.k8s.io/csi.bpfman.io created
        configmap/bpfman-config created
        daemonset.apps/bpfman-daemon created
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> 5 created
        exit 0

        config.bpfman.io/bpfman-config unchanged
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon unchanged
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> 5 unchanged
        exit 0

        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> 4 objects: 0 to change
        exit 0
    "#]]
    .assert_eq(&told.join("\n"));
}

/// The same manifests by kubectl's own hand give the same live objects, to the last field that is owned.
#[test]
fn what_kubectl_applies_of_render_is_what_apply_makes() {
    let cluster = Cluster::start(Platform::ALL);
    prepare(&cluster);
    let manifests = cluster.kubeconfig().with_file_name("manifests.yaml");
    let rendered = command(cluster.kubeconfig(), "render -q").output().unwrap();
    std::fs::write(&manifests, rendered.stdout).unwrap();
    let manifests = manifests.display().to_string();
    let objects = || {
        let mut objects = live(&cluster, &["-f", &manifests]);
        for object in &mut objects {
            let metadata = object["metadata"].as_object_mut().unwrap();
            for varies in ["uid", "resourceVersion", "creationTimestamp"] {
                metadata.remove(varies);
            }
            // Nobody chooses the address of a service.
            for address in ["clusterIP", "clusterIPs"] {
                object["spec"].as_object_mut().map(|spec| spec.remove(address));
            }
            for entry in object["metadata"]["managedFields"].as_array_mut().unwrap() {
                entry.as_object_mut().unwrap().remove("time");
            }
        }
        objects
    };
    run(&cluster, "apply");
    let ours = objects();
    cluster.kubectl_ok(&["delete", "-f", &manifests, "--cascade=background", "--wait=false"]);
    finalize(&cluster);
    cluster.kubectl_ok(&["create", "namespace", "ebpf"]);
    cluster.kubectl_ok(&["apply", "--server-side", "--field-manager=bpfman-config", "-f", &manifests]);
    let theirs = objects();
    let differ: Vec<_> = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours != theirs).collect();
    assert!(differ.is_empty() && ours.len() == theirs.len(), "{differ:#?}");
    assert_eq!(said(&mut command(cluster.kubeconfig(), "diff -q")), "exit 0\n");
    assert!(!requests(&cluster, 0).is_empty());
}

/// No controller ends namespaces here.
fn finalize(cluster: &Cluster) {
    let namespace = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ebpf"},"spec":{"finalizers":[]}}"#;
    let file = cluster.kubeconfig().with_file_name("namespace.json");
    std::fs::write(&file, namespace).unwrap();
    let file = file.display().to_string();
    cluster.kubectl_ok(&["replace", "--raw", "/api/v1/namespaces/ebpf/finalize", "-f", &file]);
}
