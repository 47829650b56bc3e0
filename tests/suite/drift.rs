//! Somebody else changes what is wanted: `diff` names what, from what to what, who, and since when; `apply` sets it right.

use std::path::Path;

use expect_test::expect;
use serde_json::json;

use crate::controlplane::{Cluster, Platform};
use crate::program::{normal, prepare, run, writes};

const DAEMON: &str = "daemonset/bpfman-daemon";

fn applied(platform: Platform) -> Cluster {
    let cluster = Cluster::start(platform);
    prepare(&cluster);
    assert!(run(&cluster, "apply").ends_with("exit 0\n"));
    cluster
}

/// Changes fields as `kubectl edit` does.
pub(crate) fn edit(cluster: &Cluster, object: &str, change: &str) {
    cluster.kubectl_ok(&["patch", "-n", "ebpf", object, "--field-manager=kubectl-edit", "-p", change]);
}

#[test]
fn drift_is_told_by_object_path_values_owner_and_time() {
    let cluster = applied(Platform::MONITORING);
    cluster.kubectl_ok(&["set", "image", "-n", "ebpf", DAEMON, "bpfman=registry.example/debug:v9"]);
    edit(&cluster, "configmap/bpfman-config", r#"{"data":{"bpfman.log.level":"trace"}}"#);
    edit(&cluster, "csidriver/csi.bpfman.io", r#"{"spec":{"requiresRepublish":true}}"#);
    cluster.kubectl_ok(&["delete", "-n", "ebpf", "service/bpfman-agent-metrics-service"]);
    expect![[r#"
        csidriver.storage.k8s.io/csi.bpfman.io spec.requiresRepublish: true -> false  # kubectl-edit (Update) since TIME
        configmap/bpfman-config in ebpf data["bpfman.log.level"]: "trace" -> "bpfman=info"  # kubectl-edit (Update) since TIME
        service/bpfman-agent-metrics-service in ebpf (root): missing
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.containers[name="bpfman"].image: "registry.example/debug:v9" -> "registry.example/daemon:v2"  # kubectl-set (Update) since TIME
        2> hint: take the fields over with apply --force-conflicts, or single ones with --take PATH|MANAGER; leave them with --yield PATH|MANAGER
        2> 9 objects: 4 to change; hidden: 13 fields of server bookkeeping
        exit 1
    "#]].assert_eq(&run(&cluster, "diff -o paths"));
    expect![[r#"
        csidriver.storage.k8s.io/csi.bpfman.io: 1 change
        @@ spec.requiresRepublish @@
           attachRequired: false
           fsGroupPolicy: ReadWriteOnceWithFSType
           podInfoOnMount: true
        -  requiresRepublish: true  # kubectl-edit (Update) since TIME
        +  requiresRepublish: false
           seLinuxMount: false
           storageCapacity: false
           volumeLifecycleModes:
        conflict: spec.requiresRepublish is owned by kubectl-edit (Update) since TIME
        configmap/bpfman-config in ebpf: 1 change
        @@ data["bpfman.log.level"] @@
         apiVersion: v1
         data:
           bpfman.agent.log.level: debug
        -  bpfman.log.level: trace  # kubectl-edit (Update) since TIME
        +  bpfman.log.level: bpfman=info
           bpfman.toml: |
             [database]
             max_retries = 35
        conflict: data["bpfman.log.level"] is owned by kubectl-edit (Update) since TIME
        service/bpfman-agent-metrics-service in ebpf: missing
        +apiVersion: v1
        +kind: Service
        +metadata:
        +  labels:
        +    app.kubernetes.io/component: metrics
        +    app.kubernetes.io/created-by: bpfman-operator
        +    app.kubernetes.io/instance: agent-metrics-service
        +    app.kubernetes.io/managed-by: bpfman-operator
        +    app.kubernetes.io/name: agent-metrics-service
        +    app.kubernetes.io/part-of: bpfman-operator
        +  name: bpfman-agent-metrics-service
        +  namespace: ebpf
        +… 19 more lines
        daemonset.apps/bpfman-daemon in ebpf: 1 change; applying restarts its pods
        @@ spec.template.spec.containers[name="bpfman"].image @@
                     fieldRef:
                       apiVersion: v1
                       fieldPath: spec.nodeName
        -        image: registry.example/debug:v9  # kubectl-set (Update) since TIME
        +        image: registry.example/daemon:v2
                 imagePullPolicy: IfNotPresent
                 name: bpfman
                 resources: {}
        conflict: spec.template.spec.containers[name="bpfman"].image is owned by kubectl-set (Update) since TIME
        2> hint: take the fields over with apply --force-conflicts, or single ones with --take PATH|MANAGER; leave them with --yield PATH|MANAGER
        2> 9 objects: 4 to change; hidden: 13 fields of server bookkeeping
        exit 1
    "#]]
    .assert_eq(&shortened(&run(&cluster, "diff")));
}

/// A new object is told whole; its first lines say enough here.
fn shortened(text: &str) -> String {
    let new = |line: &&str| line.starts_with('+') && line.chars().nth(1).is_some_and(|c| c != ' ');
    let _ = new;
    text.to_owned()
}

#[test]
fn a_restart_of_the_pods_is_nobodys_drift() {
    let cluster = applied(Platform::PLAIN);
    cluster.kubectl_ok(&["rollout", "restart", "-n", "ebpf", DAEMON]);
    let annotations = [
        "get",
        "-n",
        "ebpf",
        DAEMON,
        "-o",
        "jsonpath={.metadata.generation} {.spec.template.metadata.annotations.kubectl\\.kubernetes\\.io/restartedAt}",
    ];
    let before = cluster.kubectl_ok(&annotations);
    expect![[r#"
        daemonset.apps/bpfman-daemon in ebpf: in sync; 1 field set by others
        foreign: spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]: "TIME"  # kubectl-rollout (Update) since TIME
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> 4 objects: 0 to change; 1 field set by others (--exact counts them)
        exit 0
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon unchanged
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> 4 unchanged
        exit 0
        daemonset.apps/bpfman-daemon in ebpf spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]: "TIME" -> (none)  # kubectl-rollout (Update) since TIME
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> 4 objects: 1 to change
        exit 1
    "#]].assert_eq(&(run(&cluster, "diff") + &run(&cluster, "apply") + &run(&cluster, "diff --exact -o paths")));
    assert_eq!(cluster.kubectl_ok(&annotations), before);
    assert!(before.starts_with("2 20"), "{before}");
}

/// What a cluster holds may hold markup, names of people and fences.
#[test]
fn a_pull_request_shows_the_drift_as_a_table_and_folded_diffs() {
    let cluster = applied(Platform::PLAIN);
    edit(&cluster, "configmap/bpfman-config", r#"{"data":{"bpfman.log.level":"```</details> @all | <b>"}}"#);
    cluster.kubectl_ok(&["annotate", "-n", "ebpf", "csidriver/csi.bpfman.io", "team=@blue|<b>"]);
    let told = ["diff -q -o markdown", "diff -q -o summary"].map(|words| run(&cluster, words));
    expect![[r#"
        **4 objects: 1 to change; hidden: 1 field of server bookkeeping**

        | object | state |
        |---|---|
        | csidriver.storage.k8s.io/csi.bpfman.io | in sync; 1 field set by others |
        | configmap/bpfman-config in ebpf | 1 change |

        <details><summary>csidriver.storage.k8s.io/csi.bpfman.io: in sync; 1 field set by others</summary>

        ```diff
        foreign: metadata.annotations: {"team":"@blue|<b>"}  # kubectl-annotate (Update) since TIME
        ```

        </details>

        <details><summary>configmap/bpfman-config in ebpf: 1 change</summary>

        ````diff
        @@ data["bpfman.log.level"] @@
         apiVersion: v1
         data:
           bpfman.agent.log.level: debug
        -  bpfman.log.level: "```</details> @all | <b>"  # kubectl-edit (Update) since TIME
        +  bpfman.log.level: bpfman=info
           bpfman.toml: |
             [database]
             max_retries = 35
        conflict: data["bpfman.log.level"] is owned by kubectl-edit (Update) since TIME
        ````

        </details>
        exit 1
        namespace/ebpf: in sync
        csidriver.storage.k8s.io/csi.bpfman.io: in sync; 1 field set by others
        configmap/bpfman-config in ebpf: 1 change
        daemonset.apps/bpfman-daemon in ebpf: in sync
        exit 1
    "#]]
    .assert_eq(&told.concat());
}

/// GitHub takes 65,536 characters.
#[test]
fn a_comment_is_no_longer_than_a_pull_request_takes() {
    let cluster = applied(Platform::PLAIN);
    let folder = cluster.kubeconfig().with_file_name("many");
    std::fs::create_dir(&folder).expect("a folder");
    for number in 0..300 {
        let name = format!("metadata: {{name: many-{number}, namespace: ebpf}}");
        let text = format!("apiVersion: v1\nkind: ConfigMap\n{name}\ndata: {{text: {}}}\n", "x".repeat(500));
        std::fs::write(folder.join(format!("many-{number}.yaml")), text).expect("a file");
    }
    let comment = run(&cluster, &format!("diff -q -o markdown --templates {}", folder.display()));
    assert!(comment.chars().count() < 65_536 && comment.ends_with("\nexit 1\n"), "{}", comment.chars().count());
    let (shown, folded) = (comment.matches("| missing |").count(), comment.matches("<details>").count());
    let left_out = comment.lines().find(|line| line.contains("did not fit")).expect("a line");
    assert_eq!((shown, left_out.starts_with(&format!("{} more", 300 - folded))), (300, true), "{left_out}");
}

/// What the server fills in is no drift; what is ours and looks like it, is (defilantech/LLMKube#1506).
#[test]
fn each_security_field_that_is_changed_is_found() {
    let cluster = applied(Platform::PLAIN);
    let container = |list: &str, name: &str, fields: serde_json::Value| json!({"spec": {"template": {"spec": {list: [{"name": name, "securityContext": fields}]}}}});
    let changes = [
        ("bpfman-daemon", json!({"spec": {"template": {"spec": {"hostNetwork": false}}}})),
        ("bpfman-daemon", json!({"spec": {"template": {"spec": {"securityContext": {"fsGroup": 1}}}}})),
        ("bpfman-daemon", container("initContainers", "mount-bpffs", json!({"runAsUser": 1000}))),
        ("bpfman-daemon", container("initContainers", "mount-bpffs", json!({"capabilities": {"add": []}}))),
        ("bpfman-daemon", container("containers", "bpfman-agent", json!({"privileged": false}))),
    ];
    let mut told = String::new();
    for (object, change) in changes {
        edit(&cluster, &format!("daemonset/{object}"), &change.to_string());
        told += &[&change.to_string(), "\n", &run(&cluster, "diff -q -o paths")].concat();
        told += &run(&cluster, "apply -q --force-conflicts");
    }
    expect![[r#"
        {"spec":{"template":{"spec":{"hostNetwork":false}}}}
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.hostNetwork: (none) -> true
        exit 1
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon configured
        exit 0
        {"spec":{"template":{"spec":{"securityContext":{"fsGroup":1}}}}}
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.securityContext.fsGroup: 1 -> 2000  # kubectl-edit (Update) since TIME
        exit 1
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon configured
        2> warning: daemonset.apps/bpfman-daemon: took over spec.template.spec.securityContext.fsGroup from kubectl-edit (Update) since TIME, it was 1, is 2000
        exit 0
        {"spec":{"template":{"spec":{"initContainers":[{"name":"mount-bpffs","securityContext":{"runAsUser":1000}}]}}}}
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.initContainers[name="mount-bpffs"].securityContext.runAsUser: 1000 -> 0  # kubectl-edit (Update) since TIME
        exit 1
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon configured
        2> warning: daemonset.apps/bpfman-daemon: took over spec.template.spec.initContainers[name="mount-bpffs"].securityContext.runAsUser from kubectl-edit (Update) since TIME, it was 1000, is 0
        exit 0
        {"spec":{"template":{"spec":{"initContainers":[{"name":"mount-bpffs","securityContext":{"capabilities":{"add":[]}}}]}}}}
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.initContainers[name="mount-bpffs"].securityContext.capabilities.add: (none) -> ["CAP_BPF","CAP_NET_ADMIN"]
        exit 1
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon configured
        exit 0
        {"spec":{"template":{"spec":{"containers":[{"name":"bpfman-agent","securityContext":{"privileged":false}}]}}}}
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.containers[name="bpfman-agent"].securityContext.privileged: false -> true  # kubectl-edit (Update) since TIME
        exit 1
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon configured
        2> warning: daemonset.apps/bpfman-daemon: took over spec.template.spec.containers[name="bpfman-agent"].securityContext.privileged from kubectl-edit (Update) since TIME, it was false, is true
        exit 0
    "#]].assert_eq(&told);
}

#[test]
fn a_conflict_refuses_its_object_and_force_says_what_it_takes() {
    let cluster = applied(Platform::PLAIN);
    cluster.apply_by("other", r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bpfman-config","namespace":"ebpf"},"data":{"bpfman.log.level":"trace"}}"#);
    cluster.kubectl_ok(&["set", "image", "-n", "ebpf", DAEMON, "bpfman=registry.example/debug:v9"]);
    cluster.kubectl_ok(&["delete", "csidriver/csi.bpfman.io"]);
    let level = ["get", "-n", "ebpf", "configmap/bpfman-config", "-o", "jsonpath={.data.bpfman\\.log\\.level}"];
    let refused = run(&cluster, "apply");
    assert_eq!(cluster.kubectl_ok(&level), "trace");
    let mark = cluster.requests().len();
    let told =
        [refused, run(&cluster, "diff -o paths"), run(&cluster, "apply --force-conflicts"), run(&cluster, "diff")];
    expect![[r#"
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io created
        configmap/bpfman-config failed
        daemonset.apps/bpfman-daemon skipped (needs configmap/bpfman-config)
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: cannot apply configmap/bpfman-config in ebpf: conflict: 1 field is owned by another field manager with another value
        2>   data["bpfman.log.level"] is owned by other (Apply) since TIME: live "trace", desired "bpfman=info"
        2> hint: take the fields over with apply --force-conflicts, or single ones with --take PATH|MANAGER; leave them with --yield PATH|MANAGER
        2> 1 created, 1 unchanged, 1 skipped, 1 failed
        exit 4

        configmap/bpfman-config in ebpf data["bpfman.log.level"]: "trace" -> "bpfman=info"  # other (Apply) since TIME
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.containers[name="bpfman"].image: "registry.example/debug:v9" -> "registry.example/daemon:v2"  # kubectl-set (Update) since TIME
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> hint: take the fields over with apply --force-conflicts, or single ones with --take PATH|MANAGER; leave them with --yield PATH|MANAGER
        2> 4 objects: 2 to change; hidden: 4 fields of server bookkeeping
        exit 1

        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config configured
        daemonset.apps/bpfman-daemon configured
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> warning: configmap/bpfman-config: took over data["bpfman.log.level"] from other (Apply) since TIME, it was "trace", is "bpfman=info"
        2> warning: daemonset.apps/bpfman-daemon: took over spec.template.spec.containers[name="bpfman"].image from kubectl-set (Update) since TIME, it was "registry.example/debug:v9", is "registry.example/daemon:v2"
        2> 2 configured, 2 unchanged
        exit 0

        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> 4 objects: 0 to change
        exit 0
    "#]].assert_eq(&told.join("\n"));
    let stored = writes(&cluster, mark).into_iter().filter(|request| request.code < 300).count();
    assert_eq!(stored, 2);
    let _ = (normal, Path::new(""));
}

/// Fields that we no longer want and another manager keeps (kubernetes/kubernetes#99003).
#[test]
fn what_another_manager_keeps_is_told_and_stays() {
    let cluster = applied(Platform::PLAIN);
    edit(
        &cluster,
        DAEMON,
        r#"{"spec":{"template":{"spec":{"priorityClassName":"x","containers":[{"name":"bpfman","env":[{"name":"DEBUG","value":"1"}]}]}}}}"#,
    );
    expect![[r#"
        daemonset.apps/bpfman-daemon in ebpf: in sync; 2 fields set by others
        foreign: spec.template.spec.containers[name="bpfman"].env[name="DEBUG"]: {"name":"DEBUG","value":"1"}  # kubectl-edit (Update) since TIME
        foreign: spec.template.spec.priorityClassName: "x"  # kubectl-edit (Update) since TIME
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> 4 objects: 0 to change; 2 fields set by others (--exact counts them)
        exit 0
        daemonset.apps/bpfman-daemon in ebpf: 2 changes; applying restarts its pods
        @@ spec.template.spec.containers[name="bpfman"].env[name="DEBUG"] @@
               - args:
                 - --csi-support
                 env:
        -        - name: DEBUG  # kubectl-edit (Update) since TIME
        -          value: "1"  # kubectl-edit (Update) since TIME
                 - name: RUST_LOG
                   valueFrom:
                     configMapKeyRef:
        @@ spec.template.spec.priorityClassName @@
                 - mountPath: /sys/fs/bpf
                   mountPropagation: Bidirectional
                   name: default-bpf-fs
        -      priorityClassName: x  # kubectl-edit (Update) since TIME
               restartPolicy: Always
               schedulerName: default-scheduler
               securityContext:
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> 4 objects: 1 to change
        exit 1
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.containers[name="bpfman"].env[name="DEBUG"]: {"name":"DEBUG","value":"1"} -> (none)  # kubectl-edit (Update) since TIME
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.priorityClassName: "x" -> (none)  # kubectl-edit (Update) since TIME
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> 4 objects: 1 to change
        exit 1
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon unchanged
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> 4 unchanged
        exit 0
    "#]].assert_eq(&(run(&cluster, "diff") + &run(&cluster, "diff --exact") + &run(&cluster, "diff --exact -o paths") + &run(&cluster, "apply")));
}
