//! What others do between two of our requests: it is reported, and neither overrun nor made worse.

use expect_test::expect;

use crate::controlplane::{Cluster, Platform};
use crate::fault_matrix::proxy::{Fault, Proxy, When};
use crate::program::{command, live, normal, prepare, run};

/// What the program says while somebody acts at one of its requests.
fn told(proxy: &Proxy, words: &str, act: &'static [&'static str], when: When) -> String {
    proxy.arm(Some((Fault::Kubectl(act), when)), 0);
    let output = command(&proxy.kubeconfig, words).output().unwrap();
    let code = output.status.code().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let errors: String = errors.lines().skip(2).map(|line| format!("2> {line}\n")).collect();
    normal(&format!("{}{errors}exit {code}\n", String::from_utf8_lossy(&output.stdout)))
}

const CONFIG: &str = "configs.bpfman.io/bpfman-config";

/// With the uid of a Config that is gone an object would be deleted at once.
#[test]
fn nothing_is_created_for_a_config_that_goes_meanwhile() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let proxy = Proxy::start(&cluster);
    let act: &[&str] = &["delete", CONFIG];
    let said = told(&proxy, "apply", act, When::Line("GET ", "configs/bpfman-config", 2));
    expect![[r#"
        namespace/ebpf configured
        csidriver.storage.k8s.io/csi.bpfman.io failed
        configmap/bpfman-config failed
        daemonset.apps/bpfman-daemon skipped (needs configmap/bpfman-config)
        2> error: cannot apply csidriver.storage.k8s.io/csi.bpfman.io: config.bpfman.io/bpfman-config was deleted or replaced meanwhile; nothing is created for it
        2> error: cannot apply configmap/bpfman-config in ebpf: config.bpfman.io/bpfman-config was deleted or replaced meanwhile; nothing is created for it
        2> 1 configured, 1 skipped, 2 failed
        exit 4
    "#]].assert_eq(&said);
    let left = cluster.kubectl_ok(&["get", "-n", "ebpf", "configmap,daemonset,csidriver", "-o", "name"]);
    assert!(!left.contains("bpfman"), "{left}");
}

#[test]
fn a_manager_that_comes_between_the_look_and_the_force_is_not_overrun() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    assert!(run(&cluster, "apply").ends_with("exit 0\n"));
    let proxy = Proxy::start(&cluster);
    let set = |manager: &str, field: &str| {
        let (manager, patch) = (format!("--field-manager={manager}"), format!(r#"{{"data":{{"{field}":"theirs"}}}}"#));
        cluster.kubectl_ok(&["patch", "-n", "ebpf", "configmap/bpfman-config", "--type=merge", &manager, "-p", &patch]);
    };
    set("one", "bpfman.log.level");
    let act: &[&str] = &[
        "patch",
        "-n",
        "ebpf",
        "configmap/bpfman-config",
        "--type=merge",
        "--field-manager=two",
        "-p",
        r#"{"data":{"bpfman.agent.log.level":"two"}}"#,
    ];
    let said = told(
        &proxy,
        "apply --force-conflicts",
        act,
        When::Line("PATCH ", "fieldManager=bpfman-config&fieldValidation=Strict", 3),
    );
    expect![[r#"
        namespace/ebpf unchanged
        csidriver.storage.k8s.io/csi.bpfman.io unchanged
        configmap/bpfman-config failed
        daemonset.apps/bpfman-daemon skipped (needs configmap/bpfman-config)
        2> error: cannot apply configmap/bpfman-config in ebpf: conflict: 2 fields are owned by another field manager with another value
        2>   data["bpfman.agent.log.level"] is owned by two (Update) since TIME: live "two", desired "debug"
        2>   data["bpfman.log.level"] is owned by one (Update) since TIME: live "theirs", desired "bpfman=info"
        2> hint: take the fields over with apply --force-conflicts, or single ones with --take PATH|MANAGER; leave them with --yield PATH|MANAGER
        2> 2 unchanged, 1 skipped, 1 failed
        exit 4
    "#]].assert_eq(&said);
    let data = &live(&cluster, &["configmap/bpfman-config"])[0]["data"];
    assert_eq!(data["bpfman.agent.log.level"], "two");
}
