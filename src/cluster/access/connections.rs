//! The connections to the API server: one of HTTP/2 for all requests, more of HTTP/1.1 where a proxy or the server has nothing else.
//!
//! The first request makes the connection, the others wait for it. A connection that breaks is replaced at the next request.
//! Pings find out that one is silent, as client-go's do, a little sooner (there 30 s and 15 s): a watch shall not stay blind for longer than 45 s.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::{TrySendError, http1, http2};
use hyper::rt::{Read, Write};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::Body;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceExt};

use crate::cluster::connect_error::CONNECT_LIMIT;

const PING_INTERVAL: Duration = Duration::from_secs(25);
const PING_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a request that was not sent, since its connection was closed just then, is given to another.
const TRIES: u32 = 3;

/// A stream of bytes to the server, TLS included.
pub(super) trait Stream: Read + Write + Send + Unpin {
    /// Whether HTTP/2 was agreed on.
    fn is_http2(&self) -> bool;
}

/// Makes such streams.
pub(super) type Connector = BoxCloneSyncService<Uri, Box<dyn Stream>, BoxError>;

/// The body of an answer.
pub(super) type Answer = UnsyncBoxBody<Bytes, BoxError>;

/// All connections to one server.
#[derive(Clone)]
pub(super) struct Connections {
    connector: Connector,
    open: Arc<Mutex<Open>>,
    /// Held while it is not known which HTTP the server speaks, or while its HTTP/2 connection is made.
    connecting: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct Open {
    shared: Vec<Shared>,
    idle: Vec<http1::SendRequest<Body>>,
    is_http1: bool,
}

/// A connection of HTTP/2.
#[derive(Clone)]
struct Shared {
    sender: http2::SendRequest<Body>,
    /// How many streams the server takes at once. Each open stream holds a reference, which counts them.
    streams: Arc<AtomicUsize>,
}

type Sent = Result<Response<Answer>, TrySendError<Request<Body>>>;

enum Lease {
    Http2(Shared),
    Http1(http1::SendRequest<Body>),
}

impl Connections {
    pub(super) fn new(connector: Connector) -> Self {
        Self { connector, open: Arc::default(), connecting: Arc::default() }
    }

    async fn send(self, mut request: Request<Body>) -> Result<Response<Answer>, BoxError> {
        let uri = without_credentials(request.uri())?;
        let mut tries = 1;
        loop {
            *request.uri_mut() = uri.clone();
            let sent = match self.lease(&uri).await? {
                Lease::Http2(shared) => self.send_http2(shared, request).await,
                Lease::Http1(sender) => self.send_http1(sender, request).await,
            };
            let mut error = match sent {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            match error.take_message().filter(|_| tries < TRIES) {
                Some(unsent) => request = unsent,
                None => return Err(error.into_error().into()),
            }
            request.headers_mut().remove(HOST);
            tries += 1;
        }
    }

    async fn send_http2(&self, mut shared: Shared, request: Request<Body>) -> Sent {
        match shared.sender.try_send_request(request).await {
            // The stream is counted until its body has been read or dropped.
            Ok(answer) => Ok(boxed(answer, shared.streams)),
            Err(error) => {
                self.open().shared.retain(|other| !Arc::ptr_eq(&other.streams, &shared.streams));
                Err(error)
            }
        }
    }

    async fn send_http1(&self, mut sender: http1::SendRequest<Body>, mut request: Request<Body>) -> Sent {
        to_origin_form(&mut request);
        let answer = sender.try_send_request(request).await?;
        let this = self.clone();
        // Free again when the body has been read.
        tokio::spawn(async move {
            if sender.ready().await.is_ok() {
                this.open().idle.push(sender);
            }
        });
        Ok(boxed(answer, Arc::default()))
    }

    /// An open connection that is free, else a new one.
    async fn lease(&self, server: &Uri) -> Result<Lease, BoxError> {
        if let Some(lease) = self.open().take() {
            return Ok(lease);
        }
        let gate = self.connecting.lock().await;
        if let Some(lease) = self.open().take() {
            return Ok(lease);
        }
        // Each request has its own connection then, and they need not wait for each other.
        let gate = Some(gate).filter(|_| !self.open().is_http1);
        let connected = tokio::time::timeout(CONNECT_LIMIT, self.connect(server)).await;
        drop(gate);
        connected.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
    }

    async fn connect(&self, server: &Uri) -> Result<Lease, BoxError> {
        let stream = self.connector.clone().oneshot(server.clone()).await?;
        if !stream.is_http2() {
            let (sender, connection) = http1::handshake(stream).await?;
            tokio::spawn(connection);
            self.open().is_http1 = true;
            return Ok(Lease::Http1(sender));
        }
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new()).keep_alive_interval(PING_INTERVAL);
        builder.keep_alive_timeout(PING_TIMEOUT).keep_alive_while_idle(true);
        let (sender, mut connection) = builder.handshake(stream).await?;
        let streams = Arc::new(AtomicUsize::new(connection.current_max_send_streams()));
        let limit = Arc::downgrade(&streams);
        tokio::spawn(poll_fn(move |context| {
            let ended = Pin::new(&mut connection).poll(context);
            if let Some(limit) = limit.upgrade() {
                limit.store(connection.current_max_send_streams(), Ordering::Relaxed);
            }
            ended
        }));
        let shared = Shared { sender, streams };
        let mut open = self.open();
        open.is_http1 = false;
        open.shared.push(shared.clone());
        Ok(Lease::Http2(shared))
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn take(&mut self) -> Option<Lease> {
        self.shared.retain(|shared| !shared.sender.is_closed());
        if let Some(shared) = self.shared.iter().find(|shared| shared.has_room()) {
            return Some(Lease::Http2(shared.clone()));
        }
        self.idle.retain(|sender| !sender.is_closed());
        self.idle.pop().map(Lease::Http1)
    }
}

impl Shared {
    /// Whether the server takes one more stream; one too many would wait until another ends, and a watch does not end.
    fn has_room(&self) -> bool {
        Arc::strong_count(&self.streams) <= self.streams.load(Ordering::Relaxed)
    }
}

impl Service<Request<Body>> for Connections {
    type Response = Response<Answer>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().send(request))
    }
}

fn boxed(answer: Response<Incoming>, streams: Arc<AtomicUsize>) -> Response<Answer> {
    answer.map(|body| {
        body.map_err(move |error| {
            let _ = &streams;
            BoxError::from(error)
        })
        .boxed_unsync()
    })
}

/// The address without the user and the password that may stand before the host: they are no part of a request.
fn without_credentials(uri: &Uri) -> Result<Uri, BoxError> {
    let mut parts = uri.clone().into_parts();
    if let Some((_, host)) = parts.authority.as_ref().and_then(|authority| authority.as_str().rsplit_once('@')) {
        parts.authority = Some(host.parse()?);
    }
    Ok(Uri::from_parts(parts)?)
}

/// HTTP/1.1 names the host in a header, and only the path in its first line.
fn to_origin_form(request: &mut Request<Body>) {
    let uri = request.uri();
    let host = uri.authority().and_then(|authority| HeaderValue::from_str(authority.as_str()).ok());
    let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    if let Some(host) = host {
        request.headers_mut().insert(HOST, host);
    }
    *request.uri_mut() = Uri::from(path);
}
