// Front matter against the schemas that `kbgen build` writes, for the remark extension of VS Code
// and for `npx remark content`. CONTRIBUTING.md, "Editor support", says how to install what it needs.
import { existsSync, readFileSync } from "node:fs";
import remarkFrontmatter from "remark-frontmatter";
import frontmatterSchema from "remark-lint-frontmatter-schema";

const KINDS = {
  errors: "error",
  glossary: "term",
  guides: "guide",
  hardware: "hardware",
  models: "model",
  pages: "page",
  quants: "quant",
  tools: "tool",
};

function schema(kind) {
  const file = new URL(`./public/schema/${kind}.json`, import.meta.url);
  if (!existsSync(file)) return undefined;
  const schema = JSON.parse(readFileSync(file, "utf8"));
  // The rule knows draft 7 only; our schemas use nothing that came later.
  delete schema.$schema;
  return schema;
}

function kindOf(path) {
  const folder = /(?:^|[\\/])content[\\/]([a-z]+)[\\/]/.exec(path)?.[1];
  return folder === "errors" && path.endsWith("_index.md") ? "category" : KINDS[folder];
}

function frontMatterOfItsKind() {
  return (tree, file, next) => {
    const embed = schema(kindOf(file.path ?? ""));
    return embed ? frontmatterSchema.call(this, { embed })(tree, file, next) : next();
  };
}

export default { plugins: [remarkFrontmatter, frontMatterOfItsKind] };
