//! `watch --until`, for scripts: when it ends, with which exit code, and what it says is lacking when its time is over.

use expect_test::expect;

use crate::controlplane::{Cluster, Platform};
use crate::program::{prepare, run};

/// The last line without its time, and the exit code.
fn last(cluster: &Cluster, words: &str) -> String {
    let told = run(cluster, &format!("watch --finalizer=false {words}"));
    let lines: Vec<&str> = told.lines().filter(|line| !line.starts_with("2> ")).collect();
    let [.., said, exit] = lines.as_slice() else { panic!("{told}") };
    format!("{words}\n  {}\n  {exit}\n", said.trim_start_matches(|c: char| !c.is_ascii_lowercase()))
}

#[test]
fn scripts_wait_for_a_condition_and_are_told_what_is_lacking() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    let told: String = [
        "--until in-sync --timeout 2s --dry-run",
        "--until drift --timeout 20s --dry-run",
        "--until in-sync --timeout 20s",
        "--until in-sync --timeout 20s --dry-run",
        "--until drift --timeout 2s --dry-run",
        "--until ready --timeout 2s",
    ]
    .map(|words| last(&cluster, words))
    .concat();
    cluster.kubectl_ok(&["set", "env", "-n", "ebpf", "daemonset/bpfman-daemon", "-c", "bpfman", "RUST_LOG=debug"]);
    let refused = last(&cluster, "--until in-sync --timeout 2s --force-conflicts=false");
    let wrong = r#"{"spec":{"namespace":"Not_A_Label"}}"#;
    cluster.kubectl_ok(&["patch", "configs.bpfman.io/bpfman-config", "--type=merge", "-p", wrong]);
    let invalid = last(&cluster, "--until in-sync --timeout 2s");
    expect![[r#"
        --until in-sync --timeout 2s --dry-run
          namespace/ebpf: timed out waiting for in-sync: not in sync
          exit 5
        --until drift --timeout 20s --dry-run
          daemonset.apps/bpfman-daemon in ebpf: does not exist
          exit 0
        --until in-sync --timeout 20s
          in sync: 4 objects
          exit 0
        --until in-sync --timeout 20s --dry-run
          in sync: 4 objects
          exit 0
        --until drift --timeout 2s --dry-run
          timed out waiting for drift: all objects are in sync
          exit 5
        --until ready --timeout 2s
          daemonset.apps/bpfman-daemon in ebpf: timed out waiting for ready: its controller has not seen it yet
          exit 5
        --until in-sync --timeout 2s --force-conflicts=false
          daemonset.apps/bpfman-daemon in ebpf: timed out waiting for in-sync: fields that others set block it
          exit 4
        --until in-sync --timeout 2s
          timed out waiting for in-sync: the Config is invalid
          exit 3
    "#]]
    .assert_eq(&(told + &refused + &invalid));
}
