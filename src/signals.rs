//! SIGINT, SIGTERM, SIGHUP and SIGQUIT: the first requests a graceful stop, the second an immediate one.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::exit::Exit;
use crate::failure::Failure;

/// How long a request in flight may continue after the first signal.
const GRACE: Duration = Duration::from_secs(2);

/// The requests to stop.
#[derive(Clone)]
pub struct Stop {
    requests: Arc<watch::Sender<Vec<Exit>>>,
}

impl Stop {
    /// Starts to handle the signals, which no longer terminate the process by default.
    pub fn listen() -> Result<Self, Failure> {
        let requests = Arc::new(watch::Sender::new(Vec::new()));
        let sender = Arc::clone(&requests);
        let mut signals = Signals::listen()
            .map_err(|error| Failure::new(Exit::NoAnswer, error).context("cannot listen for signals"))?;
        tokio::spawn(async move {
            loop {
                let exit = signals.next().await;
                sender.send_modify(|seen| seen.push(exit));
            }
        });
        Ok(Self { requests })
    }

    /// Requests a graceful stop, after which the process exits with `exit`.
    pub fn request(&self, exit: Exit) {
        self.requests.send_if_modified(|seen| {
            let is_first = seen.is_empty();
            seen.extend(is_first.then_some(exit));
            is_first
        });
    }

    /// How the process exits, if a stop was requested.
    pub fn requested(&self) -> Option<Exit> {
        self.requests.borrow().first().copied()
    }

    /// Waits for the first signal.
    pub async fn first(&self) -> Exit {
        self.nth(1).await
    }

    /// Waits until a request in flight must be aborted: some time after the first signal, or at the second.
    pub async fn grace_expired(&self) {
        self.first().await;
        let _ = tokio::time::timeout(GRACE, self.second()).await;
    }

    /// Waits for the second signal.
    pub async fn second(&self) -> Exit {
        self.nth(2).await
    }

    /// Waits until so many signals have come, and returns how the process ends.
    pub async fn nth(&self, count: usize) -> Exit {
        let mut signals = self.requests.subscribe();
        match signals.wait_for(|seen| seen.len() >= count).await {
            Ok(seen) => seen.first().copied().unwrap_or(Exit::Interrupted),
            // Cannot happen: we hold the sender.
            Err(_) => std::future::pending().await,
        }
    }
}

#[cfg(unix)]
struct Signals([tokio::signal::unix::Signal; 4]);

#[cfg(unix)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let [interrupt, terminate] = [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?];
        // A terminal that is closed, and Ctrl-\\: whatever must be cleaned up is cleaned up then, too.
        Ok(Self([interrupt, terminate, signal(SignalKind::hangup())?, signal(SignalKind::quit())?]))
    }

    async fn next(&mut self) -> Exit {
        let [interrupt, terminate, hangup, quit] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => Exit::Interrupted,
            _ = terminate.recv() => Exit::Terminated,
            _ = hangup.recv() => Exit::HungUp,
            _ = quit.recv() => Exit::Quit,
        }
    }
}

/// Ctrl-C, Ctrl-Break, and a console that is closed.
#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC, tokio::signal::windows::CtrlBreak, tokio::signal::windows::CtrlClose);

#[cfg(windows)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close};
        Ok(Self(ctrl_c()?, ctrl_break()?, ctrl_close()?))
    }

    async fn next(&mut self) -> Exit {
        tokio::select! {
            _ = self.0.recv() => Exit::Interrupted,
            _ = self.1.recv() => Exit::Terminated,
            _ = self.2.recv() => Exit::HungUp,
        }
    }
}
