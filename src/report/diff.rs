//! What `diff` prints, object by object, in one of its formats.

use super::hunks::{hunks, new_lines};
use super::json;
use super::markdown::{self, Section};
use crate::cluster::{Error, count};
use crate::compare::{Change, Foreign, Released, Restart};
use crate::reconcile::orphans::Orphan;
use crate::reconcile::plan::{Planned, State};
use crate::report;
use crate::ui::{self, Tone, Ui};
use crate::yaml;

/// The formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A unified diff an object, with the owner of each live value.
    #[default]
    Text,
    /// One line a field: path, live and desired value, owner.
    Paths,
    /// One JSON document.
    Json,
    /// The names of the objects that differ.
    Name,
    /// One line an object.
    Summary,
    /// A comment for a pull request.
    Markdown,
    /// Both sides of each object that differs, for another program.
    External,
}

/// Both sides of an object; nothing of one that is not there.
pub struct Sides {
    /// The name of a file for it.
    pub name: String,
    /// What is live.
    pub live: String,
    /// What would be.
    pub merged: String,
}

/// A diff as it is being printed.
pub struct Report<'a> {
    format: Format,
    ui: &'a mut Ui,
    items: Vec<serde_json::Value>,
    sections: Vec<Section>,
    sides: Vec<Sides>,
    orphans: Vec<serde_json::Value>,
    unlisted: Vec<String>,
    summary: Summary,
}

/// How many objects there are, and what is to be said of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// All of them.
    pub objects: usize,
    /// Those that an apply would create or change.
    pub to_change: usize,
    /// Those that only deleting and creating them again would bring to what is desired.
    pub to_recreate: usize,
    /// Those that are being deleted.
    pub terminating: usize,
    /// Those of which it is unknown.
    pub unknown: usize,
    /// Fields of server bookkeeping that differ and do not count.
    pub hidden: usize,
    /// Fields that others set and that stay.
    pub foreign: usize,
    /// Objects that are no longer desired.
    pub orphans: usize,
    /// Objects of which the server was not asked what an apply would make of them.
    pub approximate: usize,
}

impl Summary {
    fn add(&mut self, planned: &Planned) {
        self.objects += 1;
        self.to_change += usize::from(planned.deviates());
        match &planned.state {
            State::NeedsRecreate(_) => self.to_recreate += 1,
            State::Unknown(Error::Terminating | Error::NamespaceTerminating(_)) => self.terminating += 1,
            State::Unknown(_) => self.unknown += 1,
            State::InSync | State::Missing | State::Unchecked(_) | State::Differs | State::Blocked => {}
        }
        self.hidden += planned.comparison.as_ref().map_or(0, |comparison| comparison.hidden.len());
        self.foreign += planned.foreign.len();
        self.approximate += usize::from(planned.approximate.is_some());
    }

    /// `15 objects: 1 to change, 1 unknown; hidden: 3 fields of server bookkeeping`.
    pub fn text(&self) -> String {
        let Self { objects, to_change, to_recreate, terminating, unknown, hidden, orphans, approximate, .. } = *self;
        let counted = |number: usize, text: String| if number > 0 { text } else { String::new() };
        [
            format!("{}: {to_change} to change", count(objects, "object", "objects")),
            counted(to_recreate, format!(", {to_recreate} to recreate")),
            counted(terminating, format!(", {terminating} being deleted")),
            counted(unknown, format!(", {unknown} unknown")),
            counted(approximate, format!(", {approximate} compared approximately")),
            counted(orphans, format!(", {}", count(orphans, "orphan", "orphans"))),
            counted(hidden, format!("; hidden: {} of server bookkeeping", count(hidden, "field", "fields"))),
        ]
        .concat()
    }
}

impl<'a> Report<'a> {
    /// Starts a report.
    pub fn new(format: Format, ui: &'a mut Ui) -> Self {
        Self {
            format,
            ui,
            items: Vec::new(),
            sections: Vec::new(),
            sides: Vec::new(),
            orphans: Vec::new(),
            unlisted: Vec::new(),
            summary: Summary::default(),
        }
    }

    /// Prints what there is to say of one object; nothing, when it is as desired and nobody else set anything.
    pub fn add(&mut self, planned: &Planned) {
        self.summary.add(planned);
        for warning in &planned.warnings {
            self.ui.warning(&format!("{}: {warning}", planned.id));
        }
        if let Some(error) = planned.error() {
            self.ui.error(&format!("cannot compare {}: {error}", planned.id.full_name()));
        }
        match self.format {
            Format::Json => self.items.push(json::item(planned)),
            Format::Text => self.text(planned),
            Format::External => self.sides.extend(sides(planned)),
            Format::Markdown => {
                if !is_unremarkable(planned) {
                    self.sections.push(Section {
                        name: planned.id.full_name(),
                        state: heading(planned),
                        lines: Vec::new(),
                    });
                    self.details(planned);
                }
            }
            Format::Summary => {
                let name = planned.id.full_name();
                self.ui.line(&[(Tone::Strong, &name), (Tone::Plain, ": "), (Tone::Plain, &heading(planned))]);
            }
            Format::Paths => self.paths(planned),
            Format::Name if planned.state == State::InSync => {}
            Format::Name => self.ui.line(&[(Tone::Plain, &planned.id.to_string())]),
        }
    }

