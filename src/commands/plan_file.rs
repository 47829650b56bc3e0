//! Saved plans: what `diff --out` saw, so that `apply --plan` can make sure that nothing has moved since.
//!
//! A plan holds no object, only what tells one from another: uid, version, and the digest of what is desired. What is applied is rendered anew.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::cluster::{Cluster, Error};
use crate::digest;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::{Manifest, ObjectId};
use crate::reconcile::Live;

/// The form of the file.
const VERSION: u64 = 1;

/// What a plan is for, beyond its objects.
pub(super) struct For<'a> {
    /// The cluster.
    pub(super) cluster: &'a Cluster,
    /// The uid of the Config; none when it is not there.
    pub(super) config: Option<&'a str>,
    /// Whether fields of others are removed.
    pub(super) exact: bool,
}

impl For<'_> {
    fn head(&self) -> Value {
        json!({
            "planVersion": VERSION,
            "program": env!("CARGO_PKG_VERSION"),
            "server": self.cluster.host(),
            "configUid": self.config,
            "fieldManager": self.cluster.field_manager(),
            "exact": self.exact,
        })
    }

    /// Writes the plan, readable by its owner only.
    pub(super) fn save(&self, file: &Path, manifests: &[Manifest], seen: &Live) -> Result<(), Failure> {
        let mut plan = self.head();
        let live = |manifest: &Manifest| seen.get(&manifest.id)?.as_ref().ok()?.as_ref();
        let objects = manifests.iter().map(|manifest| entry(&manifest.id, live(manifest), manifest));
        if let Some(fields) = plan.as_object_mut() {
            fields.insert("objects".to_owned(), objects.collect());
        }
        let failure = |error: std::io::Error| {
            Failure::new(Exit::NoAnswer, error).context(format!("cannot write {}", file.display()))
        };
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Whole or not at all; a temporary file is its owner's only.
        let mut written = tempfile::NamedTempFile::new_in(folder)
            .map_err(|error| failure(error.kind().into())) // its text names the temporary file
            ?;
        writeln!(written, "{plan:#}").map_err(failure)?;
        written.persist(file).map_err(|error| failure(error.error)).map(drop)
    }

    /// Compares the plan with what is desired and live now; says all that has moved.
    pub(super) fn check(&self, file: &Path, manifests: &[Manifest], live: &Live) -> Result<(), Failure> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::new(Exit::Input, error).context(format!("cannot read {}", file.display())))?;
        let plan: Value = serde_json::from_str(&text)
            .map_err(|error| Failure::new(Exit::Input, error).context(format!("{} is not a plan", file.display())))?;
        if plan.get("planVersion") != Some(&json!(VERSION)) {
            let wrong = anyhow::anyhow!("{} is not a plan that this program can read", file.display());
            return Err(Failure::new(Exit::Input, wrong).hint("make a new plan with diff --out"));
        }
        let mut moved: Vec<anyhow::Error> = Vec::new();
        for (field, now) in self.head().as_object().into_iter().flatten() {
            let planned = plan.get(field).unwrap_or(&Value::Null);
            if planned != now {
                moved.push(anyhow::anyhow!("the plan is for {field} {planned}, and this is {now}"));
            }
        }
        let mut planned: BTreeMap<String, &Value> = plan
            .get("objects")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|entry| (name(entry), entry))
            .collect();
        for manifest in manifests {
            let object = live.get(&manifest.id).and_then(|live| live.as_ref().ok()).and_then(Option::as_ref);
            let now = entry(&manifest.id, object, manifest);
            let full_name = manifest.id.full_name();
            match planned.remove(&name(&now)) {
                None => moved.push(anyhow::anyhow!("{full_name} is not in the plan")),
                Some(planned) => {
                    moved.extend(difference(planned, &now).map(|what| anyhow::anyhow!("{full_name} {what}")));
                }
            }
            if let Some(Err(error)) =
                live.get(&manifest.id).filter(|live| !matches!(live, Err(Error::NotServed { .. })))
            {
                moved.push(anyhow::anyhow!("{full_name} cannot be read: {error}"));
            }
        }
        moved.extend(
            planned.into_values().map(|entry| anyhow::anyhow!("{} is in the plan, and no longer desired", name(entry))),
        );
        if moved.is_empty() {
            return Ok(());
        }
        Err(Failure { exit: Exit::Refused, errors: moved, hints: Vec::new() }
            .hint("nothing was applied; make a new plan with diff --out"))
    }
}

/// What a plan says of an object.
fn entry(id: &ObjectId, live: Option<&Value>, manifest: &Manifest) -> Value {
    let text = |pointer| live.and_then(|live| live.pointer(pointer));
    json!({
        "object": id.full_name(),
        "uid": text("/metadata/uid"),
        "resourceVersion": text("/metadata/resourceVersion"),
        "desired": digest_of(&manifest.object),
    })
}

fn name(entry: &Value) -> String {
    entry.get("object").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn difference(planned: &Value, now: &Value) -> Option<&'static str> {
    let differs = |field: &str| planned.get(field) != now.get(field);
    let (was, is) = (planned.get("uid"), now.get("uid"));
    match () {
        () if differs("desired") => Some("is desired otherwise than planned: the Config or a template has changed"),
        () if differs("uid") && was == Some(&Value::Null) => Some("was created since"),
        () if differs("uid") && is == Some(&Value::Null) => Some("was deleted since"),
        () if differs("uid") => Some("was replaced since"),
        () if differs("resourceVersion") => Some("was changed since"),
        () => None,
    }
}

/// The digest of an object. Its owner is not part of it: a Config that is created first has no uid in the plan.
fn digest_of(object: &Value) -> String {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("ownerReferences");
    }
    digest::sha256(object.to_string().as_bytes())
}
