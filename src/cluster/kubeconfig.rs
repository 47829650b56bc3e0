//! Which cluster, as whom: the choice that kubectl makes from flags, `KUBECONFIG`, `~/.kube/config`, or the pod it runs in.
//!
//! Reads files and the environment. Never falls back silently: what is named and missing is an error with the names
//! that exist (<https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/>).

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderValue, Uri, header::USER_AGENT};
use kube::config::{AuthInfo, Cluster, Context, ExecAuthCluster, Kubeconfig};

use super::proxy;
use crate::exit::Exit;
use crate::failure::Failure;

/// What the connection flags say; each is kubectl's flag of the same name.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Connection")]
pub struct Connection {
    /// Kubeconfig file to use instead of $KUBECONFIG and ~/.kube/config
    #[arg(long, global = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub kubeconfig: Option<PathBuf>,
    /// Kubeconfig context to use
    #[arg(long, global = true, value_name = "NAME")]
    pub context: Option<String>,
    /// Kubeconfig cluster to use
    #[arg(long, global = true, value_name = "NAME")]
    pub cluster: Option<String>,
    /// Kubeconfig user to use
    #[arg(long, global = true, value_name = "NAME")]
    pub user: Option<String>,
    /// Address of the API server
    #[arg(long, short, global = true, value_name = "URL")]
    pub server: Option<String>,
    /// Bearer token, instead of the user's credentials
    #[arg(long, global = true, hide_env_values = true)]
    pub token: Option<String>,
    /// User to impersonate
    #[arg(long = "as", global = true, value_name = "USER")]
    pub impersonate: Option<String>,
    /// Group to impersonate; may be repeated
    #[arg(long, global = true, value_name = "GROUP")]
    pub as_group: Vec<String>,
    /// UID to impersonate
    #[arg(long, global = true, value_name = "UID")]
    pub as_uid: Option<String>,
    /// Extra attribute to impersonate, KEY=VALUE; may be repeated
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    pub as_user_extra: Vec<(String, String)>,
    /// Certificate file of the authority that signed the server's certificate
    #[arg(long, global = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub certificate_authority: Option<PathBuf>,
    /// Client certificate file
    #[arg(long, global = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub client_certificate: Option<PathBuf>,
    /// Client key file
    #[arg(long, global = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub client_key: Option<PathBuf>,
    /// Do not check the server's certificate; insecure
    #[arg(long, global = true)]
    pub insecure_skip_tls_verify: bool,
    /// Name to expect in the server's certificate
    #[arg(long, global = true, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// Do not ask for compressed answers
    #[arg(long, global = true)]
    pub disable_compression: bool,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .ok_or_else(|| "expected KEY=VALUE".to_owned())
}

/// Chooses a server and an identity.
///
/// # Errors
///
/// Usage, when something named is missing or a kubeconfig cannot be read.
pub fn choose(flags: &Connection) -> Result<kube::Config, Failure> {
    let kubeconfig = read(flags.kubeconfig.as_deref())?;
    let mut config = match kubeconfig {
        Some(kubeconfig) => from_kubeconfig(&kubeconfig, flags)?,
        None if flags.server.is_some() => from_kubeconfig(&Kubeconfig::default(), flags)?,
        None => kube::Config::incluster().map_err(|_| {
            Failure::usage("no kubeconfig found, and this is not a pod with a service account")
                .hint("name one with --kubeconfig or $KUBECONFIG, or a server with --server")
        })?,
    };
    let agent = concat!("kubectl-bpfman-config/", env!("CARGO_PKG_VERSION"));
    config.headers.push((USER_AGENT, HeaderValue::from_static(agent)));
    // Requests have their own bound and retries, which the library cannot give in one.
    config.default_retry = false;
    Ok(config)
}

