//! Why a connection to the API server failed, read from the types of the errors, from the library's outermost to the kernel's.
//!
//! Pure. The layers in between repeat each other; what a person can act on is the innermost.

use std::error::Error as StdError;
use std::io;
use std::sync::PoisonError;
use std::time::Duration;

use jiff::Timestamp;
use rustls::pki_types::UnixTime;
use rustls::{CertificateError, InvalidMessage};
use thiserror::Error;

use super::access::{SharedCertificate, der};

/// How long a connection may take to be made, TLS included.
pub(super) const CONNECT_LIMIT: Duration = Duration::from_secs(20);

/// What Go's server answers to a request without TLS (`net/http`, `tlsRecordHeaderLooksLikeHTTP`).
pub(super) const HTTPS_EXPECTED: &str = "Client sent an HTTP request to an HTTPS server.";

/// Why there is no connection.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ConnectError {
    /// Nothing listens at the address.
    #[error("connection refused")]
    Refused,
    /// The name of the server cannot be resolved.
    #[error("no such host")]
    NoSuchHost,
    /// The connection was not made in time.
    #[error("connecting timed out after {} s", CONNECT_LIMIT.as_secs())]
    TimedOut,
    /// The connection was made, and closed before the answer.
    #[error("the server closed the connection")]
    Closed,
    /// The authority that signed the server's certificate is not trusted.
    #[error("the server's certificate is signed by an unknown authority")]
    UnknownAuthority,
    /// A certificate authority's own certificate, where a server's should be.
    #[error("the server's certificate is a self-signed certificate of an authority, not a server certificate")]
    SelfSigned,
    /// The server's certificate has expired.
    #[error("the server's certificate expired on {0}")]
    Expired(Timestamp),
    /// The server's certificate is not valid yet.
    #[error("the server's certificate is not valid before {0}")]
    NotYetValid(Timestamp),
    /// The server's certificate is for other names.
    #[error("the server's certificate is valid for {}, not for {expected}", listed(.names))]
    WrongName {
        /// The name of the server that was asked.
        expected: String,
        /// The names in the certificate.
        names: Vec<String>,
    },
    /// Something else is wrong with the server's certificate.
    #[error("the server's certificate is invalid: {0}")]
    InvalidCertificate(String),
    /// Plain HTTP where TLS is expected.
    #[error("the server does not speak TLS")]
    NotTls,
    /// TLS where plain HTTP was sent.
    #[error("the server expects HTTPS")]
    HttpsExpected,
    /// The TLS handshake failed.
    #[error("the TLS handshake failed: {0}")]
    Handshake(String),
    /// The proxy cannot be reached: its address, and why.
    #[error("cannot connect to the proxy {0}: {1}")]
    Proxy(String, String),
    /// The proxy requires a password.
    #[error("the proxy {0} requires a user name and a password")]
    ProxyPassword(String),
    /// The proxy refused to connect to the server.
    #[error("the proxy {0} refused to connect to the server")]
    ProxyDenied(String),
    /// Anything else, in the words of the innermost cause.
    #[error("{0}")]
    Other(String),
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "no name".to_owned() } else { names.join(", ") }
}

/// What errors say about the server.
pub(super) struct Server {
    pub(super) address: String,
    pub(super) proxy: Option<String>,
    /// The client certificate as DER.
    pub(super) certificate: SharedCertificate,
}

