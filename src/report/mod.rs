//! What people and machines read: turns results into lines. Takes values, gives text to the [`Ui`]; decides nothing.

pub mod apply;
pub mod diff;
mod hunks;
pub mod json;
pub mod log;
mod markdown;
pub mod results;

use std::borrow::Cow;

use serde_json::Value;

use crate::compare::Change;
use crate::digest;
use crate::failure::Failure;
use crate::ownership::Owner;
use crate::problem::Problem;
use crate::reconcile::orphans::Orphan;
use crate::reconcile::plan::Conflict;
use crate::ui::Ui;

/// Characters of a value that are shown on one line.
const LONGEST_VALUE: usize = 120;

/// Bytes of an unchanged line that are shown.
const LONGEST_LINE: usize = 240;

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

/// Why an object is an orphan, and whose fields it has besides ours.
pub fn orphan(orphan: &Orphan) -> String {
    let why = if orphan.is_owned { "owned by the Config" } else { "applied by us before" };
    let others =
        if orphan.others.is_empty() { String::new() } else { format!("; fields of {}", owners(&orphan.others)) };
    format!("no longer desired, {why}{others}")
}

/// A value on one line, shortened where it is long.
pub fn value(value: Option<&Value>) -> String {
    let Some(value) = value else { return "(none)".to_owned() };
    let text = value.to_string();
    shortened(&text, text.len())
}

/// A line that did not change: of a long value its size and digest, which tell it from others as well.
fn shortened_line(line: &str) -> Cow<'_, str> {
    if line.len() <= LONGEST_LINE {
        return Cow::Borrowed(line);
    }
    let (name, value) = line.split_once(": ").unwrap_or(("", line));
    let digest: String = digest::sha256(value.as_bytes()).chars().take(12).collect();
    Cow::Owned(format!("{name}: ({} bytes, sha256 {digest}…)", value.len()))
}

/// `path: live -> desired`; of long values what differs.
pub fn change(change: &Change) -> String {
    let (live, desired) = pair(change.live.as_ref(), change.desired.as_ref());
    format!("{}: {live} -> {desired}", change.path)
}

/// Two values, each on one line; long ones from shortly before their first difference, if that is far from their beginning.
fn pair(live: Option<&Value>, desired: Option<&Value>) -> (String, String) {
    let (Some(one), Some(other)) = (live, desired) else { return (value(live), value(desired)) };
    let (one, other) = (one.to_string(), other.to_string());
    let differs = one.char_indices().zip(other.chars()).find(|((_, one), other)| one != other);
    let at = differs.map_or(one.len().min(other.len()), |((at, _), _)| at);
    if one.len().max(other.len()) <= LONGEST_VALUE || at < LONGEST_VALUE / 2 {
        return (value(live), value(desired));
    }
    let before = one.get(..at).unwrap_or_default();
    let start = before.char_indices().rev().nth(LONGEST_VALUE / 4).map_or(0, |(start, _)| start);
    let tail = |text: &str| format!("…{}", shortened(text.get(start..).unwrap_or_default(), text.len()));
    (tail(&one), tail(&other))
}

/// The beginning of a text, and the `size` of the whole where that is not all.
fn shortened(text: &str, size: usize) -> String {
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}… ({size} bytes)", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// `path: live -> desired  # owners of the live value`; of a field that is gone who else has written the object last.
pub fn owned_change(of: &Change, last_writer: Option<&Owner>) -> String {
    match (&of.live, last_writer) {
        (Some(_), _) => format!("{}  # {}", change(of), owners(&of.owners)),
        (None, Some(writer)) => format!("{}  # {}", change(of), absent(writer)),
        (None, None) => change(of),
    }
}

/// Who may have removed a field: ownership names nobody for what is gone.
pub fn absent(last_writer: &Owner) -> String {
    format!("absent; last other writer of the object: {}", owner(last_writer))
}

/// A conflict in one line: where, whose, and both values.
pub fn conflict(conflict: &Conflict) -> String {
    let (live, desired) = pair(conflict.live.as_ref(), conflict.desired.as_ref());
    format!("{} is owned by {}: live {live}, desired {desired}", conflict.path, owners(&conflict.owners))
}

/// What was taken over in a conflict: where, from whom, and both values.
pub fn taken_over(conflict: &Conflict) -> String {
    let (live, desired) = pair(conflict.live.as_ref(), conflict.desired.as_ref());
    format!("took over {} from {}, it was {live}, is {desired}", conflict.path, owners(&conflict.owners))
}

/// What was left to its owner: where, whose it is, and both values.
pub fn yielded(conflict: &Conflict) -> String {
    let (live, desired) = pair(conflict.live.as_ref(), conflict.desired.as_ref());
    format!("left {} to {}, it is {live}, desired is {desired}", conflict.path, owners(&conflict.owners))
}
