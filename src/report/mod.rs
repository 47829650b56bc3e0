//! What people and machines read: turns results into lines. Takes values, gives text to the [`Ui`]; decides nothing.

pub mod diff;
pub mod json;
pub mod log;
pub mod results;

use serde_json::Value;

use crate::compare::Change;
use crate::failure::Failure;
use crate::manifest::ObjectId;
use crate::ownership::Owner;
use crate::problem::Problem;
use crate::reconcile::preview::Conflict;
use crate::ui::Ui;

/// Prints what ended a command: each error once, its causes, and the next steps.
pub fn failure(failure: &Failure, ui: &Ui) {
    for error in &failure.errors {
        let mut sentences = sentences(error).into_iter();
        ui.error(&sentences.next().unwrap_or_default());
        let excerpt = error.downcast_ref::<Problem>().and_then(|problem| problem.excerpt.as_deref());
        excerpt.into_iter().flat_map(str::lines).for_each(|line| ui.detail(line));
        for cause in sentences {
            ui.detail(&format!("caused by: {cause}"));
        }
    }
    for hint in &failure.hints {
        ui.hint(hint);
    }
}

/// What an error says, and then its causes; many an error repeats its cause in its own text, which is left out.
fn sentences(error: &anyhow::Error) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    let mut above: Option<String> = None;
    for text in error.chain().map(ToString::to_string) {
        if above.as_ref().is_none_or(|above| !above.contains(&text)) {
            sentences.push(text.clone());
        }
        above = Some(text);
    }
    sentences
}

/// `daemonset.apps/bpfman-daemon in bpfman`.
pub fn full_name(id: &ObjectId) -> String {
    id.full_name()
}

/// `kubectl-set (Update) since 2026-11-30T04:15:02Z`.
pub fn owner(owner: &Owner) -> String {
    let mut text = format!("{} ({}", owner.manager, owner.operation);
    if let Some(subresource) = owner.subresource.as_ref().filter(|subresource| !subresource.is_empty()) {
        text.push_str(", ");
        text.push_str(subresource);
    }
    text.push(')');
    if let Some(time) = &owner.time {
        text.push_str(" since ");
        text.push_str(time);
    }
    text
}

/// The owners of a value, or that it has none.
pub fn owners(list: &[Owner]) -> String {
    if list.is_empty() {
        return "no field manager".to_owned();
    }
    list.iter().map(owner).collect::<Vec<_>>().join(", ")
}

/// A value on one line, shortened where it is long.
pub fn value(value: Option<&Value>) -> String {
    const LONGEST: usize = 120;
    let Some(value) = value else { return "(none)".to_owned() };
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… ({} bytes)", text.get(..end).unwrap_or_default(), text.len()),
        None => text,
    }
}

/// `path: live -> wanted`.
pub fn change(change: &Change) -> String {
    format!("{}: {} -> {}", change.path, value(change.live.as_ref()), value(change.desired.as_ref()))
}

/// `path: live -> wanted  # owners of the live value`.
pub fn owned_change(of: &Change) -> String {
    match of.live {
        Some(_) => format!("{}  # {}", change(of), owners(&of.owners)),
        None => change(of),
    }
}

/// A conflict in one line: where, whose, and both values.
pub fn conflict(conflict: &Conflict) -> String {
    format!(
        "{} is owned by {}: live {}, wanted {}",
        conflict.path,
        owners(&conflict.owners),
        value(conflict.live.as_ref()),
        value(conflict.desired.as_ref())
    )
}
