//! Who makes a change, and by which request.

use serde_json::{Value, json};

use super::edits::{self, edit};
use super::patches;
use super::random::Random;
use super::stage::{APPLY, JSON, JSON_PATCH, MANAGER, Object, Stage};

/// Managers that update, with their requests' names in the API.
const UPDATERS: [&str; 10] = [
    "kubectl-edit",
    "kubectl-patch",
    "kubectl-set",
    "kubectl-label",
    "kubectl-replace",
    "bpfman-operator",
    "node-tuner",
    "Mozilla",
    "kubectl-client-side-apply",
    "bpfman-config",
];
const APPLIERS: [&str; 4] = ["kubectl", "argocd-controller", "flux", "before-first-apply"];

/// A change that the API server took.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// What was done, for the report.
    pub(super) text: String,
    /// Who did it.
    pub(super) manager: String,
    /// Whether fields may have lost their owner by it.
    pub(super) releases: bool,
    /// Whether it was applied as us.
    pub(super) own: bool,
}

/// Makes a change to an object, or none after some that the API server refused.
pub(super) fn change(stage: &Stage, random: &mut Random, object: &Object) -> Option<Change> {
    (0..8).find_map(|_| try_change(stage, random, object))
}

fn try_change(stage: &Stage, random: &mut Random, object: &Object) -> Option<Change> {
    let live = stage.live(object)?;
    match random.below(106) {
        100..=101 => put_back(stage, random, object, &live),
        102..=105 => through_status(stage, random, object, &live),
        0..=2 if object.kind() != "Namespace" => delete(stage, object),
        3..=4 if object.kind() != "Namespace" => replace_by_force(stage, random, object, &live),
        5..=6 => forget_managers(stage, random, object, &live),
        7 if object.kind() != "Namespace" => delete_what_is_held(stage, object),
        8..=12 => apply_the_same(stage, random, object, &live),
        13..=30 => apply(stage, random, object, &live),
        _ => update(stage, random, object, &live),
    }
}

fn delete(stage: &Stage, object: &Object) -> Option<Change> {
    let (code, _) = stage.send("DELETE", &object.uri, JSON, &Value::Null);
    (code == 200).then(|| Change { text: "deleted".to_owned(), manager: String::new(), releases: true, own: false })
}

/// A finalizer keeps what is deleted.
fn delete_what_is_held(stage: &Stage, object: &Object) -> Option<Change> {
    let patch = json!([{"op": "add", "path": "/metadata/finalizers", "value": ["example.com/hold"]}]);
    if stage.send("PATCH", &object.uri, JSON_PATCH, &patch).0 != 200 {
        return None;
    }
    delete(stage, object).map(|change| Change { text: "deleted, and held by a finalizer".to_owned(), ..change })
}

/// `kubectl replace --force`: what cannot be changed in place can be changed so.
fn replace_by_force(stage: &Stage, random: &mut Random, object: &Object, live: &Value) -> Option<Change> {
    let mut edit = edit(random, live)?;
    let metadata = edit.to["metadata"].as_object_mut()?;
    metadata
        .retain(|name, _| ["name", "namespace", "labels", "annotations", "ownerReferences"].contains(&name.as_str()));
    for name in ["clusterIP", "clusterIPs", "healthCheckNodePort"] {
        if object.rendered["spec"].get(name).is_none() {
            edits::remove(&mut edit.to, &format!("/spec/{name}"));
        }
    }
    let collection = format!("{}?fieldManager=kubectl-replace", object.collection());
    if stage.send("POST", &format!("{collection}&dryRun=All"), JSON, &renamed(&edit.to)).0 != 200 {
        return None;
    }
    stage.send("DELETE", &object.uri, JSON, &Value::Null);
    let (code, answer) = stage.send("POST", &collection, JSON, &edit.to);
    let text = match code {
        200 => format!("replaced by force: {}", edit.text),
        _ => format!("deleted, not created again ({}): {}", answer["message"], edit.text),
    };
    Some(Change { text, manager: "kubectl-replace".to_owned(), releases: true, own: false })
}

fn renamed(object: &Value) -> Value {
    let mut object = object.clone();
    object["metadata"]["name"] = json!("tried-first");
    object
}

/// Somebody changes something, and somebody else puts it back: all is as it was, but nobody calls it ours.
fn put_back(stage: &Stage, random: &mut Random, object: &Object, live: &Value) -> Option<Change> {
    let first = update(stage, random, object, live)?;
    let now = stage.live(object)?;
    let mut body = live.clone();
    body["metadata"]["managedFields"] = Value::Null;
    body["metadata"]["resourceVersion"] = now["metadata"]["resourceVersion"].clone();
    let manager = *random.one_of(&UPDATERS);
    let (code, _) = stage.send("PUT", &format!("{}?fieldManager={manager}", object.uri), JSON, &body);
    let text = format!("{}, and {manager} puts it back ({code})", first.text);
    Some(Change {
        text,
        manager: if code == 200 { manager.to_owned() } else { first.manager },
        releases: true,
        own: false,
    })
}

