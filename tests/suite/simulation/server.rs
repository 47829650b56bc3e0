//! A model of the API server: stored objects with owners, server-side apply, deletion, a history that watches read.
//!
//! It knows what the loop depends on and nothing more: one list level, forced applies, no defaults.

use std::collections::BTreeMap;

use bpfman_config::cluster::Error;
use bpfman_config::manifest::ObjectId;
use serde_json::{Map, Value, json};

use super::world;

/// What happened to an object.
#[derive(Clone)]
pub(super) struct Change {
    pub(super) revision: u64,
    pub(super) id: ObjectId,
    pub(super) object: Value,
    pub(super) is_deletion: bool,
}

/// What etcd holds.
#[derive(Clone, Default)]
pub(super) struct Server {
    pub(super) objects: BTreeMap<ObjectId, Value>,
    pub(super) revision: u64,
    pub(super) history: Vec<Change>,
    uids: u64,
    /// Changes the value of this key at each write, as a mutating webhook does.
    pub(super) webhook: bool,
    /// Refuses every apply of this object.
    pub(super) refused: Option<ObjectId>,
}

impl Server {
    pub(super) fn get(&self, id: &ObjectId) -> Option<&Value> {
        self.objects.get(id)
    }

    pub(super) fn serves(&self, id: &ObjectId) -> bool {
        id.group() != "example.org" || self.objects.contains_key(&world::service())
    }

    /// A forced server-side apply by us.
    pub(super) fn apply(&mut self, id: &ObjectId, desired: &Value) -> Result<(Value, bool), Error> {
        if !self.serves(id) {
            return Err(not_served(id));
        }
        if let Some(namespace) =
            id.namespace.as_ref().filter(|name| !self.objects.contains_key(&world::namespace(name)))
        {
            return Err(Error::NamespaceMissing(namespace.clone()));
        }
        if self.refused.as_ref() == Some(id) {
            return Err(world::refusal());
        }
        let live = self.objects.get(id).cloned();
        let mut object = live.clone().unwrap_or_else(|| self.new_object(id));
        let desired_data = desired["data"].as_object().cloned().unwrap_or_default();
        let owned = data_of(&object, "bpfman-config");
        for key in owned.iter().filter(|key| !desired_data.contains_key(*key)) {
            object["data"].as_object_mut().map(|data| data.remove(key));
        }
        for (key, value) in &desired_data {
            if object["data"][key] != *value {
                disown(&mut object, key);
            }
            object["data"][key] = value.clone();
        }
        if let Some(owners) = desired.pointer("/metadata/ownerReferences") {
            object["metadata"]["ownerReferences"] = owners.clone();
        }
        own(&mut object, "bpfman-config", "Apply", &desired_data, desired.pointer("/metadata/ownerReferences"));
        if self.webhook && id.name == "b" {
            object["data"]["k1"] = json!("webhook");
        }
        if live.as_ref() != Some(&object) {
            object = self.store(id, object);
        }
        Ok((object, live.is_none()))
    }

    /// An update of one key by somebody else.
    pub(super) fn edit(&mut self, id: &ObjectId, key: &str, value: &str) {
        let Some(mut object) = self.objects.get(id).cloned() else { return };
        if object["data"][key] == value {
            return;
        }
        disown(&mut object, key);
        object["data"][key] = json!(value);
        let owned = data_of(&object, "other");
        let mut data: Map<String, Value> = owned.into_iter().map(|key| (key, json!(""))).collect();
        data.insert(key.to_owned(), json!(""));
        own(&mut object, "other", "Update", &data, None);
        self.store(id, object);
    }

    /// A change that concerns nobody.
    pub(super) fn touch(&mut self, id: &ObjectId) {
        if let Some(mut object) = self.objects.get(id).cloned() {
            object["status"] = json!({"touched": self.revision});
            self.store(id, object);
        }
    }

    pub(super) fn create(&mut self, id: &ObjectId) -> Value {
        let object = self.new_object(id);
        self.store(id, object)
    }

    /// Changes an object by `change`; one that is being deleted goes when no finalizer is left.
    pub(super) fn update(&mut self, id: &ObjectId, change: impl FnOnce(&mut Value)) {
        let Some(mut object) = self.objects.get(id).cloned() else { return };
        change(&mut object);
        if object["metadata"]["deletionTimestamp"].is_string() && finalizers(&object).is_empty() {
            self.remove(id);
        } else {
            self.store(id, object);
        }
    }

