//! `apply --wait`: follows the rollout, and ends early where it cannot succeed; with real controllers.

use bpfman_config::reconcile::obstacles;
use expect_test::expect;
use serde_json::{Value, json};

use crate::controlplane::{Cluster, Platform};
use crate::program::{command, prepare, run, said};
use crate::server_words::policy;

fn told(cluster: &Cluster, words: &str) -> String {
    let said = said(&mut command(cluster.kubeconfig(), words));
    let is_news = |line: &&str| {
        line.contains("daemon") || line.starts_with("2>   ") || line.starts_with("exit ") || line.contains("hint")
    };
    // How many steps of a rollout are seen is a matter of time.
    let is_step = |line: &&str| line.contains("rolling out:") || line.contains("does not roll out in time");
    let lines = said.lines().filter(|line| is_news(line) && !is_step(line));
    let named = |line: &str| match line.split_once("pods \"bpfman-daemon-") {
        Some((before, after)) => format!("{before}pods \"bpfman-daemon-NAME{}", &after[5..]),
        None => line.to_owned(),
    };
    format!("$ {words}\n{}\n", lines.map(named).collect::<Vec<_>>().join("\n"))
}

#[test]
fn a_rollout_is_followed_and_pods_that_are_refused_end_the_wait_with_the_reason() {
    let mut cluster = Cluster::start(Platform::PLAIN);
    cluster.try_prerequisites().unwrap();
    prepare(&cluster);
    cluster.kubectl_ok(&["create", "serviceaccount", "-n", "ebpf", "bpfman-daemon"]);
    cluster.start_nodes(2);
    let mut text = told(&cluster, "apply --wait --timeout 60s");
    policy(&cluster, "no-pods", "pods", "Deny", "{expression: 'false', message: 'no pods here'}");
    let probe = ["run", "probe", "-n", "ebpf", "--image=probe", "--dry-run=server"];
    crate::program::until("the policy in force", || (!cluster.kubectl(&probe).status.success()).then_some(()));
    let image = r#"{"spec":{"daemon":{"logLevel":"trace"}}}"#;
    cluster.kubectl_ok(&["patch", "configs.bpfman.io/bpfman-config", "--type=merge", "-p", image]);
    text += &told(&cluster, "apply --wait --timeout 60s");
    expect![[r#"
        $ apply --wait --timeout 60s
        daemonset.apps/bpfman-daemon created
        2> daemonset.apps/bpfman-daemon rolled out: 2 of 2 nodes updated, 2 available
        exit 0
        $ apply --wait --timeout 60s
        daemonset.apps/bpfman-daemon configured
        2> error: daemonset.apps/bpfman-daemon in ebpf does not roll out
        2>   caused by: Error creating: pods "bpfman-daemon-NAME" is forbidden: ValidatingAdmissionPolicy 'no-pods' with binding 'no-pods' denied request: no pods here
        2> hint: look at the pods: kubectl get pods -n ebpf -o wide; kubectl describe daemonset.apps/bpfman-daemon -n ebpf
        exit 4
    "#]].assert_eq(&text);
}

#[test]
fn pods_that_are_replaced_only_when_they_are_deleted_end_the_wait_at_once() {
    let mut cluster = Cluster::start(Platform::PLAIN);
    cluster.try_prerequisites().unwrap();
    prepare(&cluster);
    cluster.start_nodes(1);
    assert!(run(&cluster, "apply --wait --timeout 60s").ends_with("exit 0\n"));
    let strategy = r#"{"spec":{"updateStrategy":{"$retainKeys":["type"],"type":"OnDelete"}}}"#;
    cluster.kubectl_ok(&["patch", "-n", "ebpf", "daemonset/bpfman-daemon", "-p", strategy]);
    let level = r#"{"spec":{"daemon":{"logLevel":"trace"}}}"#;
    cluster.kubectl_ok(&["patch", "configs.bpfman.io/bpfman-config", "--type=merge", "-p", level]);
    let strategy = ["--yield spec.updateStrategy.type", "--take kubectl-patch"].join(" ");
    expect![[r#"
        $ apply --wait --timeout 60s --yield spec.updateStrategy.type --take kubectl-patch
        daemonset.apps/bpfman-daemon configured
        2> warning: daemonset.apps/bpfman-daemon: left spec.updateStrategy.type to kubectl-patch (Update) since TIME, it is "OnDelete", desired is "RollingUpdate"
        2> error: daemonset.apps/bpfman-daemon in ebpf does not roll out
        2>   caused by: its updateStrategy is OnDelete: pods are replaced only when they are deleted
        2> hint: look at the pods: kubectl get pods -n ebpf -o wide; kubectl describe daemonset.apps/bpfman-daemon -n ebpf
        exit 4
    "#]].assert_eq(&told(&cluster, &format!("apply --wait --timeout 60s {strategy}")));
}

#[test]
fn an_obstacle_is_a_container_that_cannot_start_or_a_pod_that_is_refused() {
    let daemon_set = |strategy: &str| {
        json!({
            "metadata": {"uid": "u1", "annotations": {"deprecated.daemonset.template.generation": "3"}},
            "spec": {"updateStrategy": {"type": strategy}},
            "status": {"desiredNumberScheduled": 2, "updatedNumberScheduled": 1},
        })
    };
    let pod = |generation: &str, reason: &str, restarts: u32| {
        json!({
            "metadata": {"name": "daemon-x", "labels": {"pod-template-generation": generation}, "ownerReferences": [{"uid": "u1"}]},
            "spec": {"nodeName": "node-1"},
            "status": {"containerStatuses": [
                {"name": "bpfman", "restartCount": restarts, "state": {"waiting": {"reason": reason, "message": "it says why"}}},
            ]},
        })
    };
    let event = json!({"reason": "FailedCreate", "message": "pods \"x\" is forbidden: exceeded quota"});
    let rolling = daemon_set("RollingUpdate");
    let found = |daemon_set: &Value, pods: &[Value], events: &[Value]| {
        obstacles::find(daemon_set, pods, events).unwrap_or_else(|| "none".to_owned()) + "\n"
    };
    let text = [
        found(&rolling, &[pod("3", "ImagePullBackOff", 0)], &[]),
        found(&rolling, &[pod("2", "ImagePullBackOff", 0)], &[]),
        found(&rolling, &[pod("3", "CrashLoopBackOff", 1)], &[]),
        found(&rolling, &[pod("3", "CrashLoopBackOff", 3)], &[]),
        found(&rolling, &[pod("3", "ContainerCreating", 0)], std::slice::from_ref(&event)),
        found(&rolling, &[pod("3", "PodInitializing", 0), pod("3", "", 0)], &[event]),
        obstacles::on_delete(&daemon_set("OnDelete")).unwrap(),
    ];
    expect![[r#"
        container bpfman of pod daemon-x on node node-1: ImagePullBackOff: it says why
        none
        none
        container bpfman of pod daemon-x on node node-1: CrashLoopBackOff: it says why
        pods "x" is forbidden: exceeded quota
        none
        its updateStrategy is OnDelete: pods are replaced only when they are deleted"#]]
    .assert_eq(&text.concat());
}
