//! The answer to one row, with what earlier rows had worked out.

use std::collections::{BTreeMap, HashMap};

use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::estimator::NotCovered;
use kbgen_estimate::planner::Planner;
use kbgen_estimate::settings::Settings;

use crate::cli::estimate::row::RowQuery;
use crate::diag::nearest;

/// Runs of a model whose compute buffers are kept; with one more all are forgotten.
const MAX_CACHED_RUNS: usize = 4096;

/// Answers questions about the models of a catalog.
pub(super) struct RowEstimator<'m> {
    /// The catalog, by slug.
    pub models: &'m BTreeMap<String, Architecture>,
    cache: HashMap<String, CachedModel<'m>>,
}

/// A name that was asked for.
enum CachedModel<'m> {
    Model(Box<KnownModel<'m>>),
    /// No model: what to say about it.
    Unknown(String),
}

/// A model with what is known of it.
struct KnownModel<'m> {
    planner: Planner<'m>,
    /// Compute buffers by run: the rows of a batch often ask for several figures of one.
    compute: HashMap<Settings, Vec<Bytes>>,
}

impl<'m> RowEstimator<'m> {
    /// One that was asked nothing yet.
    pub fn new(models: &'m BTreeMap<String, Architecture>) -> Self {
        Self { models, cache: HashMap::new() }
    }

    /// The figure that a question is for, or why there is none.
    pub fn answer(&mut self, query: &RowQuery<'_>) -> Result<u64, String> {
        if !self.cache.contains_key(query.model) {
            self.cache.insert(query.model.to_string(), self.look_up(query.model));
        }
        match self.cache.get_mut(query.model) {
            Some(CachedModel::Model(model)) => model.answer(query),
            Some(CachedModel::Unknown(reason)) => Err(reason.clone()),
            None => Err(format!("there is no model `{}`", query.model)),
        }
    }

    fn look_up(&self, name: &str) -> CachedModel<'m> {
        if let Some(model) = self.models.get(name) {
            let known = KnownModel { planner: Planner::new(model), compute: HashMap::new() };
            return CachedModel::Model(Box::new(known));
        }
        CachedModel::Unknown(match nearest(name, self.models.keys().map(String::as_str)) {
            Some(near) => format!("there is no model `{name}`; is `{near}` meant?"),
            None => format!("there is no model `{name}`"),
        })
    }
}

impl KnownModel<'_> {
    fn answer(&mut self, query: &RowQuery<'_>) -> Result<u64, String> {
        let settings = &query.settings;
        if query.kind == "model_bytes" && query.device == "file" {
            return Ok(self.planner.file_bytes(settings.quantization).0);
        }
        let bytes = match query.kind {
            "kv_bytes" => self.planner.cache_on(settings),
            "compute_bytes" => self.compute(settings),
            "total" => self.total(settings),
            // what is asked first also tells whether the run is covered at all
            _ => self.planner.weights_on(settings),
        };
        let bytes = bytes.map_err(|NotCovered(reason)| reason)?;
        let gpus = settings.tensor_split.len();
        let chosen = match query.device {
            "all" => 0..gpus + 1,
            "host" => gpus..gpus + 1,
            name => match name.strip_prefix("gpu").and_then(|index| index.parse().ok()) {
                Some(index) if index < gpus => index..index + 1,
                Some(_) => return Err(format!("the run has no device `{name}`")),
                None => return Err(format!("there is no device `{name}`")),
            },
        };
        match query.kind {
            "model_bytes" | "kv_bytes" | "compute_bytes" | "total" => {
                Ok(bytes[chosen].iter().map(|bytes| bytes.0).sum())
            }
            other => Err(format!("there is no figure `{other}`")),
        }
    }

    fn compute(&mut self, settings: &Settings) -> Result<Vec<Bytes>, NotCovered> {
        if let Some(known) = self.compute.get(settings) {
            return Ok(known.clone());
        }
        let found = self.planner.compute_on(settings)?;
        if self.compute.len() == MAX_CACHED_RUNS {
            self.compute.clear();
        }
        self.compute.insert(settings.clone(), found.clone());
        Ok(found)
    }

    fn total(&mut self, settings: &Settings) -> Result<Vec<Bytes>, NotCovered> {
        let mut total = self.compute(settings)?;
        let (weights, cache) = (self.planner.weights_on(settings)?, self.planner.cache_on(settings)?);
        for (total, (weights, cache)) in total.iter_mut().zip(weights.into_iter().zip(cache)) {
            *total += weights + cache;
        }
        Ok(total)
    }
}
