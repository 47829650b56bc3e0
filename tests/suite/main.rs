//! The one test binary: a module a subject.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test ends by panicking; clippy.toml covers test functions, not the ones they call"
)]
#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes its raw strings with hashes")]
#![allow(clippy::print_stderr, reason = "the control plane says what it builds")]
#![allow(clippy::print_stdout, reason = "measurements are printed")]

#[path = "../controlplane/mod.rs"]
mod controlplane;

#[path = "../fuzz/entries.rs"]
mod entries;

mod ages;
mod answers;
mod bpfman_toml;
mod clusters;
mod compare;
mod completions;
mod config;
mod config_file;
mod connection;
mod connection_identity;
mod connection_kubeconfig;
mod connection_server;
mod controlplane_itself;
mod deciding;
mod drift;
mod fault_matrix;
mod first_use;
mod fixtures;
mod help;
mod hostile;
mod hostile_config;
mod http2;
mod in_sync;
mod input_on_a_server;
mod json_patch;
mod masking;
mod mutated;
mod network;
mod object_types;
mod orphans;
mod others;
mod output_dir;
mod overlay;
mod overrides;
mod ownership;
mod pipelines;
mod plugin;
mod plugins;
mod program;
mod races;
mod random_changes;
mod rbac;
mod readme;
mod refusals;
mod render;
mod server_words;
mod simulation;
mod splitmix;
mod streams;
mod transport;
mod waiting;
mod watch_connections;
mod watching;
mod watching_faults;
mod watching_long;
mod watching_until;
mod wrong_inputs;
mod yaml;
mod yaml_kubectl;
mod yaml_write;
