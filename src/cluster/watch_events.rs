//! What a list or a watch of one object saw, and how the events of a watch are read from its bytes. Pure.
//!
//! The body is a sequence of JSON values, one a line as a rule; a server or a proxy may also put a `Status` there, printed
//! over several lines.

use std::time::Duration;

use http::StatusCode;
use serde_json::Value;

use super::Error;
use super::connect_error::Server;

/// An object is at most some megabytes large.
const LONGEST_EVENT: usize = 16 << 20;

/// What a list or a watch of one object saw.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// The list was answered.
    Listed {
        /// The object; none when it does not exist.
        object: Option<Value>,
        /// The version from which a watch continues.
        version: String,
    },
    /// The watch was answered: from now on no change goes unseen.
    Opened,
    /// The object was created or changed.
    Changed(Value),
    /// The object was deleted; its last state.
    Deleted(Value),
    /// Nothing changed up to this version.
    Bookmark(String),
    /// The server ended the watch, as it does from time to time.
    Ended,
    /// The watch broke off, or the server has forgotten the version to continue from: only a list tells what was missed.
    Interrupted,
    /// The list or the watch failed.
    Failed {
        /// Why.
        error: Error,
        /// How long the server wants us to wait.
        retry_after: Option<Duration>,
    },
}

impl Observation {
    /// Whether a watch is over after it.
    pub(super) fn is_last(&self) -> bool {
        matches!(self, Self::Ended | Self::Interrupted | Self::Failed { .. })
    }
}

/// Reads the events of a watch from its bytes, however they are cut.
#[derive(Default)]
pub(super) struct Decoder {
    rest: Vec<u8>,
}

impl Decoder {
    /// Adds bytes and returns the events that are complete.
    pub(super) fn decode(&mut self, bytes: &[u8], server: &Server) -> Vec<Observation> {
        self.rest.extend_from_slice(bytes);
        if !bytes.iter().any(|byte| matches!(byte, b'\n' | b'}')) {
            return Vec::new();
        }
        let mut events = Vec::new();
        let mut values = serde_json::Deserializer::from_slice(&self.rest).into_iter::<Value>();
        let mut read = 0;
        loop {
            match values.next() {
                Some(Ok(value)) => {
                    read = values.byte_offset();
                    events.extend(observation(value, server));
                }
                Some(Err(error)) if !error.is_eof() => {
                    events.push(unreadable(&self.rest, server));
                    break;
                }
                Some(Err(_)) if self.rest.len() > LONGEST_EVENT => {
                    events.push(unreadable(&self.rest, server));
                    break;
                }
                _ => break,
            }
        }
        self.rest.drain(..read);
        events
    }

    /// The end of the body: in the middle of an event it broke off.
    pub(super) fn ended(&self) -> Observation {
        let is_blank = self.rest.iter().all(u8::is_ascii_whitespace);
        if is_blank { Observation::Ended } else { Observation::Interrupted }
    }
}

/// The meaning of one value; none for an event of a type that we do not know.
fn observation(mut value: Value, server: &Server) -> Option<Observation> {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let object = value.get_mut("object").map(Value::take);
    match (kind.as_str(), object) {
        ("ADDED" | "MODIFIED", Some(object)) => Some(Observation::Changed(object)),
        ("DELETED", Some(object)) => Some(Observation::Deleted(object)),
        ("BOOKMARK", Some(object)) => {
            let version = object.pointer("/metadata/resourceVersion").and_then(Value::as_str)?;
            Some(Observation::Bookmark(version.to_owned()))
        }
        ("ERROR", Some(status)) => Some(failure(&status, server)),
        (_, None) if value.get("kind").is_some_and(|kind| kind == "Status") => Some(failure(&value, server)),
        (_, None) => Some(unreadable(value.to_string().as_bytes(), server)),
        _ => None,
    }
}

fn failure(status: &Value, server: &Server) -> Observation {
    let code = status.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let code = code.and_then(|code| StatusCode::from_u16(code).ok()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if code == StatusCode::GONE {
        return Observation::Interrupted;
    }
    let seconds = status.pointer("/details/retryAfterSeconds").and_then(Value::as_u64);
    let error = match Error::of_answer(code, status.to_string().as_bytes(), server) {
        // A server error in a watch says nothing about the object.
        Error::Refused(refusal) if code.is_server_error() => Error::unusable(code, &refusal.message, server),
        error => error,
    };
    Observation::Failed { error, retry_after: seconds.map(Duration::from_secs) }
}

fn unreadable(bytes: &[u8], server: &Server) -> Observation {
    let text = String::from_utf8_lossy(bytes.get(..400.min(bytes.len())).unwrap_or_default());
    Observation::Failed { error: Error::unusable(StatusCode::OK, &text, server), retry_after: None }
}
