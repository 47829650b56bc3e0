//! One round: many objects are changed, then each command is run and what it said and did is held against the truth.
//!
//! A round begins with everything as we applied it and depends on its seed only.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::delivery::{self, Change};
use super::healing;
use super::kubectl;
use super::random::Random;
use super::stage::{Object, Said, Stage};
use super::truth::{State, Truth};
use super::verdict;

/// What a round showed.
#[derive(Default)]
pub(super) struct Outcome {
    /// How many changes were made.
    pub(super) changes: usize,
    /// What was true of the objects, and of how many.
    pub(super) states: BTreeMap<&'static str, usize>,
    /// What was wrong, each with the object, what was done to it, and what was said.
    pub(super) findings: Vec<String>,
    /// What kubectl said to the same, where it was asked.
    pub(super) kubectl: kubectl::Tally,
}

impl Outcome {
    /// Adds what another round showed.
    pub(super) fn add(&mut self, other: Self) {
        self.changes += other.changes;
        for (state, count) in other.states {
            *self.states.entry(state).or_default() += count;
        }
        self.findings.extend(other.findings);
        self.kubectl.add(other.kubectl);
    }
}

/// What runs pods and reads the `ConfigMap`.
const WORKLOADS: [&str; 4] = ["DaemonSet", "Deployment", "StatefulSet", "CronJob"];

/// A round in progress.
struct Round<'a> {
    stage: &'a Stage,
    seed: u64,
    changes: Vec<Vec<Change>>,
    truths: Vec<Truth>,
    /// Of which objects another version was applied as us.
    own: Vec<bool>,
    findings: Vec<String>,
    noted: Vec<bool>,
}

/// Runs the round of `seed`; a `thorough` one compares kubectl's verdicts too, and what is said twice.
pub(super) fn run(stage: &mut Stage, seed: u64, thorough: bool) -> Outcome {
    let mut random = Random::new(seed);
    let changes = change_objects(stage, &mut random);
    let own: Vec<bool> = changes.iter().map(|done| done.iter().any(|change| change.own)).collect();
    let truths = truths(stage, &own, Vec::new());
    let mut outcome = Outcome { changes: changes.iter().map(Vec::len).sum(), ..Outcome::default() };
    for truth in &truths {
        *outcome.states.entry(truth.state.name()).or_default() += 1;
    }
    if thorough {
        outcome.kubectl = kubectl::diff(stage, &truths);
    }
    let noted = vec![false; stage.objects.len()];
    let mut round = Round { stage, seed, changes, truths, own, findings: Vec::new(), noted };
    round.check_disagreements();
    let blockers = round.check_diff(thorough);
    if random.happens(50) {
        round.check_apply(false, &blockers);
    }
    round.check_apply(true, &blockers);
    round.check_converged(thorough);
    round.check_exact();
    outcome.findings = round.findings;
    for index in 0..stage.objects.len() {
        stage.reset(index);
    }
    outcome
}

/// Changes most objects, some more than once; one of them by kubectl itself.
fn change_objects(stage: &Stage, random: &mut Random) -> Vec<Vec<Change>> {
    let by_kubectl = random.below(stage.objects.len());
    let mut changes = Vec::new();
    for (index, object) in stage.objects.iter().enumerate() {
        let count = *random.one_of(&[0, 1, 1, 1, 1, 1, 2, 2, 2, 3]);
        if count == 1 && random.happens(7) {
            changes.push(delivery::apply_another_version(stage, random, object).into_iter().collect());
            continue;
        }
        let mut done: Vec<Change> = (0..count).filter_map(|_| delivery::change(stage, random, object)).collect();
        if index == by_kubectl {
            done.extend(kubectl::change(stage, random, object));
        }
        // Who applies again gives up what is not in it.
        let managers: BTreeSet<&String> = done.iter().map(|change| &change.manager).collect();
        let again = managers.len() < done.len();
        for change in &mut done {
            change.releases |= again;
        }
        changes.push(done);
    }
    changes
}

