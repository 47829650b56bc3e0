//! The program itself, run as a person runs it: the words typed, then both streams and the exit code as one text.
//!
//! The environment is cleared. What no two runs have in common (addresses, times, uids) is written as a word.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::controlplane::{Cluster, Request};
use crate::render;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-bpfman-config");

/// What the program calls itself when it asks the API server.
const USER_AGENT: &str = "kubectl-bpfman-config";

/// The Config that no default is equal to, as JSON, which is YAML too.
pub(crate) fn config() -> String {
    let mut config = render::fixture();
    config["metadata"] = json!({"name": "bpfman-config"});
    config.to_string()
}

/// Puts the Config into the cluster, and its namespace.
pub(crate) fn prepare(cluster: &Cluster) {
    cluster.kubectl_ok(&["create", "namespace", "ebpf"]);
    cluster.apply(&config());
}

/// Starts a command as `kubeconfig`'s user; nothing of our own environment is in it.
pub(crate) fn command(kubeconfig: &Path, words: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(words.split_whitespace()).env_clear().env("KUBECONFIG", kubeconfig);
    command.env("HOME", kubeconfig.parent().expect("a folder"));
    command
}

/// Runs the program as `admin` and gives all it said. Whatever the test is about, `diff` may not write.
pub(crate) fn run(cluster: &Cluster, words: &str) -> String {
    let mark = cluster.requests().len();
    let said = run_as(cluster.kubeconfig(), words);
    if words.starts_with("diff") {
        let written = writes(cluster, mark);
        assert!(written.is_empty(), "{words} wrote: {written:?}");
    }
    said
}

/// Runs the program as the user of `kubeconfig` and gives all it said.
pub(crate) fn run_as(kubeconfig: &Path, words: &str) -> String {
    said(&mut command(kubeconfig, words))
}

/// Both streams and the exit code of a command.
pub(crate) fn said(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("the program");
    let error = String::from_utf8_lossy(&output.stderr);
    let error: String = error.lines().map(|line| format!("2> {line}\n")).collect();
    normal(&format!("{}{error}exit {}\n", String::from_utf8_lossy(&output.stdout), output.status.code().unwrap_or(-1)))
}

/// Writes what differs from run to run as a word.
pub(crate) fn normal(text: &str) -> String {
    let mut words = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let (length, word) = ["https://127.0.0.1:", "127.0.0.1:"]
            .into_iter()
            .find(|prefix| rest.starts_with(prefix))
            .map(|prefix| (prefix.len() + digits(&rest[prefix.len()..]), "SERVER"))
            .or_else(|| shaped(rest, "0000-00-00T00:00:00Z").map(|length| (length, "TIME")))
            .or_else(|| shaped(rest, "00:00:00Z").map(|length| (length, "TIME")))
            .or_else(|| shaped(rest, "\"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx\"").map(|length| (length, "UID")))
            .or_else(|| shaped(rest, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx").map(|length| (length, "UID")))
            .unwrap_or((0, ""));
        if length == 0 {
            words.push(next);
            rest = &rest[next.len_utf8()..];
        } else {
            words.push_str(word);
            rest = &rest[length..];
        }
    }
    words
}

fn digits(text: &str) -> usize {
    text.chars().take_while(char::is_ascii_digit).count()
}

/// The length of `shape` if `text` begins like it: `0` is a digit, `x` a hexadecimal one.
fn shaped(text: &str, shape: &str) -> Option<usize> {
    let alike = |(one, like): (char, char)| match like {
        '0' => one.is_ascii_digit(),
        'x' => one.is_ascii_hexdigit(),
        _ => one == like,
    };
    (text.len() >= shape.len() && text.chars().zip(shape.chars()).all(alike)).then_some(shape.len())
}

/// The requests of the program since the first `mark` that are neither reads nor watches.
pub(crate) fn writes(cluster: &Cluster, mark: usize) -> Vec<Request> {
    let reads = ["get", "list", "watch"];
    let mut requests = cluster.requests_of(USER_AGENT, mark);
    requests.retain(|request| !reads.contains(&request.verb.as_str()) && !request.uri.contains("dryRun=All"));
    requests
}

/// All requests of the program since the first `mark`.
pub(crate) fn requests(cluster: &Cluster, mark: usize) -> Vec<Request> {
    cluster.requests_of(USER_AGENT, mark)
}

/// Every object that the Config owns and the namespace, one a line: its name and what `field` (a JSON pointer) gives.
pub(crate) fn live(cluster: &Cluster, names: &[&str]) -> Vec<Value> {
    let mut words = vec!["get", "-n", "ebpf", "-o", "json", "--show-managed-fields"];
    words.extend(names);
    let list: Value = serde_json::from_str(&cluster.kubectl_ok(&words)).expect("JSON");
    match list["items"].as_array() {
        Some(items) => items.clone(),
        None => vec![list],
    }
}

/// Waits until `seen` gives something.
pub(crate) fn until<T>(what: &str, mut seen: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = seen() {
            return found;
        }
        assert!(Instant::now() < end, "not seen in 30 s: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The program as it runs on; it is killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    said: Arc<Mutex<String>>,
}

impl Running {
    /// Starts it as `admin`.
    pub(crate) fn start(cluster: &Cluster, words: &str) -> Self {
        Self::of(command(cluster.kubeconfig(), words))
    }

    /// Starts this command.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let streams: [(Box<dyn std::io::Read + Send>, _); 2] =
            [(Box::new(child.stdout.take().unwrap()), ""), (Box::new(child.stderr.take().unwrap()), "2> ")];
        for (stream, prefix) in streams {
            let said = Arc::clone(&said);
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    said.lock().unwrap().push_str(&normal(&format!("{prefix}{line}\n")));
                }
            });
        }
        Self { child, said }
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has said so far.
    pub(crate) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// Waits until it has said `text` for the `times`th time, and gives all it said.
    pub(crate) fn says(&self, text: &str, times: usize) -> String {
        let end = Instant::now() + Duration::from_secs(30);
        while self.said().matches(text).count() < times {
            assert!(Instant::now() < end, "not said {times} times in 30 s: {text}\n{}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
        self.said()
    }

    /// Sends it a signal (`INT`, `TERM`) and gives its exit code.
    pub(crate) fn end(&mut self, signal: &str) -> Option<i32> {
        let sent = Command::new("kill").arg(format!("-{signal}")).arg(self.child.id().to_string()).status();
        assert!(sent.unwrap().success());
        let child = &mut self.child;
        until("its end", || child.try_wait().unwrap()).code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
