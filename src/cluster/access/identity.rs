//! Certificates, keys and tokens: read from where flags and kubeconfig entries say, checked for what they should be.
//!
//! Reads files, starts nothing. What is wrong is told by the file, and by the flag or the entry that named it; no secret is ever
//! part of a message.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kube::config::{AuthInfo, AuthProviderConfig};
use serde_json::Value;

use super::bearer::header;
use super::entry::Entry;
use super::exec::Plugin;
use super::tokens::TokenFile;
use crate::cluster::connect_error::io_words;
use crate::failure::Failure;

const PEM: &str = "it must be text that has a part between -----BEGIN …----- and -----END …-----";

/// The authority that signs the server's certificate.
pub(super) struct Authority {
    pub(super) pem: Vec<u8>,
    /// The same, each as DER.
    pub(super) certificates: Vec<Vec<u8>>,
}

/// Who asks.
#[derive(Default)]
pub(super) struct Identity {
    /// All but what follows.
    pub(super) auth_info: AuthInfo,
    /// A file that holds the token, read again and again.
    pub(super) token_file: Option<TokenFile>,
    /// What gives the credentials.
    pub(super) plugin: Option<Plugin>,
    /// The client certificate as DER.
    pub(super) certificate: Option<Vec<u8>>,
}

/// The authority of a cluster; none means that the system's are trusted.
pub(super) fn authority(cluster: &Entry) -> Result<Option<Authority>, Failure> {
    let Some(file) = read(cluster, "certificate-authority", "the certificate authority")? else { return Ok(None) };
    // One that cannot be read does not spoil the others, as for kubectl.
    let is_readable = |der: &Vec<u8>| rustls::RootCertStore::empty().add(der.clone().into()).is_ok();
    let certificates: Vec<Vec<u8>> =
        file.certificates().map(|block| block.contents().to_vec()).filter(is_readable).collect();
    if certificates.is_empty() {
        return Err(file.lacks("no certificate that can be read"));
    }
    Ok(Some(Authority { pem: file.bytes, certificates }))
}

/// The identity of a user.
pub(super) fn of(user: &Entry) -> Result<Identity, Failure> {
    let wrong = |what: &str| Failure::usage(format!("{} {what}", user.origin));
    let mut identity = Identity { auth_info: impersonation(user)?, ..Identity::default() };
    certificate(user, &mut identity)?;
    let auth = &mut identity.auth_info;
    auth.username = user.text("username");
    auth.password = user.text("password").map(Into::into);
    if auth.username.is_some() || auth.password.is_some() {
        // The library sends both or none.
        auth.username.get_or_insert_default();
        auth.password.get_or_insert_default();
    }
    if auth.username.is_some() && user.text("token").is_some() {
        return Err(wrong("has a token as well as a user name and a password").hint("remove one of them"));
    }
    token(user, &mut identity)?;
    let (provider, exec) = (user.fields.get("auth-provider"), user.fields.get("exec").and_then(Value::as_object));
    if provider.is_some() && exec.is_some() {
        return Err(wrong("has an auth-provider as well as a credential plugin (exec)").hint("remove one of them"));
    }
    let auth = &identity.auth_info;
    let others = [auth.token.is_some(), identity.token_file.is_some(), auth.username.is_some()];
    if let Some(provider) = provider.filter(|_| !others.contains(&true)) {
        identity.auth_info.auth_provider = Some(auth_provider(provider).map_err(|what| {
            wrong(&format!("has an auth-provider {what}")).hint("use a credential plugin instead (exec)")
        })?);
    }
    let auth = &identity.auth_info;
    let others =
        [auth.token.is_some(), identity.token_file.is_some(), auth.username.is_some(), identity.certificate.is_some()];
    if let Some(exec) = exec.filter(|_| !others.contains(&true)) {
        identity.plugin = Some(Plugin::new(user, exec)?);
    }
    Ok(identity)
}

/// The only one that kubectl has left is `oidc`; the others became plugins.
fn auth_provider(provider: &Value) -> Result<AuthProviderConfig, String> {
    let provider: AuthProviderConfig =
        serde_json::from_value(provider.clone()).map_err(|_| "that cannot be read".to_owned())?;
    if provider.name != "oidc" {
        return Err(format!("{:?}, which is not supported", provider.name));
    }
    Ok(provider)
}

/// A token file wins over a token, as long as there is one.
fn token(user: &Entry, identity: &mut Identity) -> Result<(), Failure> {
    let token = user.text("token");
    if let Some(token) = &token
        && header(token).is_none()
    {
        return Err(Failure::usage(format!(
            "the token of {} has characters that cannot be sent",
            user.origin_of("token")
        ))
        .hint("a token is one line without blanks"));
    }
    if let Some(path) = user.path("tokenFile") {
        match TokenFile::open(&path) {
            Ok(file) => identity.token_file = Some(file),
            Err(_) if token.is_some() => {}
            Err(why) => {
                return Err(Failure::usage(format!(
                    "cannot read the token {} ({}): {why}",
                    path.display(),
                    user.origin
                ))
                .hint("write the file, or give a token with --token"));
            }
        }
    }
    identity.auth_info.token = token.filter(|_| identity.token_file.is_none()).map(Into::into);
    Ok(())
}

