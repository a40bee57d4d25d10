//! Commands that run a model with the estimated settings.
//!
//! Flags: `tools/server/README.md` of llama.cpp; `llm/llama_server.go`, `envconfig/config.go`
//! and `docs/modelfile.mdx` of Ollama; <https://huggingface.co/docs/hub/ollama>; <https://lmstudio.ai/docs/cli>;
//! `vllm/engine/arg_utils.py`.

use kbgen_estimate::quantization::CacheType;
use kbgen_estimate::settings::{ExpertPlacement, FlashAttention, Settings};
use serde::Serialize;

use crate::cli::arguments::RunnerName;
use crate::cli::fit::llama_options;
use crate::cli::fit::python::PythonEngines;
use crate::cli::fit::python_commands;
use crate::cli::fit::repositories::repository;
use crate::cli::fit::request::{FitRequest, ModelSource};
use crate::cli::fit::verdict::FitVerdict;
use crate::site::{DEFAULT_QUANT, NamedPage, format_count};

/// Commands by program, each as a list of lines. Empty if a program lacks a required setting, or nothing fits.
#[derive(Debug, Default, Serialize)]
pub(super) struct Commands {
    pub llama_cpp: Vec<String>,
    /// Server with environment variables, Modelfile, model.
    pub ollama: Vec<String>,
    /// Reason why there is no command for Ollama.
    pub ollama_reason: Option<&'static str>,
    /// Command that downloads and runs the model with Ollama's own settings.
    pub ollama_run: Option<String>,
    /// The same for PowerShell.
    pub powershell: PowerShellCommands,
    /// Command that downloads the model, and the settings to load it with.
    pub lm_studio: Vec<String>,
    pub vllm: Vec<String>,
    pub sglang: Vec<String>,
    pub mlx: Vec<String>,
}

/// Commands for PowerShell.
#[derive(Debug, Default, Serialize)]
pub(super) struct PowerShellCommands {
    pub llama_cpp: Vec<String>,
    pub ollama: Vec<String>,
}

/// Shell that a command is quoted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shell {
    Posix,
    PowerShell,
}

/// Returns the commands for `plan`, which has this verdict. None if it does not fit.
pub(super) fn commands(
    request: &FitRequest<'_>,
    plan: &Settings,
    engines: &PythonEngines,
    verdict: Option<FitVerdict>,
) -> Commands {
    let python = Commands {
        vllm: python_commands::vllm(request, &engines.vllm).into_iter().collect(),
        sglang: python_commands::sglang(request, &engines.sglang).into_iter().collect(),
        mlx: python_commands::mlx(request, &engines.mlx),
        ..Commands::default()
    };
    if verdict == Some(FitVerdict::No) {
        return python;
    }
    let model = Model::new(request, plan);
    let ollama_reason = no_ollama(request, plan);
    let ollama = |shell| match ollama_reason {
        None => ollama(request, plan, &model, shell),
        Some(_) => Vec::new(),
    };
    // llama-server downloads only the model itself
    let llama_cpp = |shell: Shell| {
        let mut lines: Vec<String> =
            request.additions.iter().flat_map(|each| &each.urls).map(|url| shell.download(url)).collect();
        lines.push(llama_server(request, plan, &model, shell));
        lines
    };
    Commands {
        llama_cpp: llama_cpp(Shell::Posix),
        ollama: ollama(Shell::Posix),
        ollama_run: model
            .of_ollama
            .as_ref()
            .filter(|_| {
                verdict == Some(FitVerdict::Fits) && is_whole(plan) && request.model.pooling.is_none()
            })
            .map(|name| format!("ollama run {name}")),
        ollama_reason,
        powershell: PowerShellCommands {
            llama_cpp: llama_cpp(Shell::PowerShell),
            ollama: ollama(Shell::PowerShell),
        },
        lm_studio: lm_studio(request, plan, &model),
        ..python
    }
}

/// Returns whether all layers are on one GPU, for one request.
fn is_whole(plan: &Settings) -> bool {
    plan.gpu_layers.is_none()
        && plan.experts == ExpertPlacement::WithLayer
        && plan.tensor_split.len() == 1
        && plan.sequences == 1
}

/// Where programs find a model.
struct Model {
    /// The path of its file.
    file: String,
    /// Its GGUF repository: `owner/name:Q4_K_M`.
    repository: Option<String>,
    /// Options of llama-server that download it, of a file on a server.
    download: Vec<String>,
    /// Its name for Ollama, which downloads it: a tag of the library, or a repository.
    of_ollama: Option<String>,
}

