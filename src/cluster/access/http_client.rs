//! The layers between a request and its connection: identity, headers, compression, TLS, proxy.
//!
//! As the library's own client has them, but for the connections, which are HTTP/2 where the server and the proxy allow it,
//! and send small packets at once (`TCP_NODELAY`). Sends nothing yet.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderValue, Uri};
use hyper::rt::{Read, Write};
use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use kube::Client;
use kube::client::{ClientBuilder, ConfigExt};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt};
use tower_http::decompression::DecompressionLayer;

use super::client_certificate::ClientCertificate;
use super::connections::{Connections, Connector, Stream};

/// TCP's own probes, for connections of HTTP/1.1, which have no pings; as Go's.
const TCP_KEEPALIVE: Duration = Duration::from_secs(30);

/// Makes the client of one identity: `config` has neither a certificate nor a token that changes.
pub(super) fn client(config: &kube::Config, certificate: Option<Arc<ClientCertificate>>) -> kube::Result<Client> {
    let mut tls = config.rustls_client_config()?;
    if let Some(certificate) = certificate {
        tls.client_auth_cert_resolver = certificate;
    }
    let connections = Connections::new(connector(config, tls)?);
    let gzip = DecompressionLayer::new().gzip(!config.disable_compression);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(gzip)
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(connections);
    Ok(ClientBuilder::new(service, config.default_namespace.clone()).build())
}

/// Makes streams to the server, through the proxy if there is one.
fn connector(config: &kube::Config, tls: rustls::ClientConfig) -> kube::Result<Connector> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(TCP_KEEPALIVE));
    let Some(proxy) = config.proxy_url.clone() else { return Ok(with_tls(config, tls, tcp)) };
    Ok(match proxy.scheme_str() {
        Some("socks5") => with_tls(config, tls, SocksV5::new(proxy, tcp)),
        Some("https") => {
            let encrypted = config.rustls_https_connector_with_connector(tcp)?;
            with_tls(config, tls, authorized(Tunnel::new(proxy.clone(), encrypted), &proxy))
        }
        _ => with_tls(config, tls, authorized(Tunnel::new(proxy.clone(), tcp), &proxy)),
    })
}

/// Adds the user and the password of the proxy's URL, in which they are percent-encoded.
fn authorized<C>(tunnel: Tunnel<C>, proxy: &Uri) -> Tunnel<C> {
    let user = proxy.authority().and_then(|authority| authority.as_str().rsplit_once('@')).map(|(user, _)| user);
    let header = user.and_then(|user| {
        let decoded: Vec<u8> = percent_encoding::percent_decode_str(user).collect();
        HeaderValue::from_str(&format!("Basic {}", BASE64_STANDARD.encode(decoded))).ok()
    });
    match header {
        Some(header) => tunnel.with_auth(header),
        None => tunnel,
    }
}

fn with_tls<C>(config: &kube::Config, tls: rustls::ClientConfig, connector: C) -> Connector
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<BoxError>,
{
    let mut builder = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    if let Some(name) = config.tls_server_name.clone().and_then(|name| name.try_into().ok()) {
        builder = builder.with_server_name_resolver(FixedServerNameResolver::new(name));
    }
    // kubectl knows the same variable.
    let is_http1_only = env::var_os("DISABLE_HTTP2").is_some_and(|value| !value.is_empty());
    let builder = if is_http1_only {
        builder.enable_http1().wrap_connector(connector)
    } else {
        builder.enable_all_versions().wrap_connector(connector)
    };
    let streams = builder.map_response(|stream| Box::new(stream) as Box<dyn Stream>).map_err(Into::into);
    BoxCloneSyncService::new(streams)
}

impl<T: Connection + Read + Write + Send + Unpin> Stream for MaybeHttpsStream<T> {
    fn is_http2(&self) -> bool {
        self.connected().is_negotiated_h2()
    }
}
