//! Certificates, keys and tokens: read from where options and kubeconfig say, checked for what they should be.
//!
//! Reads files, starts nothing. What is wrong is told by the file, and by the part of the kubeconfig that names it; no secret is
//! ever part of a message.

use std::collections::HashMap;

use kube::config::{AuthInfo, Cluster};
use secrecy::{ExposeSecret, SecretString};

use super::bearer::header;
use super::client_certificate::{ClientCertificate, Unusable};
use super::error::{AccessError, PemProblem};
use super::exec::Plugin;
use super::kubeconfig::Named;
use super::options::ConnectionOptions;
use super::pem_file::PemSource;
use super::token_file::TokenFile;

/// The authority that signs the server's certificate.
pub(super) struct Authority {
    pub(super) pem: Vec<u8>,
    /// The same, each as DER.
    pub(super) certificates: Vec<Vec<u8>>,
}

/// The authority of a cluster; none means that the system's are trusted.
pub(super) fn authority(
    cluster: &Named<Cluster>,
    options: &ConnectionOptions,
) -> Result<Option<Authority>, AccessError> {
    let source = PemSource {
        key: "certificate-authority",
        what: "certificate authority",
        option: options.certificate_authority.as_deref(),
        data: cluster.fields.certificate_authority_data.as_deref(),
        file: cluster.fields.certificate_authority.as_deref(),
    };
    let Some(file) = source.read(cluster)? else { return Ok(None) };
    // One that cannot be read does not spoil the others, as for kubectl.
    let is_readable = |der: &Vec<u8>| rustls::RootCertStore::empty().add(der.clone().into()).is_ok();
    let certificates: Vec<Vec<u8>> =
        file.certificates().map(|block| block.contents().to_vec()).filter(is_readable).collect();
    if certificates.is_empty() {
        return Err(file.error(PemProblem::Missing("valid certificate")));
    }
    Ok(Some(Authority { pem: file.bytes, certificates }))
}

/// The client certificate of a user and its key.
pub(super) fn client_certificate(
    user: &Named<AuthInfo>,
    options: &ConnectionOptions,
) -> Result<Option<ClientCertificate>, AccessError> {
    let fields = &user.fields;
    let certificate = PemSource {
        key: "client-certificate",
        what: "client certificate",
        option: options.client_certificate.as_deref(),
        data: fields.client_certificate_data.as_deref(),
        file: fields.client_certificate.as_deref(),
    };
    let key = PemSource {
        key: "client-key",
        what: "client key",
        option: options.client_key.as_deref(),
        data: fields.client_key_data.as_ref().map(ExposeSecret::expose_secret),
        file: fields.client_key.as_deref(),
    };
    let (certificate, key) = match (certificate.read(user)?, key.read(user)?) {
        (None, None) => return Ok(None),
        (Some(certificate), Some(key)) => (certificate, key),
        (Some(certificate), None) => return Err(certificate.error(PemProblem::Unpaired("client key"))),
        (None, Some(key)) => return Err(key.error(PemProblem::Unpaired("client certificate"))),
    };
    let chain: Vec<pem::Pem> = certificate.certificates().cloned().collect();
    if chain.is_empty() {
        return Err(certificate.error(PemProblem::Missing("certificate")));
    }
    ClientCertificate::new(&chain, key.private_key()?).map(Some).map_err(|unusable| match unusable {
        Unusable::Key(kind) => key.error(PemProblem::Unsupported(kind)),
        Unusable::Mismatch => AccessError::KeyMismatch,
    })
}

/// Who asks.
pub(super) struct Identity {
    /// All but what follows.
    pub(super) auth_info: AuthInfo,
    /// A file that holds the token, read again and again.
    pub(super) token_file: Option<TokenFile>,
    /// What gives the credentials.
    pub(super) plugin: Option<Plugin>,
    pub(super) certificate: Option<ClientCertificate>,
}

/// A user name and a password.
pub(super) struct Login(String, String);

impl Login {
    /// Reads what stands before the host of a URL, percent-encoded.
    pub(super) fn of_url(text: &str) -> Self {
        let (user, password) = text.split_once(':').unwrap_or((text, ""));
        let decoded = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        Self(decoded(user), decoded(password))
    }
}

impl Identity {
    /// Takes the user name and password of the server's URL where nothing else is sent for the user, as kubectl does.
    pub(super) fn set_login(&mut self, login: Login) {
        let auth = &mut self.auth_info;
        let has_token = auth.token.is_some() || self.token_file.is_some() || auth.auth_provider.is_some();
        if !has_token && self.plugin.is_none() && auth.username.is_none() {
            auth.username = Some(login.0);
            auth.password = Some(login.1.into());
        }
    }

    /// Reads and checks the credentials of a user; over plain HTTP there are none, since everybody on the way could read them
    /// (kubectl sends none either).
    pub(super) fn load(
        user: &Named<AuthInfo>,
        options: &ConnectionOptions,
        is_https: bool,
    ) -> Result<Self, AccessError> {
        let mut identity =
            Self { auth_info: impersonation(user, options)?, token_file: None, plugin: None, certificate: None };
        if is_https {
            identity.certificate = client_certificate(user, options)?;
            identity.load_token(user, options)?;
            identity.load_provider(user, options)?;
        }
        Ok(identity)
    }

