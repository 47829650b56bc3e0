//! The cluster, the objects on it, and the requests that the test makes itself.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fields::Types;
use super::oracle::comparable;
use super::truth::owned;
use crate::controlplane::{Cluster, Platform, Session};
use crate::program::{command, prepare};

/// The manager as which the program applies.
pub(super) const MANAGER: &str = "bpfman-config";
pub(super) const APPLY: &str = "application/apply-patch+yaml";
pub(super) const JSON_PATCH: &str = "application/json-patch+json";
pub(super) const JSON: &str = "application/json";

/// One of the objects that the Config becomes.
pub(super) struct Object {
    /// As results name it: `daemonset.apps/bpfman-daemon`.
    pub(super) title: String,
    /// Where the API server has it.
    pub(super) uri: String,
    /// What is sent.
    pub(super) rendered: Value,
    /// The live object right after our apply.
    pub(super) after: Value,
}

impl Object {
    fn new(rendered: Value) -> Self {
        let text = |pointer: &str| rendered.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (version, kind, name) = (text("/apiVersion"), text("/kind").to_lowercase(), text("/metadata/name"));
        let group = version.split_once('/').map_or(String::new(), |(group, _)| format!(".{group}"));
        let prefix = if version.contains('/') { "apis" } else { "api" };
        let namespace = match text("/metadata/namespace") {
            "" => String::new(),
            namespace => format!("namespaces/{namespace}/"),
        };
        let plural = match kind.as_str() {
            "securitycontextconstraints" => kind.clone(),
            "ingress" => "ingresses".to_owned(),
            "networkpolicy" => "networkpolicies".to_owned(),
            _ => format!("{kind}s"),
        };
        let title = format!("{kind}{group}/{name}");
        let uri = format!("/{prefix}/{version}/{namespace}{plural}/{name}");
        Self { title, uri, rendered, after: Value::Null }
    }

    /// The types of its kind.
    pub(super) fn types(&self) -> Types {
        Types::of(&self.rendered)
    }

    /// Its kind.
    pub(super) fn kind(&self) -> &str {
        self.rendered["kind"].as_str().unwrap_or_default()
    }

    /// The URI of its collection.
    pub(super) fn collection(&self) -> &str {
        self.uri.rsplit_once('/').unwrap().0
    }
}

/// What the program said: both streams and the exit code.
pub(super) struct Said {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) error: String,
}

impl Said {
    /// The items of `diff -o json`, by the title of their object.
    pub(super) fn items(&self) -> BTreeMap<String, Value> {
        let document: Value = serde_json::from_str(&self.out).unwrap_or_default();
        let items = document["items"].as_array().cloned().unwrap_or_default();
        items.into_iter().map(|item| (Object::new(as_object(&item["object"])).title, item)).collect()
    }

    /// What each object became, by its title.
    pub(super) fn results(&self) -> BTreeMap<String, String> {
        let words = self.out.lines().filter_map(|line| line.split_once(' '));
        words
            .map(|(title, result)| (title.to_owned(), result.split(' ').next().unwrap_or_default().to_owned()))
            .collect()
    }

    /// All of it, for a report.
    pub(super) fn all(&self) -> String {
        format!("exit {}\n{}{}", self.code, self.out, self.error)
    }
}

fn as_object(named: &Value) -> Value {
    json!({"apiVersion": named["apiVersion"], "kind": named["kind"], "metadata": {"name": named["name"]}})
}

/// A cluster on which everything is as we applied it.
pub(super) struct Stage {
    pub(super) cluster: Cluster,
    pub(super) session: Session,
    pub(super) objects: Vec<Object>,
}

