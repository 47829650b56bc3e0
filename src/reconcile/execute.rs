//! Executes the plan of all objects, stage by stage: what others need comes first, one object's failure holds up only what depends on it.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use serde_json::Value;

use super::dependencies::Dependencies;
use super::object::{Announce, apply_object};
use super::outcome::{Action, Outcome};
use super::policy::{DryRun, Policy};
use super::{IN_FLIGHT, Live};
use crate::cluster::{Cluster, Error};
use crate::config::Lifecycle;
use crate::manifest::{Manifest, ObjectId, Stage};
use crate::signals::Stop;

/// How long, and how often, an object waits for its kind to be served once that was defined.
const DEFINITION_WAIT: Duration = Duration::from_millis(200);
const MOST_WAITS: usize = 50;

/// The Config that owns the objects.
#[derive(Clone, Debug)]
pub struct Owner {
    /// Its identity.
    pub id: ObjectId,
    /// The uid that the owner references carry.
    pub uid: String,
}

/// One execution: on which cluster, and what it may do.
#[derive(Clone, Copy)]
pub struct Execution<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// What it may do.
    pub policy: Policy<'a>,
    /// The Config that must still be there when an object is created; none when nothing owns the objects.
    pub owner: Option<&'a Owner>,
    /// Told before an object is deleted and created again.
    pub announce: Announce<'a>,
    /// Who may ask to stop.
    pub stop: &'a Stop,
}

impl Execution<'_> {
    /// Applies `manifests`, which are in the order of applying, and passes each outcome to `report` as it comes.
    ///
    /// Stops early at a signal, and when the server gives no usable answer: whoever got no outcome was not done.
    pub async fn run(self, manifests: &[Manifest], live: &Live, mut report: impl FnMut(&Manifest, &Outcome)) {
        let mut failed = Dependencies::default();
        for stage in manifests.chunk_by(|one, next| Stage::of(&one.id.kind) == Stage::of(&next.id.kind)) {
            let gone = self.missing_owner(stage, live).await;
            let (held_up, gone) = (&failed, gone.as_ref());
            let mut outcomes = stream::iter(stage)
                .map(|manifest| async move {
                    if self.stop.requested().is_some() {
                        return None;
                    }
                    if let Some(reason) = held_up.holds_up(manifest) {
                        return Some((manifest, Outcome::of(Action::Skipped(reason))));
                    }
                    let mut live = live.get(&manifest.id).unwrap_or(&NOTHING);
                    let defined = match live {
                        Err(Error::NotServed { .. }) if manifests.iter().any(|other| other.defines(&manifest.id)) => {
                            if self.policy.dry_run != DryRun::None {
                                return Some((manifest, Outcome::of(Action::Created)));
                            }
                            Some(self.once_served(manifest).await)
                        }
                        _ => None,
                    };
                    live = defined.as_ref().unwrap_or(live);
                    if let (Some(error), Ok(None)) = (gone, live) {
                        return Some((manifest, Outcome::of(Action::Failed(error.clone()))));
                    }
                    tokio::select! {
                        outcome = apply_object(self.cluster, manifest, live, self.policy, self.announce) => Some((manifest, outcome)),
                        () = self.stop.grace_expired() => None,
                    }
                })
                .buffered(IN_FLIGHT);
            let mut met = Dependencies::default();
            while let Some(outcome) = outcomes.next().await {
                let Some((manifest, outcome)) = outcome else { continue };
                met.note(manifest, &outcome);
                report(manifest, &outcome);
            }
            drop(outcomes);
            failed = failed.or(met);
            if failed.no_answer || self.stop.requested().is_some() {
                return;
            }
        }
    }

    /// Reads an object whose kind this very run has defined: the server serves it a moment later.
    async fn once_served(self, manifest: &Manifest) -> Result<Option<Value>, Error> {
        let mut live = self.cluster.get(&manifest.id).await;
        for _ in 0..MOST_WAITS {
            if !matches!(live, Err(Error::NotServed { .. })) {
                break;
            }
            tokio::time::sleep(DEFINITION_WAIT).await;
            live = self.cluster.get(&manifest.id).await;
        }
        live
    }

    /// Looks again before objects are created: with the uid of a Config that is gone they would be deleted at once.
    async fn missing_owner(self, stage: &[Manifest], live: &Live) -> Option<Error> {
        let owner = self.owner.filter(|_| self.policy.dry_run == DryRun::None)?;
        let creates = stage.iter().any(|manifest| matches!(live.get(&manifest.id), Some(Ok(None)) | None));
        if !creates {
            return None;
        }
        match self.cluster.get(&owner.id).await {
            Err(error) => Some(error),
            Ok(found) => {
                let lifecycle = found.as_ref().map(Lifecycle::of).unwrap_or_default();
                let is_there = lifecycle.uid.as_deref() == Some(&owner.uid) && !lifecycle.is_deleting();
                (!is_there).then(|| Error::OwnerGone(owner.id.to_string()))
            }
        }
    }
}

/// Of an object that was not read it is taken that there is none.
static NOTHING: Result<Option<Value>, Error> = Ok(None);
