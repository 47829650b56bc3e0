//! Which cluster, as whom: the choice that kubectl makes from flags, kubeconfig files, or the pod it runs in.
//!
//! Reads files and the environment, starts nothing. Never falls back silently: what is named and missing is an error with the
//! names that exist (<https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/>).

use std::env;
use std::path::{Path, PathBuf};

use http::{HeaderValue, Uri, header::USER_AGENT};
use serde_json::{Map, Value, json};

use super::entry::{CLUSTERS, CONTEXTS, Entry, USERS};
use super::flags::{self, Connection};
use super::identity::{self, Identity};
use super::kubeconfig::{self, Kubeconfig};
use super::proxy;
use crate::cluster::connect_error::io_words;
use crate::failure::Failure;

/// What every pod finds of its service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// A server and an identity.
pub struct Choice {
    pub(super) config: kube::Config,
    /// `context "kind"`, or where else the choice comes from.
    pub(super) origin: Option<String>,
    pub(super) identity: Identity,
}

/// What the files say, before the flags.
#[derive(Default)]
struct Found {
    origin: Option<String>,
    cluster: Entry,
    user: Entry,
    in_pod: bool,
}

/// Chooses a server and an identity.
///
/// # Errors
///
/// Usage, when something named is missing, or a file cannot be read.
pub fn choose(flags: &Connection) -> Result<Choice, Failure> {
    let mut found = match kubeconfig::read(flags::path(flags.kubeconfig.as_ref()))? {
        Some(kubeconfig) => from_kubeconfig(&kubeconfig, flags)?,
        None => without_kubeconfig(flags)?,
    };
    override_cluster(&mut found.cluster, flags);
    override_user(&mut found.user, flags);
    let (cluster, user) = (&found.cluster, &mut found.user);
    let address = server(cluster)?;
    if address.scheme_str() == Some("http") {
        // Everybody on the way could read them; kubectl leaves them out too.
        user.fields.retain(|key, _| key.starts_with("as"));
    }
    // Built by hand: the library's own way reads the proxy variables against the proxy's address, not the cluster's.
    let mut config = kube::Config::new(address);
    let authority = identity::authority(cluster)?;
    config.accept_invalid_certs = cluster.flag("insecure-skip-tls-verify");
    if config.accept_invalid_certs && authority.is_some() && config.cluster_url.scheme_str() == Some("https") {
        return Err(insecure_and_authority(cluster));
    }
    config.disable_compression = cluster.flag("disable-compression");
    config.proxy_url = proxy::choose(cluster, &config.cluster_url)?;
    config.tls_server_name = tls_server_name(cluster)?;
    if found.in_pod && !cluster.is_flag("certificate-authority") {
        config.root_cert_file = cluster.text("certificate-authority").map(PathBuf::from); // looked at again: it is rotated
    }
    let mut identity = identity::of(user)?;
    if let Some(plugin) = &mut identity.plugin {
        plugin.allow_input(!flags.stdin_is_read);
        plugin.describe(cluster, authority.as_ref().map(|authority| authority.pem.as_slice()));
    }
    config.root_cert = authority.map(|authority| authority.certificates);
    config.auth_info = std::mem::take(&mut identity.auth_info);
    config.connect_timeout = Some(crate::cluster::connect_error::CONNECT_LIMIT);
    let agent = concat!("kubectl-bpfman-config/", env!("CARGO_PKG_VERSION"));
    config.headers.push((USER_AGENT, HeaderValue::from_static(agent)));
    // Requests have their own bound and retries, which the library cannot give in one.
    config.default_retry = false;
    Ok(Choice { config, origin: found.origin, identity })
}

