//! Credentials that change while a command runs: files that are replaced, and what a credential plugin gives.
//!
//! A tower service between requests and the HTTP client. Files are read again each minute, a plugin is run again when its
//! credentials are about to expire; both at once when the server does not accept them, and that request is sent once more. A
//! new certificate means a new client: open watches end on the old connection, all else goes to the new one.

use std::pin::Pin;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderValue, Request, Response, StatusCode};
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::client::Body;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tower::{BoxError, Service};

use super::client_certificate::ClientCertificate;
use super::client_config::Files;
use super::exec::{Credential, Plugin, PluginError};
use super::token_file::TokenFile;
use super::{der, http_client};

/// How long before their end credentials are replaced: a request may be under way for a while.
const MARGIN: SignedDuration = SignedDuration::from_secs(10);
/// How long the content of a file is not looked at again.
const FILE_LIFE: Duration = Duration::from_secs(60);

/// The client certificate in use as DER, for messages.
pub(in crate::cluster) type SharedCertificate = Arc<StdMutex<Option<Vec<u8>>>>;

/// The credentials of one user, and the clients that are made with them.
#[derive(Clone)]
pub(super) struct Credentials {
    source: Arc<Source>,
    state: Arc<Mutex<State>>,
}

/// Where credentials come from.
pub(super) struct Source {
    /// All of the client that does not change.
    pub(super) config: kube::Config,
    pub(super) files: Files,
    pub(super) plugin: Option<Plugin>,
    /// How long a plugin may take.
    pub(super) limit: Duration,
    pub(super) shown: SharedCertificate,
}

/// What a TLS handshake needs.
#[derive(Clone, PartialEq)]
pub(super) struct Certificates {
    /// As DER.
    pub(super) authority: Option<Vec<Vec<u8>>>,
    pub(super) client: Option<ClientCertificate>,
}

struct State {
    token_file: Option<TokenFile>,
    given: Option<Credential>,
    certificates: Certificates,
    client: Client,
    files_due: Instant,
    plugin_due: Timestamp,
    /// When the plugin ended last.
    plugin_ran: Instant,
    /// When the plugin failed last: who waited for it gets the same answer, and does not run it again.
    failure: Option<(Instant, PluginError)>,
}

/// What a request is sent with.
#[derive(Clone)]
struct Current {
    since: Instant,
    token: Option<HeaderValue>,
    certificate: Option<ClientCertificate>,
    client: Client,
}

impl Credentials {
    /// Takes what the files hold and the plugin gave.
    pub(super) fn new(
        source: Source,
        token_file: Option<TokenFile>,
        certificate: Option<ClientCertificate>,
        given: Option<Credential>,
    ) -> kube::Result<Self> {
        let certificate = given.as_ref().and_then(|given| given.certificate.clone()).or(certificate);
        let certificates = Certificates { authority: source.config.root_cert.clone(), client: certificate };
        let client = source.client(&certificates)?;
        let plugin_due = given.as_ref().map_or(Timestamp::MAX, due);
        let files_due = Instant::now() + FILE_LIFE;
        let state = State {
            token_file,
            given,
            certificates,
            client,
            files_due,
            plugin_due,
            plugin_ran: Instant::now(),
            failure: None,
        };
        Ok(Self { source: Arc::new(source), state: Arc::new(Mutex::new(state)) })
    }

    async fn send(self, request: Request<Body>) -> Result<Response<Body>, BoxError> {
        let copy = copy(&request);
        let current = self.current().await?;
        let answer = current.send(request).await;
        match &answer {
            Ok(answer) if answer.status() != StatusCode::UNAUTHORIZED => {}
            // The server may have a new certificate, of an authority that has a new file.
            Err(_) => self.state.lock().await.files_due = Instant::now(),
            Ok(_) => {
                self.refused(&current).await;
                let renewed = self.current().await?;
                if let Some(request) = copy.filter(|_| renewed.differs(&current)) {
                    return renewed.send(request).await;
                }
            }
        }
        answer
    }

