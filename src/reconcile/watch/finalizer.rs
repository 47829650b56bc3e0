//! The finalizer on the Config: put on before the first object is touched, taken off when the Config goes or we do.

use serde_json::Value;

use super::{Event, Watch};

/// The finalizer that keeps objects from being made again while the Config is being deleted
/// (<https://github.com/bpfman/bpfman-operator/pull/465>).
pub const FINALIZER: &str = "bpfman.io/config-finalizer";

impl Watch<'_> {
    /// Puts the finalizer on, or takes it off a Config that is being deleted; false when there is nothing to reconcile.
    pub(super) async fn tend_finalizer(&mut self) -> bool {
        let Some((config, object)) = &mut self.config else { return false };
        let has = config.finalizers.iter().any(|finalizer| finalizer == FINALIZER);
        let wanted = !config.deleting;
        if self.behaviour.finalizer && !self.behaviour.observe && has != wanted {
            let mut finalizers = config.finalizers.clone();
            finalizers.retain(|finalizer| finalizer != FINALIZER);
            if wanted {
                finalizers.push(FINALIZER.to_owned());
            }
            match self.cluster.set_finalizers(&self.config_id, object, &finalizers).await {
                Ok(changed) => {
                    config.finalizers = finalizers;
                    *object = changed;
                    self.added_finalizer = wanted;
                    (self.tell)(Event::Finalizer(wanted));
                    // As the operator: the objects wait for the event that this change makes.
                    return false;
                }
                // Without the finalizer the objects are kept all the same; the next event brings the next try.
                Err(error) if self.memory.is_news(&self.config_id, &error) => {
                    (self.tell)(Event::Trouble(&self.config_id, &error));
                }
                Err(_) => {}
            }
        }
        if config.deleting {
            (self.tell)(Event::Deleting);
        }
        !config.deleting
    }

    pub(super) async fn take_finalizer_off(&mut self) {
        if !self.added_finalizer {
            return;
        }
        let removed = match self.cluster.get(&self.config_id).await {
            Ok(None) => return,
            Ok(Some(object)) => {
                let finalizers = finalizers_of(&object).filter(|finalizer| finalizer != FINALIZER).collect::<Vec<_>>();
                self.cluster.set_finalizers(&self.config_id, &object, &finalizers).await
            }
            Err(error) => Err(error),
        };
        match removed {
            Ok(_) => (self.tell)(Event::Finalizer(false)),
            Err(error) => (self.tell)(Event::Trouble(&self.config_id, &error)),
        }
    }
}

fn finalizers_of(object: &Value) -> impl Iterator<Item = String> {
    let list = object.pointer("/metadata/finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned)
}
