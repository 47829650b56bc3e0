//! Credential plugins: programs that a kubeconfig's user names, and that print a token or a certificate.
//!
//! As client-go runs them (<https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins>).
//! What the plugin says on standard error is for the person and goes there as it comes; what it prints on standard output is
//! secret and never part of a message.

use std::io::{self, IsTerminal};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderValue;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::bearer::header;
use super::entry::Entry;
use crate::cluster::connect_error::io_words;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::yaml;

const V1: &str = "client.authentication.k8s.io/v1";
const V1_BETA: &str = "client.authentication.k8s.io/v1beta1";

/// A plugin that can be run.
#[derive(Clone)]
pub(super) struct Plugin {
    /// `the credential plugin "x" of user "me" in kubeconfig /k`.
    name: String,
    command: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    api_version: String,
    mode: Mode,
    input: bool,
    install_hint: Option<String>,
    wants_cluster: bool,
    cluster: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Never,
    IfAvailable,
    Always,
}

/// What a plugin gave.
pub(super) struct Credential {
    pub(super) token: Option<HeaderValue>,
    /// A certificate and its key, as PEM.
    pub(super) certificate: Option<(String, String)>,
    /// When to ask again.
    pub(super) expires: Option<Timestamp>,
}

/// Why a plugin gave nothing.
#[derive(Debug, Error)]
#[error("{name} {problem}")]
pub(in crate::cluster) struct Error {
    name: String,
    problem: Problem,
    install_hint: Option<String>,
}

/// What went wrong with a plugin.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum Problem {
    #[error("is not installed")]
    Missing,
    #[error("cannot be started: {0}")]
    Start(String),
    #[error("must be able to ask (interactiveMode Always), but standard input is {0}")]
    Input(&'static str),
    #[error("failed: {0}")]
    Failed(String),
    #[error("printed no ExecCredential")]
    Output,
    #[error("answers with {0:?}, but the kubeconfig asks for {1:?}")]
    Version(String, String),
    #[error("gave no status")]
    NoStatus,
    #[error("gave neither a token nor a certificate")]
    Nothing,
    #[error("gave a certificate without a key, or a key without a certificate")]
    Half,
    #[error("gave a certificate or a key that is no PEM")]
    Pem,
    #[error("gave an expirationTimestamp that is no time")]
    Expiration,
    #[error("gave a token with characters that cannot be sent")]
    Token,
}

impl Error {
    /// How a command ends that got no credentials.
    pub(in crate::cluster) fn exit(&self) -> Exit {
        match self.problem {
            Problem::Missing | Problem::Start(_) | Problem::Input(_) => Exit::Usage,
            _ => Exit::NoAnswer,
        }
    }

