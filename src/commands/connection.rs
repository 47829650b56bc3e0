//! The connection flags, kubectl's by name and meaning, and what helps when a connection cannot be prepared.
//!
//! The only place that knows the flags' names; below are `ConnectionOptions` and `AccessError`. As in kubectl, a flag with the
//! empty text is one that was not given.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::cluster::{
    AccessError, ClientConfig, Cluster, ConnectionOptions, KubeconfigNames, PemProblem, PluginProblem,
};
use crate::exit::Exit;
use crate::failure::Failure;

/// What helps against a key that is not supported.
const SUPPORTED_KEYS: &str =
    "use a certificate with another key: RSA of 2048 to 8192 bits, ECDSA P-256 or P-384, or Ed25519";

/// The connection flags; each is kubectl's flag of the same name.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Connection")]
pub struct Connection {
    /// Kubeconfig file to use instead of $KUBECONFIG and ~/.kube/config
    #[arg(long, global = true, value_name = "FILE", value_parser = any_path(), value_hint = clap::ValueHint::FilePath)]
    kubeconfig: Option<PathBuf>,
    /// Kubeconfig context to use instead of the current one
    #[arg(long, global = true, value_name = "NAME")]
    context: Vec<String>,
    /// Kubeconfig cluster to use instead of the context's
    #[arg(long, global = true, value_name = "NAME")]
    cluster: Option<String>,
    /// Kubeconfig user to use instead of the context's
    #[arg(long, global = true, value_name = "NAME")]
    user: Option<String>,
    /// URL of the API server; https:// may be left out; credentials are sent over https:// only
    #[arg(long, short, global = true, value_name = "URL", value_hint = clap::ValueHint::Url)]
    server: Option<String>,
    /// Bearer token; wins over every other token, password and plugin of the user. Others can see it in the list of
    /// processes
    #[arg(long, global = true, value_name = "TOKEN")]
    token: Option<String>,
    /// User to impersonate
    #[arg(long = "as", global = true, value_name = "USER")]
    impersonate: Option<String>,
    /// Group to impersonate, may be repeated; needs --as
    #[arg(long, global = true, value_name = "GROUP")]
    as_group: Vec<String>,
    /// UID to impersonate; needs --as
    #[arg(long, global = true, value_name = "UID")]
    as_uid: Option<String>,
    /// Extra attribute to impersonate, KEY=VALUE, may be repeated; needs --as
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    as_user_extra: Vec<(String, String)>,
    /// Certificate file of the authority that signed the server's certificate
    #[arg(long, global = true, value_name = "FILE", value_parser = any_path(), value_hint = clap::ValueHint::FilePath)]
    certificate_authority: Option<PathBuf>,
    /// Client certificate file; needs --client-key, unless the kubeconfig has the key
    #[arg(long, global = true, value_name = "FILE", value_parser = any_path(), value_hint = clap::ValueHint::FilePath)]
    client_certificate: Option<PathBuf>,
    /// Client key file; needs --client-certificate, unless the kubeconfig has the certificate
    #[arg(long, global = true, value_name = "FILE", value_parser = any_path(), value_hint = clap::ValueHint::FilePath)]
    client_key: Option<PathBuf>,
    /// Do not verify the server's certificate: whoever sits in between can read and change everything
    #[arg(long, global = true)]
    insecure_skip_tls_verify: bool,
    /// Name to verify the server's certificate against, instead of the URL's
    #[arg(long, global = true, value_name = "NAME")]
    tls_server_name: Option<String>,
    /// Do not ask for compressed responses
    #[arg(long, global = true)]
    disable_compression: bool,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .ok_or_else(|| "expected KEY=VALUE".to_owned())
}

/// Takes the empty text too, where the usual parser of paths does not.
fn any_path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

impl Connection {
    /// Prepares the connection to the chosen cluster; `stdin_in_use` says that standard input holds the Config.
    pub async fn connect(&self, stdin_in_use: bool, field_manager: &str, limit: Duration) -> Result<Cluster, Failure> {
        let options = ConnectionOptions { stdin_in_use, ..self.options() };
        let config = ClientConfig::load(&options).map_err(failure)?;
        Cluster::connect(config, field_manager, limit).await.map_err(failure)
    }

