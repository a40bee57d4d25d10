// What a first visit costs, compressed as a host sends it.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { serve, visiting } from "../harness.mjs";

const BUDGETS = {
  "": [18, 5],
  "errors/cuda-oom-loading-model/": [20, 5],
  "errors/": [86, 7],
  "models/": [26, 7],
  "models-by-memory/": [24, 7],
  "models/llama-3.1-8b-instruct/": [18, 7],
  "will-it-run/": [60, 15],
  // Each opens with an answer, for which it loads one model's table.
  "compare/": [53, 12],
  "choose-gpu/": [44, 12],
  "cost-vs-cloud/": [44, 11],
};
/** Of a model's table, which a page loads when the model is chosen. */
const TABLE_KIB = 12;
/** Of what the search loads when it is first wanted: its own files, and the index of all pages. */
const SEARCH_KIB = 11;
const INDEX_KIB = 156;
/** Of the data that the paste box loads on first use, of the texts for an answer, and of the index for a question. */
const DATA_KIB = { diagnose: 150, catalog: 5, "page-texts": 102, "reading-texts": 125, similar: 243 };
/** Of all scripts on an error page. */
const SCRIPT_KIB = 6;

export default function ({ folder, browser }) {
  test("the matching and the searching script are at most 12 KiB together", t => {
    const names = readdirSync(`${folder}/static/js`).filter(name => /^(match|search)\./.test(name));
    const bytes = names.reduce(
      (sum, name) => sum + brotliCompressSync(readFileSync(`${folder}/static/js/${name}`)).length,
      0,
    );
    t.diagnostic(`${bytes} bytes`);
    assert.ok(names.length === 2 && bytes <= 12288, `${bytes} bytes`);
  });
  for (const [path, [kib, requests]] of Object.entries(BUDGETS)) {
    test(`/${path} is at most ${kib} KiB in ${requests} requests`, async t => {
      const { url, sent } = await serve(folder);
      await visiting(browser, url + path, {}, page => page.waitForLoadState("networkidle"));
      const bytes = sent.reduce((sum, each) => sum + each.bytes, 0);
      t.diagnostic(`${(bytes / 1024).toFixed(1)} KiB in ${sent.length} requests`);
      assert.ok(bytes <= kib * 1024 && sent.length <= requests, JSON.stringify(sent, null, 1));
    });
  }

  test(`the scripts of an error page are at most ${SCRIPT_KIB} KiB`, async t => {
    const { url, sent } = await serve(folder);
    await visiting(browser, `${url}errors/cuda-oom-loading-model/`, {}, page => page.waitForLoadState("networkidle"));
    const bytes = sent.filter(each => each.path.endsWith(".js")).reduce((sum, each) => sum + each.bytes, 0);
    t.diagnostic(`${(bytes / 1024).toFixed(1)} KiB`);
    assert.ok(bytes <= SCRIPT_KIB * 1024, `${bytes} bytes`);
  });

  test(`the search loads at most ${SEARCH_KIB} KiB and an index of at most ${INDEX_KIB} KiB`, async t => {
    const { url, sent } = await serve(folder);
    await visiting(browser, `${url}models/llama-3.1-8b-instruct/`, {}, async page => {
      await page.waitForLoadState("networkidle");
      sent.length = 0;
      await page.keyboard.press("/");
      await page.waitForFunction(() => kbgen.pages && kbgen.names);
      await page.waitForLoadState("networkidle");
    });
    const index = sent.find(each => each.path === "/data/search.js").bytes;
    const own = sent.reduce((sum, each) => sum + each.bytes, 0) - index;
    t.diagnostic(`${(own / 1024).toFixed(1)} KiB and ${(index / 1024).toFixed(1)} KiB in ${sent.length} requests`);
    assert.ok(own <= SEARCH_KIB * 1024 && index <= INDEX_KIB * 1024, JSON.stringify(sent, null, 1));
  });

  test("the data of the paste box is within its budgets", t => {
    for (const [name, kib] of Object.entries(DATA_KIB)) {
      const bytes = brotliCompressSync(readFileSync(join(folder, `data/${name}.js`))).length;
      t.diagnostic(`${name}.js: ${(bytes / 1024).toFixed(1)} KiB`);
      assert.ok(bytes <= kib * 1024, `${name}.js: ${bytes} bytes`);
    }
  });

  test(`every model's table is at most ${TABLE_KIB} KiB`, t => {
    const tables = join(folder, "data/fit");
    const sizes = readdirSync(tables)
      .map(name => [brotliCompressSync(readFileSync(join(tables, name))).length, name])
      .sort(([a], [b]) => b - a);
    t.diagnostic(`${sizes.length} tables, the largest ${(sizes[0][0] / 1024).toFixed(1)} KiB (${sizes[0][1]})`);
    assert.ok(sizes[0][0] <= TABLE_KIB * 1024, `${sizes[0]}`);
  });
}
