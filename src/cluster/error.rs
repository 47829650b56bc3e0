//! Why a request did not give what was asked for: the server's refusal, or no usable answer from it.
//!
//! Pure: takes a status code and a body, gives an error. Flags, hints and exit codes are no concern of this file.

use http::StatusCode;
use kube::core::Status;
use serde_json::Value;
use thiserror::Error;

use super::access::exec;
use super::connect_error::{ConnectError, HTTPS_EXPECTED, Server, chain};
use super::refusal::{Cause, Class, Refusal, shortened};
use crate::mask;

/// Why a request did not give what was asked for.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Error {
    /// Other field managers own fields with other values.
    #[error("conflict: {} owned by another field manager with another value", count(.0.len(), "field is", "fields are"))]
    Conflict(Vec<Cause>),
    /// The server refused this one request.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// The object that owns the others is gone, or has been replaced since it was read.
    #[error("{0} was deleted or replaced meanwhile; nothing is created for it")]
    OwnerGone(String),
    /// The object is being deleted: an apply to it would be lost.
    #[error("the object is being deleted")]
    Terminating,
    /// The namespace does not exist.
    #[error("namespace {0:?} not found")]
    NamespaceMissing(String),
    /// The namespace is being deleted and takes no new objects.
    #[error("namespace {0:?} is being deleted")]
    NamespaceTerminating(String),
    /// The kind is unknown to this server.
    #[error("the server has no resource {resource} ({api_version})")]
    NotServed {
        /// The plural with its group, e.g. `servicemonitors.monitoring.coreos.com`.
        resource: String,
        /// The version asked for.
        api_version: String,
    },
    /// The server does not accept the credentials.
    #[error("unauthorized at {host}: {message}")]
    Unauthenticated {
        /// The server's address.
        host: String,
        /// The server's words.
        message: String,
    },
    /// No connection, or it was closed before the answer.
    #[error("cannot reach {host}: {cause}")]
    Unreachable {
        /// The server's address.
        host: String,
        /// Why.
        cause: ConnectError,
    },
    /// No answer in time.
    #[error("no answer from {host} within {}", if *.seconds == 0 { "1 s".to_owned() } else { format!("{seconds} s") })]
    TimedOut {
        /// The server's address.
        host: String,
        /// The limit.
        seconds: u64,
    },
    /// An answer that no API server gives, or that says it cannot answer now.
    #[error("HTTP {code} from {host}: {line}")]
    Unusable {
        /// The HTTP status code.
        code: u16,
        /// The server's address.
        host: String,
        /// The first line of the body, at most 200 characters.
        line: String,
    },
}

impl Error {
    /// Reads an answer that is not a success.
    pub(super) fn of_answer(code: StatusCode, body: &[u8], server: &Server) -> Self {
        let Some(status) = serde_json::from_slice::<Status>(body).ok().filter(Status::is_failure) else {
            return Self::of_foreign_body(code, body, server);
        };
        let refusal = Refusal::of_status(code.as_u16(), status);
        match (refusal.code, &refusal.class) {
            (401, _) => Self::unauthenticated(shortened(&refusal.message), server),
            (403, _) if refusal.has_cause("NamespaceTerminating") => Self::NamespaceTerminating(String::new()),
            (404, Class::NotFound { resource, name }) if resource == "namespaces" => {
                Self::NamespaceMissing(name.clone())
            }
            (409, _) if refusal.has_cause("FieldManagerConflict") => Self::Conflict(refusal.causes),
            (429 | 503 | 504, _) => Self::unusable(code, &refusal.message, server),
            _ => Self::Refused(Box::new(refusal)),
        }
    }

    /// What a proxy answered, or a server that is not an API server, or an API server that has not got so far as a Status.
    fn of_foreign_body(code: StatusCode, body: &[u8], server: &Server) -> Self {
        let text = String::from_utf8_lossy(body);
        let host = server.address.clone();
        match code {
            StatusCode::UNAUTHORIZED => Self::unauthenticated(first_line(&text), server),
            StatusCode::BAD_REQUEST if first_line(&text) == HTTPS_EXPECTED => {
                Self::Unreachable { host, cause: ConnectError::HttpsExpected }
            }
            // The server's mux, for paths that it does not serve.
            StatusCode::NOT_FOUND if text.starts_with("404 page not found") => Self::not_found("", ""),
            _ => Self::unusable(code, &text, server),
        }
    }

    pub(super) fn unusable(code: StatusCode, text: &str, server: &Server) -> Self {
        Self::Unusable { code: code.as_u16(), host: server.address.clone(), line: first_line(text) }
    }

