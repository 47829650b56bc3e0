//! A client certificate with its key, as a TLS handshake needs them.
//!
//! Pure. rustls' own way refuses certificates of X.509 version 1, which kubectl takes: the server decides whether it trusts one.

use std::sync::Arc;

use rustls::client::ResolvesClientCert;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, SignatureScheme};

use super::der;

/// A client certificate and its key.
#[derive(Clone, Debug)]
pub(super) struct ClientCertificate {
    certified: Arc<CertifiedKey>,
    key: Vec<u8>,
}

/// Why a certificate and a key cannot be used.
pub(super) enum Unusable {
    /// The key is of another kind, which is named.
    Key(String),
    /// The certificate is for another key.
    Mismatch,
}

impl ClientCertificate {
    /// Takes the certificates, the client's own first, and the key.
    pub(super) fn new(chain: &[pem::Pem], key: &pem::Pem) -> Result<Self, Unusable> {
        let unsupported = || Unusable::Key(der::key_kind(key));
        let signing = PrivateKeyDer::try_from(key.contents()).map_err(|_| unsupported())?;
        let signing = any_supported_type(&signing).map_err(|_| unsupported())?;
        let chain = chain.iter().map(|block| CertificateDer::from(block.contents().to_vec())).collect();
        let certified = CertifiedKey::new(chain, signing);
        match certified.keys_match() {
            Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => {}
            Err(rustls::Error::InconsistentKeys(_)) => return Err(Unusable::Mismatch),
            // Of a version that rustls does not read.
            Err(_) if holds_public_key(&certified) => {}
            Err(_) => return Err(Unusable::Mismatch),
        }
        Ok(Self { certified: Arc::new(certified), key: key.contents().to_vec() })
    }

    /// The client's own certificate as DER.
    pub(super) fn der(&self) -> &[u8] {
        self.certified.cert.first().map(AsRef::as_ref).unwrap_or_default()
    }
}

fn holds_public_key(certified: &CertifiedKey) -> bool {
    let (Some(public), Some(certificate)) = (certified.key.public_key(), certified.cert.first()) else { return true };
    certificate.windows(public.len()).any(|window| window == public.as_ref())
}

impl PartialEq for ClientCertificate {
    fn eq(&self, other: &Self) -> bool {
        self.certified.cert == other.certified.cert && self.key == other.key
    }
}

impl ResolvesClientCert for ClientCertificate {
    fn resolve(&self, _authorities: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.certified))
    }

    fn has_certs(&self) -> bool {
        true
    }
}
