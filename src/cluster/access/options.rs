//! What somebody asks for beside the kubeconfig: another file, context, server or identity.
//!
//! Pure data; what is not set is left to the kubeconfig.

use std::path::PathBuf;

/// The settings that win over those of the kubeconfig; the names are kubectl's.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionOptions {
    /// The kubeconfig file to use instead of `$KUBECONFIG` and `~/.kube/config`.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context to use instead of the current one.
    pub(crate) context: Option<String>,
    /// The cluster to use instead of the context's.
    pub(crate) cluster: Option<String>,
    /// The user to use instead of the context's.
    pub(crate) user: Option<String>,
    /// The URL of the API server.
    pub(crate) server: Option<String>,
    /// The bearer token.
    pub(crate) token: Option<String>,
    /// The user to impersonate.
    pub(crate) impersonate: Option<String>,
    /// The groups to impersonate.
    pub(crate) impersonate_groups: Vec<String>,
    /// The UID to impersonate.
    pub(crate) impersonate_uid: Option<String>,
    /// Extra attributes to impersonate: keys and values.
    pub(crate) impersonate_extra: Vec<(String, String)>,
    /// The file of the certificate authority.
    pub(crate) certificate_authority: Option<PathBuf>,
    /// The file of the client certificate.
    pub(crate) client_certificate: Option<PathBuf>,
    /// The file of the client key.
    pub(crate) client_key: Option<PathBuf>,
    /// Whether the server's certificate is not verified.
    pub(crate) insecure_skip_tls_verify: bool,
    /// The name to verify the server's certificate against.
    pub(crate) tls_server_name: Option<String>,
    /// Whether responses are not compressed.
    pub(crate) disable_compression: bool,
    /// Whether standard input holds the Config, so that a credential plugin cannot ask there.
    pub(crate) stdin_in_use: bool,
}
