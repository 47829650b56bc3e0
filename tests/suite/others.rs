//! What others write to our objects: what blocks our fields, what is foreign, what a forced apply takes and what it leaves.

use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::controlplane::{Cluster, Platform};
use crate::program::{command, live, prepare, run, said, writes};

const DAEMON: &str = "daemonset/bpfman-daemon";
const AGENT_SERVICE: &str = "service/bpfman-agent-metrics-service";

fn applied(platform: Platform) -> Cluster {
    let cluster = Cluster::start(platform);
    prepare(&cluster);
    assert!(run(&cluster, "apply").ends_with("exit 0\n"));
    cluster
}

/// Runs the program without its notes.
fn quiet(cluster: &Cluster, words: &str) -> String {
    said(&mut command(cluster.kubeconfig(), &format!("{words} -q")))
}

/// Changes an object as `kubectl patch` of the given type does.
fn patch(cluster: &Cluster, object: &str, kind: &str, change: &Value) {
    cluster.kubectl_ok(&["patch", "-n", "ebpf", object, "--type", kind, "-p", &change.to_string()]);
}

/// The managers of an object, status and scale aside, and the values at some pointers.
fn managers(object: &Value) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array().expect("entries").iter();
    let entries = entries.filter(|entry| entry.get("subresource").is_none());
    entries.map(|entry| format!("{} {}", entry["manager"], entry["operation"]).replace('"', "")).collect()
}

fn generation(cluster: &Cluster) -> i64 {
    live(cluster, &[DAEMON])[0]["metadata"]["generation"].as_i64().expect("a number")
}

