//! The log of `watch`: what was read, rendered, seen and sent, a line each; as text or as one JSON object a line.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::results;
use crate::compare::{Difference, What};
use crate::manifest::Manifest;
use crate::mask;
use crate::ownership::{Managers, value_at};
use crate::reconcile::outcome::Action;
use crate::reconcile::watch::Event;
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

/// Prints one event that happened at `now`.
pub fn event(event: &Event<'_>, now: Timestamp, format: Format, ui: &mut Ui) {
    for (kind, object, text) in entries(event) {
        match format {
            Format::Text => {
                let time = now.strftime("%H:%M:%SZ ").to_string();
                let tone = if kind == "failed" || kind == "trouble" { Tone::Bad } else { Tone::Plain };
                let name = object.as_ref().map(|object| format!("{object}: ")).unwrap_or_default();
                ui.line(&[(Tone::Faint, &time), (Tone::Strong, &name), (tone, &text)]);
            }
            Format::Json => {
                let mut line = json!({"time": now.strftime("%FT%TZ").to_string(), "event": kind, "object": object, "message": text});
                if let (Event::Invalid(failure), Some(line)) = (event, line.as_object_mut()) {
                    line.insert("errors".to_owned(), report::json::errors(failure).into());
                }
                ui.document(&format!("{line}\n"));
            }
        }
    }
    if let Event::Done(manifest, outcome) = event {
        results::remarks(manifest, outcome, ui);
    }
    if let Event::Invalid(failure) = event {
        report::failure(failure, ui);
    }
}

/// What an event comes to: its kind, its object, its text.
fn entries(event: &Event<'_>) -> Vec<(&'static str, Option<String>, String)> {
    let one = |kind, object: Option<String>, text: String| vec![(kind, object, text)];
    match event {
        Event::Read(config) => {
            one("read", None, format!("read the Config {}, for namespace {}", config.name, config.namespace))
        }
        Event::Rendered(manifests) => one("rendered", None, format!("rendered {} objects", manifests.len())),
        Event::Invalid(_) => {
            one("invalid", None, "the Config is invalid; keeping the last valid configuration".to_owned())
        }
        Event::Gone => one("gone", None, "the Config is not there; nothing to reconcile".to_owned()),
        Event::Deleting => one("deleting", None, "the Config is being deleted; its objects go with it".to_owned()),
        Event::Finalizer(true) => one("finalizer", None, "put the finalizer on the Config".to_owned()),
        Event::Finalizer(false) => one("finalizer", None, "took the finalizer off the Config".to_owned()),
        Event::Missing(id) => one("drift", Some(report::full_name(id)), "missing".to_owned()),
        Event::Deviates(manifest, live, differences) => deviations(manifest, live, differences),
        Event::Done(manifest, outcome) => {
            let (word, _) = results::word(&outcome.action);
            let reason = match &outcome.action {
                Action::Skipped(reason) => format!(" ({reason})"),
                _ => String::new(),
            };
            one(word, Some(report::full_name(&manifest.id)), format!("{word}{reason}"))
        }
        Event::InSync(count) => one("in-sync", None, format!("in sync: {count} objects")),
        Event::Trouble(id, error) => one("trouble", Some(report::full_name(id)), error.to_string()),
    }
}

fn deviations(
    manifest: &Manifest,
    live: &Value,
    differences: &[Difference],
) -> Vec<(&'static str, Option<String>, String)> {
    let (live, wanted) = mask::pair(live, &manifest.object);
    let managers = Managers::of(&live);
    let told = differences.iter().map(|difference| {
        let path = &difference.path;
        let (live_value, wanted) = (value_at(&live, path), value_at(&wanted, path));
        let what = match difference.what {
            What::NoLongerDesired | What::Unclear => format!("{path} {}", difference.what),
            _ if live_value == wanted || path.0.is_empty() => format!("{path} {}", difference.what),
            _ => format!("{path}: {} -> {}", report::value(live_value), report::value(wanted)),
        };
        let whose = report::owners(&managers.owners(&live, path));
        ("drift", Some(report::full_name(&manifest.id)), format!("{what}  # {whose}"))
    });
    told.collect()
}
