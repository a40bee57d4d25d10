//! The compute buffer of every device: the graph is built, scheduled and allocated without memory.
//!
//! The allocator steps of a graph are computed once for all settings that give the same
//! graph ([`structure`]), from as few of its layers as show what all of them do ([`layer_dedup`]),
//! as programs over sizes without numbers ([`program`], [`extent`]). A run puts in the
//! numbers and replays the programs ([`replay`]), each layer once a state.

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
pub(crate) use crate::compute::graphs::{Graphs, Subject};
pub(crate) use crate::compute::tensor::{TensorId, shape};
