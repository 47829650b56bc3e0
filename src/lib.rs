//! What a bpfman `Config` becomes on a cluster: one pipeline, stopped at four places.
//!
//! `render` turns the Config and the templates into manifests, `diff` compares them with the cluster, `apply` sends what
//! differs, `watch` does so again on every change. The modules that need no cluster do not see one.

pub mod compare;
pub mod manifest;
pub mod ownership;
pub mod path;
pub mod yaml;
