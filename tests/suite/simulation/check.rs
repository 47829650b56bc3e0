//! The invariants.

use std::rc::Rc;
use std::time::Duration;

use bpfman_config::manifest::{Manifest, ObjectId};
use bpfman_config::reconcile::watch::{Input, Observation, finalizer::FINALIZER};
use serde_json::Value;

use super::driver::Simulation;
use super::server::finalizers;
use super::world;

type Tasks = [(Rc<Manifest>, Option<Rc<Value>>)];

impl Simulation {
    /// Remembers which Config the state has seen deleted.
    pub(super) fn learn(&mut self, input: &Input) {
        let Input::Seen(id, _, seen) = input else { return };
        if matches!(seen, Observation::Listed { .. }) {
            self.lost.remove(id);
        }
        if *id != world::config() {
            return;
        }
        let gone = match seen {
            Observation::Deleted(config) => Some(config),
            Observation::Changed(config) | Observation::Listed { object: Some(config), .. } => {
                Some(config).filter(|config| config["metadata"]["deletionTimestamp"].is_string())
            }
            _ => None,
        };
        if let Some(uid) = gone.and_then(|config| config["metadata"]["uid"].as_str()) {
            self.dead_uids.insert(uid.to_owned());
        }
    }

    /// Nothing is applied for a Config that the state has seen deleted, and nothing by a dry run.
    pub(super) fn check_apply(&self, tasks: &Tasks) -> Result<(), String> {
        if self.mode.observe {
            return Err("a dry run applies".to_owned());
        }
        for (manifest, _) in tasks {
            let uid = manifest.object.pointer("/metadata/ownerReferences/0/uid").and_then(Value::as_str);
            if uid.is_some_and(|uid| self.dead_uids.contains(uid)) && self.lost.is_empty() {
                return Err(format!("{} is applied for a Config that is deleted", manifest.id));
            }
        }
        Ok(())
    }

    /// A state is applied at most once.
    pub(super) fn check_patch(&self, id: &ObjectId, desired: &Value) -> Result<(), String> {
        let version = self.server.get(id).map(|live| live["metadata"]["resourceVersion"].clone());
        let Some((patched, of)) = self.patched.get(id) else { return Ok(()) };
        if version.as_ref().and_then(Value::as_str) == Some(patched) && of == desired && !self.lost.contains(id) {
            return Err(format!("{id} is applied again in the state that the last apply left"));
        }
        Ok(())
    }

    /// Whoever says "in sync" knows that it is so.
    pub(super) fn check_in_sync(&self) -> Result<(), String> {
        let Some(config) = self.server.get(&world::config()) else {
            return if self.is_on_its_way(&world::config()) {
                Ok(())
            } else {
                Err("in sync without a Config".to_owned())
            };
        };
        let Ok(desired) = world::render(config) else {
            return if self.is_on_its_way(&world::config()) { Ok(()) } else { Err("in sync, invalid".to_owned()) };
        };
        if self.is_on_its_way(&world::config()) {
            return Ok(());
        }
        for manifest in &desired.manifests {
            let knows = !self.is_on_its_way(&manifest.id);
            if knows && !self.is_excused(&manifest.id) && !self.is_as_desired(manifest) {
                return Err(format!("in sync, but {} deviates", manifest.id));
            }
        }
        Ok(())
    }

    fn is_as_desired(&self, manifest: &Manifest) -> bool {
        world::is_as_desired(self.server.get(&manifest.id), &manifest.object)
    }

    /// A webhook may change it, or somebody fights about it.
    fn is_excused(&self, id: &ObjectId) -> bool {
        let fights = self.fights.get(id).is_some_and(|until| self.now < *until + Duration::from_secs(1));
        // What a webhook has changed is as near as an apply got, until it is tried again.
        let changed = |live: &Value| live.pointer("/data/k1").is_some_and(|value| value == "webhook");
        fights || self.server.get(id).is_some_and(changed)
    }

    /// Some time after the last fault everything is as desired, and said to be.
    pub(super) fn check_settled(&self) -> Result<(), String> {
        let per_second = self.requests / self.now.as_secs().max(1);
        if per_second > 25 {
            return Err(format!("{} requests", self.requests));
        }
        if self.mode.observe {
            return Ok(());
        }
        let Some(config) = self.server.get(&world::config()) else { return Ok(()) };
        if config["metadata"]["deletionTimestamp"].is_string() {
            return Err("the Config is still being deleted".to_owned());
        }
        let Ok(desired) = world::render(config) else { return Ok(()) };
        let mut excused = false;
        for manifest in &desired.manifests {
            excused |= self.is_excused(&manifest.id);
            if !self.is_excused(&manifest.id) && !self.is_as_desired(manifest) {
                return Err(format!("{} deviates: {:?}", manifest.id, self.server.get(&manifest.id)));
            }
        }
        if !finalizers(config).iter().any(|finalizer| finalizer == FINALIZER) {
            return Err("the finalizer is missing".to_owned());
        }
        if !excused && !self.state.is_in_sync() {
            return Err("it does not say that all is in sync".to_owned());
        }
        Ok(())
    }

    /// The end comes in time and leaves no finalizer of ours, or says so.
    pub(super) fn check_end(&self) -> Result<(), String> {
        let took = self.stopped_at().map(|at| self.now.saturating_sub(at)).unwrap_or_default();
        if took > Duration::from_millis(5_100) {
            return Err(format!("the end took {took:?}"));
        }
        let config = self.server.get(&world::config());
        let is_left = config.is_some_and(|config| finalizers(config).iter().any(|finalizer| finalizer == FINALIZER));
        if is_left && self.finalizer_is_ours && !self.left {
            return Err("the finalizer is left in silence".to_owned());
        }
        if is_left && self.finalizer_is_ours && !self.was_disturbed {
            return Err("the finalizer is left although it could be removed".to_owned());
        }
        Ok(())
    }
}
