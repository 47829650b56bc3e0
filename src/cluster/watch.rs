//! Watching one named object: a list and a watch that carry the object's name, so that a role limited to that name is enough.
//!
//! Every request is bounded in time, none is repeated here: when to ask again is decided by whoever knows of all objects.

use std::future::{Future, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use http::{HeaderValue, Version, header};
use http_body_util::BodyExt;
use jiff::Timestamp;
use kube::api::{ListParams, WatchParams};
use kube::client::Body;
use kube::core::Request;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::request::{Sender, retry_after};
use super::watch_events::{Decoder, Observation};
use super::{Cluster, Error, Resource};
use crate::manifest::ObjectId;

/// How long a list may take, and a watch until it is open.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// How long a watch lives on a connection that is checked by pings.
const PINGED_LIFE: u32 = 270;
/// How long it lives otherwise: a connection that fell silent is noticed only at its end.
const LIFE: u32 = 25;
/// How much later than announced the server may end a watch.
const GRACE: Duration = Duration::from_secs(5);
/// The longest answer that is read to say what is wrong.
const LONGEST_REFUSAL: usize = 64 << 10;

/// One object to list and to watch.
#[derive(Clone)]
struct OneObject {
    sender: Sender,
    id: ObjectId,
    resource: Resource,
    /// Whether the last answer came by HTTP/2, whose connections are checked by pings.
    pinged: Arc<AtomicBool>,
}

/// Observes objects of one cluster.
pub struct Observer<'a> {
    cluster: &'a Cluster,
    pinged: Arc<AtomicBool>,
}

impl<'a> Observer<'a> {
    /// Sends nothing yet.
    pub fn new(cluster: &'a Cluster) -> Self {
        Self { cluster, pinged: Arc::default() }
    }

    /// Prepares watching `id`; asks the server only about kinds that are not built in.
    async fn one(&self, id: &ObjectId) -> Result<OneObject, Error> {
        let resource = self.cluster.resource(id).await?;
        let (sender, pinged) = (self.cluster.sender.clone(), Arc::clone(&self.pinged));
        Ok(OneObject { sender, id: id.clone(), resource, pinged })
    }

    /// Lists `id` once, or watches it from a version; ends with the connection. `spread` keeps many watches from ending at once.
    pub fn observe(&'a self, id: ObjectId, from: Option<String>, spread: u64) -> impl Stream<Item = Observation> + 'a {
        produced(async move |seen: mpsc::Sender<Observation>| {
            let silent = || failed(self.cluster.sender.silent(ANSWER_LIMIT), None);
            let object = match timeout(ANSWER_LIMIT, self.one(&id)).await {
                Ok(Ok(object)) => object,
                Ok(Err(error)) => return drop(seen.send(failed(error, None)).await),
                Err(_) => return drop(seen.send(silent()).await),
            };
            match from {
                None => drop(seen.send(object.list().await).await),
                Some(version) => object.watch(&version, spread, &seen).await,
            }
        })
    }
}

/// What a watch saw of its object.
pub struct Seen {
    /// The object.
    pub id: ObjectId,
    /// Its state, none when it does not exist; or why nothing is known for the moment.
    pub state: Result<Option<Value>, Error>,
}

/// Watches `id`: its state now, and again at each change; broken watches are started again. Ends only when dropped.
pub async fn watch(cluster: &Cluster, id: ObjectId) -> Result<BoxStream<'static, Seen>, Error> {
    let object = Observer::new(cluster).one(&id).await?;
    let states = produced(async move |states: mpsc::Sender<Seen>| {
        let mut pause = Duration::from_millis(250);
        while !states.is_closed() {
            let seen = object.list().await;
            if let Observation::Listed { version, .. } = &seen {
                pause = Duration::from_millis(250);
                let (sender, mut events) = mpsc::channel(16);
                let forward = async {
                    let _ = states.send(object.seen(seen.clone())).await;
                    while let Some(event) = events.recv().await {
                        if matches!(event, Observation::Changed(_) | Observation::Deleted(_)) {
                            let _ = states.send(object.seen(event)).await;
                        }
                    }
                };
                let watch = async { object.watch(version, 0, &{ sender }).await };
                tokio::join!(forward, watch);
            } else {
                let _ = states.send(object.seen(seen)).await;
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(5));
        }
    });
    Ok(states.boxed())
}

impl OneObject {
    fn seen(&self, observation: Observation) -> Seen {
        let state = match observation {
            Observation::Listed { object, .. } => Ok(object),
            Observation::Changed(object) => Ok(Some(object)),
            Observation::Failed { error, .. } => Err(error),
            _ => Ok(None),
        };
        Seen { id: self.id.clone(), state }
    }

    /// Reads the object by a list, whose version a watch can continue from.
    async fn list(&self) -> Observation {
        let params = ListParams::default().fields(&format!("metadata.name={}", self.id.name));
        let request = Request::new(self.resource.collection(&self.id)).list(&params);
        let Ok(request) = request else { return failed(self.unusable(0, ""), None) };
        let answer = async {
            let response = self.send(request).await?;
            let (status, wait) = (response.status(), retry_after(response.headers(), Timestamp::now()));
            let body = response.into_body().collect_bytes().await.map_err(|error| self.broken(&error))?;
            if !status.is_success() {
                return Ok(self.refused(status, &body, wait));
            }
            let list: Option<Value> = serde_json::from_slice(&body).ok();
            let version = list.as_ref().and_then(|list| list.pointer("/metadata/resourceVersion")?.as_str());
            Ok(match (version.map(str::to_owned), list) {
                (Some(version), Some(mut list)) => {
                    let object = list.pointer_mut("/items/0").map(|item| self.typed(item.take()));
                    Observation::Listed { object, version }
                }
                _ => failed(self.unusable(status.as_u16(), &String::from_utf8_lossy(&body)), None),
            })
        };
        match timeout(ANSWER_LIMIT, answer).await {
            Ok(Ok(observation) | Err(observation)) => observation,
            Err(_) => failed(self.sender.silent(ANSWER_LIMIT), None),
        }
    }