fn impersonation(user: &Entry) -> Result<AuthInfo, Failure> {
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut auth =
        AuthInfo { impersonate: user.text("as"), impersonate_uid: user.text("as-uid"), ..AuthInfo::default() };
    auth.impersonate_groups = user.fields.get("as-groups").map(texts).filter(|groups| !groups.is_empty());
    let extra = user.fields.get("as-user-extra").and_then(Value::as_object);
    auth.impersonate_user_extra =
        extra.map(|extra| extra.iter().map(|(key, values)| (key.clone(), texts(values))).collect());
    let extras = auth.impersonate_user_extra.iter().flat_map(|extra| extra.values().flatten());
    let groups = auth.impersonate_groups.iter().flatten().chain(extras);
    if [&auth.impersonate, &auth.impersonate_uid].into_iter().flatten().chain(groups).any(|text| !is_sendable(text)) {
        return Err(Failure::usage("whom to act as (--as and the like) has characters that cannot be sent")
            .hint("names are one line of text"));
    }
    for (key, flag) in [("as-uid", "--as-uid"), ("as-groups", "--as-group"), ("as-user-extra", "--as-user-extra")] {
        if auth.impersonate.is_none() && user.fields.contains_key(key) {
            let who = if user.is_flag(key) { flag.to_owned() } else { format!("{key} of {}", user.origin) };
            return Err(Failure::usage(format!("{who} needs a user to impersonate")).hint("name one with --as"));
        }
    }
    Ok(auth)
}

fn is_sendable(text: &str) -> bool {
    http::HeaderValue::try_from(text).is_ok()
}

fn certificate(user: &Entry, identity: &mut Identity) -> Result<(), Failure> {
    let certificate = read(user, "client-certificate", "the client certificate")?;
    let key = read(user, "client-key", "the client key")?;
    let (certificate, key) = match (certificate, key) {
        (None, None) => return Ok(()),
        (Some(certificate), Some(key)) => (certificate, key),
        (Some(certificate), None) => {
            return Err(Failure::usage(format!("{} has no client key to it", certificate.name))
                .hint("name one with --client-key"));
        }
        (None, Some(key)) => {
            return Err(Failure::usage(format!("{} has no client certificate to it", key.name))
                .hint("name one with --client-certificate"));
        }
    };
    let Some(first) = certificate.certificates().next() else { return Err(certificate.lacks("no certificate")) };
    identity.certificate = Some(first.contents().to_vec());
    let Some(key_block) = key.blocks.iter().find(|block| block.tag().ends_with("PRIVATE KEY")) else {
        return Err(key.lacks("no private key"));
    };
    if key_block.tag().starts_with("ENCRYPTED") || key_block.headers().get("Proc-Type").is_some() {
        return Err(
            Failure::usage(format!("{} is encrypted", key.name)).hint("decrypt it: openssl pkey -in FILE -out FILE")
        );
    }
    let chain: Vec<pem::Pem> = certificate.certificates().cloned().collect();
    identity.auth_info.client_certificate_data = Some(BASE64_STANDARD.encode(pem::encode_many(&chain)));
    identity.auth_info.client_key_data = Some(BASE64_STANDARD.encode(pem::encode(key_block)).into());
    Ok(())
}

/// A PEM file, or what is written in its place.
struct Pem {
    /// `the client key /x/me.key (--client-key)`.
    name: String,
    bytes: Vec<u8>,
    blocks: Vec<pem::Pem>,
}

impl Pem {
    fn certificates(&self) -> impl Iterator<Item = &pem::Pem> {
        self.blocks.iter().filter(|block| block.tag() == "CERTIFICATE")
    }

    fn lacks(&self, what: &str) -> Failure {
        Failure::usage(format!("there is {what} in {}", self.name)).hint(PEM)
    }
}

/// Reads `KEY-data` or the file that `KEY` names; the data wins, as for kubectl.
fn read(entry: &Entry, key: &str, what: &str) -> Result<Option<Pem>, Failure> {
    let (name, pem) = if let Some(data) = entry.text(&format!("{key}-data")) {
        let name = format!("{what} in {key}-data of {}", entry.origin);
        let unwrapped: String = data.split_whitespace().collect();
        let pem = BASE64_STANDARD.decode(unwrapped);
        (
            name.clone(),
            pem.map_err(|_| {
                Failure::usage(format!("{name} is not base64"))
                    .hint(format!("write it again, or name a file: {key} in the kubeconfig, or --{key}"))
            })?,
        )
    } else if let Some(path) = entry.path(key) {
        let name = format!("{what} {} ({})", path.display(), entry.origin_of(key));
        let pem = std::fs::read(&path);
        (
            name.clone(),
            pem.map_err(|error| {
                Failure::usage(format!("cannot read {name}: {}", io_words(&error)))
                    .hint(format!("name another with --{key}"))
            })?,
        )
    } else {
        return Ok(None);
    };
    let blocks = pem::parse_many(&pem).map_err(|_| Failure::usage(format!("{name} is no valid PEM")).hint(PEM))?;
    Ok(Some(Pem { name, bytes: pem, blocks }))
}
