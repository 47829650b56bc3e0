//! The commands: each resolves its input, runs the pipeline as far as it goes, and reports.

pub mod apply;
pub mod complete;
pub mod completion;
pub mod connection;
pub mod diff;
pub mod flags;
pub mod hints;
mod input;
mod output_dir;
pub mod rbac;
pub mod render;
pub mod watch;
