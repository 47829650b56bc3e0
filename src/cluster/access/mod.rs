//! The way to a cluster: which server, as whom, through which proxy, with which credentials; kubectl's choice, from options and
//! kubeconfig.
//!
//! Reads files and the environment, and runs credential plugins; sends nothing to the server.

mod bearer;
mod client_config;
mod connect;
mod connections;
mod error;
pub(super) mod exec;
mod http_client;
mod identity;
mod kubeconfig;
mod kubeconfig_file;
mod options;
mod pem_file;
mod proxy;
mod tokens;

pub(crate) use self::client_config::ClientConfig;
pub(crate) use self::error::{AccessError, PemProblem};
pub(crate) use self::exec::PluginProblem;
pub(crate) use self::options::ConnectionOptions;
