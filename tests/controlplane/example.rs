//! Keeps one real cluster running in the foreground, for a person to try things on.
//!
//! Prints the line that another shell evaluates to use it. Starts programs on loopback, and ends them when it ends.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that people run")]
#![allow(clippy::doc_markdown, reason = "the comments on the flags are the help text")]

#[path = "mod.rs"]
mod controlplane;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use controlplane::{Cluster, Platform};
use tokio::signal::unix::{SignalKind, signal};

/// Keeps a real Kubernetes control plane running on loopback until Ctrl-C.
#[derive(Parser)]
#[command(name = "controlplane")]
struct Args {
    /// With OpenShift's Route and SecurityContextConstraints
    #[arg(long)]
    openshift: bool,
    /// With prometheus-operator's ServiceMonitor
    #[arg(long)]
    monitoring: bool,
    /// How many nodes take pods; with 0 no controllers run either
    #[arg(long, default_value_t = 3)]
    nodes: usize,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    let platform = Platform { openshift: args.openshift, monitoring: args.monitoring, without_config: false };
    let mut cluster = Cluster::try_start(platform)?;
    cluster.try_prerequisites()?;
    if args.nodes > 0 {
        cluster.try_start_nodes(args.nodes)?;
    }
    println!("export KUBECONFIG={}", cluster.kubeconfig().display());
    eprintln!("kubectl: {}", controlplane::kubectl()?.display());
    eprintln!("running until Ctrl-C");
    wait_for_the_end()
}

/// Waits for Ctrl-C or SIGTERM.
fn wait_for_the_end() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut terminated = signal(SignalKind::terminate())?;
        tokio::select! {
            result = tokio::signal::ctrl_c() => result?,
            _ = terminated.recv() => {}
        }
        Ok(())
    })
}
