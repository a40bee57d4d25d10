//! Code blocks in six languages.

use super::words::{Dice, name};

/// Kind of code blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Commands repeat from page to page, as they do in a knowledge base.
    Repeated,
    /// No two blocks are the same.
    Distinct,
    /// Like `Repeated`, without a language.
    Plain,
}

const MODELS: &[&str] = &[
    "llama-3.1-8b",
    "llama-3.3-70b",
    "qwen3-8b",
    "qwen3-30b-a3b",
    "gemma-3-12b",
    "gemma-3-27b",
    "mistral-7b",
    "mistral-small-24b",
    "phi-4",
    "gpt-oss-20b",
    "gpt-oss-120b",
    "deepseek-r1-14b",
    "olmo-2-13b",
    "granite-3.3-8b",
    "smollm3-3b",
    "glm-4-9b",
];
const QUANTS: &[&str] = &["Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "IQ4_XS", "Q3_K_L"];
const CONTEXTS: &[&str] = &["2048", "4096", "8192", "16384", "32768"];
const DEVICES: &[&str] = &["0", "1", "0,1"];

/// Returns a block and its language. `number` is unique to the block.
pub fn block(dice: &mut Dice, code: Code, number: usize) -> String {
    let (model, quant, context, device) =
        (dice.pick(MODELS), dice.pick(QUANTS), dice.pick(CONTEXTS), dice.pick(DEVICES));
    let own = if code == Code::Distinct { format!("-{}", name(number)) } else { String::new() };
    let (language, text) = match dice.below(20) {
        0..4 => (
            "bash",
            format!(
                "# see what holds the card, then start with less\nnvidia-smi --query-compute-apps=pid,used_memory --format=csv\nCUDA_VISIBLE_DEVICES={device} llama-server -m ~/models/{model}{own}-{quant}.gguf -c {context} -ngl 99 \\\n  --host 127.0.0.1 --port 8080 2>&1 | tee server.log\n"
            ),
        ),
        4..7 => (
            "bash",
            format!(
                "export OLLAMA_CONTEXT_LENGTH={context}\nollama stop {model}{own}\nfor attempt in 1 2 3; do\n  ollama run {model}{own} \"hello\" && break || sleep $attempt\ndone\n"
            ),
        ),
        7..10 => (
            "bash",
            format!(
                "free -h && df -h \"$HOME\"\nls -l ~/models | grep '{model}{own}' || huggingface-cli download someone/{model}{own}-GGUF --include '*{quant}*'\n"
            ),
        ),
        10..12 => (
            "python",
            format!(
                "import torch\nfrom transformers import AutoModelForCausalLM\n\ntorch.cuda.empty_cache()\nmodel = AutoModelForCausalLM.from_pretrained(\n    \"someone/{model}{own}\", device_map=\"auto\", max_memory={{0: \"10GiB\", \"cpu\": \"24GiB\"}}\n)\nprint(torch.cuda.memory_allocated() / 2**30, \"GiB of\", {context})\n"
            ),
        ),
        12..14 => (
            "python",
            format!(
                "from llama_cpp import Llama\n\nllm = Llama(model_path=\"{model}{own}-{quant}.gguf\", n_ctx={context}, n_gpu_layers=-1)\nfor piece in llm(\"Name the planets.\", max_tokens=32, stream=True):\n    print(piece[\"choices\"][0][\"text\"], end=\"\")  # one token at a time\n"
            ),
        ),
        14..16 => (
            "powershell",
            format!(
                "$env:CUDA_VISIBLE_DEVICES = \"{device}\"\nGet-Process | Where-Object {{ $_.ProcessName -like \"*ollama*\" }} | Stop-Process -Force\nStart-Process llama-server.exe -ArgumentList \"-m\", \"C:\\models\\{model}{own}-{quant}.gguf\", \"-c\", \"{context}\"\n"
            ),
        ),
        16..18 => (
            "json",
            format!(
                "{{\n  \"model\": \"{model}{own}\",\n  \"quantization\": \"{quant}\",\n  \"options\": {{ \"num_ctx\": {context}, \"num_gpu\": 99, \"use_mmap\": true }},\n  \"devices\": [{device}]\n}}\n"
            ),
        ),
        18 => (
            "yaml",
            format!(
                "services:\n  server:\n    image: ghcr.io/ggml-org/llama.cpp:server-cuda\n    command: [\"-m\", \"/models/{model}{own}-{quant}.gguf\", \"-c\", \"{context}\"]\n    environment:\n      CUDA_VISIBLE_DEVICES: \"{device}\"\n    ports:\n      - \"8080:8080\"\n"
            ),
        ),
        _ => (
            "dockerfile",
            format!(
                "FROM nvidia/cuda:12.8.0-runtime-ubuntu24.04\nENV CUDA_VISIBLE_DEVICES={device}\nCOPY {model}{own}-{quant}.gguf /models/\nCMD [\"llama-server\", \"-m\", \"/models/{model}{own}-{quant}.gguf\", \"-c\", \"{context}\"]\n"
            ),
        ),
    };
    let language = if code == Code::Plain { "text" } else { language };
    format!("```{language}\n{text}```\n")
}
