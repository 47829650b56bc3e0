//! The log of `watch`: what was read, rendered, seen and sent, a line each; as text or as one JSON object a line.
//!
//! The kinds of events stand in one table, [`KINDS`], which is also what the README documents.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::results;
use crate::compare::{Difference, What};
use crate::failure::Failure;
use crate::manifest::ObjectId;
use crate::mask;
use crate::ownership::{Managers, Owner, value_at};
use crate::reconcile::outcome::{Action, Outcome};
use crate::reconcile::watch::fights::ROUNDS;
use crate::reconcile::watch::finalizer::FINALIZER;
use crate::reconcile::watch::{Deviation, Event, State};
use crate::report;
use crate::ui::{Tone, Ui};

/// The forms of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// The values of `event` in the JSON form, and what they mean.
pub const KINDS: [(&str, &str); 26] = [
    ("read", "the Config was read"),
    ("rendered", "the desired objects were rendered anew"),
    ("warning", "something about the Config, a template or an object that a person should know"),
    ("note", "the same, less important"),
    ("invalid", "the Config or a template is invalid; `errors` says where and why"),
    ("gone", "the Config does not exist"),
    ("deleting", "the Config is being deleted"),
    ("finalizer", "the finalizer was added to the Config or removed, or could not be"),
    ("operator", "bpfman-operator has written the same objects"),
    ("drift", "an object deviates: `path`, `live`, `desired`, `owners`"),
    ("missing", "an object does not exist"),
    ("terminating", "an object is being deleted; it is created again when it is gone"),
    ("created", "an object was created"),
    ("configured", "an object was changed"),
    ("unchanged", "an object was as desired"),
    ("skipped", "an object was left for later, since another one failed"),
    ("failed", "an object could not be applied, `error` says why; it is tried again"),
    ("blocked", "fields that others set block an object"),
    ("admission", "the server stores another value than the one that was applied"),
    ("fight", "another manager keeps setting a field back; the object is left alone for `seconds`"),
    ("no-longer-desired", "an object is no longer desired, and stays as it is"),
    ("in-sync", "all objects are as desired"),
    ("unknown", "an object cannot be watched; its state is unknown"),
    ("known", "an object can be watched again"),
    ("outage", "the server gives no usable answer, or answers again"),
    ("timeout", "the time of --timeout is over"),
];

/// A line of the log.
struct Line {
    kind: &'static str,
    object: Option<ObjectId>,
    text: String,
    /// What the JSON form has beyond the text.
    fields: Map<String, Value>,
}

impl Line {
    fn new(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, object: None, text: text.into(), fields: Map::new() }
    }

    fn of(mut self, id: &ObjectId) -> Self {
        self.object = Some(id.clone());
        self
    }

    fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(field.to_owned(), value.into());
        self
    }

    fn tone(&self) -> Tone {
        match self.kind {
            "failed" | "invalid" | "outage" | "unknown" | "fight" | "timeout" => Tone::Bad,
            "warning" | "admission" | "skipped" => Tone::Caution,
            "step" | "note" => Tone::Faint,
            _ => Tone::Plain,
        }
    }
}

/// Prints one event that happened at `now`; steps only if `verbose`.
pub fn event(event: &Event, now: Timestamp, format: Format, verbose: bool, ui: &mut Ui) {
    if matches!(event, Event::Step(_)) && !verbose {
        return;
    }
    for line in lines(event) {
        match format {
            Format::Text => {
                let time = now.strftime("%H:%M:%SZ ").to_string();
                let name = line.object.as_ref().map(|id| format!("{}: ", id.full_name())).unwrap_or_default();
                ui.line(&[(Tone::Faint, &time), (Tone::Strong, &name), (line.tone(), &line.text)]);
            }
            Format::Json => ui.document(&format!("{}\n", json_line(line, now))),
        }
    }
    match event {
        Event::InvalidConfig(failure, _) | Event::InvalidTemplates(failure) => report::failure(failure, ui),
        Event::Applied(manifest, outcome) if format == Format::Text => results::remarks(manifest, outcome, ui),
        _ => {}
    }
}

