//! The integration tests, one module a subject.

mod signature;
mod words;
