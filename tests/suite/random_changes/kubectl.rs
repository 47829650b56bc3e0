//! kubectl itself: one change a round by its own commands, and its verdict beside ours.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::delivery::Change;
use super::oracle::comparable;
use super::random::Random;
use super::stage::{MANAGER, Object, Stage};
use super::truth::{State, Truth};
use crate::controlplane;

/// What `kubectl diff --server-side` said to some rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Objects that it was asked about.
    pub(super) objects: usize,
    /// Objects of which it did not say whether they differ, or said the wrong thing.
    pub(super) wrong: usize,
    /// Runs that ended with an error, with `--force-conflicts`.
    pub(super) errors: usize,
    /// The same without it.
    pub(super) errors_without_force: usize,
    /// Runs.
    pub(super) runs: usize,
}

impl Tally {
    /// Adds another round.
    pub(super) fn add(&mut self, other: Self) {
        self.objects += other.objects;
        self.wrong += other.wrong;
        self.errors += other.errors;
        self.errors_without_force += other.errors_without_force;
        self.runs += other.runs;
    }
}

/// Changes `object` as people do; none where no command fits or kubectl refuses.
pub(super) fn change(stage: &Stage, random: &mut Random, object: &Object) -> Option<Change> {
    let title = object.title.as_str();
    let mut commands: Vec<(Vec<&str>, &str)> = vec![
        (vec!["label", title, "team=blue", "--overwrite"], "kubectl-label"),
        (vec!["annotate", title, "example.com/note=seen", "--overwrite"], "kubectl-annotate"),
        (vec!["label", title, "app.kubernetes.io/name-"], "kubectl-label"),
    ];
    let has_pods = object.rendered.pointer("/spec/template/spec/containers/0").is_some();
    if has_pods {
        commands.extend([
            (vec!["set", "image", title, "*=registry.example/debug:v9"], "kubectl-set"),
            (vec!["set", "env", title, "RUST_LOG=debug", "MODE=slow", "CPU=1"], "kubectl-set"),
            (vec!["set", "env", title, "NEW=1"], "kubectl-set"),
            (vec!["set", "resources", title, "--limits=cpu=200m,memory=512Mi"], "kubectl-set"),
            (vec!["set", "serviceaccount", title, "other"], "kubectl-set"),
            (vec!["rollout", "restart", title], "kubectl-rollout"),
        ]);
    }
    match object.kind() {
        "Deployment" => commands.push((vec!["scale", title, "--replicas=7"], "kubectl")),
        "Service" => commands.push((vec!["set", "selector", title, "app=other"], "kubectl-set")),
        "ClusterRoleBinding" | "RoleBinding" => {
            commands.push((vec!["set", "subject", title, "--user=somebody"], "kubectl-set"));
        }
        _ => {}
    }
    let (mut words, manager) = random.one_of(&commands).clone();
    words.extend(["-n", "ebpf"]);
    let output = stage.cluster.kubectl(&words);
    let text = format!("kubectl {}", words.join(" "));
    output.status.success().then(|| Change { text, manager: manager.to_owned(), releases: false, own: false })
}

/// What `kubectl diff --server-side` of the same objects says.
pub(super) fn diff(stage: &Stage, truths: &[Truth]) -> Tally {
    let plain = run_diff(stage, &[]);
    let forced = run_diff(stage, &["--force-conflicts"]);
    let text = String::from_utf8_lossy(&forced.stdout);
    // `diff -u -N /tmp/LIVE-1/apps.v1.DaemonSet.ebpf.bpfman-daemon /tmp/MERGED-2/…`
    let files = text.lines().filter(|line| line.starts_with("diff ")).filter_map(|line| line.rsplit('/').next());
    let named: BTreeSet<&str> = files.collect();
    let is_wrong = |(object, truth): (&Object, &Truth)| {
        let text = |field: &str| object.rendered["metadata"][field].as_str().unwrap_or_default();
        let suffix = format!(".{}.{}.{}", object.kind(), text("namespace"), text("name"));
        named.iter().any(|file| file.ends_with(&suffix)) != (truth.state != State::InSync)
    };
    let failed = |output: &Output| usize::from(!matches!(output.status.code(), Some(0 | 1)));
    Tally {
        objects: truths.len(),
        wrong: stage.objects.iter().zip(truths).filter(|pair| is_wrong(*pair)).count(),
        errors: failed(&forced),
        errors_without_force: failed(&plain),
        runs: 1,
    }
}

fn run_diff(stage: &Stage, flags: &[&str]) -> Output {
    run(stage, &[&["diff", "--server-side"], flags].concat())
}

/// The objects that a dry run of `kubectl apply --server-side`, as us, would change.
pub(super) fn would_change(stage: &Stage) -> Vec<usize> {
    let output = run(stage, &["apply", "--server-side", "--force-conflicts", "--dry-run=server", "-o", "json"]);
    let list: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let applied = list["items"].as_array().cloned().unwrap_or_default();
    let same = |live: &Value| {
        let answer = applied.iter().find(|one| one["metadata"]["uid"] == live["metadata"]["uid"]);
        answer.is_some_and(|answer| comparable(answer) == comparable(live))
    };
    let live = stage.all_live().into_iter().enumerate();
    live.filter(|(_, live)| !live.as_ref().is_some_and(same)).map(|(index, _)| index).collect()
}

/// Runs kubectl with our objects on its standard input; `kubectl diff` needs a PATH with `diff` in it.
fn run(stage: &Stage, words: &[&str]) -> Output {
    let list: Vec<_> = stage.objects.iter().map(|object| &object.rendered).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": list}).to_string();
    let kubeconfig = stage.cluster.kubeconfig();
    let mut command = Command::new(controlplane::kubectl().expect("kubectl"));
    command.args(words).args([&format!("--field-manager={MANAGER}"), "-f", "-"]).env("KUBECONFIG", kubeconfig);
    command.env("KUBECACHEDIR", kubeconfig.with_file_name("kubectl-cache"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("kubectl");
    let _ = child.stdin.take().expect("a pipe").write_all(list.as_bytes());
    child.wait_with_output().expect("its end")
}