/// B12, N31: `kubectl set env` puts `value` beside our `valueFrom`, which the server refuses to merge.
#[test]
fn a_value_that_set_env_put_beside_ours_is_blocked_and_removed_by_force_alone() {
    let cluster = applied(Platform::PLAIN);
    let before = live(&cluster, &[DAEMON]).remove(0);
    cluster.kubectl_ok(&["set", "env", "-n", "ebpf", DAEMON, "-c", "bpfman", "RUST_LOG=debug", "EXTRA=1"]);
    let told = ["diff", "apply", "apply --dry-run=client", "apply --force-conflicts", "diff"]
        .map(|words| quiet(&cluster, words));
    expect![[r#"
        daemonset.apps/bpfman-daemon in ebpf: blocked; 2 changes; applying restarts its pods
        @@ spec.template.spec.containers[name="bpfman"].env[name="RUST_LOG"] @@
                 - --csi-support
                 env:
                 - name: RUST_LOG
        -          value: debug  # kubectl-set (Update) since TIME
        +          valueFrom:
        +            configMapKeyRef:
        +              key: bpfman.log.level
        +              name: bpfman-config
                 - name: KUBE_NODE_NAME
                   valueFrom:
                     fieldRef:
        absent fields: the last other writer of the object is kubectl-set (Update) since TIME
        blocked by: spec.template.spec.containers[name="bpfman"].env[name="RUST_LOG"].value: "debug"  # kubectl-set (Update) since TIME
        foreign: spec.template.spec.containers[name="bpfman"].env[name="EXTRA"]: {"name":"EXTRA","value":"1"}  # kubectl-set (Update) since TIME
        exit 1

        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon failed
        2> error: cannot apply daemonset.apps/bpfman-daemon in ebpf: blocked: 1 field set by others must be removed first
        2>   spec.template.spec.containers[name="bpfman"].env[name="RUST_LOG"].value is set by kubectl-set (Update) since TIME: "debug"
        exit 4

        namespace/ebpf unchanged (dry run)
        csidriver.storage.k8s.io/csi.bpfman.io unchanged (dry run)
        configmap/bpfman-config unchanged (dry run)
        daemonset.apps/bpfman-daemon failed (dry run)
        2> error: cannot apply daemonset.apps/bpfman-daemon in ebpf: blocked: 1 field set by others must be removed first
        2>   spec.template.spec.containers[name="bpfman"].env[name="RUST_LOG"].value is set by kubectl-set (Update) since TIME: "debug"
        exit 4

        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon configured
        2> warning: daemonset.apps/bpfman-daemon: removed spec.template.spec.containers[name="bpfman"].env[name="RUST_LOG"].value, set by kubectl-set (Update) since TIME, it was "debug"
        exit 0

        daemonset.apps/bpfman-daemon in ebpf: in sync; 1 field set by others
        foreign: spec.template.spec.containers[name="bpfman"].env[name="EXTRA"]: {"name":"EXTRA","value":"1"}  # kubectl-set (Update) since TIME
        exit 0
    "#]].assert_eq(&told.join("\n"));
    let after = live(&cluster, &[DAEMON]).remove(0);
    let env =
        |object: &Value| object["spec"]["template"]["spec"]["containers"][0]["env"].as_array().expect("env").len();
    assert_eq!(env(&after), env(&before) + 1);
    assert_eq!(managers(&after), ["bpfman-config Apply", "kubectl-set Update"]);
    // What was changed and what was set right: one rollout each.
    assert_eq!(generation(&cluster), 3);
}

/// Each of these is refused beside our fields; the causes of the refusal name our field, theirs, or one that only follows from it.
#[test]
fn whatever_excludes_our_fields_is_found_and_removed_and_nothing_else() {
    let cluster = applied(Platform::MONITORING);
    let volume = json!([{"op": "replace", "path": "/spec/template/spec/volumes/2", "value": {"name": "runtime", "emptyDir": {"sizeLimit": "1Mi"}}}]);
    let port = json!([{"op": "replace", "path": "/spec/ports/0/port", "value": 9999}]);
    let key = json!({"data": {"bpfman.log.level": null}, "binaryData": {"bpfman.log.level": "YQ==", "more": "YQ=="}});
    for (object, kind, change) in
        [(DAEMON, "json", &volume), (AGENT_SERVICE, "json", &port), ("configmap/bpfman-config", "merge", &key)]
    {
        patch(&cluster, object, kind, change);
    }
    let told =
        ["diff -o paths", "apply --force-conflicts", "diff -o paths", "apply"].map(|words| quiet(&cluster, words));
    expect![[r#"
        configmap/bpfman-config in ebpf binaryData["bpfman.log.level"]: "YQ==" -> (none)  # kubectl-patch (Update) since TIME; blocks the desired fields
        configmap/bpfman-config in ebpf data["bpfman.log.level"]: (none) -> "bpfman=info"  # absent; last other writer of the object: kubectl-patch (Update) since TIME
        configmap/bpfman-config in ebpf binaryData.more: "YQ=="; foreign  # kubectl-patch (Update) since TIME
        service/bpfman-agent-metrics-service in ebpf spec.ports[port=9999,protocol="TCP"]: {"name":"https-metrics","port":9999,"protocol":"TCP","targetPort":"https-metrics"} -> (none)  # kubectl-patch (Update) since TIME; blocks the desired fields
        service/bpfman-agent-metrics-service in ebpf spec.ports[port=8443,protocol="TCP"]: (none) -> {"name":"https-metrics","port":8443,"protocol":"TCP","targetPort":"https-metrics"}  # absent; last other writer of the object: kubectl-patch (Update) since TIME
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.volumes[name="runtime"].emptyDir: {"sizeLimit":"1Mi"} -> (none)  # kubectl-patch (Update) since TIME; blocks the desired fields
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.volumes[name="runtime"].hostPath: (none) -> {"path":"/run/bpfman","type":""}  # absent; last other writer of the object: kubectl-patch (Update) since TIME
        exit 1

        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config configured
        service/bpfman-agent-metrics-service configured
        service/bpfman-controller-manager-metrics-service unchanged
        servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor unchanged
        servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor unchanged
        daemonset.apps/bpfman-daemon configured
        daemonset.apps/bpfman-metrics-proxy unchanged
        2> warning: configmap/bpfman-config: removed binaryData["bpfman.log.level"], set by kubectl-patch (Update) since TIME, it was "YQ=="
        2> warning: service/bpfman-agent-metrics-service: removed spec.ports[port=9999,protocol="TCP"], set by kubectl-patch (Update) since TIME, it was {"name":"https-metrics","port":9999,"protocol":"TCP","targetPort":"https-metrics"}
        2> warning: daemonset.apps/bpfman-daemon: removed spec.template.spec.volumes[name="runtime"].emptyDir, set by kubectl-patch (Update) since TIME, it was {"sizeLimit":"1Mi"}
        exit 0

        configmap/bpfman-config in ebpf binaryData: {"more":"YQ=="}; foreign  # kubectl-patch (Update) since TIME
        exit 0

        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        service/bpfman-agent-metrics-service unchanged
        service/bpfman-controller-manager-metrics-service unchanged
        servicemonitor.monitoring.coreos.com/bpfman-agent-metrics-monitor unchanged
        servicemonitor.monitoring.coreos.com/bpfman-controller-manager-metrics-monitor unchanged
        daemonset.apps/bpfman-daemon unchanged
        daemonset.apps/bpfman-metrics-proxy unchanged
        exit 0
    "#]].assert_eq(&told.join("\n"));
    let objects = live(&cluster, &[DAEMON, AGENT_SERVICE, "configmap/bpfman-config"]);
    let managers: Vec<_> = objects.iter().map(managers).collect();
    expect![[r#"[["bpfman-config Apply"], ["bpfman-config Apply"], ["bpfman-config Apply", "kubectl-patch Update"]]"#]]
        .assert_eq(&format!("{managers:?}"));
}

/// kubernetes/kubernetes#24198: the defaults of one strategy stay behind beside another.
#[test]
fn a_default_of_our_own_earlier_value_goes_without_force() {
    let cluster = applied(Platform::PLAIN);
    let folder = cluster.kubeconfig().with_file_name("templates");
    std::fs::create_dir_all(&folder).expect("a folder");
    let template = |strategy: &str| {
        let pods = "{metadata: {labels: {app: probe}}, spec: {containers: [{name: probe, image: probe:v1}]}}";
        let spec = format!("{strategy}selector: {{matchLabels: {{app: probe}}}}, template: {pods}");
        let text = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: probe, namespace: ebpf}}\nspec: {{{spec}}}\n"
        );
        std::fs::write(folder.join("probe.yaml"), text).expect("a file");
    };
    template("");
    let with = format!("--templates {}", folder.display());
    assert!(quiet(&cluster, &format!("apply {with}")).ends_with("exit 0\n"));
    template("strategy: {type: Recreate}, ");
    let told = ["diff -o paths", "apply", "diff -o paths"].map(|words| quiet(&cluster, &format!("{words} {with}")));
    check(
        &folder,
        &told.concat(),
        &expect![[r#"
            deployment.apps/probe in ebpf spec.strategy.rollingUpdate: {"maxSurge":"25%","maxUnavailable":"25%"} -> (none)  # no field manager
            deployment.apps/probe in ebpf spec.strategy.type: "RollingUpdate" -> "Recreate"  # no field manager
            exit 1
            namespace/ebpf unchanged
            csidriver.storage.k8s.io/csi.bpfman.io unchanged
            configmap/bpfman-config unchanged
            daemonset.apps/bpfman-daemon unchanged
            deployment.apps/probe configured
            exit 0
            exit 0
        "#]],
    );
}

/// A refusal that stays without the fields of others is the template's fault.
#[test]
fn what_the_template_itself_gets_wrong_is_not_blamed_on_others() {
    let cluster = applied(Platform::PLAIN);
    cluster.kubectl_ok(&["set", "env", "-n", "ebpf", DAEMON, "-c", "bpfman", "EXTRA=1"]);
    let folder = cluster.kubeconfig().with_file_name("templates");
    std::fs::create_dir_all(&folder).expect("a folder");
    let daemon =
        include_str!("../../templates/daemonset-daemon.yaml").replace("restartPolicy: Always", "restartPolicy: Never");
    std::fs::write(folder.join("daemonset-daemon.yaml"), daemon).expect("a file");
    let told = quiet(&cluster, &format!("diff -o paths --templates {}", folder.display()));
    check(
        &folder,
        &told,
        &expect![[r#"
        daemonset.apps/bpfman-daemon in ebpf (root): unknown
        daemonset.apps/bpfman-daemon in ebpf spec.template.spec.containers[name="bpfman"].env[name="EXTRA"]: {"name":"EXTRA","value":"1"}; foreign  # kubectl-set (Update) since TIME
        2> error: cannot compare daemonset.apps/bpfman-daemon in ebpf: invalid: spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"
        exit 4
    "#]],
    );
}

fn check(folder: &Path, told: &str, expected: &Expect) {
    expected.assert_eq(&told.replace(&folder.display().to_string(), "TEMPLATES"));
}

/// A09: what `kubectl edit` adds is invisible to a dry run; the operator would remove it.
#[test]
fn what_others_add_is_listed_and_only_exact_counts_and_removes_it() {
    let cluster = applied(Platform::PLAIN);
    let additions = json!({
        "metadata": {"labels": {"team": "net"}},
        "spec": {"template": {"spec": {
            "nodeSelector": {"disk": "ssd"},
            "containers": [{"name": "bpfman", "resources": {"limits": {"memory": "1Gi"}}}, {"name": "shell", "image": "busybox"}],
        }}},
    });
    patch(&cluster, DAEMON, "strategic", &additions);
    cluster.kubectl_ok(&["label", "namespace", "ebpf", "team=net"]);
    let told = ["diff", "diff --exact -o name", "apply", "apply --exact", "diff --exact", "apply --exact"]
        .map(|words| quiet(&cluster, words));
    expect![[r#"
        namespace/ebpf: in sync; 1 field set by others
        foreign: metadata.labels.team: "net"  # kubectl-label (Update) since TIME
        daemonset.apps/bpfman-daemon in ebpf: in sync; 4 fields set by others
        foreign: spec.template.spec.containers[name="bpfman"].resources: {"limits":{"memory":"1Gi"}}  # kubectl-patch (Update) since TIME
        foreign: spec.template.spec.containers[name="shell"]: {"image":"busybox","imagePullPolicy":"Always","name":"shell","resources":{},"terminationMessagePath":"/dev/termination-l… (158 bytes)  # kubectl-patch (Update) since TIME
        foreign: spec.template.spec.nodeSelector: {"disk":"ssd"}  # kubectl-patch (Update) since TIME
        foreign: metadata.labels.team: "net"  # kubectl-patch (Update) since TIME
        exit 0

        daemonset.apps/bpfman-daemon
        exit 1

        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon unchanged
        2> warning: daemonset.apps/bpfman-daemon: spec.template.spec.containers[name="shell"] was added by kubectl-patch (Update) since TIME; not removed
        exit 0

        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon configured
        2> warning: daemonset.apps/bpfman-daemon: removed spec.template.spec.containers[name="bpfman"].resources, set by kubectl-patch (Update) since TIME, it was {"limits":{"memory":"1Gi"}}
        2> warning: daemonset.apps/bpfman-daemon: removed spec.template.spec.containers[name="shell"], set by kubectl-patch (Update) since TIME, it was {"image":"busybox","imagePullPolicy":"Always","name":"shell","resources":{},"terminationMessagePath":"/dev/termination-l… (158 bytes)
        2> warning: daemonset.apps/bpfman-daemon: removed spec.template.spec.nodeSelector, set by kubectl-patch (Update) since TIME, it was {"disk":"ssd"}
        2> warning: daemonset.apps/bpfman-daemon: removed metadata.labels.team, set by kubectl-patch (Update) since TIME, it was "net"
        exit 0

        namespace/ebpf: in sync; 1 field set by others
        foreign: metadata.labels.team: "net"  # kubectl-label (Update) since TIME
        exit 0

        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon unchanged
        exit 0
    "#]].assert_eq(&told.join("\n"));
    assert_eq!(managers(&live(&cluster, &[DAEMON])[0]), ["bpfman-config Apply"]);
}

/// What another manager applies is its own: `--exact` alone does not take it.
#[test]
fn exact_needs_force_for_what_others_apply_and_leaves_finalizers() {
    let cluster = applied(Platform::PLAIN);
    cluster.apply_by(
        "tuner",
        r#"{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "bpfman-daemon", "namespace": "ebpf",
            "finalizers": ["example.com/keep"]}, "spec": {"template": {"spec": {"priorityClassName": "system-node-critical"}}}}"#,
    );
    let told = ["apply --exact", "apply --exact --force-conflicts", "diff --exact"].map(|words| quiet(&cluster, words));
    expect![[r#"
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon failed
        2> error: cannot apply daemonset.apps/bpfman-daemon in ebpf: blocked: 1 field set by others must be removed first
        2>   spec.template.spec.priorityClassName is set by tuner (Apply) since TIME: "system-node-critical"
        exit 4

        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config unchanged
        daemonset.apps/bpfman-daemon configured
        2> warning: daemonset.apps/bpfman-daemon: removed spec.template.spec.priorityClassName, set by tuner (Apply) since TIME, it was "system-node-critical"
        exit 0

        exit 0
    "#]].assert_eq(&told.join("\n"));
    assert_eq!(live(&cluster, &[DAEMON])[0]["metadata"]["finalizers"], json!(["example.com/keep"]));
}

/// Whoever sends a default, too, owns it as well: but it comes back when it is removed, so nobody has added anything.
#[test]
fn a_default_that_somebody_sends_too_is_not_foreign() {
    let cluster = applied(Platform::PLAIN);
    let folder = probe_templates(&cluster);
    let templates = format!("--templates {}", folder.display());
    assert!(run(&cluster, &format!("apply {templates}")).ends_with("exit 0\n"));
    let probe = "apiVersion: example.com/v1\nkind: Probe\nmetadata: {name: one, namespace: ebpf}\nspec: {retries: 3, note: mine}\n";
    cluster.apply_by("tuner", probe);
    let told = ["diff", "diff --exact -o paths"].map(|words| quiet(&cluster, &format!("{words} {templates}")));
    check(
        &folder,
        &told.join("\n"),
        &expect![[r#"
        probe.example.com/one in ebpf: in sync; 1 field set by others
        foreign: spec.note: "mine"  # tuner (Apply) since TIME
        exit 0

        probe.example.com/one in ebpf spec.note: "mine" -> (none)  # tuner (Apply) since TIME
        exit 1
    "#]],
    );
}

/// A folder of templates with a definition and an object of its kind.
fn probe_templates(cluster: &Cluster) -> PathBuf {
    let folder = cluster.kubeconfig().with_file_name("templates");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("crd.yaml"), include_str!("../fixtures/probe-crd.yaml")).expect("a file");
    let probe = "apiVersion: example.com/v1\nkind: Probe\nmetadata: {name: one, namespace: ebpf}\nspec: {level: 1}\n";
    std::fs::write(folder.join("probe.yaml"), probe).expect("a file");
    folder
}

/// N02 (external-secrets/external-secrets#3604): each form, whatever is wrong with the object.
#[test]
fn no_value_of_a_secret_is_printed_whatever_is_to_be_done_about_it() {
    let cluster = applied(Platform::PLAIN);
    let folder = cluster.kubeconfig().with_file_name("templates");
    std::fs::create_dir_all(&folder).expect("a folder");
    let secret = |token: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: token, namespace: ebpf}}\nimmutable: true\ndata:\n  token: {token}\n  same: c2FtZS1ieXRlcw==\n"
        )
    };
    let apply = |token: &str, words: &str| {
        std::fs::write(folder.join("secret.yaml"), secret(token)).expect("a file");
        run(&cluster, &format!("{words} --templates {}", folder.display()))
    };
    assert!(apply("Zmlyc3QtYnl0ZXM=", "apply").ends_with("exit 0\n"));
    let words = ["diff", "diff -o paths", "diff -o json", "apply", "apply --force-conflicts"];
    let told = words.map(|words| apply("c2Vjb25kLWJ5dGVz", words)).concat();
    for value in ["Zmlyc3QtYnl0ZXM", "c2Vjb25kLWJ5dGVz", "first-bytes", "second-bytes", "c2FtZS1ieXRlcw", "same-bytes"]
    {
        assert!(!told.contains(value), "{value} in {told}");
    }
    assert_eq!(told.matches("needs recreate").count() + told.matches("needs-recreate").count(), 3, "{told}");
}

/// Objects that are created for it would only be deleted again.
#[test]
fn a_config_that_is_being_deleted_is_not_applied_and_diff_says_so() {
    let cluster = applied(Platform::PLAIN);
    cluster.kubectl_ok(&[
        "patch",
        "configs.bpfman.io",
        "bpfman-config",
        "--type=merge",
        "-p",
        r#"{"metadata":{"finalizers":["example.com/wait"]}}"#,
    ]);
    cluster.kubectl_ok(&["delete", "configs.bpfman.io", "bpfman-config", "--wait=false"]);
    cluster.kubectl_ok(&["delete", "-n", "ebpf", DAEMON]);
    let mark = cluster.requests().len();
    expect![[r#"
        daemonset.apps/bpfman-daemon in ebpf (root): missing
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> warning: config.bpfman.io/bpfman-config is being deleted: its objects go with it, and nothing is applied
        2> 4 objects: 1 to change; hidden: 6 fields of server bookkeeping
        exit 1
        2> using context "controlplane", server SERVER
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> error: config.bpfman.io/bpfman-config is being deleted; nothing was applied
        2> hint: its objects go with it; apply again once it is gone
        exit 4
    "#]]
    .assert_eq(&(run(&cluster, "diff -o paths") + &run(&cluster, "apply")));
    assert!(writes(&cluster, mark).is_empty());
}

/// The former namespace's daemon keeps its rights until the new one can be.
#[test]
fn nothing_moves_to_a_namespace_that_is_not_there() {
    let cluster = applied(Platform::OPENSHIFT);
    patch(&cluster, "configs.bpfman.io/bpfman-config", "merge", &json!({"spec": {"namespace": "later"}}));
    let told = quiet(&cluster, "apply");
    expect![[r#"
        namespace/later failed
        clusterrole.rbac.authorization.k8s.io/bpfman-user unchanged
        clusterrolebinding.rbac.authorization.k8s.io/bpfman-privileged-scc skipped (namespace "later" not found)
        securitycontextconstraints.security.openshift.io/bpfman-restricted unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config skipped (namespace "later" not found)
        daemonset.apps/bpfman-daemon skipped (namespace "later" not found)
        2> error: cannot apply namespace/later: namespace "later" not found
        exit 4
    "#]]
    .assert_eq(&told);
    let binding = live(&cluster, &["clusterrolebinding/bpfman-privileged-scc"]).remove(0);
    assert_eq!(binding["subjects"][0]["namespace"], "ebpf");
}

/// A definition and an object of its kind, in one folder, on a cluster that knows neither; all of it in a dry run first.
#[test]
fn an_object_of_a_kind_that_the_same_run_defines_is_created_after_it() {
    let cluster = Cluster::start(Platform::PLAIN);
    cluster.apply(&crate::program::config());
    let folder = probe_templates(&cluster);
    let words = ["diff -o paths", "apply --create-namespace --dry-run=server", "apply --create-namespace", "diff"];
    let told = words.map(|words| quiet(&cluster, &format!("{words} --templates {}", folder.display())));
    check(
        &folder,
        &told.join("\n"),
        &expect![[r#"
        customresourcedefinition.apiextensions.k8s.io/probes.example.com (root): missing
        namespace/ebpf (root): missing
        csidriver.storage.k8s.io/csi.bpfman.io (root): missing
        configmap/bpfman-config in ebpf (root): missing (namespace "ebpf" not found)
        probe.example.com/one in ebpf (root): missing (the server has no resource Probe (example.com/v1))
        daemonset.apps/bpfman-daemon in ebpf (root): missing (namespace "ebpf" not found)
        exit 1

        customresourcedefinition.apiextensions.k8s.io/probes.example.com created (server dry run)
        namespace/ebpf created (server dry run)
        csidriver.storage.k8s.io/csi.bpfman.io created (server dry run)
        configmap/bpfman-config created (server dry run)
        probe.example.com/one created (server dry run)
        daemonset.apps/bpfman-daemon created (server dry run)
        exit 0

        customresourcedefinition.apiextensions.k8s.io/probes.example.com created
        namespace/ebpf created
        csidriver.storage.k8s.io/csi.bpfman.io created
        configmap/bpfman-config created
        probe.example.com/one created
        daemonset.apps/bpfman-daemon created
        exit 0

        exit 0
    "#]],
    );
}

/// 80 kB that somebody put beside our data, and did not change since.
#[test]
fn a_long_value_that_did_not_change_is_shown_by_its_size_and_digest() {
    let cluster = applied(Platform::PLAIN);
    let change = json!({"binaryData": {"a-dump": "QUFB".repeat(20_000)}, "data": {"bpfman.agent.log.level": "trace"}});
    patch(&cluster, "configmap/bpfman-config", "merge", &change);
    expect![[r#"
        configmap/bpfman-config in ebpf: 1 change
        @@ data["bpfman.agent.log.level"] @@
         binaryData:
           a-dump: (80000 bytes, sha256 6c39bc700aa1…)
         data:
        -  bpfman.agent.log.level: trace  # kubectl-patch (Update) since TIME
        +  bpfman.agent.log.level: debug
           bpfman.log.level: bpfman=info
           bpfman.toml: |
             [database]
        conflict: data["bpfman.agent.log.level"] is owned by kubectl-patch (Update) since TIME
        foreign: binaryData: {"a-dump":"QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQ… (80013 bytes)  # kubectl-patch (Update) since TIME
        exit 1
    "#]].assert_eq(&quiet(&cluster, "diff"));
}
