//! What `apply` prints: a line an object, or one document at the end, and how many objects there were of each outcome.

use serde_json::{Value, json};

use super::hunks::{hunks, new_lines};
use super::json as fields;
use super::results;
use crate::cluster::Error;
use crate::compare::Comparison;
use crate::manifest::{Manifest, ObjectId};
use crate::mask;
use crate::ownership::Managers;
use crate::reconcile::orphans::{Orphan, Pruned};
use crate::reconcile::outcome::{Action, Migrated, Outcome};
use crate::reconcile::policy::DryRun;
use crate::report;
use crate::ui::{Tone, Ui};
use crate::yaml;

/// The formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A line an object.
    #[default]
    Text,
    /// One JSON document.
    Json,
    /// The names of the objects that are as desired now.
    Name,
    /// The objects as the server has them now.
    Yaml,
}

/// A report of what became of the objects, as it is being printed.
pub struct Report<'a> {
    /// Where it is printed.
    pub ui: &'a mut Ui,
    format: Format,
    /// Whether each change is shown.
    shows_changes: bool,
    dry_run: DryRun,
    items: Vec<Value>,
    pruned: Vec<Value>,
    objects: Vec<Value>,
    counts: [(&'static str, usize); 8],
}

const NO_COUNTS: [(&str, usize); 8] = [
    ("created", 0),
    ("recreated", 0),
    ("configured", 0),
    ("applied", 0),
    ("pruned", 0),
    ("unchanged", 0),
    ("skipped", 0),
    ("failed", 0),
];

impl<'a> Report<'a> {
    /// Starts a report.
    pub fn new(format: Format, shows_changes: bool, dry_run: DryRun, ui: &'a mut Ui) -> Self {
        let (items, pruned, objects) = (Vec::new(), Vec::new(), Vec::new());
        Self { ui, format, shows_changes, dry_run, items, pruned, objects, counts: NO_COUNTS }
    }

    /// Tells what became of an object; `live` is what it was before.
    pub fn outcome(&mut self, manifest: &Manifest, outcome: &Outcome, live: Option<&Value>) {
        let (word, tone) = results::word(&outcome.action);
        self.count(word);
        match self.format {
            Format::Text => {
                let reason = match &outcome.action {
                    Action::Skipped(reason) => format!(" ({reason})"),
                    _ => String::new(),
                };
                self.line(&manifest.id, (tone, word), &reason);
                if let Some(comparison) = outcome.comparison.as_deref().filter(|_| self.shows_changes) {
                    self.changes(comparison, live);
                }
            }
            Format::Json => self.items.push(item(manifest, outcome)),
            Format::Name if is_done(&outcome.action) => self.ui.line(&[(Tone::Plain, &manifest.id.to_string())]),
            Format::Yaml if is_done(&outcome.action) => {
                let planned = outcome.comparison.as_deref().map(|comparison| &comparison.desired);
                if let Some(object) = outcome.object.as_ref().or(planned).or(live) {
                    let mut shown = mask::pair(object, object).0.into_owned();
                    // As kubectl shows it.
                    if let Some(metadata) = shown.get_mut("metadata").and_then(Value::as_object_mut) {
                        metadata.remove("managedFields");
                    }
                    self.objects.push(shown);
                }
            }
            Format::Name | Format::Yaml => {}
        }
        results::remarks(manifest, outcome, self.ui);
    }

    /// Tells what is about to happen to an object that cannot be changed.
    pub fn recreating(&mut self, manifest: &Manifest, error: &Error) {
        let fields = error.immutable_fields().unwrap_or_default().join(", ");
        let pods = match manifest.id.kind.as_str() {
            "DaemonSet" | "Deployment" | "StatefulSet" => "; its pods end first, and fields that others set are lost",
            _ => "; fields that others set are lost",
        };
        let name = manifest.id.full_name();
        self.ui.warning(&format!("deleting and creating {name}, since {fields} cannot be changed{pods}"));
    }

    /// Tells what became of an orphan.
    pub fn pruned(&mut self, orphan: &Orphan, pruned: &Pruned) {
        let (word, tone) = match pruned {
            Pruned::Deleted => ("pruned", Tone::Caution),
            Pruned::Kept | Pruned::Failed(_) => ("failed", Tone::Bad),
        };
        self.count(word);
        let name = orphan.id.full_name();
        let error = match pruned {
            Pruned::Deleted => None,
            Pruned::Kept => Some(format!("fields of it are owned by {}", report::owners(&orphan.others))),
            Pruned::Failed(error) => Some(error.to_string()),
        };
        match self.format {
            Format::Text => self.line(&orphan.id, (tone, word), ""),
            Format::Json => self.pruned.push(json!({
                "object": fields::object(&orphan.id),
                "action": word,
                "errors": error.iter().map(|error| json!({"message": error})).collect::<Vec<_>>(),
            })),
            Format::Name | Format::Yaml => {}
        }
        if let Some(error) = error {
            self.ui.error(&format!("cannot prune {name}: {error}"));
        }
    }

    /// Ends the report: prints the document, and how many objects there were of each outcome.
    pub fn finish(self, exit_code: u8) {
        let counts: serde_json::Map<String, Value> =
            self.counts.iter().map(|(word, count)| ((*word).to_owned(), json!(count))).collect();
        match self.format {
            Format::Json => {
                let document = json!({
                    "items": self.items, "pruned": self.pruned, "summary": counts, "dryRun": self.dry_run != DryRun::None,
                    "exitCode": exit_code,
                });
                self.ui.document(&format!("{document:#}\n"));
            }
            Format::Yaml => {
                let documents = self.objects.iter().map(|object| format!("---\n{}", yaml::to_string(object)));
                self.ui.document(&documents.collect::<String>());
            }
            Format::Text | Format::Name => {}
        }
        let counted = self.counts.iter().filter(|(_, count)| *count > 0);
        let counted: Vec<String> = counted.map(|(word, count)| format!("{count} {word}")).collect();
        if !counted.is_empty() {
            self.ui.note(&format!("{}{}", counted.join(", "), suffix(self.dry_run)));
        }
    }

    fn count(&mut self, word: &str) {
        if let Some((_, count)) = self.counts.iter_mut().find(|(counted, _)| *counted == word) {
            *count += 1;
        }
    }

    fn line(&mut self, id: &ObjectId, (tone, word): (Tone, &str), reason: &str) {
        let id = id.to_string();
        let suffix = suffix(self.dry_run);
        self.ui.line(&[
            (Tone::Plain, &id),
            (Tone::Plain, " "),
            (tone, word),
            (Tone::Faint, reason),
            (Tone::Faint, suffix),
        ]);
    }

    fn changes(&mut self, comparison: &Comparison, live: Option<&Value>) {
        let managers = live.map(Managers::of).unwrap_or_default();
        match comparison.live {
            Some(_) => hunks(comparison, &managers, |pieces| self.ui.line(pieces)),
            None => new_lines(&yaml::lines(&comparison.desired), |pieces| self.ui.line(pieces)),
        }
    }
}

fn suffix(dry_run: DryRun) -> &'static str {
    match dry_run {
        DryRun::None => "",
        DryRun::Client => " (dry run)",
        DryRun::Server => " (server dry run)",
    }
}

