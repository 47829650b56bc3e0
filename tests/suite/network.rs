//! What may stand between the program and an API server: a proxy, and a server whose certificate is not as it should be.
//!
//! Both listen on loopback, on threads that end with the process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// A proxy that knows one name, and nobody else knows it.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Leads `CONNECT` to this port of loopback, whatever the name; `answer` is the status that it gives.
    pub(crate) fn start(to: u16, answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let proxy = Self { port: listener.local_addr().unwrap().port(), asked: Arc::clone(&asked) };
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let asked = Arc::clone(&asked);
                thread::spawn(move || tunnel(client, to, answer, &asked));
            }
        });
        proxy
    }

    /// What it was asked since the last time, each once: the request line and the password.
    pub(crate) fn asked(&self) -> String {
        let mut asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.dedup();
        asked.join("\n")
    }
}

fn tunnel(mut client: TcpStream, to: u16, answer: &str, asked: &Mutex<Vec<String>>) -> Option<()> {
    let mut lines = BufReader::new(client.try_clone().ok()?).lines().map_while(Result::ok);
    let request = lines.next()?;
    // Whoever begins with TLS sends no line that is one.
    let headers: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    let password = headers.iter().find(|line| line.to_lowercase().starts_with("proxy-authorization")).cloned();
    asked.lock().unwrap().push([request, password.unwrap_or_default()].join(" ").trim_end().to_owned());
    write!(client, "HTTP/1.1 {answer}\r\n\r\n").ok()?;
    if !answer.starts_with("200") {
        return None;
    }
    let server = TcpStream::connect(("127.0.0.1", to)).ok()?;
    let (from, into) = (client.try_clone().ok()?, server.try_clone().ok()?);
    thread::spawn(move || copy(from, into));
    copy(server, client);
    None
}

fn copy(mut from: TcpStream, mut into: TcpStream) {
    let _ = std::io::copy(&mut from, &mut into);
    let _ = into.shutdown(Shutdown::Both);
}

/// A server that shows this certificate, signed by itself, and goes no further; gives its port.
pub(crate) fn shows(params: &CertificateParams) -> (u16, String) {
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let (listener, config) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(config));
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            let mut connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let _ = connection.complete_io(&mut client);
        }
    });
    (port, certificate.pem())
}

/// An API server in plain HTTP of which `answer` makes each answer, out of the request's first line: the status, with more
/// headers below it, and the body. Gives its port.
pub(crate) fn answers(answer: impl Fn(&str) -> (String, String) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            thread::spawn(move || one_answer(client, &*answer));
        }
    });
    port
}

fn one_answer(mut client: TcpStream, answer: &dyn Fn(&str) -> (String, String)) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let (mut request, mut length) = (String::new(), 0);
    reader.read_line(&mut request).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().to_lowercase().split_once(": ") {
            Some(("content-length", number)) => length = number.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    std::io::copy(&mut reader.take(length), &mut std::io::sink()).ok()?;
    let (status, body) = answer(request.trim_end());
    write!(client, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).ok()
}

/// A port that answers plain HTTP to everybody, TLS or not.
pub(crate) fn speaks_plainly() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            let _ = client.read(&mut [0; 4096]);
            let _ = client.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    port
}
