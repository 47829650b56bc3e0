//! What `diff` prints, object by object, in one of its formats.

use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices, group_diff_ops};

use super::json;
use crate::cluster::count;
use crate::commands::hints;
use crate::exit::Exit;
use crate::manifest::Manifest;
use crate::ownership::Managers;
use crate::path::FieldPath;
use crate::reconcile::preview::{Compared, Preview};
use crate::report;
use crate::ui::{Tone, Ui};
use crate::yaml::{self, Line};

/// Lines shown around a change.
const CONTEXT: usize = 3;

/// The formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A unified diff an object, with the owner of each live value
    #[default]
    Text,
    /// One line a field: path, live and wanted value, owner
    Paths,
    /// One JSON document
    Json,
    /// The names of the objects that differ
    Name,
}

/// A diff as it is being printed.
pub struct Report<'a> {
    format: Format,
    /// Whether fields of others count.
    strict: bool,
    ui: &'a mut Ui,
    items: Vec<serde_json::Value>,
    tally: Tally,
}

#[derive(Default)]
struct Tally {
    objects: usize,
    differ: usize,
    unknown: usize,
    hidden: usize,
    foreign: usize,
}

impl<'a> Report<'a> {
    /// Starts a report.
    pub fn new(format: Format, strict: bool, ui: &'a mut Ui) -> Self {
        Self { format, strict, ui, items: Vec::new(), tally: Tally::default() }
    }

    /// Prints what there is to say of one object; nothing, when it is as wanted.
    pub fn add(&mut self, manifest: &Manifest, preview: &Preview) {
        self.count(preview);
        if let Preview::Compared(compared) = preview {
            for warning in &compared.warnings {
                self.ui.warning(&format!("{}: {warning}", manifest.id));
            }
        }
        if let Preview::Failed(error) | Preview::Immutable { error, .. } = preview {
            self.ui.error(&format!("cannot compare {}: {error}", report::full_name(&manifest.id)));
            if let Some(hint) = hints::hint(error) {
                self.ui.hint(&hint);
            }
        }
        match self.format {
            Format::Json => self.items.push(json::item(manifest, preview)),
            _ if preview.exit(self.strict) == Exit::Done => {}
            Format::Text => self.text(manifest, preview),
            Format::Paths => self.paths(manifest, preview),
            Format::Name => self.ui.line(&[(Tone::Plain, &manifest.id.to_string())]),
        }
    }

    /// Ends the report: the JSON document, and how it came out.
    pub fn finish(self) {
        if self.format == Format::Json {
            self.ui.document(&json::document(&self.items));
        }
        let Tally { objects, differ, unknown, hidden, foreign } = self.tally;
        let counted = |number: usize, text: String| if number > 0 { text } else { String::new() };
        let text = [
            format!("{}: {differ} to change", count(objects, "object", "objects")),
            counted(unknown, format!(", {unknown} unknown")),
            counted(hidden, format!("; hidden: {} of server bookkeeping", count(hidden, "field", "fields"))),
            counted(
                foreign,
                format!("; {} not in the desired set (--strict counts)", count(foreign, "live field", "live fields")),
            ),
        ]
        .concat();
        self.ui.note(&text);
    }

    fn count(&mut self, preview: &Preview) {
        self.tally.objects += 1;
        match preview {
            Preview::Compared(compared) => {
                self.tally.hidden += compared.comparison.hidden.len();
                self.tally.foreign += compared.foreign.len();
                self.tally.differ += usize::from(!compared.comparison.unchanged());
            }
            Preview::Unvalidated(_) => self.tally.differ += 1,
            Preview::Immutable { .. } | Preview::Failed(_) => self.tally.unknown += 1,
        }
    }

    fn text(&mut self, manifest: &Manifest, preview: &Preview) {
        let name = report::full_name(&manifest.id);
        match preview {
            Preview::Compared(compared) => self.compared(&name, compared),
            Preview::Unvalidated(error) => {
                self.heading(&name, &format!("new (not validated: {error})"));
                self.new_lines(&yaml::lines(&manifest.object));
            }
            Preview::Immutable { changes, .. } => {
                self.heading(&name, "needs recreate");
                for change in changes {
                    self.change(change);
                }
            }
            Preview::Failed(_) => self.heading(&name, "unknown"),
        }
    }

    fn compared(&mut self, name: &str, compared: &Compared) {
        let comparison = &compared.comparison;
        let wanted = yaml::lines(&comparison.desired);
        let Some(live) = &comparison.live else {
            self.heading(name, "new");
            return self.new_lines(&wanted);
        };
        let fields = count(comparison.changes.len(), "change", "changes");
        let restarts = if comparison.restarts_pods { "; applying restarts its pods" } else { "" };
        self.heading(name, &format!("{fields}{restarts}"));
        self.hunks(&yaml::lines(live), &wanted, live, compared);
        for conflict in &compared.conflicts {
            self.ui.line(&[(Tone::Caution, "conflict: "), (Tone::Plain, &report::conflict(conflict))]);
        }
        for released in &comparison.released {
            let kept = format!("{} stays, kept by {}", released.path, report::owners(&released.owners));
            self.ui.line(&[(Tone::Caution, "no longer desired: "), (Tone::Plain, &kept)]);
        }
        for foreign in &compared.foreign {
            let whose = format!("{} set by {}", foreign.path, report::owners(&foreign.owners));
            self.ui.line(&[(Tone::Faint, "foreign: "), (Tone::Faint, &whose)]);
        }
        if !compared.conflicts.is_empty() {
            self.ui.hint(hints::CONFLICT);
        }
    }

