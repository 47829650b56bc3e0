//! The finalizer on the Config: put on before the first object is touched, taken off when the Config goes or we do.

use super::{Event, Watch};
use crate::config::Lifecycle;

/// The finalizer that keeps objects from being made again while the Config is being deleted
/// (<https://github.com/bpfman/bpfman-operator/pull/465>).
pub const FINALIZER: &str = "bpfman.io/config-finalizer";

impl Watch<'_> {
    /// Puts the finalizer on, or takes it off a Config that is being deleted; false when there is nothing to reconcile.
    pub(super) async fn tend_finalizer(&mut self) -> bool {
        let Some(object) = &mut self.config else { return false };
        let lifecycle = Lifecycle::of(object);
        let has = lifecycle.has_finalizer(FINALIZER);
        let wanted = !lifecycle.is_deleting();
        if self.behaviour.finalizer && !self.behaviour.observe && has != wanted {
            let mut finalizers = others(lifecycle);
            finalizers.extend(wanted.then(|| FINALIZER.to_owned()));
            match self.cluster.set_finalizers(&self.config_id, object, &finalizers).await {
                Ok(changed) => {
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
        if !wanted {
            (self.tell)(Event::Deleting);
        }
        wanted
    }

    pub(super) async fn take_finalizer_off(&mut self) {
        if !self.added_finalizer {
            return;
        }
        let removed = match self.cluster.get(&self.config_id).await {
            Ok(None) => return,
            Ok(Some(object)) => {
                self.cluster.set_finalizers(&self.config_id, &object, &others(Lifecycle::of(&object))).await
            }
            Err(error) => Err(error),
        };
        match removed {
            Ok(_) => (self.tell)(Event::Finalizer(false)),
            Err(error) => (self.tell)(Event::Trouble(&self.config_id, &error)),
        }
    }
}

/// The finalizers of others.
fn others(lifecycle: Lifecycle) -> Vec<String> {
    lifecycle.finalizers.into_iter().filter(|finalizer| finalizer != FINALIZER).collect()
}
