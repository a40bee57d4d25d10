//! What was asked, read from the command line: a model, a machine, settings.

use anyhow::{Result, anyhow, bail};
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::estimator::check;
use kbgen_estimate::quantization::{CacheType, Quantization};
use kbgen_estimate::settings::{CacheLayout, ExpertPlacement, Settings};

use crate::cli::arguments::{FitOptions, RunnerName};
use crate::cli::fit::machine::{Machine, named};
use crate::diag::nearest;
use crate::fit;
use crate::site::kinds::ModelData;
use crate::site::{DEFAULT_CTX, Kind, Names, Page, Site, tokens};

/// Most slots that llama.cpp serves (`LLAMA_MAX_SEQ`).
const MOST_SLOTS: u64 = 256;

/// A question that has an answer.
pub(super) struct Question<'s> {
    /// The model's page.
    pub page: &'s Page<ModelData>,
    /// The model.
    pub model: Architecture,
    /// The devices.
    pub machine: Machine,
    /// The program that runs it.
    pub runner: RunnerName,
    /// Context of one request, in tokens.
    pub context: u64,
    /// The settings, but for the quantization where none was asked for.
    pub settings: Settings,
    /// The quantization that was asked for.
    pub quant: Option<Quantization>,
    /// Quantizations to choose from, the widest first.
    pub candidates: Vec<Quantization>,
}

impl<'s> Question<'s> {
    /// Reads the options.
    ///
    /// # Errors
    /// The first that cannot be, with what could.
    pub fn new(site: &'s Site, options: &FitOptions) -> Result<Self> {
        let slug = named(&Names::new(site, Kind::Model), Kind::Model, &options.model)?;
        let page = site.models.iter().find(|model| model.head.id.slug == slug).expect("the name was found");
        let model = fit::architecture(&page.data.architecture)
            .map_err(|fault| anyhow!("`{slug}`: {}", fault.message))?
            .ok_or_else(|| anyhow!("`{slug}` is not covered: its hyperparameters are not complete"))?;
        let title = &page.head.title.value;
        let machine = Machine::new(site, options)?;
        let candidates = candidates(site, &page.data, &model);
        let quant = options.quant.as_deref().map(quantization).transpose()?;
        let context = match &options.ctx {
            None => DEFAULT_CTX.min(model.max_context),
            Some(written) => context(written, title, model.max_context)?,
        };
        let slots = count("--slots", options.slots.as_deref(), 1, MOST_SLOTS)?.unwrap_or(1);
        let any = quant.or(candidates.first().copied()).unwrap_or(Quantization::F16);
        let mut settings = for_runner(Settings::new(any, context), options.runner, slots);
        (settings.cache_type_k, settings.cache_type_v) = cache_types(&options.kv_type)?;
        settings.tensor_split = machine.split();
        check(&model, &settings).map_err(|reason| {
            anyhow!("{title} with a `{}` cache is not possible: {}", options.kv_type, reason.0)
        })?;
        if options.runner == RunnerName::Ollama && slots > 1 && model.family.served_alone_by_ollama {
            bail!("Ollama serves one request at a time with {title}: `--slots` has to be 1");
        }
        let layers = model.layers.len() as u64;
        settings.gpu_layers = count("--layers", options.layers.as_deref(), 0, layers + 1)?;
        settings.experts = experts(options, title, &model)?;
        Ok(Self { page, model, machine, runner: options.runner, context, settings, quant, candidates })
    }
}

impl Question<'_> {
    /// The model with the context of all slots: Ollama's have a whole one each.
    pub fn model_of_all_slots(&self) -> Architecture {
        Architecture { max_context: self.model.max_context * self.contexts(), ..self.model.clone() }
    }

    /// Contexts of one request in that of the settings.
    pub fn contexts(&self) -> u64 {
        match self.runner {
            RunnerName::Ollama => self.settings.sequences,
            RunnerName::LlamaServer | RunnerName::Library => 1,
        }
    }
}