/// A controller writes status, and labels by the same request where the kind lets it.
fn through_status(stage: &Stage, random: &mut Random, object: &Object, live: &Value) -> Option<Change> {
    let mut patch = match object.kind() {
        "DaemonSet" | "Deployment" | "StatefulSet" | "PodDisruptionBudget" => {
            json!({"status": {"observedGeneration": 1}})
        }
        "Service" | "Ingress" => json!({"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.9"}]}}}),
        _ => return None,
    };
    if random.happens(60) {
        let edited = edit(random, live)?.to;
        let metadata = patches::merge(&live["metadata"], &edited["metadata"]);
        patch["metadata"] = metadata;
    }
    let uri = format!("{}/status?fieldManager=kube-controller-manager", object.uri);
    let (code, _) = stage.send("PATCH", &uri, "application/merge-patch+json", &patch);
    let text = format!("kube-controller-manager writes through status {patch}");
    let manager = "kube-controller-manager".to_owned();
    (code == 200).then_some(Change { text, manager, releases: false, own: false })
}

/// Another version of what we apply was applied as us: what is new in it is ours too, and what is missing in it is gone.
pub(super) fn apply_another_version(stage: &Stage, random: &mut Random, object: &Object) -> Option<Change> {
    (0..8).find_map(|_| {
        // What becomes of plain text in a Secret no field set tells.
        let edit = edit(random, &object.rendered).filter(|edit| edit.to.get("stringData").is_none())?;
        let uri = format!("{}?fieldManager={MANAGER}&force=true", object.uri);
        let (code, _) = stage.send("PATCH", &uri, APPLY, &edit.to);
        let text = format!("applied as {MANAGER}: {}", edit.text);
        (code == 200).then(|| Change { text, manager: MANAGER.to_owned(), releases: true, own: true })
    })
}

/// All entries, or ours alone.
fn forget_managers(stage: &Stage, random: &mut Random, object: &Object, live: &Value) -> Option<Change> {
    let mut entries = live["metadata"]["managedFields"].as_array()?.clone();
    entries.retain(|entry| entry["manager"] != MANAGER);
    let left = if entries.is_empty() || random.happens(50) { json!([{}]) } else { json!(entries) };
    let patch = json!([{"op": "replace", "path": "/metadata/managedFields", "value": left}]);
    let (code, _) = stage.send("PATCH", &object.uri, JSON_PATCH, &patch);
    let text = format!("managedFields set to {left}");
    (code == 200).then(|| Change { text, manager: "before-first-apply".to_owned(), releases: true, own: false })
}

/// Somebody applies some of the live values: two own them then, and nothing changes.
fn apply_the_same(stage: &Stage, random: &mut Random, object: &Object, live: &Value) -> Option<Change> {
    let manager = *random.one_of(&APPLIERS);
    let mut without = live.clone();
    for _ in 0..=random.below(4) {
        let pointers = edits::pointers(&without, |value| !value.is_object());
        if !pointers.is_empty() {
            let at: &String = random.one_of(&pointers);
            edits::remove(&mut without, at);
        }
    }
    let body = body(object, patches::applied(object.types(), "", Some(&without), live)?);
    let (code, _) = stage.send("PATCH", &format!("{}?fieldManager={manager}", object.uri), APPLY, &body);
    let text = format!("{manager} applies what is there: {body}");
    (code == 200).then(|| Change { text, manager: manager.to_owned(), releases: false, own: false })
}

/// Somebody applies another value by force, and may give it up again.
fn apply(stage: &Stage, random: &mut Random, object: &Object, live: &Value) -> Option<Change> {
    let manager = *random.one_of(&APPLIERS);
    let edit = edit(random, live)?;
    let body = body(object, patches::applied(object.types(), "", Some(live), &edit.to)?);
    if body.get("stringData").is_some() {
        return None;
    }
    let uri = format!("{}?fieldManager={manager}&force=true", object.uri);
    let (code, _) = stage.send("PATCH", &uri, APPLY, &body);
    if code != 200 {
        return None;
    }
    let mut change =
        Change { text: format!("{manager} applies {body}"), manager: manager.to_owned(), releases: false, own: false };
    if random.happens(25) {
        let (code, answer) = stage.send("PATCH", &uri, APPLY, &self::body(object, json!({})));
        change.text += ", and then nothing of it";
        if code != 200 {
            change.text += answer["message"].as_str()?;
        }
        change.releases = true;
    }
    Some(change)
}

/// `fields` with what names the object.
fn body(object: &Object, mut fields: Value) -> Value {
    for name in ["apiVersion", "kind"] {
        fields[name] = object.rendered[name].clone();
    }
    for name in ["name", "namespace"] {
        if let Some(value) = object.rendered["metadata"].get(name) {
            fields["metadata"][name] = value.clone();
        }
    }
    fields
}

/// Somebody writes the object whole or patches it.
fn update(stage: &Stage, random: &mut Random, object: &Object, live: &Value) -> Option<Change> {
    let manager = *random.one_of(&UPDATERS);
    let edit = edit(random, live)?;
    let (method, content_type, body) = match random.below(4) {
        0 => ("PUT", JSON, edit.to.clone()),
        1 => ("PATCH", JSON_PATCH, patches::json_patch(live, &edit.to)),
        2 if !object.types().is_custom() => {
            let patch = patches::strategic(object.types(), "", live, &edit.to);
            ("PATCH", "application/strategic-merge-patch+json", patch)
        }
        _ => ("PATCH", "application/merge-patch+json", patches::merge(live, &edit.to)),
    };
    let uri = format!("{}?fieldManager={manager}", object.uri);
    let (code, now) = stage.send(method, &uri, content_type, &body);
    if code != 200 || now["metadata"]["resourceVersion"] == live["metadata"]["resourceVersion"] {
        return None; // refused, or what is there already
    }
    let way = content_type.trim_start_matches("application/").trim_end_matches("+json");
    let text = format!("{manager} {method} ({way}) {}", edit.text);
    Some(Change { text, manager: manager.to_owned(), releases: false, own: false })
}
