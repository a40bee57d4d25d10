// The page's search against the vectors that the program's test shares: node --test tests/browser/search.test.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const read = path => readFileSync(new URL(path, import.meta.url), "utf8");
globalThis.kbgen = {};
vm.runInThisContext(read("../../static/js/search.js"));
const { index, cases } = JSON.parse(read("../data/words.json"));

for (const { text, expected, titled } of cases) {
  test(JSON.stringify(text.slice(0, 60)), () => {
    assert.deepEqual(kbgen.search(index, text, 5), expected);
    assert.deepEqual(kbgen.search.titled(index, text), titled);
  });
}
