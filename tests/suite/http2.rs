//! What a server of HTTP/2 may do that asks for another try: refuse a stream, go away.
//!
//! The server is ours, on loopback, with TLS; it knows one answer.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use h2::Reason;
use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::TlsAcceptor;

use crate::connection::Folder;

const NOT_FOUND: &str = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"NotFound","details":{"name":"bpfman-config","kind":"configs"},"code":404}"#;

#[derive(Clone, Copy)]
enum First {
    IsRefused,
    IsCancelled,
    GoesAway,
}

fn tls() -> TlsAcceptor {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

/// Starts the server, which does this with its first stream or connection; gives its port and its count of connections.
fn start(first: First) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, connections) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&connections);
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for client in listener.incoming().map_while(Result::ok) {
            let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
            client.set_nonblocking(true).unwrap();
            runtime.block_on(serve(client, first, is_first));
        }
    });
    (port, connections)
}

async fn serve(client: std::net::TcpStream, first: First, is_first: bool) {
    let stream = tls().accept(tokio::net::TcpStream::from_std(client).unwrap()).await.unwrap();
    let mut connection = h2::server::handshake(stream).await.unwrap();
    let mut is_first = is_first;
    while let Some(Ok((_, mut respond))) = connection.accept().await {
        let was_first = std::mem::take(&mut is_first);
        match first {
            First::IsRefused if was_first => respond.send_reset(Reason::REFUSED_STREAM),
            First::IsCancelled if was_first => respond.send_reset(Reason::CANCEL),
            First::GoesAway if was_first => connection.abrupt_shutdown(Reason::NO_ERROR),
            _ => {
                let answer = http::Response::builder().status(404).body(()).unwrap();
                respond.send_response(answer, false).unwrap().send_data(NOT_FOUND.into(), true).unwrap();
            }
        }
    }
}

#[test]
fn a_stream_that_is_refused_and_a_server_that_goes_away_are_tried_again() {
    for (first, connections) in [(First::IsRefused, 1..=2), (First::GoesAway, 2..=2)] {
        let (port, counted) = start(first);
        let said = ask(port);
        assert!(said.contains("config.bpfman.io/bpfman-config not found"), "{said}");
        assert!(connections.contains(&counted.load(Ordering::Relaxed)), "{counted:?}");
    }
}

/// The server has begun to work on it and gave up: what that was nobody knows.
#[test]
fn a_stream_that_is_cancelled_is_told() {
    let said = ask(start(First::IsCancelled).0);
    assert!(said.contains("the server closed the connection") && said.ends_with("exit 5\n"), "{said}");
}

fn ask(port: u16) -> String {
    let flags = "--insecure-skip-tls-verify --platform kubernetes --monitoring off --request-timeout 20s";
    Folder::new().run("", &format!("diff -q --server=https://127.0.0.1:{port} {flags}"))
}
