//! kubectl finds the program on PATH and calls it as its own command.

use std::path::Path;
use std::process::Command;

use expect_test::expect;

use crate::controlplane::{self, Cluster, Platform};
use crate::program::{PROGRAM, prepare, run, said};

fn kubectl(kubeconfig: &Path, words: &str) -> Command {
    let mut command = Command::new(controlplane::kubectl().unwrap());
    command.args(words.split(' ')).env_clear().env("KUBECONFIG", kubeconfig);
    command.env("HOME", kubeconfig.parent().unwrap()).env("PATH", Path::new(PROGRAM).parent().unwrap());
    command
}

#[test]
fn kubectl_runs_it_as_its_own_command() {
    let cluster = Cluster::start(Platform::PLAIN);
    prepare(&cluster);
    run(&cluster, "apply");
    cluster.kubectl_ok(&["delete", "csidriver/csi.bpfman.io"]);
    expect![[r#"
        csidriver.storage.k8s.io/csi.bpfman.io (root): missing
        2> monitoring.coreos.com is not served: the monitoring objects are left out
        2> 4 objects: 1 to change; hidden: 3 fields of server bookkeeping
        exit 1
    "#]]
    .assert_eq(&said(&mut kubectl(cluster.kubeconfig(), "bpfman config diff -o paths")));
    let help = said(&mut kubectl(cluster.kubeconfig(), "bpfman config diff --help"));
    let usage = help.lines().find(|line| line.starts_with("Usage:"));
    assert_eq!(usage, Some("Usage: kubectl bpfman config diff [OPTIONS]"));
}
