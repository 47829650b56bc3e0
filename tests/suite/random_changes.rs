//! Whatever others change, whoever they are and however they write: `diff` says it, `apply` heals it, and no more.
//!
//! Seeded changes on a real API server, held against values only (`oracle`) and against what the server would do with
//! our apply (`truth`). `RANDOM_CHANGES=20000` makes more of them, `RANDOM_SEED=17` begins with another round; a failure
//! names the seed of its round, which is enough to repeat it: `RANDOM_SEED=17 RANDOM_CHANGES=1`.

mod delivery;
mod edits;
mod fields;
mod healing;
mod kubectl;
mod oracle;
mod patches;
mod pool;
mod random;
mod round;
mod stage;
mod truth;
mod verdict;

use std::env;
use std::time::Instant;

use round::Outcome;
use stage::Stage;

/// So many rounds a cluster: the log of its requests grows with each.
const ROUNDS_A_CLUSTER: u64 = 60;

/// kubectl is asked about each so many rounds in a long run: it takes as long as all else.
const ROUNDS_A_QUESTION: u64 = 4;

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

#[test]
fn each_change_by_others_is_told_and_healed() {
    let wanted = number("RANDOM_CHANGES", 300);
    let first = number("RANDOM_SEED", 1);
    let long = env::var_os("RANDOM_CHANGES").is_some();
    let begun = Instant::now();
    let (mut stage, mut all) = (Stage::start(), Outcome::default());
    for seed in first.. {
        let rounds = seed - first;
        if rounds > 0 && rounds.is_multiple_of(ROUNDS_A_CLUSTER) {
            stage = Stage::start();
        }
        let outcome = round::run(&mut stage, seed, long && rounds.is_multiple_of(ROUNDS_A_QUESTION));
        for finding in outcome.findings.iter().filter(|_| long) {
            eprintln!("{finding}");
        }
        all.add(outcome);
        if long {
            eprintln!("{}", summary(&all, seed, begun));
        }
        if all.changes as u64 >= wanted {
            break;
        }
    }
    assert!(all.findings.is_empty(), "{} of {} changes:\n{}", all.findings.len(), all.changes, all.findings.join("\n"));
}

/// How it stands, on one line.
fn summary(all: &Outcome, seed: u64, begun: Instant) -> String {
    let (Outcome { changes, states, findings, kubectl }, time) = (all, begun.elapsed());
    format!("seed {seed}: {changes} changes in {time:.0?}: {states:?}, {} wrong; kubectl: {kubectl:?}", findings.len())
}
