//! YAML in as kubectl reads it, YAML out that is safe to read again.
//!
//! Reading: what kubectl would read otherwise than `serde_yaml` is read as kubectl does, or refused with its place; never silently something
//! else. JSON is read by the same functions. Writing: every reader of YAML 1.1 and 1.2 gives back the same value.
//! Pure: takes and gives bytes, text and JSON values; no file, no network.

mod document;
mod error;
mod list;
mod nodes;
mod quote;
mod scalar;
mod stream;
mod text;
mod values;
mod write;

use crate::path::FieldPath;

pub use document::{Document, Text};
pub use error::{Error, ErrorKind};
pub use list::unwrap_list;
pub use quote::double_quoted;
pub use stream::{Documents, documents};
pub(crate) use text::place_at;
pub use write::{Line, lines, to_string};

/// Bytes that a file may have.
pub const LARGEST_FILE: usize = 20_000_000;

/// Bytes that a document may have: the API server takes no larger request.
pub const LARGEST_DOCUMENT: usize = 3 << 20;

/// Reads all documents of a file, YAML or JSON; those without content are left out.
pub fn read(text: &[u8]) -> Result<Vec<Document<'_>>, Error> {
    documents(text).collect()
}

/// Tells the place of the value at any `path`, as [`Text::locate`] does, in the document of that number (from 0). None when there is no
/// such document.
pub fn locate(text: &[u8], document: usize, path: &FieldPath) -> Option<(usize, usize)> {
    Some(documents(text).nth(document)?.ok()?.text.locate(path))
}