fn json_line(line: Line, now: Timestamp) -> Value {
    let time = now.strftime("%FT%TZ").to_string();
    let mut value = json!({"time": time, "event": line.kind, "object": line.object.as_ref().map(report::json::object), "message": line.text});
    if let Some(fields) = value.as_object_mut() {
        fields.extend(line.fields);
    }
    value
}

/// The last line on a terminal, which is written anew after each event.
pub fn status(state: &State, since: Option<Timestamp>) -> String {
    let (objects, unknown) = (state.objects(), state.unknown());
    let sync = match since.filter(|_| state.is_in_sync()) {
        Some(since) => format!("in sync since {}", since.strftime("%H:%M:%SZ")),
        None => "not in sync".to_owned(),
    };
    let passes = match state.passes() {
        1 => "1 pass".to_owned(),
        passes => format!("{passes} passes"),
    };
    let connection = if state.is_out() { "no connection" } else { "connected" };
    format!("{sync} · {objects} objects · {unknown} unknown · {passes} · {connection}")
}

/// What an event comes to.
fn lines(event: &Event) -> Vec<Line> {
    let line = match event {
        Event::Read(name, namespace) => {
            Line::new("read", format!("read config.bpfman.io/{name}, for namespace {namespace}"))
        }
        Event::Rendered(count) => Line::new("rendered", format!("rendered {count} objects")).with("objects", *count),
        Event::Warning(text) => Line::new("warning", format!("warning: {text}")),
        Event::Note(text) => Line::new("note", text),
        Event::InvalidConfig(failure, keeps) => invalid("the Config is invalid", failure, *keeps),
        Event::InvalidTemplates(failure) => invalid("a template is invalid", failure, true),
        Event::Gone => Line::new("gone", "the Config does not exist; nothing to reconcile"),
        Event::Deleting => Line::new("deleting", "the Config is being deleted; its objects are garbage collected"),
        Event::Operator => Line::new(
            "operator",
            "bpfman-operator has written these objects, too; where it runs, it resets them to its own templates and images",
        ),
        Event::Deviates(deviation) => return deviations(deviation),
        Event::Missing(id) => Line::new("missing", "does not exist").of(id),
        // A namespace may not be ours to create.
        Event::Terminating(id) if id.kind == "Namespace" => {
            Line::new("terminating", "is being deleted; its objects are created again in the next one").of(id)
        }
        Event::Terminating(id) => {
            Line::new("terminating", "is being deleted; it is created again when it is gone").of(id)
        }
        Event::Applied(manifest, outcome) => return applied(&manifest.id, outcome),
        Event::ChangedByAdmission(deviation) => return changed_by_admission(deviation),
        Event::Fight { id, deviation, pause } => fight(id, deviation.as_ref(), pause.as_secs()),
        Event::NoLongerDesired(id) => {
            Line::new("no-longer-desired", "is no longer desired; it is left as it is").of(id)
        }
        Event::InSync(count) => Line::new("in-sync", format!("in sync: {count} objects")).with("objects", *count),
        Event::Unknown(id, error) => Line::new("unknown", format!("cannot be watched: {error}")).of(id),
        Event::KnownAgain(id) => Line::new("known", "can be watched again").of(id),
        Event::OutageBegan(error) => Line::new("outage", format!("{error}; trying again")),
        Event::OutageEnded(time) => {
            Line::new("outage", format!("the server answers again, after {} s", time.as_secs()))
        }
        Event::TimedOut { until, id, lacking } => {
            let line = Line::new("timeout", format!("timed out waiting for {until}: {lacking}"));
            id.iter().fold(line, Line::of)
        }
        Event::Step(text) => Line::new("step", text),
        event => finalizer(event),
    };
    vec![line]
}

fn finalizer(event: &Event) -> Line {
    Line::new(
        "finalizer",
        match event {
            Event::Finalizer(true) => "added the finalizer to the Config".to_owned(),
            Event::Finalizer(false) => "removed the finalizer from the Config".to_owned(),
            Event::FinalizerAdopted => {
                "the finalizer of an earlier run, or of another watch, is on the Config; it is removed at the end"
                    .to_owned()
            }
            Event::FinalizerRefused(error) => format!("cannot set the finalizer of the Config: {error}"),
            Event::FinalizerLeft(reason) => format!(
                "could not remove the finalizer {FINALIZER} from the Config: {reason}; run watch once more and end it, \
             or: kubectl edit configs.bpfman.io"
            ),
            _ => String::new(),
        },
    )
}

