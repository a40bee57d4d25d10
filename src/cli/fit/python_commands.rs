//! Commands for vLLM, SGLang and MLX. Sources of the options: `vllm/engine/arg_utils.py`, `sglang/srt/arg_groups/fields/` of
//! sglang 0.5.23, `mlx_lm/convert.py` and `mlx_lm/server.py` of mlx-lm 0.32.2.

use crate::cli::fit::commands::Shell;
use crate::cli::fit::python::{Loader, Server};
use crate::cli::fit::request::{FitRequest, ModelSource};
use crate::cli::fit::verdict::FitVerdict;

/// Returns the repository of the model on Hugging Face, or the folder of its checkpoint.
fn checkpoint(request: &FitRequest<'_>) -> Option<String> {
    match &request.source {
        ModelSource::Page(page, named) => {
            let published = named.same_shape.map(|model| model.name.to_string());
            published.or_else(|| page.data.hf_id.clone())
        }
        ModelSource::Checkpoint(found) => Some(Shell::Posix.quoted(&found.path.display().to_string())),
        ModelSource::File(_) => None,
    }
}

/// Returns the name of a repository without its owner.
fn short_name(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

/// Returns the option that vLLM and SGLang need to quantize while loading.
fn quantization(weights: &str) -> &'static str {
    if weights == "FP8" { " --quantization fp8" } else { "" }
}

/// Returns the options of vLLM and SGLang for the cache, whose type `fp8` differs in name, and for several GPUs.
fn cache_and_cards(request: &FitRequest<'_>, cache: &str, fp8: &str) -> String {
    let mut options = String::new();
    if cache == "fp8" {
        options.push_str(&format!(" --kv-cache-dtype {fp8}"));
    }
    if request.vllm.cards > 1 {
        options.push_str(&format!(" --tensor-parallel-size {}", request.vllm.cards));
    }
    options
}

/// Returns the command that starts vLLM; none if the model does not fit.
pub(super) fn vllm(request: &FitRequest<'_>, vllm: &Server) -> Option<String> {
    let (weights, cache) = (vllm.weight_type?, vllm.cache_type?);
    if vllm.verdict == Some(FitVerdict::No) {
        return None;
    }
    let mut id = checkpoint(request)?;
    if weights == "AWQ" && !matches!(request.source, ModelSource::Checkpoint(_)) {
        id = format!("AWQ-CHECKPOINT-OF/{}", short_name(&id));
    }
    let share = request.vllm.utilization as f64 / 1000.0;
    Some(format!(
        "vllm serve {id}{} --max-model-len {} --gpu-memory-utilization {share}{}",
        quantization(weights),
        request.context,
        cache_and_cards(request, cache, "fp8")
    ))
}

/// Returns the command that starts SGLang; none if the model does not fit, or only as AWQ, whose repositories are
/// unknown.
pub(super) fn sglang(request: &FitRequest<'_>, sglang: &Server) -> Option<String> {
    let (weights, cache) = (sglang.weight_type?, sglang.cache_type?);
    if sglang.verdict == Some(FitVerdict::No) || weights == "AWQ" {
        return None;
    }
    Some(format!(
        "python -m sglang.launch_server --model-path {} --context-length {}{}{}",
        checkpoint(request)?,
        request.context,
        quantization(weights),
        cache_and_cards(request, cache, "fp8_e4m3")
    ))
}

/// Returns the commands that quantize the model for MLX and serve it; none if it does not fit.
pub(super) fn mlx(request: &FitRequest<'_>, mlx: &Loader) -> Vec<String> {
    let verdict = mlx.verdict.filter(|verdict| verdict.runs());
    let (Some(kind), Some(_), Some(id)) = (mlx.weight_type, verdict, checkpoint(request)) else {
        return Vec::new();
    };
    let Some(bits) = kind.strip_suffix("-bit") else {
        return vec![format!("mlx_lm.server --model {id}")];
    };
    let folder = format!("{}-{kind}", short_name(&id));
    vec![
        format!("mlx_lm.convert --hf-path {id} -q --q-bits {bits} --mlx-path {folder}"),
        format!("mlx_lm.server --model {folder}"),
    ]
}
