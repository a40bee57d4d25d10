//! Request of `kbgen fit` from the command line: model, machine, settings.

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::estimator::check;
use kbgen_estimate::planner::Planner;
use kbgen_estimate::quantization::{CacheType, Quantization};
use kbgen_estimate::settings::{CacheLayout, ExpertPlacement, Settings};

use crate::cli::arguments::{FitOptions, RunnerName};
use crate::cli::fit::additions::{Addition, additions};
use crate::cli::fit::checkpoint_dir::{CheckpointModel, folder_of};
use crate::cli::fit::further::further_model;
use crate::cli::fit::llama_options;
use crate::cli::fit::machine::Machine;
use crate::cli::fit::model_file::{GgufModel, is_file, is_path};
use crate::cli::fit::remote::{Fetched, FileKind, fetch, is_address};
use crate::cli::fit::vllm_options::VllmRequest;
use crate::diag::nearest;
use crate::fit;
use crate::site::kinds::ModelData;
use crate::site::{DEFAULT_CTX, DEFAULT_QUANT, Kind, NamedPage, Names, Page, Resolved, Site, format_count};

/// Maximum number of slots of llama.cpp (`LLAMA_MAX_SEQ`).
const MAX_SLOTS: u64 = 256;

/// Origin of a model.
#[derive(Debug)]
pub(super) enum ModelSource<'s> {
    /// A page of the site, and what else its name said.
    Page(&'s Page<ModelData>, NamedPage),
    /// A GGUF file.
    File(Box<GgufModel>),
    /// A checkpoint of Hugging Face.
    Checkpoint(Box<CheckpointModel>),
}

/// Validated request.
pub(super) struct FitRequest<'s> {
    pub source: ModelSource<'s>,
    /// Architecture of the model.
    pub model: Architecture,
    pub machine: Machine,
    pub runner: RunnerName,
    /// Context of one slot, in tokens.
    pub context: u64,
    /// Settings. Their quantization is a placeholder unless one was requested.
    pub settings: Settings,
    /// Requested quantization.
    pub quant: Option<Quantization>,
    /// Quantizations to choose from, largest first.
    pub candidates: Vec<Quantization>,
    /// Files loaded beside the model, on the first device.
    pub additions: Vec<Addition>,
    pub vllm: VllmRequest,
}

impl<'s> FitRequest<'s> {
    /// Validates the options.
    ///
    /// # Errors
    /// For the first invalid option.
    pub fn new(site: &'s Site, options: &FitOptions) -> Result<Self> {
        let Some((first, further)) = options.models.split_first() else { bail!("no model") };
        if options.fetch && !options.models.iter().chain(options.files.all()).any(|file| is_address(file)) {
            bail!("`--fetch` needs an address: hf:OWNER/NAME, hf:OWNER/NAME:FILE or https://…");
        }
        let source = ModelSource::new(site, first, options.fetch)?;
        let model = source.architecture()?;
        let title = source.title();
        let machine = Machine::new(site, options)?;
        let (candidates, quant) = match &source {
            ModelSource::Page(page, named) => {
                let quant = match &options.quant {
                    Some(written) => Some(quantization(written)?),
                    None => quant_of(named)?.or_else(|| quant_of_tag(&page.data, first)),
                };
                (candidates_of(site, &source, &model), quant)
            }
            ModelSource::File(_) if options.quant.is_some() => {
                bail!("`--quant` does not apply to a file, whose tensors have their types");
            }
            // The planner of a file ignores it.
            ModelSource::File(_) => (Vec::new(), Some(Quantization::F16)),
            ModelSource::Checkpoint(_) => {
                let quant = options.quant.as_deref().map(quantization).transpose()?;
                (candidates_of(site, &source, &model), quant)
            }
        };
        let context = match &options.ctx {
            None => DEFAULT_CTX.min(model.max_context),
            Some(written) => context(written, title, model.max_context)?,
        };
        let slots = count("--slots", options.slots.as_deref(), 1, MAX_SLOTS)?.unwrap_or(1);
        let any = quant.or(candidates.first().copied()).unwrap_or(Quantization::F16);
        let mut settings = for_runner(Settings::new(any, context), options.runner, slots);
        (settings.cache_type_k, settings.cache_type_v) = cache_types(&options.kv_type)?;
        settings.tensor_split = machine.split();
        llama_options::apply(&options.llama, options.runner, machine.cards.len(), &mut settings)?;
        check(&model, &settings).map_err(|reason| {
            let (k, v) = (settings.cache_type_k, settings.cache_type_v);
            let cache = if k == v { k.to_string() } else { format!("{k}/{v}") };
            anyhow!("{title} does not support a `{cache}` cache: {}", reason.0)
        })?;
        if options.runner == RunnerName::Ollama && slots > 1 && model.family.served_alone_by_ollama {
            bail!("Ollama serves one request at a time with {title}; set `--slots` to 1");
        }
        let additions = additions(&options.files, &settings, options.fetch)?;
        let vllm = VllmRequest::new(&options.vllm, machine.cards.len())?;
        settings.gpu_layers = gpu_layers(options.layers.as_deref(), &model)?;
        settings.experts = experts(options, title, &model)?;
        let runner = options.runner;
        let mut request =
            Self { source, model, machine, runner, context, settings, quant, candidates, additions, vllm };
        for (place, argument) in further.iter().enumerate() {
            let source = ModelSource::new(site, argument, options.fetch)?;
            let addition = further_model(site, source, &request, place)?;
            request.additions.push(addition);
        }
        request.machine.reserve(request.additions.iter().map(Addition::total).sum())?;
        if options.llama.tensor_split.is_none() {
            request.settings.tensor_split = request.machine.split();
        }
        Ok(request)
    }
}