    pub(super) fn delete(&mut self, id: &ObjectId) {
        match self.objects.get(id) {
            Some(object) if !finalizers(object).is_empty() => {
                self.update(id, |object| object["metadata"]["deletionTimestamp"] = json!("2026-12-01T00:00:00Z"));
            }
            _ => self.remove(id),
        }
    }

    /// Deletes what has an owner that is gone, and what is in a namespace that is gone.
    pub(super) fn collect_garbage(&mut self) {
        let uid = self.objects.get(&world::config()).map(|config| config["metadata"]["uid"].clone());
        let is_garbage = |id: &ObjectId, object: &Value| {
            let owner = object.pointer("/metadata/ownerReferences/0/uid");
            let orphaned = owner.is_some() && owner != uid.as_ref();
            let homeless =
                id.namespace.as_ref().is_some_and(|name| !self.objects.contains_key(&world::namespace(name)));
            orphaned || homeless
        };
        let garbage: Vec<_> =
            self.objects.iter().filter(|(id, object)| is_garbage(id, object)).map(|(id, _)| id.clone()).collect();
        for id in &garbage {
            self.remove(id);
        }
    }

    fn remove(&mut self, id: &ObjectId) {
        if let Some(mut object) = self.objects.remove(id) {
            self.revision += 1;
            object["metadata"]["resourceVersion"] = json!(self.revision.to_string());
            self.history.push(Change { revision: self.revision, id: id.clone(), object, is_deletion: true });
        }
    }

    fn store(&mut self, id: &ObjectId, mut object: Value) -> Value {
        self.revision += 1;
        object["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        self.objects.insert(id.clone(), object.clone());
        self.history.push(Change {
            revision: self.revision,
            id: id.clone(),
            object: object.clone(),
            is_deletion: false,
        });
        object
    }

    fn new_object(&mut self, id: &ObjectId) -> Value {
        self.uids += 1;
        let mut object = json!({
            "apiVersion": id.api_version, "kind": id.kind,
            "metadata": {"name": id.name, "uid": format!("uid-{}", self.uids)},
        });
        if let Some(namespace) = &id.namespace {
            object["metadata"]["namespace"] = json!(namespace);
        }
        object
    }
}

pub(super) fn not_served(id: &ObjectId) -> Error {
    Error::NotServed { resource: id.kind.clone(), api_version: id.api_version.clone() }
}

pub(super) fn finalizers(object: &Value) -> Vec<String> {
    let list = object.pointer("/metadata/finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn entries(object: &mut Value) -> &mut Vec<Value> {
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.entry("managedFields").or_insert(json!([])).as_array_mut().unwrap()
}

/// The keys of `data` that a manager owns.
fn data_of(object: &Value, manager: &str) -> Vec<String> {
    let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array).cloned().unwrap_or_default();
    let entry = entries.iter().find(|entry| entry["manager"] == manager);
    let keys = entry.and_then(|entry| entry["fieldsV1"]["f:data"].as_object());
    keys.into_iter().flatten().filter_map(|(key, _)| key.strip_prefix("f:").map(str::to_owned)).collect()
}

fn disown(object: &mut Value, key: &str) {
    let entries = entries(object);
    for entry in entries.iter_mut() {
        let fields = entry["fieldsV1"].as_object_mut().unwrap();
        if let Some(data) = fields.get_mut("f:data").and_then(Value::as_object_mut) {
            data.remove(&format!("f:{key}"));
            if data.is_empty() {
                fields.remove("f:data");
            }
        }
    }
    entries.retain(|entry| entry["fieldsV1"].as_object().is_some_and(|fields| !fields.is_empty()));
}

fn own(object: &mut Value, manager: &str, operation: &str, data: &Map<String, Value>, owners: Option<&Value>) {
    let version = object["apiVersion"].clone();
    let mut fields = Map::new();
    if !data.is_empty() {
        let keys = data.keys().map(|key| (format!("f:{key}"), json!({})));
        fields.insert("f:data".to_owned(), keys.collect::<Map<_, _>>().into());
    }
    if let Some(uid) = owners.and_then(|owners| owners.pointer("/0/uid")) {
        let item = format!("k:{}", json!({"uid": uid}));
        fields.insert("f:metadata".to_owned(), json!({"f:ownerReferences": {item: {}}}));
    }
    let entries = entries(object);
    entries.retain(|entry| entry["manager"] != manager);
    entries.push(json!({"manager": manager, "operation": operation, "apiVersion": version, "fieldsV1": fields}));
}
