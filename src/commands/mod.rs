//! The commands: each resolves its input, runs the pipeline as far as it goes, and reports.

pub mod apply;
mod clusters;
pub mod complete;
pub mod completion;
pub mod connection;
pub mod diff;
mod external_diff;
pub mod flags;
pub mod help;
pub mod hints;
mod input;
mod output_dir;
mod pass;
mod plan_file;
pub mod rbac;
pub mod render;
pub mod version;
pub mod watch;
