//! GGUF repositories on Hugging Face that programs download a model from.

use kbgen_estimate::parameters::parameter_count;
use kbgen_estimate::quantization::Quantization;

use crate::cli::fit::request::FitRequest;
use crate::site::published;

/// Quantizations in the repositories of a publisher.
struct Publisher {
    owner: &'static str,
    quants: &'static [Quantization],
    /// Number of parameters from which files are split in a way that programs cannot download.
    most_parameters: u64,
}

/// Publishers by preference. Each makes the same quantizations of every model that is published in 16 bits; ggml-org makes
/// those of models that are published in MXFP4.
const PUBLISHERS: [Publisher; 4] = {
    use Quantization::{
        IQ4_XS, MXFP4, Q2_K, Q3_K_L, Q3_K_M, Q3_K_S, Q4_K_M, Q4_K_S, Q5_K_M, Q5_K_S, Q6_K, Q8_0,
    };
    [
        Publisher {
            owner: "bartowski",
            quants: &[Q8_0, Q6_K, Q5_K_M, Q5_K_S, Q4_K_M, Q4_K_S, IQ4_XS, Q3_K_L, Q3_K_M, Q2_K],
            most_parameters: u64::MAX,
        },
        Publisher {
            owner: "unsloth",
            quants: &[Q8_0, Q6_K, Q5_K_M, Q4_K_M, Q3_K_M, Q2_K],
            most_parameters: u64::MAX,
        },
        Publisher { owner: "ggml-org", quants: &[MXFP4], most_parameters: u64::MAX },
        Publisher {
            owner: "mradermacher",
            quants: &[Q8_0, Q6_K, Q5_K_M, Q5_K_S, Q4_K_M, Q4_K_S, IQ4_XS, Q3_K_L, Q3_K_M, Q3_K_S, Q2_K],
            most_parameters: 40_000_000_000,
        },
    ]
};

/// Returns the repository and the name of the quantization in it, as `-hf` of llama.cpp takes them: `owner/name:Q4_K_M`.
pub(super) fn repository(request: &FitRequest<'_>, quantization: Quantization) -> Option<String> {
    let (page, named) = (request.source.page()?, request.source.named()?);
    if let Some(own) = &named.repository {
        let label = named.quant.as_ref().filter(|quant| quant.quantization == Some(quantization));
        let label = label.map_or(quantization.name(), |quant| quant.label.as_str());
        return Some(format!("{own}:{label}"));
    }
    let models = match named.same_shape {
        Some(model) => vec![model],
        None => published(page.data.hf_id.as_deref()?),
    };
    let known: Vec<String> = models.iter().flat_map(|model| model.repositories()).collect();
    let parameters = parameter_count(&request.model).held;
    let is_released = page.data.released_as.as_ref().is_some_and(|kind| kind.value == quantization.name());
    let makers = PUBLISHERS.iter().filter(|publisher| {
        publisher.quants.contains(&quantization)
            && parameters <= publisher.most_parameters
            && (publisher.owner == "ggml-org") == is_released
    });
    let of = |publisher: &Publisher| {
        known.iter().find(|name| name.split('/').next() == Some(publisher.owner)).cloned()
    };
    let found = makers.filter_map(of).next()?;
    Some(if is_released { found } else { format!("{found}:{quantization}") })
}
