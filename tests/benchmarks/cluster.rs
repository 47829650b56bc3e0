//! Whole processes against a real API server, beside kubectl and the bare requests: wall time, CPU, memory, requests, connections.
//!
//! `cargo bench --bench cluster`. The 15 objects of OpenShift with monitoring; medians; on loopback, and through a proxy that
//! adds 50 ms to each round trip. Starts programs on loopback, and ends them.

#![allow(missing_docs, reason = "nobody links against it")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that people run")]

#[path = "../controlplane/mod.rs"]
mod controlplane;
#[path = "process.rs"]
mod process;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use controlplane::{Cluster, Platform, Relay, kubectl};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ConfigExt};
use process::Cost;

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-bpfman-config");
const CONFIG: &str = include_str!("../demo/config.yaml");
const DRIFT: [&str; 5] = ["set", "image", "-n", "bpfman", "daemonset/bpfman-daemon"];

/// What the cluster is like before each run.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    InSync,
    Drift,
    Empty,
}

const CASES: [(&str, Before); 5] = [
    ("diff", Before::InSync),
    ("diff", Before::Drift),
    ("apply", Before::InSync),
    ("apply", Before::Drift),
    ("apply", Before::Empty),
];

fn main() -> Result<()> {
    if process::between()? {
        return Ok(());
    }
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|word| word == "--bench") {
        return Ok(());
    }
    let cluster = Cluster::try_start(Platform::ALL)?;
    cluster.try_prerequisites()?;
    cluster.apply(CONFIG);
    println!("| round trip | command | | wall | CPU | memory | requests | connections |");
    println!("|---|---|---|---|---|---|---|---|");
    for (name, round_trip, runs) in [("loopback", Duration::ZERO, 15), ("50 ms", Duration::from_millis(50), 7)] {
        let bench = Bench::new(&cluster, round_trip)?;
        for (command, before) in CASES {
            let words = match before {
                Before::InSync => "no drift",
                Before::Drift => "one drift",
                Before::Empty => "cold",
            };
            let place = format!("| {name} | `{command}`, {words} |");
            let ours = bench.median(runs, before, || Ok(bench.ours(command)))?;
            println!("{place} ours | {} |", ours.row());
            let theirs = bench.median(runs, before, || bench.kubectl(command))?;
            println!("{place} kubectl | {} |", theirs.row());
            println!("{place} ratio | {} |", ours.ratio(&theirs));
            if before == Before::InSync {
                let bare = bench.bare(runs, command)?;
                let times = ours.wall.as_secs_f64() / bare.as_secs_f64();
                println!("{place} the same requests alone | {:.1} ms; ours is {times:.2} × | | | | |", millis(bare));
            }
        }
    }
    Ok(())
}

struct Bench<'a> {
    cluster: &'a Cluster,
    relay: Relay,
    folder: PathBuf,
    kubeconfig: PathBuf,
    /// What the Config becomes; and the same without the namespace, which nobody would delete here.
    manifests: PathBuf,
    namespaced: PathBuf,
}

