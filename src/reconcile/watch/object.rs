//! One desired object: how it compares with what is live, and whether an apply is due.
//!
//! Pure. Reports each state once.

use std::rc::Rc;

use serde_json::Value;

use super::attempts::{self, Attempts};
use super::backoff::Jitter;
use super::fights::Fights;
use super::{Action, Behaviour, Deviation, Event, Live, Time};
use crate::cluster::Error;
use crate::compare::{self, Difference, Verdict, What};
use crate::manifest::Manifest;
use crate::path::FieldPath;
use crate::reconcile::outcome::{Action as Done, Outcome};

/// One desired object.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) manifest: Rc<Manifest>,
    pub(super) attempts: Attempts,
    fights: Fights,
    /// Whether fields of others blocked the last apply.
    is_blocked: bool,
    /// The last comparison and the live object that it was made with.
    compared: Option<(Live, Rc<Comparison>)>,
    /// The state that was reported last.
    told: Option<Rc<Comparison>>,
    /// The apply in flight: what is sent, and the paths that it sets.
    applying: Option<(Rc<Manifest>, Vec<FieldPath>)>,
}

/// How an object compares with what is live.
#[derive(Debug, PartialEq)]
pub(super) enum Comparison {
    InSync,
    Missing,
    Terminating,
    /// Where it differs, with the live values.
    Differs(Vec<(Difference, Option<Value>)>),
}

/// What is to be done about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// It is as desired, or as near as an apply gets; then it is tried again some time.
    InSync(Option<Time>),
    /// It deviates, and only an event can change that.
    Wait,
    /// It deviates; an apply is due then.
    At(Time),
    /// It deviates; an apply is due.
    Now,
}

impl Object {
    pub(super) fn new(manifest: Manifest) -> Self {
        Self {
            manifest: Rc::new(manifest),
            attempts: Attempts::default(),
            fights: Fights::default(),
            is_blocked: false,
            compared: None,
            told: None,
            applying: None,
        }
    }

    /// Whether it was as desired when it was compared last.
    pub(super) fn is_in_sync(&self) -> bool {
        self.compared.as_ref().is_some_and(|(_, comparison)| **comparison == Comparison::InSync)
    }

    /// Whether fields of others blocked the last apply, and it may not remove them.
    pub(super) fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Something else is desired from now on.
    pub(super) fn replace(&mut self, manifest: Manifest) {
        if self.manifest.object != manifest.object {
            self.fights.forget();
            self.compared = None;
            self.manifest = Rc::new(manifest);
        }
    }

    /// Decides what to do about the object, given what is live of it.
    pub(super) fn decide(
        &mut self,
        live: Option<&Rc<Value>>,
        behaviour: &Behaviour,
        now: Time,
        out: &mut Vec<Action>,
    ) -> Decision {
        let comparison = self.compare(live, behaviour);
        match (&*comparison, live) {
            (Comparison::InSync, _) => {
                self.attempts.succeeded();
                self.told = None;
                return Decision::InSync(None);
            }
            (Comparison::Terminating, _) => {
                self.tell(live, behaviour, out);
                return Decision::Wait;
            }
            (Comparison::Differs(differences), Some(live)) => {
                let differences: Vec<_> = differences.iter().map(|(difference, _)| difference.clone()).collect();
                if self.attempts.cannot_improve(&self.manifest, live, &differences, now) {
                    self.attempts.succeeded();
                    self.told = None;
                    return Decision::InSync(self.attempts.recheck_at());
                }
            }
            _ => {}
        }
        if behaviour.observe {
            self.tell(live, behaviour, out);
            return Decision::Wait;
        }
        if let Some(until) = self.fights.paused_until(now) {
            return Decision::At(until);
        }
        let retry_at = self.attempts.retry_at(&self.manifest, &live.cloned(), now);
        if retry_at > now {
            return Decision::At(retry_at);
        }
        self.fight(live, behaviour, now, out).map_or(Decision::Now, Decision::At)
    }

    /// Begins to leave the object alone if an apply would be another round of a fight; returns until when.
    fn fight(
        &mut self,
        live: Option<&Rc<Value>>,
        behaviour: &Behaviour,
        now: Time,
        out: &mut Vec<Action>,
    ) -> Option<Time> {
        let paths = self.paths();
        let path = self.fights.begins(&paths, now)?.clone();
        let until = self.fights.paused_until(now)?;
        let mut deviation = live.and_then(|live| self.deviation(live, behaviour));
        if let Some(deviation) = &mut deviation {
            deviation.differences.retain(|difference| difference.path == path);
        }
        let id = self.manifest.id.clone();
        out.push(Action::Report(Event::Fight { id, deviation, pause: until.saturating_sub(now) }));
        Some(until)
    }

    /// Notes that an apply is sent, and reports why.
    pub(super) fn begin(&mut self, live: Option<&Rc<Value>>, behaviour: &Behaviour, out: &mut Vec<Action>) {
        self.applying = Some((Rc::clone(&self.manifest), self.paths()));
        self.tell(live, behaviour, out);
    }

