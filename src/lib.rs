//! kbgen: a static-site generator for an errors knowledge base.

pub mod signature;