    /// Says why no answer came; that there is no new token to send is not the server's fault.
    pub(super) fn of_transport(error: &(dyn std::error::Error + 'static), server: &Server) -> Self {
        let host = server.address.clone();
        if let Some(error) = chain(error).find_map(|cause| cause.downcast_ref::<exec::PluginError>()) {
            return Self::Unauthenticated { host, message: error.to_string() };
        }
        if chain(error).find_map(|cause| cause.downcast_ref::<kube::client::AuthError>()).is_some() {
            let cause = chain(error).last().map(ToString::to_string).unwrap_or_default();
            return Self::Unauthenticated { host, message: format!("the auth-provider gave no token: {cause}") };
        }
        Self::Unreachable { host, cause: server.connect_error(error) }
    }

    /// The server does not say that a certificate has expired, which is by far the most frequent reason.
    fn unauthenticated(message: String, server: &Server) -> Self {
        let message = match server.certificate_validity() {
            Some((begin, end)) => format!(
                "the client certificate is valid from {begin} to {end}, and the time of this machine is {}",
                jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default()
            ),
            None => message,
        };
        Self::Unauthenticated { host: server.address.clone(), message }
    }

    /// A refusal in our own words or in a proxy's.
    pub(super) fn refused(code: u16, message: String) -> Self {
        Self::Refused(Box::new(Refusal::of_text(code, message)))
    }

    /// The object is not what it was when it was read.
    pub(crate) fn stale(message: &str) -> Self {
        Self::Refused(Box::new(Refusal { class: Class::Stale, ..Refusal::of_text(409, message.to_owned()) }))
    }

    pub(super) fn not_found(resource: &str, name: &str) -> Self {
        let class = Class::NotFound { resource: resource.to_owned(), name: name.to_owned() };
        Self::Refused(Box::new(Refusal { class, ..Refusal::of_text(404, format!("{resource} {name:?} not found")) }))
    }

    /// The page of a proxy that did not let this one request through; others may pass.
    pub(super) fn of_one_request(self) -> Self {
        match self {
            Self::Unusable { code, host, line } if (400..500).contains(&code) && !matches!(code, 407 | 408 | 429) => {
                Self::refused(code, format!("HTTP {code} from {host}: {line}"))
            }
            error => error,
        }
    }

    /// What a patch is for, and is not there, has been deleted since it was read.
    pub(super) fn stale_without(self, plural: &str, object: &str) -> Self {
        match self {
            Self::Refused(mut refusal) if refusal.is_not_found(plural, object) => {
                refusal.class = Class::Stale;
                Self::Refused(refusal)
            }
            error => error,
        }
    }

    /// Masks the values of `object`, where it is a Secret, in the server's texts.
    pub(super) fn masked(self, object: &Value) -> Self {
        match self {
            Self::Refused(refusal) => Self::Refused(Box::new(refusal.map(|text| mask::text(text, object)))),
            error => error,
        }
    }

    /// Whether nothing is known for want of an answer: unreachable, unauthenticated, timed out.
    pub fn is_no_answer(&self) -> bool {
        matches!(
            self,
            Self::Unauthenticated { .. } | Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Unusable { .. }
        )
    }

    /// Whether the caller lacks a permission.
    pub fn is_forbidden(&self) -> bool {
        matches!(self.class(), Some(Class::Forbidden))
    }

    /// Whether the object was changed, replaced or deleted since it was read.
    pub fn is_stale(&self) -> bool {
        matches!(self.class(), Some(Class::Stale))
    }

    /// Whether a dry run was refused since a webhook does not support it.
    pub fn is_dry_run_unsupported(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.is_dry_run_unsupported())
    }

    /// The fields that cannot be changed, if that is why the object was refused.
    pub fn immutable_fields(&self) -> Option<&[String]> {
        match self.class() {
            Some(Class::Immutable(fields)) => Some(fields),
            _ => None,
        }
    }

    /// The class of a refusal.
    pub fn class(&self) -> Option<&Class> {
        match self {
            Self::Refused(refusal) => Some(&refusal.class),
            _ => None,
        }
    }
}

/// The first line with text; of a page the first text that is not markup.
fn first_line(text: &str) -> String {
    let is_page = text.trim_start().starts_with('<');
    let lines = text.lines().map(|line| if is_page { without_tags(line) } else { line.to_owned() });
    let line = lines.map(|line| line.trim().to_owned()).find(|line| !line.is_empty());
    line.unwrap_or_else(|| "(empty answer)".to_owned()).chars().take(200).collect()
}

fn without_tags(line: &str) -> String {
    line.split('<')
        .enumerate()
        .map(|(index, part)| if index == 0 { part } else { part.split_once('>').map_or("", |(_, text)| text) })
        .collect()
}

/// `1 field is`, `2 fields are`.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
