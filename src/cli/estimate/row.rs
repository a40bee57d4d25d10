//! One row of a batch: which figure of which run is asked for.

use anyhow::{Result, bail};
use csv::ByteRecord;
use kbgen_estimate::quantization::CacheType;
use kbgen_estimate::settings::{
    CacheLayout, CachePlacement, ExpertPlacement, FlashAttention, Settings, WindowCache,
};

use crate::cli::estimate::engine::apply_ollama_defaults;
use crate::diag::nearest;

/// Declares the columns with their names in the header.
macro_rules! columns {
    ($($column:ident = $name:literal),+ $(,)?) => {
        /// A column that a batch may have.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Column { $($column),+ }

        /// Their names, in their order.
        const NAMES: &[&str] = &[$($name),+];
    };
}

// What is empty or missing is llama.cpp's own default, but for the first four.
columns! {
    Kind = "kind", Model = "catalogue_id", Quantization = "quant", Device = "device",
    Engine = "engine", Context = "ctx", CacheType = "kv_type", Batch = "n_batch",
    MicroBatch = "n_ubatch", FlashAttention = "flash_attn", GpuLayers = "n_gpu_layers",
    Sequences = "n_seq", Unified = "kv_unified", Outputs = "n_outputs", Gpus = "n_gpu",
    TensorSplit = "tensor_split", CpuExperts = "moe_cpu", CacheOnGpu = "kv_on_gpu",
    FullWindows = "swa_full",
}

/// So many of them have to be there.
const REQUIRED: usize = 4;

/// Largest number that a column may hold: a context of a thousand million tokens.
const MAX_NUMBER: u64 = 1_000_000_000;

/// Where the columns stand.
#[derive(Debug)]
pub(super) struct Columns {
    /// Fields of a row.
    count: usize,
    /// The place of each column of [`NAMES`] among them.
    positions: Vec<Option<usize>>,
}

/// What a row asks.
#[derive(Debug)]
pub(super) struct RowQuery<'r> {
    /// `model_bytes`, `kv_bytes`, `compute_bytes` or `total`.
    pub kind: &'r str,
    /// `file`, `gpu0`, `host` or `all`.
    pub device: &'r str,
    /// Slug of the model.
    pub model: &'r str,
    /// The run.
    pub settings: Settings,
}

impl Columns {
    /// The columns of a header.
    ///
    /// # Errors
    /// When one that has to be there is missing, or one stands twice.
    pub fn of(header: &ByteRecord) -> Result<Self> {
        let names = header.iter().map(|name| std::str::from_utf8(name).map(str::trim));
        let Ok(header) = names.collect::<Result<Vec<&str>, _>>() else {
            bail!("line 1: the name of a column is not UTF-8 text; save the file as UTF-8");
        };
        if let Some(name) =
            NAMES.iter().find(|name| header.iter().filter(|column| column == name).count() > 1)
        {
            bail!("line 1: the column `{name}` stands twice");
        }
        for required in &NAMES[..REQUIRED] {
            if header.contains(required) {
                continue;
            }
            let unknown = header.iter().copied().filter(|name| !NAMES.contains(name));
            match nearest(required, unknown) {
                Some(near) => bail!("line 1: the column `{required}` is missing; is `{near}` meant?"),
                None => bail!("line 1: the column `{required}` is missing"),
            }
        }
        let place = |name: &&str| header.iter().position(|column| column == name);
        Ok(Self { count: header.len(), positions: NAMES.iter().map(place).collect() })
    }

    /// Says so when a row has another number of fields than the header.
    ///
    /// # Errors
    /// When it has.
    pub fn fits(&self, row: &ByteRecord) -> Result<()> {
        if row.len() != self.count {
            bail!("the row has {} fields, the header {}", row.len(), self.count);
        }
        Ok(())
    }

    /// The text of a column; empty where there is none.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub fn text<'r>(&self, row: &'r ByteRecord, column: Column) -> Result<&'r str> {
        let field = self.positions[column as usize].and_then(|place| row.get(place)).unwrap_or_default();
        match std::str::from_utf8(field) {
            Ok(text) => Ok(text.trim()),
            Err(_) => bail!("`{}` is not UTF-8 text; save the file as UTF-8", NAMES[column as usize]),
        }
    }

    /// The number in a column; none where it is empty.
    ///
    /// # Errors
    /// When it holds something else.
    pub fn number(&self, row: &ByteRecord, column: Column) -> Result<Option<u64>> {
        match self.text(row, column)? {
            "" => Ok(None),
            text => match text.parse::<u64>() {
                Ok(number) if number <= MAX_NUMBER => Ok(Some(number)),
                _ => bail!(
                    "`{}` is `{text}`, not a whole number between 0 and {MAX_NUMBER}",
                    NAMES[column as usize]
                ),
            },
        }
    }

    /// What a row asks; `Ok(Err(…))` where it is well formed but beyond what is modeled.
    ///
    /// # Errors
    /// When a value has no meaning.
    pub fn query<'r>(&self, row: &'r ByteRecord) -> Result<Result<RowQuery<'r>, String>> {
        let engine = self.text(row, Column::Engine)?;
        if !matches!(engine, "" | "llama.cpp" | "ollama") {
            return Ok(Err(format!("the engine `{engine}` is not modeled")));
        }
        let Ok(quantization) = self.text(row, Column::Quantization)?.parse() else {
            return Ok(Err(format!(
                "the quantization `{}` is not modeled",
                self.text(row, Column::Quantization)?
            )));
        };
        // What only asks for weights needs no context.
        let mut settings = Settings::new(quantization, self.number(row, Column::Context)?.unwrap_or(4096));
        let (k, v) = match self.text(row, Column::CacheType)? {
            "" => ("f16", "f16"),
            text => text.split_once('/').unwrap_or((text, text)),
        };
        let (Ok(k), Ok(v)) = (k.trim().parse::<CacheType>(), v.trim().parse::<CacheType>()) else {
            return Ok(Err(format!(
                "the cache type `{}` is not modeled",
                self.text(row, Column::CacheType)?
            )));
        };
        (settings.cache_type_k, settings.cache_type_v) = (k, v);
        self.numbers(row, &mut settings)?;
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

    fn numbers(&self, row: &ByteRecord, settings: &mut Settings) -> Result<()> {
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
        let gpus = self.number(row, Column::Gpus)?.unwrap_or(1);
        settings.tensor_split = match self.text(row, Column::TensorSplit)? {
            "" => vec![1; usize::try_from(gpus.min(64))?],
            split => split
                .split([',', '/'])
                .map(|share| match share.trim().parse::<u64>() {
                    Ok(share) if share <= MAX_NUMBER => Ok(share),
                    _ => bail!("`tensor_split` is `{split}`, not whole numbers with commas between"),
                })
                .collect::<Result<_>>()?,
        };
        Ok(())
    }

    fn words(&self, row: &ByteRecord, settings: &mut Settings) -> Result<()> {
        let flag = |column: Column| match self.text(row, column)? {
            "" | "auto" => Ok(None),
            "1" | "true" | "on" => Ok(Some(true)),
            "0" | "false" | "off" => Ok(Some(false)),
            other => bail!("`{}` is `{other}`, not 0 or 1", NAMES[column as usize]),
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
                _ => bail!("`moe_cpu` is `{text}`, not none, all or first:N"),
            },
        };
        Ok(())
    }
}