impl<'s> ModelSource<'s> {
    fn new(site: &'s Site, argument: &str, is_fetching: bool) -> Result<Self> {
        if is_fetching && is_address(argument) {
            return match fetch(argument, FileKind::Model)? {
                Fetched::File { path, header, download, .. } => {
                    let name = PathBuf::from(path.file_name().unwrap_or_default());
                    Ok(Self::File(Box::new(GgufModel { download, ..GgufModel::new(name, &header)? })))
                }
                Fetched::Checkpoint { repository, fields, checkpoint } => {
                    let title = repository.rsplit('/').next().unwrap_or(&repository).to_string();
                    let model =
                        CheckpointModel::new(PathBuf::from(repository), title, (*fields, checkpoint))?;
                    Ok(Self::Checkpoint(Box::new(model)))
                }
            };
        }
        if let Some(folder) = folder_of(argument) {
            return Ok(Self::Checkpoint(Box::new(CheckpointModel::read(&folder)?)));
        }
        let file = || Ok(Self::File(Box::new(GgufModel::read(argument)?)));
        if is_file(argument) {
            return file();
        }
        match Names::new(site, Kind::Model).resolve(argument) {
            Resolved::Unknown(_) if is_address(argument) => bail!(
                "`{argument}` is not in the catalog. To read its header from the server, which needs the network, pass \
                 `--fetch`: kbgen fit --fetch {argument}"
            ),
            Resolved::Unknown(_) if is_path(argument) => file(),
            resolved => {
                let is_unknown = matches!(resolved, Resolved::Unknown(_));
                let named = resolved.only(Kind::Model, argument).map_err(|message| match is_unknown {
                    true => anyhow!("{message}; for another model, pass its file: kbgen fit FILE.gguf"),
                    false => anyhow!(message),
                })?;
                let page = site.models.iter().find(|model| model.head.id.slug == named.slug);
                Ok(Self::Page(page.expect("the name was found"), named))
            }
        }
    }

    /// Returns the architecture.
    ///
    /// # Errors
    /// If the page does not describe it completely.
    pub fn architecture(&self) -> Result<Architecture> {
        match self {
            Self::Page(page, _) => {
                let slug = &page.head.id.slug;
                fit::architecture(&page.data.architecture)
                    .map_err(|fault| anyhow!("`{slug}`: {}", fault.message))?
                    .ok_or_else(|| anyhow!("`{slug}` is not covered; its hyperparameters are incomplete"))
            }
            Self::File(file) => Ok(file.model.architecture.clone()),
            Self::Checkpoint(found) => Ok(found.architecture.clone()),
        }
    }

