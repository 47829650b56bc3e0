//! The one test binary: a module a subject.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking, in the functions that tests share too"
)]
#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

#[path = "../controlplane/mod.rs"]
mod controlplane;
mod controlplane_itself;