    fn hunks(&mut self, old: &[Line], new: &[Line], live: &serde_json::Value, compared: &Compared) {
        let texts = |lines: &[Line]| lines.iter().map(|line| line.text.clone()).collect::<Vec<_>>();
        let (old_texts, new_texts) = (texts(old), texts(new));
        let operations = capture_diff_slices(Algorithm::Myers, &old_texts, &new_texts);
        for group in group_diff_ops(operations, CONTEXT) {
            let place = place(&group, old, new, live, compared);
            self.ui.line(&[(Tone::Place, &format!("@@ {place} @@"))]);
            let mut told: Option<&FieldPath> = None;
            for change in group.iter().flat_map(|operation| operation.iter_changes(&old_texts, &new_texts)) {
                let text = change.value();
                match change.tag() {
                    ChangeTag::Equal => self.ui.line(&[(Tone::Plain, " "), (Tone::Plain, &text)]),
                    ChangeTag::Insert => self.ui.line(&[(Tone::Added, "+"), (Tone::Added, &text)]),
                    ChangeTag::Delete => {
                        let path = change.old_index().and_then(|index| old.get(index)).map(|line| &line.path);
                        let whose =
                            path.filter(|path| told != Some(path)).map(|path| whose(path, live, &compared.managers));
                        told = path;
                        self.removed(&text, whose.as_deref());
                    }
                }
            }
        }
    }

    fn removed(&mut self, text: &str, whose: Option<&str>) {
        match whose {
            Some(whose) => {
                let note = format!("  # {whose}");
                self.ui.line(&[(Tone::Removed, "-"), (Tone::Removed, text), (Tone::Faint, &note)]);
            }
            None => self.ui.line(&[(Tone::Removed, "-"), (Tone::Removed, text)]),
        }
    }

    fn heading(&mut self, name: &str, what: &str) {
        self.ui.line(&[(Tone::Strong, name), (Tone::Plain, ": "), (Tone::Strong, what)]);
    }

    fn new_lines(&mut self, lines: &[Line]) {
        for line in lines {
            self.ui.line(&[(Tone::Added, "+"), (Tone::Added, &line.text)]);
        }
    }

    fn change(&mut self, change: &crate::compare::Change) {
        self.ui.line(&[(Tone::Plain, &report::owned_change(change))]);
    }

    fn paths(&mut self, manifest: &Manifest, preview: &Preview) {
        let name = report::full_name(&manifest.id);
        let strict = self.strict;
        let mut line = |text: String| self.ui.line(&[(Tone::Strong, &name), (Tone::Plain, " "), (Tone::Plain, &text)]);
        match preview {
            Preview::Compared(compared) if compared.comparison.live.is_none() => line("(root): new".to_owned()),
            Preview::Compared(compared) => {
                for change in &compared.comparison.changes {
                    line(report::owned_change(change));
                }
                for released in &compared.comparison.released {
                    line(format!("{}: no longer wanted  # {}", released.path, report::owners(&released.owners)));
                }
                for foreign in compared.foreign.iter().filter(|_| strict) {
                    line(format!("{}: foreign  # {}", foreign.path, report::owners(&foreign.owners)));
                }
            }
            Preview::Immutable { changes, .. } => {
                for change in changes {
                    line(format!("{}; needs recreate", report::owned_change(change)));
                }
            }
            Preview::Unvalidated(error) => line(format!("(root): new (not validated: {error})")),
            Preview::Failed(_) => line("(root): unknown".to_owned()),
        }
    }
}

fn whose(path: &FieldPath, live: &serde_json::Value, managers: &Managers) -> String {
    report::owners(&managers.owners(live, path))
}

/// The path that all changes of a hunk share: the field itself where there is one.
fn place(group: &[DiffOp], old: &[Line], new: &[Line], live: &serde_json::Value, compared: &Compared) -> FieldPath {
    let changed = group.iter().filter(|operation| operation.tag() != similar::DiffTag::Equal);
    let paths = changed.flat_map(|operation| {
        let old = old.get(operation.old_range()).unwrap_or_default();
        let new = new.get(operation.new_range()).unwrap_or_default();
        let removed = old.iter().map(|line| compared.managers.named(live, &line.path));
        let added = new.iter().map(|line| compared.managers.named(&compared.comparison.desired, &line.path));
        removed.chain(added).collect::<Vec<_>>()
    });
    paths
        .reduce(|one, other| {
            let shared = one.0.iter().zip(&other.0).take_while(|(one, other)| one == other);
            FieldPath(shared.map(|(step, _)| step.clone()).collect())
        })
        .unwrap_or_default()
}
