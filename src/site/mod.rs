//! Data model of the knowledge base.

mod address;
mod defaults;
mod kind;
pub mod kinds;
mod links;
mod names;
mod page;
mod pages;
mod prose_call;
mod quantities;
mod references;
pub mod scaffold;
mod tables;
mod visible;

pub use address::{
    DATA_FILES, FILE_FOLDERS, LISTINGS, ROBOTS, is_alias, is_device, is_file_name, is_generated,
    is_root_name, is_web_address, parts_of, why_reserved,
};
pub use defaults::{DEFAULT_CTX, DEFAULT_QUANT};
pub use kind::Kind;
pub use links::{Dangling, LinkTarget, Links, Missing, PageLinks};
pub use names::{
    HUB_PREFIXES, NamedPage, NamedQuant, Names, PublishedModel, Resolved, all_published, published,
};
pub use page::{Body, FrontMatter, Head, MakeSite, Page, PageId, Site, Unread};
pub use pages::Pages;
pub use prose_call::{Argument, Figure, ProseCall, included};
pub use quantities::{format_count, gib, number};
pub use references::Reference;
pub use tables::{
    CACHE_TYPES, CARDS, Curve, Factors, Figures, FitTable, LayerWeights, ModelFit, Offload, PAIRS,
    Parameters, ProseFigure, QuantFit, Run, Runner, SLOTS, SampledSplit, SampledSplits, Share, Vllm,
    VllmCard, WEIGHT_TYPES,
};
pub use visible::{DeviceMemory, MIN_VISIBLE, WINDOWS_DESKTOP};
