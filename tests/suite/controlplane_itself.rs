//! The real control plane that other tests stand on: it does what they rely on, and it leaves nothing behind.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use expect_test::expect;
use tempfile::TempDir;

use crate::controlplane::{Cluster, Platform, lines};

const CONFIG_MAP: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: mine, namespace: default}, data: {a: b}}";

#[test]
fn clusters_of_one_etcd_are_separate() {
    let (one, other) = (Cluster::start(Platform::PLAIN), Cluster::start(Platform::ALL));
    one.apply(CONFIG_MAP);
    assert_eq!(one.kubectl_ok(&["get", "configmap/mine", "-o", "name"]), "configmap/mine\n");
    assert_eq!(other.kubectl_ok(&["get", "configmap/mine", "-o", "name", "--ignore-not-found"]), "");
    expect![[r"
        customresourcedefinition.apiextensions.k8s.io/configs.bpfman.io
    "]]
    .assert_eq(&one.kubectl_ok(&["get", "crd", "-o", "name"]));
    expect![[r"
        customresourcedefinition.apiextensions.k8s.io/configs.bpfman.io
        customresourcedefinition.apiextensions.k8s.io/routes.route.openshift.io
        customresourcedefinition.apiextensions.k8s.io/securitycontextconstraints.security.openshift.io
        customresourcedefinition.apiextensions.k8s.io/servicemonitors.monitoring.coreos.com
    "]]
    .assert_eq(&other.kubectl_ok(&["get", "crd", "-o", "name"]));
}

#[test]
fn requests_are_on_record_in_their_order() {
    let cluster = Cluster::start(Platform { without_config: true, ..Platform::PLAIN });
    cluster.apply(CONFIG_MAP);
    let mark = cluster.requests().len();
    cluster.kubectl(&["get", "configmaps/mine", "configmaps/yours"]);
    expect![[r"
        200 get /api/v1/namespaces/default/configmaps/mine
        404 get /api/v1/namespaces/default/configmaps/yours
    "]]
    .assert_eq(&lines(&cluster.requests_of("kubectl/", mark)));
}

#[test]
fn a_user_may_do_what_the_rules_say_and_no_more() {
    let cluster = Cluster::start(Platform { without_config: true, ..Platform::PLAIN });
    let narrow = cluster.user("narrow", "[{apiGroups: [''], resources: [configmaps], verbs: [list]}]");
    let asked = |what| text(&cluster.kubectl_as(&narrow, &["get", what], ""));
    expect![[r#"
        No resources found in default namespace.
        Error from server (Forbidden): secrets is forbidden: User "narrow" cannot list resource "secrets" in API group "" in the namespace "default"
    "#]]
    .assert_eq(&(asked("configmaps") + &asked("secrets")));
}

#[test]
fn a_restarted_api_server_knows_what_it_knew() {
    let mut cluster = Cluster::start(Platform { without_config: true, ..Platform::PLAIN });
    cluster.apply(CONFIG_MAP);
    cluster.pause();
    assert!(text(&cluster.kubectl(&["get", "ns"])).contains("was refused"));
    cluster.restart();
    assert_eq!(cluster.kubectl_ok(&["get", "configmap/mine", "-o", "name"]), "configmap/mine\n");
}

#[test]
fn a_daemon_set_rolls_out_over_the_nodes() {
    let mut cluster = Cluster::start(Platform { without_config: true, ..Platform::PLAIN });
    cluster.start_nodes(2);
    cluster.apply(
        "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d, namespace: default}, spec: {selector: {matchLabels: {d: d}},
          template: {metadata: {labels: {d: d}}, spec: {containers: [{name: c, image: i, securityContext: {privileged: true}}]}}}}",
    );
    cluster.kubectl_ok(&["rollout", "status", "daemonset/d", "--timeout=60s"]);
    assert_eq!(cluster.kubectl_ok(&["get", "daemonset/d", "-o", "jsonpath={.status.numberReady}"]), "2");
}

#[test]
fn nothing_outlives_a_program_that_is_killed() {
    let mut program =
        Command::new(example()).arg("--nodes=1").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let kubeconfig = line.trim_end().strip_prefix("export KUBECONFIG=").unwrap();
    let folder = Path::new(kubeconfig).ancestors().nth(2).unwrap();
    let children = children(program.id());
    assert_eq!(children.len(), 7, "etcd, API server, controller-manager, scheduler, kwok, and two that watch");
    program.kill().unwrap(); // SIGKILL
    program.wait().unwrap();
    until("the children are gone", || !children.iter().any(|child| runs(child)));
    until("their data is gone", || !folder.exists());
}

#[test]
fn what_cannot_be_built_without_go_says_what_to_install() {
    let empty = TempDir::new().unwrap();
    let output = Command::new(example())
        .env_remove("KUBEBUILDER_ASSETS")
        .env("PATH", empty.path())
        .env("CARGO_TARGET_DIR", empty.path())
        .output()
        .unwrap();
    expect![[r#"
        error: cannot get etcd: there is no `go` to build it with: install Go 1.26 or newer (https://go.dev/dl); for etcd, kube-apiserver and kubectl alone, KUBEBUILDER_ASSETS may name a folder that has them (setup-envtest fetches one)
    "#]]
    .assert_eq(&text(&output));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_flag_that_the_program_does_not_know_is_refused() {
    let output = Command::new(example()).arg("--node=1").output().unwrap();
    expect![[r"
        error: unexpected argument '--node' found

          tip: a similar argument exists: '--nodes'

        Usage: controlplane --nodes <NODES>

        For more information, try '--help'.
    "]]
    .assert_eq(&text(&output));
    assert_eq!(output.status.code(), Some(2));
}

/// Builds the program that keeps a cluster running, if it is not built, and gives its path.
fn example() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        // What cargo tells this test of its package would make it build some dependencies anew.
        let told = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        for (name, _) in std::env::vars().filter(|(name, _)| told(name)) {
            cargo.env_remove(name);
        }
        assert!(cargo.args(["build", "--quiet", "--example=controlplane"]).status().unwrap().success());
        let suite = std::env::current_exe().unwrap();
        suite.ancestors().nth(3).unwrap().join("debug/examples/controlplane")
    })
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn until(what: &str, seen: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !seen() {
        assert!(Instant::now() < end, "not seen in 20 s: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn children(parent: u32) -> Vec<String> {
    let output = Command::new("ps").args(["-A", "-o", "ppid=,pid="]).output().unwrap();
    let pairs =
        text(&output).lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect::<Vec<Vec<_>>>();
    pairs.into_iter().filter(|pair| pair[0] == parent.to_string()).map(|mut pair| pair.remove(1)).collect()
}

/// Whether the process lives; one that is dead and not yet collected does not.
fn runs(process: &str) -> bool {
    let state = text(&Command::new("ps").args(["-o", "stat=", "-p", process]).output().unwrap());
    !state.is_empty() && !state.starts_with('Z')
}
