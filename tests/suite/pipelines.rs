//! The examples for pipelines: their command lines are ours, their shell is right, and the API server takes their objects.

use std::path::{Path, PathBuf};
use std::process::Command;

use bpfman_config::cli;
use serde_json::Value;

use crate::controlplane::{Cluster, Platform};
use crate::program::{PROGRAM, config};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// All strings of a YAML file.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, found)),
        _ => {}
    }
}

/// The command lines of this program in the scripts of a file.
fn commands(file: &str) -> Vec<String> {
    let mut texts = Vec::new();
    strings(&serde_yaml::from_str(&read(file)).unwrap_or_else(|error| panic!("{file}: {error}")), &mut texts);
    let lines = texts.iter().flat_map(|text| text.lines());
    let ours = lines.filter_map(|line| line.split_once("kubectl bpfman config ").map(|(_, words)| words.to_owned()));
    let ends = [" > ", " || ", " | "];
    ours.map(|line| ends.iter().fold(line, |line, end| line.split(end).next().unwrap_or_default().to_owned())).collect()
}

#[test]
fn each_command_line_of_the_examples_is_one_of_ours() {
    let files = [".ci/examples/github-actions.yml", ".ci/examples/gitlab-ci.yml"];
    let lines: Vec<String> = files.iter().flat_map(|file| commands(file)).collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    for line in lines {
        let words = std::iter::once("kubectl-bpfman-config").chain(line.split(' ')).map(Into::into);
        assert!(cli::parse(words).is_ok(), "{line}");
    }
    let job = &serde_yaml::from_str::<Value>(read(".ci/examples/cronjob.yaml").split("---\n").nth(1).unwrap()).unwrap();
    let mut words = Vec::new();
    strings(&job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["args"], &mut words);
    assert!(cli::parse(std::iter::once("x".to_owned()).chain(words).map(Into::into)).is_ok());
}

#[test]
fn a_diff_in_a_pipeline_passes_with_drift_and_fails_with_an_error() {
    let mut texts = Vec::new();
    strings(&serde_yaml::from_str(&read(".ci/examples/github-actions.yml")).unwrap(), &mut texts);
    let script = texts.iter().find(|text| text.contains("code=$?")).expect("the script");
    let folder = tempfile::tempdir().unwrap();
    let result = |exit: i32| {
        let fake = folder.path().join("kubectl");
        std::fs::write(&fake, format!("#!/bin/sh\nexit {exit}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&fake, mode).unwrap();
        // As the runner starts it.
        let mut bash = Command::new("bash");
        bash.args(["-e", "-o", "pipefail", "-c", script]).current_dir(folder.path());
        bash.env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()));
        bash.status().unwrap().success()
    };
    assert_eq!([0, 1, 3, 4, 5].map(result), [true, true, false, false, false]);
}

#[test]
fn the_cron_job_is_taken_by_the_server() {
    let cluster = Cluster::start(Platform::PLAIN);
    cluster.kubectl_ok(&["create", "namespace", "bpfman"]);
    cluster.apply(&read(".ci/examples/cronjob.yaml"));
}

#[test]
fn the_pre_commit_hook_refuses_a_wrong_config() {
    let hooks: Value = serde_yaml::from_str(&read(".pre-commit-hooks.yaml")).unwrap();
    let words = shlex::split(hooks[0]["entry"].as_str().unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("right.yaml"), config()).unwrap();
    std::fs::write(folder.path().join("wrong.yaml"), config().replace("namespace", "namespase")).unwrap();
    let program = Path::new(PROGRAM).parent().unwrap().display().to_string();
    let code = |files: &[&str]| {
        let mut hook = Command::new(&words[0]);
        hook.args(&words[1..]).args(files).current_dir(folder.path()).env("PATH", format!("{program}:/usr/bin:/bin"));
        hook.output().unwrap().status.code()
    };
    assert_eq!([code(&["right.yaml"]), code(&["right.yaml", "wrong.yaml"])], [Some(0), Some(3)]);
}

/// <https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/>
#[test]
fn the_krew_manifest_names_each_archive_with_its_digest() {
    let dist = tempfile::tempdir().unwrap();
    let digest = "0".repeat(64);
    let archives = ["linux-amd64", "linux-arm64", "windows-amd64", "darwin-arm64"];
    let sums = archives.map(|platform| format!("{digest}  kubectl-bpfman-config-{platform}.tar.gz\n")).concat();
    std::fs::write(dist.path().join("SHA256SUMS"), sums).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--locked", "--example", "release", "--", "krew"]).arg(dist.path());
    let output = cargo.current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(dist.path().join("bpfman-config.yaml")).unwrap();
    let manifest: Value = serde_yaml::from_str(&text).unwrap();
    assert_eq!(manifest["metadata"]["name"], "bpfman-config");
    assert!(manifest["spec"]["version"].as_str().unwrap().starts_with('v'));
    assert!(manifest["spec"]["shortDescription"].as_str().unwrap().len() <= 50);
    let platforms = manifest["spec"]["platforms"].as_array().unwrap();
    let told: Vec<String> = platforms
        .iter()
        .map(|one| {
            let text = |pointer| one.pointer(pointer).and_then(Value::as_str).unwrap();
            format!("{} {} {}", text("/selector/matchLabels/os"), text("/selector/matchLabels/arch"), text("/bin"))
        })
        .collect();
    let expected = [
        "linux amd64 kubectl-bpfman-config",
        "linux arm64 kubectl-bpfman-config",
        "windows amd64 kubectl-bpfman-config.exe",
        "darwin arm64 kubectl-bpfman-config",
    ];
    assert_eq!(told, expected);
    assert!(
        platforms.iter().all(|one| one["sha256"] == digest && one["uri"].as_str().unwrap().starts_with("https://"))
    );
}
