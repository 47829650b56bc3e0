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
        2> warning: DIR/out/daemonset.apps-ebpf-bpfman-metrics-proxy.yaml was there before, and is none of what was rendered now
        2> warning: DIR/out/mine.yaml was there before, and is none of what was rendered now
        2> warning: DIR/out/service-ebpf-bpfman-agent-metrics-service.yaml was there before, and is none of what was rendered now
        2> warning: DIR/out/service-ebpf-bpfman-controller-manager-metrics-service.yaml was there before, and is none of what was rendered now
        2> warning: DIR/out/servicemonitor.monitoring.coreos.com-ebpf-bpfman-agent-metrics-monitor.yaml was there before, and is none of what was rendered now
        2> warning: DIR/out/servicemonitor.monitoring.coreos.com-ebpf-bpfman-controller-manager-metrics-monitor.yaml was there before, and is none of what was rendered now
        exit 0
        2> no cluster is asked: auto means plain Kubernetes without monitoring
        2> the uid of the Config is unknown: the objects have no owner references
        2> removed DIR/out/daemonset.apps-ebpf-bpfman-metrics-proxy.yaml
        2> removed DIR/out/service-ebpf-bpfman-agent-metrics-service.yaml
        2> removed DIR/out/service-ebpf-bpfman-controller-manager-metrics-service.yaml
        2> removed DIR/out/servicemonitor.monitoring.coreos.com-ebpf-bpfman-agent-metrics-monitor.yaml
        2> removed DIR/out/servicemonitor.monitoring.coreos.com-ebpf-bpfman-controller-manager-metrics-monitor.yaml
        2> warning: DIR/out/mine.yaml was there before, and is none of what was rendered now
        exit 0
        configmap-ebpf-bpfman-config.yaml
        csidriver.storage.k8s.io-csi.bpfman.io.yaml
        daemonset.apps-ebpf-bpfman-daemon.yaml
        kustomization.yaml
        mine.yaml
        namespace-ebpf.yaml
        # Written by kubectl bpfman config render, with these files; what was changed since is never overwritten or removed.
        # sha256:e201d9cbb51d69b0acd47cc6b319f404a0c5825f1e201e75dfd7b31c79f3b529 kustomization.yaml
        # sha256:4a633508e542e3e0864979bbee3bfcd7679305bd9cd5d0bab49c6c0572ac6a52 configmap-ebpf-bpfman-config.yaml
        # sha256:622e57f92bfde8f1a8bff27399c742b38b6685836050ee4a688a8c4349d3e046 csidriver.storage.k8s.io-csi.bpfman.io.yaml
        # sha256:cb2c6c3bacfe0e003721a3a26017f1a9127236ba837e305ed2e025c62c0e48b4 daemonset.apps-ebpf-bpfman-daemon.yaml
        # sha256:80a99a7b21ce90a72687b32f1abf5c6a16b6e1e58bafa1cccbecabfe3f91b96f namespace-ebpf.yaml
        apiVersion: kustomize.config.k8s.io/v1beta1
        kind: Kustomization
        resources:
        - namespace-ebpf.yaml
        - csidriver.storage.k8s.io-csi.bpfman.io.yaml
        - configmap-ebpf-bpfman-config.yaml
        - daemonset.apps-ebpf-bpfman-daemon.yaml
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