/// Reads the named file, or the list in `KUBECONFIG`, or the home directory's file; none when there is none of them.
fn read(named: Option<&Path>) -> Result<Option<Kubeconfig>, Failure> {
    if let Some(path) = named {
        return read_file(path).map(Some);
    }
    let list = env::var_os("KUBECONFIG").filter(|list| !list.is_empty());
    let paths: Vec<PathBuf> = match list {
        Some(list) => env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect(),
        None => env::home_dir().map(|home| home.join(".kube").join("config")).into_iter().collect(),
    };
    let mut merged: Option<Kubeconfig> = None;
    // A file of the list that is not there is left out, as kubectl does.
    for path in paths.into_iter().filter(|path| path.exists()) {
        let next = read_file(&path)?;
        merged = Some(match merged {
            None => next,
            Some(first) => first.merge(next).map_err(|error| {
                Failure::new(Exit::Usage, error).context(format!("cannot merge kubeconfig {}", path.display()))
            })?,
        });
    }
    Ok(merged)
}

fn read_file(path: &Path) -> Result<Kubeconfig, Failure> {
    Kubeconfig::read_from(path)
        .map_err(|error| Failure::new(Exit::Usage, error).context(format!("cannot read kubeconfig {}", path.display())))
}

fn from_kubeconfig(kubeconfig: &Kubeconfig, flags: &Connection) -> Result<kube::Config, Failure> {
    let context = chosen_context(kubeconfig, flags)?;
    let mut cluster = chosen_cluster(kubeconfig, &context, flags)?;
    let mut user = chosen_user(kubeconfig, &context, flags)?;
    override_cluster(&mut cluster, flags);
    override_user(&mut user, flags);
    // Built by hand: the library's own way reads the proxy variables against the proxy's address, not the cluster's.
    let mut config = kube::Config::new(server(&cluster)?);
    config.root_cert = authority(&cluster)?;
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify.unwrap_or(false);
    config.disable_compression = cluster.disable_compression.unwrap_or(false);
    config.proxy_url = proxy::choose(cluster.proxy_url.as_deref(), &config.cluster_url)?;
    config.tls_server_name.clone_from(&cluster.tls_server_name);
    config.default_namespace = context.namespace.unwrap_or_else(|| "default".to_owned());
    if let Some(exec) = user.exec.as_mut().filter(|exec| exec.provide_cluster_info) {
        let info = ExecAuthCluster::try_from(&cluster).map_err(|error| Failure::new(Exit::Usage, error))?;
        exec.cluster = Some(info);
    }
    config.auth_info = user;
    Ok(config)
}

fn chosen_context(kubeconfig: &Kubeconfig, flags: &Connection) -> Result<Context, Failure> {
    let current = kubeconfig.current_context.as_ref().filter(|name| !name.is_empty());
    let Some(name) = flags.context.as_ref().or(current) else {
        if flags.cluster.is_some() || flags.server.is_some() {
            return Ok(Context::default());
        }
        return Err(Failure::usage("the kubeconfig names no current context")
            .hint(format!("choose one with --context: {}", names(kubeconfig.contexts.iter().map(|it| &it.name)))));
    };
    let found = kubeconfig.contexts.iter().find(|it| it.name == *name).and_then(|it| it.context.clone());
    found.ok_or_else(|| missing("context", name, kubeconfig.contexts.iter().map(|it| &it.name)))
}

fn chosen_cluster(kubeconfig: &Kubeconfig, context: &Context, flags: &Connection) -> Result<Cluster, Failure> {
    let name = flags.cluster.as_ref().unwrap_or(&context.cluster);
    if name.is_empty() && flags.server.is_some() {
        return Ok(Cluster::default());
    }
    let found = kubeconfig.clusters.iter().find(|it| it.name == *name).and_then(|it| it.cluster.clone());
    found.ok_or_else(|| missing("cluster", name, kubeconfig.clusters.iter().map(|it| &it.name)))
}

fn chosen_user(kubeconfig: &Kubeconfig, context: &Context, flags: &Connection) -> Result<AuthInfo, Failure> {
    let Some(name) = flags.user.as_ref().or(context.user.as_ref()).filter(|name| !name.is_empty()) else {
        return Ok(AuthInfo::default());
    };
    let found = kubeconfig.auth_infos.iter().find(|it| it.name == *name).and_then(|it| it.auth_info.clone());
    found.ok_or_else(|| missing("user", name, kubeconfig.auth_infos.iter().map(|it| &it.name)))
}