fn from_kubeconfig(kubeconfig: &Kubeconfig, flags: &Connection) -> Result<Found, Failure> {
    let server_given = flags::text(flags.server.as_ref()).is_some();
    if kubeconfig.is_empty() && !server_given {
        return Err(Failure::usage(format!(
            "{} is empty: it has no context, no cluster and no user",
            kubeconfig.name()
        ))
        .hint("name another file with --kubeconfig or KUBECONFIG, or a server with --server"));
    }
    let cluster_flag = flags::text(flags.cluster.as_ref());
    let context_flag = flags::text(flags.context.as_ref());
    let name = context_flag.or(kubeconfig.current_context());
    let context = match name {
        Some(name) => kubeconfig.find(&CONTEXTS, name).ok_or_else(|| {
            let missing = kubeconfig.missing(&CONTEXTS, name);
            if context_flag.is_some() { missing } else { missing.context("the current context does not exist") }
        })?,
        None if cluster_flag.is_some() || server_given => Entry::default(),
        None => return Err(no_context(kubeconfig)),
    };
    let named = |flag: Option<&str>, key| flag.map(str::to_owned).or_else(|| context.text(key));
    let find = |list, flag: Option<&str>, name: &str| {
        kubeconfig.find(list, name).ok_or_else(|| {
            let missing = kubeconfig.missing(list, name);
            if flag.is_some() { missing } else { missing.context(format!("{} is not complete", context.origin)) }
        })
    };
    let cluster = match named(cluster_flag, "cluster") {
        Some(name) => find(&CLUSTERS, cluster_flag, &name)?,
        None if server_given => Entry::default(),
        None => {
            return Err(Failure::usage(format!("{} names no cluster", context.origin)).hint("name one with --cluster"));
        }
    };
    let user_flag = flags::text(flags.user.as_ref());
    let user = named(user_flag, "user").map(|name| find(&USERS, user_flag, &name)).transpose()?.unwrap_or_default();
    Ok(Found { origin: name.map(|name| format!("context {name:?}")), cluster, user, in_pod: false })
}

fn no_context(kubeconfig: &Kubeconfig) -> Failure {
    let failure = Failure::usage(format!("{} names no current context", kubeconfig.name()));
    match kubeconfig.names(&CONTEXTS) {
        Some(names) => failure.hint(format!("choose one with --context: {names}")),
        None => failure.hint("it has no context at all: name a cluster and a user with --cluster and --user"),
    }
}

fn without_kubeconfig(flags: &Connection) -> Result<Found, Failure> {
    for (what, flag) in [("context", &flags.context), ("cluster", &flags.cluster), ("user", &flags.user)] {
        if let Some(name) = flags::text(flag.as_ref()) {
            return Err(Failure::usage(format!("there is no kubeconfig that could have the {what} {name:?}"))
                .hint("name the file with --kubeconfig or KUBECONFIG"));
        }
    }
    if flags::text(flags.server.as_ref()).is_some() {
        return Ok(Found::default());
    }
    let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let (Some(host), Some(port)) = (variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT")) else {
        return Err(Failure::usage("there is no kubeconfig, and this is no pod of a cluster")
            .hint("name a file with --kubeconfig or KUBECONFIG, or a server with --server"));
    };
    let file = |name| Path::new(SERVICE_ACCOUNT).join(name).display().to_string();
    let token = file("token");
    if let Err(error) = std::fs::read(&token) {
        return Err(Failure::usage(format!(
            "there is no kubeconfig, and this pod has no service account: cannot read {token}: {}",
            io_words(&error)
        ))
        .hint("let the pod have it with automountServiceAccountToken: true, or name a file with --kubeconfig"));
    }
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let server = format!("https://{host}:{port}");
    let origin = "the pod's service account";
    Ok(Found {
        origin: Some(origin.to_owned()),
        cluster: Entry::made(origin, &[("server", &server), ("certificate-authority", &file("ca.crt"))]),
        user: Entry::made(origin, &[("tokenFile", &token)]),
        in_pod: true,
    })
}

