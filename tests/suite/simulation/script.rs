//! Scripted schedules: something happens, time passes, and what the loop said and sent is compared.

use std::time::Duration;

use bpfman_config::manifest::ObjectId;
use bpfman_config::reconcile::outcome::Action as Done;
use bpfman_config::reconcile::watch::{Deviation, Event};

use super::driver::Simulation;
use super::mode::Mode;

/// A quiet cluster and a loop that watches it.
pub(super) struct Script(pub(super) Simulation);

impl Script {
    pub(super) fn new() -> Self {
        Self(Simulation::quiet(Mode { everything: true, ..Mode::restarts() }, 7))
    }

    /// Starts, and waits until all is in sync.
    pub(super) fn in_sync() -> Self {
        let mut script = Self::new();
        script.to(2.0);
        script.forget();
        script
    }

    /// Lets time pass.
    pub(super) fn to(&mut self, seconds: f32) {
        self.0.recovered = true; // no event is lost here
        let end = Duration::from_secs_f32(seconds);
        self.0.advance(end).unwrap_or_else(|what| panic!("at {:?}: {what}\n{}", self.0.now, self.0.said.join("\n")));
    }

    /// Somebody does something to the cluster.
    pub(super) fn act(&mut self, act: impl FnOnce(&mut Simulation)) {
        act(&mut self.0);
        self.0.broadcast();
    }

    fn forget(&mut self) {
        self.0.said.clear();
        self.0.patches.clear();
    }

    /// What was reported, without the times, and how many patches were sent.
    pub(super) fn told(&mut self) -> String {
        let lines = self.0.said.iter().filter_map(|line| line.split_once(' ')).map(|(_, words)| format!("{words}\n"));
        let text = lines.collect::<String>() + &format!("{} patches\n", self.0.patches.len());
        self.forget();
        text
    }
}

/// An event in a few words.
pub(super) fn words(event: &Event) -> String {
    let at = |deviation: &Deviation| {
        let paths: Vec<String> = deviation.differences.iter().map(|one| one.path.to_string()).collect();
        format!("{} {}", deviation.manifest.id, paths.join(" "))
    };
    let of = |id: &ObjectId, what: &str| format!("{id} {what}");
    match event {
        Event::Deviates(deviation) => format!("{} deviates", at(deviation)),
        Event::ChangedByAdmission(deviation) => format!("{} changed by admission", at(deviation)),
        Event::Missing(id) => of(id, "missing"),
        Event::Terminating(id) => of(id, "terminating"),
        Event::NoLongerDesired(id) => of(id, "no longer desired"),
        Event::Unknown(id, error) => of(id, &format!("unknown: {error}")),
        Event::KnownAgain(id) => of(id, "known again"),
        Event::Applied(manifest, outcome) => match &outcome.action {
            Done::Failed(error) => of(&manifest.id, &format!("failed: {error}")),
            Done::Skipped(reason) => of(&manifest.id, &format!("skipped: {reason}")),
            action => of(&manifest.id, &format!("{action:?}").to_lowercase()),
        },
        Event::Fight { id, pause, .. } => of(id, &format!("fight, left alone for {} s", pause.as_secs())),
        Event::OutageBegan(error) => format!("outage: {error}"),
        Event::OutageEnded(_) => "outage ended".to_owned(),
        Event::InvalidConfig(_, keeps) => format!("invalid Config, keeps: {keeps}"),
        Event::InvalidTemplates(_) => "invalid templates".to_owned(),
        Event::FinalizerRefused(error) => format!("finalizer refused: {error}"),
        Event::FinalizerLeft(reason) => format!("finalizer left: {reason}"),
        event => format!("{event:?}").chars().take(60).collect(),
    }
}
