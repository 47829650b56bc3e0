//! The programs of a control plane: built once from the Go modules that `go.mod` pins, kept in cargo's target folder.
//!
//! Takes Go, or the folder that `KUBEBUILDER_ASSETS` names for etcd, kube-apiserver and kubectl. Uses the network when a module
//! is not in Go's cache yet. Never skips silently: what is missing is an error that says what to install.

use std::env;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::keeper::keeper;

const MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/controlplane");
const LDFLAGS: &str = "-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3 \
     -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36";
/// The module that holds the real `ServiceMonitor` CRD, and its sum: go.mod has no say here, no program is built of it.
const MONITORING: &str = "github.com/prometheus-operator/prometheus-operator@v0.85.0";
const MONITORING_SUM: &str = "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=";
const ASSETS: [&str; 3] = ["etcd", "kube-apiserver", "kubectl"];

/// Finds `name`: in `KUBEBUILDER_ASSETS` if it is one of the three that are there, else among the built ones.
pub fn program(name: &str) -> Result<PathBuf> {
    match env::var_os("KUBEBUILDER_ASSETS").filter(|folder| !folder.is_empty()) {
        Some(folder) if ASSETS.contains(&name) => {
            let path = Path::new(&folder).join(name);
            ensure!(path.is_file(), "KUBEBUILDER_ASSETS names a folder without {name}: {}", path.display());
            Ok(path)
        }
        _ => Ok(built(name)?.join(name)),
    }
}

/// Finds the real `ServiceMonitor` CRD.
pub fn service_monitor_crd() -> Result<PathBuf> {
    Ok(built("the CRD of ServiceMonitor")?.join("servicemonitors.yaml"))
}

/// Finds the file that tells kwok how nodes and pods live.
pub fn kwok_stages() -> Result<PathBuf> {
    Ok(built("the stages of kwok")?.join("stages.yaml"))
}

/// Gives the folder of what is built, and builds it first if it is not there; `wanted` is for the error only.
fn built(wanted: &str) -> Result<PathBuf> {
    let cache = cache();
    let folder = cache.join(key()?);
    if !folder.is_dir() {
        fs::create_dir_all(&cache).with_context(|| format!("cannot create {}", cache.display()))?;
        let lock = File::create(cache.join("lock"))?;
        lock.lock()?;
        if !folder.is_dir() {
            build(&cache, &folder).with_context(|| format!("cannot get {wanted}"))?;
        }
    }
    Ok(folder)
}

/// A folder in cargo's target folder, which is the one that carries cargo's mark above this program.
fn cache() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    let marked = || program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file()).map(Path::to_owned);
    let target = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).or_else(marked).unwrap_or_else(|| "target".into());
    Path::new(env!("CARGO_MANIFEST_DIR")).join(target).join("controlplane")
}

/// Names what would be built: other modules or other flags, another folder.
fn key() -> Result<String> {
    let mut hasher = DefaultHasher::new();
    for name in ["go.mod", "go.sum"] {
        let path = Path::new(MODULE).join(name);
        fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?.hash(&mut hasher);
    }
    (LDFLAGS, MONITORING_SUM).hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

/// Builds into a folder beside `folder`, then renames it: `folder` is whole whenever it exists.
fn build(cache: &Path, folder: &Path) -> Result<()> {
    for entry in fs::read_dir(cache)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with("building-") {
            fs::remove_dir_all(entry.path())?; // of a build that was killed; the lock is ours, so nobody is in it
        }
    }
    go(&["version"])?; // without Go nothing is announced
    let begun = Instant::now();
    let building = tempfile::Builder::new().prefix("building-").tempdir_in(cache)?;
    say("building kube-apiserver, kubectl, etcd and the other programs of a control plane (minutes, the first time)");
    go(&["build", "-trimpath", "-ldflags", LDFLAGS, "-o", &format!("{}/", building.path().display()), "tool"])?;
    fs::rename(building.path().join("server"), building.path().join("etcd"))?;
    fs::write(building.path().join("stages.yaml"), stages()?)?;
    fs::copy(service_monitors()?, building.path().join("servicemonitors.yaml"))?;
    fs::rename(building.keep(), folder)?;
    say(&format!("built them in {:.0?}: {}", begun.elapsed(), folder.display()));
    Ok(())
}

/// Joins kwok's own stages for nodes and pods without a machine behind them.
fn stages() -> Result<String> {
    let kwok = go(&["list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok"])?;
    let stage = Path::new(kwok.trim()).join("kustomize/stage");
    let names = ["node/fast/node-initialize", "pod/fast/pod-ready", "pod/fast/pod-complete", "pod/fast/pod-delete"];
    let read = |name: &str| {
        let path = stage.join(name).with_extension("yaml");
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    Ok(names.into_iter().map(read).collect::<Result<Vec<_>>>()?.join("\n---\n"))
}

fn service_monitors() -> Result<PathBuf> {
    let module: Value = serde_json::from_str(&go(&["mod", "download", "-json", MONITORING])?)?;
    let text = |field: &str| module.get(field).and_then(Value::as_str).unwrap_or_default();
    ensure!(text("Sum") == MONITORING_SUM, "{MONITORING} has the sum {}, not {MONITORING_SUM}", text("Sum"));
    Ok(Path::new(text("Dir")).join("example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml"))
}

/// Runs Go in the folder of `go.mod` and gives its output; its progress and its errors go to stderr as they come.
fn go(arguments: &[&str]) -> Result<String> {
    let keeper = keeper()?;
    let mut command = Command::new("go");
    command.args(arguments).current_dir(MODULE).env("GOWORK", "off").env("GOTMPDIR", &keeper.folder);
    command.stdout(Stdio::piped()).stderr(Stdio::inherit());
    match keeper.adopt(&mut command).spawn() {
        Ok(child) => {
            let output = child.wait_with_output()?;
            ensure!(output.status.success(), "`go {}` failed", arguments.join(" "));
            Ok(String::from_utf8(output.stdout)?)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "there is no `go` to build it with: install Go 1.26 or newer (https://go.dev/dl); for etcd, kube-apiserver and \
             kubectl alone, KUBEBUILDER_ASSETS may name a folder that has them (setup-envtest fetches one)"
        ),
        Err(error) => Err(error).context("cannot start go"),
    }
}

/// Speaks past the test harness, which would hold the text back: the first build takes minutes.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "controlplane: {text}");
}
