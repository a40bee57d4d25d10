//! kbgen: a static-site generator for an errors knowledge base.
//!
//! [`run`] is the program; [`pipeline`] builds a site in memory. `ARCHITECTURE.md` lists the modules from the top
//! down and what each may use. The estimator and the signature engine are separate crates, [`kbgen_estimate`] and
//! [`kbgen_signature`].

pub mod cache;
pub mod check;
mod cli;
mod compress;
pub mod config;
pub mod custom;
pub mod diag;
pub mod diagnosis;
pub mod emit;
pub mod engine;
pub mod escape;
pub mod facts;
pub mod files;
pub mod fit;
mod host_limits;
pub mod i18n;
mod link;
pub mod load;
pub mod markdown;
pub mod pack;
pub mod pipeline;
pub mod progress;
pub mod render;
pub mod schema;
pub mod serve;
pub mod site;
mod unicode_safety;

pub use cli::{estimate_csv, run};
