// The page's matcher against the vectors that the program's test shares: node --test tests/browser/match.test.mjs
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const read = path => readFileSync(new URL(path, import.meta.url), "utf8");
globalThis.kbgen = {};
vm.runInThisContext(read("../../static/js/match.js"));
vm.runInThisContext(read("../../static/js/readings.js"));
const { table, cases } = JSON.parse(read("../data/matches.json"));
const plain = value => JSON.parse(JSON.stringify(value));

/** What a fuzzing engine thought up; `cargo test fuzzed` writes it. */
const VECTORS = new URL(
  "../tmp/vectors.json",
  process.env.KBGEN ? pathToFileURL(process.env.KBGEN) : new URL("../../target/debug/kbgen", import.meta.url),
);

function diagnose(text, patterns = table) {
  const work = kbgen.match(patterns, text);
  for (let count = 1; ; count++) {
    const { done, value } = work.next();
    if (done) return { matches: value, steps: count };
  }
}

for (const { name, text, expected, steps, begun } of cases) {
  test(name, () => {
    const { matches } = diagnose(text);
    assert.deepEqual(plain(matches), expected);
    assert.deepEqual([matches.steps, matches.begun], [steps, begun]);
  });
}

test(
  "patterns and logs that nobody would write are read as by the program",
  { skip: !existsSync(VECTORS) && "cargo test has left no vectors" },
  t => {
    const vectors = JSON.parse(readFileSync(VECTORS, "utf8"));
    const others = vectors.filter(({ text, table, expected }) => {
      try {
        assert.deepEqual(plain(diagnose(text, table ?? undefined).matches), expected);
      } catch (difference) {
        t.diagnostic(`${JSON.stringify({ text, patterns: table?.patterns })}\n${difference.message}`);
        return true;
      }
    });
    assert.equal(others.length, 0, `${others.length} of ${vectors.length} differ`);
    t.diagnostic(`${vectors.length} vectors`);
  },
);

for (const piece of [
  "a",
  " ",
  "[",
  "\\ ",
  "\u001b",
  "\u001b]",
  "&amp;",
  "CUDA out of memory. Tried to allocate ",
  "runtimeerror: ",
  "error: x\n",
  "…",
  "─",
  "é",
  "a\n",
  "10:20:30 ",
  "jan ",
  "\n",
]) {
  test(`a mebibyte of ${JSON.stringify(piece)} is worked off in steps of bounded length`, () => {
    const { steps } = diagnose(piece.repeat((1 << 20) / piece.length));
    assert.ok(steps >= 32, `${steps} steps`);
  });
}

/** What the program says of every sample; `cargo test readings` writes it. */
const READINGS = new URL("readings.json", VECTORS);

test(
  "a log is put into the same words as by the program",
  { skip: !existsSync(READINGS) && "cargo test has left no readings" },
  t => {
    const { table, cases } = JSON.parse(readFileSync(READINGS, "utf8"));
    kbgen.readingTexts = Object.fromEntries(table.readings.map(rule => [rule.slug, rule]));
    for (const { text, readings } of cases) {
      assert.deepEqual(plain(kbgen.readings(table, diagnose(text, table).matches, text)), readings, text);
    }
    t.diagnostic(`${cases.length} logs`);
  },
);

/** Many hostile patterns; `cargo test steps` writes them. */
const HOSTILE = new URL("hostile.json", VECTORS);

test(
  "steps are bounded and counted as by the program, however many patterns are hostile",
  { skip: !existsSync(HOSTILE) && "cargo test has left no patterns" },
  t => {
    for (const { name, text, table, expected, steps, skipped } of JSON.parse(readFileSync(HOSTILE, "utf8"))) {
      const { matches } = diagnose(text, table);
      const letters = text.replace(/\s/g, "").length;
      assert.ok(matches.steps <= 65536 + Math.ceil(letters / 1024) * 2048, `${name}: ${matches.steps} steps`);
      assert.deepEqual([matches.steps, matches.skipped], [steps, skipped], name);
      assert.deepEqual(plain(matches), expected, name);
      t.diagnostic(`${name}: ${steps} steps for ${letters} characters`);
    }
  },
);
