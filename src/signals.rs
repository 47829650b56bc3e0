//! SIGINT and SIGTERM: the first asks to stop, the second does not ask.

use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::exit::Exit;
use crate::failure::Failure;

/// How long a request in flight may go on after the first signal.
const GRACE: Duration = Duration::from_secs(2);

/// Whether somebody wants us to stop.
#[derive(Clone)]
pub struct Stop {
    requests: Arc<watch::Sender<Vec<Exit>>>,
}

impl Stop {
    /// Listens from now on; signals no longer end the process by themselves.
    pub fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| Failure::new(Exit::NoAnswer, error).context("cannot listen for signals"))
        };
        let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
        let requests = Arc::new(watch::Sender::new(Vec::new()));
        let sender = Arc::clone(&requests);
        tokio::spawn(async move {
            loop {
                let exit = tokio::select! {
                    _ = interrupt.recv() => Exit::Interrupted,
                    _ = terminate.recv() => Exit::Terminated,
                };
                sender.send_modify(|seen| seen.push(exit));
            }
        });
        Ok(Self { requests })
    }

    /// Asks to stop, as a first signal does: the process then ends with `exit`.
    pub fn request(&self, exit: Exit) {
        self.requests.send_if_modified(|seen| {
            let is_first = seen.is_empty();
            seen.extend(is_first.then_some(exit));
            is_first
        });
    }

    /// How the process ends, once it was asked to.
    pub fn requested(&self) -> Option<Exit> {
        self.requests.borrow().first().copied()
    }

    /// Waits for the first signal.
    pub async fn first(&self) -> Exit {
        self.nth(1).await
    }

    /// Waits until a request in flight must be given up: some time after the first signal, or at the second.
    pub async fn patience_ends(&self) {
        self.first().await;
        let _ = tokio::time::timeout(GRACE, self.second()).await;
    }

    /// Waits for the second signal.
    pub async fn second(&self) -> Exit {
        self.nth(2).await
    }

    async fn nth(&self, count: usize) -> Exit {
        let mut signals = self.requests.subscribe();
        match signals.wait_for(|seen| seen.len() >= count).await {
            Ok(seen) => seen.first().copied().unwrap_or(Exit::Interrupted),
            // Cannot happen: we hold the sender.
            Err(_) => std::future::pending().await,
        }
    }
}
