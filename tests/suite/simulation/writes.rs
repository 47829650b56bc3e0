//! How the model answers what the loop writes.

use std::time::Duration;

use bpfman_config::cluster::Error;
use bpfman_config::manifest::Manifest;
use bpfman_config::reconcile::outcome::{Action as Done, Outcome};
use bpfman_config::reconcile::watch::finalizer::FINALIZER;
use bpfman_config::reconcile::watch::{Input, Task};
use serde_json::Value;

use super::driver::{Condition, Next, Simulation};
use super::world;

impl Simulation {
    /// The server answers the first apply of a pass.
    pub(super) fn apply(&mut self, mut tasks: Vec<Task>) -> Result<(), String> {
        if tasks.is_empty() || self.aborted {
            return self.step(Input::PassEnded);
        }
        let (manifest, _) = tasks.remove(0);
        self.requests += 1;
        self.patches.push((self.now, manifest.id.clone()));
        let answered = self.condition == Condition::Up;
        let arrives = answered || (self.condition == Condition::Silent && self.random.percent(50));
        let applied = if arrives { self.applied(&manifest, answered)? } else { Err(world::unreachable()) };
        let (applied, after) = match self.disturbed() {
            Some((_, after)) if self.condition == Condition::Silent => (Err(world::silent(30)), after * 3),
            Some((error, after)) => (Err(error), after),
            None => (applied, Duration::from_millis(self.random.between(1, 20))),
        };
        let outcome = match applied {
            Ok((object, true)) => Outcome { object: Some(object), ..Outcome::of(Done::Created) },
            Ok((object, false)) => Outcome { object: Some(object), ..Outcome::of(Done::Configured) },
            Err(error) => Outcome::of(Done::Failed(error)),
        };
        self.broadcast();
        let next = Next::Applied(manifest.id.clone(), Box::new(outcome), tasks);
        self.at(self.now + after, next);
        Ok(())
    }

    pub(super) fn applied(
        &mut self,
        manifest: &Manifest,
        answered: bool,
    ) -> Result<Result<(Value, bool), Error>, String> {
        let (id, desired) = (&manifest.id, &manifest.object);
        if id.kind == "Namespace" && self.server.get(id).is_none() {
            return Ok(Err(Error::NamespaceMissing(id.name.clone())));
        }
        self.check_patch(id, desired)?;
        let result = self.server.apply(id, desired);
        if let Ok((object, _)) = &result
            && answered
        {
            let version = object["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
            self.patched.insert(id.clone(), (version, desired.clone()));
        }
        Ok(result)
    }

    pub(super) fn set_finalizers(&mut self, config: &Value, finalizers: &[String]) {
        let id = world::config();
        let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
        let live = self.server.get(&id).cloned();
        let adds = finalizers.iter().any(|finalizer| finalizer == FINALIZER);
        let result = match live {
            _ if self.finalizer_forbidden => Err(world::forbidden()),
            Some(live) if version(&live) == version(config) => {
                if matches!(self.condition, Condition::Up | Condition::Silent) {
                    self.server.update(&id, |object| {
                        object["metadata"]["finalizers"] = serde_json::json!(finalizers);
                        object["metadata"]["managedFields"] = world::managers_of_finalizers(finalizers);
                    });
                    self.finalizer_is_ours = adds;
                }
                let mut answer = live;
                answer["metadata"]["finalizers"] = serde_json::json!(finalizers);
                answer["metadata"]["resourceVersion"] = serde_json::json!(self.server.revision.to_string());
                Ok(self.server.get(&id).cloned().unwrap_or(answer))
            }
            _ => Err(world::stale()),
        };
        let (result, after) = match self.disturbed() {
            Some((error, after)) => (Err(error), after),
            None => (result, Duration::from_millis(self.random.between(1, 20))),
        };
        self.broadcast();
        self.at(self.now + after, Next::Input(Input::FinalizersSet(result)));
    }

    pub(super) fn read_config(&mut self) {
        let config = Ok(self.server.get(&world::config()).cloned());
        let (result, after) = match self.disturbed() {
            Some((error, after)) => (Err(error), after),
            None => (config, Duration::from_millis(self.random.between(1, 20))),
        };
        self.at(self.now + after, Next::Input(Input::ConfigRead(result)));
    }
}
