//! All that talks to the API server: which one, what it serves, reading, server-side apply, watching.
//!
//! Objects are sent and received as JSON values, so that no field is lost in a type; errors are classified once, here.

mod access;
mod connect_error;
mod error;
mod objects;
mod refusal;
mod request;
mod resources;
mod watch;
mod watch_events;

use std::collections::HashMap;

use tokio::sync::Mutex;

pub(crate) use self::access::{
    AccessError, ClientConfig, ConnectionOptions, KubeconfigNames, PemProblem, PluginProblem,
};
pub use self::connect_error::ConnectError;
pub use self::error::Error;
pub(crate) use self::error::count;
pub use self::objects::{Applied, ApplyParams};
pub use self::refusal::{Cause, Class, Refusal};
pub use self::resources::{Resource, Served};
pub(crate) use self::watch::produced;
pub use self::watch::{Observer, Seen, watch};
pub use self::watch_events::Observation;

use self::request::{Answer, Sender};
use self::resources::{GroupList, ResourceList, group_version_path};
use crate::manifest::ObjectId;

/// One API server, as one identity, under one field manager's name.
pub struct Cluster {
    sender: Sender,
    field_manager: String,
    chosen: String,
    looked_up: Mutex<HashMap<(String, String), Resource>>,
}

impl Cluster {
    /// The server's address.
    pub fn host(&self) -> &str {
        &self.sender.server.address
    }

    /// `context "kind", server https://127.0.0.1:6443`.
    pub fn chosen(&self) -> &str {
        &self.chosen
    }

    /// The name under which fields are owned.
    pub fn field_manager(&self) -> &str {
        &self.field_manager
    }

    /// Asks which API groups are served: one request, and none to the groups themselves, so that a broken one does not matter.
    pub async fn served(&self) -> Result<Served, Error> {
        let answer = self.get_path("/apis").await?;
        self.parse::<GroupList>(&answer).map(Served::from)
    }

    /// Asks for the version of the server, as `v1.36.3`.
    pub async fn version(&self) -> Result<String, Error> {
        let answer = self.get_path("/version").await?;
        let version: serde_json::Value = self.parse(&answer)?;
        let version = version.get("gitVersion").and_then(serde_json::Value::as_str);
        Ok(version.unwrap_or("unknown").to_owned())
    }

    /// How the kind of `id` is addressed; asks the server only about kinds that are not built in.
    pub async fn resource(&self, id: &ObjectId) -> Result<Resource, Error> {
        if let Some(resource) = Resource::known(id) {
            return Ok(resource);
        }
        let resource = self.look_up(id).await?;
        if resource.namespaced && id.namespace.is_none() {
            return Err(Error::refused(422, "metadata.namespace is missing: the kind is namespaced".to_owned()));
        }
        Ok(resource)
    }

    async fn look_up(&self, id: &ObjectId) -> Result<Resource, Error> {
        let key = (id.api_version.clone(), id.kind.clone());
        let mut looked_up = self.looked_up.lock().await;
        if let Some(resource) = looked_up.get(&key) {
            return Ok(resource.clone());
        }
        let answer = self.get_path(&group_version_path(&id.api_version)).await?;
        // A group and version that is not served has no list of its resources.
        let listed = (answer.status != http::StatusCode::NOT_FOUND).then(|| self.parse::<ResourceList>(&answer));
        let resource = listed
            .transpose()?
            .and_then(|list| list.find(&id.kind))
            .ok_or_else(|| Error::NotServed { resource: id.kind.clone(), api_version: id.api_version.clone() })?;
        looked_up.insert(key, resource.clone());
        Ok(resource)
    }

    async fn get_path(&self, path: &str) -> Result<Answer, Error> {
        self.sender.send(self.build(http::Request::get(path).body(Vec::new()))?).await
    }

    fn build<E: std::fmt::Display>(
        &self,
        request: Result<http::Request<Vec<u8>>, E>,
    ) -> Result<http::Request<Vec<u8>>, Error> {
        request.map_err(|error| Error::Unreachable {
            host: self.host().to_owned(),
            cause: ConnectError::Other(error.to_string()),
        })
    }

    fn parse<T: serde::de::DeserializeOwned>(&self, answer: &Answer) -> Result<T, Error> {
        let server = &self.sender.server;
        if !answer.status.is_success() {
            return Err(Error::of_answer(answer.status, &answer.body, server));
        }
        // A success that is not what the API promises: a captive portal, a proxy's page.
        serde_json::from_slice(&answer.body)
            .map_err(|_| Error::unusable(answer.status, &String::from_utf8_lossy(&answer.body), server))
    }
}
