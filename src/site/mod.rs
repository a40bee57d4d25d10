//! The knowledge base as plain typed data.

mod address;
mod digest;
mod kind;
pub mod kinds;
mod links;
mod page;
mod prose_call;
mod quantities;
pub mod scaffold;
mod tables;

pub use address::{FILE_FOLDERS, LISTINGS, is_device, is_file_name, parts_of, why_reserved};
pub use digest::Digest;
pub use kind::Kind;
pub use links::{Dangling, Links, Missing, Target};
pub use page::{Body, Head, Page, PageId, Site, Unread, title_of};
pub use prose_call::{Argument, DEFAULT_CTX, Figure, ProseCall};
pub use quantities::{gib, tokens};
pub use tables::{
    CACHE_TYPES, CARDS, Curve, Division, Factors, Figures, FitTable, LayerWeights, ModelFit, Offload, PAIRS,
    Parameters, ProseFigure, QuantFit, Run, Runner, SLOTS, Share, SpeedTable, Verdict, Vllm, VllmCard,
    WEIGHT_TYPES,
};
