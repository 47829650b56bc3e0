//! The unified diff of one object: three lines of context, and on each removed line who owns the live value.

use similar::{Algorithm, ChangeTag, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use super::shortened_line;
use crate::compare::Comparison;
use crate::ownership::Managers;
use crate::path::FieldPath;
use crate::report;
use crate::ui::Tone;
use crate::yaml::{self, Line};

/// Lines shown around a change.
const CONTEXT: usize = 3;

/// Lines of a new object that are shown.
const MOST_NEW_LINES: usize = 12;

/// Prints the beginning of an object that is new.
pub(super) fn new_lines(lines: &[Line], mut print: impl FnMut(&[(Tone, &str)])) {
    let most = if lines.len() > MOST_NEW_LINES + 1 { MOST_NEW_LINES } else { lines.len() };
    for line in lines.iter().take(most) {
        print(&[(Tone::Added, "+"), (Tone::Added, &line.text)]);
    }
    if let Some(more) = lines.len().checked_sub(most).filter(|more| *more > 0) {
        print(&[(Tone::Faint, &format!("+… {more} more lines"))]);
    }
}

/// Prints the changes of an object that is there.
pub(super) fn hunks(comparison: &Comparison, managers: &Managers, mut print: impl FnMut(&[(Tone, &str)])) {
    let Some(live) = &comparison.live else { return };
    let (old, new) = (yaml::lines(live), yaml::lines(&comparison.desired));
    let texts = |lines: &[Line]| lines.iter().map(|line| line.text.clone()).collect::<Vec<_>>();
    let (old_texts, new_texts) = (texts(&old), texts(&new));
    let operations = capture_diff_slices(Algorithm::Myers, &old_texts, &new_texts);
    for group in group_diff_ops(operations, CONTEXT) {
        let path = common_path(&group, (&old, &new), comparison, managers);
        print(&[(Tone::Place, &format!("@@ {path} @@"))]);
        let mut named: Option<&FieldPath> = None;
        for change in group.iter().flat_map(|operation| operation.iter_changes(&old_texts, &new_texts)) {
            let text = change.value();
            match change.tag() {
                ChangeTag::Equal => print(&[(Tone::Plain, " "), (Tone::Plain, &shortened_line(&text))]),
                ChangeTag::Insert => print(&[(Tone::Added, "+"), (Tone::Added, &text)]),
                ChangeTag::Delete => {
                    let path = change.old_index().and_then(|index| old.get(index)).map(|line| &line.path);
                    let owners = path
                        .filter(|path| named != Some(path))
                        .map(|path| format!("  # {}", report::owners(&managers.owners(live, path))));
                    named = path;
                    let note = owners.unwrap_or_default();
                    print(&[(Tone::Removed, "-"), (Tone::Removed, &text), (Tone::Faint, &note)]);
                }
            }
        }
    }
}

/// The path that all changes of a hunk share: the field itself where there is one.
fn common_path(
    group: &[DiffOp],
    (old, new): (&[Line], &[Line]),
    comparison: &Comparison,
    managers: &Managers,
) -> FieldPath {
    let changed = group.iter().filter(|operation| operation.tag() != DiffTag::Equal);
    let nothing = serde_json::Value::Null;
    let live = comparison.live.as_ref().unwrap_or(&nothing);
    let paths = changed.flat_map(|operation| {
        let old = old.get(operation.old_range()).unwrap_or_default();
        let new = new.get(operation.new_range()).unwrap_or_default();
        let removed = old.iter().map(|line| managers.named(live, &line.path));
        let added = new.iter().map(|line| managers.named(&comparison.desired, &line.path));
        removed.chain(added).collect::<Vec<_>>()
    });
    paths
        .reduce(|one, other| {
            let shared = one.0.iter().zip(&other.0).take_while(|(one, other)| one == other);
            FieldPath(shared.map(|(step, _)| step.clone()).collect())
        })
        .unwrap_or_default()
}
