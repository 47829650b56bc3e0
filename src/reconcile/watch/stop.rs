//! The one way in which the loop ends: the pass in flight, then the finalizer, within five seconds.

use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use super::finalizer::Next;
use super::{Action, Event, Live, State, Time};
use crate::cluster::Error;
use crate::config::Lifecycle;
use crate::exit::Exit;

/// How long the clean-up may take.
const LIMIT: Duration = Duration::from_secs(5);
/// How long it may go on after a second signal.
const LIMIT_AFTER_SECOND: Duration = Duration::from_secs(1);
/// How long requests of the pass may go on.
const PASS_LIMIT: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(200);

/// The end of the loop, as far as it has come.
#[derive(Debug)]
pub struct Stopping {
    exit: Exit,
    deadline: Time,
    pass_deadline: Time,
    /// The Config as it was read for the clean-up.
    config: Option<Live>,
    reads: bool,
    retry_at: Time,
    error: Option<Error>,
    signals: u32,
}

impl Stopping {
    /// When the clean-up goes on.
    pub fn wake_at(&self) -> Time {
        self.deadline.min(self.retry_at)
    }

    /// The finalizers were set, or not.
    pub fn finalizers_set(&mut self, error: Option<Error>) {
        self.config = None;
        self.retry_at = Time::ZERO;
        if error.is_some() {
            self.error = error;
        }
    }
}

impl State {
    /// Begins the end, or hastens it.
    pub(super) fn stop(&mut self, exit: Exit, now: Time, out: &mut Vec<Action>) {
        if let Some(stopping) = &mut self.stopping {
            stopping.signals += 1;
            let limit = if stopping.signals == 1 { LIMIT_AFTER_SECOND } else { Duration::ZERO };
            stopping.deadline = stopping.deadline.min(now + limit);
            return;
        }
        if self.pass_is_running {
            out.push(Action::Abort);
        }
        self.finalizer.hurry();
        // What is known of the Config is good enough for the first try.
        let config = self.connections.get(&self.config_id).and_then(|watched| watched.known.live());
        self.stopping = Some(Stopping {
            exit,
            deadline: now + LIMIT,
            pass_deadline: now + PASS_LIMIT,
            config: config.cloned(),
            reads: false,
            retry_at: now,
            error: None,
            signals: 0,
        });
    }

    pub(super) fn config_read(&mut self, answer: Result<Option<Value>, Error>, now: Time) {
        if let Some(stopping) = &mut self.stopping {
            stopping.reads = false;
            match answer {
                Ok(config) => {
                    stopping.config = Some(config.map(Rc::new));
                    stopping.retry_at = now;
                }
                Err(error) => {
                    stopping.error = Some(error);
                    stopping.retry_at = now + PAUSE;
                }
            }
        }
    }

    pub(super) fn advance_stop(&mut self, now: Time, out: &mut Vec<Action>) {
        let Some(stopping) = &mut self.stopping else { return };
        if self.pass_is_running && now < stopping.pass_deadline.min(stopping.deadline) {
            stopping.retry_at = stopping.pass_deadline;
            return;
        }
        let exit = stopping.exit;
        if !self.behaviour.finalizer || self.behaviour.observe || !self.finalizer.may_be_anywhere() {
            return out.push(Action::End(exit));
        }
        if now >= stopping.deadline {
            let reason = stopping.error.as_ref().map_or("there was no time left".to_owned(), ToString::to_string);
            out.push(Action::Report(Event::FinalizerLeft(reason)));
            return out.push(Action::End(exit));
        }
        stopping.retry_at = stopping.retry_at.max(now);
        if self.finalizer.is_in_flight() || stopping.reads {
            stopping.retry_at = stopping.deadline;
            return;
        }
        if stopping.error.as_ref().is_some_and(|error| !is_worth_retrying(error)) {
            let reason = stopping.error.as_ref().map(ToString::to_string).unwrap_or_default();
            out.push(Action::Report(Event::FinalizerLeft(reason)));
            return out.push(Action::End(exit));
        }
        self.remove_finalizer(now, out);
    }

    fn remove_finalizer(&mut self, now: Time, out: &mut Vec<Action>) {
        let Some(stopping) = &mut self.stopping else { return };
        match &stopping.config {
            None if now < stopping.retry_at => {}
            None => {
                stopping.reads = true;
                stopping.retry_at = stopping.deadline;
                out.push(Action::ReadConfig);
            }
            Some(Some(config)) if self.finalizer.is_ours(&Lifecycle::of(config)) => {
                match self.finalizer.next(&Lifecycle::of(config), false, now) {
                    Next::Done => out.push(Action::End(stopping.exit)),
                    Next::Wait => {}
                    Next::Later(at) => stopping.retry_at = at,
                    Next::Send(finalizers) => {
                        stopping.retry_at = stopping.deadline;
                        out.push(Action::SetFinalizers(Rc::clone(config), finalizers));
                    }
                }
            }
            // Deleted, or another Config by now.
            Some(_) => out.push(Action::End(stopping.exit)),
        }
    }
}

fn is_worth_retrying(error: &Error) -> bool {
    error.is_stale() || error.is_no_answer()
}