impl Stage {
    /// Starts a cluster with all kinds, and applies.
    pub(super) fn start() -> Self {
        let cluster = Cluster::start(Platform::ALL);
        cluster.apply(include_str!("sensors.yaml"));
        cluster.kubectl_ok(&["wait", "--for=condition=Established", "crd/sensors.example.com"]);
        prepare(&cluster);
        let session = cluster.session();
        let mut stage = Self { cluster, session, objects: Vec::new() };
        let rendered = stage.run("render -o json");
        let list: Value = serde_json::from_str(&rendered.out).unwrap_or_else(|_| panic!("{}", rendered.all()));
        stage.objects = list["items"].as_array().unwrap().iter().cloned().map(Object::new).collect();
        let applied = stage.run("apply");
        assert_eq!(applied.code, 0, "{}", applied.all());
        for index in 0..stage.objects.len() {
            let after = stage.live(&stage.objects[index]).expect("what was applied");
            stage.objects[index].after = after;
        }
        stage
    }

    /// Runs the program with the test's own templates beside the built-in ones.
    pub(super) fn run(&self, words: &str) -> Said {
        let templates = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/random_changes/templates");
        let mut command = command(self.cluster.kubeconfig(), words);
        let output = command.args(["--templates", templates]).output().expect("the program");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), error: text(&output.stderr) }
    }

    /// Sends a request.
    pub(super) fn send(&self, method: &str, uri: &str, content_type: &str, body: &Value) -> (u16, Value) {
        self.session.send(method, uri, content_type, body).unwrap_or_else(|error| panic!("{method} {uri}: {error:#}"))
    }

    /// Reads an object; none where there is none.
    pub(super) fn live(&self, object: &Object) -> Option<Value> {
        let (code, live) = self.send("GET", &object.uri, JSON, &Value::Null);
        (code == 200).then_some(live)
    }

    /// Reads all objects.
    pub(super) fn all_live(&self) -> Vec<Option<Value>> {
        self.objects.iter().map(|object| self.live(object)).collect()
    }

    /// What the API server would make of our apply, or its refusal.
    pub(super) fn dry_run(&self, object: &Object, force: bool) -> (u16, Value) {
        let uri = format!("{}?fieldManager={MANAGER}&force={force}&dryRun=All", object.uri);
        self.send("PATCH", &uri, APPLY, &object.rendered)
    }

    /// Puts an object back to what it was right after our apply, its managers included.
    pub(super) fn reset(&mut self, index: usize) {
        let object = &self.objects[index];
        let live = self.live(object);
        let is_as_applied =
            |live: &Value| comparable(live) == comparable(&object.after) && owned(live) == owned(&object.after);
        if let Some(live) = &live {
            if is_as_applied(live) {
                return;
            }
            if live["metadata"].get("finalizers").is_some_and(|_| live["metadata"].get("deletionTimestamp").is_some()) {
                let patch = json!([{"op": "remove", "path": "/metadata/finalizers"}]);
                self.send("PATCH", &object.uri, JSON_PATCH, &patch);
            }
            let mut body = object.after.clone();
            for name in ["resourceVersion", "uid", "creationTimestamp", "generation"] {
                body["metadata"][name] = live["metadata"][name].clone();
            }
            let (code, _) = self.send("PUT", &format!("{}?fieldManager=reset", object.uri), JSON, &body);
            let patch = json!([{"op": "replace", "path": "/metadata/managedFields", "value": object.after["metadata"]["managedFields"]}]);
            let uri = format!("{}?fieldManager=reset", object.uri);
            if code == 200 && self.send("PATCH", &uri, JSON_PATCH, &patch).0 == 200 {
                let now = self.live(object).expect("what was reset");
                if is_as_applied(&now) {
                    return;
                }
                assert_ne!(object.kind(), "Namespace", "{now} is not {}", object.after);
            }
            self.send("DELETE", &object.uri, JSON, &Value::Null);
        }
        let uri = format!("{}?fieldManager={MANAGER}", object.uri);
        let (code, after) = self.send("PATCH", &uri, APPLY, &object.rendered);
        assert_eq!(code, 200, "{} cannot be reset: {after}", object.title);
        self.objects[index].after = after;
    }
}