fn missing<'a>(what: &str, name: &str, existing: impl Iterator<Item = &'a String>) -> Failure {
    Failure::usage(format!("the kubeconfig has no {what} {name:?}")).hint(format!("it has: {}", names(existing)))
}

fn names<'a>(existing: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = existing.map(String::as_str).collect();
    if names.is_empty() { "(none)".to_owned() } else { names.join(", ") }
}

fn override_cluster(cluster: &mut Cluster, flags: &Connection) {
    if let Some(server) = &flags.server {
        cluster.server = Some(server.clone());
    }
    if let Some(path) = &flags.certificate_authority {
        cluster.certificate_authority = Some(path.display().to_string());
        cluster.certificate_authority_data = None;
    }
    if flags.insecure_skip_tls_verify {
        cluster.insecure_skip_tls_verify = Some(true);
    }
    if let Some(name) = &flags.tls_server_name {
        cluster.tls_server_name = Some(name.clone());
    }
    if flags.disable_compression {
        cluster.disable_compression = Some(true);
    }
}

fn override_user(user: &mut AuthInfo, flags: &Connection) {
    if let Some(token) = &flags.token {
        // The library prefers each of these to a token; who types one means it.
        user.token = Some(token.clone().into());
        (user.auth_provider, user.username, user.password, user.token_file, user.exec) = (None, None, None, None, None);
    }
    if let Some(path) = &flags.client_certificate {
        user.client_certificate = Some(path.display().to_string());
        user.client_certificate_data = None;
    }
    if let Some(path) = &flags.client_key {
        user.client_key = Some(path.display().to_string());
        user.client_key_data = None;
    }
    if let Some(name) = &flags.impersonate {
        user.impersonate = Some(name.clone());
    }
    if !flags.as_group.is_empty() {
        user.impersonate_groups = Some(flags.as_group.clone());
    }
    if let Some(uid) = &flags.as_uid {
        user.impersonate_uid = Some(uid.clone());
    }
    if !flags.as_user_extra.is_empty() {
        let mut extra: HashMap<String, Vec<String>> = HashMap::new();
        for (key, value) in &flags.as_user_extra {
            extra.entry(key.clone()).or_default().push(value.clone());
        }
        user.impersonate_user_extra = Some(extra);
    }
}

fn server(cluster: &Cluster) -> Result<Uri, Failure> {
    let address = cluster.server.clone().unwrap_or_default();
    // Without a scheme it is HTTPS, as for kubectl.
    let address = if address.contains("://") { address } else { format!("https://{address}") };
    let uri: Uri = address.parse().map_err(|error| {
        Failure::new(Exit::Usage, anyhow::Error::new(error)).context(format!("bad server address {address:?}"))
    })?;
    match uri.scheme_str() {
        Some("http" | "https") if uri.host().is_some_and(|host| !host.is_empty()) => Ok(uri),
        _ => Err(Failure::usage(format!("bad server address {address:?}: expected https://host:port"))),
    }
}

/// The authority's certificates, from the data in the kubeconfig or from the file it names.
fn authority(cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>, Failure> {
    let failed =
        |error: anyhow::Error| Failure::new(Exit::Usage, error).context("cannot read the certificate authority");
    let text = match (&cluster.certificate_authority_data, &cluster.certificate_authority) {
        (Some(data), _) if !data.is_empty() => {
            let unwrapped: String = data.split_whitespace().collect();
            BASE64_STANDARD.decode(unwrapped).map_err(|error| failed(error.into()))?
        }
        (_, Some(path)) if !path.is_empty() => {
            std::fs::read(path).map_err(|error| failed(anyhow::Error::new(error).context(path.clone())))?
        }
        _ => return Ok(None),
    };
    let blocks = pem::parse_many(text).map_err(|error| failed(error.into()))?;
    let certificates: Vec<Vec<u8>> =
        blocks.into_iter().filter(|block| block.tag() == "CERTIFICATE").map(pem::Pem::into_contents).collect();
    if certificates.is_empty() {
        return Err(failed(anyhow::anyhow!("there is no certificate in it")));
    }
    Ok(Some(certificates))
}
