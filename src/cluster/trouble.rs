//! Why there is no connection, in words: told by the types of the errors, from the library's outermost to the kernel's.
//!
//! Pure. The layers in between repeat each other and name themselves; what a person can act on is the innermost.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::{CertificateError, InvalidMessage, RootCertStore};
use thiserror::Error;

/// How long a connection may take to be made, TLS included.
pub(super) const CONNECT_LIMIT: Duration = Duration::from_secs(20);

/// The words of Go's server for a request without TLS (`net/http`, `tlsRecordHeaderLooksLikeHTTP`).
pub(super) const HTTPS_EXPECTED: &str = "Client sent an HTTP request to an HTTPS server.";

/// Why there is no connection.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing listens there.
    #[error("the connection was refused")]
    Refused,
    /// The name has no address.
    #[error("no address is known for this name")]
    Name,
    /// Nobody answers at all.
    #[error("no connection in {} s", CONNECT_LIMIT.as_secs())]
    Silent,
    /// Somebody answers, and then does not.
    #[error("the connection was closed by the other side")]
    Closed,
    /// The authority that signed the server's certificate is not trusted.
    #[error("the server's certificate was signed by an authority that is not trusted here")]
    Authority,
    /// An authority's own certificate, where a server's should be.
    #[error("the server shows the certificate of an authority, not one of its own (self-signed)")]
    SelfSigned,
    /// The server's certificate is too old.
    #[error("the server's certificate expired on {0}")]
    Expired(Timestamp),
    /// The server's certificate is too new.
    #[error("the server's certificate is not valid before {0}")]
    NotYet(Timestamp),
    /// The server's certificate is another one's.
    #[error("the server's certificate is for {}, not for {expected}", listed(.names))]
    WrongName {
        /// The name that was asked for.
        expected: String,
        /// The names in the certificate.
        names: Vec<String>,
    },
    /// Something else is wrong with the server's certificate.
    #[error("the server's certificate is not acceptable: {0}")]
    Certificate(String),
    /// Plain HTTP where TLS should be.
    #[error("what answers there does not speak TLS")]
    Plain,
    /// TLS where plain HTTP should be.
    #[error("the server speaks TLS there, and was spoken to in plain HTTP")]
    Encrypted,
    /// The TLS handshake came to nothing.
    #[error("the TLS handshake failed: {0}")]
    Handshake(String),
    /// What is wrong lies between here and the proxy.
    #[error("the proxy {0} cannot be reached: {1}")]
    Proxy(String, String),
    /// The proxy wants a password.
    #[error("the proxy {0} wants a user name and a password")]
    ProxyPassword(String),
    /// The proxy does not want to.
    #[error("the proxy {0} does not let the connection through")]
    ProxyDenied(String),
    /// Anything else, in the words of the innermost cause.
    #[error("{0}")]
    Other(String),
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "no name at all".to_owned() } else { names.join(", ") }
}

/// The server, as the words about it need it.
pub(super) struct Server {
    pub(super) address: String,
    pub(super) proxy: Option<String>,
    /// The client certificate as DER.
    pub(super) certificate: Option<Vec<u8>>,
}

impl Server {
    /// Says why no connection came to be.
    pub(super) fn trouble(&self, error: &(dyn StdError + 'static)) -> Trouble {
        let causes: Vec<_> = chain(error).collect();
        let trouble = causes.iter().rev().find_map(|cause| known(*cause)).unwrap_or_else(|| {
            Trouble::Other(causes.last().map(|cause| without_number(&cause.to_string())).unwrap_or_default())
        });
        let Some(proxy) = self.proxy.clone() else { return trouble };
        // The proxy's status is not kept, and the types are private to hyper-util; their words are not.
        let words = causes.iter().map(ToString::to_string).find_map(|text| {
            text.strip_prefix("tunnel error: ").or(text.strip_prefix("SOCKS error: ")).map(str::to_owned)
        });
        match (words.as_deref(), trouble) {
            (None, trouble) => trouble,
            (Some("failed to create underlying connection"), Trouble::Other(_)) => {
                Trouble::Proxy(proxy, "no connection can be made".to_owned())
            }
            (Some("failed to create underlying connection"), trouble) => Trouble::Proxy(proxy, trouble.to_string()),
            (Some("proxy authorization required"), _) => Trouble::ProxyPassword(proxy),
            _ => Trouble::ProxyDenied(proxy),
        }
    }

    /// When the client certificate ended, if it has.
    pub(super) fn certificate_end(&self) -> Option<Timestamp> {
        let certificate = CertificateDer::from(self.certificate.as_deref()?);
        let mut itself = RootCertStore::empty();
        itself.add(certificate.clone().into_owned()).ok()?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier =
            rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(itself), provider).build().ok()?;
        // Whoever signed it, its time is looked at first.
        match verifier.verify_client_cert(&certificate, &[], UnixTime::now()) {
            Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => {
                Some(timestamp(not_after))
            }
            _ => None,
        }
    }
}

