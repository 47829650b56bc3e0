//! `render --output-dir`: names that stay, and a kustomization that kubectl reads.

use std::path::Path;
use std::process::Command;

use expect_test::expect;
use tempfile::TempDir;

use crate::controlplane;
use crate::program::{command, config, said};

/// A folder with the Config in `config`, beside the folder to write to.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("config"), config()).expect("a file");
    folder
}

fn render(folder: &Path, words: &str) -> String {
    let place = folder.display().to_string();
    said(&mut command(&folder.join("none"), &format!("render -f {place}/config --output-dir {place}/out {words}")))
        .replace(&place, "DIR")
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("out")).expect("a folder");
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn files_keep_their_names_and_prune_removes_just_those_that_were_written_before() {
    let folder = folder();
    let folder = folder.path();
    let first = render(folder, "--monitoring on -q");
    std::fs::write(folder.join("out/mine.yaml"), "mine: true\n").expect("a file");
    let second = render(folder, "--monitoring off -q");
    let third = render(folder, "--monitoring off --prune");
    let list = std::fs::read_to_string(folder.join("out/kustomization.yaml")).expect("a file");
    let told = format!("{first}{second}{third}{}\n{list}", files(folder).join("\n"));
    expect![[r#"
        exit 0
        2> warning: DIR/out/daemonset-ebpf-bpfman-metrics-proxy.yaml was there before, and is none of what was rendered now
        2> warning: DIR/out/mine.yaml was there before, and is none of what was rendered now
        2> warning: DIR/out/service-ebpf-bpfman-agent-metrics-service.yaml was there before, and is none of what was rendered now
        2> warning: DIR/out/service-ebpf-bpfman-controller-manager-metrics-service.yaml was there before, and is none of what was rendered now
        2> warning: DIR/out/servicemonitor-ebpf-bpfman-agent-metrics-monitor.yaml was there before, and is none of what was rendered now
        2> warning: DIR/out/servicemonitor-ebpf-bpfman-controller-manager-metrics-monitor.yaml was there before, and is none of what was rendered now
        exit 0
        2> no cluster is asked: auto means plain Kubernetes without monitoring
        2> the uid of the Config is unknown: the objects have no owner references
        2> removed DIR/out/service-ebpf-bpfman-agent-metrics-service.yaml
        2> removed DIR/out/service-ebpf-bpfman-controller-manager-metrics-service.yaml
        2> removed DIR/out/servicemonitor-ebpf-bpfman-agent-metrics-monitor.yaml
        2> removed DIR/out/servicemonitor-ebpf-bpfman-controller-manager-metrics-monitor.yaml
        2> removed DIR/out/daemonset-ebpf-bpfman-metrics-proxy.yaml
        2> warning: DIR/out/mine.yaml was there before, and is none of what was rendered now
        exit 0
        configmap-ebpf-bpfman-config.yaml
        csidriver-csi.bpfman.io.yaml
        daemonset-ebpf-bpfman-daemon.yaml
        kustomization.yaml
        mine.yaml
        namespace-ebpf.yaml
        # Written by kubectl bpfman config render. Files that it no longer renders are removed by --prune.
        apiVersion: kustomize.config.k8s.io/v1beta1
        kind: Kustomization
        resources:
        - namespace-ebpf.yaml
        - csidriver-csi.bpfman.io.yaml
        - configmap-ebpf-bpfman-config.yaml
        - daemonset-ebpf-bpfman-daemon.yaml
        sortOptions:
          order: fifo
    "#]].assert_eq(&told);
}

#[test]
fn kubectl_builds_all_objects_in_the_order_of_applying() {
    let folder = folder();
    let folder = folder.path();
    render(folder, "--platform openshift --monitoring on");
    let mut kubectl = Command::new(controlplane::kubectl().expect("kubectl"));
    let built = kubectl.arg("kustomize").arg(folder.join("out")).output().expect("kubectl");
    let kinds: Vec<String> = String::from_utf8_lossy(&built.stdout)
        .lines()
        .filter(|line| line.starts_with("kind:"))
        .map(str::to_owned)
        .collect();
    let rendered = said(&mut command(
        &folder.join("none"),
        &format!("render -f {}/config --platform openshift --monitoring on -q", folder.display()),
    ));
    let expected: Vec<&str> = rendered.lines().filter(|line| line.starts_with("kind:")).collect();
    assert_eq!((kinds.len(), &kinds), (15, &expected.iter().map(|kind| (*kind).to_owned()).collect()));
}

#[test]
fn nothing_is_written_over_the_kustomization_of_somebody_else() {
    let folder = folder();
    let folder = folder.path();
    std::fs::create_dir(folder.join("out")).expect("a folder");
    std::fs::write(folder.join("out/kustomization.yaml"), "resources: []\n").expect("a file");
    let told = render(folder, "--prune -q");
    expect![[r#"
        2> error: DIR/out/kustomization.yaml was not written by render; choose another directory
        exit 5
        kustomization.yaml"#]]
    .assert_eq(&format!("{told}{}", files(folder).join(" ")));
    std::fs::write(folder.join("file"), "").expect("a file");
    assert!(
        said(&mut command(
            &folder.join("none"),
            &format!("render -q -f {0}/config --output-dir {0}/file/x", folder.display())
        ))
        .ends_with("exit 5\n")
    );
}
