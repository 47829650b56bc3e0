//! The pass that writes: each object that is not as wanted gets one apply, stage by stage.

use futures_util::StreamExt;
use futures_util::stream;
use serde_json::Value;

use super::preview::{self, Compared, Conflict, Preview};
use super::{IN_FLIGHT, Live};
use crate::cluster::{ApplyParams, Cluster, Error};
use crate::compare::{self, Released, Verdict};
use crate::exit::Exit;
use crate::manifest::{Manifest, Stage};
use crate::signals::Stop;

/// How far an apply goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DryRun {
    /// All the way.
    #[default]
    None,
    /// Reads and compares, sends nothing.
    Client,
    /// Lets the server go through it, stores nothing.
    Server,
}

/// What a pass may do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Take fields over from other managers.
    pub force: bool,
    /// Create the namespace if it is not there.
    pub create_namespace: bool,
    /// How far to go.
    pub dry_run: DryRun,
    /// Send without asking first what would change and what would be taken over.
    pub unasked: bool,
}

/// What became of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// It was not there.
    Created,
    /// It was changed.
    Configured,
    /// It was as wanted; nothing was sent.
    Unchanged,
    /// It was sent without being read first, for lack of the right: what changed is not known.
    Applied,
    /// It was left alone, and why.
    Skipped(String),
    /// It could not be done.
    Failed(Error),
}

/// What became of one object, and what there is to say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was done.
    pub action: Action,
    /// The conflicts: those that stopped it, or what was taken over.
    pub conflicts: Vec<Conflict>,
    /// Fields that are not wanted any more and stay, since others own them.
    pub released: Vec<Released>,
    /// The server's warnings.
    pub warnings: Vec<String>,
    /// The object as the server has it now, where it was sent.
    pub object: Option<Value>,
}

impl Outcome {
    /// An outcome with nothing more to say.
    pub fn of(action: Action) -> Self {
        Self { action, conflicts: Vec::new(), released: Vec::new(), warnings: Vec::new(), object: None }
    }

    /// How a command ends after this.
    pub fn exit(&self) -> Exit {
        match &self.action {
            Action::Failed(error) if error.is_no_answer() => Exit::NoAnswer,
            Action::Failed(_) => Exit::Refused,
            _ => Exit::Done,
        }
    }
}

/// Applies `manifests`, which are in the order of applying, and tells each outcome as it comes.
///
/// Stops early at a signal, and when the server gives no usable answer: whoever got no outcome was not done.
pub async fn apply(
    cluster: &Cluster,
    manifests: &[Manifest],
    live: &Live,
    options: Options,
    stop: &Stop,
    mut tell: impl FnMut(&Manifest, &Outcome),
) {
    let mut hindrance = Hindrance::default();
    for stage in manifests.chunk_by(|one, next| Stage::of(&one.id.kind) == Stage::of(&next.id.kind)) {
        let mut outcomes = stream::iter(stage)
            .map(|manifest| {
                let skipped = hindrance.skips(manifest);
                async move {
                    match skipped {
                        _ if stop.requested().is_some() => None,
                        Some(reason) => Some((manifest, Outcome::of(Action::Skipped(reason)))),
                        None => tokio::select! {
                            outcome = one(cluster, manifest, live.get(&manifest.id), options) => Some((manifest, outcome)),
                            () = stop.patience_ends() => None,
                        },
                    }
                }
            })
            .buffered(IN_FLIGHT);
        let mut met = Hindrance::default();
        while let Some(outcome) = outcomes.next().await {
            let Some((manifest, outcome)) = outcome else { continue };
            met.note(manifest, &outcome);
            tell(manifest, &outcome);
        }
        drop(outcomes);
        hindrance = hindrance.or(met);
        if hindrance.unreachable || stop.requested().is_some() {
            return;
        }
    }
}

/// What went wrong that others depend on.
#[derive(Debug, Default)]
struct Hindrance {
    namespace: Option<(String, String)>,
    settings: Option<String>,
    unreachable: bool,
}

impl Hindrance {
    fn note(&mut self, manifest: &Manifest, outcome: &Outcome) {
        let Action::Failed(error) = &outcome.action else { return };
        self.unreachable |= error.is_no_answer();
        match error {
            Error::NamespaceMissing(name) | Error::NamespaceTerminating(name) => {
                self.namespace = Some((name.clone(), error.to_string()));
            }
            _ => {}
        }
        if manifest.id.kind == "ConfigMap" {
            self.settings = Some(manifest.id.to_string());
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            namespace: self.namespace.or(other.namespace),
            settings: self.settings.or(other.settings),
            unreachable: self.unreachable || other.unreachable,
        }
    }

