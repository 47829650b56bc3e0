//! A real control plane for tests, the demo and benchmarks: real API servers on one real etcd, on loopback.
//!
//! A [`Cluster`] is fresh and empty and starts in about two seconds; any number may run at once. It ends when it is dropped, and
//! all that it started ends when this process does. What the methods cannot do they say in a panic, as test support does;
//! those that begin with `try_` give the error instead, for the programs that people run.

#![allow(dead_code, unused_imports, reason = "each program that includes this uses a part of it")]
#![allow(unreachable_pub, reason = "public is what the including program may use")]
#![allow(clippy::panic, reason = "test support fails the test that calls it")]

mod audit;
mod client;
mod identity;
mod keeper;
mod nodes;
mod programs;
mod relay;
mod server;
mod session;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

pub use audit::{ObjectRef, Request};
use client::{create, wait, with_client};
use identity::MASTERS;
use nodes::Nodes;
pub use relay::Relay;
use server::{ApiServer, shared};
pub use session::Session;

/// What a cluster offers beyond Kubernetes itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Platform {
    /// Serves `Route` and `SecurityContextConstraints`, and checks who may block the deletion of an owner, as OpenShift does.
    pub openshift: bool,
    /// Serves prometheus-operator's `ServiceMonitor`.
    pub monitoring: bool,
    /// Does not serve `Config`: bpfman is not installed.
    pub without_config: bool,
}

impl Platform {
    /// Kubernetes and `Config`.
    pub const PLAIN: Self = Self { openshift: false, monitoring: false, without_config: false };
    /// With the kinds of OpenShift.
    pub const OPENSHIFT: Self = Self { openshift: true, ..Self::PLAIN };
    /// With the kind of monitoring.
    pub const MONITORING: Self = Self { monitoring: true, ..Self::PLAIN };
    /// With both.
    pub const ALL: Self = Self { openshift: true, monitoring: true, without_config: false };

    fn crds(self) -> Result<Vec<Value>> {
        let mut texts = Vec::new();
        if !self.without_config {
            texts.push(include_str!("crds/config.yaml").to_owned());
        }
        if self.openshift {
            texts.push(include_str!("crds/route.yaml").to_owned());
            texts.push(include_str!("crds/securitycontextconstraints.yaml").to_owned());
        }
        if self.monitoring {
            texts.push(fs::read_to_string(programs::service_monitor_crd()?)?);
        }
        Ok(texts.iter().map(|text| serde_yaml::from_str(text)).collect::<Result<_, _>>()?)
    }
}

/// A running cluster.
pub struct Cluster {
    // In the order of their end: who asks, then who answers.
    nodes: Option<Nodes>,
    api: ApiServer,
    folder: PathBuf,
    admin: PathBuf,
    own: PathBuf,
}

impl Cluster {
    /// Starts a fresh cluster and waits until it serves all its kinds.
    pub fn start(platform: Platform) -> Self {
        Self::try_start(platform).unwrap_or_else(|error| panic!("no cluster: {error:#}"))
    }

    /// Starts a fresh cluster, or says why not.
    pub fn try_start(platform: Platform) -> Result<Self> {
        let crds = platform.crds()?;
        let folder = shared()?.next_folder()?;
        let mut api = ApiServer::new(&folder, platform.openshift)?;
        api.start()?;
        let admin = shared()?.authority.kubeconfig("admin", Some(MASTERS), api.port, &folder)?;
        let own = folder.join("controlplane.kubeconfig");
        with_client(&own, async |client| client::install(&client, &crds).await)?;
        Ok(Self { nodes: None, api, folder, admin, own })
    }

    /// Gives the kubeconfig of the user `admin`, who may do everything.
    pub fn kubeconfig(&self) -> &Path {
        &self.admin
    }

    /// Gives the kubeconfig of a new user who may do what `rules` say (the `rules` of a `ClusterRole`, as YAML), and no more.
    pub fn user(&self, name: &str, rules: &str) -> PathBuf {
        self.try_user(name, rules).unwrap_or_else(|error| panic!("no user {name}: {error:#}"))
    }

    /// Gives the kubeconfig of a user whose certificate is valid between these times, in seconds since 1970.
    pub fn user_valid(&self, name: &str, group: Option<&str>, times: (u64, u64)) -> PathBuf {
        let made = shared()
            .and_then(|shared| shared.authority.kubeconfig_valid(name, group, times, self.api.port, &self.folder));
        made.unwrap_or_else(|error| panic!("no user {name}: {error:#}"))
    }

