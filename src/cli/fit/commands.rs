//! Commands that run a model with the estimated settings.
//!
//! Flags: `tools/server/README.md` of llama.cpp; `llm/llama_server.go`, `envconfig/config.go`
//! and `docs/modelfile.mdx` of Ollama; `vllm/engine/arg_utils.py`.

use kbgen_estimate::quantization::CacheType;
use kbgen_estimate::settings::{ExpertPlacement, FlashAttention, Settings};
use serde::Serialize;

use crate::cli::arguments::RunnerName;
use crate::cli::fit::llama_options;
use crate::cli::fit::python::Vllm;
use crate::cli::fit::request::{FitRequest, ModelSource};

/// Commands by program, each as a list of lines. Empty if a program lacks a required setting.
#[derive(Debug, Serialize)]
pub(super) struct Commands {
    pub llama_cpp: Vec<String>,
    /// Server with environment variables, Modelfile, model.
    pub ollama: Vec<String>,
    /// Reason why there is no command for Ollama.
    pub ollama_reason: Option<&'static str>,
    pub vllm: Vec<String>,
}

/// Returns the commands for `plan`, which is the requested settings or those that run on this machine.
pub(super) fn commands(request: &FitRequest<'_>, plan: &Settings, vllm: &Vllm) -> Commands {
    let ollama_reason = no_ollama(request, plan);
    let ollama = if ollama_reason.is_none() { ollama(request, plan) } else { Vec::new() };
    Commands {
        llama_cpp: vec![llama_server(request, plan)],
        ollama,
        ollama_reason,
        vllm: serve(request, vllm).into_iter().collect(),
    }
}

/// Returns the path of the model: of a page a name made from the last part of its name on the hub, or else from its slug.
fn file(request: &FitRequest<'_>, plan: &Settings) -> String {
    match &request.source {
        ModelSource::File(file) => file.path.display().to_string(),
        ModelSource::Checkpoint(found) => format!("{}-{}.gguf", found.title, plan.quantization),
        ModelSource::Page(page) => {
            let hub = page.data.hf_id.as_deref().and_then(|id| id.rsplit('/').next());
            format!("{}-{}.gguf", hub.unwrap_or(&page.head.id.slug), plan.quantization)
        }
    }
}

/// Quotes a word for a POSIX shell, if it needs quotes.
fn quoted(word: &str) -> String {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | '+' | ',' | ':' | '=');
    if word.chars().all(is_plain) { word.to_string() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn llama_server(request: &FitRequest<'_>, plan: &Settings) -> String {
    let mut words = vec![format!("llama-server -m {}", quoted(&file(request, plan)))];
    words.push(format!("-ngl {}", plan.gpu_layers.unwrap_or(999)));
    match plan.experts {
        ExpertPlacement::WithLayer => {}
        ExpertPlacement::FirstLayersOnCpu(layers) => words.push(format!("--n-cpu-moe {layers}")),
        // Only `--fit` selects last layers; there is no option for it.
        ExpertPlacement::LastLayersOnCpu(_) | ExpertPlacement::Cpu => words.push("--cpu-moe".to_string()),
    }
    if plan.tensor_split.len() > 1 {
        let shares: Vec<String> = plan.tensor_split.iter().map(u64::to_string).collect();
        words.push(format!("-ts {}", shares.join(",")));
    }
    words.push(format!("-c {} -np {}", plan.context, plan.sequences));
    if plan.sequences > 1 && request.runner != RunnerName::Ollama {
        words.push("--kv-unified".to_string());
    }
    words.extend(llama_options::words(plan));
    words.extend(request.additions.iter().map(|each| format!("{} {}", each.option(), quoted(&each.file))));
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
    } else if !request.additions.is_empty() {
        Some("no option for files beside the model")
    } else {
        llama_options::no_ollama(plan)
    }
}

/// Returns the Ollama commands. Batch size and layers are explicit, because Ollama would choose them by its own estimate.
fn ollama(request: &FitRequest<'_>, plan: &Settings) -> Vec<String> {
    let name = request.source.slug();
    let file = file(request, plan);
    let from = if file.contains('/') { file } else { format!("./{file}") };
    let flash = u8::from(plan.flash_attention == FlashAttention::On);
    let mut server = format!("OLLAMA_FLASH_ATTENTION={flash}");
    if plan.cache_type_k != CacheType::F16 {
        server.push_str(&format!(" OLLAMA_KV_CACHE_TYPE={}", plan.cache_type_k));
    }
    if plan.sequences > 1 {
        server.push_str(&format!(" OLLAMA_NUM_PARALLEL={}", plan.sequences));
    }
    let parameter = |name: &str, value: u64| format!("'PARAMETER {name} {value}'");
    vec![
        format!("{server} ollama serve"),
        format!(
            "printf '%s\\n' {} {} {} {} > Modelfile",
            quoted(&format!("FROM {from}")),
            parameter("num_ctx", request.context),
            parameter("num_batch", plan.n_ubatch),
            parameter("num_gpu", plan.gpu_layers.unwrap_or(999))
        ),
        format!("ollama create {name} -f Modelfile"),
        format!("ollama run {name}"),
    ]
}

fn serve(request: &FitRequest<'_>, vllm: &Vllm) -> Option<String> {
    let (weights, cache) = (vllm.weight_type?, vllm.cache_type?);
    if vllm.verdict == Some("no") {
        return None;
    }
    let id = match &request.source {
        ModelSource::Page(page) => page.data.hf_id.clone()?,
        ModelSource::Checkpoint(found) => quoted(&found.path.display().to_string()),
        ModelSource::File(_) => return None,
    };
    let mut command = match weights {
        _ if matches!(request.source, ModelSource::Checkpoint(_)) => format!("vllm serve {id}"),
        "AWQ" => format!("vllm serve AWQ-CHECKPOINT-OF/{}", id.rsplit('/').next().unwrap_or(&id)),
        _ => format!("vllm serve {id}"),
    };
    if weights == "FP8" {
        command.push_str(" --quantization fp8");
    }
    let share = request.vllm.utilization as f64 / 1000.0;
    command.push_str(&format!(" --max-model-len {} --gpu-memory-utilization {share}", request.context));
    if cache == "fp8" {
        command.push_str(" --kv-cache-dtype fp8");
    }
    match request.vllm.cards {
        1 => {}
        cards => command.push_str(&format!(" --tensor-parallel-size {cards}")),
    }
    Some(command)
}
