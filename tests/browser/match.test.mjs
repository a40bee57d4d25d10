// The page's matcher against the vectors that the program's test shares: node --test tests/browser/match.test.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const { kbgenMatch } = vm.runInThisContext(`${read("../../static/js/match.js")}; ({ kbgenMatch })`);
const { table, cases } = JSON.parse(read("../data/matches.json"));
const plain = (value) => JSON.parse(JSON.stringify(value));

for (const { name, text, expected } of cases) {
  test(name, () => assert.deepEqual(plain(kbgenMatch(table, text)), expected));
}

test("a hostile log takes no longer than its length allows", () => {
  for (const piece of ["a", " ", "[", "\\", "\u001b]", "&amp;", "CUDA out of memory. Tried to allocate ", "10:20:30 ", "jan ", "\n"]) {
    kbgenMatch(table, piece.repeat((1 << 20) / piece.length));
  }
});
