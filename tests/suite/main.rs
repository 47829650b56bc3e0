//! The one test binary: a module a subject.

mod compare;
mod ownership;
