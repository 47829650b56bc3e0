//! What is true of each object now: its values by the oracle, and what the API server would do with our apply.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::oracle::{self, Difference, comparable};
use super::stage::{JSON, MANAGER, Object, Stage};

/// What the verdict on an object must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    InSync,
    Missing,
    Differs,
    /// The server refuses our apply, and would not if the fields of others were gone.
    Blocked,
    /// The server refuses also the object as it was right after our apply.
    NeedsRecreate,
    /// It is being deleted, and something holds it.
    Terminating,
    /// The server itself fails over it, whatever is applied: somebody wrote an item without its key, which no apply can merge.
    Unreadable,
}

impl State {
    /// As `diff -o json` says it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::InSync => "in-sync",
            Self::Missing => "missing",
            Self::Differs => "differs",
            Self::Blocked => "blocked",
            Self::NeedsRecreate => "needs-recreate",
            Self::Terminating => "terminating",
            Self::Unreadable => "unknown",
        }
    }

    /// Whether no apply can set it right.
    pub(super) fn is_beyond_apply(self) -> bool {
        matches!(self, Self::NeedsRecreate | Self::Terminating | Self::Unreadable)
    }
}

/// All that is true of an object.
pub(super) struct Truth {
    /// The live object.
    pub(super) live: Option<Value>,
    pub(super) state: State,
    /// Our values that are other values now.
    pub(super) changed: Vec<Difference>,
    /// Values of others beside ours.
    pub(super) others: Vec<Difference>,
    /// Path and manager of each conflict, as the server writes them.
    pub(super) conflicts: BTreeSet<(String, String)>,
    /// Whether our apply would change who owns what, though no value.
    pub(super) moves_owners: bool,
    /// Where the oracle and the server do not agree.
    pub(super) disagreement: Option<String>,
}

impl Truth {
    /// Finds out about `object`, which is `live` now; with `own` what is beside our fields is ours too, and no longer wanted.
    pub(super) fn of(stage: &Stage, object: &Object, live: Option<Value>, own: bool) -> Self {
        let mut truth = Self {
            live: None,
            state: State::Missing,
            changed: Vec::new(),
            others: Vec::new(),
            conflicts: BTreeSet::new(),
            moves_owners: false,
            disagreement: None,
        };
        let Some(now) = live else { return truth };
        if now["metadata"].get("deletionTimestamp").is_some() {
            return Self { live: Some(now), state: State::Terminating, ..truth };
        }
        truth.changed = oracle::changed(&object.rendered, &object.after, &now);
        truth.others = oracle::others(&object.rendered, &object.after, &now);
        if own {
            truth.changed.append(&mut truth.others);
        }
        let (code, answer) = stage.dry_run(object, true);
        truth.state = match code {
            200 if comparable(&answer) == comparable(&now) => State::InSync,
            200 => State::Differs,
            500 => State::Unreadable,
            _ if put_back_is_taken(stage, object, &now) => State::Blocked,
            _ => State::NeedsRecreate,
        };
        if truth.state != State::Unreadable && truth.changed.is_empty() != (truth.state == State::InSync) {
            truth.disagreement = Some(format!("the values say {:?}, the server {code} {answer}", truth.changed));
        }
        let (code, answer) = stage.dry_run(object, false);
        match code {
            200 => truth.moves_owners = owned(&answer) != owned(&now),
            // Values that only the server's defaults make equal are refused too, though nothing would change.
            409 if truth.state == State::InSync => truth.moves_owners = true,
            409 => truth.conflicts = conflicts(&answer),
            _ => {}
        }
        truth.live = Some(now);
        truth
    }

    /// What `apply` may call it afterwards; `stays` says that it has to leave the object alone.
    pub(super) fn results(&self, stays: bool) -> &'static [&'static str] {
        match self.state {
            _ if stays => &["failed"],
            State::InSync if self.moves_owners => &["unchanged", "configured"],
            State::InSync => &["unchanged"],
            State::Missing => &["created"],
            _ => &["configured"],
        }
    }

    /// Whether an apply without force must leave the object alone.
    pub(super) fn needs_force(&self) -> bool {
        !self.conflicts.is_empty() || self.state == State::Blocked || self.state.is_beyond_apply()
    }
}

/// Whether the object may be written as it was right after our apply.
fn put_back_is_taken(stage: &Stage, object: &Object, now: &Value) -> bool {
    let mut body = object.after.clone();
    if let Some(metadata) = body["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    for name in ["resourceVersion", "uid", "creationTimestamp"] {
        body["metadata"][name] = now["metadata"][name].clone();
    }
    for name in ["clusterIP", "clusterIPs"] {
        if let Some(address) = now["spec"].get(name).filter(|_| object.rendered["spec"].get(name).is_none()) {
            body["spec"][name] = address.clone();
        }
    }
    stage.send("PUT", &format!("{}?dryRun=All&fieldManager=oracle", object.uri), JSON, &body).0 == 200
}

/// Who owns what: `managedFields` without times, in a fixed order.
pub(super) fn owned(object: &Value) -> Vec<Value> {
    let mut entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    for entry in &mut entries {
        entry["time"] = json!(null);
    }
    entries.sort_by_key(ToString::to_string);
    entries
}

/// What we own by apply; an entry each, of which there must be one.
pub(super) fn ours(object: &Value) -> Vec<Value> {
    let mut entries = owned(object);
    entries.retain(|entry| entry["manager"] == MANAGER && entry["operation"] == "Apply");
    entries
}

fn conflicts(answer: &Value) -> BTreeSet<(String, String)> {
    let causes = answer["details"]["causes"].as_array().cloned().unwrap_or_default();
    let text = |cause: &Value, name: &str| cause[name].as_str().unwrap_or_default().to_owned();
    let manager = |message: &str| message.split('"').nth(1).unwrap_or_default().to_owned();
    causes.iter().map(|cause| (text(cause, "field"), manager(&text(cause, "message")))).collect()
}
