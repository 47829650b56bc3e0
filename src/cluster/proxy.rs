//! Which proxy leads to the server: the kubeconfig's `proxy-url`, else `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`.
//!
//! Go's rules, since kubectl has them (<https://pkg.go.dev/golang.org/x/net/http/httpproxy>): the variables are matched
//! against the server's address, and a loopback address is never reached through a proxy.

use std::env;

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;

use crate::exit::Exit;
use crate::failure::Failure;

/// The proxy for `server`, if any.
pub(super) fn choose(configured: Option<&str>, server: &Uri) -> Result<Option<Uri>, Failure> {
    if let Some(proxy) = configured.filter(|proxy| !proxy.is_empty()) {
        return parse(proxy).map(Some);
    }
    let variables =
        if server.scheme_str() == Some("http") { ["HTTP_PROXY", "http_proxy"] } else { ["HTTPS_PROXY", "https_proxy"] };
    match variable(variables) {
        Some(proxy) if !is_loopback(server) && applies(&proxy, server) => parse(&proxy).map(Some),
        _ => Ok(None),
    }
}

fn variable(names: [&str; 2]) -> Option<String> {
    names.into_iter().filter_map(|name| env::var(name).ok()).find(|value| !value.is_empty())
}

fn applies(proxy: &str, server: &Uri) -> bool {
    let exceptions = variable(["NO_PROXY", "no_proxy"]).unwrap_or_default();
    Matcher::builder().all(proxy).no(exceptions).build().intercept(server).is_some()
}

fn is_loopback(server: &Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn parse(proxy: &str) -> Result<Uri, Failure> {
    let with_scheme = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    with_scheme
        .parse()
        .map_err(|error: http::uri::InvalidUri| Failure::new(Exit::Usage, error).context("bad proxy address"))
}