    /// The contexts as they were typed.
    pub(super) fn contexts(&self) -> &[String] {
        &self.context
    }

    /// Refuses several contexts where there is only one cluster to talk to.
    pub(super) fn is_one(&self) -> Result<(), Failure> {
        match self.context.as_slice() {
            [] | [_] => Ok(()),
            _ => {
                Err(Failure::usage("several contexts are possible with diff and apply only")
                    .hint("give --context once"))
            }
        }
    }

    /// The flags that a line which is still being typed has.
    pub(super) fn of_words(typed: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            kubeconfig: typed("kubeconfig").map(PathBuf::from),
            context: typed("context").into_iter().collect(),
            cluster: typed("cluster"),
            user: typed("user"),
            server: typed("server"),
            token: typed("token"),
            certificate_authority: typed("certificate-authority").map(PathBuf::from),
            ..Self::default()
        }
    }

    /// What the kubeconfig has to choose from.
    pub(super) fn names(&self) -> KubeconfigNames {
        KubeconfigNames::read(self.options().kubeconfig.as_deref())
    }

    fn options(&self) -> ConnectionOptions {
        let text = |flag: &Option<String>| flag.clone().filter(|text| !text.is_empty());
        let path = |flag: &Option<PathBuf>| flag.clone().filter(|path| !path.as_os_str().is_empty());
        ConnectionOptions {
            kubeconfig: path(&self.kubeconfig),
            context: self.context.last().cloned().filter(|text| !text.is_empty()),
            cluster: text(&self.cluster),
            user: text(&self.user),
            server: text(&self.server),
            token: text(&self.token),
            impersonate: text(&self.impersonate),
            impersonate_groups: self.as_group.clone(),
            impersonate_uid: text(&self.as_uid),
            impersonate_extra: self.as_user_extra.clone(),
            certificate_authority: path(&self.certificate_authority),
            client_certificate: path(&self.client_certificate),
            client_key: path(&self.client_key),
            insecure_skip_tls_verify: self.insecure_skip_tls_verify,
            tls_server_name: text(&self.tls_server_name),
            disable_compression: self.disable_compression,
            stdin_in_use: false,
        }
    }
}

/// The end of a command whose connection cannot be prepared.
fn failure(error: AccessError) -> Failure {
    let exit = match &error {
        AccessError::Plugin(error) => plugin_exit(&error.problem),
        _ => Exit::Usage,
    };
    let hint = hint(&error);
    Failure::new(exit, error).hint(hint)
}

/// What helps against an error of the kubeconfig as a whole; the next function has those of single settings.
fn hint(error: &AccessError) -> String {
    let hint = match error {
        AccessError::KubeconfigNotFound(_) => "without --kubeconfig, $KUBECONFIG or ~/.kube/config is used",
        AccessError::Kubeconfig { .. } => "repair the file, or choose another with --kubeconfig",
        AccessError::KubeconfigList(_) => "unset KUBECONFIG to use ~/.kube/config, or choose a file with --kubeconfig",
        AccessError::EmptyKubeconfig(_) => {
            "choose another file with --kubeconfig or KUBECONFIG, or a server with --server"
        }
        AccessError::NotFound { kind, available, .. } => {
            let kind = kind.strip_prefix("current ").unwrap_or(kind);
            return available_hint(&format!("available {kind}s"), available, &format!("the kubeconfig has no {kind}s"));
        }
        AccessError::IncompleteContext { source, .. } => return self::hint(source),
        AccessError::NoCluster(_) => "choose one with --cluster",
        AccessError::NoCurrentContext { available, .. } => {
            let none = "the kubeconfig has no contexts; choose a cluster and a user with --cluster and --user";
            return available_hint("choose one with --context", available, none);
        }
        AccessError::NoKubeconfig { .. } => "choose a file with --kubeconfig or KUBECONFIG",
        AccessError::NotInPod => "choose a file with --kubeconfig or KUBECONFIG, or a server with --server",
        AccessError::ServiceAccount { .. } => {
            "set automountServiceAccountToken: true for the pod, or choose a file with --kubeconfig"
        }
        error => return setting_hint(error),
    };
    hint.to_owned()
}

