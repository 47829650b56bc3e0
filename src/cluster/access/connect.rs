//! From the chosen server and identity to a client: runs the credential plugin, once, and assembles the client's layers.
//!
//! Sends nothing to the server.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use tokio::sync::Mutex;

use super::client_config::ClientConfig;
use super::credentials::{Credentials, Source};
use super::error::AccessError;
use super::identity::Identity;
use super::proxy;
use crate::cluster::Cluster;
use crate::cluster::connect_error::{Server, chain};
use crate::cluster::request::Sender;

impl Cluster {
    /// Prepares a client for the chosen server; waits for the credential plugin, if there is one.
    pub(crate) async fn connect(
        config: ClientConfig,
        field_manager: &str,
        limit: Duration,
    ) -> Result<Self, AccessError> {
        let ClientConfig { config, origin, identity, files } = config;
        let Identity { certificate, plugin, token_file, .. } = identity;
        let given = match &plugin {
            Some(plugin) => Some(plugin.run(limit).await?),
            None => None,
        };
        let address = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let proxy = config.proxy_url.as_ref().map(proxy::without_password);
        let shown = Arc::default();
        let source = Source { config, files, plugin, limit, shown: Arc::clone(&shown) };
        let credentials = Credentials::new(source, token_file, certificate, given).map_err(|error| {
            let reason = chain(&error).last().map(ToString::to_string).unwrap_or_default();
            AccessError::Credentials { address: address.clone(), reason }
        })?;
        let chosen = match origin {
            Some(origin) => format!("{origin}, server {address}"),
            None => format!("server {address}"),
        };
        let server = Arc::new(Server { address, proxy, certificate: shown });
        Ok(Self {
            sender: Sender { client: Client::new(credentials, "default"), server, limit },
            field_manager: field_manager.to_owned(),
            chosen,
            looked_up: Mutex::default(),
        })
    }
}
