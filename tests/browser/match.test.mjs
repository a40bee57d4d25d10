// The page's matcher against the vectors that the program's test shares: node --test tests/browser/match.test.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const { kbgenMatch } = vm.runInThisContext(`${read("../../static/js/match.js")}; ({ kbgenMatch })`);
const { table, cases } = JSON.parse(read("../data/matches.json"));
const plain = (value) => JSON.parse(JSON.stringify(value));

function diagnose(text) {
  const work = kbgenMatch(table, text);
  for (let count = 1; ; count++) {
    const { done, value } = work.next();
    if (done) return { matches: value, steps: count };
  }
}

for (const { name, text, expected } of cases) {
  test(name, () => assert.deepEqual(plain(diagnose(text).matches), expected));
}

for (const piece of ["a", " ", "[", "\\ ", "\u001b", "\u001b]", "&amp;", "CUDA out of memory. Tried to allocate ", "runtimeerror: ", "10:20:30 ", "jan ", "\n"]) {
  test(`a mebibyte of ${JSON.stringify(piece)} is worked off in steps of bounded length`, () => {
    const { steps } = diagnose(piece.repeat((1 << 20) / piece.length));
    assert.ok(steps >= 32, `${steps} steps`);
  });
}
