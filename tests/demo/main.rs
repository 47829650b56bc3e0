//! The README's first command: builds what is missing, starts a real cluster, and shows the main job on it.
//!
//! Prints each command as a person would type it, with its real output; ends with an error at the first exit code that
//! is not the expected one. Starts programs on loopback, and ends them all.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that people run")]

#[path = "../controlplane/mod.rs"]
mod controlplane;

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use controlplane::{Cluster, Platform};

/// The folder that holds `config.yaml`, where the commands are run.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/demo");

fn main() -> ExitCode {
    match demo() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn demo() -> Result<()> {
    let started = Instant::now();
    let plugin = build()?;
    println!("# starting etcd, an API server, controllers and three nodes on loopback");
    let mut cluster = Cluster::try_start(Platform::PLAIN)?;
    cluster.try_start_nodes(3)?;
    let stage = Stage::new(&cluster, &plugin)?;
    println!("# ready after {:.1} s\n", started.elapsed().as_secs_f32());

    say("What the Config becomes on this cluster. No cluster is asked for it.");
    stage.run("cat config.yaml", 0)?;
    stage.run("kubectl bpfman config render -f config.yaml -o name", 0)?;
    say("What would change: all of it is new.");
    stage.run("kubectl bpfman config diff -f config.yaml -o name", 1)?;
    stage.run("kubectl bpfman config apply -f config.yaml --create-namespace --wait", 0)?;
    say("Now nothing differs.");
    stage.run("kubectl bpfman config diff", 0)?;
    say("Somebody changes an image by hand. The diff tells who, what and since when.");
    stage.run("kubectl set image -n bpfman daemonset/bpfman-daemon bpfman=quay.io/somebody/bpfman:debug", 0)?;
    stage.run("kubectl bpfman config diff", 1)?;
    say("The reconcile loop puts it right, in front of your eyes.");
    stage.watch("kubectl bpfman config watch")?;
    stage.run("kubectl bpfman config diff", 0)?;
    println!("# done after {:.1} s; everything that was started ends now", started.elapsed().as_secs_f32());
    Ok(())
}

fn say(text: &str) {
    println!("# {text}");
}

/// Builds the plugin beside this program, and gives its folder.
fn build() -> Result<PathBuf> {
    let started = Instant::now();
    println!("# building the plugin");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--bin", "kubectl-bpfman-config"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    if !cfg!(debug_assertions) {
        cargo.arg("--release"); // else it would land beside another demo
    }
    // What cargo told about this program would make build scripts run again.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(name.as_ref());
        }
    }
    ensure!(cargo.status().context("cannot start cargo")?.success(), "the plugin does not build");
    println!("# built in {:.1} s", started.elapsed().as_secs_f32());
    let example = env::current_exe()?;
    let folder = example.parent().and_then(Path::parent).context("this program is not where cargo puts examples")?;
    Ok(folder.to_owned())
}

/// Where the commands run: with the plugin and the cluster's kubectl on the path, and the cluster's kubeconfig.
struct Stage {
    path: OsString,
    kubeconfig: PathBuf,
    /// kubectl's, so that nothing is left in the home folder about a cluster that is gone.
    cache: PathBuf,
}

impl Stage {
    fn new(cluster: &Cluster, plugin: &Path) -> Result<Self> {
        let kubectl = controlplane::kubectl()?;
        let mut folders = vec![plugin.to_owned(), kubectl.parent().unwrap_or(Path::new(".")).to_owned()];
        folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        let kubeconfig = cluster.kubeconfig().to_owned();
        Ok(Self { path: env::join_paths(folders)?, cache: kubeconfig.with_file_name("kubectl-cache"), kubeconfig })
    }

    fn command(&self, line: &str) -> Command {
        println!("$ {line}");
        let mut words = line.split(' ');
        let mut command = Command::new(words.next().unwrap_or_default());
        command
            .args(words)
            .current_dir(FOLDER)
            .env("PATH", &self.path)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("KUBECACHEDIR", &self.cache);
        // What the person has set would change what is shown.
        command.env_remove("BPFMAN_IMAGE_PULL_POLICY");
        command
    }

    /// Runs a command to its end, which must be `expected`.
    fn run(&self, line: &str, expected: i32) -> Result<()> {
        let status = self.command(line).status().with_context(|| format!("cannot run {line}"))?;
        println!("# exit code {}\n", status.code().unwrap_or_default());
        ensure!(status.code() == Some(expected), "{line}: expected exit code {expected}, got {status}");
        Ok(())
    }

    /// Runs the loop until it has repaired something and all is in sync again, and stops it as Ctrl-C does.
    fn watch(&self, line: &str) -> Result<()> {
        let mut child =
            self.command(line).stdout(Stdio::piped()).spawn().with_context(|| format!("cannot run {line}"))?;
        let log = child.stdout.take().context("no output")?;
        let mut repaired = false;
        for entry in BufReader::new(log).lines() {
            let entry = entry?;
            println!("{entry}");
            repaired |= entry.ends_with("configured");
            if repaired && entry.contains("in sync") {
                println!("^C");
                Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
            }
        }
        let status = child.wait()?;
        println!("# exit code {}\n", status.code().unwrap_or_default());
        ensure!(
            repaired && status.code() == Some(130),
            "{line}: it repaired nothing, or did not end at SIGINT: {status}"
        );
        Ok(())
    }
}