    /// Prints an object that is no longer desired; with `counts` it is drift.
    pub fn orphan(&mut self, orphan: &Orphan, counts: bool) {
        self.summary.orphans += 1;
        let name = orphan.id.full_name();
        let why = report::orphan(orphan);
        match self.format {
            Format::Json => self.orphans.push(json::orphan(orphan)),
            Format::Markdown => {
                self.sections.push(Section { name, state: format!("orphan; {why}"), lines: Vec::new() });
            }
            Format::Text | Format::Summary | Format::External => {
                self.ui.line(&[
                    (Tone::Strong, &name),
                    (Tone::Plain, ": "),
                    (Tone::Strong, "orphan"),
                    (Tone::Plain, &format!("; {why}")),
                ]);
            }
            Format::Paths => self.ui.line(&[(Tone::Strong, &name), (Tone::Plain, &format!(" (root): orphan; {why}"))]),
            Format::Name if counts => self.ui.line(&[(Tone::Plain, &orphan.id.to_string())]),
            Format::Name => {}
        }
    }

    /// Says once why objects were compared without the server.
    pub fn approximate(&self, error: &Error) {
        self.ui.warning(&format!(
            "compared by values and ownership alone, without defaults and checks of the server: {error}"
        ));
    }

    /// Notes the kinds of which it is not known whether there are orphans.
    pub fn unlisted(&mut self, kinds: &[(String, Error)]) {
        self.unlisted = kinds.iter().map(|(kind, _)| kind.clone()).collect();
        if let Some((_, error)) = kinds.first() {
            self.ui.note(&format!("cannot look for orphans of kind {}: {error}", self.unlisted.join(", ")));
        }
    }

    /// What was kept for another program.
    pub fn take_sides(&mut self) -> Vec<Sides> {
        std::mem::take(&mut self.sides)
    }

    /// Prints a next step.
    pub fn hint(&self, text: &str) {
        self.ui.hint(text);
    }

    /// Ends the report with `exit_code`: prints the JSON document, and gives the totals.
    pub fn finish(self, exit_code: u8) -> Summary {
        if self.format == Format::Json {
            self.ui.document(&json::document(&self.items, &self.orphans, &self.unlisted, &self.summary, exit_code));
        }
        if self.format == Format::Markdown {
            self.ui.document(&markdown::comment(&self.sections, &self.summary));
        }
        self.summary
    }

    fn text(&mut self, planned: &Planned) {
        if is_unremarkable(planned) {
            return;
        }
        let name = planned.id.full_name();
        self.ui.line(&[(Tone::Strong, &name), (Tone::Plain, ": "), (Tone::Strong, &heading(planned))]);
        self.details(planned);
    }

    /// A line of an object: printed, or kept for the comment.
    fn line(&mut self, pieces: &[(Tone, &str)]) {
        match self.sections.last_mut() {
            Some(section) => {
                let text: String = pieces.iter().map(|(_, text)| *text).collect();
                section.lines.push(ui::escape(&text).into_owned());
            }
            None => self.ui.line(pieces),
        }
    }

    fn details(&mut self, planned: &Planned) {
        match (&planned.state, &planned.comparison) {
            (State::Missing | State::Unchecked(_), Some(comparison)) => {
                new_lines(&yaml::lines(&comparison.desired), |pieces| self.line(pieces));
            }
            (State::NeedsRecreate(_), _) => {
                for change in planned.changes() {
                    self.line(&[(Tone::Plain, &report::owned_change(change, planned.last_other_writer.as_ref()))]);
                }
            }
            (_, Some(comparison)) => hunks(comparison, &planned.managers, |pieces| self.line(pieces)),
            (_, None) => {}
        }
        self.remarks(planned);
    }

    /// What the diff itself does not show: who may have removed what is absent, conflicts, blockers, what stays.
    fn remarks(&mut self, planned: &Planned) {
        let is_absent = |change: &Change| change.live.is_none();
        let absent = planned.error().is_none() && planned.changes().iter().any(is_absent);
        if let Some(writer) = planned.last_other_writer.as_ref().filter(|_| absent) {
            let text = format!("the last other writer of the object is {}", report::owner(writer));
            self.line(&[(Tone::Faint, "absent fields: "), (Tone::Faint, &text)]);
        }
        for conflict in &planned.conflicts {
            let owners = report::owners(&conflict.owners);
            let text = format!("{} is owned by {owners}", conflict.path);
            self.line(&[(Tone::Caution, "conflict: "), (Tone::Plain, &text)]);
        }
        for blocker in &planned.blockers {
            self.line(&[(Tone::Caution, "blocked by: "), (Tone::Plain, &foreign(blocker))]);
        }
        for (path, policy) in planned.comparison.iter().flat_map(|comparison| &comparison.stale_pull_policies) {
            let text = format!("{path}: {policy} stays; it was the default of the live image");
            self.line(&[(Tone::Caution, "note: "), (Tone::Plain, &text)]);
        }
        for released in planned.comparison.iter().flat_map(|comparison| &comparison.released) {
            self.line(&[(Tone::Caution, "no longer desired: "), (Tone::Plain, &kept(released))]);
        }
        for field in &planned.foreign {
            self.line(&[(Tone::Faint, "foreign: "), (Tone::Faint, &foreign(field))]);
        }
    }