    /// Gives the credentials of now, and renews them first if it is time.
    async fn current(&self) -> Result<Current, BoxError> {
        let asked = Instant::now();
        let mut state = self.state.lock().await;
        if let Some((_, error)) = state.failure.as_ref().filter(|(when, _)| *when >= asked) {
            return Err(error.clone().into());
        }
        if state.files_due <= Instant::now() {
            state.files_due = Instant::now() + FILE_LIFE;
            state.look_at_files(&self.source);
        }
        if let Some(plugin) = self.source.plugin.as_ref().filter(|_| state.plugin_due <= Timestamp::now()) {
            // Ends before the request that waits for it does: the plugin is to blame, not the server.
            let limit = self.source.limit.saturating_sub((self.source.limit / 10).min(Duration::from_secs(1)));
            match plugin.run(limit).await {
                Ok(given) => state.take(given, &self.source)?,
                Err(error) => {
                    state.failure = Some((Instant::now(), error.clone()));
                    return Err(error.into());
                }
            }
        }
        Ok(state.current())
    }

    /// Lets the next request find new credentials, unless they have come meanwhile.
    async fn refused(&self, refused: &Current) {
        let mut state = self.state.lock().await;
        state.files_due = Instant::now();
        if state.plugin_ran <= refused.since {
            state.plugin_due = Timestamp::MIN;
        }
    }
}

impl Source {
    fn client(&self, certificates: &Certificates) -> kube::Result<Client> {
        let shown = certificates.client.as_ref().map(|certificate| certificate.der().to_vec());
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = shown;
        let mut config = self.config.clone();
        config.root_cert.clone_from(&certificates.authority);
        http_client::client(&config, certificates.client.clone().map(Arc::new))
    }
}

impl State {
    /// Files that cannot be used, or are half replaced, change nothing.
    fn look_at_files(&mut self, source: &Source) {
        if let Some(file) = &mut self.token_file {
            file.reload();
        }
        if let Ok(read) = source.files.read() {
            let given = self.given.as_ref().and_then(|given| given.certificate.clone());
            let _ = self.set_certificates(Certificates { client: given.or(read.client), ..read }, source);
        }
    }

    fn take(&mut self, given: Credential, source: &Source) -> kube::Result<()> {
        self.plugin_due = due(&given);
        self.plugin_ran = Instant::now();
        let authority = self.certificates.authority.clone();
        let certificates = Certificates { authority, client: given.certificate.clone() };
        self.given = Some(given);
        self.set_certificates(certificates, source)
    }

    fn set_certificates(&mut self, certificates: Certificates, source: &Source) -> kube::Result<()> {
        if certificates != self.certificates {
            self.client = source.client(&certificates)?;
            self.certificates = certificates;
        }
        Ok(())
    }

    fn current(&self) -> Current {
        let given = self.given.as_ref().and_then(|given| given.token.clone());
        let token = given.or_else(|| self.token_file.as_ref().map(|file| file.header.clone()));
        Current {
            since: Instant::now(),
            token,
            certificate: self.certificates.client.clone(),
            client: self.client.clone(),
        }
    }
}

impl Current {
    async fn send(&self, mut request: Request<Body>) -> Result<Response<Body>, BoxError> {
        if let Some(token) = &self.token {
            request.headers_mut().insert(AUTHORIZATION, token.clone());
        }
        Ok(self.client.send(request).await?)
    }

    fn differs(&self, other: &Self) -> bool {
        self.token != other.token || self.certificate != other.certificate
    }
}

/// When a plugin is run again: before its token or its certificate ends.
fn due(given: &Credential) -> Timestamp {
    let certificate = given.certificate.as_ref().and_then(|certificate| der::validity(certificate.der()));
    let ends = [given.expires, certificate.map(|(_, end)| end)];
    ends.into_iter().flatten().min().map_or(Timestamp::MAX, |end| end.checked_sub(MARGIN).unwrap_or(end))
}

fn copy(request: &Request<Body>) -> Option<Request<Body>> {
    let mut copy = Request::new(request.body().try_clone()?);
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    Some(copy)
}

impl Service<Request<Body>> for Credentials {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().send(request))
    }
}
