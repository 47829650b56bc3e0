//! Which server, as whom: the choice that kubectl makes from options, kubeconfig files, or the pod it runs in.
//!
//! Reads files and the environment, starts nothing. Never falls back silently: what is named and missing is an error with the
//! names that exist (<https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/>).

use std::env;
use std::path::{Path, PathBuf};

use http::{HeaderValue, Uri, header::USER_AGENT};
use kube::config::{AuthInfo, Cluster, Context};

use super::credentials::Certificates;
use super::error::{AccessError, Setting};
use super::identity::{self, Identity, Login};
use super::kubeconfig::{self, Kind, Kubeconfig, Named};
use super::options::ConnectionOptions;
use super::proxy;
use crate::cluster::connect_error::{CONNECT_LIMIT, io_words};

/// What every pod finds of its service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// A server and an identity, before anything is started or sent.
pub(crate) struct ClientConfig {
    pub(super) config: kube::Config,
    /// `context "kind"`, or where else the choice comes from.
    pub(super) origin: Option<String>,
    pub(super) identity: Identity,
    /// Where certificates come from, to be read again.
    pub(super) files: Files,
}

/// What names the files of certificates and keys.
pub(super) struct Files {
    cluster: Named<Cluster>,
    user: Named<AuthInfo>,
    options: ConnectionOptions,
}

impl Files {
    /// Reads the certificate authority and the client certificate again.
    pub(super) fn read(&self) -> Result<Certificates, AccessError> {
        let authority = identity::authority(&self.cluster, &self.options)?;
        let client = identity::client_certificate(&self.user, &self.options)?;
        Ok(Certificates { authority: authority.map(|authority| authority.certificates), client })
    }
}

/// What the files say, before the options.
#[derive(Default)]
struct Found {
    origin: Option<String>,
    cluster: Named<Cluster>,
    user: Named<AuthInfo>,
}

impl ClientConfig {
    /// Chooses a server and an identity; fails when something that is named is missing, or a file cannot be used.
    pub(crate) fn load(options: &ConnectionOptions) -> Result<Self, AccessError> {
        let mut found = match kubeconfig::read(options.kubeconfig.as_deref())? {
            Some(kubeconfig) => from_kubeconfig(&kubeconfig, options)?,
            None => without_kubeconfig(options)?,
        };
        set_cluster_options(&mut found.cluster.fields, options);
        let cluster = &found.cluster;
        // Built by hand: the library's own way reads the proxy variables against the proxy's address, not the cluster's.
        let (url, url_login) = server_url(cluster, options)?;
        let mut config = kube::Config::new(url);
        let is_https = config.cluster_url.scheme_str() == Some("https");
        let authority = identity::authority(cluster, options)?;
        config.accept_invalid_certs = cluster.fields.insecure_skip_tls_verify == Some(true);
        if config.accept_invalid_certs && authority.is_some() && is_https {
            let origin = options.certificate_authority.is_none().then(|| cluster.origin.clone());
            return Err(AccessError::InsecureWithAuthority(origin));
        }
        config.disable_compression = cluster.fields.disable_compression == Some(true);
        config.proxy_url = proxy::choose(cluster, &config.cluster_url)?;
        config.tls_server_name = tls_server_name(cluster, options)?;
        let mut identity = Identity::load(&found.user, options, is_https)?;
        if let Some(plugin) = &mut identity.plugin {
            plugin.allow_input(!options.stdin_in_use);
            plugin.describe(&cluster.fields, authority.as_ref().map(|authority| authority.pem.as_slice()));
        }
        config.root_cert = authority.map(|authority| authority.certificates);
        if let Some(login) = url_login.filter(|_| is_https) {
            identity.set_login(login);
        }
        config.auth_info = std::mem::take(&mut identity.auth_info);
        config.connect_timeout = Some(CONNECT_LIMIT);
        let agent = concat!("kubectl-bpfman-config/", env!("CARGO_PKG_VERSION"));
        config.headers.push((USER_AGENT, HeaderValue::from_static(agent)));
        // Requests have their own bound and retries, which the library cannot give in one.
        config.default_retry = false;
        let files = Files { cluster: found.cluster, user: found.user, options: options.clone() };
        Ok(Self { config, origin: found.origin, identity, files })
    }
}

fn from_kubeconfig(kubeconfig: &Kubeconfig, options: &ConnectionOptions) -> Result<Found, AccessError> {
    let server_given = options.server.is_some();
    if kubeconfig.is_empty() && !server_given {
        return Err(AccessError::EmptyKubeconfig(kubeconfig.name()));
    }
    let (asked, current) = (options.context.as_deref(), kubeconfig.current_context());
    let context: Named<Context> = match (asked, current) {
        (Some(name), _) => kubeconfig.find(name)?,
        (None, Some(name)) => {
            kubeconfig.find(name).map_err(|_| kubeconfig.not_found::<Context>("current context", name))?
        }
        (None, None) if options.cluster.is_some() || server_given => Named::default(),
        (None, None) => {
            let available = kubeconfig.names::<Context>();
            return Err(AccessError::NoCurrentContext { kubeconfig: kubeconfig.name(), available });
        }
    };
    let cluster = find(kubeconfig, options.cluster.as_deref(), &context, Some(&context.fields.cluster))?;
    if cluster.is_none() && !server_given {
        return Err(AccessError::NoCluster(context.origin));
    }
    let user = find(kubeconfig, options.user.as_deref(), &context, context.fields.user.as_ref())?;
    Ok(Found {
        origin: asked.or(current).map(|name| format!("context {name:?}")),
        cluster: cluster.unwrap_or_default(),
        user: user.unwrap_or_default(),
    })
}

