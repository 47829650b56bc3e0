//! What a bpfman `Config` becomes on a cluster: one pipeline, stopped at four places.
//!
//! `render` turns the Config and the templates into manifests, `diff` compares them with the cluster, `apply` sends what
//! differs, `watch` does so again on every change. The modules that need no cluster do not see one.

pub mod ages;
pub mod cli;
pub mod cluster;
pub mod commands;
pub mod compare;
pub mod config;
pub mod desired;
mod digest;
pub mod exit;
mod exported;
pub mod failure;
pub mod manifest;
pub mod mask;
pub mod names;
pub mod ownership;
pub mod path;
pub mod problem;
pub mod reconcile;
pub mod render;
pub mod report;
pub mod signals;
pub mod templates;
pub mod ui;
mod ui_writer;
pub mod yaml;
