//! What is known of the attempts to apply one object: when to try again after a failure, and what an apply cannot improve.
//!
//! Pure. Without it, an apply that changes nothing would be sent again on each event, and a refused one on each of them too.

use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use super::backoff::{Backoff, Jitter};
use super::{Live, Time};
use crate::cluster::Error;
use crate::compare::{Difference, What};
use crate::manifest::Manifest;
use crate::ownership::value_at;
use crate::path::FieldPath;

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Without an answer nothing is known of the object; the server may be back at any moment.
const LONGEST_PAUSE_WITHOUT_ANSWER: Duration = Duration::from_secs(5);
/// How soon a change of the live object may end a pause again.
const BETWEEN_CHANGES: Duration = Duration::from_secs(2);

/// How soon an object that admission changes is applied again.
const FIRST_RECHECK: Duration = Duration::from_secs(10 * 60);
const LONGEST_RECHECK: Duration = Duration::from_secs(2 * 60 * 60);

/// The attempts to apply one object.
#[derive(Debug, Default)]
pub struct Attempts {
    failed: Option<Failed>,
    backoff: Backoff,
    converged: Option<Converged>,
}

/// The differences that remained after an apply that the server accepted.
#[derive(Debug)]
struct Converged {
    manifest: Rc<Manifest>,
    /// With their live values.
    remaining: Vec<(Difference, Option<Value>)>,
    /// When to try again: a webhook or a policy may be gone by then.
    until: Option<Time>,
    times: u32,
}

#[derive(Debug)]
struct Failed {
    manifest: Rc<Manifest>,
    live: Live,
    at: Time,
    retry_at: Time,
    /// The error, unless the object was only skipped.
    error: Option<Error>,
}

impl Attempts {
    /// The object is as desired: past failures do not matter any more.
    pub fn succeeded(&mut self) {
        self.failed = None;
        self.backoff.reset();
    }

    /// An apply failed, or was skipped because of the failure of another object (no error).
    pub fn failed(
        &mut self,
        manifest: &Rc<Manifest>,
        live: Live,
        error: Option<Error>,
        now: Time,
        jitter: &mut Jitter,
    ) {
        let unanswered = error.as_ref().is_some_and(Error::is_no_answer);
        let cap = if unanswered { LONGEST_PAUSE_WITHOUT_ANSWER } else { LONGEST_PAUSE };
        let pause = self.backoff.next(FIRST_PAUSE, cap, jitter);
        self.failed = Some(Failed { manifest: Rc::clone(manifest), live, at: now, retry_at: now + pause, error });
    }

    /// Why the last attempt failed.
    pub fn error(&self) -> Option<&Error> {
        self.failed.as_ref()?.error.as_ref()
    }

    /// Whether the last attempt failed or was skipped.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Ends the pause: what was in the way has changed.
    pub fn unblock(&mut self, now: Time) {
        if let Some(failed) = &mut self.failed {
            failed.retry_at = failed.retry_at.min(now);
        }
    }

    /// When the next attempt may be made; a template that was changed, or a live object, ends the pause.
    pub fn retry_at(&mut self, manifest: &Rc<Manifest>, live: &Live, now: Time) -> Time {
        let Some(failed) = &mut self.failed else { return now };
        if failed.manifest.object != manifest.object {
            self.failed = None;
            self.backoff.reset();
            return now;
        }
        if has_moved(&failed.live, live) {
            // Who only came too late tries again at once.
            let pause =
                if failed.error.as_ref().is_some_and(Error::is_stale) { Duration::ZERO } else { BETWEEN_CHANGES };
            failed.retry_at = failed.retry_at.min(failed.at + pause).max(now);
            failed.live.clone_from(live);
        }
        failed.retry_at
    }

    /// Remembers the differences that remain although the server accepted the apply.
    pub fn remain(&mut self, manifest: &Rc<Manifest>, live: &Value, differences: Vec<Difference>, now: Time) {
        let is_changed = differences.iter().any(|difference| is_changed_by_admission(manifest, difference));
        let times = self.converged.as_ref().map_or(0, |converged| converged.times + 1);
        let pause = FIRST_RECHECK.saturating_mul(1 << times.min(8)).min(LONGEST_RECHECK);
        let remaining = with_values(live, differences);
        let until = is_changed.then(|| now + pause);
        self.converged = Some(Converged { manifest: Rc::clone(manifest), remaining, until, times });
    }

    /// Whether `differences` are among those that an apply left as they are.
    pub fn cannot_improve(&self, manifest: &Manifest, live: &Value, differences: &[Difference], now: Time) -> bool {
        self.is_known(manifest, live, differences) && self.recheck_at().is_none_or(|until| now < until)
    }

    /// The same, however long ago that was.
    pub fn is_known(&self, manifest: &Manifest, live: &Value, differences: &[Difference]) -> bool {
        self.converged.as_ref().is_some_and(|Converged { manifest: of, remaining, .. }| {
            of.object == manifest.object
                && differences.iter().all(|difference| {
                    let value = value_at(live, &difference.path);
                    remaining.iter().any(|(known, live)| known == difference && live.as_ref() == value)
                })
        })
    }

    /// When an apply may improve what it could not before.
    pub fn recheck_at(&self) -> Option<Time> {
        self.converged.as_ref().and_then(|converged| converged.until)
    }
}

pub(super) fn with_values(live: &Value, differences: Vec<Difference>) -> Vec<(Difference, Option<Value>)> {
    let value = |path: &FieldPath| if path.0.is_empty() { None } else { value_at(live, path).cloned() };
    differences.into_iter().map(|difference| (value(&difference.path), difference)).map(|(v, d)| (d, v)).collect()
}

/// Whether the server stores another value than the one that was applied: a webhook or a policy changes it.
pub(super) fn is_changed_by_admission(manifest: &Manifest, difference: &Difference) -> bool {
    let desired = value_at(&manifest.object, &difference.path);
    difference.what == What::OtherValue && desired.is_some_and(|value| !value.is_null())
}

fn has_moved(before: &Live, now: &Live) -> bool {
    match (before, now) {
        (None, None) => false,
        (Some(before), Some(now)) => !Rc::ptr_eq(before, now) && comparable(before) != comparable(now),
        _ => true,
    }
}

/// An object without what changes by itself: versions, status, and the times of ownership.
fn comparable(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
        metadata.remove("generation");
        let entries = metadata.get_mut("managedFields").and_then(Value::as_array_mut);
        for entry in entries.into_iter().flatten().filter_map(Value::as_object_mut) {
            entry.remove("time");
        }
    }
    object
}
