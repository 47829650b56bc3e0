//! Client certificates, keys and logins that need a closer look: old kinds, ones that are replaced, ones that nobody may read.

use std::fs;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, mpsc};
use std::thread;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use expect_test::expect;
use jiff::{SignedDuration, Timestamp};
use rcgen::KeyPair;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::json;

use crate::connection::{Folder, kubeconfig};
use crate::connection_server::{PLUGIN, plugin, runs, users, write_config};
use crate::controlplane::{Cluster, Platform};
use crate::drift::edit;
use crate::program::{Running, prepare, until};

const MASTERS: Option<&str> = Some("system:masters");

/// The first value of some DER, whole and its content, and what follows.
fn split(der: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let (header, length) = match usize::from(der[1]) {
        0x81 => (3, usize::from(der[2])),
        0x82 => (4, usize::from(der[2]) * 256 + usize::from(der[3])),
        length => (2, length),
    };
    let (whole, rest) = der.split_at(header + length);
    (whole, &whole[header..], rest)
}

fn sequence(content: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(content.len()).unwrap().to_be_bytes();
    let header: &[u8] = match (high, low) {
        (0, 0..0x80) => &[0x30, low],
        (0, _) => &[0x30, 0x81, low],
        _ => &[0x30, 0x82, high, low],
    };
    [header, content].concat()
}

/// The same certificate as X.509 version 1, which has neither a version nor extensions.
fn as_version_1(pem: &str) -> String {
    let der = pem::parse(pem).unwrap().into_contents();
    let (signed, _, rest) = split(split(&der).1);
    let (algorithm, _, _) = split(rest);
    let mut fields = Vec::new();
    let mut rest = split(signed).1;
    while !rest.is_empty() {
        let (whole, _, after) = split(rest);
        fields.extend_from_slice(if [0xA0, 0xA3].contains(&whole[0]) { &[] } else { whole });
        rest = after;
    }
    let signed = sequence(&fields);
    let signature = Cluster::sign(&signed);
    let bits = [&[0x03, u8::try_from(signature.len() + 1).unwrap(), 0], &signature[..]].concat();
    pem::encode(&pem::Pem::new("CERTIFICATE", sequence(&[&signed, algorithm, &bits].concat())))
}

/// The same key as OpenSSL's `ecparam -genkey` writes it.
fn as_sec1(pem: &str) -> String {
    let der = pem::parse(pem).unwrap().into_contents();
    let (_, _, rest) = split(split(&der).1);
    let (_, _, rest) = split(rest);
    let parameters = pem::Pem::new("EC PARAMETERS", vec![0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]);
    pem::encode_many(&[parameters, pem::Pem::new("EC PRIVATE KEY", split(rest).1)])
}

/// Stock microk8s has such certificates.
#[test]
fn a_certificate_of_x509_version_1_and_a_sec1_key_are_taken() {
    let (cluster, folder) = (Cluster::start(Platform::PLAIN), Folder::new());
    prepare(&cluster);
    let file = |ending| fs::read_to_string(cluster.kubeconfig().with_extension(ending)).unwrap();
    folder.write("me.crt", &as_version_1(&file("crt")));
    folder.write("me.key", &as_sec1(&file("key")));
    write_config(&cluster, &folder, "client-certificate: me.crt, client-key: me.key");
    let mark = cluster.requests().len();
    let said = folder.run("config", "apply -q");
    assert!(said.ends_with("exit 0\n"), "{said}");
    assert_eq!(users(&cluster, mark), ["admin"]);
}

