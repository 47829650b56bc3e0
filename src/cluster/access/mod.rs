//! The way to a cluster: which server, as whom, through which proxy, with which credentials; kubectl's choice, from options and
//! kubeconfig.
//!
//! Reads files and the environment, and runs credential plugins; sends nothing to the server.

mod bearer;
mod client_certificate;
mod client_config;
mod connect;
mod connections;
mod credentials;
pub(super) mod der;
mod error;
pub(super) mod exec;
mod http_client;
mod identity;
mod kubeconfig;
mod kubeconfig_file;
mod options;
mod pem_file;
mod process;
mod proxy;
mod token_file;

pub(crate) use self::client_config::ClientConfig;
pub(super) use self::credentials::SharedCertificate;
pub(crate) use self::error::{AccessError, PemProblem};
pub(crate) use self::exec::PluginProblem;
pub(crate) use self::kubeconfig::KubeconfigNames;
pub(crate) use self::options::ConnectionOptions;
