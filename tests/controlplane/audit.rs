//! What the API server was asked: its audit log, one record a request.
//!
//! Reads a file that the API server writes before the client sees the end of an answer; touches no network.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

/// A request that the API server answered, or a watch that it has begun to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; of a path outside the API its method.
    pub verb: String,
    /// The path and the query.
    pub uri: String,
    /// The user by the certificate: `admin`, or a name given to `Cluster::user`.
    pub user: String,
    /// What the client calls itself.
    pub user_agent: String,
    /// The status of the answer.
    pub code: u16,
    /// The object or the list that was asked for; none outside the API.
    pub object: Option<ObjectRef>,
    /// When it came, in RFC 3339.
    pub received: String,
    /// When it was answered, or a watch begun.
    pub answered: String,
}

/// What a request was about; a field that the request does not name is empty.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectRef {
    /// `apps`; empty for the core group.
    pub api_group: String,
    /// `daemonsets`.
    pub resource: String,
    /// `status`.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(rename = "auditID")]
    id: String,
    verb: String,
    #[serde(rename = "requestURI")]
    uri: String,
    user: User,
    #[serde(default)]
    user_agent: String,
    #[serde(default)]
    response_status: Value,
    object_ref: Option<ObjectRef>,
    request_received_timestamp: String,
    stage_timestamp: String,
}

#[derive(Deserialize)]
struct User {
    /// Of who was refused there is none.
    #[serde(default)]
    username: String,
}

/// Reads all requests of the log at `path`, in the order in which they were first seen.
pub fn read(path: &Path) -> Result<Vec<Request>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut seen = BTreeMap::new();
    let mut requests: Vec<Request> = Vec::new();
    // The last line may be half written.
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let event: Event = serde_json::from_str(line).with_context(|| format!("not an audit event: {line}"))?;
        // A watch is told of twice: when it begins, and when it ends.
        let place = *seen.entry(event.id.clone()).or_insert(requests.len());
        let request = Request::from(event);
        match requests.get_mut(place) {
            Some(earlier) => *earlier = request,
            None => requests.push(request),
        }
    }
    Ok(requests)
}

impl From<Event> for Request {
    fn from(event: Event) -> Self {
        let code = event.response_status.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        Self {
            verb: event.verb,
            uri: event.uri,
            user: event.user.username,
            user_agent: event.user_agent,
            code: code.unwrap_or_default(),
            object: event.object_ref,
            received: event.request_received_timestamp,
            answered: event.stage_timestamp,
        }
    }
}
