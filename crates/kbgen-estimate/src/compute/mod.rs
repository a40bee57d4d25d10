//! Compute buffers of all devices: builds, schedules and allocates the graph without allocating memory.
//!
//! Allocator steps are compiled once for all settings with the same graph ([`structure`]). Repeated layers
//! are compiled only a few times ([`layer_dedup`]), and the programs refer to sizes symbolically
//! ([`program`], [`extent`]). A run substitutes the sizes and replays the programs ([`replay`]); a layer that
//! starts in an allocator state seen before is not replayed again.

mod allocator;
mod arrangement;
mod attention;
mod builder;
mod embedding;
mod extent;
mod feed_forward;
mod graph;
mod graphs;
mod latent;
mod layer_dedup;
mod layers;
mod mixers;
mod program;
mod recurrent;
mod replay;
mod schedule;
mod scheduler;
mod size;
mod structure;
mod tensor;
mod tensor_size;

pub(crate) use crate::compute::arrangement::Arrangement;
pub(crate) use crate::compute::attention::Projections;
pub(crate) use crate::compute::builder::{Builder, NormKind};
pub(crate) use crate::compute::extent::Extent;
pub(crate) use crate::compute::feed_forward::Gating;
pub(crate) use crate::compute::graphs::{Graphs, QuantizedModel};
pub(crate) use crate::compute::tensor::{TensorId, shape};
