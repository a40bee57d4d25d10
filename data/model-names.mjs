// Writes model-names.txt: published models of the shape of a model of the catalog, with their GGUF repositories.
//
//     node data/model-names.mjs NAMES.csv > data/model-names.txt
//
// NAMES.csv has the columns name, architecture (the `model_type` of the configuration), vocab, context,
// gguf_repositories and same_shape_as (slugs of the catalog), as in the catalog of llmfit 1.1.17 (MIT).
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";

/** Architectures of the catalog that llama.cpp loads a `model_type` as. */
const LOADED_AS = {
  apertus: ["apertus"],
  arcee: ["arcee"],
  bailing_moe: ["bailingmoe", "bailingmoe2"],
  cohere: ["command-r"],
  cohere2: ["cohere2"],
  deepseek_v2: ["deepseek2"],
  deepseek_v3: ["deepseek2"],
  dots1: ["dots1"],
  ernie4_5: ["ernie4_5"],
  ernie4_5_moe: ["ernie4_5-moe"],
  exaone4: ["exaone4"],
  gemma: ["gemma"],
  gemma2: ["gemma2"],
  gemma3: ["gemma3"],
  gemma3_text: ["gemma3"],
  gemma4: ["gemma4"],
  glm: ["chatglm"],
  glm4: ["glm4"],
  glm4_moe: ["glm4moe"],
  glm4_moe_lite: ["deepseek2"],
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
  lfm2: ["lfm2"],
  lfm2_moe: ["lfm2moe"],
  llama: ["llama"],
  llama4: ["llama4"],
  mimo: ["qwen2"],
  minicpm: ["llama"],
  minimax: ["minimax-m2"],
  minimax_m2: ["minimax-m2"],
  mistral: ["llama"],
  mistral3: ["llama"],
  mixtral: ["llama"],
  nemotron_h: ["nemotron_h_moe"],
  olmo2: ["olmo2"],
  olmo3: ["olmo2"],
  olmoe: ["olmoe"],
  phi: ["phi2"],
  phi3: ["phi3"],
  phimoe: ["phimoe"],
  qwen2: ["qwen2"],
  qwen2_moe: ["qwen2moe"],
  qwen3: ["qwen3"],
  qwen3_5: ["qwen35"],
  qwen3_5_moe: ["qwen35moe"],
  qwen3_5_text: ["qwen35"],
  qwen3_moe: ["qwen3moe"],
  qwen3_next: ["qwen3next"],
  seed_oss: ["seed_oss"],
  smollm3: ["smollm3"],
  stablelm: ["stablelm"],
  starcoder2: ["starcoder2"],
};

/** Names that do not belong on a public site, and models that do not write text. */
const LEFT_OUT = /nsfw|erotic|lewd|porn|sexy|-sex-|hentai|waifu|jailbreak|shit|fuck|toxicity|embed|rerank|reward/i;

/** Rows of a CSV file as objects. */
function rows(text) {
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

const catalog = new Map();
for (const path of readdirSync("content/models", { recursive: true }).filter(path => path.endsWith(".md"))) {
  const text = readFileSync(`content/models/${path}`, "utf8");
  const field = name => new RegExp(`^ *${name}: "?([^"\\n]*)`, "m").exec(text)?.[1] ?? "";
  catalog.set(basename(path, ".md"), {
    architecture: field("  name"),
    hub: field("hf_id"),
    vocab: Number(field("vocab")),
    context: Number(field("max_ctx")),
  });
}

/** The model of the catalog with the same figures, or none. */
function base(row) {
  const words = row.name.toLowerCase();
  const isOlmo3 = row.architecture === "olmo3";
  const candidates = row.same_shape_as
    .split(" ")
    .map(slug => ({ slug, ...catalog.get(slug) }))
    .filter(model => LOADED_AS[row.architecture]?.includes(model.architecture))
    // the layers of OLMo 3 have windows
    .filter(model => model.architecture !== "olmo2" || model.slug.startsWith("olmo-3") === isOlmo3);
  const rank = model => [
    model.hub.toLowerCase() === words ? 0 : 1,
    model.hub && words.includes(model.hub.toLowerCase().split("/")[1]) ? 0 : 1,
    Math.abs(model.vocab - Number(row.vocab)),
    model.context === Number(row.context) ? 0 : 1,
  ];
  const ranked = candidates.map(model => ({ slug: model.slug, rank: rank(model) }));
  ranked.sort((a, b) => a.rank.map((own, i) => own - b.rank[i]).find(Boolean) ?? 0);
  return ranked[0]?.slug;
}

/** A repository, as its owner only where the rest follows from the name. */
function repository(name, full) {
  const [owner, rest] = full.split("/");
  return rest === `${name.split("/")[1]}-GGUF` ? owner : full;
}

const bySlug = new Map();
for (const row of rows(readFileSync(process.argv[2], "utf8"))) {
  const own = [...catalog].find(([, model]) => model.hub.toLowerCase() === row.name.toLowerCase());
  const slug = own ? own[0] : row.same_shape_as && base(row);
  if (!slug || LEFT_OUT.test(row.name)) continue;
  const repositories = row.gguf_repositories.split(" ").filter(Boolean);
  const line = [row.name, ...repositories.map(full => repository(row.name, full))].join(" ");
  if (!bySlug.has(slug)) bySlug.set(slug, []);
  bySlug.get(slug).push(line);
}
const order = (a, b) => (a < b ? -1 : 1);
const lines = ["# Made by model-names.mjs: a slug, then the models of its shape, each with its GGUF repositories."];
for (const slug of [...bySlug.keys()].sort(order)) {
  lines.push(
    slug,
    ...bySlug
      .get(slug)
      .sort(order)
      .map(line => ` ${line}`),
  );
}
console.log(lines.join("\n"));
