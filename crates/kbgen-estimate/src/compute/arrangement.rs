//! Assignment of layers to devices in a run, and the keys by which layers are deduplicated.

use std::sync::Arc;

use crate::architecture::{Architecture, FeedForward, Layer};
use crate::compute::layer_dedup::{Cut, LayerDedup};
use crate::placement::{Device, Placement};
use crate::settings::{ExpertPlacement, Settings};

/// Inputs of an arrangement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ArrangementKey {
    gpu_layers: Option<u64>,
    tensor_split: Vec<u64>,
    experts: ExpertPlacement,
}

impl ArrangementKey {
    /// Creates the key of these settings.
    pub(crate) fn new(settings: &Settings) -> ArrangementKey {
        ArrangementKey {
            gpu_layers: settings.gpu_layers,
            tensor_split: settings.tensor_split.clone(),
            experts: settings.experts,
        }
    }
}

/// Placement of a run, and its layers as deduplication keys.
#[derive(Debug)]
pub(crate) struct Arrangement {
    pub(crate) placement: Placement,
    layers: Vec<LayerKey>,
}

/// Everything that the graph of a layer depends on, except what is the same for all layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct LayerKey {
    layer: Layer,
    device: Device,
    experts: Device,
    rotary: bool,
    /// Whether image vectors are added to the result.
    stacked: bool,
    last: bool,
}

/// Key of a deduplicated graph: arrangements with equal kept layers have the same graph, however many layers
/// each of them omits.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct DedupKey {
    kept: Vec<LayerKey>,
    cuts: Vec<Cut>,
    output: Device,
}

impl Arrangement {
    /// Creates the arrangement of these settings.
    pub(crate) fn new(model: &Architecture, settings: &Settings) -> Arrangement {
        let placement = Placement::new(model, settings);
        let last = model.layers.len() - 1;
        let key = |(place, layer): (usize, &Layer)| {
            let index = place as u64;
            LayerKey {
                layer: *layer,
                device: placement.layer(index),
                experts: match layer.feed_forward {
                    FeedForward::Experts => placement.experts(index),
                    _ => placement.layer(index),
                },
                rotary: (model.family.uses_rope)(model, index),
                stacked: index < model.family.stacked_embeddings,
                last: place == last,
            }
        };
        let layers = model.layers.iter().enumerate().map(key).collect();
        Arrangement { placement, layers }
    }

    /// Returns the deduplication that keeps `more` extra periods, and its key.
    pub(crate) fn dedup(&self, more: usize) -> (Arc<LayerDedup>, DedupKey) {
        let dedup = LayerDedup::new(&self.layers, more);
        let key = DedupKey {
            kept: dedup.kept.iter().map(|layer| self.layers[*layer as usize]).collect(),
            cuts: dedup.cuts.clone(),
            output: self.placement.output(),
        };
        (Arc::new(dedup), key)
    }
}
