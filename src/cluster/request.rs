//! One request and its answer: bounded in time, tried again where that is safe, warnings kept.
//!
//! Every request of this program may be sent twice: reads, server-side applies, and patches that name the resource
//! version they are for.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use kube::Client;
use kube::client::Body;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};
use tokio::time::{Instant, sleep, timeout_at};

use super::connect_error::{Server, chain};
use super::error::Error;

const TRIES: u32 = 4;
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// What the server sent back.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    /// The texts of `Warning: 299` headers.
    pub(super) warnings: Vec<String>,
    pub(super) body: Vec<u8>,
}

/// Sends requests to one API server.
#[derive(Clone)]
pub(super) struct Sender {
    pub(super) client: Client,
    pub(super) server: Arc<Server>,
    pub(super) limit: Duration,
}

impl Sender {
    /// Sends `request`, waiting at most the limit for the whole answer, retries included.
    ///
    /// A broken connection is tried once more, an overloaded server (429, 503, 504) up to four times.
    pub(super) async fn send(&self, request: http::Request<Vec<u8>>) -> Result<Answer, Error> {
        let deadline = later(Instant::now(), self.limit);
        let mut broken = false;
        let mut attempt = 1;
        loop {
            let answer = timeout_at(deadline, self.once(request.clone()))
                .await
                .map_err(|_| Error::TimedOut { host: self.server.address.clone(), seconds: self.limit.as_secs() })?;
            let wait = match &answer {
                Ok((answer, headers)) if is_overloaded(answer.status) && attempt < TRIES => {
                    Some(retry_after(headers, Timestamp::now()).unwrap_or(FIRST_WAIT * 2_u32.pow(attempt)))
                }
                Err(error) if !broken && is_broken(error) => {
                    broken = true;
                    Some(FIRST_WAIT)
                }
                _ => None,
            };
            let Some(wait) = wait.filter(|wait| later(Instant::now(), *wait) <= deadline) else {
                return answer.map(|(answer, _)| answer).map_err(|error| Error::of_transport(&error, &self.server));
            };
            attempt += 1;
            sleep(wait).await;
        }
    }

    /// The error for an answer that did not come within `limit`.
    pub(super) fn silent(&self, limit: Duration) -> Error {
        Error::TimedOut { host: self.server.address.clone(), seconds: limit.as_secs() }
    }

    async fn once(&self, request: http::Request<Vec<u8>>) -> kube::Result<(Answer, HeaderMap)> {
        let (parts, body) = self.client.send(request.map(Body::from)).await?.into_parts();
        let body = body.collect_bytes().await?.to_vec();
        let warnings = warnings(&parts.headers);
        Ok((Answer { status: parts.status, warnings, body }, parts.headers))
    }
}

fn is_overloaded(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT)
}

/// A connection that was there and broke; one that could not be made is not worth a second try.
fn is_broken(error: &kube::Error) -> bool {
    chain(error).any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| {
            matches!(error.kind(), std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::BrokenPipe)
        }) || cause.downcast_ref::<h2::Error>().is_some_and(is_worth_another)
            || cause.downcast_ref::<hyper::Error>().is_some_and(|error| {
                error.is_closed() || error.is_canceled() || error.is_incomplete_message() || error.is_timeout()
            })
    })
}

/// Years from now, for times that no clock can hold.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

fn later(time: Instant, wait: Duration) -> Instant {
    time.checked_add(wait.min(FOREVER)).unwrap_or(time)
}

/// A stream that the server did not take up, or a connection that it closes.
fn is_worth_another(error: &h2::Error) -> bool {
    error.is_io() || error.is_go_away() || error.reason() == Some(h2::Reason::REFUSED_STREAM)
}

/// Reads `Retry-After` (RFC 9110 §10.2.3): seconds, or a date.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(text.parse().map_or(FOREVER, Duration::from_secs));
    }
    let date = rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

/// A body as JSON in which no reader of YAML sees anything else: the server reads an apply as YAML, where U+0085 ends a
/// line and others are not allowed.
pub(super) fn to_body(value: &Value) -> Vec<u8> {
    let mut body = Vec::new();
    // Writing a value to memory cannot fail.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut body, Escaping));
    body
}

/// What YAML does not allow or does not keep, beyond what JSON escapes: delete, the C1 control characters, two noncharacters.
fn is_unsafe_in_yaml(character: char) -> bool {
    matches!(character, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        for part in fragment.split_inclusive(is_unsafe_in_yaml) {
            let escaped = part.chars().next_back().filter(|last| is_unsafe_in_yaml(*last));
            let plain = escaped.and_then(|last| part.strip_suffix(last)).unwrap_or(part);
            writer.write_all(plain.as_bytes())?;
            if let Some(character) = escaped {
                write!(writer, "\\u{:04x}", u32::from(character))?;
            }
        }
        Ok(())
    }
}

/// Reads `Warning` headers (RFC 9111 §5.5): `299 - "text"`, several in a header, quotes escaped by a backslash, in UTF-8.
fn warnings(headers: &HeaderMap) -> Vec<String> {
    let texts = headers.get_all(http::header::WARNING).iter();
    texts.flat_map(|value| warn_texts(&String::from_utf8_lossy(value.as_bytes()))).collect()
}

fn warn_texts(header: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = header;
    while let Some((code_and_agent, quoted)) = rest.split_once('"') {
        let mut text = String::new();
        let mut characters = quoted.char_indices();
        let mut end = quoted.len();
        while let Some((position, character)) = characters.next() {
            match character {
                '\\' => text.extend(characters.next().map(|(_, escaped)| escaped)),
                '"' => {
                    end = position + 1;
                    break;
                }
                _ => text.push(character),
            }
        }
        if code_and_agent.trim_start_matches([',', ' ']).starts_with("299 ") {
            texts.push(text);
        }
        rest = quoted.get(end..).unwrap_or_default();
    }
    texts
}
