// Writes model-names.txt: published models of the shape of a model of the catalog, with their GGUF repositories.
//
//     node data/model-names.mjs NAMES.csv > data/model-names.txt
//
// NAMES.csv has the columns name, parameters, architecture (the `model_type` of the configuration), layers, heads,
// kv_heads, head_dim, hidden, vocab, context and gguf_repositories, as in the catalog of llmfit 1.1.17 (MIT).
import { readFileSync } from "node:fs";
import { LOADED_AS, catalog, hasShape, rows } from "./catalog.mjs";

/** Names that do not belong on a public site, and models that do not write text. */
const LEFT_OUT = /nsfw|erotic|lewd|porn|sexy|-sex-|hentai|waifu|jailbreak|shit|fuck|toxicity|embed|rerank|reward/i;

/** Whether a row may be a fine-tune of a model: the same shape, and as many parameters within 1%. */
function isFineTune(row, model) {
  const difference = Math.abs(Number(row.parameters) - model.parameters);
  const isSameHead = !model.headDim || Number(row.head_dim) === model.headDim;
  // the number of experts follows from that of parameters
  return isSameHead && difference <= model.parameters / 100 && hasShape({ ...row, experts: "" }, model);
}

/** The model of the catalog with the same figures, or none. */
function base(row) {
  const words = row.name.toLowerCase();
  const isOlmo3 = row.architecture === "olmo3";
  const candidates = [...catalog]
    .map(([slug, model]) => ({ slug, ...model }))
    .filter(model => !model.isEmbedding)
    .filter(model => LOADED_AS[row.architecture]?.includes(model.architecture) && isFineTune(row, model))
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
  const slug = own ? own[0] : base(row);
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
