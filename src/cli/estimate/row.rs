//! Parsing of CSV rows.

use anyhow::{Result, bail};
use csv::ByteRecord;
use kbgen_estimate::build::Build;
use kbgen_estimate::quantization::CacheType;
use kbgen_estimate::settings::{
    CacheLayout, CachePlacement, ExpertPlacement, FlashAttention, Settings, WindowCache,
};

use crate::cli::estimate::engine::apply_ollama_defaults;
use crate::cli::estimate::parse_build;
use crate::diag::nearest;

/// Declares the columns with their names in the header.
macro_rules! columns {
    ($($column:ident = $name:literal),+ $(,)?) => {
/// Known columns.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Column { $($column),+ }

/// Column names in the order of [`Column`].
        const NAMES: &[&str] = &[$($name),+];
    };
}

// Missing or empty values mean the default of llama.cpp, except in the required columns.
columns! {
    Kind = "kind", Model = "catalogue_id", Quantization = "quant", Device = "device",
    Engine = "engine", Context = "ctx", CacheType = "kv_type", Batch = "n_batch",
    MicroBatch = "n_ubatch", FlashAttention = "flash_attn", GpuLayers = "n_gpu_layers",
    Sequences = "n_seq", Unified = "kv_unified", Outputs = "n_outputs", Gpus = "n_gpu",
    TensorSplit = "tensor_split", CpuExperts = "moe_cpu", CacheOnGpu = "kv_on_gpu",
    FullWindows = "swa_full", Build = "build",
}

/// Number of required columns, the first ones.
const REQUIRED: usize = 4;

/// Largest number in a column.
const MAX_NUMBER: u64 = 1_000_000_000;
/// Maximum number of GPUs.
const MAX_GPUS: u64 = 64;

/// Positions of the columns.
#[derive(Debug)]
pub(super) struct Columns {
    /// Number of fields in a row.
    count: usize,
    /// Position of each column of [`NAMES`].
    positions: Vec<Option<usize>>,
    /// Build of rows without one.
    build: Build,
}

/// Figure and settings that a row queries.
#[derive(Debug)]
pub(super) struct RowQuery<'r> {
    /// `model_bytes`, `kv_bytes`, `compute_bytes` or `total`.
    pub kind: &'r str,
    /// `file`, `gpu0`, `host` or `all`.
    pub device: &'r str,
    /// Slug or another name of the model.
    pub model: &'r str,
    /// Settings of the run.
    pub settings: Settings,
}

impl Columns {
    /// Parses a header.
    ///
    /// # Errors
    /// If a required column is missing or a column is duplicated.
    pub fn of(header: &ByteRecord, build: Build) -> Result<Self> {
        let names = header.iter().map(|name| std::str::from_utf8(name).map(str::trim));
        let Ok(header) = names.collect::<Result<Vec<&str>, _>>() else {
            bail!("line 1: a column name is not UTF-8; save the file as UTF-8");
        };
        if let Some(name) =
            NAMES.iter().find(|name| header.iter().filter(|column| column == name).count() > 1)
        {
            bail!("line 1: duplicate column `{name}`");
        }
        for required in &NAMES[..REQUIRED] {
            if header.contains(required) {
                continue;
            }
            let unknown = header.iter().copied().filter(|name| !NAMES.contains(name));
            match nearest(required, unknown) {
                Some(near) => bail!("line 1: missing column `{required}`; found the similar `{near}`"),
                None => bail!("line 1: missing column `{required}`"),
            }
        }
        let place = |name: &&str| header.iter().position(|column| column == name);
        Ok(Self { count: header.len(), positions: NAMES.iter().map(place).collect(), build })
    }

    /// Checks that a row has as many fields as the header.
    ///
    /// # Errors
    /// If the numbers differ.
    pub fn fits(&self, row: &ByteRecord) -> Result<()> {
        if row.len() != self.count {
            bail!("{} fields, but the header has {}", row.len(), self.count);
        }
        Ok(())
    }

