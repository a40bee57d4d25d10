// A site whose tables are in parts gives the same answers as one whose tables are whole: node --test
// tests/browser/large-site.test.mjs. The offline file of the same site has whole tables.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import vm from "node:vm";
import { close, copySite, kbgen, readJson, scratch, start, visiting } from "./harness.mjs";

after(close);

/** More errors than fit in whole tables. */
const PAGES = 4000;
const MOST_BYTES = 5 << 18;

const root = join(scratch, "large");
const folder = join(root, "public");
copySite(root);
mkdirSync(join(root, "content/errors/made"));
writeFileSync(join(root, "content/errors/made/_index.md"), "---\ntitle: Made\norder: 99\n---\n\nErrors for tests.\n");
/** A word that differs from those of its neighbors. */
const word = number => (number * 7919 + 46656 * 7).toString(36).replace(/\d/g, digit => "bcdfghjkmn"[digit]);
const message = number => `${word(number)}: cannot map the ${word(number + 5000)} queue of worker ${number}`;
const title = number =>
  `The ${word(number)} queue of the ${word(number + 2500)} worker cannot be mapped, because the ${word(number + 5000)} queue holds the ${word(number + 7500)} memory that the loader of the model asks for at the start`;
for (let at = 0; at < PAGES; at++) {
  const front = `title: "${title(at)}"
tools: [ollama]
signatures:
  - pattern: "${message(at)}"
    samples: ["${message(at)}"]
    source: "https://kb.example/${at}"
causes:
  - id: full
    title: The ${word(at)} queue is full
    tell: The log names the queue
    solutions: [empty]
verified: 2026-11-01`;
  const body = `The ${word(at)} worker stops.\n\n## Empty the queue {#empty}\n\nRestart it.\n\n## Check\n\nThe log is empty.\n`;
  writeFileSync(join(root, `content/errors/made/made-${at}.md`), `---\n${front}\n---\n\n${body}`);
}
const bundle = join(scratch, "large.html");
await kbgen("--root", root, "build", "--output-dir", folder, "--bundle", bundle);

/** The scripts of the site in a world of their own. */
function world() {
  const context = vm.createContext({ kbgen: { t: text => text } });
  for (const name of ["match", "readings", "search", "case", "names"]) {
    const source = readdirSync(join(folder, "static/js")).find(file => file.startsWith(`${name}.`));
    vm.runInContext(readFileSync(join(folder, "static/js", source), "utf8"), context);
  }
  return context;
}
const load = (context, file) => vm.runInContext(readFileSync(join(folder, file), "utf8"), context);

const whole = world();
for (const [, path, variable, json] of readFileSync(bundle, "utf8").matchAll(
  /<script type="application\/json" id="([^"]+)" data-variable="([^"]+)">([^]*?)<\/script>/g,
)) {
  assert.match(path, /^data\/(catalog|diagnose|page-texts|reading-texts|search|similar)\.js$/);
  whole.kbgen[variable] = JSON.parse(json);
}
let next = 0;
const number = distance => (distance ? next - distance : next++);
const table = whole.kbgen.tables.match;
table.pages = table.pages_by_distance.map((page, at) => ({ slug: table.slugs[at], ...page }));
for (const signature of table.pages.flatMap(page => page.signatures)) {
  for (const name of ["all", "not", "not_on_line"]) signature[name] = signature[name]?.map(number);
}
/** The same site in parts, with nothing but the heads. */
function fresh() {
  const context = world();
  load(context, "data/diagnose.js");
  load(context, "data/search.js");
  load(context, "data/similar.js");
  return context;
}

