//! What the API server answered when it did not do what was asked, sorted once.
//!
//! Pure: takes a status code and a body, gives an error that knows its exit code and the next step. Conflicts, immutable
//! fields and missing kinds are told apart by the server's causes, field by field, never by the text of the whole message.

use http::StatusCode;
use kube::core::Status;
use thiserror::Error;

use super::access::exec;
use super::trouble::{HTTPS_EXPECTED, Server, Trouble, chain};
use crate::exit::Exit;

/// One field that another manager owns with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The path as the server writes it, e.g. `.spec.template.spec.containers[name="bpfman"].image`.
    pub field: String,
    /// The server's words, e.g. `conflict with "kubectl-set" using apps/v1`.
    pub message: String,
}

/// Why a request did not give what was asked for.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Error {
    /// Other field managers own fields with other values.
    #[error("conflict: {} owned by another field manager with another value", count(.0.len(), "field is", "fields are"))]
    Conflict(Vec<Cause>),
    /// The object changed since it was read.
    #[error("the object was changed or replaced meanwhile: {0}")]
    Stale(String),
    /// A field that cannot be changed differs.
    #[error("immutable: {} cannot be changed, only deleting and creating the object again would", .0.join(", "))]
    Immutable(Vec<String>),
    /// The object is on its way out: an apply to it would be lost.
    #[error("the object is being deleted")]
    Terminating,
    /// The namespace is not there.
    #[error("namespace {0:?} not found")]
    NamespaceMissing(String),
    /// The namespace is on its way out and takes no new objects.
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
    /// The caller lacks a right; the server says which.
    #[error("forbidden: {0}")]
    Forbidden(String),
    /// Any other refusal of this one object: validation, admission, a field that the schema does not know.
    #[error("{message}")]
    Refused {
        /// The HTTP status code.
        code: u16,
        /// The server's words.
        message: String,
    },
    /// The server does not know who is asking.
    #[error("not authenticated at {host}: {message}")]
    Unauthenticated {
        /// The server's address.
        host: String,
        /// The server's words.
        message: String,
    },
    /// No connection, or it broke off.
    #[error("cannot reach {host}: {cause}")]
    Unreachable {
        /// The server's address.
        host: String,
        /// Why.
        cause: Trouble,
    },
    /// No answer in time.
    #[error("no answer from {host} in {}", if *.seconds == 0 { "less than 1 s".to_owned() } else { format!("{seconds} s") })]
    TimedOut {
        /// The server's address.
        host: String,
        /// The limit, `--request-timeout`.
        seconds: u64,
    },
    /// An answer that is none of the API's.
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
    /// Sorts an answer that is not a success.
    ///
    /// None when the one object that was asked for is not there, which only the caller can call an error.
    pub(super) fn of_answer(code: StatusCode, body: &[u8], server: &Server) -> Option<Self> {
        let Some(status) = serde_json::from_slice::<Status>(body).ok().filter(Status::is_failure) else {
            return Some(Self::of_foreign_body(code, body, server));
        };
        let message = status.message;
        let (kind, name, causes) = match status.details {
            Some(details) => (details.kind, details.name, details.causes),
            None => Default::default(),
        };
        let caused = |reason: &str| causes.iter().filter(|cause| cause.reason == reason).collect::<Vec<_>>();
        let conflicts = caused("FieldManagerConflict");
        let immutable: Vec<String> = causes.iter().filter(|cause| is_immutable(&cause.message)).map(field).collect();
        let error = match code.as_u16() {
            401 => Self::unauthenticated(message, server),
            403 if !caused("NamespaceTerminating").is_empty() => Self::NamespaceTerminating(name),
            403 => Self::Forbidden(message),
            404 if kind == "namespaces" => Self::NamespaceMissing(name),
            404 => return None,
            409 if !conflicts.is_empty() => Self::Conflict(conflicts.into_iter().map(to_cause).collect()),
            409 => Self::Stale(message),
            422 if !immutable.is_empty() => Self::Immutable(deduplicated(immutable)),
            429 | 503 | 504 => {
                Self::Unusable { code: code.as_u16(), host: server.address.clone(), line: first_line(&message) }
            }
            code => Self::Refused { code, message },
        };
        Some(error)
    }

    fn of_foreign_body(code: StatusCode, body: &[u8], server: &Server) -> Self {
        let line = first_line(&String::from_utf8_lossy(body));
        let host = server.address.clone();
        match code {
            StatusCode::UNAUTHORIZED => Self::unauthenticated(line, server),
            StatusCode::BAD_REQUEST if line == HTTPS_EXPECTED => Self::Unreachable { host, cause: Trouble::Encrypted },
            _ => Self::Unusable { code: code.as_u16(), host, line },
        }
    }

    /// Says why no answer came; that there is no new token to send is not the server's fault.
    pub(super) fn of_transport(error: &(dyn std::error::Error + 'static), server: &Server) -> Self {
        let host = server.address.clone();
        if let Some(error) = chain(error).find_map(|cause| cause.downcast_ref::<exec::Error>()) {
            return Self::Unauthenticated { host, message: error.to_string() };
        }
        if chain(error).find_map(|cause| cause.downcast_ref::<kube::client::AuthError>()).is_some() {
            let cause = chain(error).last().map(ToString::to_string).unwrap_or_default();
            return Self::Unauthenticated { host, message: format!("the auth-provider gave no token: {cause}") };
        }
        Self::Unreachable { host, cause: server.trouble(error) }
    }

    /// The server does not say that a certificate has expired, which is by far the most frequent reason.
    fn unauthenticated(message: String, server: &Server) -> Self {
        let message = match server.certificate_end() {
            Some(end) => format!("the client certificate expired on {end}"),
            None => message,
        };
        Self::Unauthenticated { host: server.address.clone(), message }
    }

    /// How a command ends that met this error.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Unauthenticated { .. } | Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Unusable { .. } => {
                Exit::NoAnswer
            }
            _ => Exit::Refused,
        }
    }

    /// What helps, where that can be said.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Conflict(_) => {
                "take the fields over with --force-conflicts, or put the wanted values into the Config"
            }
            Self::Immutable(_) => "delete the object yourself and apply again; deleting a DaemonSet stops its pods",
            Self::NamespaceMissing(name) => {
                return Some(format!("create it with --create-namespace or: kubectl create namespace {name}"));
            }
            Self::NotServed { resource, .. } if resource.starts_with("configs.") => {
                "install the bpfman custom resource definitions first"
            }
            Self::NotServed { .. } => {
                "install the API, or leave its objects out: --monitoring off, --platform kubernetes"
            }
            Self::Forbidden(_) => "ask for the right, or use another identity: --user, --context, --as",
            Self::Unauthenticated { .. } => "log in again, or choose another identity: --user, --context, --token",
            Self::Unreachable { cause, .. } => return Some(cause.hint()),
            Self::TimedOut { .. } => "allow more with --request-timeout",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

fn to_cause(cause: &kube::core::response::StatusCause) -> Cause {
    Cause { field: cause.field.clone(), message: cause.message.clone() }
}

/// The server has one reason for all invalid values; these are its words for values that cannot be changed
/// (`ValidateImmutableField` in apimachinery, and the validations of RBAC bindings and of Services).
fn is_immutable(message: &str) -> bool {
    ["field is immutable", "cannot change roleRef", "may not change once set"]
        .iter()
        .any(|words| message.contains(words))
}

/// The field as people write it; the server misspells one, and names the list that repeats another.
fn field(cause: &kube::core::response::StatusCause) -> String {
    match cause.field.as_str() {
        "spec.attachedRequired" => "spec.attachRequired".to_owned(),
        "spec.clusterIPs[0]" => "spec.clusterIP".to_owned(),
        field => field.to_owned(),
    }
}

fn deduplicated(mut fields: Vec<String>) -> Vec<String> {
    fields.dedup();
    fields
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("(empty answer)").chars().take(200).collect()
}

/// `1 field is`, `2 fields are`.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