    /// Returns the text of a column, empty if the column is missing.
    ///
    /// # Errors
    /// If it is not UTF-8.
    pub fn text<'r>(&self, row: &'r ByteRecord, column: Column) -> Result<&'r str> {
        let field = self.positions[column as usize].and_then(|place| row.get(place)).unwrap_or_default();
        match std::str::from_utf8(field) {
            Ok(text) => Ok(text.trim()),
            Err(_) => bail!("`{}` is not UTF-8; save the file as UTF-8", NAMES[column as usize]),
        }
    }

    /// Returns the number in a column, or `None` if it is empty.
    ///
    /// # Errors
    /// If it is not a number in range.
    pub fn number(&self, row: &ByteRecord, column: Column) -> Result<Option<u64>> {
        match self.text(row, column)? {
            "" => Ok(None),
            text => match text.parse::<u64>() {
                Ok(number) if number <= MAX_NUMBER => Ok(Some(number)),
                _ => bail!(
                    "`{}` is `{text}`; expected a whole number from 0 to {MAX_NUMBER}",
                    NAMES[column as usize]
                ),
            },
        }
    }

    /// Returns the number of GPUs. `Ok(Err(…))` is the reason why it is not covered.
    ///
    /// # Errors
    /// If it is not a number in range.
    pub fn gpus(&self, row: &ByteRecord) -> Result<Result<u64, String>> {
        let gpus = self.number(row, Column::Gpus)?.unwrap_or(1);
        Ok(if gpus <= MAX_GPUS {
            Ok(gpus)
        } else {
            Err(format!("more than {MAX_GPUS} GPUs are not modeled"))
        })
    }

    /// Parses a row. `Ok(Err(…))` is the reason why a well-formed row is not covered.
    ///
    /// # Errors
    /// When a value has no meaning.
    pub fn query<'r>(&self, row: &'r ByteRecord) -> Result<Result<RowQuery<'r>, String>> {
        let engine = self.text(row, Column::Engine)?;
        if !matches!(engine, "" | "llama.cpp" | "ollama") {
            return Ok(Err(format!("engine `{engine}` is not modeled")));
        }
        let Ok(quantization) = self.text(row, Column::Quantization)?.parse() else {
            return Ok(Err(format!(
                "quantization `{}` is not modeled",
                self.text(row, Column::Quantization)?
            )));
        };
        // Queries of weights need no context.
        let mut settings = Settings::new(quantization, self.number(row, Column::Context)?.unwrap_or(4096));
        let (k, v) = match self.text(row, Column::CacheType)? {
            "" => ("f16", "f16"),
            text => text.split_once('/').unwrap_or((text, text)),
        };
        let (Ok(k), Ok(v)) = (k.trim().parse::<CacheType>(), v.trim().parse::<CacheType>()) else {
            return Ok(Err(format!("cache type `{}` is not modeled", self.text(row, Column::CacheType)?)));
        };
        (settings.cache_type_k, settings.cache_type_v) = (k, v);
        let gpus = match self.gpus(row)? {
            Ok(gpus) => gpus,
            Err(reason) => return Ok(Err(reason)),
        };
        self.numbers(row, gpus, &mut settings)?;
        self.words(row, &mut settings)?;
        if engine == "ollama"
            && let Err(reason) = apply_ollama_defaults(self, row, &mut settings)?
        {
            return Ok(Err(reason));
        }
        Ok(Ok(RowQuery {
            kind: self.text(row, Column::Kind)?,
            device: self.text(row, Column::Device)?,
            model: self.text(row, Column::Model)?,
            settings,
        }))
    }

    fn numbers(&self, row: &ByteRecord, gpus: u64, settings: &mut Settings) -> Result<()> {
        if let Some(number) = self.number(row, Column::Batch)? {
            settings.n_batch = number;
        }
        if let Some(number) = self.number(row, Column::MicroBatch)? {
            settings.n_ubatch = number;
        }
        if let Some(number) = self.number(row, Column::Sequences)? {
            settings.sequences = number;
        }
        settings.n_outputs = self.number(row, Column::Outputs)?;
        settings.gpu_layers = self.number(row, Column::GpuLayers)?;
        settings.tensor_split = match self.text(row, Column::TensorSplit)? {
            "" => vec![1; usize::try_from(gpus)?],
            split => split
                .split([',', '/'])
                .map(|share| match share.trim().parse::<u64>() {
                    Ok(share) if share <= MAX_NUMBER => Ok(share),
                    _ => bail!("`tensor_split` is `{split}`; expected whole numbers separated by commas"),
                })
                .collect::<Result<_>>()?,
        };
        Ok(())
    }

    fn words(&self, row: &ByteRecord, settings: &mut Settings) -> Result<()> {
        settings.build = match self.text(row, Column::Build)? {
            "" => self.build,
            build => parse_build(build)?,
        };
        let flag = |column: Column| match self.text(row, column)? {
            "" | "auto" => Ok(None),
            "1" | "true" | "on" => Ok(Some(true)),
            "0" | "false" | "off" => Ok(Some(false)),
            other => bail!("`{}` is `{other}`; expected 0 or 1", NAMES[column as usize]),
        };
        if flag(Column::FlashAttention)? == Some(false) {
            settings.flash_attention = FlashAttention::Off;
        }
        if flag(Column::Unified)? == Some(true) {
            settings.cache_layout = CacheLayout::Unified;
        }
        if flag(Column::CacheOnGpu)? == Some(false) {
            settings.cache_placement = CachePlacement::Host;
        }
        if flag(Column::FullWindows)? == Some(true) {
            settings.window_cache = WindowCache::Full;
        }
        settings.experts = match self.text(row, Column::CpuExperts)? {
            "" | "none" => ExpertPlacement::WithLayer,
            "all" => ExpertPlacement::Cpu,
            text => match text.strip_prefix("first:").map(str::parse) {
                Some(Ok(layers)) => ExpertPlacement::FirstLayersOnCpu(layers),
                _ => bail!("`moe_cpu` is `{text}`; expected none, all or first:N"),
            },
        };
        Ok(())
    }
}

/// Returns the index of a device named `gpu0`, `gpu1` and so on.
pub(super) fn gpu_index(device: &str) -> Option<u64> {
    let digits = device.strip_prefix("gpu")?;
    digits.parse().ok().filter(|index: &u64| index.to_string() == digits)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::arguments::Arguments;

    #[test]
    fn the_help_names_every_column() {
        let mut program = Arguments::command();
        let estimate = program.find_subcommand_mut("estimate").expect("the command exists");
        let help = estimate.render_long_help().to_string();
        let missing = NAMES.iter().filter(|name| !help.contains(&format!("`{name}`")));
        assert_eq!(missing.collect::<Vec<_>>(), Vec::<&&str>::new());
    }
}
