//! A thread that writes both streams, for a command that must not wait for whoever reads them.
//!
//! A reader that stops reading (a full pipe, a stopped pager) holds up this thread only: what it cannot take is dropped and
//! counted. A reader that is gone, or a full disk, is noticed at once.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::Notify;

/// So many lines wait for a slow reader.
const WAITING: usize = 4096;

/// Where a line goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Hands lines to the thread.
pub struct Writer {
    lines: Option<SyncSender<(Stream, String)>>,
    done: Receiver<()>,
    shared: Arc<Shared>,
    dropped: u64,
}

#[derive(Default)]
struct Shared {
    closed: AtomicBool,
    error: Mutex<Option<io::Error>>,
    notify: Notify,
}

impl Writer {
    /// Starts the thread.
    pub fn start() -> Self {
        let (lines, received) = sync_channel(WAITING);
        let (finished, done) = sync_channel(1);
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            write_all(&received, &own);
            let _ = finished.send(());
        });
        let own = Arc::clone(&shared);
        thread::spawn(move || wait_for_reader_to_go(&own));
        Self { lines: Some(lines), done, shared, dropped: 0 }
    }

    /// Hands over a line; drops it if too many wait.
    pub fn write(&mut self, stream: Stream, text: &str) {
        let Some(lines) = &self.lines else { return };
        let text = match self.dropped {
            0 => text.to_owned(),
            dropped => format!("({dropped} lines were dropped: nobody read them)\n{text}"),
        };
        match lines.try_send((stream, text)) {
            Ok(()) => self.dropped = 0,
            Err(TrySendError::Full(_)) => self.dropped += 1,
            Err(TrySendError::Disconnected(_)) => {}
        }
    }

    /// Ready when standard output is closed.
    pub fn closed(&self) -> impl Future<Output = ()> + use<> {
        let shared = Arc::clone(&self.shared);
        async move { shared.notify.notified().await }
    }

    /// Waits at most `limit` until all is written; returns why something could not be.
    pub fn finish(&mut self, limit: Duration) -> Option<io::Error> {
        drop(self.lines.take());
        let _ = self.done.recv_timeout(limit);
        self.shared.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn write_all(lines: &Receiver<(Stream, String)>, shared: &Shared) {
    while let Ok((stream, text)) = lines.recv() {
        let written = match stream {
            Stream::Out if shared.closed.load(Ordering::Relaxed) => Ok(()),
            Stream::Out => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
            Stream::Err => {
                let _ = io::stderr().lock().write_all(text.as_bytes());
                Ok(())
            }
        };
        if let Err(error) = written {
            shared.closed.store(true, Ordering::Relaxed);
            if error.kind() != io::ErrorKind::BrokenPipe {
                *shared.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            shared.notify.notify_one();
        }
    }
}

/// Where the end of a reader cannot be waited for, it is noticed at the next write.
#[cfg(not(unix))]
fn wait_for_reader_to_go(_: &Shared) {}

/// Notifies when the other end of standard output is closed, be it that nothing is being written.
#[cfg(unix)]
fn wait_for_reader_to_go(shared: &Shared) {
    use rustix::event::{PollFd, PollFlags, poll};
    let out = io::stdout();
    loop {
        // Errors are reported though no event is asked for; files and terminals never have one.
        match poll(&mut [PollFd::new(&out, PollFlags::empty())], None) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(count) if count > 0 => {
                shared.closed.store(true, Ordering::Relaxed);
                return shared.notify.notify_one();
            }
            _ => return,
        }
    }
}
