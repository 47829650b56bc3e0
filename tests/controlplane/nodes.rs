//! Nodes that are ready and pods that run, without a machine behind them: controller-manager, scheduler and kwok.
//!
//! Starts the three programs against one API server and waits until the nodes take pods.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::client::{create, get, wait, with_client};
use super::identity::MASTERS;
use super::keeper::Running;
use super::programs::{kwok_stages, program};
use super::server::shared;

/// The programs behind a cluster's nodes; they end when this is dropped.
pub struct Nodes {
    _running: Vec<Running>,
}

impl Nodes {
    /// Starts the programs for the API server at `port`, and `count` nodes: `node-1`, `node-2`, …
    pub fn start(folder: &Path, own: &Path, port: u16, count: usize) -> Result<Self> {
        let stages = kwok_stages()?.display().to_string();
        let controllers = "--controllers=daemonset-controller,garbage-collector-controller,namespace-controller,node-lifecycle-controller";
        let mut running = vec![
            start(
                "kube-controller-manager",
                // No node has a heart that beats; they stay ready all the same.
                &["--leader-elect=false", "--secure-port=0", "--node-monitor-grace-period=8760h", controllers],
                folder,
                port,
            )?,
            start("kube-scheduler", &["--leader-elect=false", "--secure-port=0"], folder, port)?,
            start("kwok", &["--manage-all-nodes=true", &format!("--config={stages}")], folder, port)?,
        ];
        let ready = with_client(own, async |client| {
            for number in 1..=count {
                create(&client, "/api/v1/nodes", &node(number)).await?;
            }
            wait("nodes ready", async || {
                running.iter_mut().try_for_each(Running::check)?;
                let nodes = get(&client, "/api/v1/nodes").await.unwrap_or_default();
                let nodes = nodes.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
                Ok(nodes.iter().all(takes_pods).then_some(()))
            })
            .await
        });
        ready.with_context(|| running.iter().map(|one| one.trouble("runs")).collect::<Vec<_>>().join("\n"))?;
        Ok(Self { _running: running })
    }
}

fn start(name: &str, arguments: &[&str], folder: &Path, port: u16) -> Result<Running> {
    let shared = shared()?;
    let kubeconfig = shared.authority.kubeconfig(name, Some(MASTERS), port, folder)?;
    let mut all = vec![format!("--kubeconfig={}", kubeconfig.display())];
    all.extend(arguments.iter().map(|&argument| argument.to_owned()));
    shared.keeper.start(&program(name)?, &all, &folder.join(format!("{name}.log")))
}

fn node(number: usize) -> Value {
    let name = format!("node-{number}");
    let labels = json!({"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}})
}

/// Whether the node is ready and has lost the taint that keeps pods off until then.
fn takes_pods(node: &Value) -> bool {
    let list = |pointer: &str| node.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
    let is = |value: &Value, field: &str, text: &str| value.get(field).and_then(Value::as_str) == Some(text);
    let ready = list("/status/conditions").iter().any(|one| is(one, "type", "Ready") && is(one, "status", "True"));
    ready && list("/spec/taints").is_empty()
}