impl Trouble {
    /// What helps.
    pub(super) fn hint(&self) -> String {
        let hint = match self {
            Self::Refused => "check that the API server runs, and the address: --server, kubectl config view --minify",
            Self::Name => "check the address: --server, kubectl config view --minify",
            Self::Silent => {
                "check the address, the network and its firewalls; a proxy is named by HTTPS_PROXY or proxy-url"
            }
            Self::Closed => "try again; if it stays so, check that the address is that of an API server",
            Self::Authority => "name the authority's certificate with --certificate-authority, or in the kubeconfig",
            Self::SelfSigned => {
                "give the server a certificate that an authority signed, and name that with --certificate-authority"
            }
            Self::Expired(_) => "renew the server's certificate, or set the clock of this machine right",
            Self::NotYet(_) => "set the clock of this machine right, or the server's",
            Self::WrongName { .. } => "if it is the right server, name one of these with --tls-server-name",
            Self::Plain => "if it is a port for plain HTTP, write http:// in front of the address",
            Self::Encrypted => "write https:// in front of the address",
            Self::Certificate(_) => "check that the address is that of an API server",
            Self::Handshake(_) => "check the address, and the client certificate if the server asks for one",
            Self::Proxy(..) => "check the proxy: HTTPS_PROXY, NO_PROXY, or proxy-url in the kubeconfig",
            Self::ProxyPassword(_) => "write them into the proxy's address: http://user:password@host:port",
            Self::ProxyDenied(_) => "let the proxy allow this server, or go past the proxy with NO_PROXY",
            Self::Other(_) => "check the address and the network: kubectl config view --minify",
        };
        hint.to_owned()
    }
}

/// What this one error says, if it is one of those that say something.
fn known(error: &(dyn StdError + 'static)) -> Option<Trouble> {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(tls(error));
    }
    match error.to_string() {
        text if text == "dns error" => return Some(Trouble::Name), // a private type of hyper-util
        text if text.starts_with("connection closed") => return Some(Trouble::Closed), // two kinds of one type of hyper
        _ => {}
    }
    let error = error.downcast_ref::<io::Error>()?;
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(Trouble::Refused),
        // The kernel's own end comes much later than ours, and only to a connection that was there.
        io::ErrorKind::TimedOut if error.raw_os_error().is_none() => Some(Trouble::Silent),
        io::ErrorKind::TimedOut => Some(Trouble::Closed),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            Some(Trouble::Closed)
        }
        _ => None,
    }
}

fn tls(error: &rustls::Error) -> Trouble {
    match error {
        rustls::Error::InvalidCertificate(error) => certificate(error),
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => Trouble::Plain,
        rustls::Error::AlertReceived(alert) => {
            Trouble::Handshake(format!("the server says: {}", spelled(&format!("{alert:?}"))))
        }
        rustls::Error::PeerIncompatible(_) => Trouble::Handshake("no version or cipher of TLS in common".to_owned()),
        _ => Trouble::Handshake("what answers there breaks the rules of TLS".to_owned()),
    }
}

fn certificate(error: &CertificateError) -> Trouble {
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => Trouble::Authority,
        CertificateError::ExpiredContext { not_after, .. } => Trouble::Expired(timestamp(*not_after)),
        CertificateError::NotValidYetContext { not_before, .. } => Trouble::NotYet(timestamp(*not_before)),
        CertificateError::NotValidForNameContext { expected, presented } => Trouble::WrongName {
            expected: expected.to_str().into_owned(),
            names: presented.iter().map(|name| inner(name)).collect(),
        },
        // Of rustls' own verifier, which is not named by rustls.
        CertificateError::Other(error) if error.to_string() == "CaUsedAsEndEntity" => Trouble::SelfSigned,
        CertificateError::InvalidPurposeContext { .. } => {
            Trouble::Certificate("it is not made for a server".to_owned())
        }
        CertificateError::Revoked => Trouble::Certificate("it was revoked".to_owned()),
        CertificateError::BadEncoding => Trouble::Certificate("it cannot be read".to_owned()),
        _ => Trouble::Certificate("it is of a form that is not supported".to_owned()),
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
