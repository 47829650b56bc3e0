//! What `apply` and `watch` say of an object beyond the result, and of a run that was stopped or waits.

use serde_json::Value;

use crate::cluster::{Class, count};
use crate::compare::{self, Difference, Foreign, Verdict, What};
use crate::manifest::{Manifest, ObjectId};
use crate::mask;
use crate::ownership::{Managers, value_at};
use crate::path::{FieldPath, Step};
use crate::reconcile::outcome::{Action, Outcome};
use crate::reconcile::rollout::Progress;
use crate::report;
use crate::ui::{Tone, Ui};

/// Prints what there is to say beyond the result: errors, what was taken over or removed, what stays, the server's warnings.
pub fn remarks(manifest: &Manifest, outcome: &Outcome, ui: &Ui) {
    let id = &manifest.id;
    for warning in &outcome.warnings {
        ui.warning(&format!("{id}: {warning}"));
    }
    match &outcome.action {
        Action::Failed(error) => failed(manifest, &error.to_string(), outcome, ui),
        Action::Blocked => {
            let fields = count(outcome.blockers.len(), "field", "fields");
            failed(manifest, &format!("blocked: {fields} set by others must be removed first"), outcome, ui);
        }
        _ => taken(manifest, outcome, ui),
    }
    for change in &outcome.altered {
        let (stored, sent) = (report::value(change.live.as_ref()), report::value(change.desired.as_ref()));
        let path = &change.path;
        ui.warning(&format!(
            "{id}: the server stores {stored} instead of {sent} at {path}: an admission webhook or policy changes it"
        ));
    }
    for yielded in &outcome.yielded {
        ui.warning(&format!("{id}: {}", report::yielded(yielded)));
    }
    for migrated in &outcome.migrated {
        let (fields, owner) = (count(migrated.fields, "field", "fields"), report::owner(&migrated.owner));
        let removed: Vec<String> = migrated.removed.iter().map(ToString::to_string).collect();
        let removed = if removed.is_empty() {
            String::new()
        } else {
            format!("; not desired and removed: {}", removed.join(", "))
        };
        ui.warning(&format!("{id}: {fields} of {owner} are owned by us now{removed}"));
    }
    for released in &outcome.released {
        let owners = report::owners(&released.owners);
        ui.warning(&format!("{id}: {} is no longer desired but still owned by {owners}; not removed", released.path));
    }
    for container in outcome.foreign.iter().filter(|field| is_container(field)) {
        let owners = report::owners(&container.owners);
        ui.warning(&format!("{id}: {} was added by {owners}; not removed", container.path));
    }
}

fn is_container(field: &Foreign) -> bool {
    matches!(field.path.0.as_slice(), [.., Step::Field(list), Step::Keys(_)] if ["containers", "initContainers"].contains(&list.as_str()))
}

fn taken(manifest: &Manifest, outcome: &Outcome, ui: &Ui) {
    let id = &manifest.id;
    for conflict in &outcome.conflicts {
        ui.warning(&format!("{id}: {}", report::taken_over(conflict)));
    }
    for removed in &outcome.blockers {
        let owners = report::owners(&removed.owners);
        let was = report::value(Some(&removed.value));
        ui.warning(&format!("{id}: removed {}, set by {owners}, it was {was}", removed.path));
    }
}

fn failed(manifest: &Manifest, error: &str, outcome: &Outcome, ui: &Ui) {
    ui.error(&format!("cannot apply {}: {error}", manifest.id.full_name()));
    if matches!(&outcome.action, Action::Failed(error) if error.class() == Some(&Class::Other)) {
        ui.detail(&format!("it comes from {}", manifest.source));
    }
    for conflict in &outcome.conflicts {
        ui.detail(&report::conflict(conflict));
    }
    for blocker in &outcome.blockers {
        let owners = report::owners(&blocker.owners);
        ui.detail(&format!("{} is set by {owners}: {}", blocker.path, report::value(Some(&blocker.value))));
    }
}

/// kubectl's word for an action.
pub fn word(action: &Action) -> (&'static str, Tone) {
    match action {
        Action::Created => ("created", Tone::Added),
        Action::Recreated => ("recreated", Tone::Caution),
        Action::Configured => ("configured", Tone::Caution),
        Action::Unchanged => ("unchanged", Tone::Faint),
        Action::Applied => ("applied", Tone::Caution),
        Action::Skipped(_) => ("skipped", Tone::Caution),
        Action::Failed(_) | Action::Blocked => ("failed", Tone::Bad),
    }
}

/// Prints which objects a signal left undone.
pub fn not_done(done: &[ObjectId], all: &[Manifest], ui: &Ui) {
    if done.is_empty() && all.is_empty() {
        return ui.warning("stopped before anything was sent");
    }
    let names = |ids: Vec<&ObjectId>| ids.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let rest: Vec<&ObjectId> = all.iter().map(|manifest| &manifest.id).filter(|id| !done.contains(id)).collect();
    ui.warning(&format!("stopped: {}", count(rest.len(), "object was not done", "objects were not done")));
    ui.detail(&format!("done: {}", if done.is_empty() { "nothing".to_owned() } else { names(done.iter().collect()) }));
    ui.detail(&format!("not done: {}", if rest.is_empty() { "nothing".to_owned() } else { names(rest) }));
    ui.hint("apply again to do the rest; what is done stays done");
}

/// Prints how far a rollout is.
pub fn rollout(id: &ObjectId, progress: &Progress, ui: &Ui) {
    let state = if progress.done() { "rolled out" } else { "rolling out" };
    ui.note(&format!("{id} {state}: {progress}"));
}

/// Prints which values of an object that was applied are other ones by now, and whose; returns whether there are any.
pub fn changed_back(manifest: &Manifest, live: Option<&Value>, field_manager: &str, ui: &Ui) -> bool {
    let name = manifest.id.full_name();
    let Some(live) = live else {
        ui.error(&format!("{name} was deleted again"));
        return true;
    };
    let Verdict::Differs(differences) = compare::in_sync(&manifest.object, live, field_manager) else { return false };
    let (live, desired) = mask::pair(live, &manifest.object);
    let managers = Managers::of(&live);
    let values = |path: &FieldPath| (value_at(&live, path).cloned(), value_at(&desired, path).cloned());
    let is_changed = |difference: &&Difference| match difference.what {
        What::Missing | What::OtherValue => true,
        // Whoever changes a value takes its ownership.
        What::NotOurs => matches!(values(&difference.path), (Some(live), desired) if Some(&live) != desired.as_ref()),
        What::NoLongerDesired | What::Order | What::Unclear => false,
    };
    let mut changed = differences.iter().filter(is_changed).peekable();
    let any = changed.peek().is_some();
    for difference in changed {
        let path = &difference.path;
        let owners = managers.owners(&live, path);
        let who = match managers.last_other_writer(field_manager) {
            Some(writer) if owners.is_empty() => report::owner(writer),
            _ => report::owners(&owners),
        };
        let [was, is] = [&desired, &live].map(|object| report::value(value_at(object, path)));
        ui.error(&format!("{name}: {path} was set to {was}, and is {is} now, by {who}"));
    }
    any
}