impl Server {
    /// Finds out why the connection failed.
    pub(super) fn connect_error(&self, error: &(dyn StdError + 'static)) -> ConnectError {
        let causes: Vec<_> = chain(error).collect();
        let reason = causes.iter().rev().find_map(|cause| from_error(*cause)).unwrap_or_else(|| {
            ConnectError::Other(causes.last().map(|cause| without_number(&cause.to_string())).unwrap_or_default())
        });
        let Some(proxy) = self.proxy.clone() else { return reason };
        // The proxy's status is not kept, and the types are private to hyper-util; their words are not.
        let words = causes.iter().map(ToString::to_string).find_map(|text| {
            text.strip_prefix("tunnel error: ").or(text.strip_prefix("SOCKS error: ")).map(str::to_owned)
        });
        match (words.as_deref(), reason) {
            (None, reason) => reason,
            (Some("failed to create underlying connection"), ConnectError::Other(_)) => {
                ConnectError::Proxy(proxy, "connection failed".to_owned())
            }
            (Some("failed to create underlying connection"), reason) => ConnectError::Proxy(proxy, reason.to_string()),
            (Some("proxy authorization required"), _) => ConnectError::ProxyPassword(proxy),
            _ => ConnectError::ProxyDenied(proxy),
        }
    }

    /// When the client certificate is valid, if that is not now.
    pub(super) fn certificate_validity(&self) -> Option<(Timestamp, Timestamp)> {
        let certificate = self.certificate.lock().unwrap_or_else(PoisonError::into_inner);
        let (begin, end) = der::validity(certificate.as_deref()?)?;
        (!(begin..=end).contains(&Timestamp::now())).then_some((begin, end))
    }
}

/// What this one error means, if it means something to a person.
fn from_error(error: &(dyn StdError + 'static)) -> Option<ConnectError> {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(tls(error));
    }
    if error.is::<h2::Error>() || error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_timeout) {
        return Some(ConnectError::Closed); // reset, told to go away, or no answer to a ping
    }
    match error.to_string() {
        text if text == "dns error" => return Some(ConnectError::NoSuchHost), // a private type of hyper-util
        text if text.starts_with("connection closed") => return Some(ConnectError::Closed), // two kinds of one type of hyper
        _ => {}
    }
    let error = error.downcast_ref::<io::Error>()?;
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(ConnectError::Refused),
        // The kernel's own end comes much later than ours, and only to a connection that was there.
        io::ErrorKind::TimedOut if error.raw_os_error().is_none() => Some(ConnectError::TimedOut),
        io::ErrorKind::TimedOut => Some(ConnectError::Closed),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            Some(ConnectError::Closed)
        }
        _ => None,
    }
}

fn tls(error: &rustls::Error) -> ConnectError {
    match error {
        rustls::Error::InvalidCertificate(error) => certificate(error),
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => ConnectError::NotTls,
        rustls::Error::AlertReceived(alert) => {
            ConnectError::Handshake(format!("the server answered: {}", spelled(&format!("{alert:?}"))))
        }
        rustls::Error::PeerIncompatible(_) => {
            ConnectError::Handshake("no TLS version or cipher suite in common".to_owned())
        }
        _ => ConnectError::Handshake("the server violates the TLS protocol".to_owned()),
    }
}

fn certificate(error: &CertificateError) -> ConnectError {
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => ConnectError::UnknownAuthority,
        CertificateError::ExpiredContext { not_after, .. } => ConnectError::Expired(timestamp(*not_after)),
        CertificateError::NotValidYetContext { not_before, .. } => ConnectError::NotYetValid(timestamp(*not_before)),
        CertificateError::NotValidForNameContext { expected, presented } => ConnectError::WrongName {
            expected: expected.to_str().into_owned(),
            names: presented.iter().map(|name| inner(name)).collect(),
        },
        // Of rustls' own verifier, which is not named by rustls.
        CertificateError::Other(error) if error.to_string() == "CaUsedAsEndEntity" => ConnectError::SelfSigned,
        CertificateError::InvalidPurposeContext { .. } => {
            ConnectError::InvalidCertificate("not meant for servers".to_owned())
        }
        CertificateError::Revoked => ConnectError::InvalidCertificate("revoked".to_owned()),
        CertificateError::BadEncoding => ConnectError::InvalidCertificate("malformed".to_owned()),
        _ => ConnectError::InvalidCertificate("not supported by this program".to_owned()),
    }
}

/// The name in `DnsName("x")` and `IpAddress(x)`.
fn inner(name: &str) -> String {
    let name = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
    name.trim_matches('"').to_owned()
}

/// `handshake failure` for `HandshakeFailure`.
fn spelled(name: &str) -> String {
    let name = inner(name);
    let mut words = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !words.is_empty() && !words.ends_with(char::is_uppercase) {
            words.push(' ');
        }
        words.push(character);
    }
    words.to_lowercase()
}

fn timestamp(time: UnixTime) -> Timestamp {
    i64::try_from(time.as_secs())
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .unwrap_or(Timestamp::MAX)
}

/// An error, then its causes. What is wrapped in an I/O error is not its source, but what the source comes from.
pub(super) fn chain<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error))
}

fn cause<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

/// An I/O error as part of a sentence: `permission denied`.
pub(super) fn io_words(error: &io::Error) -> String {
    let text = without_number(&error.to_string());
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

fn without_number(text: &str) -> String {
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