fn invalid(what: &str, failure: &Failure, keeps: bool) -> Line {
    let then = if keeps { "keeping the last valid configuration" } else { "waiting for it to be corrected" };
    Line::new("invalid", format!("{what}; {then}")).with("errors", report::json::errors(failure))
}

fn applied(id: &ObjectId, outcome: &Outcome) -> Vec<Line> {
    let (word, _) = results::word(&outcome.action);
    let line = match &outcome.action {
        Action::Skipped(reason) => Line::new(word, format!("skipped ({reason})")),
        // The reason follows on standard error, with what helps.
        Action::Failed(error) => Line::new(word, word).with("error", error.to_string()),
        _ => Line::new(word, word),
    };
    vec![line.of(id).with("warnings", outcome.warnings.clone())]
}

fn deviations(deviation: &Deviation) -> Vec<Line> {
    let line = |shown: Shown| {
        let text = format!("{}  # {}", shown.change, shown.who());
        shown.fields(Line::new("drift", text).of(&deviation.manifest.id))
    };
    shown(deviation).into_iter().map(line).collect()
}

fn changed_by_admission(deviation: &Deviation) -> Vec<Line> {
    let line = |shown: Shown| {
        let (desired, live) = (report::value(shown.desired.as_ref()), report::value(shown.live.as_ref()));
        let text = format!(
            "the server stores {live} instead of {desired} at {}: an admission webhook or policy changes it",
            shown.path
        );
        shown.fields(Line::new("admission", text).of(&deviation.manifest.id))
    };
    shown(deviation).into_iter().map(line).collect()
}

fn fight(id: &ObjectId, deviation: Option<&Deviation>, seconds: u64) -> Line {
    let rest = format!("within a minute; it is left alone for {seconds} s");
    let line = |text: String| Line::new("fight", text).of(id).with("seconds", seconds);
    match deviation.and_then(|deviation| shown(deviation).into_iter().next()) {
        Some(shown) => {
            let (desired, live) = (report::value(shown.desired.as_ref()), report::value(shown.live.as_ref()));
            let text = format!(
                "{} was set to {desired} {ROUNDS} times and set back to {live} by {} {rest}",
                shown.path,
                shown.who()
            );
            shown.fields(line(text))
        }
        None => line(format!("was created {ROUNDS} times and deleted again {rest}")),
    }
}

/// A difference as it is shown: Secrets masked.
struct Shown {
    path: String,
    change: String,
    live: Option<Value>,
    desired: Option<Value>,
    owners: Vec<Owner>,
    last_other_writer: Option<Owner>,
}

impl Shown {
    /// Whose the live value is, or who may have removed it.
    fn who(&self) -> String {
        match (&self.live, &self.last_other_writer) {
            (None, Some(writer)) => report::absent(writer),
            _ => report::owners(&self.owners),
        }
    }

    fn fields(self, line: Line) -> Line {
        line.with("path", self.path)
            .with("live", self.live)
            .with("desired", self.desired)
            .with("owners", report::json::owners(&self.owners))
            .with("lastOtherWriter", self.last_other_writer.as_ref().map(report::json::owner))
    }
}

fn shown(deviation: &Deviation) -> Vec<Shown> {
    let (live, desired) = mask::pair(&deviation.live, &deviation.manifest.object);
    let managers = Managers::of(&live);
    let show = |difference: &Difference| {
        let path = &difference.path;
        let value = |object| if path.0.is_empty() { None } else { value_at(object, path).cloned() };
        let (live_value, desired) = (value(&live), value(&desired));
        let change = match difference.what {
            What::NoLongerDesired | What::Unclear => format!("{path} {}", difference.what),
            _ if live_value == desired => format!("{path} {}", difference.what),
            _ => format!("{path}: {} -> {}", report::value(live_value.as_ref()), report::value(desired.as_ref())),
        };
        let owners = managers.owners(&live, path);
        let last_other_writer = deviation.last_other_writer.clone();
        Shown { path: path.to_string(), change, live: live_value, desired, owners, last_other_writer }
    };
    deviation.differences.iter().map(show).collect()
}
