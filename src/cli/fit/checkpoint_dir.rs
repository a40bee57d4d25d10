//! A model from a checkpoint of Hugging Face: a folder with `config.json` and safetensors files.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::family::Family;
use kbgen_estimate::fields::ArchitectureFields;
use kbgen_estimate::huggingface::{Checkpoint, model_fields, read_header, read_index};

/// Longest `config.json` in bytes.
pub(super) const MAX_CONFIG: u64 = 4 << 20;
/// Most safetensors files of a checkpoint.
const MAX_FILES: usize = 4096;
pub(super) const INDEX: &str = "model.safetensors.index.json";

/// A checkpoint with its architecture.
#[derive(Debug)]
pub(super) struct CheckpointModel {
    /// Folder.
    pub path: PathBuf,
    /// Name of the folder.
    pub title: String,
    pub architecture: Architecture,
    /// Name of the architecture, if it is unknown.
    pub unknown: Option<String>,
    /// Tensors of all files.
    pub checkpoint: Checkpoint,
}

/// Returns the folder of a checkpoint, if the argument names one: the folder, or a file in it.
pub(in crate::cli) fn folder_of(argument: &str) -> Option<PathBuf> {
    let path = Path::new(argument);
    if path.is_dir() {
        return path.join("config.json").is_file().then(|| path.to_path_buf());
    }
    let name = path.file_name()?.to_str()?;
    let is_part = name == "config.json" || name == INDEX || name.ends_with(".safetensors");
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    is_part.then(|| parent.unwrap_or(Path::new(".")).to_path_buf())
}

impl CheckpointModel {
    /// Reads the configuration and the headers of all files in a folder.
    ///
    /// # Errors
    /// If a file is missing, damaged, or does not describe a language model.
    pub fn read(folder: &Path) -> Result<Self> {
        let name = folder.canonicalize().ok();
        let name = name.as_deref().unwrap_or(folder).file_name().unwrap_or_default();
        Self::new(folder.to_path_buf(), name.to_string_lossy().into_owned(), read(folder)?)
    }

    /// Creates a model from what [`read`] returns.
    ///
    /// # Errors
    /// If it does not describe a language model.
    pub fn new(path: PathBuf, title: String, parts: (ArchitectureFields, Checkpoint)) -> Result<Self> {
        let (mut fields, checkpoint) = parts;
        let is_known = Family::named(&fields.name).is_some();
        let unknown = (!is_known).then(|| fields.name.clone());
        if !is_known {
            fields = fields.with_plain_family();
        }
        let architecture = fields.build().map_err(|error| {
            anyhow!("{}: invalid model sizes: {error}", path.join("config.json").display())
        })?;
        Ok(Self { path, title, architecture, unknown, checkpoint })
    }

    /// Returns a name for `ollama create`.
    pub fn slug(&self) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        self.title.to_lowercase().chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
    }
}

/// Reads the hyperparameters and the tensors of a checkpoint.
///
/// # Errors
/// If a file is missing, damaged, or no part of a checkpoint.
pub(in crate::cli) fn read(folder: &Path) -> Result<(ArchitectureFields, Checkpoint)> {
    let mut tensors = Vec::new();
    for path in weight_files(folder)? {
        let named = || path.display().to_string();
        let file = File::open(&path).with_context(named)?;
        tensors.extend(read_header(BufReader::with_capacity(1 << 16, file)).with_context(named)?);
    }
    let config = folder.join("config.json");
    let named = || config.display().to_string();
    let mut json = Vec::new();
    File::open(&config).with_context(named)?.take(MAX_CONFIG).read_to_end(&mut json).with_context(named)?;
    let fields = model_fields(&json, &tensors).with_context(named)?;
    let (layers, kv_heads) = (fields.layer_count(), fields.kv_heads);
    let checkpoint = Checkpoint { tensors, layers, kv_heads, total_size: None };
    Ok((fields, checkpoint))
}

/// Returns the safetensors files of a folder: those of the index, or the only one.
fn weight_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let index = folder.join(INDEX);
    if index.is_file() {
        let named = || index.display().to_string();
        let files = read_index(File::open(&index).with_context(named)?).with_context(named)?.files;
        if files.len() > MAX_FILES {
            bail!("{}: {} files are more than {MAX_FILES}", index.display(), files.len());
        }
        return Ok(files.into_iter().map(|file| folder.join(file)).collect());
    }
    let mut files = Vec::new();
    for entry in folder.read_dir().with_context(|| folder.display().to_string())? {
        let path = entry.with_context(|| folder.display().to_string())?.path();
        if path.extension().is_some_and(|extension| extension == "safetensors") {
            files.push(path);
        }
    }
    match files.as_slice() {
        [_] => Ok(files),
        [] => bail!("no `.safetensors` file in {}", folder.display()),
        _ => bail!("{} `.safetensors` files in {}, but no `{INDEX}`", files.len(), folder.display()),
    }
}
