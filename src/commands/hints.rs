//! What a command makes of an error of the cluster: the exit code, and the next step. Below this file no flag is known.
//!
//! Pure. A hint names a flag or a command that helps; where nothing can be said for certain there is none.

use crate::cluster::{Class, ConnectError, Error};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::ObjectId;
use crate::ownership::Owner;
use crate::reconcile::outcome::{Action, Outcome};
use crate::reconcile::plan::Planned;

/// How orphans are removed.
pub const ORPHANS: &str = "kubectl bpfman config apply --prune deletes the orphans";

/// How an orphan is removed of which others own fields.
pub const KEPT_ORPHAN: &str = "kubectl bpfman config apply --prune --force-conflicts deletes it all the same";

/// What the names mean that the server gives to owners whom it does not know
/// (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management>).
pub fn of_names<'a>(mut owners: impl Iterator<Item = &'a Owner>) -> Option<&'static str> {
    owners.find_map(|owner| match owner.manager.as_str() {
        "before-first-apply" => {
            Some("before-first-apply stands for whoever set the fields before the first server-side apply: nobody was recorded then")
        }
        "ancient-changes" => Some("ancient-changes stands for managers whose entries the server has merged, since there were too many"),
        _ => None,
    })
}

/// How to settle a conflict.
pub const CONFLICT: &str = "take the fields over with apply --force-conflicts, or single ones with --take PATH|MANAGER; leave them with --yield PATH|MANAGER";

/// How to settle fields that block ours.
const BLOCKED: &str = "remove these fields with: kubectl bpfman config apply --force-conflicts";

/// How to look at the pods of an object.
pub fn pods(id: &ObjectId) -> String {
    let namespace = id.namespace.as_deref().unwrap_or_default();
    format!("look at the pods: kubectl get pods -n {namespace} -o wide; kubectl describe {id} -n {namespace}")
}

const ADDRESS: &str = "check the address: --server, kubectl config view --minify";

/// The exit code of a command that ends with this error.
pub fn exit(error: &Error) -> Exit {
    if error.is_no_answer() { Exit::NoAnswer } else { Exit::Refused }
}

/// The next step, if there is one.
pub fn hint(error: &Error) -> Option<String> {
    let hint = match error {
        Error::Conflict(_) => CONFLICT,
        Error::Refused(refusal) => return of_class(&refusal.class).map(str::to_owned),
        Error::NamespaceMissing(name) => {
            return Some(format!("create it with --create-namespace or: kubectl create namespace {name}"));
        }
        Error::NotServed { resource, .. } if resource.starts_with("configs.") => {
            "install the bpfman custom resource definitions first"
        }
        Error::NotServed { .. } => "install the API, or leave its objects out: --monitoring off, --platform kubernetes",
        Error::Unauthenticated { .. } => "log in again, or use another identity: --user, --context, --token",
        Error::Unreachable { cause, .. } => of_connection(cause),
        Error::TimedOut { .. } => "allow more time with --request-timeout",
        Error::Terminating | Error::NamespaceTerminating(_) | Error::OwnerGone(_) | Error::Unusable { .. } => {
            return None;
        }
    };
    Some(hint.to_owned())
}

fn of_class(class: &Class) -> Option<&'static str> {
    match class {
        Class::Immutable(_) => {
            Some("apply --recreate deletes and creates it again; the pods of a DaemonSet stop meanwhile")
        }
        Class::Forbidden => Some("request the permission, or use another identity: --user, --context, --as"),
        Class::Quota => Some("raise the quota, or delete objects that it counts: kubectl get resourcequota -A"),
        Class::Escalation => {
            Some("only who has these permissions can grant them; use another identity: --user, --context, --as")
        }
        Class::Stale => Some("run the command again, it reads the object anew"),
        Class::NotFound { .. } => Some("create the object that it refers to first"),
        Class::Admission | Class::Other => None,
    }
}

fn of_connection(error: &ConnectError) -> &'static str {
    match error {
        ConnectError::Refused => {
            "check that the API server is running, and the address: --server, kubectl config view --minify"
        }
        ConnectError::NoSuchHost => ADDRESS,
        ConnectError::TimedOut => {
            "check the address, the network and its firewalls; set a proxy with HTTPS_PROXY or proxy-url in the kubeconfig"
        }
        ConnectError::Closed => "try again; if it happens again, check that the address is that of an API server",
        ConnectError::UnknownAuthority => {
            "set the authority's certificate with --certificate-authority, or in the kubeconfig"
        }
        ConnectError::SelfSigned => {
            "give the server a certificate signed by an authority, and set that with --certificate-authority"
        }
        ConnectError::Expired(_) => "renew the server's certificate, or correct the clock of this machine",
        ConnectError::NotYetValid(_) => "correct the clock of this machine, or the server's",
        ConnectError::WrongName { .. } => "if it is the right server, set one of these names with --tls-server-name",
        ConnectError::NotTls => "for a port that serves plain HTTP, begin the address with http://",
        ConnectError::HttpsExpected => "begin the address with https://",
        ConnectError::InvalidCertificate(_) => "check that the address is that of an API server",
        ConnectError::Handshake(_) => "check the address, and the client certificate if the server asks for one",
        ConnectError::Proxy(..) => "check the proxy: HTTPS_PROXY, NO_PROXY, or proxy-url in the kubeconfig",
        ConnectError::ProxyPassword(_) => "add them to the address of the proxy: http://user:password@host:port",
        ConnectError::ProxyDenied(_) => "allow this server in the proxy, or bypass the proxy with NO_PROXY",
        ConnectError::Other(_) => "check the address and the network: kubectl config view --minify",
    }
}
/// The end of a command that could not do without an answer.
pub fn failure(error: Error, what: impl std::fmt::Display + Send + Sync + 'static) -> Failure {
    let (exit, hint) = (exit(&error), hint(&error));
    let failure = Failure::new(exit, error).context(what);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// How a command ends after this outcome of an object.
pub fn exit_of(outcome: &Outcome) -> Exit {
    match &outcome.action {
        Action::Failed(error) => exit(error),
        Action::Blocked => Exit::Refused,
        _ => Exit::Done,
    }
}

/// The next steps after what became of an object.
pub fn of_outcome(outcome: &Outcome) -> Option<String> {
    match &outcome.action {
        Action::Failed(error) => hint(error),
        Action::Blocked => Some(BLOCKED.to_owned()),
        _ => None,
    }
}

/// The next steps for an object that deviates or could not be compared.
pub fn of_planned(planned: &Planned) -> Option<String> {
    match planned.error() {
        Some(error) => hint(error),
        None if !planned.blockers.is_empty() => Some(BLOCKED.to_owned()),
        None if !planned.conflicts.is_empty() => Some(CONFLICT.to_owned()),
        None => None,
    }
}
