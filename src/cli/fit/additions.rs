//! Files loaded beside the model: projector, LoRA adapters, draft model.

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use kbgen_estimate::gguf::Header;
use kbgen_estimate::placement::Device;
use kbgen_estimate::planner::Planner;
use kbgen_estimate::settings::{CachePlacement, ExpertPlacement, Settings};
use serde::Serialize;

use crate::cli::arguments::engines::FileOptions;
use crate::cli::fit::model_file::{GgufModel, read_headers};
use crate::cli::fit::remote::{Fetched, FileKind, fetch, is_address, needs_fetch};

/// Kind of an [`Addition`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub(super) enum AdditionKind {
    Projector,
    Lora,
    DraftModel,
    /// A model in a process of its own.
    #[default]
    Model,
}

impl AdditionKind {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Projector => "projector",
            Self::Lora => "LoRA",
            Self::DraftModel => "draft model",
            Self::Model => "model",
        }
    }
}

impl From<AdditionKind> for &'static str {
    fn from(kind: AdditionKind) -> Self {
        kind.name()
    }
}

/// File or model loaded beside the model, with its needs on the first device.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Addition {
    pub kind: AdditionKind,
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
    /// URLs of a file on a server, one for each part.
    #[serde(skip)]
    pub urls: Vec<String>,
}

impl Addition {
    /// Returns all parts together.
    pub fn total(&self) -> u64 {
        self.weights_bytes + self.cache_bytes + self.compute_bytes + self.driver_bytes
    }

    /// Returns the option of llama-server that loads it; none for a model in a process of its own.
    pub fn option(&self) -> Option<&'static str> {
        match self.kind {
            AdditionKind::Projector => Some("--mmproj"),
            AdditionKind::Lora => Some("--lora"),
            AdditionKind::DraftModel => Some("-md"),
            AdditionKind::Model => None,
        }
    }
}

/// Reads the headers of the files, which run with the settings of the model.
///
/// # Errors
/// If a file cannot be read, is damaged, or is of another kind.
pub(super) fn additions(
    options: &FileOptions,
    settings: &Settings,
    is_fetching: bool,
) -> Result<Vec<Addition>> {
    let mut all = Vec::new();
    if let Some(file) = &options.mmproj {
        let read = ReadFile::new(file, FileKind::Projector, is_fetching)?;
        all.push(read.tensors(AdditionKind::Projector, |kind, architecture| {
            kind == "mmproj" || architecture == "clip"
        })?);
    }
    for file in &options.lora {
        let read = ReadFile::new(file, FileKind::Model, is_fetching)?;
        all.push(read.tensors(AdditionKind::Lora, |kind, _| kind == "adapter")?);
    }
    if let Some(file) = &options.draft {
        all.push(ReadFile::new(file, FileKind::Model, is_fetching)?.draft(settings)?);
    }
    Ok(all)
}

/// Header of a file.
struct ReadFile {
    path: PathBuf,
    header: Header,
    /// URLs of a file on a server, one for each part.
    urls: Vec<String>,
}

impl ReadFile {
    fn new(argument: &str, kind: FileKind, is_fetching: bool) -> Result<Self> {
        if !is_address(argument) {
            let (path, header) = read_headers(argument)?;
            return Ok(Self { path, header, urls: Vec::new() });
        }
        if !is_fetching {
            bail!("{}", needs_fetch(argument));
        }
        match fetch(argument, kind)? {
            Fetched::File { path, header, urls, .. } => {
                let path = PathBuf::from(path.file_name().unwrap_or_default());
                Ok(Self { path, header, urls: urls.iter().map(ToString::to_string).collect() })
            }
            Fetched::Checkpoint { repository, .. } => bail!("{repository} has no GGUF file"),
        }
    }

    fn addition(self, kind: AdditionKind) -> Addition {
        Addition { kind, file: self.path.display().to_string(), urls: self.urls, ..Addition::default() }
    }

    /// Sums the tensors.
    fn tensors(self, kind: AdditionKind, fits: impl Fn(&str, &str) -> bool) -> Result<Addition> {
        let text = |key| self.header.text(key);
        let own = text("general.type").unwrap_or("model");
        let architecture = text("general.architecture").unwrap_or_default();
        if !fits(own, architecture) {
            bail!("{}: the file is no {} but `{own}` of `{architecture}`", self.path.display(), kind.name());
        }
        let weights_bytes = self.header.tensors.iter().map(|tensor| tensor.bytes().0).sum();
        Ok(Addition { weights_bytes, ..self.addition(kind) })
    }

    fn draft(self, settings: &Settings) -> Result<Addition> {
        let draft = GgufModel::new(self.path.clone(), &self.header)?;
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
        let need = need.map_err(|reason| anyhow!("{}: {reason}", self.path.display()))?;
        let gpu = need.device(Device::Gpu(0)).expect("all layers are on one device");
        Ok(Addition {
            weights_bytes: gpu.weights.bytes.0,
            cache_bytes: gpu.cache.bytes.0,
            compute_bytes: gpu.compute.bytes.0,
            ..self.addition(AdditionKind::DraftModel)
        })
    }
}
