//! One fault at each request of an apply of the 15 objects: the exit code is right, nothing hangs, and one more run puts all right.
//!
//! A proxy in front of the real API server answers one request otherwise, or a signal comes at just that request. `FAULT_POSITIONS=all` tries each
//! position; the usual run takes every seventh of each fault, beginning at another one for each.

pub(crate) mod proxy;

use std::process::Stdio;
use std::time::{Duration, Instant};

use proxy::{Fault, Proxy, When};

use crate::controlplane::{Cluster, Platform};
use crate::program::{command, prepare, run};

/// Each fault, and how an apply may end that meets it once.
const FAULTS: [(Fault, &[i32]); 12] = [
    (Fault::Delay, &[0]),
    (Fault::CutBefore, &[0]),
    (Fault::CutAfter, &[0]),
    (Fault::Stall, &[0, 5]),
    (Fault::Answer(429), &[0]),
    (Fault::Answer(503), &[0]),
    (Fault::Answer(401), &[5]),
    (Fault::Answer(413), &[4, 5]),
    (Fault::Answer(502), &[5]),
    (Fault::Signal("INT"), &[130]),
    (Fault::Signal("TERM"), &[143]),
    (Fault::Signal("KILL"), &[-1]),
];

/// The longest that any run may take, the limit of a request (2 s) and its retries included.
const LONGEST: Duration = Duration::from_secs(15);

struct Stage {
    cluster: Cluster,
    proxy: Proxy,
    objects: Vec<String>,
}

impl Stage {
    fn start() -> Self {
        let cluster = Cluster::start(Platform::ALL);
        prepare(&cluster);
        let rendered = run(&cluster, "render -o name -q");
        let objects = rendered.lines().filter(|name| name.contains('/') && !name.starts_with("namespace/"));
        let objects = objects.map(str::to_owned).collect();
        let proxy = Proxy::start(&cluster);
        Self { cluster, proxy, objects }
    }

    /// How many requests an apply sends where nothing is there yet.
    fn requests(&self) -> usize {
        self.clear();
        let (exit, said) = self.apply(None);
        assert_eq!(exit, 0, "{said}");
        self.proxy.requests()
    }

    fn clear(&self) {
        let objects: Vec<&str> = self.objects.iter().map(String::as_str).collect();
        let delete = ["delete", "--namespace=ebpf", "--ignore-not-found", "--wait=false"];
        self.cluster.kubectl_ok(&[&delete[..], &objects].concat());
    }

    /// Applies while `fault` waits at a request; gives the exit code and what was said.
    fn apply(&self, fault: Option<(Fault, usize)>) -> (i32, String) {
        let mut child = command(&self.proxy.kubeconfig, "apply --request-timeout 2s")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        self.proxy.arm(fault.map(|(fault, position)| (fault, When::Number(position))), child.id());
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if begun.elapsed() > LONGEST {
                child.kill().unwrap();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let hung = begun.elapsed() > LONGEST;
        (if hung { -2 } else { output.status.code().unwrap_or(-1) }, said)
    }

    /// What is wrong after one fault; nothing if all is right.
    fn wrong(&self, fault: Fault, expected: &[i32], position: usize) -> Option<String> {
        self.clear();
        let (exit, said) = self.apply(Some((fault, position)));
        let at = format!("{fault:?} at request {position}");
        if !(expected.contains(&exit) || exit == 0 && self.proxy.requests() < position) {
            return Some(format!("{at}: exit {exit}, expected {expected:?}\n{said}"));
        }
        let again = run(&self.cluster, "apply -q");
        if !again.ends_with("exit 0\n") {
            return Some(format!("{at}: the next run does not put it right\n{again}"));
        }
        let diff = run(&self.cluster, "diff -q --exact -o name");
        (diff != "exit 0\n").then(|| format!("{at}: afterwards something differs\n{diff}"))
    }
}

#[test]
fn after_a_fault_at_any_request_one_more_run_puts_all_right() {
    let stage = Stage::start();
    let requests = stage.requests();
    let all = std::env::var("FAULT_POSITIONS").is_ok_and(|value| value == "all");
    let mut wrong = Vec::new();
    for (number, (fault, expected)) in FAULTS.into_iter().enumerate() {
        let positions: Vec<usize> = (1..=requests).filter(|position| all || position % 7 == number % 7).collect();
        let faults: Vec<String> =
            positions.iter().filter_map(|position| stage.wrong(fault, expected, *position)).collect();
        println!("{fault:?}: {} positions of {requests}, {} wrong", positions.len(), faults.len());
        wrong.extend(faults);
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