impl<'a> Bench<'a> {
    fn new(cluster: &'a Cluster, round_trip: Duration) -> Result<Self> {
        let relay = Relay::start(cluster.port(), round_trip)?;
        let folder = cluster.kubeconfig().with_file_name(format!("bench-{}", relay.port));
        fs::create_dir_all(&folder)?;
        let text = fs::read_to_string(cluster.kubeconfig())?;
        let kubeconfig = folder.join("kubeconfig");
        fs::write(
            &kubeconfig,
            text.replace(&format!("127.0.0.1:{}", cluster.port()), &format!("127.0.0.1:{}", relay.port)),
        )?;
        let (manifests, namespaced) = (folder.join("all.json"), folder.join("namespaced.json"));
        let bench = Self { cluster, relay, folder, kubeconfig, manifests, namespaced };
        ensure!(bench.command(PROGRAM, &["apply", "-q", "--force-conflicts"]).status()?.success(), "cannot apply");
        let mut render = bench.command(PROGRAM, &["render", "-q", "-o", "json"]);
        let rendered = render.stdout(std::process::Stdio::piped()).output()?.stdout;
        fs::write(&bench.manifests, &rendered)?;
        let mut list: serde_json::Value = serde_json::from_slice(&rendered)?;
        let items = list.get_mut("items").and_then(serde_json::Value::as_array_mut).context("a list")?;
        ensure!(items.len() == 15, "{} objects", items.len());
        items.retain(|item| item.get("kind").is_some_and(|kind| kind != "Namespace"));
        fs::write(&bench.namespaced, list.to_string())?;
        Ok(bench)
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).env_clear().env("KUBECONFIG", &self.kubeconfig).env("HOME", &self.folder);
        command.env("PATH", "/usr/bin:/bin").stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        command
    }

    fn ours(&self, command: &str) -> Command {
        let words: &[&str] = if command == "diff" { &["diff"] } else { &["apply", "--force-conflicts"] };
        self.command(PROGRAM, words)
    }

    fn kubectl(&self, command: &str) -> Result<Command> {
        let words = [command, "--server-side", "--force-conflicts", "--field-manager=bpfman-config", "-f"];
        let mut command = self.command(kubectl()?, &words);
        command.arg(&self.manifests);
        Ok(command)
    }

    /// Runs the command on a cluster that is as told before each run.
    fn median(&self, runs: usize, before: Before, command: impl Fn() -> Result<Command>) -> Result<Cost> {
        let mut costs = Vec::new();
        // The first run fills kubectl's cache of discovery.
        for _ in 0..=runs {
            self.prepare(before)?;
            self.relay.connections();
            let mark = self.cluster.requests().len();
            let mut cost = process::measure(&command()?)?;
            cost.connections = self.relay.connections();
            cost.requests = self.cluster.requests().len() - mark;
            costs.push(cost);
        }
        Ok(Cost::median(&costs.split_off(1)))
    }

    fn prepare(&self, before: Before) -> Result<()> {
        match before {
            Before::InSync => ensure!(self.ours("apply").status()?.success(), "cannot apply"),
            Before::Drift => {
                let words = [&DRIFT[..], &["bpfman=registry.example/other:1"]].concat();
                self.cluster.kubectl_ok(&words);
            }
            Before::Empty => {
                let file = self.namespaced.display().to_string();
                self.cluster.kubectl_ok(&["delete", "--ignore-not-found", "-f", &file]);
            }
        }
        Ok(())
    }

    /// The reads of our own run, all of a stage at once on one connection, without anything around them.
    fn bare(&self, runs: usize, command: &str) -> Result<Duration> {
        let mark = self.cluster.requests().len();
        self.ours(command).status()?;
        let paths: Vec<String> = self.cluster.requests().into_iter().skip(mark).map(|request| request.uri).collect();
        let (first, rest) = paths.split_at_checked(2).context("two requests come first")?;
        let (groups, config) = first.split_at_checked(1).context("two requests come first")?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut times = Vec::new();
        for _ in 0..=runs {
            let begun = Instant::now();
            runtime.block_on(self.requests(&[groups, config, rest]))?;
            times.push(begun.elapsed());
        }
        times.sort();
        times.get(times.len() / 2).copied().context("a time")
    }

    async fn requests(&self, stages: &[&[String]]) -> Result<()> {
        let kubeconfig = kube::config::Kubeconfig::read_from(&self.kubeconfig)?;
        let config =
            kube::Config::from_custom_kubeconfig(kubeconfig, &kube::config::KubeConfigOptions::default()).await?;
        let mut tcp = hyper_util::client::legacy::connect::HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        let tls = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(config.rustls_client_config()?);
        let connector = tls.https_only().enable_http2().wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new()).http2_only(true).build(connector);
        let address = config.cluster_url.to_string();
        for stage in stages {
            let answers = stage.iter().map(|path| {
                let request = http::Request::get(format!("{}{path}", address.trim_end_matches('/')));
                let client = client.clone();
                async move {
                    let answer = client.request(request.body(Body::empty())?).await?;
                    ensure!(answer.status().is_success(), "{}: {path}", answer.status());
                    http_body_util::BodyExt::collect(answer.into_body()).await?;
                    Ok(())
                }
            });
            futures_util::future::try_join_all(answers).await?;
        }
        Ok(())
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
