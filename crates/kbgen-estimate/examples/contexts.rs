//! Prints what Llama 3.2 1B needs on one GPU as the context grows.
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;

use kbgen_estimate::estimator::estimate;
use kbgen_estimate::fields::ArchitectureFields;
use kbgen_estimate::placement::Device;
use kbgen_estimate::quantization::Quantization;
use kbgen_estimate::settings::Settings;

fn main() -> Result<(), Box<dyn Error>> {
    let model = ArchitectureFields {
        name: "llama".into(),
        layers: "F16".into(),
        hidden: 2048,
        heads: 32,
        kv_heads: 8,
        head_dim: 64,
        ffn: 8192,
        vocab: 128_256,
        tied: true,
        max_ctx: 131_072,
        ..ArchitectureFields::default()
    };
    let model = model.build()?;
    println!("{:>8}  {:>10}  {:>10}  {:>10}", "context", "weights", "KV cache", "compute");
    for context in [4_096, 8_192, 32_768, 131_072] {
        let need = estimate(&model, &Settings::new(Quantization::Q4_K_M, context))?;
        let gpu = need.device(Device::Gpu(0)).ok_or("no GPU in the estimate")?;
        let [weights, cache, compute] =
            [&gpu.weights, &gpu.cache, &gpu.compute].map(|part| part.bytes.to_string());
        println!("{context:>8}  {weights:>10}  {cache:>10}  {compute:>10}");
    }
    Ok(())
}
