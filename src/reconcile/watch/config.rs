//! What the loop makes of the Config: gone, being deleted, invalid, or what is desired.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use super::object::Object;
use super::state::State;
use super::{Action, Desired, Event, Invalid, Time};
use crate::config::Lifecycle;
use crate::failure::Failure;

/// What is known about the Config beyond its object.
#[derive(Debug, Default)]
pub(super) struct Config {
    /// The object that was rendered last, successfully or not.
    pub(super) rendered: Option<Rc<Value>>,
    /// The uid of the Config that the desired objects are of.
    pub(super) desired_uid: Option<String>,
    /// Whether the desired objects are those of the Config as it is now.
    pub(super) is_current: bool,
    pub(super) told: Option<Told>,
    pub(super) warnings: BTreeSet<String>,
    pub(super) invalid_templates: Option<String>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Told {
    Gone,
    Deleting,
    Invalid(String),
}

impl State {
    pub(super) fn look_at_config(&mut self, out: &mut Vec<Action>) {
        let Some(live) = self.live_config().cloned() else { return };
        let Some(config) = live else {
            self.forget_desired();
            if self.finalizer.config_is_gone() {
                out.push(Action::Report(Event::Finalizer(false)));
            }
            return self.tell(Told::Gone, Event::Gone, out);
        };
        let lifecycle = Lifecycle::of(&config);
        if lifecycle.is_deleting() {
            return self.tell(Told::Deleting, Event::Deleting, out);
        }
        if self.config.desired_uid != lifecycle.uid {
            self.config.is_current = false;
        }
        if self.manages_finalizer() && self.finalizer.adopt(&config, &self.behaviour.field_manager) {
            out.push(Action::Report(Event::FinalizerAdopted));
        }
        let same =
            |field: &str| self.config.rendered.as_ref().is_some_and(|old| old.pointer(field) == config.pointer(field));
        if !(same("/spec") && same("/metadata/uid")) {
            self.config.is_current = false;
            self.config.rendered = Some(Rc::clone(&config));
            self.is_rendering = true;
            out.push(Action::Render(config, self.apis.served().cloned()));
        }
    }

    /// The Config does not exist: nothing is desired.
    pub(super) fn forget_desired(&mut self) {
        self.watches_others = true;
        self.objects.clear();
        self.order.clear();
        let warnings = std::mem::take(&mut self.config.warnings);
        self.config = Config { told: self.config.told.take(), warnings, ..Config::default() };
        self.told_in_sync = false;
    }

    pub(super) fn tell(&mut self, told: Told, event: Event, out: &mut Vec<Action>) {
        if self.config.told.as_ref() != Some(&told) {
            self.config.told = Some(told);
            self.told_in_sync = false;
            out.push(Action::Report(event));
        }
    }

    pub(super) fn rendered(&mut self, rendered: Result<Desired, Invalid>, now: Time, out: &mut Vec<Action>) {
        self.is_rendering = false;
        self.watches_others = true;
        let Some(config) = self.config.rendered.clone() else { return };
        let uid = Lifecycle::of(&config).uid;
        match rendered {
            Ok(desired) => {
                self.config.is_current = desired.invalid_templates.is_none();
                self.config.told = None;
                self.tell_remarks(&desired, out);
                self.config.desired_uid = uid;
                self.desire(&config, desired, now, out);
            }
            Err(Invalid::Config(failure)) => {
                let keeps = !self.order.is_empty() && self.config.desired_uid == uid;
                let event = Event::InvalidConfig(Rc::clone(&failure), keeps);
                self.tell(Told::Invalid(text_of(&failure)), event, out);
                if !keeps {
                    self.objects.clear();
                    self.order.clear();
                }
            }
            Err(Invalid::Templates(failure)) => {
                self.tell(Told::Invalid(text_of(&failure)), Event::InvalidTemplates(failure), out);
            }
        }
    }

    /// Reports what was not reported before about this Config and these templates.
    pub(super) fn tell_remarks(&mut self, desired: &Desired, out: &mut Vec<Action>) {
        let text = desired.invalid_templates.as_deref().map(text_of);
        if let Some(failure) = desired.invalid_templates.as_ref().filter(|_| text != self.config.invalid_templates) {
            out.push(Action::Report(Event::InvalidTemplates(Rc::clone(failure))));
            self.told_in_sync = false;
        }
        self.config.invalid_templates = text;
        let is_new = |text: &&String| !self.config.warnings.contains(*text);
        let warnings = desired.warnings.iter().filter(is_new).map(|text| Event::Warning(text.clone()));
        let notes = desired.notes.iter().filter(is_new).map(|text| Event::Note(text.clone()));
        out.extend(warnings.chain(notes).map(Action::Report));
        self.config.warnings = desired.warnings.iter().chain(&desired.notes).cloned().collect();
    }

    pub(super) fn desire(&mut self, config: &Value, desired: Desired, now: Time, out: &mut Vec<Action>) {
        let same = self.order.len() == desired.manifests.len()
            && self
                .order
                .iter()
                .zip(&desired.manifests)
                .all(|(id, manifest)| self.objects.get(id).is_some_and(|object| *object.manifest == *manifest));
        if same {
            return;
        }
        let name = config.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
        out.push(Action::Report(Event::Read(name, desired.namespace)));
        out.push(Action::Report(Event::Rendered(desired.manifests.len())));
        self.told_in_sync = false;
        self.rendered_at = now;
        self.order = desired.manifests.iter().map(|manifest| manifest.id.clone()).collect();
        for id in self.objects.keys().filter(|id| !self.order.contains(id)) {
            out.push(Action::Report(Event::NoLongerDesired(id.clone())));
        }
        self.objects.retain(|id, _| self.order.contains(id));
        for manifest in desired.manifests {
            match self.objects.get_mut(&manifest.id) {
                Some(object) => object.replace(manifest),
                None => drop(self.objects.insert(manifest.id.clone(), Object::new(manifest))),
            }
        }
    }
}

fn text_of(failure: &Failure) -> String {
    failure.errors.iter().map(|error| format!("{error:#}\n")).collect()
}
