//! The test support's own requests: it waits for the API server, creates what a cluster starts with, and sees when it is there.
//!
//! Runs on a thread of its own, so that a test may be asynchronous or not. Its user is not in the audit log.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use http::Request;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;
use tokio::time::{Instant, sleep};

const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// Runs `work` with a client of the user of `kubeconfig`, to its end.
pub fn with_client<T: Send>(kubeconfig: &Path, work: impl AsyncFnOnce(Client) -> Result<T> + Send) -> Result<T> {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let client = client(kubeconfig).await?;
            work(client).await
        })
    };
    std::thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Makes a client of the user of `kubeconfig`; it belongs to the runtime that made it.
pub async fn client(kubeconfig: &Path) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    // A kind just created asks for a second of patience where it needs milliseconds; `wait` asks again sooner.
    config.default_retry = false;
    // The API server is on loopback, whatever proxy the person has.
    config.proxy_url = None;
    Ok(Client::try_from(config)?)
}

/// Asks until `found` gives something; `found` fails when asking again is of no use.
pub async fn wait<T>(what: &str, mut found: impl AsyncFnMut() -> Result<Option<T>>) -> Result<T> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = found().await? {
            return Ok(value);
        }
        if Instant::now() > end {
            bail!("{what}: not seen in {} s", PATIENCE.as_secs());
        }
        sleep(PAUSE).await;
    }
}

/// Reads `path`, or nothing while the API server does not give it.
pub async fn get(client: &Client, path: &str) -> Option<Value> {
    let request = Request::get(path).body(Vec::new()).ok()?;
    client.request(request).await.ok()
}

/// Creates `object` in the collection at `path` and gives what is there then.
pub async fn create(client: &Client, path: &str, object: &Value) -> Result<Value> {
    let request = Request::post(path).header("content-type", "application/json").body(serde_json::to_vec(object)?)?;
    client.request(request).await.with_context(|| format!("cannot create {}", name(object)))
}

/// Creates the CRDs and waits until they are served, discovered and described: what comes next may use any of the three.
pub async fn install(client: &Client, crds: &[Value]) -> Result<()> {
    for crd in crds {
        create(client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd).await?;
    }
    for crd in crds {
        let text = |pointer: &str| crd.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let version = format!("{}/{}", text("/spec/group"), text("/spec/versions/0/name"));
        let list = format!("/apis/{version}/{}", text("/spec/names/plural"));
        wait(&format!("{} served", name(crd)), async || Ok(get(client, &list).await)).await?;
        let plural = text("/spec/names/plural");
        wait(&format!("{} discovered", name(crd)), async || Ok(discovered(client, plural).await.then_some(()))).await?;
        let described = format!("/paths/apis~1{}", version.replace('/', "~1"));
        wait(&format!("{} described", name(crd)), async || {
            Ok(get(client, "/openapi/v3").await.filter(|index| index.pointer(&described).is_some()))
        })
        .await?;
    }
    Ok(())
}

/// Whether the one document that clients discover the API by has a resource called `plural`.
async fn discovered(client: &Client, plural: &str) -> bool {
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let Ok(request) = Request::get("/apis").header("accept", accept).body(Vec::new()) else { return false };
    let document: Value = client.request(request).await.unwrap_or_default();
    let lists = |value: &Value, field: &str| value.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
    let versions = lists(&document, "items").into_iter().flat_map(|group| lists(&group, "versions"));
    versions
        .flat_map(|version| lists(&version, "resources"))
        .any(|resource| resource.get("resource").and_then(Value::as_str) == Some(plural))
}

fn name(object: &Value) -> &str {
    object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}

/// Whether `user` holds each of `rules`, of those that name resources or paths.
pub async fn holds(client: &Client, user: &str, rules: &[Value]) -> Result<bool> {
    let review = serde_json::json!({"spec": {"namespace": "default"}});
    let request = Request::post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews")
        .header("content-type", "application/json")
        .header("impersonate-user", user)
        .body(serde_json::to_vec(&review)?)?;
    let answer: Value = client.request(request).await?;
    let held = ["/status/resourceRules", "/status/nonResourceRules"].map(|pointer| answer.pointer(pointer).cloned());
    let held: Vec<Value> = held.into_iter().flatten().filter_map(|list| list.as_array().cloned()).flatten().collect();
    let within = |rule: &Value, other: &Value| {
        rule.as_object().is_some_and(|fields| fields.iter().all(|(name, value)| other.get(name) == Some(value)))
    };
    Ok(rules.iter().all(|rule| held.iter().any(|other| within(rule, other))))
}
