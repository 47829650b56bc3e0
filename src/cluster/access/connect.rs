//! From the chosen server and identity to a client: runs the credential plugin, once, and assembles the client's layers.
//!
//! Sends nothing to the server.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tokio::sync::Mutex;

use super::client_config::ClientConfig;
use super::error::AccessError;
use super::identity::Identity;
use super::tokens::Tokens;
use super::{http_client, proxy};
use crate::cluster::Cluster;
use crate::cluster::connect_error::{Server, chain};
use crate::cluster::request::Sender;

impl Cluster {
    /// Prepares a client for the chosen server; waits for the credential plugin, if there is one.
    pub(crate) fn connect(config: ClientConfig, field_manager: &str, limit: Duration) -> Result<Self, AccessError> {
        let ClientConfig { mut config, origin, identity } = config;
        let Identity { mut certificate, plugin, token_file, .. } = identity;
        let mut tokens = token_file.map(Tokens::of_file);
        if let Some(plugin) = plugin {
            let credential = plugin.run()?;
            if let Some((chain, key)) = &credential.certificate {
                certificate = pem::parse(chain).ok().map(pem::Pem::into_contents);
                config.auth_info.client_certificate_data = Some(BASE64_STANDARD.encode(chain));
                config.auth_info.client_key_data = Some(BASE64_STANDARD.encode(key).into());
            }
            tokens = Tokens::of_plugin(plugin, &credential);
        }
        let address = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let proxy = config.proxy_url.as_ref().map(proxy::without_password);
        let client = http_client::client(&config, tokens).map_err(|error| unusable(&error, address.clone()))?;
        let chosen = match origin {
            Some(origin) => format!("{origin}, server {address}"),
            None => format!("server {address}"),
        };
        let server = Arc::new(Server { address, proxy, certificate });
        Ok(Self {
            sender: Sender { client, server, limit },
            field_manager: field_manager.to_owned(),
            chosen,
            looked_up: Mutex::default(),
        })
    }
}

/// What can still be wrong once all files are read: a certificate and a key that do not match, an `auth-provider` that fails.
fn unusable(error: &kube::Error, address: String) -> AccessError {
    let mismatch = |cause: &(dyn std::error::Error + 'static)| {
        matches!(cause.downcast_ref(), Some(rustls::Error::InconsistentKeys(_)))
    };
    if chain(error).any(mismatch) {
        return AccessError::KeyMismatch;
    }
    let reason = chain(error).last().map(ToString::to_string).unwrap_or_default();
    AccessError::Credentials { address, reason }
}
