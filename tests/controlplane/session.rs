//! Requests of a test over one kept connection, where a process for each would take most of the time.
//!
//! Its user is the test support's own: it may do everything, and the audit log leaves it out.

use std::path::Path;

use anyhow::Result;
use http::Request;
use kube::Client;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::client::client;

/// A kept connection to one API server.
pub struct Session {
    runtime: Runtime,
    client: Client,
}

impl Session {
    /// Connects as the user of `kubeconfig`.
    pub fn open(kubeconfig: &Path) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = runtime.block_on(client(kubeconfig))?;
        Ok(Self { runtime, client })
    }

    /// Sends a request and gives the status code and the object, or the `Status` of a refusal.
    pub fn send(&self, method: &str, uri: &str, content_type: &str, body: &Value) -> Result<(u16, Value)> {
        let body = if body.is_null() { Vec::new() } else { serde_json::to_vec(body)? };
        let request =
            || Request::builder().method(method).uri(uri).header("content-type", content_type).body(body.clone());
        let once = || -> Result<_> { Ok(self.runtime.block_on(self.client.request::<Value>(request()?))) };
        // The server may close an idle connection just when it is used again.
        let mut answer = once()?;
        if matches!(answer, Err(kube::Error::Service(_))) {
            answer = once()?;
        }
        match answer {
            Ok(object) => Ok((200, object)),
            Err(kube::Error::Api(status)) => Ok((status.code, serde_json::to_value(status)?)),
            Err(error) => Err(error.into()),
        }
    }
}