    /// Watches the object from `version` until the connection ends; the last observation says how.
    async fn watch(&self, version: &str, spread: u64, seen: &mpsc::Sender<Observation>) {
        let pinged = self.pinged.load(Ordering::Relaxed);
        let life = if pinged { PINGED_LIFE } else { LIFE };
        let life = life + u32::try_from(spread % (u64::from(life) / 5)).unwrap_or_default();
        let params = WatchParams::default().fields(&format!("metadata.name={}", self.id.name)).timeout(life);
        let request = Request::new(self.resource.collection(&self.id)).watch(&params, version);
        let Ok(request) = request else { return drop(seen.send(failed(self.unusable(0, ""), None)).await) };
        let end = Instant::now() + Duration::from_secs(life.into()) + GRACE;
        let response = match timeout(ANSWER_LIMIT, self.send(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(observation)) => return drop(seen.send(observation).await),
            Err(_) => return drop(seen.send(failed(self.sender.silent(ANSWER_LIMIT), None)).await),
        };
        let status = response.status();
        if !status.is_success() {
            let wait = retry_after(response.headers(), Timestamp::now());
            let body = timeout(ANSWER_LIMIT, response.into_body().collect()).await;
            let body = body.ok().and_then(Result::ok).map(http_body_util::Collected::to_bytes).unwrap_or_default();
            let body = body.get(..LONGEST_REFUSAL.min(body.len())).unwrap_or_default();
            return drop(seen.send(self.refused(status, body, wait)).await);
        }
        let _ = seen.send(Observation::Opened).await;
        let _ = seen.send(self.follow(response.into_body(), end, seen).await).await;
    }

    /// Reads events until the watch ends; says how it did.
    async fn follow(&self, mut body: Body, end: Instant, seen: &mpsc::Sender<Observation>) -> Observation {
        let mut decoder = Decoder::default();
        loop {
            let chunk = match timeout_at(end, body.frame()).await {
                Err(_) => return failed(self.sender.silent(end.elapsed() + GRACE), None),
                Ok(None) => return decoder.ended(),
                Ok(Some(Err(_))) => return Observation::Interrupted,
                Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            };
            for event in decoder.decode(&chunk, &self.sender.server) {
                let is_last = event.is_last();
                if is_last {
                    return event;
                }
                if seen.send(event).await.is_err() {
                    return Observation::Ended;
                }
            }
        }
    }

    async fn send(&self, request: http::Request<Vec<u8>>) -> Result<http::Response<Body>, Observation> {
        let mut request = request.map(Body::from);
        // Newer servers compress each event of a watch on its own, which our reader does not expect
        // (https://github.com/tower-rs/tower-http/issues/737).
        request.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let response = self.sender.client.send(request).await.map_err(|error| self.broken(&error))?;
        self.pinged.store(response.version() == Version::HTTP_2, Ordering::Relaxed);
        Ok(response)
    }

    fn broken(&self, error: &kube::Error) -> Observation {
        failed(Error::of_transport(error, &self.sender.server), None)
    }

    fn refused(&self, status: http::StatusCode, body: &[u8], wait: Option<Duration>) -> Observation {
        let id = &self.id;
        if status == http::StatusCode::GONE {
            return Observation::Interrupted;
        }
        let error = match status {
            http::StatusCode::NOT_FOUND => {
                Error::NotServed { resource: self.resource.qualified(id), api_version: id.api_version.clone() }
            }
            _ => Error::of_answer(status, body, &self.sender.server),
        };
        let told = serde_json::from_slice::<Value>(body).unwrap_or_default();
        let told = told.pointer("/details/retryAfterSeconds").and_then(Value::as_u64).map(Duration::from_secs);
        failed(error, wait.or(told))
    }

    fn unusable(&self, code: u16, body: &str) -> Error {
        let line = body.lines().next().unwrap_or_default().chars().take(200).collect();
        Error::Unusable { code, host: self.sender.server.address.clone(), line }
    }

    /// The items of a list come without the kind and version that the list is of.
    fn typed(&self, mut item: Value) -> Value {
        if let Some(fields) = item.as_object_mut() {
            fields.insert("apiVersion".to_owned(), json!(self.id.api_version));
            fields.insert("kind".to_owned(), json!(self.id.kind));
        }
        item
    }
}

fn failed(error: Error, retry_after: Option<Duration>) -> Observation {
    Observation::Failed { error, retry_after }
}

/// The values that `work` sends, until it is done; dropped with the stream.
pub(crate) fn produced<T, F: Future<Output = ()>>(work: impl FnOnce(mpsc::Sender<T>) -> F) -> impl Stream<Item = T> {
    let (sender, mut receiver) = mpsc::channel(16);
    let values = stream::poll_fn(move |context| receiver.poll_recv(context));
    let work = stream::once(work(sender)).filter_map(|()| ready(None));
    stream::select(values, work)
}