    /// Takes over what became of the apply.
    pub(super) fn applied(
        &mut self,
        outcome: Outcome,
        live: Live,
        behaviour: &Behaviour,
        now: Time,
        jitter: &mut Jitter,
        out: &mut Vec<Action>,
    ) {
        let Some((manifest, paths)) = self.applying.take() else { return };
        let is_news = match &outcome.action {
            Done::Created | Done::Configured | Done::Recreated | Done::Applied => true,
            Done::Skipped(_) | Done::Blocked => !self.attempts.has_failed(),
            // That the server is away is reported once, not for each object; what was changed meanwhile is looked at again.
            Done::Unchanged | Done::Failed(Error::Unreachable { .. }) => false,
            Done::Failed(error) => !error.is_stale() && self.attempts.error() != Some(error),
        };
        let (action, object) = (outcome.action.clone(), outcome.object.clone());
        if is_news {
            out.push(Action::Report(Event::Applied(Rc::clone(&manifest), outcome)));
        }
        if !Rc::ptr_eq(&manifest, &self.manifest) {
            return; // something else is desired by now, and was not tried
        }
        self.is_blocked = action == Done::Blocked;
        match action {
            Done::Skipped(_) | Done::Blocked => self.attempts.failed(&self.manifest, live, None, now, jitter),
            Done::Failed(error) => self.attempts.failed(&self.manifest, live, Some(error), now, jitter),
            Done::Created | Done::Configured | Done::Recreated | Done::Applied | Done::Unchanged => {
                self.attempts.succeeded();
                self.told = None;
                self.fights.applied(&paths, now);
                if let Some(object) = object.or_else(|| live.as_deref().cloned()) {
                    self.remain(object, behaviour, now, out);
                }
            }
        }
    }

    /// The pass ended before the object's turn.
    pub(super) fn not_applied(&mut self, live: Live, now: Time, jitter: &mut Jitter) {
        if self.applying.take().is_some() {
            self.attempts.failed(&self.manifest, live, None, now, jitter);
        }
    }

    /// Remembers what the server stored otherwise than it was applied: applying it again would change as little.
    fn remain(&mut self, object: Value, behaviour: &Behaviour, now: Time, out: &mut Vec<Action>) {
        let Verdict::Differs(differences) = verdict(&self.manifest, &object, behaviour) else {
            return;
        };
        let known = self.attempts.is_known(&self.manifest, &object, &differences);
        let mut changed = differences.clone();
        changed.retain(|difference| attempts::is_changed_by_admission(&self.manifest, difference));
        self.attempts.remain(&self.manifest, &object, differences, now);
        if !changed.is_empty() && !known {
            let deviation = Deviation::new(&self.manifest, &Rc::new(object), changed, behaviour);
            out.push(Action::Report(Event::ChangedByAdmission(deviation)));
        }
    }

    fn compare(&mut self, live: Option<&Rc<Value>>, behaviour: &Behaviour) -> Rc<Comparison> {
        if let Some((of, comparison)) = &self.compared
            && is_same(of.as_ref(), live)
        {
            return Rc::clone(comparison);
        }
        let comparison = match live {
            None => Comparison::Missing,
            Some(object) => match verdict(&self.manifest, object, behaviour) {
                Verdict::InSync => Comparison::InSync,
                Verdict::Terminating => Comparison::Terminating,
                Verdict::Differs(differences) => Comparison::Differs(attempts::with_values(object, differences)),
            },
        };
        let comparison = Rc::new(comparison);
        self.compared = Some((live.cloned(), Rc::clone(&comparison)));
        comparison
    }

    /// Reports the state, once.
    fn tell(&mut self, live: Option<&Rc<Value>>, behaviour: &Behaviour, out: &mut Vec<Action>) {
        let Some((_, comparison)) = &self.compared else { return };
        if self.told.as_ref() == Some(comparison) {
            return;
        }
        self.told = Some(Rc::clone(comparison));
        let id = self.manifest.id.clone();
        out.push(Action::Report(match (&**comparison, live.and_then(|live| self.deviation(live, behaviour))) {
            (Comparison::Terminating, _) => Event::Terminating(id),
            (_, Some(deviation)) => Event::Deviates(deviation),
            (_, None) => Event::Missing(id),
        }));
    }

    fn deviation(&self, live: &Rc<Value>, behaviour: &Behaviour) -> Option<Deviation> {
        let Some((_, comparison)) = &self.compared else { return None };
        let Comparison::Differs(differences) = &**comparison else { return None };
        let differences = differences.iter().map(|(difference, _)| difference.clone()).collect();
        Some(Deviation::new(&self.manifest, live, differences, behaviour))
    }

    /// The paths that an apply would set; the root for an object that is missing.
    fn paths(&self) -> Vec<FieldPath> {
        match self.compared.as_ref().map(|(_, comparison)| &**comparison) {
            Some(Comparison::Differs(differences)) => {
                differences.iter().map(|(difference, _)| difference.path.clone()).collect()
            }
            _ => vec![FieldPath::default()],
        }
    }
}

/// How an object compares; with `--exact` what others set counts, too, but on a namespace, which belongs to those that use it.
fn verdict(manifest: &Manifest, live: &Value, behaviour: &Behaviour) -> Verdict {
    let Behaviour { field_manager, exact, .. } = behaviour;
    match compare::in_sync(&manifest.object, live, field_manager) {
        Verdict::InSync if *exact && manifest.id.kind != "Namespace" => {
            let foreign = compare::foreign(&manifest.object, live, field_manager);
            let differences: Vec<_> =
                foreign.into_iter().map(|field| Difference { path: field.path, what: What::NoLongerDesired }).collect();
            if differences.is_empty() { Verdict::InSync } else { Verdict::Differs(differences) }
        }
        verdict => verdict,
    }
}

fn is_same(one: Option<&Rc<Value>>, other: Option<&Rc<Value>>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => Rc::ptr_eq(one, other),
        _ => false,
    }
}