    /// A token that was asked for wins over all else, a token file over a token, as long as it can be read.
    fn load_token(&mut self, user: &Named<AuthInfo>, options: &ConnectionOptions) -> Result<(), AccessError> {
        let (fields, auth) = (&user.fields, &mut self.auth_info);
        let is_option = options.token.is_some();
        let token = options.token.clone().map(SecretString::from).or_else(|| fields.token.clone());
        if let Some(token) = &token
            && header(token.expose_secret()).is_none()
        {
            return Err(AccessError::InvalidToken(user.setting("token", is_option)));
        }
        if !is_option {
            if fields.username.is_some() || fields.password.is_some() {
                // The library sends both or none.
                auth.username = Some(fields.username.clone().unwrap_or_default());
                auth.password = Some(fields.password.clone().unwrap_or_default());
            }
            if auth.username.is_some() && token.is_some() {
                return Err(two_credentials(user, ("a token", "a user name and password")));
            }
            self.token_file = token_file(user, token.is_some())?;
        }
        auth.token = token.filter(|_| self.token_file.is_none());
        Ok(())
    }

    /// What gives the credentials; nothing is asked where there are others.
    fn load_provider(&mut self, user: &Named<AuthInfo>, options: &ConnectionOptions) -> Result<(), AccessError> {
        if options.token.is_some() {
            return Ok(());
        }
        let fields = &user.fields;
        if fields.auth_provider.is_some() && fields.exec.is_some() {
            return Err(two_credentials(user, ("an auth-provider", "a credential plugin (exec)")));
        }
        let auth = &mut self.auth_info;
        if auth.token.is_some() || self.token_file.is_some() || auth.username.is_some() {
            return Ok(());
        }
        match &fields.auth_provider {
            // The only one that kubectl has left; the others became plugins.
            Some(provider) if provider.name == "oidc" => auth.auth_provider = Some(provider.clone()),
            Some(provider) => {
                return Err(AccessError::AuthProvider { user: user.origin.clone(), name: provider.name.clone() });
            }
            None => {}
        }
        if let (Some(exec), None) = (&fields.exec, &self.certificate) {
            self.plugin = Some(Plugin::new(user, exec)?);
        }
        Ok(())
    }
}

fn two_credentials(user: &Named<AuthInfo>, credentials: (&'static str, &'static str)) -> AccessError {
    AccessError::TwoCredentials { user: user.origin.clone(), credentials }
}

fn token_file(user: &Named<AuthInfo>, has_token: bool) -> Result<Option<TokenFile>, AccessError> {
    let Some(path) = user.fields.token_file.as_ref().map(|path| user.folder.join(path)) else { return Ok(None) };
    match TokenFile::open(&path) {
        Ok(file) => Ok(Some(file)),
        Err(_) if has_token => Ok(None),
        Err(reason) => {
            Err(AccessError::TokenFile { path: path.display().to_string(), origin: user.origin.clone(), reason })
        }
    }
}

/// Whom to act as: each option wins over the field of its name.
fn impersonation(user: &Named<AuthInfo>, options: &ConnectionOptions) -> Result<AuthInfo, AccessError> {
    let fields = &user.fields;
    let groups = if options.impersonate_groups.is_empty() {
        fields.impersonate_groups.clone().filter(|groups| !groups.is_empty())
    } else {
        Some(options.impersonate_groups.clone())
    };
    let mut extra: HashMap<String, Vec<String>> = HashMap::new();
    for (key, value) in &options.impersonate_extra {
        extra.entry(key.clone()).or_default().push(value.clone());
    }
    let extra = if extra.is_empty() { fields.impersonate_user_extra.clone() } else { Some(extra) };
    let auth = AuthInfo {
        impersonate: options.impersonate.clone().or_else(|| fields.impersonate.clone()),
        impersonate_uid: options.impersonate_uid.clone().or_else(|| fields.impersonate_uid.clone()),
        impersonate_groups: groups,
        impersonate_user_extra: extra,
        ..AuthInfo::default()
    };
    let texts = [&auth.impersonate, &auth.impersonate_uid].into_iter().flatten();
    let extras = auth.impersonate_user_extra.iter().flat_map(|extra| extra.values().flatten());
    if texts.chain(auth.impersonate_groups.iter().flatten()).chain(extras).any(|text| !is_header_value(text)) {
        return Err(AccessError::InvalidImpersonation);
    }
    let dependent = [
        ("as-uid", auth.impersonate_uid.is_some(), options.impersonate_uid.is_some()),
        ("as-groups", auth.impersonate_groups.is_some(), !options.impersonate_groups.is_empty()),
        ("as-user-extra", auth.impersonate_user_extra.is_some(), !options.impersonate_extra.is_empty()),
    ];
    match dependent.into_iter().find(|(_, is_set, _)| *is_set && auth.impersonate.is_none()) {
        Some((key, _, is_option)) => Err(AccessError::ImpersonationWithoutUser(user.setting(key, is_option))),
        None => Ok(auth),
    }
}

fn is_header_value(text: &str) -> bool {
    http::HeaderValue::try_from(text).is_ok()
}
