//! A TCP proxy on loopback in front of a server: it counts the connections, and may delay what goes through.
//!
//! Runs on threads that end with the process.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// The proxy.
pub struct Relay {
    /// Where it listens.
    pub port: u16,
    connections: Arc<AtomicUsize>,
}

impl Relay {
    /// Leads to the port `to` of loopback; `round_trip` is added to each exchange, half of it each way.
    pub fn start(to: u16, round_trip: Duration) -> std::io::Result<Self> {
        Self::new(to, round_trip, usize::MAX)
    }

    /// Cuts its first connection after so many bytes of the server.
    pub fn cutting(to: u16, bytes: usize) -> std::io::Result<Self> {
        Self::new(to, Duration::ZERO, bytes)
    }

    fn new(to: u16, round_trip: Duration, bytes: usize) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let relay = Self { port: listener.local_addr()?.port(), connections: Arc::default() };
        let connections = Arc::clone(&relay.connections);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let limit = if connections.fetch_add(1, Ordering::Relaxed) == 0 { bytes } else { usize::MAX };
                thread::spawn(move || relayed(client, to, round_trip / 2, limit));
            }
        });
        Ok(relay)
    }

    /// Counts the connections since the last call.
    pub fn connections(&self) -> usize {
        self.connections.swap(0, Ordering::Relaxed)
    }
}

fn relayed(client: TcpStream, to: u16, delay: Duration, limit: usize) -> std::io::Result<()> {
    // The kernel's own handshake takes no time here: it counts as the first exchange.
    thread::sleep(delay * 2);
    let server = TcpStream::connect(("127.0.0.1", to))?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (from, into) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || carry(from, into, delay, usize::MAX));
    carry(server, client, delay, limit);
    Ok(())
}

/// Gives each piece on when its time has come; the pieces do not wait for each other.
fn carry(mut from: TcpStream, mut into: TcpStream, delay: Duration, mut limit: usize) {
    let (sender, pieces) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        for (due, piece) in pieces {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if into.write_all(&piece).is_err() {
                break;
            }
        }
        let _ = into.shutdown(Shutdown::Both);
    });
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let piece = buffer.get(..length.min(limit)).unwrap_or_default().to_vec();
        limit -= piece.len();
        if sender.send((Instant::now() + delay, piece)).is_err() {
            return;
        }
        if limit == 0 {
            let _ = from.shutdown(Shutdown::Both);
        }
    }
}
