//! kbgen: a static-site generator for an errors knowledge base.
//!
//! The modules, from the top down; `ARCHITECTURE.md` says what each may use.

pub mod check;
mod cli;
pub mod config;
pub mod diag;
pub mod diagnosis;
pub mod emit;
pub mod estimate;
pub mod files;
pub mod fit;
pub mod link;
pub mod load;
pub mod markdown;
pub mod pipeline;
pub mod render;
pub mod schema;
pub mod serve;
pub mod signature;
pub mod site;

pub use cli::run;
