//! The loop of `watch` against a model of the API server, under virtual time: thousands of random schedules of faults.
//!
//! A seed determines a schedule. `WATCH_SCHEDULES=1000000 cargo test simulation` searches longer; a schedule that failed stays as
//! a test of its own below.

mod actors;
mod check;
mod driver;
mod faults;
mod mode;
mod network;
mod random;
mod script;
mod server;
mod world;
mod writes;

use std::time::Duration;

use driver::Simulation;
use mode::Mode;

/// Runs the schedule of `seed` and says what is wrong with it.
fn run(mode: Mode, seed: u64) -> Result<(), String> {
    let Err(_) = Simulation::new(mode, seed).run() else { return Ok(()) };
    Simulation::new(mode, seed).explain().map_err(|what| format!("{mode:?} {seed}: {what}"))
}

/// How many schedules are run, unless the environment asks for more.
fn schedules(usual: u64) -> u64 {
    std::env::var("WATCH_SCHEDULES").ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

fn search(mode: Mode, usual: u64) {
    let failed: Vec<String> = (0..schedules(usual)).filter_map(|seed| run(mode, seed).err()).take(3).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The server is killed, restarted, not ready; everything is as desired 10 s after it is ready.
#[test]
fn after_restarts_of_the_server_all_is_as_desired_within_10_s() {
    search(Mode { settles: Duration::from_secs(10), ..Mode::restarts() }, 2500);
}

/// Connections stall, break, swallow requests; everything is as desired 45 s after the network is well.
#[test]
fn after_faults_of_the_network_all_is_as_desired_within_45_s() {
    search(Mode { settles: Duration::from_secs(45), ..Mode::network() }, 2500);
}

/// All that, and lost, late, doubled and reordered events, restores, refusals, webhooks, deletions of everything.
#[test]
fn after_anything_all_is_as_desired_in_the_end() {
    search(Mode::anything(), 4000);
}

#[test]
fn a_dry_run_writes_nothing_whatever_happens() {
    search(Mode { observe: true, ..Mode::anything() }, 1000);
}

/// What failed once: after a restore the Config had the very version again that our last request was for, and was never asked for the finalizer again.
#[test]
fn schedules_that_failed_before_pass() {
    let failed: Vec<String> =
        [4271, 5541, 6756].into_iter().filter_map(|seed| run(Mode::anything(), seed).err()).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
