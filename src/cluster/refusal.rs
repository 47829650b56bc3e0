//! What the API server refused, and why: its Status, kept whole, and a class only where reason and causes make it certain.
//!
//! Pure. The server's order of causes is random, so they are sorted. Texts are one line and at most 1 KiB when printed.

use std::fmt;

use kube::core::Status;
use kube::core::response::StatusCause;

/// The longest text of the server that is printed, in bytes.
const LONGEST: usize = 1024;
/// What is left of a longer one: its beginning, and its end, where Go's validation says what is wrong with a value.
const HEAD: usize = 760;
const TAIL: usize = 220;

/// One cause of a refusal: a field that another manager owns, a value that is not valid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    /// The path as the server writes it, e.g. `.spec.template.spec.containers[name="bpfman"].image`; empty where there is none.
    pub field: String,
    /// The API's reason, e.g. `FieldManagerConflict`, `FieldValueInvalid`.
    pub reason: String,
    /// The server's words, e.g. `conflict with "kubectl-set" using apps/v1`.
    pub message: String,
}

/// What kind of refusal this is, as far as that is certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// These fields cannot be changed.
    Immutable(Vec<String>),
    /// The authorizer: a permission is missing.
    Forbidden,
    /// A resource quota is used up, or its state is not known.
    Quota,
    /// A role with permissions that the caller does not have.
    Escalation,
    /// An admission policy or an admission webhook denied the request.
    Admission,
    /// The object was changed, replaced or deleted since it was read.
    Stale,
    /// An object is not there: the one that was asked for, or one that it refers to.
    NotFound {
        /// The kind of what is not there, e.g. `clusterroles`; empty when the server does not know the path.
        resource: String,
        /// Its name.
        name: String,
    },
    /// Anything else.
    Other,
}

/// The server's refusal of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of refusal it is.
    pub class: Class,
    /// The HTTP status code.
    pub code: u16,
    /// The API's reason, e.g. `Invalid`; empty where the server gives none.
    pub reason: String,
    /// The server's message.
    pub message: String,
    /// All causes, sorted, each once.
    pub causes: Vec<Cause>,
}

impl Refusal {
    /// A refusal without a Status: our own, or that of a proxy.
    pub(super) fn of_text(code: u16, message: String) -> Self {
        Self { class: Class::Other, code, reason: String::new(), message, causes: Vec::new() }
    }

    /// Reads the server's Status.
    pub(super) fn of_status(code: u16, status: Status) -> Self {
        let Status { message, reason, details, .. } = status;
        let (resource, name, causes) = match details {
            Some(details) => (details.kind, details.name, details.causes),
            None => Default::default(),
        };
        let mut causes: Vec<Cause> = causes.into_iter().map(to_cause).collect();
        causes.sort();
        causes.dedup();
        let class = classify(code, &reason, &message, &causes).unwrap_or(Class::NotFound { resource, name });
        Self { class, code, reason, message, causes }
    }

    /// Whether a cause with this reason is among the causes.
    pub(super) fn has_cause(&self, reason: &str) -> bool {
        self.causes.iter().any(|cause| cause.reason == reason)
    }

    pub(super) fn is_not_found(&self, plural: &str, object: &str) -> bool {
        matches!(&self.class, Class::NotFound { resource, name } if resource == plural && name == object)
    }

    /// Whether a webhook that does not support dry run is why a dry run was refused.
    pub(super) fn is_dry_run_unsupported(&self) -> bool {
        self.code == 400 && is_of_webhook(&self.message) && self.message.ends_with(" does not support dry run")
    }

    /// Rewrites all texts, to mask them.
    pub(super) fn map(mut self, text: impl Fn(&str) -> String) -> Self {
        self.message = text(&self.message);
        for cause in &mut self.causes {
            cause.message = text(&cause.message);
        }
        self
    }

    /// The message of an invalid object consists of its causes, in random order.
    fn is_its_causes(&self) -> bool {
        self.class == Class::Other
            && self.reason == "Invalid"
            && !self.causes.is_empty()
            && self.causes.iter().all(|cause| !cause.field.is_empty())
    }
}

/// The class of a Status; none for an object that is not there.
fn classify(code: u16, reason: &str, message: &str, causes: &[Cause]) -> Option<Class> {
    if is_of_webhook(message) || without_object(message).starts_with("ValidatingAdmissionPolicy '") {
        return Some(Class::Admission);
    }
    let class = match code {
        403 => forbidden(without_object(message)),
        404 => return None,
        409 if causes.is_empty() => Class::Stale,
        422 if reason == "Invalid" => invalid(causes),
        _ => Class::Other,
    };
    Some(class)
}

