//! Runs a program to its end, or ends it, and what it started, when its time is over.
//!
//! Starts processes. Away from a terminal the program has a process group of its own, so that its children end with it; on a
//! terminal it stays in ours, so that Ctrl-C reaches it.

use std::io::{self, IsTerminal};
use std::process::Output;
use std::time::Duration;

use tokio::process::{Child, Command};

/// Runs the program and gives its output; none when it took longer than `limit`.
pub(super) async fn output(mut command: Command, limit: Duration) -> io::Result<Option<Output>> {
    let own_group = !io::stdin().is_terminal();
    if own_group {
        Group::begin(&mut command);
    }
    let child = command.stdout(std::process::Stdio::piped()).kill_on_drop(true).spawn()?;
    let group = own_group.then(|| Group::of(&child));
    let Ok(output) = tokio::time::timeout(limit, child.wait_with_output()).await else { return Ok(None) };
    // What a plugin leaves behind when it has done its work, e.g. an agent, goes on.
    if let Some(group) = group {
        group.leave();
    }
    output.map(Some)
}

/// Ends a process group when it is dropped, as when nobody waits for it any more.
#[cfg(unix)]
struct Group(Option<rustix::process::Pid>);

#[cfg(unix)]
impl Group {
    fn begin(command: &mut Command) {
        command.process_group(0);
    }

    fn of(leader: &Child) -> Self {
        Self(leader.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw))
    }

    fn leave(mut self) {
        self.0 = None;
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        use rustix::process::{Signal, kill_process_group};
        // Fails where it has ended by itself.
        let _ = self.0.map(|leader| kill_process_group(leader, Signal::KILL));
    }
}

/// Without process groups the program itself ends, and its children by themselves.
#[cfg(not(unix))]
struct Group;

#[cfg(not(unix))]
impl Group {
    fn begin(_: &mut Command) {}

    fn of(_: &Child) -> Self {
        Self
    }

    fn leave(self) {}
}
