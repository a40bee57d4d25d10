//! Estimates of single rows, with results cached between rows.

use std::collections::{BTreeMap, HashMap};

use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::estimator::NotCovered;
use kbgen_estimate::planner::Planner;
use kbgen_estimate::settings::Settings;

use crate::cli::estimate::row::{RowQuery, gpu_index};
use crate::site::{Kind, Names};

/// Maximum number of cached settings of a model. The cache is cleared when it is full.
const MAX_CACHED_RUNS: usize = 4096;

/// Estimator for the models of a catalog.
pub(super) struct RowEstimator<'m> {
    /// The catalog by slug.
    models: &'m BTreeMap<String, Architecture>,
    names: &'m Names,
    cache: HashMap<String, CachedModel<'m>>,
}

/// Cached lookup of a model name.
enum CachedModel<'m> {
    Model(Box<KnownModel<'m>>),
    /// Message for an unknown model.
    Unknown(String),
}

/// Model with its cached results.
struct KnownModel<'m> {
    planner: Planner<'m>,
    /// Compute buffers by settings. The rows of a batch often query several figures of one configuration.
    compute: HashMap<Settings, Vec<Bytes>>,
}

impl<'m> RowEstimator<'m> {
    /// Creates an estimator with an empty cache.
    pub fn new(models: &'m BTreeMap<String, Architecture>, names: &'m Names) -> Self {
        Self { models, names, cache: HashMap::new() }
    }

    /// Returns the estimate, or the reason why it is not covered.
    pub fn answer(&mut self, query: &RowQuery<'_>) -> Result<u64, String> {
        if !self.cache.contains_key(query.model) {
            self.cache.insert(query.model.to_string(), self.look_up(query.model));
        }
        match self.cache.get_mut(query.model) {
            Some(CachedModel::Model(model)) => model.answer(query),
            Some(CachedModel::Unknown(reason)) => Err(reason.clone()),
            None => Err(format!("no model `{}`", query.model)),
        }
    }

    /// Returns a model by its slug or another name, or the reason why there is none.
    pub fn model(&self, name: &str) -> Result<&'m Architecture, String> {
        if let Some(model) = self.models.get(name) {
            return Ok(model);
        }
        let slug = self.names.resolve(name).only(Kind::Model, name)?.slug;
        self.models.get(&slug).ok_or_else(|| format!("the hyperparameters of `{slug}` are incomplete"))
    }

    fn look_up(&self, name: &str) -> CachedModel<'m> {
        match self.model(name) {
            Ok(model) => CachedModel::Model(Box::new(KnownModel {
                planner: Planner::new(model),
                compute: HashMap::new(),
            })),
            Err(reason) => CachedModel::Unknown(reason),
        }
    }
}

impl KnownModel<'_> {
    fn answer(&mut self, query: &RowQuery<'_>) -> Result<u64, String> {
        let settings = &query.settings;
        if query.kind == "model_bytes" && query.device == "file" {
            return Ok(self.planner.file_bytes(settings.quantization).0);
        }
        if settings.context == 0 {
            return Err("the context is 0".to_string());
        }
        if settings.sequences > settings.context {
            return Err("there are more slots than tokens of context".to_string());
        }
        let bytes = match query.kind {
            "kv_bytes" => self.planner.cache_on(settings),
            "compute_bytes" => self.compute(settings),
            "total" => self.total(settings),
            // Also checks whether the settings are covered.
            _ => self.planner.weights_on(settings),
        };
        let bytes = bytes.map_err(|NotCovered(reason)| reason)?;
        let gpus = settings.tensor_split.len();
        let chosen = match query.device {
            "all" => 0..gpus + 1,
            "host" => gpus..gpus + 1,
            name => match gpu_index(name).map(|index| usize::try_from(index).unwrap_or(usize::MAX)) {
                Some(index) if index < gpus => index..index + 1,
                Some(_) => return Err(format!("these settings have no device `{name}`")),
                None => return Err(format!("no device `{name}`")),
            },
        };
        match query.kind {
            "model_bytes" | "kv_bytes" | "compute_bytes" | "total" => {
                Ok(bytes[chosen].iter().map(|bytes| bytes.0).sum())
            }
            other => Err(format!("no figure `{other}`")),
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