    /// Signs the content of a certificate as the authority of all users.
    pub fn sign(content: &[u8]) -> Vec<u8> {
        shared().and_then(|shared| shared.authority.sign(content)).unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// Gives the port of the API server, on loopback.
    pub fn port(&self) -> u16 {
        self.api.port
    }

    fn try_user(&self, name: &str, rules: &str) -> Result<PathBuf> {
        const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
        let rules: Vec<Value> = serde_yaml::from_str(rules)?;
        let group = "rbac.authorization.k8s.io";
        let role = json!({"metadata": {"name": name}, "rules": rules});
        let binding = json!({
            "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": group, "kind": "User", "name": name}],
        });
        with_client(&self.own, async |client| {
            create(&client, &format!("{RBAC}/clusterroles"), &role).await?;
            create(&client, &format!("{RBAC}/clusterrolebindings"), &binding).await?;
            // The API server grants what it has read of the new role, a moment after it has stored it.
            wait("the rules in force", async || Ok(client::holds(&client, name, &rules).await?.then_some(()))).await
        })?;
        shared()?.authority.kubeconfig(name, None, self.api.port, &self.folder)
    }

    /// Runs kubectl as `admin` and gives what it said.
    pub fn kubectl(&self, arguments: &[&str]) -> Output {
        self.try_kubectl(&self.admin, arguments, "").unwrap_or_else(|error| panic!("no kubectl: {error:#}"))
    }

    /// Runs kubectl as the user of `kubeconfig`, with `input` on its standard input.
    pub fn kubectl_as(&self, kubeconfig: &Path, arguments: &[&str], input: &str) -> Output {
        self.try_kubectl(kubeconfig, arguments, input).unwrap_or_else(|error| panic!("no kubectl: {error:#}"))
    }

    /// Runs kubectl as `admin`, demands success, and gives its standard output.
    pub fn kubectl_ok(&self, arguments: &[&str]) -> String {
        succeeded(arguments, self.try_kubectl(&self.admin, arguments, "")).unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// Applies the objects of `yaml` server-side as `admin`, with kubectl's field manager.
    pub fn apply(&self, yaml: &str) {
        self.try_apply("kubectl", yaml).unwrap_or_else(|error| panic!("{error:#}"));
    }

    /// Applies the objects of `yaml` server-side as `admin`, by force, with the field manager `manager`.
    pub fn apply_by(&self, manager: &str, yaml: &str) {
        self.try_apply(manager, yaml).unwrap_or_else(|error| panic!("{error:#}"));
    }

    fn try_apply(&self, manager: &str, yaml: &str) -> Result<()> {
        let manager = format!("--field-manager={manager}");
        let arguments = ["apply", "--server-side", "--force-conflicts", &manager, "-f", "-"];
        succeeded(&arguments, self.try_kubectl(&self.admin, &arguments, yaml)).map(drop)
    }

    /// Creates what the objects made of a Config refer to: the namespace `bpfman`, the daemon's service account, a role.
    pub fn try_prerequisites(&self) -> Result<()> {
        self.try_apply("kubectl", include_str!("prerequisites.yaml"))
    }

    /// The file with prometheus-operator's CRD of `ServiceMonitor`.
    pub fn monitoring_crd() -> PathBuf {
        programs::service_monitor_crd().unwrap_or_else(|error| panic!("no CRD: {error:#}"))
    }

    /// Starts `count` nodes that take pods: `node-1`, `node-2`, …
    pub fn start_nodes(&mut self, count: usize) {
        self.try_start_nodes(count).unwrap_or_else(|error| panic!("no nodes: {error:#}"));
    }

    /// Starts `count` nodes, or says why not.
    pub fn try_start_nodes(&mut self, count: usize) -> Result<()> {
        self.nodes = Some(Nodes::start(&self.folder, &self.own, self.api.port, count)?);
        Ok(())
    }

    /// Gives all requests so far, but for the test support's own. Keep the length as a mark to see later ones only.
    pub fn requests(&self) -> Vec<Request> {
        audit::read(&self.api.audit_log()).unwrap_or_else(|error| panic!("no requests: {error:#}"))
    }

    /// Gives the requests of one user agent (by its beginning, up to the version) that came after the first `mark`.
    pub fn requests_of(&self, user_agent: &str, mark: usize) -> Vec<Request> {
        self.requests().into_iter().skip(mark).filter(|request| request.user_agent.starts_with(user_agent)).collect()
    }

    /// Opens a kept connection of the test support's own user, who may do everything and is not in the audit log.
    pub fn session(&self) -> Session {
        Session::open(&self.own).unwrap_or_else(|error| panic!("no session: {error:#}"))
    }

    /// Kills the API server: who asks is refused.
    pub fn pause(&mut self) {
        self.api.stop();
    }

    /// Starts the API server again, at the same port, with all that was stored; also one that was not paused.
    pub fn restart(&mut self) {
        self.api.stop();
        self.api.start().unwrap_or_else(|error| panic!("no API server again: {error:#}"));
    }

    fn try_kubectl(&self, kubeconfig: &Path, arguments: &[&str], input: &str) -> Result<Output> {
        let mut command = Command::new(kubectl()?);
        // Its cache of discovery is the cluster's own.
        command.args(arguments).env_clear().env("KUBECONFIG", kubeconfig).env("HOME", &self.folder);
        shared()?.keeper.adopt(&mut command).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start kubectl")?;
        if let Some(mut pipe) = child.stdin.take() {
            let _ = pipe.write_all(input.as_bytes()); // it may end without reading all
        }
        Ok(child.wait_with_output()?)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.nodes = None;
        self.api.stop();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Finds kubectl, for those who run it themselves.
pub fn kubectl() -> Result<PathBuf> {
    programs::program("kubectl")
}

fn succeeded(arguments: &[&str], output: Result<Output>) -> Result<String> {
    let output = output?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "kubectl {} failed ({}): {error}", arguments.join(" "), output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Reads the requests that `Cluster::requests` gives, one a line: `200 patch /apis/…`.
pub fn lines(requests: &[Request]) -> String {
    requests.iter().fold(String::new(), |text, one| format!("{text}{} {} {}\n", one.code, one.verb, one.uri))
}
