//! Tokens that change while a command runs: out of a file, or out of a credential plugin.
//!
//! Puts the `Authorization` header on each request. A file is read again each minute; a plugin is run again when its token is
//! about to expire, or was refused.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::AUTHORIZATION;
use http::{HeaderValue, Request, Response, StatusCode};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;
use tower::{BoxError, Layer, Service};

use super::bearer;
use super::exec::{Credential, Plugin, PluginProblem};
use crate::cluster::connect_error::io_words;

/// How long before its end a token is replaced: a request may be under way for a while.
const MARGIN: SignedDuration = SignedDuration::from_secs(10);
/// How long the content of a file is taken for true.
const FILE_LIFE: SignedDuration = SignedDuration::from_secs(60);

/// A file that holds a token.
pub(super) struct TokenFile {
    path: PathBuf,
    first: HeaderValue,
}

impl TokenFile {
    /// Reads the file; the error says why it cannot be used.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        read(path).map(|first| Self { path: path.to_owned(), first })
    }
}

fn read(path: &Path) -> Result<HeaderValue, String> {
    let text = std::fs::read_to_string(path).map_err(|error| io_words(&error))?;
    match text.trim() {
        "" => Err("it is empty".to_owned()),
        token => {
            bearer::header(token).ok_or_else(|| "it has characters that are not allowed in an HTTP header".to_owned())
        }
    }
}

/// A token and where the next one comes from.
#[derive(Clone)]
pub(super) struct Tokens {
    source: Arc<Source>,
    current: Arc<Mutex<Current>>,
}

enum Source {
    File(PathBuf),
    Plugin(Plugin),
}

struct Current {
    header: HeaderValue,
    stale_after: Option<Timestamp>,
}

impl Tokens {
    /// The tokens of a file.
    pub(super) fn of_file(file: TokenFile) -> Self {
        let stale_after = Some(Timestamp::now() + FILE_LIFE);
        Self::new(Source::File(file.path), Current { header: file.first, stale_after })
    }

    /// The tokens of a plugin that has run; none when it gave only a certificate.
    pub(super) fn of_plugin(plugin: Plugin, credential: &Credential) -> Option<Self> {
        let current = Current::of(credential)?;
        Some(Self::new(Source::Plugin(plugin), current))
    }

    fn new(source: Source, current: Current) -> Self {
        Self { source: Arc::new(source), current: Arc::new(Mutex::new(current)) }
    }

    async fn header(&self) -> Result<HeaderValue, BoxError> {
        let mut current = self.current.lock().await;
        if current.stale_after.is_some_and(|end| end <= Timestamp::now()) {
            match &*self.source {
                Source::File(path) => {
                    // What was read last stays good: some files are removed once they have been read.
                    current.header = read(path).unwrap_or_else(|_| current.header.clone());
                    current.stale_after = Some(Timestamp::now() + FILE_LIFE);
                }
                Source::Plugin(plugin) => {
                    let plugin = plugin.clone();
                    let run = move || {
                        let credential = plugin.run()?;
                        Current::of(&credential).ok_or_else(|| plugin.error(PluginProblem::NoCredentials))
                    };
                    *current = tokio::task::spawn_blocking(run).await??;
                }
            }
        }
        Ok(current.header.clone())
    }

    /// Lets the next request find a new token, unless that has come meanwhile.
    async fn refused(&self, header: &HeaderValue) {
        let mut current = self.current.lock().await;
        if current.header == header {
            current.stale_after = Some(Timestamp::MIN);
        }
    }
}

impl Current {
    fn of(credential: &Credential) -> Option<Self> {
        let header = credential.token.clone()?;
        Some(Self { header, stale_after: credential.expires.map(|end| end.checked_sub(MARGIN).unwrap_or(end)) })
    }
}

impl<S> Layer<S> for Tokens {
    type Service = Authorized<S>;

    fn layer(&self, inner: S) -> Authorized<S> {
        Authorized { tokens: self.clone(), inner }
    }
}

/// A service whose requests carry a token.
#[derive(Clone)]
pub(super) struct Authorized<S> {
    tokens: Tokens,
    inner: S,
}

impl<S, Body, Answer> Service<Request<Body>> for Authorized<S>
where
    S: Service<Request<Body>, Response = Response<Answer>, Error = BoxError> + Clone + Send + 'static,
    S::Future: Send,
    Body: Send + 'static,
    Answer: Send,
{
    type Response = Response<Answer>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let tokens = self.tokens.clone();
        // The one that is ready goes, a new one stays.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        Box::pin(async move {
            let header = tokens.header().await?;
            request.headers_mut().insert(AUTHORIZATION, header.clone());
            let answer = inner.call(request).await?;
            if answer.status() == StatusCode::UNAUTHORIZED {
                tokens.refused(&header).await;
            }
            Ok(answer)
        })
    }
}
