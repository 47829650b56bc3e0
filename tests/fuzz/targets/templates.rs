//! `entries::templates` under libFuzzer.
#![no_main]

#[allow(dead_code, reason = "the other targets use the rest")]
#[path = "../entries.rs"]
mod entries;

libfuzzer_sys::fuzz_target!(|data: &[u8]| entries::templates(data));