    /// What helps.
    pub(in crate::cluster) fn hint(&self) -> String {
        match &self.problem {
            Problem::Missing => match &self.install_hint {
                Some(hint) => hint.trim().to_owned(),
                None => "install it, or put the folder it is in on PATH".to_owned(),
            },
            Problem::Start(_) => "it must be a program: chmod +x, and the right one for this machine".to_owned(),
            Problem::Input(_) => "run this in a terminal, and read the Config from a file".to_owned(),
            Problem::Failed(_) => {
                "what it said stands above; log in again, or use another identity: --user, --token".to_owned()
            }
            _ => "another version of the plugin may help; or use another identity: --user, --token".to_owned(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let hint = error.hint();
        Self::new(error.exit(), error).hint(hint)
    }
}

impl Plugin {
    /// Reads the `exec` of `user`.
    pub(super) fn new(user: &Entry, exec: &Map<String, Value>) -> Result<Self, Failure> {
        let text = |key| exec.get(key).and_then(Value::as_str).filter(|text: &&str| !text.is_empty());
        let wrong = |what: &str| Failure::usage(format!("the credential plugin of {}: {what}", user.origin));
        let command = text("command")
            .ok_or_else(|| wrong("command is missing").hint("name the program that gives the credentials"))?;
        let api_version = text("apiVersion")
            .ok_or_else(|| wrong("apiVersion is missing").hint(format!("it can be {V1} or {V1_BETA}")))?;
        let mode = match (text("interactiveMode"), api_version) {
            (_, version) if version != V1 && version != V1_BETA => {
                return Err(
                    wrong(&format!("apiVersion {version:?} is not known")).hint(format!("it can be {V1} or {V1_BETA}"))
                );
            }
            (Some("Never"), _) => Mode::Never,
            (Some("Always"), _) => Mode::Always,
            (Some("IfAvailable"), _) | (None, V1_BETA) => Mode::IfAvailable,
            (None, _) => return Err(wrong("interactiveMode is missing").hint("it can be Never, IfAvailable or Always")),
            (Some(other), _) => {
                return Err(wrong(&format!("interactiveMode {other:?} is not known"))
                    .hint("it can be Never, IfAvailable or Always"));
            }
        };
        let list = |key| exec.get(key).and_then(Value::as_array).into_iter().flatten();
        let variable = |entry: &Value| {
            let text = |key| entry.get(key).map_or(Some(""), Value::as_str);
            Some((text("name")?.to_owned(), text("value")?.to_owned())).filter(|(name, _)| !name.is_empty())
        };
        let environment = list("env").map(variable).collect::<Option<_>>();
        Ok(Self {
            name: format!("the credential plugin {command:?} of {}", user.origin),
            // Only what is not looked for on PATH.
            command: if command.contains('/') {
                user.folder.join(command).display().to_string()
            } else {
                command.to_owned()
            },
            arguments: list("args").filter_map(Value::as_str).map(str::to_owned).collect(),
            environment: environment.ok_or_else(|| {
                wrong("env must be a list of names and values").hint("env: [{name: NAME, value: TEXT}]")
            })?,
            api_version: api_version.to_owned(),
            mode,
            input: true,
            install_hint: text("installHint").map(str::to_owned),
            wants_cluster: exec.get("provideClusterInfo") == Some(&Value::Bool(true)),
            cluster: None,
        })
    }

    /// Says whether standard input is free.
    pub(super) fn allow_input(&mut self, free: bool) {
        self.input = free;
    }

    /// Takes what the plugin is told of the cluster, if it wants to know.
    pub(super) fn describe(&mut self, cluster: &Entry, authority: Option<&[u8]>) {
        if !self.wants_cluster {
            return;
        }
        let keys = ["server", "tls-server-name", "insecure-skip-tls-verify", "proxy-url", "disable-compression"];
        let mut told: Map<String, Value> = cluster.fields.clone();
        told.retain(|key, value| keys.contains(&key.as_str()) && *value != json!(false) && *value != json!(""));
        if let Some(pem) = authority {
            told.insert("certificate-authority-data".to_owned(), BASE64_STANDARD.encode(pem).into());
        }
        // <https://kubernetes.io/docs/reference/config-api/client-authentication.v1/#client-authentication-k8s-io-v1-Cluster>
        let is_ours = |extension: &&Value| extension.get("name") == Some(&json!("client.authentication.k8s.io/exec"));
        let mut extensions = cluster.fields.get("extensions").and_then(Value::as_array).into_iter().flatten();
        if let Some(config) = extensions.find(is_ours).and_then(|extension| extension.get("extension")) {
            told.insert("config".to_owned(), config.clone());
        }
        self.cluster = Some(told.into());
    }

    /// Runs it and waits for its end.
    pub(super) fn run(&self) -> Result<Credential, Error> {
        self.output().and_then(|output| self.read(&output)).map_err(|problem| self.error(problem))
    }

    /// Says which plugin has the problem.
    pub(super) fn error(&self, problem: Problem) -> Error {
        Error { name: self.name.clone(), problem, install_hint: self.install_hint.clone() }
    }

    fn output(&self) -> Result<Vec<u8>, Problem> {
        let interactive = match self.mode {
            Mode::Never => false,
            Mode::Always if !self.input => return Err(Problem::Input("read by --filename -")),
            Mode::Always if !io::stdin().is_terminal() => return Err(Problem::Input("no terminal")),
            _ => self.input && io::stdin().is_terminal(),
        };
        let mut spec = json!({"interactive": interactive});
        if let (Some(cluster), Some(spec)) = (&self.cluster, spec.as_object_mut()) {
            spec.insert("cluster".to_owned(), cluster.clone());
        }
        let info = json!({"kind": "ExecCredential", "apiVersion": self.api_version, "spec": spec});
        let mut command = Command::new(&self.command);
        command.args(&self.arguments).env("KUBERNETES_EXEC_INFO", info.to_string());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(if interactive { Stdio::inherit() } else { Stdio::null() }).stderr(Stdio::inherit());
        let output = command.output().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Problem::Missing,
            _ => Problem::Start(io_words(&error)),
        })?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(Problem::Failed(match output.status.code() {
            Some(code) => format!("exit code {code}"),
            None => "it was ended by a signal".to_owned(),
        }))
    }

    fn read(&self, output: &[u8]) -> Result<Credential, Problem> {
        let document = yaml::documents(output).next().and_then(Result::ok).ok_or(Problem::Output)?.value;
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let version = text(&document, "apiVersion");
        if text(&document, "kind") != "ExecCredential" {
            return Err(Problem::Output);
        }
        if version != self.api_version {
            return Err(Problem::Version(version, self.api_version.clone()));
        }
        let status = document.get("status").filter(|status| status.is_object()).ok_or(Problem::NoStatus)?;
        let given = |key: &str| Some(text(status, key)).filter(|text| !text.is_empty());
        let certificate = match (given("clientCertificateData"), given("clientKeyData")) {
            (Some(certificate), Some(key)) => {
                let has = |text: &str, tag| {
                    pem::parse_many(text).is_ok_and(|blocks| blocks.iter().any(|block| block.tag().ends_with(tag)))
                };
                if !has(&certificate, "CERTIFICATE") || !has(&key, "PRIVATE KEY") {
                    return Err(Problem::Pem);
                }
                Some((certificate, key))
            }
            (None, None) => None,
            _ => return Err(Problem::Half),
        };
        let (token, expires) = (given("token"), given("expirationTimestamp"));
        if token.is_none() && certificate.is_none() {
            return Err(Problem::Nothing);
        }
        let token = token.map(|token| header(&token).ok_or(Problem::Token)).transpose()?;
        let expires = expires.map(|time| time.parse()).transpose().map_err(|_| Problem::Expiration)?;
        Ok(Credential { token, certificate, expires })
    }
}