impl Model {
    fn new(request: &FitRequest<'_>, plan: &Settings) -> Self {
        let (page, named) = match (request.source.page(), request.source.named()) {
            (Some(page), Some(named)) => (page, named),
            _ => {
                let download = match &request.source {
                    ModelSource::File(file) => file.download.clone(),
                    _ => Vec::new(),
                };
                return Self { file: file(request, plan), repository: None, download, of_ollama: None };
            }
        };
        let repository = repository(request, plan.quantization).filter(|_| named.file.is_none());
        let usual = page.data.released_as.as_ref().map_or(DEFAULT_QUANT, |kind| kind.value.as_str());
        let is_own = named.same_shape.is_none() && named.repository.is_none() && named.file.is_none();
        let tag = page.data.ollama.clone().filter(|_| is_own && plan.quantization.name() == usual);
        let of_ollama = tag.or_else(|| repository.as_ref().map(|name| format!("hf.co/{name}")));
        Self { file: file(request, plan), repository, download: Vec::new(), of_ollama }
    }
}

/// Returns the path of the model: of a page the file that was named, or a name made from that on the hub or the slug.
fn file(request: &FitRequest<'_>, plan: &Settings) -> String {
    match &request.source {
        ModelSource::File(file) => file.path.display().to_string(),
        ModelSource::Checkpoint(found) => format!("{}-{}.gguf", found.title, plan.quantization),
        ModelSource::Page(_, NamedPage { file: Some(file), .. }) => file.clone(),
        ModelSource::Page(page, named) => {
            let published = named.same_shape.map(|model| model.name);
            let hub = published.or(page.data.hf_id.as_deref()).and_then(|id| id.rsplit('/').next());
            format!("{}-{}.gguf", hub.unwrap_or(&page.head.id.slug), plan.quantization)
        }
    }
}

impl Shell {
    /// Quotes a word, if it needs quotes. A comma separates list items in PowerShell.
    pub(super) fn quoted(self, word: &str) -> String {
        let is_plain = |c: char| {
            c.is_ascii_alphanumeric()
                || matches!(c, '.' | '-' | '_' | '/' | '+' | ':' | '=')
                || (self == Self::Posix && c == ',')
                || (self == Self::PowerShell && c == '\\')
        };
        match self {
            _ if word.chars().all(is_plain) => word.to_string(),
            Self::Posix => format!("'{}'", word.replace('\'', r"'\''")),
            Self::PowerShell => format!("'{}'", word.replace('\'', "''")),
        }
    }

    /// Formats a command that downloads a file. `curl` without `.exe` is another command in PowerShell 5.
    fn download(self, url: &str) -> String {
        let program = if self == Self::Posix { "curl" } else { "curl.exe" };
        format!("{program} -fLO {}", self.quoted(url))
    }

    /// Formats a command with environment variables.
    fn with_variables(self, variables: &[(&str, String)], command: &str) -> String {
        let assigned = variables.iter().map(|(name, value)| match self {
            Self::Posix => format!("{name}={value} "),
            Self::PowerShell => format!("$env:{name}='{value}'; "),
        });
        assigned.chain([command.to_string()]).collect()
    }

    /// Formats a command that writes lines to a file.
    fn write_lines(self, lines: &[String], file: &str) -> String {
        match self {
            Self::Posix => {
                let lines: Vec<String> = lines.iter().map(|line| self.quoted(line)).collect();
                format!("printf '%s\\n' {} > {file}", lines.join(" "))
            }
            Self::PowerShell => {
                let lines: Vec<String> =
                    lines.iter().map(|line| format!("'{}'", line.replace('\'', "''"))).collect();
                format!("Set-Content {file} {}", lines.join(", "))
            }
        }
    }
}

fn llama_server(request: &FitRequest<'_>, plan: &Settings, model: &Model, shell: Shell) -> String {
    let mut words = match &model.repository {
        _ if !model.download.is_empty() => {
            let words: Vec<String> = model.download.iter().map(|word| shell.quoted(word)).collect();
            vec![format!("llama-server {}", words.join(" "))]
        }
        // the projector of a vision model would take more memory
        Some(name) => vec![format!("llama-server -hf {name} --no-mmproj")],
        None => vec![format!("llama-server -m {}", shell.quoted(&model.file))],
    };
    words.push(format!("-ngl {}", plan.gpu_layers.unwrap_or(999)));
    match plan.experts {
        ExpertPlacement::WithLayer => {}
        ExpertPlacement::FirstLayersOnCpu(layers) => words.push(format!("--n-cpu-moe {layers}")),
        // Only `--fit` selects last layers; there is no option for it.
        ExpertPlacement::LastLayersOnCpu(_) | ExpertPlacement::Cpu => words.push("--cpu-moe".to_string()),
    }
    if plan.tensor_split.len() > 1 {
        let shares: Vec<String> = plan.tensor_split.iter().map(u64::to_string).collect();
        words.push(format!("-ts {}", shell.quoted(&shares.join(","))));
    }
    words.push(format!("-c {} -np {}", plan.context, plan.sequences));
    if request.model.pooling.is_some() {
        words.push("--embeddings".to_string());
    }
    if plan.sequences > 1 && request.runner != RunnerName::Ollama {
        words.push("--kv-unified".to_string());
    }
    words.extend(llama_options::words(&request.model, plan));
    let files = request.additions.iter().filter_map(|each| Some((each.option()?, &each.file)));
    words.extend(files.map(|(option, file)| format!("{option} {}", shell.quoted(file))));
    let (k, v) = (plan.cache_type_k, plan.cache_type_v);
    if (k, v) != (CacheType::F16, CacheType::F16) {
        words.push(format!("-ctk {k} -ctv {v}"));
    }
    words.join(" ")
}

