//! Which proxy to use for the server: the kubeconfig's `proxy-url`, else `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`.
//!
//! Go's rules, since kubectl has them (<https://pkg.go.dev/golang.org/x/net/http/httpproxy>): the variables are matched
//! against the server's address, and a loopback address is never reached through a proxy.

use std::env;

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use kube::config::Cluster;

use super::error::AccessError;
use super::kubeconfig::Named;

/// The proxy for `server`, if any.
pub(super) fn choose(cluster: &Named<Cluster>, server: &Uri) -> Result<Option<Uri>, AccessError> {
    if let Some(proxy) = &cluster.fields.proxy_url {
        return parse(proxy, &format!("proxy-url of {}", cluster.origin)).map(Some);
    }
    let names =
        if server.scheme_str() == Some("http") { ["HTTP_PROXY", "http_proxy"] } else { ["HTTPS_PROXY", "https_proxy"] };
    match variable(names) {
        Some((name, proxy)) if !is_loopback(server) && !is_excepted(server) => parse(&proxy, name).map(Some),
        _ => Ok(None),
    }
}

/// The proxy's address as messages show it.
pub(super) fn without_password(proxy: &Uri) -> String {
    let authority = proxy.authority().map(http::uri::Authority::as_str).unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{}://{host}", proxy.scheme_str().unwrap_or("http"))
}

fn variable(names: [&'static str; 2]) -> Option<(&'static str, String)> {
    names.into_iter().filter_map(|name| Some((name, env::var(name).ok()?))).find(|(_, value)| !value.is_empty())
}

fn is_excepted(server: &Uri) -> bool {
    let exceptions = variable(["NO_PROXY", "no_proxy"]).map(|(_, list)| list).unwrap_or_default();
    let port = server.port_u16().unwrap_or(if server.scheme_str() == Some("http") { 80 } else { 443 }).to_string();
    let mut hosts = Vec::new();
    for exception in exceptions.split(',').map(str::trim) {
        match exception.rsplit_once(':') {
            _ if exception == "*" => return true,
            // Of this host and this port only; the matcher knows no ports.
            Some((host, only)) if !host.contains(':') || host.ends_with(']') => {
                hosts.extend((only == port).then(|| host.trim_matches(['[', ']'])));
            }
            _ => hosts.push(exception.strip_prefix('*').unwrap_or(exception)),
        }
    }
    // Whichever proxy: only the exceptions are asked for.
    Matcher::builder().all("http://proxy").no(hosts.join(",")).build().intercept(server).is_none()
}

fn is_loopback(server: &Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The URL may hold a password: messages name only where it comes from.
fn parse(proxy: &str, origin: &str) -> Result<Uri, AccessError> {
    let with_scheme = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    // Names are resolved by the proxy either way.
    let known = with_scheme.replacen("socks5h://", "socks5://", 1);
    let uri = known
        .parse()
        .ok()
        .filter(|uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https" | "socks5")) && is_port_right(uri));
    uri.ok_or_else(|| AccessError::InvalidProxy(origin.to_owned()))
}

/// Whether what follows the host, if anything, is a port number.
pub(super) fn is_port_right(uri: &Uri) -> bool {
    uri.authority().is_none_or(|authority| {
        let address = authority.as_str().rsplit('@').next().unwrap_or_default();
        address.len() == authority.host().len() || authority.port_u16().is_some()
    })
}