/// What is true of each object now; of `own` ones another version was applied as us. Nothing new is true of an object
/// that was not written since `before`.
fn truths(stage: &Stage, own: &[bool], mut before: Vec<Truth>) -> Vec<Truth> {
    let mut truths = Vec::new();
    for (index, live) in stage.all_live().into_iter().enumerate().rev() {
        let known =
            before.pop().filter(|known| live.is_some() && version(known.live.as_ref()) == version(live.as_ref()));
        truths.push(known.unwrap_or_else(|| Truth::of(stage, &stage.objects[index], live, own[index])));
    }
    truths.reverse();
    truths
}

fn version(object: Option<&Value>) -> Option<&Value> {
    object.map(|object| &object["metadata"]["resourceVersion"])
}

impl Round<'_> {
    /// Notes the first thing that is wrong with an object; what is wrong with it later follows from that.
    fn note(&mut self, index: usize, step: &str, what: &str) {
        if std::mem::replace(&mut self.noted[index], true) {
            return;
        }
        let title = &self.stage.objects[index].title;
        let done: Vec<&str> = self.changes[index].iter().map(|change| change.text.as_str()).collect();
        self.findings.push(format!(
            "seed {}: {title}: {step}: {what}\n    after: {}",
            self.seed,
            done.join("\n    then:  ")
        ));
    }

    /// Where the oracle and the server disagree one of the two is not understood, and nothing can be checked.
    fn check_disagreements(&mut self) {
        for index in 0..self.truths.len() {
            if let Some(disagreement) = self.truths[index].disagreement.clone() {
                self.note(index, "oracle", &disagreement);
            }
        }
    }

    /// What `diff` says; gives the paths that are in the way, for each object.
    fn check_diff(&mut self, thorough: bool) -> Vec<Vec<String>> {
        let said = self.stage.run("diff -o json");
        if thorough && self.stage.run("diff -o json").out != said.out {
            self.findings.push(format!("seed {}: diff: says the same twice in other words", self.seed));
        }
        let items = said.items();
        let mut blockers = Vec::new();
        for index in 0..self.truths.len() {
            let item = items.get(&self.stage.objects[index].title).unwrap_or(&Value::Null);
            blockers.push(verdict::paths(item, "blockers"));
            // What nobody owns any more is nobody's, and goes without force.
            let released = self.own[index] || self.changes[index].iter().any(|change| change.releases);
            if released && self.truths[index].state == State::Blocked && item["state"] == "differs" {
                self.truths[index].state = State::Differs;
                blockers[index] = verdict::paths(item, "changes");
            }
            for wrong in verdict::wrong(item, &self.truths[index], &self.changes[index]) {
                self.note(index, "diff", &format!("{wrong}\n    said:  {item}"));
            }
        }
        let drift = self.truths.iter().any(|truth| truth.state != State::InSync);
        let refused = self.truths.iter().any(|truth| truth.state.is_beyond_apply());
        self.check_code(&said, "diff", if refused { 4 } else { i32::from(drift) });
        blockers
    }

    fn check_code(&mut self, said: &Said, words: &str, right: i32) {
        if said.code != right && self.findings.is_empty() {
            self.findings.push(format!(
                "seed {}: {words}: exit code {}, right is {right}\n{}",
                self.seed, said.code, said.error
            ));
        }
        for secret in ["c2VjcmV0LXBhc3N3b3Jk", "b3RoZXI="] {
            if said.all().contains(secret) {
                self.findings.push(format!("seed {}: {words}: prints a value of a Secret", self.seed));
            }
        }
    }

    /// What `apply` does, with force or without; `blockers` may go.
    fn check_apply(&mut self, force: bool, blockers: &[Vec<String>]) {
        let words = if force { "apply --force-conflicts" } else { "apply" };
        let said = self.stage.run(words);
        let results = said.results();
        let failed = |object: &&Object| results.get(&object.title).is_some_and(|result| result == "failed");
        let settings_failed = self.stage.objects.iter().filter(failed).any(|object| object.kind() == "ConfigMap");
        let live = self.stage.all_live();
        let mut refused = false;
        for (index, now) in live.iter().enumerate() {
            let (object, truth) = (&self.stage.objects[index], &self.truths[index]);
            let result = results.get(&object.title).map_or("nothing", String::as_str);
            // A workload is not touched while what it reads is not as desired.
            let skipped = settings_failed && result == "skipped" && WORKLOADS.contains(&object.kind());
            let stays = if force { truth.state.is_beyond_apply() } else { truth.needs_force() };
            refused |= stays && !skipped;
            let mut wrong = Vec::new();
            if !skipped && !truth.results(stays).contains(&result) {
                wrong.push(format!("result: said {result}, right is {:?}", truth.results(stays)));
            }
            wrong.extend(healing::wrong(self.stage, object, truth, now.as_ref(), stays || skipped, &blockers[index]));
            let lines: Vec<&str> = said.error.lines().filter(|line| line.contains(&object.title)).collect();
            if !wrong.is_empty() {
                self.note(index, words, &format!("{}\n    said:  {}", wrong.join("; "), lines.join("; ")));
            }
        }
        self.check_code(&said, words, if refused { 4 } else { 0 });
        let untouched = |index: usize| version(live[index].as_ref()) == version(self.truths[index].live.as_ref());
        self.own = (0..live.len()).map(|index| self.own[index] && untouched(index)).collect();
        self.truths = truths(self.stage, &self.own, std::mem::take(&mut self.truths));
    }

    /// Once all is as desired: `diff` finds nothing, and another apply writes nothing.
    fn check_converged(&mut self, thorough: bool) {
        let said = self.stage.run("diff -o json");
        let refused = self.truths.iter().any(|truth| truth.state.is_beyond_apply());
        let drift = self.truths.iter().any(|truth| truth.state != State::InSync);
        self.check_code(&said, "diff after the healing", if refused { 4 } else { i32::from(drift) });
        if thorough && !drift && !refused {
            for index in kubectl::would_change(self.stage) {
                if self.truths[index].state == State::InSync {
                    self.note(index, "kubectl apply --dry-run=server", "would change what is in sync");
                }
            }
        }
        self.stage.run("apply --force-conflicts");
        for (index, now) in self.stage.all_live().into_iter().enumerate() {
            if version(now.as_ref()) != version(self.truths[index].live.as_ref())
                && self.truths[index].state == State::InSync
            {
                self.note(index, "second apply", "wrote again");
            }
        }
    }

    /// Nothing of others is left, and what was there right after our apply is there.
    fn check_exact(&mut self) {
        // The namespace holds what is not of us; of it only our labels and annotations count.
        let kept = |object: &Object| object.kind() == "Namespace";
        let others = self.stage.objects.iter().zip(&self.truths).filter(|(object, _)| !kept(object));
        let foreign = others.into_iter().any(|(_, truth)| !truth.others.is_empty());
        let drift = self.truths.iter().any(|truth| truth.state != State::InSync);
        let refused = self.truths.iter().any(|truth| truth.state.is_beyond_apply());
        let said = self.stage.run("diff --exact -o json");
        self.check_code(&said, "diff --exact", if refused { 4 } else { i32::from(foreign || drift) });
        let said = self.stage.run("apply --exact --force-conflicts");
        for (index, now) in self.stage.all_live().into_iter().enumerate() {
            let (object, truth) = (&self.stage.objects[index], &self.truths[index]);
            let skipped = said.results().get(&object.title).is_some_and(|result| result == "skipped");
            // Of an object that was replaced by force a field may differ that no update can change.
            let forbidden = said.error.lines().any(|line| {
                line.contains(&format!("cannot apply {}", object.title)) && line.contains("updates to statefulset spec")
            });
            let is_checked = truth.state == State::InSync && !kept(object) && !skipped && !forbidden;
            let Some(now) = now.filter(|_| is_checked) else { continue };
            for wrong in healing::wrong_when_exact(object, &now) {
                self.note(index, "apply --exact", &format!("{wrong}\n{}", said.error));
            }
        }
    }
}