fn no_ollama(request: &FitRequest<'_>, plan: &Settings) -> Option<&'static str> {
    let known = [CacheType::F16, CacheType::Q8_0, CacheType::Q4_0];
    if plan.cache_type_k != plan.cache_type_v {
        Some("K and V must have the same cache type")
    } else if !known.contains(&plan.cache_type_k) {
        Some("the cache type must be f16, q8_0 or q4_0")
    } else if plan.experts != ExpertPlacement::WithLayer {
        Some("no setting for experts in RAM")
    } else if plan.tensor_split != request.machine.split() {
        Some("no setting for the split across devices")
    } else if plan.sequences > 1 && request.runner != RunnerName::Ollama {
        Some("slots do not share a cache; pass --runner ollama")
    } else if request.additions.iter().any(|each| each.option().is_some()) {
        Some("no option for files beside the model")
    } else {
        llama_options::no_ollama(plan)
    }
}

/// Returns the Ollama commands. Batch size and layers are explicit, because Ollama would choose them by its own estimate.
fn ollama(request: &FitRequest<'_>, plan: &Settings, model: &Model, shell: Shell) -> Vec<String> {
    let name = request.source.slug();
    let from = match &model.of_ollama {
        Some(name) => name.clone(),
        None if model.file.contains(std::path::is_separator) => model.file.clone(),
        None => format!("./{}", model.file),
    };
    let flash = u8::from(plan.flash_attention == FlashAttention::On);
    let mut variables = vec![("OLLAMA_FLASH_ATTENTION", flash.to_string())];
    if plan.cache_type_k != CacheType::F16 {
        variables.push(("OLLAMA_KV_CACHE_TYPE", plan.cache_type_k.to_string()));
    }
    if plan.sequences > 1 {
        variables.push(("OLLAMA_NUM_PARALLEL", plan.sequences.to_string()));
    }
    let lines = [
        format!("FROM {from}"),
        format!("PARAMETER num_ctx {}", request.context),
        format!("PARAMETER num_batch {}", plan.n_ubatch),
        format!("PARAMETER num_gpu {}", plan.gpu_layers.unwrap_or(999)),
    ];
    let mut commands = vec![
        shell.with_variables(&variables, "ollama serve"),
        shell.write_lines(&lines, "Modelfile"),
        format!("ollama create {name} -f Modelfile"),
    ];
    if request.model.pooling.is_none() {
        commands.push(format!("ollama run {name}"));
    }
    commands
}

/// Returns the command that downloads or imports the model in LM Studio, and the settings to load it with. It has no
/// setting for the split, for slots or for experts of some layers.
fn lm_studio(request: &FitRequest<'_>, plan: &Settings, model: &Model) -> Vec<String> {
    let is_covered = plan.tensor_split.len() == 1
        && plan.sequences == 1
        && plan.experts == ExpertPlacement::WithLayer
        && request.runner != RunnerName::Ollama;
    if !is_covered {
        return Vec::new();
    }
    let get = match &model.repository {
        Some(name) => {
            let (owned, quant) = name.split_once(':').unwrap_or((name, ""));
            let quant = if quant.is_empty() { String::new() } else { format!("@{}", quant.to_lowercase()) };
            format!("lms get https://huggingface.co/{owned}{quant}")
        }
        None => format!("lms import {}", Shell::Posix.quoted(&model.file)),
    };
    let layers = request.model.layers.len() as u64;
    let cache = match (plan.cache_type_k, plan.cache_type_v) {
        (CacheType::F16, CacheType::F16) => String::new(),
        (k, v) => format!(", K cache {k}, V cache {v}"),
    };
    vec![
        get,
        format!(
            "context length {}, GPU offload {} of {layers} layers, flash attention on{cache}",
            format_count(request.context),
            plan.gpu_layers.unwrap_or(layers).min(layers)
        ),
    ]
}
