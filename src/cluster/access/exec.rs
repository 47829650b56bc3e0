//! Credential plugins: programs that a kubeconfig's user names, and that print a token or a certificate.
//!
//! As client-go runs them (<https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins>).
//! What the plugin says on standard error is for the person and goes there as it comes; what it prints on standard output is
//! secret and never part of a message.

use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderValue;
use jiff::Timestamp;
use kube::config::{AuthInfo, Cluster, ExecConfig, ExecInteractiveMode};
use serde_json::{Map, Value, json};
use thiserror::Error;
use tokio::process::Command;

use super::bearer::header;
use super::client_certificate::{ClientCertificate, Unusable};
use super::der;
use super::error::AccessError;
use super::kubeconfig::Named;
use super::process;
use crate::cluster::connect_error::io_words;
use crate::yaml;

const V1: &str = "client.authentication.k8s.io/v1";
const V1_BETA: &str = "client.authentication.k8s.io/v1beta1";

/// How long somebody may take who is asked by a plugin, e.g. for a password or to log in with a browser.
const LOGIN_LIMIT: Duration = Duration::from_secs(300);

/// The extension of a cluster that is meant for plugins.
const EXTENSION: &str = "client.authentication.k8s.io/exec";

/// A plugin that can be run.
#[derive(Clone)]
pub(super) struct Plugin {
    /// `credential plugin "x" of user "me" in kubeconfig /k`.
    name: String,
    command: PathBuf,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    api_version: String,
    mode: ExecInteractiveMode,
    input: bool,
    install_hint: Option<String>,
    wants_cluster: bool,
    cluster: Option<Value>,
}

/// What a plugin gave.
pub(super) struct Credential {
    pub(super) token: Option<HeaderValue>,
    pub(super) certificate: Option<ClientCertificate>,
    /// When to ask again.
    pub(super) expires: Option<Timestamp>,
}

/// Why a plugin gave no credentials.
#[derive(Clone, Debug, Error)]
#[error("{plugin} {problem}")]
pub(crate) struct PluginError {
    plugin: String,
    pub(crate) problem: PluginProblem,
}

/// What went wrong with a plugin.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum PluginProblem {
    #[error("is not installed")]
    /// With what the kubeconfig says how to get it.
    NotInstalled(Option<String>),
    #[error("cannot be started: {0}")]
    NotStarted(String),
    #[error("needs to read from standard input (interactiveMode Always), but {0}")]
    NotInteractive(&'static str),
    #[error("failed: {0}")]
    Failed(String),
    #[error("did not finish in {}", in_words(*.0))]
    TimedOut(Duration),
    #[error("did not print an ExecCredential")]
    Output,
    #[error("printed apiVersion {0:?}, but the kubeconfig requires {1:?}")]
    Version(String, String),
    #[error("printed an ExecCredential without status")]
    NoStatus,
    #[error("returned neither a token nor a client certificate")]
    NoCredentials,
    #[error("returned a client certificate without a key, or a key without a certificate")]
    Unpaired,
    #[error("returned a client certificate or key that is not valid PEM")]
    Pem,
    #[error("returned a client key that is {0}, which is not supported")]
    Key(String),
    #[error("returned a client certificate and a key that do not match")]
    KeyMismatch,
    #[error("returned an expirationTimestamp that is not valid")]
    Expiration,
    #[error("returned a token with characters that are not allowed in an HTTP header")]
    Token,
}

fn in_words(limit: Duration) -> String {
    if limit.as_secs() == 0 { "less than 1 s".to_owned() } else { format!("{} s", limit.as_secs()) }
}

impl Plugin {
    /// Reads the `exec` of `user`.
    pub(super) fn new(user: &Named<AuthInfo>, exec: &ExecConfig) -> Result<Self, AccessError> {
        let wrong = |field, problem: String| AccessError::PluginSettings { user: user.origin.clone(), field, problem };
        let command = exec.command.as_deref().ok_or_else(|| wrong("command", "is missing".to_owned()))?;
        let api_version = exec.api_version.as_deref().unwrap_or_default();
        if ![V1, V1_BETA].contains(&api_version) {
            return Err(wrong("apiVersion", format!("must be {V1} or {V1_BETA}, is {api_version:?}")));
        }
        let mode = match &exec.interactive_mode {
            Some(mode) => mode.clone(),
            None if api_version == V1_BETA => ExecInteractiveMode::IfAvailable,
            None => return Err(wrong("interactiveMode", "must be Never, IfAvailable or Always".to_owned())),
        };
        let variable = |entry: &HashMap<String, String>| {
            let name = entry.get("name").filter(|name| !name.is_empty())?.clone();
            Some((name, entry.get("value").cloned().unwrap_or_default()))
        };
        let environment = exec.env.iter().flatten().map(variable).collect::<Option<_>>();
        Ok(Self {
            name: format!("credential plugin {command:?} of {}", user.origin),
            // Only what is not looked for on PATH.
            command: if command.contains('/') { user.folder.join(command) } else { command.into() },
            arguments: exec.args.clone().unwrap_or_default(),
            environment: environment.ok_or_else(|| wrong("env", "must be a list of names and values".to_owned()))?,
            api_version: api_version.to_owned(),
            mode,
            input: true,
            install_hint: exec.install_hint.clone(),
            wants_cluster: exec.provide_cluster_info,
            cluster: None,
        })
    }