    /// Creates a planner. `model` is the architecture, perhaps with a longer context.
    pub fn planner<'m>(&self, model: &'m Architecture) -> Planner<'m> {
        match self {
            Self::Checkpoint(found) if found.unknown.is_some() => Planner::new(model).as_stand_in(),
            Self::Page(..) | Self::Checkpoint(_) => Planner::new(model),
            Self::File(file) => Planner::of_file(model, &file.model),
        }
    }

    /// Returns the page, unless the model is from a file.
    pub fn page(&self) -> Option<&'s Page<ModelData>> {
        match self {
            Self::Page(page, _) => Some(page),
            Self::File(_) | Self::Checkpoint(_) => None,
        }
    }

    /// Returns what the name of the model said, unless the model is from a file.
    pub fn named(&self) -> Option<&NamedPage> {
        match self {
            Self::Page(_, named) => Some(named),
            Self::File(_) | Self::Checkpoint(_) => None,
        }
    }

    /// Returns the title of the page, or the name in the file.
    pub fn title(&self) -> &str {
        match self {
            Self::Page(page, _) => &page.head.title.value,
            Self::File(file) => &file.title,
            Self::Checkpoint(found) => &found.title,
        }
    }

    /// Returns the slug of the page, or a name made from that of the file.
    pub fn slug(&self) -> String {
        match self {
            Self::Page(page, _) => page.head.id.slug.clone(),
            Self::File(file) => file.slug(),
            Self::Checkpoint(found) => found.slug(),
        }
    }

    /// Returns the architecture of the file, if it is unknown.
    pub fn unknown_architecture(&self) -> Option<&str> {
        match self {
            Self::Page(..) => None,
            Self::File(file) => file.model.unknown_architecture.as_deref(),
            Self::Checkpoint(found) => found.unknown.as_deref(),
        }
    }

    /// Returns the name of a quantization, or that of the file.
    pub fn quant_name(&self, quantization: Quantization) -> String {
        match self {
            Self::Page(..) | Self::Checkpoint(_) => quantization.name().to_string(),
            Self::File(file) => file.quant.clone(),
        }
    }
}

impl FitRequest<'_> {
    /// Returns the model with the context of all slots. Ollama gives each slot a full context.
    pub fn model_of_all_slots(&self) -> Architecture {
        Architecture { max_context: self.model.max_context * self.contexts(), ..self.model.clone() }
    }

    /// Returns the mixture in the name of the model that this quantization replaces.
    pub fn mixture(&self, quantization: Quantization) -> Option<&str> {
        let quant = self.source.named()?.quant.as_ref()?;
        (quant.is_bound && quant.quantization == Some(quantization)).then_some(quant.label.as_str())
    }

    /// Returns how many contexts of one slot the settings contain.
    pub fn contexts(&self) -> u64 {
        match self.runner {
            RunnerName::Ollama => self.settings.sequences,
            RunnerName::LlamaServer | RunnerName::Library => 1,
        }
    }
}

/// Applies the defaults of the program for slots, cache and logits (`tools/server/server.cpp` of llama.cpp,
/// `llm/llama_server.go` of Ollama with its smallest batch size).
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

/// Returns the quantizations in which the model is available and that have a page, largest first. None for a file.
pub(super) fn candidates_of(
    site: &Site,
    source: &ModelSource<'_>,
    model: &Architecture,
) -> Vec<Quantization> {
    let has_page =
        |quant: &Quantization| site.quants.iter().any(|page| page.data.gguf_type.value.parse() == Ok(*quant));
    let all = Quantization::ALL.iter().copied();
    let suitable: Vec<_> = all.filter(has_page).filter(|quant| model.comes_in(*quant)).collect();
    match source {
        ModelSource::Page(page, _) => fit::candidates(&page.data, &suitable),
        ModelSource::Checkpoint(_) => suitable,
        ModelSource::File(_) => Vec::new(),
    }
}

/// Returns the quantization that the name of a model states.
///
/// # Errors
/// If it is not covered.
pub(super) fn quant_of(named: &NamedPage) -> Result<Option<Quantization>> {
    let Some(quant) = &named.quant else { return Ok(None) };
    match quant.quantization {
        Some(known) => Ok(Some(known)),
        None => bail!("`{}` is not covered without the file; pass `--quant`, or the file", quant.label),
    }
}

