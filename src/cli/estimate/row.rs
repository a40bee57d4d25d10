//! One row of a batch: which figure of which run is asked for.

use anyhow::{Result, bail};
use csv::StringRecord;

use crate::cli::estimate::engine::as_ollama_runs_it;
use crate::diag::nearest;
use crate::estimate::quantization::CacheType;
use crate::estimate::settings::{
    CacheLayout, CachePlacement, ExpertPlacement, FlashAttention, Settings, WindowCache,
};

/// Columns that a batch has to have.
const REQUIRED: [&str; 4] = ["kind", "catalogue_id", "quant", "device"];
/// Columns that it may have; what is empty or missing is llama.cpp's own default.
const OPTIONAL: [&str; 15] = [
    "engine",
    "ctx",
    "kv_type",
    "n_batch",
    "n_ubatch",
    "flash_attn",
    "n_gpu_layers",
    "n_seq",
    "kv_unified",
    "n_outputs",
    "n_gpu",
    "tensor_split",
    "moe_cpu",
    "kv_on_gpu",
    "swa_full",
];

/// Largest number that a column may hold: a context of a thousand million tokens.
const LARGEST: u64 = 1_000_000_000;

/// Where the columns stand.
#[derive(Debug)]
pub(super) struct Columns {
    header: Vec<String>,
}

/// What a row asks.
#[derive(Debug)]
pub(super) struct Question {
    /// `model_bytes`, `kv_bytes`, `compute_bytes` or `total`.
    pub kind: String,
    /// `file`, `gpu0`, `host` or `all`.
    pub device: String,
    /// Slug of the model.
    pub model: String,
    /// The run.
    pub settings: Settings,
}

impl Columns {
    /// The columns of a header.
    ///
    /// # Errors
    /// When one that has to be there is missing.
    pub fn of(header: &StringRecord) -> Result<Self> {
        let header: Vec<String> = header.iter().map(|name| name.trim().to_string()).collect();
        for required in REQUIRED {
            if header.iter().any(|name| name == required) {
                continue;
            }
            let unknown = header.iter().filter(|name| !OPTIONAL.contains(&name.as_str()));
            match nearest(required, unknown.map(String::as_str)) {
                Some(near) => bail!("line 1: the column `{required}` is missing; is `{near}` meant?"),
                None => bail!("line 1: the column `{required}` is missing"),
            }
        }
        Ok(Self { header })
    }

    /// The text of a column; empty where there is none.
    pub fn text<'r>(&self, row: &'r StringRecord, name: &str) -> &'r str {
        let at = self.header.iter().position(|column| column == name);
        at.and_then(|at| row.get(at)).unwrap_or_default().trim()
    }

    /// The number in a column; none where it is empty.
    ///
    /// # Errors
    /// When it holds something else.
    pub fn number(&self, row: &StringRecord, name: &str) -> Result<Option<u64>> {
        match self.text(row, name) {
            "" => Ok(None),
            text => match text.parse::<u64>() {
                Ok(number) if number <= LARGEST => Ok(Some(number)),
                _ => bail!("`{name}` is `{text}`, not a whole number between 0 and {LARGEST}"),
            },
        }
    }

    /// What a row asks; `Ok(Err(…))` where it is well formed but beyond what is modeled.
    ///
    /// # Errors
    /// When a value has no meaning.
    pub fn question(&self, row: &StringRecord) -> Result<Result<Question, String>> {
        let engine = self.text(row, "engine");
        if !matches!(engine, "" | "llama.cpp" | "ollama") {
            return Ok(Err(format!("the engine `{engine}` is not modeled")));
        }
        let Ok(quantization) = self.text(row, "quant").parse() else {
            return Ok(Err(format!("the quantization `{}` is not modeled", self.text(row, "quant"))));
        };
        // What only asks for weights needs no context.
        let mut settings = Settings::new(quantization, self.number(row, "ctx")?.unwrap_or(4096));
        let (k, v) = match self.text(row, "kv_type") {
            "" => ("f16", "f16"),
            text => text.split_once('/').unwrap_or((text, text)),
        };
        let (Ok(k), Ok(v)) = (k.trim().parse::<CacheType>(), v.trim().parse::<CacheType>()) else {
            return Ok(Err(format!("the cache type `{}` is not modeled", self.text(row, "kv_type"))));
        };
        (settings.cache_type_k, settings.cache_type_v) = (k, v);
        self.numbers(row, &mut settings)?;
        self.words(row, &mut settings)?;
        if engine == "ollama"
            && let Err(reason) = as_ollama_runs_it(self, row, &mut settings)
        {
            return Ok(Err(reason));
        }
        Ok(Ok(Question {
            kind: self.text(row, "kind").to_string(),
            device: self.text(row, "device").to_string(),
            model: self.text(row, "catalogue_id").to_string(),
            settings,
        }))
    }

    fn numbers(&self, row: &StringRecord, settings: &mut Settings) -> Result<()> {
        if let Some(number) = self.number(row, "n_batch")? {
            settings.n_batch = number;
        }
        if let Some(number) = self.number(row, "n_ubatch")? {
            settings.n_ubatch = number;
        }
        if let Some(number) = self.number(row, "n_seq")? {
            settings.sequences = number;
        }
        settings.n_outputs = self.number(row, "n_outputs")?;
        settings.gpu_layers = self.number(row, "n_gpu_layers")?;
        let gpus = self.number(row, "n_gpu")?.unwrap_or(1);
        settings.tensor_split = match self.text(row, "tensor_split") {
            "" => vec![1; usize::try_from(gpus.min(64))?],
            split => split
                .split([',', '/'])
                .map(|share| match share.trim().parse::<u64>() {
                    Ok(share) if share <= LARGEST => Ok(share),
                    _ => bail!("`tensor_split` is `{split}`, not whole numbers with commas between"),
                })
                .collect::<Result<_>>()?,
        };
        Ok(())
    }

    fn words(&self, row: &StringRecord, settings: &mut Settings) -> Result<()> {
        let flag = |name: &str| match self.text(row, name) {
            "" | "auto" => Ok(None),
            "1" | "true" | "on" => Ok(Some(true)),
            "0" | "false" | "off" => Ok(Some(false)),
            other => bail!("`{name}` is `{other}`, not 0 or 1"),
        };
        if flag("flash_attn")? == Some(false) {
            settings.flash_attention = FlashAttention::Off;
        }
        if flag("kv_unified")? == Some(true) {
            settings.cache_layout = CacheLayout::Unified;
        }
        if flag("kv_on_gpu")? == Some(false) {
            settings.cache_placement = CachePlacement::Host;
        }
        if flag("swa_full")? == Some(true) {
            settings.window_cache = WindowCache::Full;
        }
        settings.experts = match self.text(row, "moe_cpu") {
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
