//! A proxy that does one thing wrong at one request; all others it gives on to `kubectl proxy`, and so to the real API server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::controlplane::{Cluster, kubectl};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The answer takes 300 ms longer.
    Delay,
    /// The connection is closed before the server sees the request.
    CutBefore,
    /// The connection is closed after the server has acted, and before its answer.
    CutAfter,
    /// No answer comes.
    Stall,
    /// This status instead: 429 and 503 with what to wait, 413 and 502 as the page of a proxy.
    Answer(u16),
    /// The client gets this signal, and then the answer.
    Signal(&'static str),
    /// Somebody else does this with kubectl, before the server sees the request.
    Kubectl(&'static [&'static str]),
}

/// At which request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// The one of this number, from 1.
    Number(usize),
    /// The one of this number among those whose first line has both texts.
    Line(&'static str, &'static str, usize),
}

#[derive(Default)]
struct State {
    seen: usize,
    seen_like_it: usize,
    fault: Option<(Fault, When)>,
    client: u32,
}

impl State {
    /// The fault that is due at this request.
    fn due(&mut self, request: &str) -> Option<Fault> {
        self.seen += 1;
        let (fault, when) = self.fault?;
        let is_due = match when {
            When::Number(number) => self.seen == number,
            When::Line(one, other, number) => {
                let line = request.lines().next().unwrap_or_default();
                self.seen_like_it += usize::from(line.contains(one) && line.contains(other));
                line.contains(one) && line.contains(other) && self.seen_like_it == number
            }
        };
        is_due.then_some(fault)
    }
}

/// The proxy, and the kubeconfig that leads to it.
pub(crate) struct Proxy {
    pub(crate) kubeconfig: PathBuf,
    state: Arc<Mutex<State>>,
    kubectl: Child,
}

impl Proxy {
    pub(crate) fn start(cluster: &Cluster) -> Self {
        let mut command = Command::new(kubectl().expect("kubectl"));
        command.args(["proxy", "--port=0"]).env_clear().env("KUBECONFIG", cluster.kubeconfig()).stdout(Stdio::piped());
        let mut kubectl = command.stderr(Stdio::null()).spawn().expect("kubectl proxy");
        let mut line = String::new();
        BufReader::new(kubectl.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let to: u16 = line.trim().rsplit(':').next().expect("a port").parse().expect("a number");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let admin = cluster.kubeconfig().to_owned();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (state, admin) = (Arc::clone(&shared), admin.clone());
                std::thread::spawn(move || {
                    let _ = serve(&client, to, &state, &admin);
                    let _ = client.shutdown(Shutdown::Both);
                });
            }
        });
        let kubeconfig = cluster.kubeconfig().with_file_name("proxy.kubeconfig");
        let server = format!("http://127.0.0.1:{port}");
        let config = serde_json::json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "proxy",
            "clusters": [{"name": "proxy", "cluster": {"server": server}}],
            "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": ""}}],
        });
        std::fs::write(&kubeconfig, config.to_string()).expect("a kubeconfig");
        Self { kubeconfig, state, kubectl }
    }

    /// Waits for a request of the process `client`.
    pub(crate) fn arm(&self, fault: Option<(Fault, When)>, client: u32) {
        *self.state.lock().expect("a lock") = State { fault, client, ..State::default() };
    }

    /// How many requests have come since.
    pub(crate) fn requests(&self) -> usize {
        self.state.lock().expect("a lock").seen
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.kubectl.kill();
        let _ = self.kubectl.wait();
    }
}

/// Serves one request; the connection ends with it.
fn serve(mut client: &TcpStream, to: u16, state: &Mutex<State>, admin: &Path) -> std::io::Result<()> {
    let request = read_request(client)?;
    let (fault, pid) = {
        let mut state = state.lock().expect("a lock");
        (state.due(&String::from_utf8_lossy(&request)), state.client)
    };
    match fault {
        Some(Fault::CutBefore) => return Ok(()),
        Some(Fault::Stall) => {
            std::thread::sleep(Duration::from_secs(20));
            return Ok(());
        }
        Some(Fault::Answer(code)) => return client.write_all(answer(code).as_bytes()),
        Some(Fault::Signal(signal)) => {
            let _ = Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status();
            std::thread::sleep(Duration::from_millis(30));
        }
        Some(Fault::Kubectl(words)) => {
            let done = Command::new(kubectl().expect("kubectl")).args(words).env("KUBECONFIG", admin).output()?;
            assert!(done.status.success(), "kubectl {words:?}: {}", String::from_utf8_lossy(&done.stderr));
        }
        Some(Fault::Delay) => std::thread::sleep(Duration::from_millis(300)),
        Some(Fault::CutAfter) | None => {}
    }
    let mut server = TcpStream::connect(("127.0.0.1", to))?;
    server.write_all(&request)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    if fault == Some(Fault::CutAfter) {
        return Ok(());
    }
    client.write_all(&answer)
}

/// Reads one request, and asks for the end of the connection after its answer.
fn read_request(client: &TcpStream) -> std::io::Result<Vec<u8>> {
    let mut reader = BufReader::new(client);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
        if line == "\r\n" {
            head.push_str("connection: close\r\n\r\n");
            break;
        }
        if !lower.starts_with("connection:") && !lower.starts_with("accept-encoding:") && !lower.starts_with("host:") {
            head.push_str(&line);
        }
        if lower.starts_with("host:") {
            head.push_str("host: localhost\r\n");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok([head.into_bytes(), body].concat())
}

fn answer(code: u16) -> String {
    let page = "<html><head><title>It went wrong</title></head><body>sorry</body></html>";
    let status = format!(
        r#"{{"kind":"Status","apiVersion":"v1","status":"Failure","message":"it went wrong","reason":"X","code":{code}}}"#
    );
    let (kind, body) =
        if matches!(code, 413 | 502) { ("text/html", page) } else { ("application/json", status.as_str()) };
    let retry = if code == 429 { "retry-after: 1\r\n" } else { "" };
    format!(
        "HTTP/1.1 {code} X\r\ncontent-type: {kind}\r\n{retry}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}
