//! The one test binary: a module a subject.

mod hostile;
mod yaml;
mod yaml_write;