/// `admission webhook "name" denied the request: …`, `… does not support dry run`.
fn is_of_webhook(message: &str) -> bool {
    message.starts_with("admission webhook \"")
}

/// What follows `configmaps "a" is forbidden: `; the server writes `forbidden: ` alone for paths that are not objects.
fn without_object(message: &str) -> &str {
    message.split_once("forbidden: ").map_or(message, |(_, text)| text)
}

/// The texts of the authorizer, of the quota and of the escalation check of RBAC; other plugins refuse with a 403 as well.
fn forbidden(text: &str) -> Class {
    if text.starts_with("User \"") && text.contains("\" cannot ") {
        Class::Forbidden
    } else if ["exceeded quota: ", "failed quota: ", "status unknown for quota: "]
        .iter()
        .any(|form| text.starts_with(form))
    {
        Class::Quota
    } else if text.starts_with("user \"")
        && text.contains(" is attempting to grant RBAC permissions not currently held")
    {
        Class::Escalation
    } else {
        Class::Other
    }
}

fn invalid(causes: &[Cause]) -> Class {
    let mut fields: Vec<String> = causes.iter().filter(|cause| is_immutable(cause)).map(field).collect();
    fields.dedup();
    match fields.as_slice() {
        [] => Class::Other,
        // Another object has the name now; the one that was read is gone.
        [uid] if uid == "metadata.uid" => Class::Stale,
        _ => Class::Immutable(fields),
    }
}

/// The server has one reason for all invalid values; these are its words for values that cannot be changed
/// (`ValidateImmutableField` in apimachinery, the validations of `ConfigMap`, `Secret`, RBAC bindings and Services).
fn is_immutable(cause: &Cause) -> bool {
    let text = cause.message.strip_prefix("Forbidden: ").unwrap_or(&cause.message);
    let words = [
        "field is immutable",
        "field is immutable when `immutable` is set",
        "cannot change roleRef",
        "may not change once set",
    ];
    let is_said = |words: &&str| text.strip_suffix(*words).is_some_and(|rest| rest.is_empty() || rest.ends_with(": "));
    !cause.field.is_empty()
        && matches!(cause.reason.as_str(), "FieldValueInvalid" | "FieldValueForbidden")
        && words.iter().any(is_said)
}

/// The field as people write it; the server misspells one, and names the list that repeats another.
fn field(cause: &Cause) -> String {
    match cause.field.as_str() {
        "spec.attachedRequired" => "spec.attachRequired".to_owned(),
        "spec.clusterIPs[0]" => "spec.clusterIP".to_owned(),
        field => field.to_owned(),
    }
}

fn to_cause(cause: StatusCause) -> Cause {
    Cause { field: cause.field, reason: cause.reason, message: cause.message }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.class {
            Class::Immutable(fields) => {
                let (noun, verb) = if fields.len() == 1 { ("field", "is") } else { ("fields", "are") };
                write!(out, "{noun} {} {verb} immutable; the object must be recreated", fields.join(", "))?;
                let others: Vec<&Cause> = self.causes.iter().filter(|cause| !is_immutable(cause)).collect();
                if others.is_empty() { Ok(()) } else { write!(out, "; also invalid: {}", listed(&others)) }
            }
            Class::Forbidden => write!(out, "forbidden: {}", shortened(without_object(&self.message))),
            Class::Stale if self.code == 422 => {
                out.write_str("the object was replaced since it was read: its uid differs")
            }
            _ if self.is_its_causes() => {
                write!(out, "invalid: {}", listed(&self.causes.iter().collect::<Vec<_>>()))
            }
            _ => out.write_str(&shortened(&self.message)),
        }
    }
}

fn listed(causes: &[&Cause]) -> String {
    let texts: Vec<String> =
        causes.iter().map(|cause| format!("{}: {}", field(cause), shortened(&cause.message))).collect();
    texts.join("; ")
}

/// One line of at most 1 KiB; of a longer one the beginning, the size and the end.
pub(super) fn shortened(text: &str) -> String {
    let line = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    if line.len() <= LONGEST {
        return line;
    }
    let boundary = |from: usize| (from..line.len()).find(|at| line.is_char_boundary(*at)).unwrap_or(line.len());
    let (head, tail) = (line.get(..boundary(HEAD)), line.get(boundary(line.len() - TAIL)..));
    format!("{} … ({} bytes) … {}", head.unwrap_or_default(), line.len(), tail.unwrap_or_default())
}