/** What is found for a text; `loads` counts the files that were needed. */
function diagnose({ kbgen }, context, text, loads) {
  const fetch = files =>
    files.forEach(file => {
      loads.add(file);
      load(context, file);
    });
  const steps = kbgen.match(kbgen.tables.match, text);
  let step;
  while (!(step = steps.next()).done) if (step.value) fetch(step.value);
  const { value } = step;
  const nearest = () => ({
    titled: kbgen.search.titled(kbgen.similar, text),
    hits: kbgen.search(kbgen.similar, text, 5),
  });
  let near = nearest();
  for (let files; (files = kbgen.search.missing(kbgen.similar)).length; near = nearest()) fetch(files);
  const { steps: count, skipped, begun, readings } = value;
  return JSON.parse(JSON.stringify({ matches: [...value], count, skipped, begun, readings, ...near }));
}
function named({ kbgen }, context, text, loads) {
  let found = kbgen.names(kbgen.pages, text);
  while (found.missing.length) {
    found.missing.forEach(file => {
      loads.add(file);
      load(context, file);
    });
    found = kbgen.names(kbgen.pages, text);
  }
  return found.pages;
}

const errors = readJson(join(folder, "kb.json")).errors;

test("no page and no script is above 1.25 MiB", () => {
  const large = readdirSync(folder, { recursive: true })
    .map(String)
    .filter(path => /\.(html|js|css)$/.test(path) && statSync(join(folder, path)).size > MOST_BYTES);
  assert.deepEqual(large, []);
  for (const name of ["diagnose", "search", "similar"]) {
    assert.ok(readdirSync(join(folder, "data", name)).length > 2, `${name}.js is in parts`);
  }
});

test("in parts the same pages are found as in the whole: samples, beginnings, titles and questions", () => {
  const parts = fresh();
  const loads = new Set();
  const real = errors.filter(error => error.category !== "made");
  // A part of them, which is enough to load every part.
  const samples = real
    .flatMap(error => error.signatures.flatMap(signature => signature.samples))
    .filter((_, at) => at % 40 === 0);
  const texts = [
    ...samples,
    ...samples.map(sample => sample.slice(0, Math.ceil(sample.length * 0.6))),
    ...real.filter((_, at) => at % 40 === 0).map(error => error.title),
    ...errors.slice(-20).map(error => error.title),
    ...[0, 1, PAGES - 1].map(message),
    "how do I free GPU memory",
    "the paging file is to smal for this operaton",
    "nothing of this is known",
    samples.slice(0, 60).join("\n"),
  ];
  for (const text of texts) {
    assert.deepEqual(diagnose(parts, parts, text, loads), diagnose(whole, whole, text, loads), text);
  }
});

test("one message loads few parts", t => {
  const parts = fresh();
  const loads = new Set();
  const { matches } = diagnose(parts, parts, message(7), loads);
  assert.equal(matches[0].slug, "made-7");
  const all = readdirSync(join(folder, "data/diagnose")).length;
  t.diagnostic(`${loads.size} of ${all} parts`);
  assert.ok(loads.size * 2 <= all, `${loads.size} of ${all}`);
});

test("in parts the search finds the same first page", () => {
  const parts = fresh();
  const loads = new Set();
  const asked = [
    "which gpu to buy",
    "kv cache quantization ollama",
    "4090",
    "OLLAMA_HOST",
    "vram",
    "cuda out of memory",
  ];
  const titles = errors.filter((_, at) => at % 97 === 0).map(error => error.title);
  for (const text of [...asked, ...titles]) {
    const [expected] = named(whole, whole, text, loads);
    assert.equal(named(parts, parts, text, loads)[0].address, expected.address, text);
  }
});

test("from a disk, the page loads the parts that a message and a search need", async () => {
  const browser = await start();
  await visiting(browser, `${pathToFileURL(folder)}/diagnose/index.html`, {}, async (page, { trouble }) => {
    await page.locator("#paste-text").fill(message(1234));
    await page.locator("#paste-out .found a").first().waitFor();
    assert.match(await page.locator("#paste-out .found a").first().innerText(), /cannot be mapped/);
    await page.keyboard.press("Escape");
    await page.goto(`${pathToFileURL(folder)}/search/index.html?q=${word(1234)}+queue`);
    await page
      .locator("#kbgen-finder li a", { hasText: `The ${word(1234)} queue` })
      .first()
      .waitFor();
    assert.deepEqual(trouble, []);
  });
});