fn override_cluster(cluster: &mut Entry, flags: &Connection) {
    if let Some(server) = flags::text(flags.server.as_ref()) {
        cluster.set("server", server.into());
        // It was for the other server.
        cluster.fields.remove("tls-server-name");
    }
    let authority = flags::path(flags.certificate_authority.as_ref());
    if authority.is_some() || flags.insecure_skip_tls_verify {
        for key in ["insecure-skip-tls-verify", "certificate-authority", "certificate-authority-data"] {
            cluster.fields.remove(key);
        }
        cluster.set("insecure-skip-tls-verify", flags.insecure_skip_tls_verify.into());
    }
    if let Some(path) = authority {
        cluster.set("certificate-authority", path.to_string_lossy().into());
    }
    if let Some(name) = flags::text(flags.tls_server_name.as_ref()) {
        cluster.set("tls-server-name", name.into());
    }
    if flags.disable_compression {
        cluster.set("disable-compression", true.into());
    }
}

fn override_user(user: &mut Entry, flags: &Connection) {
    if let Some(token) = flags::text(flags.token.as_ref()) {
        // Who types one means it, whatever else there is; with a token no plugin is asked.
        for key in ["auth-provider", "username", "password", "tokenFile"] {
            user.fields.remove(key);
        }
        user.set("token", token.into());
    }
    let files = [("client-certificate", &flags.client_certificate), ("client-key", &flags.client_key)];
    for (key, flag) in files {
        if let Some(path) = flags::path(flag.as_ref()) {
            user.fields.remove(&format!("{key}-data"));
            user.set(key, path.to_string_lossy().into());
        }
    }
    if let Some(name) = flags::text(flags.impersonate.as_ref()) {
        user.set("as", name.into());
    }
    if !flags.as_group.is_empty() {
        user.set("as-groups", flags.as_group.clone().into());
    }
    if let Some(uid) = flags::text(flags.as_uid.as_ref()) {
        user.set("as-uid", uid.into());
    }
    if !flags.as_user_extra.is_empty() {
        let mut extra: Map<String, Value> = Map::new();
        for (key, value) in &flags.as_user_extra {
            if let Some(values) = extra.entry(key.clone()).or_insert_with(|| json!([])).as_array_mut() {
                values.push(value.clone().into());
            }
        }
        user.set("as-user-extra", extra.into());
    }
}

fn insecure_and_authority(cluster: &Entry) -> Failure {
    if cluster.is_flag("certificate-authority") {
        return Failure::usage("--insecure-skip-tls-verify and --certificate-authority exclude each other")
            .hint("leave --insecure-skip-tls-verify out: the authority is what the certificate is checked against");
    }
    Failure::usage(format!("{} has both insecure-skip-tls-verify and a certificate authority", cluster.origin))
        .hint("remove insecure-skip-tls-verify: the authority is what the certificate is checked against")
}

fn server(cluster: &Entry) -> Result<Uri, Failure> {
    let Some(address) = cluster.text("server") else {
        return Err(Failure::usage(format!("{} names no server", cluster.origin))
            .hint("name one with --server https://host:port"));
    };
    let origin = cluster.origin_of("server");
    let wrong = || {
        Failure::usage(format!("{origin} has an address that is none: {address:?}"))
            .hint("it must be https://host:port, or http://host:port")
    };
    // Without a scheme it is HTTPS, as for kubectl.
    let full = if address.contains("://") { address.clone() } else { format!("https://{address}") };
    let uri: Uri = full.parse().map_err(|_| wrong())?;
    match uri.scheme_str() {
        Some("http" | "https") if uri.host().is_some_and(|host| !host.is_empty()) && proxy::is_port_right(&uri) => {
            Ok(uri)
        }
        _ => Err(wrong()),
    }
}

/// The name to expect in the server's certificate.
fn tls_server_name(cluster: &Entry) -> Result<Option<String>, Failure> {
    let Some(name) = cluster.text("tls-server-name") else { return Ok(None) };
    match rustls::pki_types::ServerName::try_from(name.as_str()) {
        Ok(_) => Ok(Some(name.clone())),
        Err(_) => {
            Err(Failure::usage(format!("{} has a name that is none: {name:?}", cluster.origin_of("tls-server-name")))
                .hint("it must be a DNS name or an address"))
        }
    }
}
