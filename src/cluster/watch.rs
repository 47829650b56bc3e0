//! Watching one named object, for as long as it takes.
//!
//! A list and a watch that carry the object's name, so that a role limited to that name is enough; broken watches are
//! started again with growing pauses.

use std::future::ready;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http::StatusCode;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, TypeMeta};
use kube::runtime::{WatchStreamExt, watcher};
use serde_json::Value;

use super::connect_error::Server;
use super::{Cluster, Error, Resource};
use crate::manifest::ObjectId;

/// What a watch saw of its object.
pub struct Seen {
    /// The object.
    pub id: ObjectId,
    /// Its state, none when it is not there; or why nothing is known for the moment.
    pub state: Result<Option<Value>, Error>,
}

/// Watches `id`: its state now, and again at each change. Ends only when dropped.
pub async fn watch(cluster: &Cluster, id: ObjectId) -> Result<BoxStream<'static, Seen>, Error> {
    let resource = cluster.resource(&id).await?;
    let server = Arc::clone(&cluster.sender.server);
    let name = id.name.clone();
    let stream = watcher::watch_object(api(cluster, &id, &resource), &name).default_backoff();
    let seen = move |event: Result<Option<DynamicObject>, watcher::Error>| Seen {
        state: event.map(|object| to_value(object, &id)).map_err(|error| sort(&error, &id, &resource, &server)),
        id: id.clone(),
    };
    Ok(stream.filter(|event| ready(!is_expired(event))).map(seen).boxed())
}

/// A watch that was away for too long lists anew by itself: nothing that anybody needs to know.
fn is_expired(event: &Result<Option<DynamicObject>, watcher::Error>) -> bool {
    match event {
        Err(watcher::Error::WatchError(status) | watcher::Error::WatchStartFailed(kube::Error::Api(status))) => {
            status.code == 410
        }
        _ => false,
    }
}

fn api(cluster: &Cluster, id: &ObjectId, resource: &Resource) -> Api<DynamicObject> {
    let kind = ApiResource {
        group: id.group().to_owned(),
        version: id.version().to_owned(),
        api_version: id.api_version.clone(),
        kind: id.kind.clone(),
        plural: resource.plural.clone(),
    };
    let client = cluster.sender.client.clone();
    match id.namespace.as_deref().filter(|_| resource.namespaced) {
        Some(namespace) => Api::namespaced_with(client, namespace, &kind),
        None => Api::all_with(client, &kind),
    }
}

/// The items of a list come without the kind and version that the list is of.
fn to_value(object: Option<DynamicObject>, id: &ObjectId) -> Option<Value> {
    let mut object = object?;
    object.types = Some(TypeMeta { api_version: id.api_version.clone(), kind: id.kind.clone() });
    serde_json::to_value(object).ok()
}

fn sort(error: &watcher::Error, id: &ObjectId, resource: &Resource, server: &Server) -> Error {
    let status = match error {
        watcher::Error::WatchError(status)
        | watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchFailed(kube::Error::Api(status)) => status,
        other => return Error::of_transport(other, server),
    };
    let code = StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if code == StatusCode::NOT_FOUND {
        return Error::NotServed { resource: resource.qualified(id), api_version: id.api_version.clone() };
    }
    let body = serde_json::to_vec(status).unwrap_or_default();
    Error::of_answer(code, &body, server)
}