/// Finds what was asked for, or what the context names.
fn find<T: Kind>(
    kubeconfig: &Kubeconfig,
    asked: Option<&str>,
    context: &Named<Context>,
    named: Option<&String>,
) -> Result<Option<Named<T>>, AccessError> {
    if let Some(name) = asked {
        return kubeconfig.find(name).map(Some);
    }
    let Some(name) = named.filter(|name| !name.is_empty()) else { return Ok(None) };
    kubeconfig.find(name).map(Some).map_err(|missing| AccessError::IncompleteContext {
        context: context.origin.clone(),
        source: Box::new(missing),
    })
}

fn without_kubeconfig(options: &ConnectionOptions) -> Result<Found, AccessError> {
    let asked = [("context", &options.context), ("cluster", &options.cluster), ("user", &options.user)];
    if let Some((kind, name)) = asked.into_iter().find_map(|(kind, name)| Some((kind, name.clone()?))) {
        return Err(AccessError::NoKubeconfig { kind, name });
    }
    if options.server.is_some() { Ok(Found::default()) } else { in_pod() }
}

fn in_pod() -> Result<Found, AccessError> {
    let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let (Some(host), Some(port)) = (variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT")) else {
        return Err(AccessError::NotInPod);
    };
    let file = |name| Path::new(SERVICE_ACCOUNT).join(name).display().to_string();
    let path = file("token");
    if let Err(error) = std::fs::read(&path) {
        return Err(AccessError::ServiceAccount { path, reason: io_words(&error) });
    }
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let server = Some(format!("https://{host}:{port}"));
    let origin = "the pod's service account".to_owned();
    let cluster = Cluster { server, certificate_authority: Some(file("ca.crt")), ..Cluster::default() };
    let user = AuthInfo { token_file: Some(path), ..AuthInfo::default() };
    Ok(Found {
        origin: Some(origin.clone()),
        cluster: Named { origin: origin.clone(), folder: PathBuf::new(), fields: cluster },
        user: Named { origin, folder: PathBuf::new(), fields: user },
    })
}

fn set_cluster_options(cluster: &mut Cluster, options: &ConnectionOptions) {
    if let Some(server) = &options.server {
        cluster.server = Some(server.clone());
        // It was for the other server.
        cluster.tls_server_name = None;
    }
    if options.certificate_authority.is_some() || options.insecure_skip_tls_verify {
        cluster.insecure_skip_tls_verify = Some(options.insecure_skip_tls_verify);
        cluster.certificate_authority = None;
        cluster.certificate_authority_data = None;
    }
    if let Some(name) = &options.tls_server_name {
        cluster.tls_server_name = Some(name.clone());
    }
    if options.disable_compression {
        cluster.disable_compression = Some(true);
    }
}

/// The URL of the server, and the user name and password in it, which are secret: they are left out of the URL and of messages.
fn server_url(cluster: &Named<Cluster>, options: &ConnectionOptions) -> Result<(Uri, Option<Login>), AccessError> {
    let url = cluster.fields.server.clone().ok_or_else(|| AccessError::NoServer(cluster.origin.clone()))?;
    // Without a scheme it is HTTPS, as for kubectl.
    let (scheme, rest) = url.split_once("://").unwrap_or(("https", &url));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (login, host) = match authority.rsplit_once('@') {
        Some((login, host)) => (Some(Login::of_url(login)), host),
        None => (None, authority),
    };
    let is_valid = |uri: &Uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.host().is_some_and(|host| !host.is_empty())
            && proxy::is_port_right(uri)
    };
    match format!("{scheme}://{host}{path}").parse().ok().filter(is_valid) {
        Some(uri) => Ok((uri, login)),
        None => Err(AccessError::InvalidServer {
            setting: cluster.setting("server", options.server.is_some()),
            // A password may hold what ends a host elsewhere.
            url: rest.rsplit_once('@').map_or(url.clone(), |(_, host)| format!("{scheme}://{host}")),
        }),
    }
}

/// The name to verify the server's certificate against.
fn tls_server_name(cluster: &Named<Cluster>, options: &ConnectionOptions) -> Result<Option<String>, AccessError> {
    let Some(name) = cluster.fields.tls_server_name.clone() else { return Ok(None) };
    if rustls::pki_types::ServerName::try_from(name.as_str()).is_ok() {
        return Ok(Some(name));
    }
    let setting = cluster.setting("tls-server-name", options.tls_server_name.is_some());
    Err(AccessError::InvalidTlsServerName { setting, name })
}

impl<T> Named<T> {
    /// A setting of this part of the kubeconfig, or the option of the same name.
    pub(super) fn setting(&self, key: &'static str, is_option: bool) -> Setting {
        Setting { key, origin: (!is_option).then(|| self.origin.clone()) }
    }
}
