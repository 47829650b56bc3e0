//! The lines of `apply`: what became of each object.

use crate::cluster::{Class, count};
use crate::compare::Foreign;
use crate::manifest::{Manifest, ObjectId};
use crate::path::Step;
use crate::reconcile::orphans::{Orphan, Pruned};
use crate::reconcile::outcome::{Action, Outcome};
use crate::reconcile::policy::DryRun;
use crate::reconcile::rollout::Progress;
use crate::report;
use crate::ui::{Tone, Ui};

/// Prints the result line of an object, and beside it what a person should know.
pub fn outcome(manifest: &Manifest, outcome: &Outcome, dry_run: DryRun, ui: &mut Ui) {
    let id = manifest.id.to_string();
    let (word, tone) = word(&outcome.action);
    let suffix = suffix(dry_run);
    let reason = match &outcome.action {
        Action::Skipped(reason) => format!(" ({reason})"),
        _ => String::new(),
    };
    ui.line(&[(Tone::Plain, &id), (Tone::Plain, " "), (tone, word), (Tone::Faint, &reason), (Tone::Faint, suffix)]);
    remarks(manifest, outcome, ui);
}

fn suffix(dry_run: DryRun) -> &'static str {
    match dry_run {
        DryRun::None => "",
        DryRun::Client => " (dry run)",
        DryRun::Server => " (server dry run)",
    }
}

/// Prints what became of an orphan.
pub fn pruned(orphan: &Orphan, pruned: &Pruned, dry_run: DryRun, ui: &mut Ui) {
    let (id, name) = (orphan.id.to_string(), orphan.id.full_name());
    let (word, tone) = match pruned {
        Pruned::Deleted => ("pruned", Tone::Caution),
        Pruned::Kept | Pruned::Failed(_) => ("failed", Tone::Bad),
    };
    ui.line(&[(Tone::Plain, &id), (Tone::Plain, " "), (tone, word), (Tone::Faint, suffix(dry_run))]);
    match pruned {
        Pruned::Deleted => {}
        Pruned::Kept => {
            ui.error(&format!("cannot prune {name}: fields of it are owned by {}", report::owners(&orphan.others)));
        }
        Pruned::Failed(error) => ui.error(&format!("cannot prune {name}: {error}")),
    }
}

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
        Action::Configured => ("configured", Tone::Caution),
        Action::Unchanged => ("unchanged", Tone::Faint),
        Action::Applied => ("applied", Tone::Caution),
        Action::Skipped(_) => ("skipped", Tone::Caution),
        Action::Failed(_) | Action::Blocked => ("failed", Tone::Bad),
    }
}

/// Prints how many were done and how many failed, when not all were.
pub fn summary(done: usize, failed: usize, skipped: usize, ui: &Ui) {
    if failed + skipped > 0 {
        ui.note(&format!("{done} done, {failed} failed, {skipped} skipped"));
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
