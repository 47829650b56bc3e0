//! All that talks to the API server: which one, what it serves, reading, server-side apply, watching.
//!
//! Objects go out and come back as JSON values, so that no field is lost in a type; errors are sorted once, here.

mod access;
mod error;
mod objects;
mod request;
mod resources;
mod trouble;
mod watch;

use std::collections::HashMap;

use tokio::sync::Mutex;

pub use self::access::{Choice, Connection, choose};
pub(crate) use self::error::count;
pub use self::error::{Cause, Error};
pub use self::objects::{Applied, Send};
pub use self::resources::{Resource, Served};
pub use self::trouble::Trouble;
pub use self::watch::{Seen, watch};

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

    /// Asks which API groups are served: one request, and none to the groups themselves, so that a broken one is no hindrance.
    pub async fn served(&self) -> Result<Served, Error> {
        let answer = self.get_path("/apis").await?;
        self.parse::<GroupList>(&answer).map(Served::from)
    }

    /// How the kind of `id` is addressed; asks the server only about kinds that are not built in.
    pub async fn resource(&self, id: &ObjectId) -> Result<Resource, Error> {
        if let Some(resource) = Resource::known(id) {
            return Ok(resource);
        }
        let resource = self.look_up(id).await?;
        if resource.namespaced && id.namespace.is_none() {
            let message = "metadata.namespace is missing: this kind lives in a namespace".to_owned();
            return Err(Error::Refused { code: 422, message });
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
        let resource =
            if answer.status.is_success() { self.parse::<ResourceList>(&answer)?.find(&id.kind) } else { None }
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
            cause: Trouble::Other(error.to_string()),
        })
    }

    fn parse<T: serde::de::DeserializeOwned>(&self, answer: &Answer) -> Result<T, Error> {
        if let Some(error) = self.failure(answer) {
            return Err(error);
        }
        serde_json::from_slice(&answer.body).map_err(|_| self.unusable(answer))
    }

    /// The error of an answer that is not a success; a missing object is none here.
    fn failure(&self, answer: &Answer) -> Option<Error> {
        if answer.status.is_success() {
            return None;
        }
        Error::of_answer(answer.status, &answer.body, &self.sender.server)
    }

    /// A success whose body is not what the API promises: a captive portal, a proxy's page.
    fn unusable(&self, answer: &Answer) -> Error {
        let text = String::from_utf8_lossy(&answer.body);
        let line = text.lines().next().unwrap_or_default().chars().take(200).collect();
        Error::Unusable { code: answer.status.as_u16(), host: self.host().to_owned(), line }
    }
}
