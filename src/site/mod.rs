//! The knowledge base as plain typed data.

mod address;
mod kind;
pub mod kinds;
mod links;
mod page;
mod prose_call;
mod quantities;
mod tables;

pub use address::{LISTINGS, Listing, is_file_name, is_reserved};
pub use kind::Kind;
pub use links::{Backlinks, Dangling, Links, Reason, Target};
pub use page::{Body, Head, Page, PageId, Site};
pub use prose_call::{Argument, CallFault, DEFAULT_CTX, Figure, ProseCall};
pub use quantities::{gib, tokens};
pub use tables::{CELLS, Curve, Figures, FitTable, ModelFit, ProseFigure, QuantFit, Verdict};
