//! The objects of the simulation: a Config, a namespace, two `ConfigMap`s in it, and an object of a kind that comes and goes.

use std::rc::Rc;

use bpfman_config::cluster::{Class, ConnectError, Error, Refusal};
use bpfman_config::exit::Exit;
use bpfman_config::failure::Failure;
use bpfman_config::manifest::{Manifest, ObjectId};
use bpfman_config::reconcile::watch::finalizer::FINALIZER;
use bpfman_config::reconcile::watch::{Desired, Invalid};
use serde_json::{Value, json};

fn id(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> ObjectId {
    let namespace = namespace.map(str::to_owned);
    ObjectId { api_version: api_version.to_owned(), kind: kind.to_owned(), namespace, name: name.to_owned() }
}

pub(super) fn config() -> ObjectId {
    id("bpfman.io/v1alpha1", "Config", None, "bpfman-config")
}

pub(super) fn namespace(name: &str) -> ObjectId {
    id("v1", "Namespace", None, name)
}

pub(super) fn service() -> ObjectId {
    id("apiregistration.k8s.io/v1", "APIService", None, "v1.example.org")
}

/// What is desired, in the order of applying.
pub(super) fn objects() -> [ObjectId; 4] {
    [
        namespace("ebpf"),
        id("v1", "ConfigMap", Some("ebpf"), "a"),
        id("v1", "ConfigMap", Some("ebpf"), "b"),
        id("example.org/v1", "Widget", Some("ebpf"), "w"),
    ]
}

/// Renders the Config: `spec.value` goes into every object; a Config without it is invalid.
pub(super) fn render(config: &Value) -> Result<Desired, Invalid> {
    let Some(value) = config.pointer("/spec/value").and_then(Value::as_str) else {
        return Err(Invalid::Config(Rc::new(Failure::new(Exit::Input, anyhow::anyhow!("spec.value: missing")))));
    };
    let manifests = objects().map(|id| manifest(&id, value, &config["metadata"]["uid"]));
    Ok(Desired { namespace: "ebpf".to_owned(), manifests: manifests.into(), ..Desired::default() })
}

fn manifest(id: &ObjectId, value: &str, uid: &Value) -> Manifest {
    let mut object = json!({
        "apiVersion": id.api_version, "kind": id.kind,
        "metadata": {"name": id.name},
        "data": {"k1": value, "k2": "2", "k3": "3"},
    });
    if let Some(namespace) = &id.namespace {
        object["metadata"]["namespace"] = json!(namespace);
        object["metadata"]["ownerReferences"] = json!([
            {"apiVersion": "bpfman.io/v1alpha1", "kind": "Config", "name": "bpfman-config", "uid": uid}
        ]);
    }
    Manifest { id: id.clone(), object, source: "model".to_owned() }
}

/// Whether `live` has all that is desired, told without the code under test.
pub(super) fn is_as_desired(live: Option<&Value>, desired: &Value) -> bool {
    let Some(live) = live else { return false };
    let same = |pointer: &str| desired.pointer(pointer).is_none() || desired.pointer(pointer) == live.pointer(pointer);
    ["/data/k1", "/data/k2", "/data/k3", "/metadata/ownerReferences"].iter().all(|pointer| same(pointer))
}

pub(super) fn unreachable() -> Error {
    Error::Unreachable { host: "https://model".to_owned(), cause: ConnectError::Refused }
}

pub(super) fn silent(seconds: u64) -> Error {
    Error::TimedOut { host: "https://model".to_owned(), seconds }
}

pub(super) fn busy() -> Error {
    Error::Unusable { code: 429, host: "https://model".to_owned(), line: "too many requests".to_owned() }
}

pub(super) fn forbidden() -> Error {
    refused(Class::Forbidden, 403, "not allowed")
}

pub(super) fn refusal() -> Error {
    refused(Class::Other, 422, "a policy says no")
}

pub(super) fn stale() -> Error {
    refused(Class::Stale, 409, "it has changed")
}

fn refused(class: Class, code: u16, message: &str) -> Error {
    let message = message.to_owned();
    Error::Refused(Box::new(Refusal { class, code, reason: String::new(), message, causes: Vec::new() }))
}

/// How the API server records that we have set `finalizers`; what others set is not recorded here.
pub(super) fn managers_of_finalizers(finalizers: &[String]) -> Value {
    if !finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
        return json!([]);
    }
    json!([{
        "manager": "bpfman-config", "operation": "Update", "apiVersion": "bpfman.io/v1alpha1",
        "fieldsV1": {"f:metadata": {"f:finalizers": {".": {}, format!("v:\"{FINALIZER}\""): {}}}},
    }])
}