    fn paths(&mut self, planned: &Planned) {
        let name = planned.id.full_name();
        let owned_change = |change| report::owned_change(change, planned.last_other_writer.as_ref());
        let mut line = |text: String| self.ui.line(&[(Tone::Strong, &name), (Tone::Plain, " "), (Tone::Plain, &text)]);
        match &planned.state {
            State::Missing | State::Unchecked(_) | State::Unknown(_) => line(format!("(root): {}", heading(planned))),
            State::NeedsRecreate(_) => {
                for change in planned.changes() {
                    line(format!("{}; needs recreate", owned_change(change)));
                }
            }
            State::InSync | State::Differs | State::Blocked => {
                for change in planned.changes() {
                    let is_blocker = planned.blockers.iter().any(|blocker| blocker.path == change.path);
                    let blocks = if is_blocker { "; blocks the desired fields" } else { "" };
                    line(format!("{}{blocks}", owned_change(change)));
                }
            }
        }
        for released in planned.comparison.iter().flat_map(|comparison| &comparison.released) {
            line(format!("{}: no longer desired  # {}", released.path, report::owners(&released.owners)));
        }
        for field in &planned.foreign {
            line(format!(
                "{}: {}; foreign  # {}",
                field.path,
                report::value(Some(&field.value)),
                report::owners(&field.owners)
            ));
        }
    }
}

/// Both sides of an object that differs, under the name that `kubectl diff` gives it.
fn sides(planned: &Planned) -> Option<Sides> {
    let comparison = planned.comparison.as_ref().filter(|_| planned.state != State::InSync)?;
    let id = &planned.id;
    let namespace = id.namespace.as_deref().unwrap_or_default();
    let name = format!("{}.{}.{}.{namespace}.{}", id.group(), id.version(), id.kind, id.name);
    let live = comparison.live.as_ref().map(yaml::to_string).unwrap_or_default();
    Some(Sides { name: name.trim_start_matches('.').to_owned(), live, merged: yaml::to_string(&comparison.desired) })
}

/// Whether there is nothing to say of an object.
fn is_unremarkable(planned: &Planned) -> bool {
    planned.state == State::InSync && planned.foreign.is_empty()
}

fn heading(planned: &Planned) -> String {
    let restart = planned.comparison.as_ref().and_then(|comparison| comparison.restart.as_ref());
    let restarts = restart.map(restarts).unwrap_or_default();
    let approximate = if planned.approximate.is_some() { " (approximate)" } else { "" };
    let changes = || format!("{}{approximate}", count(planned.changes().len(), "change", "changes"));
    match &planned.state {
        State::InSync if planned.foreign.is_empty() => "in sync".to_owned(),
        State::InSync => format!("in sync; {} set by others", count(planned.foreign.len(), "field", "fields")),
        State::Missing => format!("missing{approximate}"),
        State::Unchecked(error) => format!("missing ({error})"),
        State::Differs => format!("{}{restarts}", changes()),
        State::Blocked => format!("blocked; {}{restarts}", changes()),
        State::NeedsRecreate(_) => "needs recreate".to_owned(),
        State::Unknown(Error::Terminating | Error::NamespaceTerminating(_)) => "being deleted".to_owned(),
        State::Unknown(_) => "unknown".to_owned(),
    }
}

/// `; applying restarts its 3 pods, at most 1 at once`.
fn restarts(Restart { pods, at_once, on_delete }: &Restart) -> String {
    if *on_delete {
        return "; its pods restart only when they are deleted (OnDelete)".to_owned();
    }
    match (pods, at_once) {
        (Some(pods), Some(at_once)) => {
            format!("; applying restarts its {}, at most {at_once} at once", count_u64(*pods, "pod", "pods"))
        }
        (Some(pods), None) => format!("; applying restarts its {}", count_u64(*pods, "pod", "pods")),
        (None, _) => "; applying restarts its pods".to_owned(),
    }
}

fn count_u64(number: u64, one: &str, many: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), one, many)
}

/// `path: value  # owners`.
fn foreign(field: &Foreign) -> String {
    format!("{}: {}  # {}", field.path, report::value(Some(&field.value)), report::owners(&field.owners))
}

fn kept(released: &Released) -> String {
    format!("{} stays, still owned by {}", released.path, report::owners(&released.owners))
}
