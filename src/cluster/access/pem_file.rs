//! Certificates and keys as PEM: from an option, from the kubeconfig itself, or from a file that it names.
//!
//! Reads files. Says which file and which part of the kubeconfig is wrong; never what it holds.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::error::{AccessError, PemName, PemProblem};
use super::kubeconfig::Named;
use crate::cluster::connect_error::io_words;

/// Where a certificate or a key may come from, the first that is set wins, as for kubectl.
pub(super) struct PemSource<'a> {
    /// The kubeconfig's name for it.
    pub(super) key: &'static str,
    /// What messages call it.
    pub(super) what: &'static str,
    pub(super) option: Option<&'a Path>,
    pub(super) data: Option<&'a str>,
    pub(super) file: Option<&'a str>,
}

/// What was read.
pub(super) struct PemFile {
    name: PemName,
    pub(super) bytes: Vec<u8>,
    blocks: Vec<pem::Pem>,
}

impl PemSource<'_> {
    /// Reads it; none when it is not set.
    pub(super) fn read<T>(&self, named: &Named<T>) -> Result<Option<PemFile>, AccessError> {
        let named_as = |name: String| PemName { key: self.key, name: format!("{} {name}", self.what) };
        let of_file = |path: &Path, name: PemName| match std::fs::read(path) {
            Ok(bytes) => Ok((name, bytes)),
            Err(error) => Err(AccessError::PemFile { file: name, reason: io_words(&error) }),
        };
        let (name, bytes) = if let Some(path) = self.option {
            of_file(path, named_as(path.display().to_string()))?
        } else if let Some(data) = self.data {
            let name = named_as(format!("in {}-data of {}", self.key, named.origin));
            let unwrapped: String = data.split_whitespace().collect();
            match BASE64_STANDARD.decode(unwrapped) {
                Ok(bytes) => (name, bytes),
                Err(_) => return Err(AccessError::Pem { file: name, problem: PemProblem::Base64 }),
            }
        } else if let Some(file) = self.file {
            let path = named.folder.join(file);
            of_file(&path, named_as(format!("{} ({})", path.display(), named.origin)))?
        } else {
            return Ok(None);
        };
        match pem::parse_many(&bytes) {
            Ok(blocks) => Ok(Some(PemFile { name, bytes, blocks })),
            Err(_) => Err(AccessError::Pem { file: name, problem: PemProblem::Pem }),
        }
    }
}

impl PemFile {
    pub(super) fn certificates(&self) -> impl Iterator<Item = &pem::Pem> {
        self.blocks.iter().filter(|block| block.tag() == "CERTIFICATE")
    }

    /// The first private key that can be used without a password.
    pub(super) fn private_key(&self) -> Result<&pem::Pem, AccessError> {
        let Some(key) = self.blocks.iter().find(|block| block.tag().ends_with("PRIVATE KEY")) else {
            return Err(self.error(PemProblem::Missing("private key")));
        };
        if key.tag().starts_with("ENCRYPTED") || key.headers().get("Proc-Type").is_some() {
            return Err(self.error(PemProblem::Encrypted));
        }
        Ok(key)
    }

    pub(super) fn error(&self, problem: PemProblem) -> AccessError {
        AccessError::Pem { file: self.name.clone(), problem }
    }
}