fn is_done(action: &Action) -> bool {
    !matches!(action, Action::Skipped(_) | Action::Blocked | Action::Failed(_))
}

/// One object of the JSON document.
fn item(manifest: &Manifest, outcome: &Outcome) -> Value {
    let (word, _) = results::word(&outcome.action);
    let (reason, error) = match &outcome.action {
        Action::Skipped(reason) => (Some(reason.clone()), None),
        Action::Failed(error) => (None, Some(error.to_string())),
        Action::Blocked => (None, Some("blocked by fields that others set".to_owned())),
        _ => (None, None),
    };
    let changes = outcome.comparison.iter().filter(|comparison| comparison.live.is_some());
    json!({
        "object": fields::object(&manifest.id),
        "action": word,
        "changed": !matches!(outcome.action, Action::Unchanged) && is_done(&outcome.action),
        "reason": reason,
        "changes": changes.flat_map(|comparison| fields::list(&comparison.changes)).collect::<Vec<_>>(),
        "conflicts": fields::conflicts(&outcome.conflicts),
        "blockers": fields::foreign(&outcome.blockers),
        "yielded": fields::conflicts(&outcome.yielded),
        "altered": fields::list(&outcome.altered),
        "migrated": outcome.migrated.iter().map(migrated).collect::<Vec<_>>(),
        "foreign": fields::foreign(&outcome.foreign),
        "released": fields::released(&outcome.released),
        "warnings": outcome.warnings,
        "errors": error.iter().map(|error| json!({"message": error})).collect::<Vec<_>>(),
    })
}

fn migrated(migrated: &Migrated) -> Value {
    let removed: Vec<String> = migrated.removed.iter().map(ToString::to_string).collect();
    json!({"from": fields::owner(&migrated.owner), "fields": migrated.fields, "removed": removed})
}
