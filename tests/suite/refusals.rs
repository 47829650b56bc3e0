//! What the cluster refuses: one clear error each, the right exit code, and the others done.

use expect_test::expect;

use crate::controlplane::{Cluster, Platform};
use crate::program::{command, config, prepare, requests, run, run_as, said};

fn file(cluster: &Cluster, text: &str) -> String {
    let path = cluster.kubeconfig().with_file_name("file.yaml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// A role with get and list alone answers what it can: by ownership where that is certain, else by values, and says so once.
#[test]
fn who_may_only_read_gets_an_approximate_diff() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    run(&cluster, "apply");
    cluster.kubectl_ok(&["set", "image", "-n", "ebpf", "daemonset/bpfman-daemon", "bpfman=bpfman:debug"]);
    cluster.kubectl_ok(&["delete", "csidriver/csi.bpfman.io"]);
    let reader = cluster.user("reader", "[{apiGroups: ['*'], resources: ['*'], verbs: [get, list]}]");
    let told = ["diff", "diff -o paths", "apply --dry-run=client", "apply --dry-run=server"]
        .map(|words| run_as(&reader, words));
    expect![[r#"
        csidriver.storage.k8s.io/csi.bpfman.io: missing (approximate)
        +apiVersion: storage.k8s.io/v1
        +kind: CSIDriver
        +metadata:
        +  name: csi.bpfman.io
        +  ownerReferences:
        +  - apiVersion: bpfman.io/v1alpha1
        +    blockOwnerDeletion: true
        +    controller: true
        +    kind: Config
        +    name: bpfman-config
        +    uid: UID
        +spec:
        +… 8 more lines
        daemonset.apps/bpfman-daemon in ebpf: 1 change (approximate); applying restarts its pods
        @@ spec.template.spec.containers[name="bpfman"].image @@
                     fieldRef:
                       apiVersion: v1
                       fieldPath: spec.nodeName
        -        image: bpfman:debug  # kubectl-set (Update) since TIME
        +        image: registry.example/daemon:v2
                 imagePullPolicy: IfNotPresent
                 name: bpfman
                 resources: {}
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> warning: compared by values and ownership alone, without defaults and checks of the server: forbidden: User "reader" cannot patch resource "csidrivers" in API group "storage.k8s.io" at the cluster scope
        2> 4 objects: 2 to change, 2 compared approximately
        exit 1

        csidriver.storage.k8s.io/csi.bpfman.io (root): missing (approximate)
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.containers[name="bpfman"].image: "bpfman:debug" -> "registry.example/daemon:v2"  # kubectl-set (Update) since TIME
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> warning: compared by values and ownership alone, without defaults and checks of the server: forbidden: User "reader" cannot patch resource "csidrivers" in API group "storage.k8s.io" at the cluster scope
        2> 4 objects: 2 to change, 2 compared approximately
        exit 1

        namespace/ebpf unchanged (dry run)
        csidriver.storage.k8s.io/csi.bpfman.io created (dry run)
        configmap/bpfman-config unchanged (dry run)
        daemonset.apps/bpfman-daemon configured (dry run)
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> warning: csidriver.storage.k8s.io/csi.bpfman.io: not checked by the server: forbidden: User "reader" cannot patch resource "csidrivers" in API group "storage.k8s.io" at the cluster scope
        2> warning: daemonset.apps/bpfman-daemon: not checked by the server: forbidden: User "reader" cannot patch resource "daemonsets" in API group "apps" in the namespace "ebpf"
        2> 1 created, 1 configured, 2 unchanged (dry run)
        exit 0

        namespace/ebpf unchanged (server dry run)
        csidriver.storage.k8s.io/csi.bpfman.io failed (server dry run)
        configmap/bpfman-config unchanged (server dry run)
        daemonset.apps/bpfman-daemon failed (server dry run)
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot apply csidriver.storage.k8s.io/csi.bpfman.io: forbidden: User "reader" cannot patch resource "csidrivers" in API group "storage.k8s.io" at the cluster scope
        2> hint: request the permission, or use another identity: --user, --context, --as
        2> error: cannot apply daemonset.apps/bpfman-daemon in ebpf: forbidden: User "reader" cannot patch resource "daemonsets" in API group "apps" in the namespace "ebpf"
        2> 2 unchanged, 2 failed (server dry run)
        exit 4
    "#]].assert_eq(&told.join("\n"));
}

#[test]
fn who_may_do_little_does_that_and_hears_of_the_rest() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    run(&cluster, "apply");
    cluster.kubectl_ok(&["delete", "-n", "ebpf", "configmap/bpfman-config", "daemonset/bpfman-daemon"]);
    let narrow = cluster.user(
        "narrow",
        "[{apiGroups: [''], resources: [configmaps], verbs: [get, patch, create]},
          {apiGroups: [bpfman.io], resources: [configs], verbs: [get]}]",
    );
    let reader = cluster.user("reader", "[{apiGroups: ['*'], resources: ['*'], verbs: [get]}]");
    let told = [run_as(&narrow, "apply"), run_as(&reader, "diff -o paths"), run_as(&reader, "apply")];
    expect![[r#"
        namespace/ebpf failed
        csidriver.storage.k8s.io/csi.bpfman.io failed
        configmap/bpfman-config created
        daemonset.apps/bpfman-daemon failed
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot apply namespace/ebpf: forbidden: User "narrow" cannot patch resource "namespaces" in API group "" in the namespace "ebpf"
        2> hint: request the permission, or use another identity: --user, --context, --as
        2> error: cannot apply csidriver.storage.k8s.io/csi.bpfman.io: forbidden: User "narrow" cannot patch resource "csidrivers" in API group "storage.k8s.io" at the cluster scope
        2> error: cannot apply daemonset.apps/bpfman-daemon in ebpf: forbidden: User "narrow" cannot patch resource "daemonsets" in API group "apps" in the namespace "ebpf"
        2> 1 created, 3 failed
        exit 4

        daemonset.apps/bpfman-daemon in ebpf (root): missing (approximate)
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> warning: compared by values and ownership alone, without defaults and checks of the server: forbidden: User "reader" cannot patch resource "daemonsets" in API group "apps" in the namespace "ebpf"
        2> cannot look for orphans of kind CSIDriver, ClusterRole, ClusterRoleBinding, ConfigMap, DaemonSet, Role, RoleBinding, SecurityContextConstraints, Service, ServiceMonitor: forbidden: User "reader" cannot list resource "csidrivers" in API group "storage.k8s.io" at the cluster scope
        2> 4 objects: 1 to change, 1 compared approximately
        exit 1

        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon failed
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot apply daemonset.apps/bpfman-daemon in ebpf: forbidden: User "reader" cannot patch resource "daemonsets" in API group "apps" in the namespace "ebpf"
        2> hint: request the permission, or use another identity: --user, --context, --as
        2> 3 unchanged, 1 failed
        exit 4
    "#]].assert_eq(&told.join("\n"));
}

#[test]
fn a_missing_namespace_is_told_once_and_what_is_in_none_is_done() {
    let cluster = Cluster::start(Platform::PLAIN);
    cluster.apply(&config());
    let told = [
        run(&cluster, "diff -q -o paths"),
        run(&cluster, "apply"),
        run(&cluster, "apply --create-namespace --wait --timeout 1s"),
    ];
    expect![[r#"
        namespace/ebpf (root): missing
        csidriver.storage.k8s.io/csi.bpfman.io (root): missing
        configmap/bpfman-config in ebpf (root): missing (namespace "ebpf" not found)
        daemonset.apps/bpfman-daemon in ebpf (root): missing (namespace "ebpf" not found)
        exit 1

        namespace/ebpf failed
        csidriver.storage.k8s.io/csi.bpfman.io created
        configmap/bpfman-config skipped (namespace "ebpf" not found)
        daemonset.apps/bpfman-daemon skipped (namespace "ebpf" not found)
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot apply namespace/ebpf: namespace "ebpf" not found
        2> hint: create it with --create-namespace or: kubectl create namespace ebpf
        2> 1 created, 2 skipped, 1 failed
        exit 4

        namespace/ebpf created
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config created
        daemonset.apps/bpfman-daemon created
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> daemonset.apps/bpfman-daemon rolling out: its controller has not seen it yet
        2> error: not rolled out in time: daemonset.apps/bpfman-daemon in ebpf
        2> hint: allow more time with --timeout
        2> hint: look at the pods: kubectl get pods -n ebpf -o wide; kubectl describe daemonset.apps/bpfman-daemon -n ebpf
        2> 3 created, 1 unchanged
        exit 5
    "#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn a_kind_that_is_not_served_does_not_stop_the_others() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let told = [run(&cluster, "apply --monitoring on"), run(&cluster, "diff --monitoring on -o paths")];
    expect![[r#"
        namespace/ebpf configured
        csidriver.storage.k8s.io/csi.bpfman.io created
        configmap/bpfman-config created
        service/bpfman-agent-metrics-service created
        service/bpfman-controller-manager-metrics-service created
        servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor failed
        servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor failed
        daemonset.apps/bpfman-daemon created
        daemonset.apps/bpfman-metrics-proxy created
        2> using context "controlplane", server SERVER
        2> error: cannot apply servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor in ebpf: the server has no resource servicemonitors.monitoring.coreos.com (monitoring.coreos.com/v1)
        2> hint: install the API, or leave its objects out: --monitoring off, --platform kubernetes
        2> error: cannot apply servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor in ebpf: the server has no resource servicemonitors.monitoring.coreos.com (monitoring.coreos.com/v1)
        2> 6 created, 1 configured, 2 failed
        exit 4

        servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor in ebpf (root): unknown
        servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor in ebpf (root): unknown
        2> error: cannot compare servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor in ebpf: the server has no resource servicemonitors.monitoring.coreos.com (monitoring.coreos.com/v1)
        2> hint: install the API, or leave its objects out: --monitoring off, --platform kubernetes
        2> error: cannot compare servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor in ebpf: the server has no resource servicemonitors.monitoring.coreos.com (monitoring.coreos.com/v1)
        2> 9 objects: 0 to change, 2 unknown
        exit 4
    "#]].assert_eq(&told.join("\n"));
}

#[test]
fn a_config_that_is_not_there_is_told_apart_from_a_kind_that_is_not() {
    let without = Cluster::start(Platform { without_config: true, ..Platform::PLAIN });
    let empty = Cluster::start(Platform::PLAIN);
    let told: Vec<String> = [&without, &empty]
        .into_iter()
        .flat_map(|cluster| ["render", "diff", "apply", "watch"].map(|words| run(cluster, words)))
        .collect();
    expect![[r#"
        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: the server has no resource configs.bpfman.io (bpfman.io/v1alpha1)
        2> hint: install the bpfman custom resource definitions first
        exit 4

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: the server has no resource configs.bpfman.io (bpfman.io/v1alpha1)
        2> hint: install the bpfman custom resource definitions first
        exit 4

        2> using context "controlplane", server SERVER
        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: the server has no resource configs.bpfman.io (bpfman.io/v1alpha1)
        2> hint: install the bpfman custom resource definitions first
        exit 4

        2> using context "controlplane", server SERVER
        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: the server has no resource configs.bpfman.io (bpfman.io/v1alpha1)
        2> hint: install the bpfman custom resource definitions first
        exit 4

        2> error: config.bpfman.io/bpfman-config not found
        2> hint: create it, read it from a file with --filename, or choose another one with --name
        exit 4

        2> error: config.bpfman.io/bpfman-config not found
        2> hint: create it, read it from a file with --filename, or choose another one with --name
        exit 4

        2> using context "controlplane", server SERVER
        2> error: config.bpfman.io/bpfman-config not found
        2> hint: create it, read it from a file with --filename, or choose another one with --name
        exit 4

        2> using context "controlplane", server SERVER
        2> error: config.bpfman.io/bpfman-config not found
        2> hint: create it, or choose another one with --name
        exit 4
    "#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn who_reaches_no_cluster_hears_why() {
    let mut cluster = Cluster::start(Platform { without_config: true, ..Platform::PLAIN });
    cluster.pause();
    let told = ["diff", "apply", "watch", "render"].map(|words| run(&cluster, words));
    expect![[r#"
        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach SERVER: connection refused
        2> hint: check that the API server is running, and the address: --server, kubectl config view --minify
        exit 5

        2> using context "controlplane", server SERVER
        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach SERVER: connection refused
        2> hint: check that the API server is running, and the address: --server, kubectl config view --minify
        exit 5

        2> using context "controlplane", server SERVER
        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach SERVER: connection refused
        2> hint: check that the API server is running, and the address: --server, kubectl config view --minify
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: cannot reach SERVER: connection refused
        2> hint: check that the API server is running, and the address: --server, kubectl config view --minify
        exit 5
    "#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn nothing_is_sent_for_a_wrong_config() {
    let cluster = Cluster::start(Platform::PLAIN);
    let wrong = file(&cluster, &config().replace("\"agent\"", "\"agnet\"").replace("9000", "\"9000\""));
    let mark = cluster.requests().len();
    let told =
        ["render", "diff", "apply"].map(|word| said(&mut command(cluster.kubeconfig(), &format!("{word} -f {wrong}"))));
    assert_eq!(requests(&cluster, mark), []);
    expect![[r#"
        2> error: FILE:1:95: spec.agent is missing
        2> error: FILE:1:96: spec.agnet is an unknown field; did you mean spec.agent?
        exit 3

        2> error: FILE:1:95: spec.agent is missing
        2> error: FILE:1:96: spec.agnet is an unknown field; did you mean spec.agent?
        exit 3

        2> error: FILE:1:95: spec.agent is missing
        2> error: FILE:1:96: spec.agnet is an unknown field; did you mean spec.agent?
        exit 3
    "#]]
    .assert_eq(&told.join("\n").replace(&wrong, "FILE"));
}

#[test]
fn what_cannot_be_changed_needs_to_be_made_anew() {
    let cluster = Cluster::start(Platform::ALL);
    prepare(&cluster);
    for object in [
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: bpfman-privileged-scc},
          roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}}",
        "{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: csi.bpfman.io}, spec: {attachRequired: true}}",
        "{apiVersion: v1, kind: Service, metadata: {name: bpfman-agent-metrics-service, namespace: ebpf},
          spec: {clusterIP: 10.0.0.77, ports: [{name: one, port: 1}]}}",
        "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: bpfman-metrics-proxy, namespace: ebpf},
          spec: {selector: {matchLabels: {d: d}}, template: {metadata: {labels: {d: d}}, spec: {containers: [{name: c, image: i}]}}}}",
    ] {
        cluster.apply(object);
    }
    let told = [run(&cluster, "diff -q -o paths"), run(&cluster, "apply -q --force-conflicts")];
    expect![[r#"
        namespace/ebpf metadata.annotations: (none) -> {"openshift.io/description":"Openshift bpfman components","workload.openshift.io/allowed":"management"}
        namespace/ebpf metadata.labels["openshift.io/cluster-monitoring"]: (none) -> "true"
        namespace/ebpf metadata.labels["pod-security.kubernetes.io/audit"]: (none) -> "privileged"
        namespace/ebpf metadata.labels["pod-security.kubernetes.io/enforce"]: (none) -> "privileged"
        namespace/ebpf metadata.labels["pod-security.kubernetes.io/warn"]: (none) -> "privileged"
        clusterrole.rbac.authorization.k8s.io/bpfman-user (root): missing
        clusterrolebinding.rbac.authorization.k8s.io/bpfman-privileged-scc roleRef: {"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"} -> {"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"system:openshift:scc:privileged"}  # kubectl (Apply) since TIME; needs recreate
        clusterrolebinding.rbac.authorization.k8s.io/bpfman-privileged-scc metadata.ownerReferences: (none) -> [{"apiVersion":"bpfman.io/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"Config","name":"bpfman-config","… (165 bytes); needs recreate
        clusterrolebinding.rbac.authorization.k8s.io/bpfman-privileged-scc subjects: (none) -> [{"kind":"ServiceAccount","name":"bpfman-daemon","namespace":"ebpf"}]; needs recreate
        clusterrolebinding.rbac.authorization.k8s.io/bpfman-prometheus-metrics-reader (root): missing
        role.rbac.authorization.k8s.io/bpfman-prometheus-k8s in ebpf (root): missing
        rolebinding.rbac.authorization.k8s.io/bpfman-prometheus-k8s in ebpf (root): missing
        securitycontextconstraints.security.openshift.io/bpfman-restricted (root): missing
        csidriver.storage.k8s.io/csi.bpfman.io spec.attachRequired: true -> false  # kubectl (Apply) since TIME; needs recreate
        csidriver.storage.k8s.io/csi.bpfman.io spec.volumeLifecycleModes: ["Persistent"] -> ["Ephemeral"]  # no field manager; needs recreate
        csidriver.storage.k8s.io/csi.bpfman.io metadata.ownerReferences: (none) -> [{"apiVersion":"bpfman.io/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"Config","name":"bpfman-config","… (165 bytes); needs recreate
        csidriver.storage.k8s.io/csi.bpfman.io spec.podInfoOnMount: false -> true  # no field manager; needs recreate
        configmap/bpfman-config in ebpf (root): missing
        service/bpfman-agent-metrics-service in ebpf spec.clusterIP: "10.0.0.77" -> "None"  # kubectl (Apply) since TIME; needs recreate
        service/bpfman-agent-metrics-service in ebpf metadata.annotations: (none) -> {"service.beta.openshift.io/serving-cert-secret-name":"agent-metrics-tls"}; needs recreate
        service/bpfman-agent-metrics-service in ebpf metadata.labels: (none) -> {"app.kubernetes.io/component":"metrics","app.kubernetes.io/created-by":"bpfman-operator","app.kubernetes.io/instance":"… (287 bytes); needs recreate
        service/bpfman-agent-metrics-service in ebpf metadata.ownerReferences: (none) -> [{"apiVersion":"bpfman.io/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"Config","name":"bpfman-config","… (165 bytes); needs recreate
        service/bpfman-agent-metrics-service in ebpf spec.ports[port=8443,protocol="TCP"]: (none) -> {"name":"https-metrics","port":8443,"protocol":"TCP","targetPort":"https-metrics"}; needs recreate
        service/bpfman-agent-metrics-service in ebpf spec.selector: (none) -> {"name":"bpfman-metrics-proxy"}; needs recreate
        service/bpfman-agent-metrics-service in ebpf spec.ports[port=1,protocol="TCP"]: {"name":"one","port":1,"protocol":"TCP","targetPort":1}; foreign  # kubectl (Apply) since TIME
        service/bpfman-controller-manager-metrics-service in ebpf (root): missing
        servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor in ebpf (root): missing
        servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor in ebpf (root): missing
        daemonset.apps/bpfman-daemon in ebpf (root): missing
        daemonset.apps/bpfman-metrics-proxy in ebpf spec.selector: {"matchLabels":{"d":"d"}} -> {"matchLabels":{"name":"bpfman-metrics-proxy"}}  # kubectl (Apply) since TIME; needs recreate
        daemonset.apps/bpfman-metrics-proxy in ebpf metadata.labels: (none) -> {"k8s-app":"bpfman-metrics-proxy"}; needs recreate
        daemonset.apps/bpfman-metrics-proxy in ebpf metadata.ownerReferences: (none) -> [{"apiVersion":"bpfman.io/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"Config","name":"bpfman-config","… (165 bytes); needs recreate
        daemonset.apps/bpfman-metrics-proxy in ebpf spec.template.metadata.annotations: (none) -> {"service.beta.openshift.io/serving-cert-secret-name":"agent-metrics-tls"}; needs recreate
        daemonset.apps/bpfman-metrics-proxy in ebpf spec.template.metadata.labels.name: (none) -> "bpfman-metrics-proxy"; needs recreate
        daemonset.apps/bpfman-metrics-proxy in ebpf spec.template.spec.automountServiceAccountToken: (none) -> true; needs recreate
        daemonset.apps/bpfman-metrics-proxy in ebpf spec.template.spec.containers[name="metrics-proxy"]: (none) -> {"args":["--metrics-bind-address=:8443","--socket=/var/run/bpfman-agent/metrics.sock","--cert-dir=/tmp/k8s-webhook-serve… (1162 bytes); needs recreate
        daemonset.apps/bpfman-metrics-proxy in ebpf spec.template.spec.serviceAccount: (none) -> "bpfman-daemon"; needs recreate
        daemonset.apps/bpfman-metrics-proxy in ebpf spec.template.spec.serviceAccountName: (none) -> "bpfman-daemon"; needs recreate
        daemonset.apps/bpfman-metrics-proxy in ebpf spec.template.spec.tolerations: (none) -> [{"effect":"NoSchedule","key":"node-role.kubernetes.io/control-plane","operator":"Exists"},{"effect":"NoSchedule","key":… (174 bytes); needs recreate
        daemonset.apps/bpfman-metrics-proxy in ebpf spec.template.spec.volumes: (none) -> [{"hostPath":{"path":"/var/run/bpfman-agent","type":"DirectoryOrCreate"},"name":"bpfman-metrics"},{"name":"agent-metrics… (189 bytes); needs recreate
        daemonset.apps/bpfman-metrics-proxy in ebpf spec.template.spec.containers[name="c"]: {"image":"i","imagePullPolicy":"Always","name":"c","resources":{},"terminationMessagePath":"/dev/termination-log","termi… (148 bytes); foreign  # kubectl (Apply) since TIME
        daemonset.apps/bpfman-metrics-proxy in ebpf spec.template.metadata.labels.d: "d"; foreign  # kubectl (Apply) since TIME
        2> error: cannot compare clusterrolebinding.rbac.authorization.k8s.io/bpfman-privileged-scc: field roleRef is immutable; the object must be recreated
        2> error: cannot compare csidriver.storage.k8s.io/csi.bpfman.io: fields spec.attachRequired, spec.volumeLifecycleModes are immutable; the object must be recreated
        2> error: cannot compare service/bpfman-agent-metrics-service in ebpf: field spec.clusterIP is immutable; the object must be recreated
        2> error: cannot compare daemonset.apps/bpfman-metrics-proxy in ebpf: field spec.selector is immutable; the object must be recreated
        exit 4

        namespace/ebpf configured
        clusterrole.rbac.authorization.k8s.io/bpfman-user created
        clusterrolebinding.rbac.authorization.k8s.io/bpfman-privileged-scc failed
        clusterrolebinding.rbac.authorization.k8s.io/bpfman-prometheus-metrics-reader created
        role.rbac.authorization.k8s.io/bpfman-prometheus-k8s created
        rolebinding.rbac.authorization.k8s.io/bpfman-prometheus-k8s created
        securitycontextconstraints.security.openshift.io/bpfman-restricted created
        csidriver.storage.k8s.io/csi.bpfman.io failed
        configmap/bpfman-config created
        service/bpfman-agent-metrics-service failed
        service/bpfman-controller-manager-metrics-service created
        servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor created
        servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor created
        daemonset.apps/bpfman-daemon created
        daemonset.apps/bpfman-metrics-proxy failed
        2> error: cannot apply clusterrolebinding.rbac.authorization.k8s.io/bpfman-privileged-scc: field roleRef is immutable; the object must be recreated
        2> error: cannot apply csidriver.storage.k8s.io/csi.bpfman.io: fields spec.attachRequired, spec.volumeLifecycleModes are immutable; the object must be recreated
        2> error: cannot apply service/bpfman-agent-metrics-service in ebpf: field spec.clusterIP is immutable; the object must be recreated
        2> error: cannot apply daemonset.apps/bpfman-metrics-proxy in ebpf: field spec.selector is immutable; the object must be recreated
        2> warning: daemonset.apps/bpfman-metrics-proxy: spec.template.spec.containers[name="c"] was added by kubectl (Apply) since TIME; not removed
        exit 4
    "#]].assert_eq(&told.join("\n"));
}

#[test]
fn an_object_on_its_way_out_is_not_applied_to() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    run(&cluster, "apply");
    let held = r#"{"metadata":{"finalizers":["example.com/held"]}}"#;
    cluster.kubectl_ok(&["patch", "-n", "ebpf", "daemonset/bpfman-daemon", "-p", held]);
    cluster.kubectl_ok(&["delete", "-n", "ebpf", "daemonset/bpfman-daemon", "--wait=false"]);
    let told = [run(&cluster, "diff"), run(&cluster, "apply")];
    cluster.kubectl_ok(&["delete", "-n", "ebpf", "configmap/bpfman-config"]);
    cluster.kubectl_ok(&["delete", "namespace/ebpf", "--wait=false"]);
    let told = told.join("\n") + "\n" + &run(&cluster, "diff -o paths") + "\n" + &run(&cluster, "apply");
    expect![[r#"
        daemonset.apps/bpfman-daemon in ebpf: being deleted
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot compare daemonset.apps/bpfman-daemon in ebpf: the object is being deleted
        2> 4 objects: 0 to change, 1 being deleted
        exit 4

        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon failed
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot apply daemonset.apps/bpfman-daemon in ebpf: the object is being deleted
        2> 3 unchanged, 1 failed
        exit 4

        namespace/ebpf (root): being deleted
        configmap/bpfman-config in ebpf (root): being deleted
        daemonset.apps/bpfman-daemon in ebpf (root): being deleted
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot compare namespace/ebpf: namespace "ebpf" is being deleted
        2> error: cannot compare configmap/bpfman-config in ebpf: namespace "ebpf" is being deleted
        2> error: cannot compare daemonset.apps/bpfman-daemon in ebpf: the object is being deleted
        2> 4 objects: 0 to change, 3 being deleted
        exit 4

        namespace/ebpf failed
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config skipped (namespace "ebpf" is being deleted)
        daemonset.apps/bpfman-daemon skipped (namespace "ebpf" is being deleted)
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot apply namespace/ebpf: namespace "ebpf" is being deleted
        2> 1 unchanged, 2 skipped, 1 failed
        exit 4
    "#]]
    .assert_eq(&told);
}
