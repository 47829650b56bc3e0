//! From the typed words to the exit code, nothing else.

fn main() {}
