//! A file that holds a token. Reads it; no token is ever part of a message.

use std::path::{Path, PathBuf};

use http::HeaderValue;

use super::bearer;
use crate::cluster::connect_error::io_words;

/// A file that holds a token, and the header that it gave.
pub(super) struct TokenFile {
    path: PathBuf,
    pub(super) header: HeaderValue,
}

impl TokenFile {
    /// Reads the file; the error says why it cannot be used.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| io_words(&error))?;
        let header = match text.trim() {
            "" => return Err("it is empty".to_owned()),
            token => bearer::header(token),
        };
        let header = header.ok_or_else(|| "it has characters that are not allowed in an HTTP header".to_owned())?;
        Ok(Self { path: path.to_owned(), header })
    }

    /// Reads the file again. What was read last stays good: some files are removed once they have been read.
    pub(super) fn reload(&mut self) {
        if let Ok(file) = Self::open(&self.path) {
            *self = file;
        }
    }
}
