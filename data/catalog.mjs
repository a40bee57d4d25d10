// The catalog, and published models to compare it with, for the other scripts of this folder.
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";

/** Architectures of the catalog that llama.cpp loads a `model_type` as. */
export const LOADED_AS = {
  apertus: ["apertus"],
  arcee: ["arcee"],
  bailing_moe: ["bailingmoe", "bailingmoe2"],
  bert: ["bert"],
  cohere: ["command-r"],
  cohere2: ["cohere2"],
  deepseek_v2: ["deepseek2"],
  deepseek_v3: ["deepseek2"],
  deepseek_v32: ["deepseek32"],
  dots1: ["dots1"],
  ernie4_5: ["ernie4_5"],
  ernie4_5_moe: ["ernie4_5-moe"],
  exaone4: ["exaone4"],
  gemma: ["gemma"],
  gemma2: ["gemma2"],
  gemma3: ["gemma3"],
  gemma3_text: ["gemma3", "gemma-embedding"],
  gemma4: ["gemma4"],
  gemma4_text: ["gemma4"],
  gemma4_unified: ["gemma4"],
  glm: ["chatglm"],
  glm4: ["glm4"],
  glm4_moe: ["glm4moe"],
  glm4_moe_lite: ["deepseek2"],
  glm_moe_dsa: ["glm-dsa"],
  gpt_oss: ["gpt-oss"],
  granite: ["granite"],
  granitemoe: ["granitemoe"],
  granitemoehybrid: ["granite", "granitehybrid"],
  hunyuan: ["hunyuan-moe"],
  hunyuan_v1_dense: ["hunyuan-dense"],
  hunyuan_v1_moe: ["hunyuan-moe"],
  internlm2: ["llama"],
  internlm3: ["llama"],
  kimi_k2: ["deepseek2"],
  kimi_k25: ["deepseek2"],
  lfm2: ["lfm2"],
  lfm2_moe: ["lfm2moe"],
  llama: ["llama"],
  llama4: ["llama4"],
  mimo: ["qwen2"],
  mimo_v2: ["mimo2"],
  mimo_v2_flash: ["mimo2"],
  minicpm: ["llama"],
  minimax: ["minimax-m2"],
  minimax_m2: ["minimax-m2"],
  ministral3: ["mistral3"],
  mistral: ["llama"],
  mistral3: ["llama", "mistral3"],
  mixtral: ["llama"],
  nemotron_h: ["nemotron_h", "nemotron_h_moe"],
  nomic_bert: ["nomic-bert"],
  olmo2: ["olmo2"],
  olmo3: ["olmo2"],
  olmoe: ["olmoe"],
  phi: ["phi2"],
  phi3: ["phi3"],
  phimoe: ["phimoe"],
  qwen2: ["qwen2"],
  qwen2_5_vl: ["qwen2vl"],
  qwen2_moe: ["qwen2moe"],
  qwen2_vl: ["qwen2vl"],
  qwen3: ["qwen3"],
  qwen3_5: ["qwen35"],
  qwen3_5_moe: ["qwen35moe"],
  qwen3_5_moe_text: ["qwen35moe"],
  qwen3_5_text: ["qwen35"],
  qwen3_moe: ["qwen3moe"],
  qwen3_next: ["qwen3next"],
  qwen3_vl: ["qwen3vl"],
  qwen3_vl_moe: ["qwen3vlmoe"],
  qwen3_vl_moe_text: ["qwen3vlmoe"],
  qwen3_vl_text: ["qwen3vl"],
  seed_oss: ["seed_oss"],
  smollm3: ["smollm3"],
  stablelm: ["stablelm"],
  starcoder2: ["starcoder2"],
  "xlm-roberta": ["bert"],
};

/** Rows of a CSV file as objects. */
export function rows(text) {
  const all = [];
  let row = [""];
  let isQuoted = false;
  for (const letter of text) {
    if (letter === '"') isQuoted = !isQuoted;
    else if (letter === "," && !isQuoted) row.push("");
    else if (letter === "\n" && !isQuoted) {
      all.push(row);
      row = [""];
    } else if (letter !== "\r") row[row.length - 1] += letter;
  }
  const head = all.shift();
  return all.map(cells => Object.fromEntries(head.map((name, i) => [name, cells[i] ?? ""])));
}

/** Layers of a run-length code such as `S5F1`. */
function layerCount(code) {
  return [...code.matchAll(/[A-Z](\d+)/g)].reduce((sum, run) => sum + Number(run[1]), 0);
}

/** Models of the catalog by slug. */
export const catalog = new Map();
for (const path of readdirSync("content/models", { recursive: true }).filter(path => path.endsWith(".md"))) {
  const text = readFileSync(`content/models/${path}`, "utf8");
  const field = name => new RegExp(`^ *${name}: "?([^"\n]*)`, "m").exec(text)?.[1] ?? "";
  const number = name => Number(field(name));
  if (!field("hf_id") && !number("hidden")) continue;
  catalog.set(basename(path, ".md"), {
    architecture: field("  name"),
    hub: field("hf_id"),
    layers: layerCount(field("layers")),
    hidden: number("hidden"),
    heads: number("heads"),
    // a configuration states those of either kind of layers
    kvHeads: [number("kv_heads"), number("kv_heads_full")].filter(count => count > 0),
    vocab: number("vocab"),
    experts: number("experts"),
    headDim: number("head_dim"),
    context: number("max_ctx"),
    parameters: number("parameters"),
    isEmbedding: field("  pooling") !== "",
  });
}

/** Whether a row of published models has the shape of a model of the catalog. A figure that the row lacks agrees. */
export function hasShape(row, model) {
  const agrees = (text, figure, most = 0) => !text || Math.abs(Number(text) - figure) <= most;
  return (
    agrees(row.layers, model.layers) &&
    agrees(row.hidden, model.hidden) &&
    agrees(row.heads, model.heads) &&
    (!row.kv_heads || model.kvHeads.includes(Number(row.kv_heads))) &&
    agrees(row.experts, model.experts) &&
    agrees(row.vocab, model.vocab, 1024)
  );
}