/// Slots, cache and logits as the program sets them (`tools/server/server.cpp` of llama.cpp;
/// `llm/llama_server.go` of Ollama, whose smallest batch is asked for).
fn for_runner(settings: Settings, runner: RunnerName, slots: u64) -> Settings {
    let settings = Settings { sequences: slots, n_outputs: Some(slots), ..settings };
    match runner {
        RunnerName::LlamaServer => Settings { cache_layout: CacheLayout::Unified, ..settings },
        RunnerName::Library => Settings { cache_layout: CacheLayout::Unified, n_outputs: None, ..settings },
        RunnerName::Ollama => {
            Settings { context: settings.context * slots, n_batch: 512, n_ubatch: 512, ..settings }
        }
    }
}

/// The quantizations that files of the model exist in and the site has pages for, the widest first.
fn candidates(site: &Site, data: &ModelData, model: &Architecture) -> Vec<Quantization> {
    let has_page =
        |quant: &Quantization| site.quants.iter().any(|page| page.data.gguf_type.value.parse() == Ok(*quant));
    let known: Vec<Quantization> =
        Quantization::ALL.iter().copied().filter(has_page).filter(|quant| model.comes_in(*quant)).collect();
    fit::candidates(data, &known)
}

fn quantization(name: &str) -> Result<Quantization> {
    name.parse().map_err(|_| {
        let known = Quantization::ALL.iter().map(|quant| quant.name());
        unknown("quantization", name, known)
    })
}

fn cache_types(name: &str) -> Result<(CacheType, CacheType)> {
    let (k, v) = name.split_once('/').unwrap_or((name, name));
    let one = |name: &str| {
        let known = CacheType::ALL.iter().map(|kind| kind.name());
        name.trim().parse::<CacheType>().map_err(|_| unknown("cache type", name, known))
    };
    Ok((one(k)?, one(v)?))
}

fn unknown(what: &str, name: &str, known: impl Iterator<Item = &'static str> + Clone) -> anyhow::Error {
    let beginning = known.clone().find(|known| !name.is_empty() && known.starts_with(&name.to_lowercase()));
    match beginning.or_else(|| nearest(name, known.clone())) {
        Some(near) => anyhow!("there is no {what} `{name}`: did you mean `{near}`?"),
        None => anyhow!("there is no {what} `{name}`: known are {}", known.collect::<Vec<_>>().join(", ")),
    }
}

/// Parses a context such as `32768`, `32,768` or `32K`.
fn context(written: &str, model: &str, most: u64) -> Result<u64> {
    let plain: String = written.chars().filter(|c| !matches!(c, '_' | ' ' | ',' | '\u{202f}')).collect();
    let tokens_asked = match plain.strip_suffix(['k', 'K']) {
        Some(thousands) => thousands.parse::<u64>().ok().and_then(|count| count.checked_mul(1024)),
        None => plain.parse::<u64>().ok(),
    };
    match tokens_asked {
        Some(asked) if (1..=most).contains(&asked) => Ok(asked),
        _ => bail!(
            "a context of `{written}` is not possible: {model} takes 1 to {} tokens, written as 8192 or 8K",
            tokens(most),
        ),
    }
}

/// A whole number between two ends.
fn count(flag: &str, written: Option<&str>, least: u64, most: u64) -> Result<Option<u64>> {
    let Some(written) = written else { return Ok(None) };
    match written.trim().parse::<u64>() {
        Ok(count) if (least..=most).contains(&count) => Ok(Some(count)),
        _ => bail!("`{flag} {written}` is not possible: it takes a whole number from {least} to {most}"),
    }
}

fn experts(options: &FitOptions, title: &str, model: &Architecture) -> Result<ExpertPlacement> {
    let layers = model.layers.len() as u64;
    let first = count("--n-cpu-moe", options.n_cpu_moe.as_deref(), 0, layers)?;
    if model.experts.is_none() && (options.cpu_moe || first.is_some()) {
        bail!("{title} has no experts that could stay in RAM: `--layers N` moves whole layers");
    }
    Ok(match first {
        _ if options.cpu_moe => ExpertPlacement::Cpu,
        None | Some(0) => ExpertPlacement::WithLayer,
        Some(layers) => ExpertPlacement::FirstLayersOnCpu(layers),
    })
}
