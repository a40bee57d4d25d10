//! kbgen: a static-site generator for an errors knowledge base.
//!
//! The modules, from the top down; `ARCHITECTURE.md` says what each may use.

pub mod check;
pub mod config;
pub mod diag;
pub mod estimate;
pub mod files;
pub mod link;
pub mod load;
pub mod markdown;
pub mod schema;
pub mod site;
