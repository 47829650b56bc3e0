//! The way to a cluster: which server, as whom, past which proxy, with which credentials; kubectl's choice, from flags and kubeconfig.
//!
//! Reads files and the environment, and runs credential plugins; sends nothing to the server.

mod bearer;
mod choice;
mod connect;
mod entry;
pub(super) mod exec;
mod flags;
mod identity;
mod kubeconfig;
mod proxy;
mod tokens;

pub use self::choice::{Choice, choose};
pub use self::flags::Connection;