#[test]
fn a_key_that_is_not_supported_is_refused_with_its_kind() {
    let folder = Folder::new();
    let certificate = rcgen::generate_simple_self_signed(vec!["me".to_owned()]).unwrap().cert.pem();
    folder.write("me.crt", &certificate);
    let keys = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/keys");
    let said = ["p521.key", "p521-sec1.key", "rsa1024.key", "rsa1024-pkcs8.key", "ed448.key", "dsa.key"].map(|key| {
        fs::copy(format!("{keys}/{key}"), folder.path(key)).unwrap();
        folder.write("config", &kubeconfig("", &format!("client-certificate: me.crt, client-key: {key}")));
        folder.run("config", "diff")
    });
    expect![[r#"
        2> error: client key DIR/p521.key (user "me" in kubeconfig DIR/config) is an ECDSA key of curve P-521, which is not supported
        2> hint: use a certificate with another key: RSA of 2048 to 8192 bits, ECDSA P-256 or P-384, or Ed25519
        exit 2

        2> error: client key DIR/p521-sec1.key (user "me" in kubeconfig DIR/config) is an ECDSA key of curve P-521, which is not supported
        2> hint: use a certificate with another key: RSA of 2048 to 8192 bits, ECDSA P-256 or P-384, or Ed25519
        exit 2

        2> error: client key DIR/rsa1024.key (user "me" in kubeconfig DIR/config) is an RSA key of 1024 bits, which is not supported
        2> hint: use a certificate with another key: RSA of 2048 to 8192 bits, ECDSA P-256 or P-384, or Ed25519
        exit 2

        2> error: client key DIR/rsa1024-pkcs8.key (user "me" in kubeconfig DIR/config) is an RSA key of 1024 bits, which is not supported
        2> hint: use a certificate with another key: RSA of 2048 to 8192 bits, ECDSA P-256 or P-384, or Ed25519
        exit 2

        2> error: client key DIR/ed448.key (user "me" in kubeconfig DIR/config) is of an unknown kind, which is not supported
        2> hint: use a certificate with another key: RSA of 2048 to 8192 bits, ECDSA P-256 or P-384, or Ed25519
        exit 2

        2> error: client key DIR/dsa.key (user "me" in kubeconfig DIR/config) is a DSA key, which is not supported
        2> hint: use a certificate with another key: RSA of 2048 to 8192 bits, ECDSA P-256 or P-384, or Ed25519
        exit 2
    "#]].assert_eq(&said.join("\n"));
}

fn wait_for(end: u64) {
    let is_over = || Timestamp::now().as_second() > i64::try_from(end).unwrap();
    until("the end of the certificate", || is_over().then_some(()));
}

fn seconds_from_now(seconds: u64) -> u64 {
    u64::try_from(Timestamp::now().as_second()).unwrap() + seconds
}

const TRACE: &str = r#"{"data":{"bpfman.log.level":"trace"}}"#;

/// The old one is refused first: then the files are looked at again at once.
#[test]
fn watch_takes_a_client_certificate_whose_files_were_replaced() {
    let (cluster, folder) = (Cluster::start(Platform::PLAIN), Folder::new());
    prepare(&cluster);
    let end = seconds_from_now(12);
    let old = cluster.user_valid("old", MASTERS, (0, end));
    let new = cluster.user_valid("new", MASTERS, (0, 4_070_908_800));
    let install = |user: &std::path::Path| {
        for ending in ["crt", "key"] {
            fs::copy(user.with_extension(ending), folder.path("me").with_extension(ending)).unwrap();
        }
    };
    install(&old);
    write_config(&cluster, &folder, "client-certificate: me.crt, client-key: me.key");
    let mark = cluster.requests().len();
    let watch = Running::of(folder.command("config", "watch"));
    watch.says("in sync", 1);
    install(&new);
    wait_for(end);
    edit(&cluster, "configmap/bpfman-config", TRACE);
    watch.says("in sync", 2);
    // Nobody is who the server refused.
    assert_eq!(users(&cluster, mark), ["old", "", "new"]);
}

#[test]
fn watch_gets_a_new_certificate_of_a_plugin_when_the_old_one_ends() {
    let (cluster, folder) = (Cluster::start(Platform::PLAIN), Folder::new());
    prepare(&cluster);
    let end = seconds_from_now(18);
    let given = [("old", end), ("new", 4_070_908_800)].map(|(name, end)| {
        let user = cluster.user_valid(name, MASTERS, (0, end));
        let file = |ending| fs::read_to_string(user.with_extension(ending)).unwrap();
        json!({"clientCertificateData": file("crt"), "clientKeyData": file("key")})
    });
    plugin(&folder, &given[0], &given[1]);
    write_config(&cluster, &folder, PLUGIN);
    let mark = cluster.requests().len();
    let watch = Running::of(folder.command("config", "watch"));
    watch.says("in sync", 1);
    wait_for(end - 10);
    edit(&cluster, "configmap/bpfman-config", TRACE);
    watch.says("in sync", 2);
    assert_eq!((users(&cluster, mark), runs(&folder)), (vec!["old".to_owned(), "new".to_owned()], 2));
}

/// Each request would start one more.
#[test]
fn a_plugin_that_hangs_while_watch_runs_is_told_and_never_runs_twice_at_once() {
    let (cluster, folder) = (Cluster::start(Platform::PLAIN), Folder::new());
    prepare(&cluster);
    let user = cluster.user_valid("one", MASTERS, (0, 4_070_908_800));
    let file = |ending| fs::read_to_string(user.with_extension(ending)).unwrap();
    let ends = Timestamp::now() + SignedDuration::from_secs(16);
    let status =
        json!({"clientCertificateData": file("crt"), "clientKeyData": file("key"), "expirationTimestamp": ends});
    plugin(&folder, &status, &status);
    folder.script("bin/plugin", "echo $$ >>DIR/runs; [ ! -e DIR/hang ] || sleep 1000; cat DIR/now");
    write_config(&cluster, &folder, PLUGIN);
    let watch = Running::of(folder.command("config", "watch --request-timeout=2s"));
    watch.says("in sync", 1);
    folder.write("hang", "");
    wait_for(u64::try_from(ends.as_second()).unwrap() - 10);
    edit(&cluster, "configmap/bpfman-config", TRACE);
    watch.says("did not finish in 1 s", 1);
    // The same failure is reported once: what shows the next try is the plugin.
    let runs = until("another run", || {
        let runs = fs::read_to_string(folder.path("runs")).unwrap();
        (runs.lines().count() > 2).then_some(runs)
    });
    let running =
        runs.lines().filter(|id| fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|line| !line.is_empty()));
    assert!(running.count() <= 1, "{runs}");
    fs::remove_file(folder.path("hang")).unwrap();
    edit(&cluster, "configmap/bpfman-config", TRACE);
    watch.says("in sync", 2);
}

/// An HTTPS server that refuses everybody; gives its port, and the `Authorization` of each request.
fn asks_who() -> (u16, mpsc::Receiver<String>) {
    let key = KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let (listener, config) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(config));
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = BufReader::new(rustls::StreamOwned::new(connection, client));
            let lines = stream.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty());
            let found =
                lines.filter_map(|line| line.to_lowercase().starts_with("authorization").then_some(line)).last();
            let _ = sender.send(found.unwrap_or_default());
            let _ = stream
                .get_mut()
                .write_all(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    (port, receiver)
}