/// What is in the way, each put into a directory that a run has filled; a second run, with --prune, touches nothing then.
#[test]
fn nothing_of_anybody_else_is_overwritten_or_removed() {
    let cases = [
        ("a resource added to the kustomization", "kustomization.yaml", "resources:", "resources:\n- mine.yaml"),
        ("a line added to the kustomization", "kustomization.yaml", "kind:", "namePrefix: a-\nkind:"),
        ("a kustomization of somebody else", "kustomization.yaml", "# Written by", "# Mine, by"),
        ("a second kustomization", "kustomization.yml", "", "resources: []"),
        ("a manifest that was edited", "configmap-ebpf-bpfman-config.yaml", "data:", "data: # mine"),
        ("an obsolete one that was edited", "service-ebpf-bpfman-agent-metrics-service.yaml", "spec:", "spec: # mine"),
    ];
    let mut told = String::new();
    for (name, file, from, to) in cases {
        let folder = folder();
        let folder = folder.path();
        assert!(render(folder, "--monitoring on -q").ends_with("exit 0\n"));
        std::fs::write(folder.join("out/mine.yaml"), "mine: true\n").expect("a file");
        edit(&folder.join("out").join(file), from, to);
        let before = contents(folder);
        let said = render(folder, "--monitoring off --prune -q");
        let lost = before.iter().filter(|file| !contents(folder).contains(file)).map(|(name, _)| name.as_str());
        let lost: Vec<&str> = lost.filter(|name| *name != "kustomization.yaml" || said.contains("exit 5")).collect();
        told += &[name, ":\n", &said, "gone: ", &lost.join(" "), "\n"].concat();
    }
    expect![[r#"
        a resource added to the kustomization:
        2> error: DIR/out/kustomization.yaml was not written by render, or was changed since; nothing was written
        exit 5
        gone: 
        a line added to the kustomization:
        2> error: DIR/out/kustomization.yaml was not written by render, or was changed since; nothing was written
        exit 5
        gone: 
        a kustomization of somebody else:
        2> error: DIR/out/kustomization.yaml was not written by render, or was changed since; nothing was written
        exit 5
        gone: 
        a second kustomization:
        2> error: DIR/out/kustomization.yml was not written by render, or was changed since; nothing was written
        exit 5
        gone: 
        a manifest that was edited:
        2> error: DIR/out/configmap-ebpf-bpfman-config.yaml was not written by render, or was changed since; nothing was written
        exit 5
        gone: 
        an obsolete one that was edited:
        2> warning: DIR/out/mine.yaml was there before, and is none of what was rendered now
        2> warning: DIR/out/service-ebpf-bpfman-agent-metrics-service.yaml was there before, and is none of what was rendered now
        exit 0
        gone: daemonset.apps-ebpf-bpfman-metrics-proxy.yaml service-ebpf-bpfman-controller-manager-metrics-service.yaml servicemonitor.monitoring.coreos.com-ebpf-bpfman-agent-metrics-monitor.yaml servicemonitor.monitoring.coreos.com-ebpf-bpfman-controller-manager-metrics-monitor.yaml
    "#]].assert_eq(&told);
}

#[test]
fn a_file_that_was_there_before_the_first_run_stays() {
    let folder = folder();
    let folder = folder.path();
    std::fs::create_dir(folder.join("out")).expect("a folder");
    std::fs::write(folder.join("out/namespace-ebpf.yaml"), "mine: true\n").expect("a file");
    let told = render(folder, "-q");
    expect![[r#"
        2> error: DIR/out/namespace-ebpf.yaml was not written by render, or was changed since; nothing was written
        exit 5
        namespace-ebpf.yaml"#]]
    .assert_eq(&format!("{told}{}", files(folder).join(" ")));
}

/// A run that was killed leaves both what was written before and what is new on record.
#[test]
fn a_run_that_was_interrupted_is_taken_up_by_the_next_one() {
    let folder = folder();
    let folder = folder.path();
    let service = folder.join("out/service-ebpf-bpfman-agent-metrics-service.yaml");
    render(folder, "--monitoring on -q");
    // It cannot be written over: the run ends in between.
    let text = std::fs::read_to_string(&service).expect("a file");
    edit(&folder.join("config"), "\"namespace\":\"ebpf\"", "\"namespace\":\"other\"");
    let blocked = folder.join("out/.namespace-other.yaml.bpfman-config-render");
    std::fs::create_dir(&blocked).expect("a folder");
    let interrupted = render(folder, "--monitoring on --prune -q");
    std::fs::remove_dir(&blocked).expect("a folder");
    assert_eq!(std::fs::read_to_string(&service).expect("a file"), text);
    let again = render(folder, "--monitoring off --prune -q");
    expect![[r#"
        2> error: cannot write DIR/out/namespace-other.yaml
        2>   caused by: File exists (os error 17)
        exit 5
        exit 0
        configmap-other-bpfman-config.yaml csidriver.storage.k8s.io-csi.bpfman.io.yaml daemonset.apps-other-bpfman-daemon.yaml kustomization.yaml namespace-other.yaml"#]].assert_eq(&format!("{interrupted}{again}{}", files(folder).join(" ")));
}

/// A kind becomes part of a path, as a name does.
#[test]
fn a_template_cannot_write_outside_of_the_directory() {
    let told: Vec<String> = [("v1", "../outside/Abs"), ("v1", "/tmp/Abs"), ("../v1", "Probe"), ("a/../v1", "Probe")]
        .map(|(version, kind)| {
            let folder = folder();
            let folder = folder.path();
            std::fs::create_dir(folder.join("templates")).expect("a folder");
            let text = format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: q, namespace: ebpf}}\n");
            std::fs::write(folder.join("templates/q.yaml"), text).expect("a file");
            let said = render(folder, &format!("-q --templates {}/templates", folder.display()));
            assert!(!folder.join("out").exists() && said.ends_with("exit 3\n"), "{said}");
            said
        })
        .into();
    expect![[r#"
        2> error: DIR/templates/q.yaml:2:1: kind is "../outside/Abs", must be a name such as DaemonSet, of letters and digits
        exit 3
        2> error: DIR/templates/q.yaml:2:1: kind is "/tmp/Abs", must be a name such as DaemonSet, of letters and digits
        exit 3
        2> error: DIR/templates/q.yaml:1:1: apiVersion is "../v1", must be a version such as v1, or apps/v1
        exit 3
        2> error: DIR/templates/q.yaml:1:1: apiVersion is "a/../v1", must be a version such as v1, or apps/v1
        exit 3
    "#]].assert_eq(&told.concat());
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let folder = folder();
    std::fs::write(folder.path().join("out"), "").expect("a file");
    expect![[r#"
        2> error: cannot make DIR/out
        2>   caused by: File exists (os error 17)
        exit 5
    "#]]
    .assert_eq(&render(folder.path(), "-q"));
}

/// Replaces the first `from` of a file, which is empty if it is not there.
fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    assert!(text.contains(from), "{from} is not in {text}");
    std::fs::write(path, text.replacen(from, to, 1)).expect("a file");
}

fn contents(folder: &Path) -> Vec<(String, String)> {
    let read = |name: String| (name.clone(), std::fs::read_to_string(folder.join("out").join(&name)).expect("a file"));
    files(folder).into_iter().map(read).collect()
}
