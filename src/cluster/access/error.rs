//! Why the settings of a connection cannot be used: which setting, where it stands, what is wrong with it.
//!
//! Pure data. No value that could be a secret is part of it, and no flag's name: hints and exit codes are made by the commands.

use std::fmt;

use thiserror::Error;

use super::exec;

/// Why the settings of a connection cannot be used.
#[derive(Debug, Error)]
pub(crate) enum AccessError {
    #[error("cannot read kubeconfig {0}: no such file or directory")]
    KubeconfigNotFound(String),
    #[error("cannot read kubeconfig {path}: {reason}")]
    Kubeconfig { path: String, reason: String },
    #[error("none of the files in KUBECONFIG exists: {0}")]
    KubeconfigList(String),
    #[error("{0} is empty: it has no contexts, clusters or users")]
    EmptyKubeconfig(String),
    #[error("{kind} {name:?} does not exist in {kubeconfig}")]
    NotFound { kind: &'static str, name: String, kubeconfig: String, available: Vec<String> },
    #[error("{context} is incomplete")]
    IncompleteContext { context: String, source: Box<AccessError> },
    #[error("{0} has no cluster")]
    NoCluster(String),
    #[error("{kubeconfig} has no current context")]
    NoCurrentContext { kubeconfig: String, available: Vec<String> },
    #[error("{kind} {name:?} does not exist: no kubeconfig found")]
    NoKubeconfig { kind: &'static str, name: String },
    #[error("no kubeconfig found, and not running in a pod")]
    NotInPod,
    #[error("no kubeconfig found, and this pod has no service account token: cannot read {path}: {reason}")]
    ServiceAccount { path: String, reason: String },
    #[error("{0} has no server")]
    NoServer(String),
    #[error("{setting} is not a valid URL: {url:?}")]
    InvalidServer { setting: Setting, url: String },
    #[error("{setting} is not a valid host name: {name:?}")]
    InvalidTlsServerName { setting: Setting, name: String },
    // Without the URL, which may hold a password.
    #[error("{0} is not a valid proxy URL")]
    InvalidProxy(String),
    #[error("insecure-skip-tls-verify and certificate-authority must not both be set{}", in_origin(.0.as_deref()))]
    InsecureWithAuthority(Option<String>),
    #[error("cannot read {file}: {reason}")]
    PemFile { file: PemName, reason: String },
    #[error("{file} {problem}")]
    Pem { file: PemName, problem: PemProblem },
    #[error("cannot read token file {path} ({origin}): {reason}")]
    TokenFile { path: String, origin: String, reason: String },
    #[error("{0} has characters that are not allowed in an HTTP header")]
    InvalidToken(Setting),
    #[error("{user} has both {0} and {1}", .credentials.0, .credentials.1)]
    TwoCredentials { user: String, credentials: (&'static str, &'static str) },
    #[error("{user} has auth-provider {name:?}, which is not supported")]
    AuthProvider { user: String, name: String },
    #[error(
        "a user, group, UID or extra attribute to impersonate has characters that are not allowed in an HTTP header"
    )]
    InvalidImpersonation,
    #[error("{0} needs a user to impersonate")]
    ImpersonationWithoutUser(Setting),
    #[error("credential plugin of {user}: {field} {problem}")]
    PluginSettings { user: String, field: &'static str, problem: String },
    #[error(transparent)]
    Plugin(#[from] exec::PluginError),
    #[error("the client certificate and the client key do not match")]
    KeyMismatch,
    #[error("cannot use the credentials for {address}: {reason}")]
    Credentials { address: String, reason: String },
}

/// A setting, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// The kubeconfig's name for it.
    pub(crate) key: &'static str,
    /// The part of the kubeconfig, e.g. `user "me" in kubeconfig /home/me/.kube/config`; none for an option.
    pub(crate) origin: Option<String>,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)?;
        self.origin.iter().try_for_each(|origin| write!(f, " of {origin}"))
    }
}

/// A certificate or a key as messages name it.
#[derive(Clone, Debug)]
pub(crate) struct PemName {
    /// The kubeconfig's name for it, e.g. `client-key`.
    pub(crate) key: &'static str,
    /// E.g. `client key /x/me.key (user "me" in kubeconfig /x/config)`.
    pub(crate) name: String,
}

impl fmt::Display for PemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// What is wrong with a certificate or a key.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum PemProblem {
    #[error("is not valid base64")]
    Base64,
    #[error("is not valid PEM")]
    Pem,
    #[error("does not contain a {0}")]
    Missing(&'static str),
    #[error("is encrypted")]
    Encrypted,
    #[error("is set without a {0}")]
    Unpaired(&'static str),
    #[error("is {0}, which is not supported")]
    Unsupported(String),
}

fn in_origin(origin: Option<&str>) -> String {
    origin.map(|origin| format!(" in {origin}")).unwrap_or_default()
}