/// As Go's HTTP client does, and so kubectl.
#[test]
fn the_user_and_password_of_a_server_url_are_sent_and_never_printed() {
    let (folder, (port, sent)) = (Folder::new(), asks_who());
    let server = format!("--server=https://alice:hu%40sh%2F@127.0.0.1:{port} --insecure-skip-tls-verify");
    let login = format!("Basic {}", BASE64_STANDARD.encode("alice:hu@sh/"));
    let cases = [("diff", login.as_str()), ("apply", &login), ("diff --token=typed", "Bearer typed")];
    let mut all = Vec::new();
    for (words, expected) in cases {
        all.push(folder.run("", &format!("{words} {server}")));
        let sent: Vec<String> = sent.try_iter().collect();
        assert!(!sent.is_empty() && sent.iter().all(|header| header.ends_with(&format!(": {expected}"))), "{sent:?}");
    }
    for wrong in ["https://alice:hush@x:99999", "ftp://alice:hush@x", "https://alice:hu/sh@x", "alice:hush@x:y"] {
        all.push(folder.run("", &format!("diff --server={wrong}")));
    }
    let all = all.join("\n");
    assert!(["alice", "hu%40sh", "hush", "sh@"].iter().all(|secret| !all.contains(secret)), "{all}");
    expect![[r#"
        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: unauthorized at SERVER: (empty answer)
        2> hint: log in again, or use another identity: --user, --context, --token
        exit 5

        2> using server SERVER
        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: unauthorized at SERVER: (empty answer)
        2> hint: log in again, or use another identity: --user, --context, --token
        exit 5

        2> error: cannot read config.bpfman.io/bpfman-config
        2>   caused by: unauthorized at SERVER: (empty answer)
        2> hint: log in again, or use another identity: --user, --context, --token
        exit 5

        2> error: server is not a valid URL: "https://x:99999"
        2> hint: use --server https://host:port, or http://host:port
        exit 2

        2> error: server is not a valid URL: "ftp://x"
        2> hint: use --server https://host:port, or http://host:port
        exit 2

        2> error: server is not a valid URL: "https://x"
        2> hint: use --server https://host:port, or http://host:port
        exit 2

        2> error: server is not a valid URL: "https://x:y"
        2> hint: use --server https://host:port, or http://host:port
        exit 2
    "#]]
    .assert_eq(&all);
}

#[test]
fn a_duration_of_any_size_is_taken() {
    let (folder, most) = (Folder::new(), u64::MAX);
    for limit in [most.to_string(), format!("{}s", i64::MAX), "2540400h".to_owned(), "0".to_owned()] {
        for words in ["diff", "apply --wait --timeout=LIMIT"] {
            let words = words.replace("LIMIT", &limit);
            let said = folder.run("", &format!("{words} --server=http://127.0.0.1:1 --request-timeout={limit}"));
            assert!(said.ends_with("exit 5\n"), "{limit}: {said}");
        }
    }
}
