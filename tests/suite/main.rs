//! The one test binary: a module a subject.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what a test cannot go on without may end it, in its helpers too"
)]
#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes the hashes")]

mod compare;
mod fixtures;
mod in_sync;
mod ownership;
