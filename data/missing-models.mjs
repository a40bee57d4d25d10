// Lists shapes of published models that the catalog lacks, the most frequent first.
//
//     node data/missing-models.mjs NAMES.csv
//     node data/missing-models.mjs FOLDER
//
// NAMES.csv has the columns name, architecture (the `model_type` of the configuration), layers, heads, kv_heads,
// hidden, vocab, experts and released. FOLDER holds configurations of Hugging Face, named `OWNER/NAME/config.json` or
// `OWNER--NAME_config.json`. docs/catalog.md describes the columns of the
// output.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { LOADED_AS, catalog, hasShape, rows } from "./catalog.mjs";

/** Names shown for a shape. */
const EXAMPLES = 4;

/** The row of a configuration. */
function configurationRow(path) {
  const whole = JSON.parse(readFileSync(path, "utf8").replace(/\bInfinity\b/g, "null"));
  const config = whole.text_config ?? whole.llm_config ?? whole;
  const name = path
    .replace(/[/_]config\.json$/, "")
    .split("/")
    .slice(-2)
    .join("/");
  return {
    name: name.includes("--") ? name.split("/").pop().replace("--", "/") : name,
    architecture: config.model_type ?? whole.model_type ?? "",
    layers: config.num_hidden_layers,
    heads: config.num_attention_heads,
    kv_heads: config.num_key_value_heads ?? config.num_attention_heads,
    hidden: config.hidden_size,
    vocab: config.vocab_size,
    experts: config.num_experts ?? config.num_local_experts ?? config.n_routed_experts ?? "",
    released: "",
  };
}

/** Configurations below a folder. */
function configurations(folder) {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return paths.filter(path => /(^|\/|[^t]_)config\.json$/.test(path)).map(path => configurationRow(join(folder, path)));
}

const input = process.argv[2];
const published = statSync(input).isDirectory() ? configurations(input) : rows(readFileSync(input, "utf8"));
const models = [...catalog.values()];
const shapes = new Map();
for (const row of published) {
  if (!row.layers || !row.hidden || !row.heads) continue;
  const loadedAs = LOADED_AS[row.architecture];
  const isKnown = models.some(model => loadedAs?.includes(model.architecture) && hasShape(row, model));
  if (isKnown) continue;
  const shape = [row.layers, row.heads, row.kv_heads, row.hidden, row.vocab, row.experts || "-"].join(" ");
  const key = [loadedAs?.join(",") ?? "-", row.architecture, shape].join("\t");
  if (!shapes.has(key)) shapes.set(key, []);
  shapes.get(key).push(row);
}
const byRelease = (a, b) => ((a.released || "9") < (b.released || "9") ? -1 : 1);
const ranked = [...shapes].sort(([, a], [, b]) => b.length - a.length);
for (const [key, names] of ranked) {
  const examples = names.sort(byRelease).slice(0, EXAMPLES);
  console.log([names.length, key, examples.map(row => row.name).join(" ")].join("\t"));
}
