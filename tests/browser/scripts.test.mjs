// The published scripts against their sources, whose comments and needless whitespace kbgen leaves out.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "espree";
import { build, close } from "./harness.mjs";

after(close);

const sources = fileURLToPath(new URL("../../static/js/", import.meta.url));
const published = join(await build(), "static/js");

/** The syntax tree of a script as JSON, without where its parts stand. */
const tree = script =>
  JSON.stringify(parse(script, { ecmaVersion: 2020 }), (key, value) => {
    if (key === "start" || key === "end" || value?.type === "EmptyStatement") return undefined;
    return value instanceof RegExp ? String(value) : value;
  });

for (const name of readdirSync(sources)) {
  test(`${name} is published as it was written`, () => {
    const [file] = readdirSync(published).filter(file => file.startsWith(`${name.slice(0, -3)}.`));
    const script = readFileSync(join(published, file), "utf8");
    assert.equal(tree(script), tree(readFileSync(join(sources, name), "utf8")));
    assert.ok(!/^\s*\/\//m.test(script), "a comment is published");
  });
}
