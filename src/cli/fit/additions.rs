//! Files loaded beside the model: projector, LoRA adapters, draft model.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use kbgen_estimate::gguf::Header;
use kbgen_estimate::placement::Device;
use kbgen_estimate::planner::Planner;
use kbgen_estimate::settings::{CachePlacement, ExpertPlacement, Settings};
use serde::Serialize;

use crate::cli::arguments::engines::FileOptions;
use crate::cli::fit::model_file::GgufModel;

/// File or model loaded beside the model, with its needs on the first device.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Addition {
    /// `projector`, `LoRA`, `draft model`, or `model` for one in a process of its own.
    pub kind: &'static str,
    /// Path, or the title and quantization of a model.
    pub file: String,
    pub weights_bytes: u64,
    /// Cache of a model, with the context of the first one or its own maximum.
    pub cache_bytes: u64,
    pub compute_bytes: u64,
    /// The most that the driver uses for another process.
    pub driver_bytes: u64,
    /// Command that runs a further model.
    pub command: Option<String>,
}

impl Addition {
    /// Returns all parts together.
    pub fn total(&self) -> u64 {
        self.weights_bytes + self.cache_bytes + self.compute_bytes + self.driver_bytes
    }

    /// Returns the option of llama-server that loads it; none for a model in a process of its own.
    pub fn option(&self) -> Option<&'static str> {
        match self.kind {
            "projector" => Some("--mmproj"),
            "LoRA" => Some("--lora"),
            "draft model" => Some("-md"),
            _ => None,
        }
    }
}

/// Reads the headers of the files, which run with the settings of the model.
///
/// # Errors
/// If a file cannot be read, is damaged, or is of another kind.
pub(super) fn additions(options: &FileOptions, settings: &Settings) -> Result<Vec<Addition>> {
    let mut all = Vec::new();
    if let Some(file) = &options.mmproj {
        all.push(tensors("projector", file, |kind, architecture| {
            kind == "mmproj" || architecture == "clip"
        })?);
    }
    for file in &options.lora {
        all.push(tensors("LoRA", file, |kind, _| kind == "adapter")?);
    }
    if let Some(file) = &options.draft {
        all.push(draft(file, settings)?);
    }
    Ok(all)
}

/// Sums the tensors of a file.
fn tensors(kind: &'static str, file: &Path, fits: impl Fn(&str, &str) -> bool) -> Result<Addition> {
    let named = || file.display().to_string();
    let input = File::open(file).with_context(named)?;
    let header = Header::read(BufReader::with_capacity(1 << 16, input)).with_context(named)?;
    let (own, architecture) = (header.text("general.type"), header.text("general.architecture"));
    let (own, architecture) = (own.unwrap_or("model"), architecture.unwrap_or_default());
    if !fits(own, architecture) {
        bail!("{}: the file is no {kind} but `{own}` of `{architecture}`", file.display());
    }
    let weights_bytes = header.tensors.iter().map(|tensor| tensor.bytes().0).sum();
    Ok(Addition { kind, file: named(), weights_bytes, ..Addition::default() })
}

fn draft(file: &Path, settings: &Settings) -> Result<Addition> {
    let path = file.to_str().ok_or_else(|| anyhow!("{}: the path is not UTF-8", file.display()))?;
    let draft = GgufModel::read(path)?;
    let mut model = draft.model.architecture.clone();
    model.max_context = model.max_context.max(settings.context);
    let own = Settings {
        gpu_layers: None,
        experts: ExpertPlacement::WithLayer,
        tensor_split: vec![1],
        cache_placement: CachePlacement::WithLayer,
        ..settings.clone()
    };
    let need = Planner::of_file(&model, &draft.model).estimate(&own);
    let need = need.map_err(|reason| anyhow!("{}: {reason}", file.display()))?;
    let gpu = need.device(Device::Gpu(0)).expect("all layers are on one device");
    Ok(Addition {
        kind: "draft model",
        file: file.display().to_string(),
        weights_bytes: gpu.weights.bytes.0,
        cache_bytes: gpu.cache.bytes.0,
        compute_bytes: gpu.compute.bytes.0,
        ..Addition::default()
    })
}
