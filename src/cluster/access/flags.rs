//! The connection flags: kubectl's, by name and meaning.
//!
//! Pure data. As in kubectl, a flag that is given the empty text is one that was not given.

use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};

/// What the connection flags say; each is kubectl's flag of the same name.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Connection")]
pub struct Connection {
    /// Kubeconfig file to use instead of $KUBECONFIG and ~/.kube/config
    #[arg(long, global = true, value_name = "FILE", value_parser = any_path(), value_hint = clap::ValueHint::FilePath)]
    pub kubeconfig: Option<PathBuf>,
    /// Kubeconfig context to use instead of the current one
    #[arg(long, global = true, value_name = "NAME")]
    pub context: Option<String>,
    /// Kubeconfig cluster to use instead of the context's
    #[arg(long, global = true, value_name = "NAME")]
    pub cluster: Option<String>,
    /// Kubeconfig user to use instead of the context's
    #[arg(long, global = true, value_name = "NAME")]
    pub user: Option<String>,
    /// Address of the API server, https:// unless it says http://; credentials are sent over https:// only
    #[arg(long, short, global = true, value_name = "URL", value_hint = clap::ValueHint::Url)]
    pub server: Option<String>,
    /// Bearer token; wins over every other token, password and plugin of the user. Others can see it in the list of
    /// processes
    #[arg(long, global = true, value_name = "TOKEN")]
    pub token: Option<String>,
    /// User to impersonate
    #[arg(long = "as", global = true, value_name = "USER")]
    pub impersonate: Option<String>,
    /// Group to impersonate, may be repeated; needs --as
    #[arg(long, global = true, value_name = "GROUP")]
    pub as_group: Vec<String>,
    /// UID to impersonate; needs --as
    #[arg(long, global = true, value_name = "UID")]
    pub as_uid: Option<String>,
    /// Extra attribute to impersonate, KEY=VALUE, may be repeated; needs --as
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    pub as_user_extra: Vec<(String, String)>,
    /// Certificate file of the authority that signed the server's certificate
    #[arg(long, global = true, value_name = "FILE", value_parser = any_path(), value_hint = clap::ValueHint::FilePath)]
    pub certificate_authority: Option<PathBuf>,
    /// Client certificate file; needs --client-key, unless the kubeconfig has the key
    #[arg(long, global = true, value_name = "FILE", value_parser = any_path(), value_hint = clap::ValueHint::FilePath)]
    pub client_certificate: Option<PathBuf>,
    /// Client key file; needs --client-certificate, unless the kubeconfig has the certificate
    #[arg(long, global = true, value_name = "FILE", value_parser = any_path(), value_hint = clap::ValueHint::FilePath)]
    pub client_key: Option<PathBuf>,
    /// Do not check the server's certificate: whoever sits in between can read and change everything
    #[arg(long, global = true)]
    pub insecure_skip_tls_verify: bool,
    /// Name to expect in the server's certificate instead of the address's
    #[arg(long, global = true, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// Do not ask for compressed answers
    #[arg(long, global = true)]
    pub disable_compression: bool,
    /// Whether standard input was read as a file, and is not there for a credential plugin.
    #[arg(skip)]
    pub stdin_is_read: bool,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .ok_or_else(|| "expected KEY=VALUE".to_owned())
}

/// Takes the empty text too, where the usual parser of paths does not.
fn any_path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// The text of a flag that was given one.
pub(super) fn text(flag: Option<&String>) -> Option<&str> {
    flag.map(String::as_str).filter(|text| !text.is_empty())
}

/// The path of a flag that was given one.
pub(super) fn path(flag: Option<&PathBuf>) -> Option<&Path> {
    flag.map(PathBuf::as_path).filter(|path| !path.as_os_str().is_empty())
}