    /// Says whether standard input is free.
    pub(super) fn allow_input(&mut self, free: bool) {
        self.input = free;
    }

    /// Takes what the plugin is told of the cluster, if it wants to know
    /// (<https://kubernetes.io/docs/reference/config-api/client-authentication.v1/#client-authentication-k8s-io-v1-Cluster>).
    pub(super) fn describe(&mut self, cluster: &Cluster, authority: Option<&[u8]>) {
        if !self.wants_cluster {
            return;
        }
        let extension = cluster.extensions.iter().flatten().find(|extension| extension.name == EXTENSION);
        let fields = [
            ("server", json!(cluster.server)),
            ("tls-server-name", json!(cluster.tls_server_name)),
            ("insecure-skip-tls-verify", json!(cluster.insecure_skip_tls_verify.filter(|skip| *skip))),
            ("certificate-authority-data", json!(authority.map(|pem| BASE64_STANDARD.encode(pem)))),
            ("proxy-url", json!(cluster.proxy_url)),
            ("disable-compression", json!(cluster.disable_compression.filter(|disable| *disable))),
            ("config", json!(extension.map(|extension| &extension.extension))),
        ];
        let set = fields.into_iter().filter(|(_, value)| !value.is_null());
        self.cluster = Some(set.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into());
    }

    /// Runs it and waits for its end, at most for `limit`.
    pub(super) async fn run(&self, limit: Duration) -> Result<Credential, PluginError> {
        let output = self.output(limit).await;
        output
            .and_then(|output| self.read(&output))
            .map_err(|problem| PluginError { plugin: self.name.clone(), problem })
    }

    async fn output(&self, limit: Duration) -> Result<Vec<u8>, PluginProblem> {
        let is_terminal = io::stdin().is_terminal();
        let interactive = match self.mode {
            ExecInteractiveMode::Never => false,
            ExecInteractiveMode::Always if !self.input => {
                return Err(PluginProblem::NotInteractive("that is where the Config is read from"));
            }
            ExecInteractiveMode::Always if !is_terminal => {
                return Err(PluginProblem::NotInteractive("that is not a terminal"));
            }
            _ => self.input && is_terminal,
        };
        // Who logs in needs time.
        let limit = if interactive { limit.max(LOGIN_LIMIT) } else { limit };
        let mut spec = json!({"interactive": interactive});
        if let (Some(cluster), Some(spec)) = (&self.cluster, spec.as_object_mut()) {
            spec.insert("cluster".to_owned(), cluster.clone());
        }
        let info = json!({"kind": "ExecCredential", "apiVersion": self.api_version, "spec": spec});
        let mut command = Command::new(&self.command);
        command.args(&self.arguments).env("KUBERNETES_EXEC_INFO", info.to_string());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(if interactive { Stdio::inherit() } else { Stdio::null() }).stderr(Stdio::inherit());
        let output = process::output(command, limit).await.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => PluginProblem::NotInstalled(self.install_hint.clone()),
            _ => PluginProblem::NotStarted(io_words(&error)),
        })?;
        let output = output.ok_or(PluginProblem::TimedOut(limit))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(PluginProblem::Failed(match output.status.code() {
            Some(code) => format!("exit code {code}"),
            None => "terminated by a signal".to_owned(),
        }))
    }

    fn read(&self, output: &[u8]) -> Result<Credential, PluginProblem> {
        let document = yaml::documents(output).next().and_then(Result::ok).ok_or(PluginProblem::Output)?.value;
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let version = text(&document, "apiVersion");
        if text(&document, "kind") != "ExecCredential" {
            return Err(PluginProblem::Output);
        }
        if version != self.api_version {
            return Err(PluginProblem::Version(version, self.api_version.clone()));
        }
        let status = document.get("status").filter(|status| status.is_object()).ok_or(PluginProblem::NoStatus)?;
        let given = |key: &str| Some(text(status, key)).filter(|text| !text.is_empty());
        let certificate = match (given("clientCertificateData"), given("clientKeyData")) {
            (Some(certificate), Some(key)) => Some(client_certificate(&certificate, &key)?),
            (None, None) => None,
            _ => return Err(PluginProblem::Unpaired),
        };
        let (token, expires) = (given("token"), given("expirationTimestamp"));
        if token.is_none() && certificate.is_none() {
            return Err(PluginProblem::NoCredentials);
        }
        let token = token.map(|token| header(&token).ok_or(PluginProblem::Token)).transpose()?;
        let expires = expires.map(|time| der::timestamp(&time).ok_or(PluginProblem::Expiration)).transpose()?;
        Ok(Credential { token, certificate, expires })
    }
}

fn client_certificate(certificate: &str, key: &str) -> Result<ClientCertificate, PluginProblem> {
    let blocks = |text: &str| pem::parse_many(text).map_err(|_| PluginProblem::Pem);
    let (mut chain, keys) = (blocks(certificate)?, blocks(key)?);
    chain.retain(|block| block.tag() == "CERTIFICATE");
    let key = keys.iter().find(|block| block.tag().ends_with("PRIVATE KEY"));
    let (Some(key), false) = (key, chain.is_empty()) else { return Err(PluginProblem::Pem) };
    ClientCertificate::new(&chain, key).map_err(|unusable| match unusable {
        Unusable::Key(kind) => PluginProblem::Key(kind),
        Unusable::Mismatch => PluginProblem::KeyMismatch,
    })
}
