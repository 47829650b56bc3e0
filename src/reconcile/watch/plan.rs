//! What the loop does next: the finalizer, then the objects that deviate; and when it says that all is in sync.

use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use super::finalizer::Next;
use super::object::Decision;
use super::state::State;
use super::{Action, Event, Time};
use crate::compare::is_terminating;
use crate::config::Lifecycle;
use crate::manifest::ObjectId;
use crate::ownership::Managers;
use crate::reconcile::dependencies::needs_namespace;

/// After a pass, events are gathered for so long: a burst is one more pass.
pub const WINDOW: Duration = Duration::from_millis(500);
/// The field manager of bpfman-operator, which is its program's name.
const OPERATOR: &str = "bpfman-operator";
/// The next pass waits until changes have ceased for so long,
const CALM: Duration = Duration::from_millis(150);
/// but no longer than this.
const LONGEST_WINDOW: Duration = Duration::from_secs(2);
/// How long the first pass waits for objects whose state is not known yet.
const FIRST_LOOK: Duration = Duration::from_secs(2);

impl State {
    /// Cares for the finalizer; returns whether the objects may be applied.
    pub(super) fn care_for_finalizer(&mut self, config: &Rc<Value>, now: Time, out: &mut Vec<Action>) -> bool {
        let lifecycle = Lifecycle::of(config);
        let stays = !lifecycle.is_deleting();
        // Without anything to apply there is nothing to protect.
        if !self.manages_finalizer() || (stays && self.order.is_empty()) {
            return stays;
        }
        match self.finalizer.next(&lifecycle, stays, now) {
            Next::Done => stays,
            Next::Wait => false,
            Next::Later(at) => {
                self.try_at(at);
                stays // without the finalizer the objects are kept all the same
            }
            Next::Send(finalizers) => {
                out.push(Action::SetFinalizers(Rc::clone(config), finalizers));
                false
            }
        }
    }

    pub(super) fn try_at(&mut self, at: Time) {
        self.next_try = Some(self.next_try.map_or(at, |next| next.min(at)));
    }

    /// Decides about every object, and begins a pass if an apply is due.
    pub(super) fn plan(&mut self, now: Time, out: &mut Vec<Action>) {
        self.next_try = None;
        let config = self.live_config().cloned().flatten();
        self.told_in_sync &= config.is_some() && !self.connections.is_known_to_be_out();
        let Some(config) = config.filter(|_| !self.connections.is_out()) else { return };
        if !self.care_for_finalizer(&config, now, out) || self.pass_is_running || self.is_rendering {
            return;
        }
        if self.config.desired_uid != Lifecycle::of(&config).uid || self.is_first_look(now) {
            return;
        }
        self.look_for_operator(&config, out);
        let (mut due, mut all_in_sync) = (Vec::new(), true);
        for position in 0..self.order.len() {
            let Some(id) = self.order.get(position).cloned() else { continue };
            match self.decide(&id, now, out) {
                Some(Decision::InSync(again)) => {
                    if let Some(at) = again {
                        self.try_at(at);
                    }
                    continue;
                }
                None | Some(Decision::Wait) => {}
                Some(Decision::At(at)) => self.try_at(at),
                Some(Decision::Now) => due.push(id),
            }
            all_in_sync = false;
        }
        if all_in_sync {
            return self.tell_in_sync(out);
        }
        self.told_in_sync = false;
        self.leave_out_dependents(&mut due);
        self.begin_pass(&due, now, out);
    }

    /// What needs a namespace that does not exist waits for it, unless the namespace itself is tried in the same pass.
    fn leave_out_dependents(&self, due: &mut Vec<ObjectId>) {
        for id in self.order.iter().filter(|id| id.kind == "Namespace" && !due.contains(id)).collect::<Vec<_>>() {
            let known = self.connections.get(id).and_then(|watched| watched.known.live());
            if known.is_some_and(|live| live.as_ref().is_none_or(|live| is_terminating(live))) {
                let needs = |due: &ObjectId| {
                    self.objects.get(due).is_some_and(|object| needs_namespace(&object.manifest, &id.name))
                };
                due.retain(|due| !needs(due));
            }
        }
    }

    /// Reports once, at the start, that the operator has written these objects.
    pub(super) fn look_for_operator(&mut self, config: &Value, out: &mut Vec<Action>) {
        if std::mem::replace(&mut self.has_looked_for_operator, true) {
            return;
        }
        let wrote = |object: &Value| Managers::of(object).entries.iter().any(|entry| entry.owner.manager == OPERATOR);
        if wrote(config) || self.order.iter().filter_map(|id| self.live(id)).any(|live| wrote(&live)) {
            out.push(Action::Report(Event::Operator));
        }
    }

    /// Decides about one object; none when its state is unknown.
    pub(super) fn decide(&mut self, id: &ObjectId, now: Time, out: &mut Vec<Action>) -> Option<Decision> {
        let live = self.connections.get(id)?.known.live()?;
        Some(self.objects.get_mut(id)?.decide(live.as_ref(), &self.behaviour, now, out))
    }

    pub(super) fn begin_pass(&mut self, due: &[ObjectId], now: Time, out: &mut Vec<Action>) {
        if due.is_empty() {
            return;
        }
        let earliest = self.last_pass.map_or(now, |last| {
            let calm = if self.is_burst { self.last_change + CALM } else { now };
            (last + WINDOW).max(calm.min(last + LONGEST_WINDOW))
        });
        self.is_burst = earliest > now;
        if self.is_burst {
            return self.try_at(earliest);
        }
        let mut tasks = Vec::new();
        for id in due {
            let live = self.live(id);
            if let Some(object) = self.objects.get_mut(id) {
                object.begin(live.as_ref(), &self.behaviour, out);
                tasks.push((Rc::clone(&object.manifest), live));
            }
        }
        self.passes += 1;
        self.pass_is_running = true;
        self.told_in_sync = false;
        out.push(Action::Apply(tasks, self.config.desired_uid.clone()));
    }

    /// Whether some objects have not been seen at all, and may be in a moment.
    pub(super) fn is_first_look(&mut self, now: Time) -> bool {
        let end = self.rendered_at + FIRST_LOOK;
        let is_pending = |id: &ObjectId| {
            self.connections.get(id).is_none_or(|watched| watched.known.live().is_none() && watched.error.is_none())
        };
        let waits = now < end && self.order.iter().any(is_pending);
        if waits {
            self.try_at(end);
        }
        waits
    }

    pub(super) fn tell_in_sync(&mut self, out: &mut Vec<Action>) {
        let open = self.order.iter().chain([&self.config_id]).all(|id| self.connections.is_open(id));
        if !self.config.is_current {
            self.told_in_sync = false;
        } else if open && !self.told_in_sync {
            self.told_in_sync = true;
            out.push(Action::Report(Event::InSync(self.order.len())));
        }
    }
}
