//! Who may speak to the API servers: one certificate authority, and files that clients and servers take.
//!
//! Users are told apart by the common name of their certificate, their groups by its organisation. Writes files, nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, SigningKey, date_time_ymd,
};
use serde_json::json;

/// The group that may do everything, whatever RBAC says.
pub const MASTERS: &str = "system:masters";

/// The certificate authority of this process, and the folder with what every API server needs of it.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: PathBuf,
}

impl Authority {
    /// Makes the authority, the certificate of the servers, and the key that signs service account tokens.
    pub fn new(folder: &Path) -> Result<Self> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "controlplane");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        fs::write(folder.join("ca.crt"), issuer.pem())?;
        let authority = Self { issuer, folder: folder.to_owned() };

        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let server = CertificateParams::new(names)?;
        authority.issue(server, ExtendedKeyUsagePurpose::ServerAuth, &folder.join("server"))?;
        let tokens = KeyPair::generate()?;
        fs::write(folder.join("tokens.key"), tokens.serialize_pem())?;
        fs::write(folder.join("tokens.pub"), tokens.public_key_pem())?;
        Ok(authority)
    }

    /// Gives the path of one of the authority's files: `ca.crt`, `server.crt`, `server.key`, `tokens.key`, `tokens.pub`.
    pub fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Writes a kubeconfig for the user `name` of the API server at `port` into `folder`.
    pub fn kubeconfig(&self, name: &str, group: Option<&str>, port: u16, folder: &Path) -> Result<PathBuf> {
        self.kubeconfig_with(CertificateParams::default(), name, group, port, folder)
    }

    /// The same for a user whose certificate is valid between these times, in seconds since 1970.
    pub fn kubeconfig_valid(
        &self,
        name: &str,
        group: Option<&str>,
        times: (u64, u64),
        port: u16,
        folder: &Path,
    ) -> Result<PathBuf> {
        let mut params = CertificateParams::default();
        let time = |seconds| date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds);
        (params.not_before, params.not_after) = (time(times.0), time(times.1));
        self.kubeconfig_with(params, name, group, port, folder)
    }

    /// Signs the content of a certificate, as DER.
    pub fn sign(&self, content: &[u8]) -> Result<Vec<u8>> {
        Ok(self.issuer.key().sign(content)?)
    }

    fn kubeconfig_with(
        &self,
        mut params: CertificateParams,
        name: &str,
        group: Option<&str>,
        port: u16,
        folder: &Path,
    ) -> Result<PathBuf> {
        params.distinguished_name.push(DnType::CommonName, name);
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        let stem = folder.join(name);
        self.issue(params, ExtendedKeyUsagePurpose::ClientAuth, &stem)?;
        let cluster =
            json!({"server": format!("https://127.0.0.1:{port}"), "certificate-authority": self.file("ca.crt")});
        let user = json!({"client-certificate": with(&stem, "crt"), "client-key": with(&stem, "key")});
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "controlplane", "cluster": cluster}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": "controlplane", "context": {"cluster": "controlplane", "user": name}}],
            "current-context": "controlplane",
        });
        let path = with(&stem, "kubeconfig");
        fs::write(&path, serde_yaml::to_string(&config)?)?;
        Ok(path)
    }

    fn issue(&self, mut params: CertificateParams, usage: ExtendedKeyUsagePurpose, stem: &Path) -> Result<()> {
        params.extended_key_usages = vec![usage];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        fs::write(with(stem, "crt"), params.signed_by(&key, &self.issuer)?.pem())?;
        fs::write(with(stem, "key"), key.serialize_pem())?;
        Ok(())
    }
}

/// Adds an ending, where `with_extension` would cut a name with a dot in it.
fn with(stem: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}.{ending}", stem.display()))
}