/// Returns the quantization of the files of an Ollama tag; `None` for another name.
fn quant_of_tag(data: &ModelData, name: &str) -> Option<Quantization> {
    data.ollama.as_deref().filter(|tag| tag.eq_ignore_ascii_case(name.trim()))?;
    data.released_as.as_ref().map_or(DEFAULT_QUANT, |kind| kind.value.as_str()).parse().ok()
}

fn quantization(name: &str) -> Result<Quantization> {
    name.parse().map_err(|_| {
        let known = Quantization::ALL.iter().map(|quant| quant.name());
        unknown("quantization", name, known)
    })
}

fn cache_types(name: &str) -> Result<(CacheType, CacheType)> {
    let (k, v) = name.split_once('/').unwrap_or((name, name));
    Ok((cache_type(k)?, cache_type(v)?))
}

/// Parses a cache type.
pub(super) fn cache_type(name: &str) -> Result<CacheType> {
    let known = CacheType::ALL.iter().map(|kind| kind.name());
    name.trim().parse().map_err(|_| unknown("cache type", name, known))
}

fn unknown(what: &str, name: &str, known: impl Iterator<Item = &'static str> + Clone) -> anyhow::Error {
    let beginning = known.clone().find(|known| !name.is_empty() && known.starts_with(&name.to_lowercase()));
    match beginning.or_else(|| nearest(name, known.clone())) {
        Some(near) => anyhow!("no {what} `{name}`; did you mean `{near}`?"),
        None => anyhow!("no {what} `{name}`; expected one of {}", known.collect::<Vec<_>>().join(", ")),
    }
}

/// Parses a context size such as `32768`, `32,768` or `32k`. Separators are between groups of three digits.
fn context(written: &str, model: &str, most: u64) -> Result<u64> {
    let (digits, unit) = match written.trim().strip_suffix(['k', 'K']) {
        Some(thousands) => (thousands.trim_end(), 1024),
        None => (written.trim(), 1),
    };
    let is_grouped = digits.split(['_', ' ', ',']).skip(1).all(|group| group.len() == 3);
    let plain: String = digits.chars().filter(|c| !matches!(c, '_' | ' ' | ',')).collect();
    let count = plain.parse::<u64>().ok().filter(|_| is_grouped);
    let tokens_asked = count.and_then(|count| count.checked_mul(unit));
    match tokens_asked {
        Some(asked) if (1..=most).contains(&asked) => Ok(asked),
        _ => bail!(
            "invalid context `{written}`; {model} supports 1 to {} tokens, written as 8192 or 8k",
            format_count(most),
        ),
    }
}

/// Parses a whole number in a range.
pub(super) fn count(flag: &str, written: Option<&str>, least: u64, most: u64) -> Result<Option<u64>> {
    let Some(written) = written else { return Ok(None) };
    match written.trim().parse::<u64>() {
        Ok(count) if (least..=most).contains(&count) => Ok(Some(count)),
        _ => bail!("invalid value `{flag} {written}`; expected a whole number from {least} to {most}"),
    }
}

/// Reads the number of layers on the GPU; `None` if it has all of them. As in llama.cpp, a number above that of the model
/// means all.
fn gpu_layers(written: Option<&str>, model: &Architecture) -> Result<Option<u64>> {
    let places = model.layers.len() as u64 + 1;
    let Some(written) = written.map(str::trim).filter(|written| *written != "all") else { return Ok(None) };
    match written.parse::<u64>() {
        Ok(layers) => Ok((layers < places).then_some(layers)),
        Err(_) => {
            bail!("invalid value `--layers {written}`; expected `all`, or a whole number up to {places}")
        }
    }
}

/// Reads which experts are in RAM. As in llama.cpp, `--n-cpu-moe` may be above the number of layers of the model.
fn experts(options: &FitOptions, title: &str, model: &Architecture) -> Result<ExpertPlacement> {
    let layers = model.layers.len() as u64;
    let first = count("--n-cpu-moe", options.n_cpu_moe.as_deref(), 0, u64::from(u32::MAX))?;
    if model.experts.is_none() && (options.cpu_moe || first.is_some()) {
        bail!("{title} has no experts to keep in RAM; use `--layers N` to move whole layers");
    }
    Ok(match first {
        _ if options.cpu_moe => ExpertPlacement::Cpu,
        None | Some(0) => ExpertPlacement::WithLayer,
        Some(first) => ExpertPlacement::FirstLayersOnCpu(first.min(layers)),
    })
}
