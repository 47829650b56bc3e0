//! `watch` on a real API server: how soon one edit is repaired, with how many requests, and what the process holds and uses.
//!
//! `cargo bench --bench watch`. The 15 objects of OpenShift with monitoring, and a `ConfigMap` that is edited. The latency is the API server's: from its answer to the edit to
//! the arrival of our patch. Starts programs on loopback, and ends them.

#![allow(missing_docs, reason = "nobody links against it")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that people run")]
#![allow(clippy::cast_precision_loss, reason = "the figures are for people")]

#[path = "../controlplane/mod.rs"]
mod controlplane;

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use controlplane::{Cluster, Platform, Relay, Request};
use jiff::Timestamp;

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-bpfman-config");
const AGENT: &str = "kubectl-bpfman-config";
const CONFIG: &str = include_str!("../demo/config.yaml");
const EDITS: usize = 100;

/// A field for each edit, so that none is fought over.
fn edit(cluster: &Cluster, round: usize) {
    let change = format!(r#"{{"data":{{"key-{round}":"wrong"}}}}"#);
    cluster.kubectl_ok(&["patch", "-n", "bpfman", "configmap/extra", "--field-manager=somebody", "-p", &change]);
}

struct Watch(Child);

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Watch {
    /// Memory of its own in KiB, and the CPU time used so far.
    fn usage(&self) -> Result<(u64, Duration)> {
        let folder = format!("/proc/{}", self.0.id());
        let status = fs::read_to_string(format!("{folder}/status"))?;
        let memory = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).context("its memory")?;
        let memory = memory.trim().trim_end_matches(" kB").parse()?;
        let stat = fs::read_to_string(format!("{folder}/stat"))?;
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        let ticks = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
        Ok((memory, Duration::from_millis(10 * (ticks(11) + ticks(12)))))
    }
}

fn main() -> Result<()> {
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|word| word == "--bench") {
        return Ok(());
    }
    let cluster = Cluster::try_start(Platform::ALL)?;
    cluster.try_prerequisites()?;
    cluster.apply(CONFIG);
    let templates = cluster.kubeconfig().with_file_name("templates");
    fs::create_dir(&templates)?;
    let keys: String = (0..EDITS).map(|round| format!("  key-{round}: right\n")).collect();
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: extra\n  namespace: {{ namespace }}\ndata:\n";
    fs::write(templates.join("extra.yaml"), format!("{head}{keys}"))?;
    let relay = Relay::start(cluster.port(), Duration::ZERO)?;
    let mut command = Command::new(PROGRAM);
    command.args(["watch", "--server", &format!("https://127.0.0.1:{}", relay.port), "--templates"]).arg(&templates);
    command.env_clear().env("KUBECONFIG", cluster.kubeconfig()).stdout(Stdio::null()).stderr(Stdio::null());
    let watch = Watch(command.spawn()?);
    wait("the objects", || patches(&cluster, 0).len() >= 15)?;
    sleep(Duration::from_secs(2));
    let (begun, mark) = (watch.usage()?, cluster.requests().len());
    let mut latencies = Vec::new();
    for round in 0..EDITS {
        let mark = cluster.requests().len();
        edit(&cluster, round);
        wait("the repair", || !patches(&cluster, mark).is_empty())?;
        latencies.push(latency(&cluster, mark)?);
        // A burst would be one more pass.
        sleep(Duration::from_millis(600));
    }
    latencies.sort();
    let requests = cluster.requests_of(AGENT, mark).len();
    let repaired = watch.usage()?;
    let mark = cluster.requests().len();
    let since = Instant::now();
    sleep(Duration::from_secs(30));
    let idle = watch.usage()?;
    let asked = cluster.requests_of(AGENT, mark).iter().filter(|request| request.verb != "watch").count();
    let at = |share: usize| {
        latencies.get((latencies.len() * share / 100).min(latencies.len() - 1)).copied().unwrap_or_default()
    };
    println!("| `watch`, 16 objects | |\n|---|---|");
    println!(
        "| from an edit to our patch, of {EDITS} edits | p50 {:.1} ms, p99 {:.1} ms |",
        millis(at(50)),
        millis(at(99))
    );
    println!("| requests a repair | {:.2} |", requests as f64 / EDITS as f64);
    println!("| requests in {} s of rest, watches aside | {asked} |", since.elapsed().as_secs());
    println!("| memory after the start, after the edits | {:.1} MB, {:.1} MB |", mega(begun.0), mega(repaired.0));
    println!(
        "| CPU a repair, a second of rest | {:.1} ms, {:.1} ms |",
        millis(repaired.1.saturating_sub(begun.1)) / EDITS as f64,
        millis(idle.1.saturating_sub(repaired.1)) / 30.0
    );
    println!("| connections | {} |", relay.connections());
    Ok(())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn mega(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1024.0
}

fn patches(cluster: &Cluster, mark: usize) -> Vec<Request> {
    let mut requests = cluster.requests_of(AGENT, mark);
    requests.retain(|request| request.verb == "patch");
    requests
}

/// From the answer to the edit to the arrival of our patch.
fn latency(cluster: &Cluster, mark: usize) -> Result<Duration> {
    let all = cluster.requests();
    let edit = all.iter().skip(mark).find(|request| {
        request.verb == "patch" && request.user_agent != AGENT && !request.user_agent.starts_with(AGENT)
    });
    let edited: Timestamp = edit.context("the edit")?.answered.parse()?;
    let ours = patches(cluster, mark);
    let patched: Timestamp = ours.first().context("our patch")?.received.parse()?;
    Ok(Duration::try_from(patched.duration_since(edited)).unwrap_or_default())
}

fn wait(what: &str, done: impl Fn() -> bool) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(30);
    while !done() {
        ensure!(Instant::now() < end, "no {what} within 30 s");
        sleep(Duration::from_millis(10));
    }
    Ok(())
}