    fn skips(&self, manifest: &Manifest) -> Option<String> {
        if let Some((name, reason)) = &self.namespace
            && manifest.id.namespace.as_ref() == Some(name)
        {
            return Some(reason.clone());
        }
        let workload = Stage::of(&manifest.id.kind) == Stage::Workloads;
        self.settings.as_ref().filter(|_| workload).map(|id| format!("depends on {id}"))
    }
}

/// Applies one object; `live` is what was read of it.
async fn one(
    cluster: &Cluster,
    manifest: &Manifest,
    live: Option<&Result<Option<Value>, Error>>,
    options: Options,
) -> Outcome {
    let task = |live| Task { cluster, manifest, live, options };
    match live {
        Some(Ok(Some(live))) => task(Some(live)).existing(live).await,
        Some(Ok(None)) | None => task(None).missing().await,
        // Who may not read may still write; what changes can then not be told.
        Some(Err(error)) if error.is_forbidden() => task(None).send(Action::Applied, Vec::new()).await,
        Some(Err(error)) => Outcome::of(Action::Failed(error.clone())),
    }
}

/// One object to apply.
struct Task<'a> {
    cluster: &'a Cluster,
    manifest: &'a Manifest,
    live: Option<&'a Value>,
    options: Options,
}

impl Task<'_> {
    async fn missing(self) -> Outcome {
        let Manifest { id, .. } = self.manifest;
        if id.kind == "Namespace" && !self.options.create_namespace {
            return Outcome::of(Action::Failed(Error::NamespaceMissing(id.name.clone())));
        }
        self.send(Action::Created, Vec::new()).await
    }

    async fn existing(self, live: &Value) -> Outcome {
        let Options { unasked, dry_run, .. } = self.options;
        match compare::in_sync(&self.manifest.object, live, self.cluster.field_manager()) {
            Verdict::InSync => return Outcome::of(Action::Unchanged),
            Verdict::Terminating => return Outcome::of(Action::Failed(preview::terminating(self.manifest))),
            Verdict::Differs(_) if unasked || dry_run == DryRun::Client => {
                return self.send(Action::Configured, Vec::new()).await;
            }
            Verdict::Differs(_) => {}
        }
        match preview::preview(self.cluster, self.manifest, Some(live)).await {
            Preview::Compared(compared) => self.after_preview(*compared).await,
            // A webhook that does not support dry run may accept the real request.
            Preview::Failed(error) if error.is_dry_run_unsupported() && dry_run == DryRun::None => {
                self.send(Action::Configured, Vec::new()).await
            }
            Preview::Failed(error) | Preview::Unvalidated(error) | Preview::Immutable { error, .. } => {
                Outcome::of(Action::Failed(error))
            }
        }
    }

    async fn after_preview(self, compared: Compared) -> Outcome {
        let Compared { comparison, conflicts, causes, warnings, .. } = compared;
        let same = comparison.changes.is_empty();
        let outcome = if same && (!causes.is_empty() || !comparison.records_ownership) {
            // As wanted; whoever else owns it wrote it another way that means the same.
            Outcome { warnings, ..Outcome::of(Action::Unchanged) }
        } else if !conflicts.is_empty() && !self.options.force {
            Outcome { conflicts, ..Outcome::of(Action::Failed(Error::Conflict(causes))) }
        } else if self.options.dry_run == DryRun::Server {
            Outcome { conflicts, warnings, ..Outcome::of(Action::Configured) }
        } else {
            self.send(Action::Configured, conflicts).await
        };
        Outcome { released: comparison.released, ..outcome }
    }

    /// Sends the apply; with force only where there is a conflict to decide, so that nothing is taken over unseen.
    async fn send(self, action: Action, mut conflicts: Vec<Conflict>) -> Outcome {
        let Self { cluster, manifest: Manifest { id, object, .. }, live, options } = self;
        if options.dry_run == DryRun::Client {
            return Outcome::of(action);
        }
        let force = options.force && (options.unasked || !conflicts.is_empty());
        let mut params = ApplyParams { force, dry_run: options.dry_run == DryRun::Server };
        let mut answer = cluster.apply(id, object, params).await;
        if let Err(Error::Conflict(causes)) = &answer {
            conflicts = preview::conflicts(causes, live, object);
            if options.force {
                params.force = true;
                answer = cluster.apply(id, object, params).await;
            }
        }
        match answer {
            Err(error) => Outcome { conflicts, ..Outcome::of(Action::Failed(error)) },
            Ok(applied) => {
                let action = if applied.created { Action::Created } else { action };
                Outcome { conflicts, warnings: applied.warnings, object: Some(applied.object), ..Outcome::of(action) }
            }
        }
    }
}