fn available_hint(what: &str, names: &[String], none: &str) -> String {
    if names.is_empty() { none.to_owned() } else { format!("{what}: {}", names.join(", ")) }
}

fn setting_hint(error: &AccessError) -> String {
    let hint = match error {
        AccessError::NoServer(_) => "choose one with --server https://host:port",
        AccessError::InvalidServer { .. } => "use --server https://host:port, or http://host:port",
        AccessError::InvalidTlsServerName { .. } => "use a DNS name or an IP address: --tls-server-name",
        AccessError::InvalidProxy(_) => "use http://host:port, https://host:port or socks5://host:port",
        AccessError::InsecureWithAuthority(_) => {
            "leave insecure-skip-tls-verify out: the server's certificate is verified against the authority"
        }
        AccessError::PemFile { file, .. } => return format!("choose another file with --{}", file.key),
        AccessError::Pem { file, problem } => return pem_hint(file.key, problem),
        AccessError::TokenFile { .. } => "write the file, or use --token",
        AccessError::InvalidToken(_) => "a token is one line without blanks",
        AccessError::TwoCredentials { .. } => "remove one of them from the kubeconfig",
        AccessError::AuthProvider { .. } => "use a credential plugin (exec) instead",
        AccessError::InvalidImpersonation => "check --as, --as-group, --as-uid and --as-user-extra",
        AccessError::ImpersonationWithoutUser(_) => "add --as USER",
        AccessError::PluginSettings { .. } => "correct users[].user.exec in the kubeconfig",
        AccessError::Plugin(error) => return plugin_hint(&error.problem),
        AccessError::KeyMismatch => "check --client-certificate and --client-key, or the user in the kubeconfig",
        _ => "use other credentials: --user, --context, --token",
    };
    hint.to_owned()
}

fn pem_hint(key: &str, problem: &PemProblem) -> String {
    match problem {
        PemProblem::Base64 => format!("encode it again (base64 -w0), or name a file: {key}, --{key}"),
        PemProblem::Pem | PemProblem::Missing(_) => {
            "a PEM file has a part between -----BEGIN …----- and -----END …-----".to_owned()
        }
        PemProblem::Encrypted => "decrypt it: openssl pkey -in FILE -out FILE".to_owned(),
        PemProblem::Unsupported(_) => SUPPORTED_KEYS.to_owned(),
        PemProblem::Unpaired(_) if key == "client-key" => "add --client-certificate FILE".to_owned(),
        PemProblem::Unpaired(_) => "add --client-key FILE".to_owned(),
    }
}

fn plugin_exit(problem: &PluginProblem) -> Exit {
    match problem {
        PluginProblem::NotInstalled(_) | PluginProblem::NotStarted(_) | PluginProblem::NotInteractive(_) => Exit::Usage,
        _ => Exit::NoAnswer,
    }
}

fn plugin_hint(problem: &PluginProblem) -> String {
    let hint = match problem {
        PluginProblem::NotInstalled(Some(hint)) => hint.trim(),
        PluginProblem::NotInstalled(None) => "install it, or add its directory to PATH",
        PluginProblem::NotStarted(_) => "make it executable (chmod +x), and built for this machine",
        PluginProblem::NotInteractive(_) => "run this in a terminal, and read the Config from a file",
        PluginProblem::TimedOut(_) => {
            "allow more time with --request-timeout, or run the plugin to see what it waits for"
        }
        PluginProblem::Key(_) => SUPPORTED_KEYS,
        PluginProblem::Failed(_) => "see its output above; log in again, or use other credentials: --user, --token",
        _ => "try another version of the plugin, or use other credentials: --user, --token",
    };
    hint.to_owned()
}
