//! Runs a program to its end, or ends it, and what it started, when its time is over.
//!
//! Starts processes. Away from a terminal the program has a process group of its own, so that its children end with it; on a
//! terminal it stays in ours, so that Ctrl-C reaches it.

use std::io::{self, IsTerminal};
use std::process::Output;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

/// Ends a process group when it is dropped, as when nobody waits for it any more.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        // Fails where it has ended by itself.
        let _ = self.0.map(|leader| kill_process_group(leader, Signal::KILL));
    }
}

/// Runs the program and gives its output; none when it took longer than `limit`.
pub(super) async fn output(mut command: Command, limit: Duration) -> io::Result<Option<Output>> {
    let own_group = !io::stdin().is_terminal();
    if own_group {
        command.process_group(0);
    }
    let child = command.stdout(std::process::Stdio::piped()).kill_on_drop(true).spawn()?;
    let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let mut group = Group(leader.filter(|_| own_group));
    let Ok(output) = tokio::time::timeout(limit, child.wait_with_output()).await else { return Ok(None) };
    // What a plugin leaves behind when it has done its work, e.g. an agent, goes on.
    group.0 = None;
    output.map(Some)
}
