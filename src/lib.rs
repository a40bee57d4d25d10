//! kbgen: a static-site generator for an errors knowledge base.
//!
//! The modules, from the top down; `ARCHITECTURE.md` says what each may use.

pub mod emit;
pub mod files;
pub mod serve;
