//! A token as it is sent. Pure.

use http::HeaderValue;

/// A token as header, none when it cannot be one.
pub(super) fn header(token: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}
