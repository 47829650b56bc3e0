//! The condition that ends the loop by itself, and what it lacks when its time is over: `--until`.

use std::fmt;

use super::config::Told;
use super::object::Object;
use super::state::State;
use super::{Action, Event, Time};
use crate::cluster::Error;
use crate::exit::Exit;
use crate::manifest::ObjectId;
use crate::reconcile::rollout::Progress;

/// What the loop waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Every object is as desired.
    InSync,
    /// An object deviates.
    Drift,
    /// Every object is as desired, and every node runs the newest pods.
    Ready,
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InSync => "in-sync",
            Self::Drift => "drift",
            Self::Ready => "ready",
        })
    }
}

/// Why the condition is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// The server gives no usable answer.
    Answer,
    /// There is no Config.
    Config,
    /// The Config is being deleted.
    DeletedConfig,
    /// The Config is invalid.
    ValidConfig,
    /// The server refuses to apply an object.
    Applied(Error),
    /// Fields of others block an object.
    Unblocked,
    /// The state of an object is unknown.
    Known(Option<Error>),
    /// An object deviates.
    InSync,
    /// A rollout is not complete.
    RolledOut(Progress),
    /// No object deviates.
    Drift,
}

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer => f.write_str("the server gives no usable answer"),
            Self::Config => f.write_str("the Config does not exist"),
            Self::DeletedConfig => f.write_str("the Config is being deleted"),
            Self::ValidConfig => f.write_str("the Config is invalid"),
            Self::Applied(error) => write!(f, "cannot be applied: {error}"),
            Self::Unblocked => f.write_str("fields that others set block it"),
            Self::Known(Some(error)) => write!(f, "cannot be watched: {error}"),
            Self::Known(None) => f.write_str("not read yet"),
            Self::InSync => f.write_str("not in sync"),
            Self::RolledOut(progress) => write!(f, "{progress}"),
            Self::Drift => f.write_str("all objects are in sync"),
        }
    }
}

impl Lacking {
    /// A refusal does not end by waiting longer.
    fn exit(&self) -> Exit {
        match self {
            Self::ValidConfig => Exit::Input,
            Self::Unblocked => Exit::Refused,
            Self::Applied(error) | Self::Known(Some(error)) if !error.is_no_answer() => Exit::Refused,
            _ => Exit::NoAnswer,
        }
    }
}

impl State {
    /// Ends the loop if the condition that it was to run for is met, or its time is over.
    pub(super) fn check_until(&mut self, now: Time, out: &mut Vec<Action>) {
        let Some((until, timeout)) = self.behaviour.until else { return };
        let deviates =
            || out.iter().any(|action| matches!(action, Action::Report(Event::Deviates(_) | Event::Missing(_))));
        let met = match until {
            Until::InSync => self.told_in_sync,
            Until::Drift => deviates(),
            Until::Ready => self.told_in_sync && self.not_rolled_out().is_none(),
        };
        if met {
            self.stop(Exit::Done, now, out);
        } else if now >= timeout {
            let (id, lacking) = self.lacking(until);
            let exit = lacking.exit();
            out.push(Action::Report(Event::TimedOut { until, id, lacking }));
            self.stop(exit, now, out);
        }
    }

    /// What keeps the condition from being met, the first cause first, and of which object it is told.
    fn lacking(&self, until: Until) -> (Option<ObjectId>, Lacking) {
        if self.connections.is_known_to_be_out() {
            return (None, Lacking::Answer);
        }
        let told = match self.config.told {
            Some(Told::Gone) => Some(Lacking::Config),
            Some(Told::Deleting) => Some(Lacking::DeletedConfig),
            Some(Told::Invalid(_)) => Some(Lacking::ValidConfig),
            None => None,
        };
        if let Some(lacking) = told {
            return (None, lacking);
        }
        let refused = self.order.iter().find_map(|id| Some((id, self.objects.get(id)?.attempts.error()?)));
        if let Some((id, error)) = refused {
            return (Some(id.clone()), Lacking::Applied(error.clone()));
        }
        if let Some(id) = self.order.iter().find(|id| self.objects.get(id).is_some_and(Object::is_blocked)) {
            return (Some(id.clone()), Lacking::Unblocked);
        }
        let mut watched = self.order.iter().chain([&self.config_id]);
        if let Some(id) = watched.find(|id| !self.connections.is_open(id)) {
            let error = self.connections.get(id).and_then(|watched| watched.error.clone());
            return (Some(id.clone()), Lacking::Known(error));
        }
        if until == Until::Drift {
            return (None, Lacking::Drift);
        }
        let deviating = || self.order.iter().find(|id| self.objects.get(id).is_none_or(|object| !object.is_in_sync()));
        match self.not_rolled_out().filter(|_| self.told_in_sync) {
            Some((id, progress)) => (Some(id), Lacking::RolledOut(progress)),
            None => (deviating().cloned(), Lacking::InSync),
        }
    }

    fn not_rolled_out(&self) -> Option<(ObjectId, Progress)> {
        let rolls = self.order.iter().filter(|id| id.kind == "DaemonSet");
        let progress = |id: &ObjectId| Progress::of(&self.live(id).unwrap_or_default());
        rolls.map(|id| (id.clone(), progress(id))).find(|(_, progress)| !progress.done())
    }
}
