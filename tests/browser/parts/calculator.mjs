// Will it run? The page against its own tables, and against the program.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kbgen, rootWithModel, siteRoot, visiting } from "../harness.mjs";

const START = "#model=llama-3.1-8b-instruct&quant=Q4_K_M&ctx=8192&kv=f16&gpu=geforce-rtx-3060-12-gb";
const LABELS = { weights: "Weights", cache: "K/V cache", compute: "Compute buffer" };

/** The same numbers on every run. */
function dice(seed) {
  return below => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return Math.floor(seed / 0x1_0000_0000 * below);
  };
}

/** A size at a context: the last segment [cells, bytes, bytes per 256 cells] that begins at or before it. */
function sizeAt(segments, context) {
  const cells = BigInt(Math.ceil(context / 256) * 256);
  let size = 0n;
  for (let i = 0; i < segments.length; i += 3) {
    const [from, bytes, slope] = segments.slice(i, i + 3).map(BigInt);
    if (from <= cells || i === 0) size = bytes + slope * (cells - from) / 256n;
  }
  return size;
}

/** Settings as someone might choose them: any covered model, quantization, cache and context. */
function settings(fit, count) {
  const roll = dice(20260);
  const models = fit.models.filter(model => model.q.some(Boolean));
  return Array.from({ length: count }, () => {
    const model = models[roll(models.length)];
    const quants = fit.quants.map((_, i) => i).filter(i => model.q[i]);
    return { model, quant: quants[roll(quants.length)], kv: roll(fit.kv.length), ctx: 1 + (roll(2) ? roll(model.max) : roll(Math.min(model.max, 20_000))) };
  });
}

function expected(fit, { model, quant, kv, ctx }) {
  const weights = BigInt(model.q[quant][1]);
  const cache = sizeAt(model.kv[kv], ctx);
  const compute = sizeAt(model.cb[kv], ctx);
  return { weights, cache, compute, total: weights + cache + compute };
}

const hash = (fit, { model, quant, kv, ctx }, gpu) => `#${new URLSearchParams({ model: model.id, quant: fit.quants[quant], ctx, kv: fit.kv[kv], gpu })}`;
const fitData = page => page.locator("#fit-data").textContent().then(JSON.parse);

/** The parts as the page shows them, in bytes. */
async function shownParts(page) {
  const rows = await page.locator("#parts tr").evaluateAll(all => all.map(row => [row.querySelector("th").textContent, row.title]));
  const bytes = new Map(rows.map(([label, title]) => [label, Number(title.replace(/\D/g, ""))]));
  return Object.fromEntries(Object.entries(LABELS).map(([name, label]) => [name, bytes.get(label)]));
}

export default function ({ browser, url }) {
  const address = `${url}will-it-run/`;

  test("calculator: every setting is chosen by keyboard, and the answer follows", () =>
    visiting(browser, address + START, {}, async (page, { trouble }) => {
      const verdict = page.locator("#verdict");
      const focused = id => page.locator(`#${id}:focus`).waitFor();
      const command = () => page.locator("#command-llama").innerText();
      const before = await command();
      await page.locator("#model").focus();
      await page.keyboard.press("ArrowDown");
      assert.notEqual(await page.locator("#model").inputValue(), "llama-3.1-8b-instruct");
      assert.notEqual(await command(), before);
      await page.keyboard.press("ArrowUp");
      assert.equal(await command(), before);

      await page.keyboard.press("Tab");
      await focused("quant");
      await page.keyboard.press("Home");
      assert.equal(await page.locator("#quant option:checked").innerText(), "F16");
      assert.equal(await verdict.innerText(), "Does not fit");
      assert.match(await page.locator("#margin").innerText(), /^[\d\u202f]+ MiB short at the least\.$/);
      assert.ok(await page.locator("#meet").isVisible(), "the error that it ends in is named");
      await page.keyboard.press("End");
      assert.equal(await verdict.innerText(), "Fits");
      assert.match(await page.locator("#margin").innerText(), /^[\d\u202f]+ MiB to spare/);

      await page.keyboard.press("Tab");
      await focused("ctx");
      await page.keyboard.press("Control+A");
      await page.keyboard.type("131072");
      assert.equal(await verdict.innerText(), "Does not fit");
      await page.keyboard.press("Tab");
      await focused("ctx-slide");
      await page.keyboard.press("Home");
      assert.equal(await page.locator("#ctx").inputValue(), "256");

      await page.keyboard.press("Tab");
      await page.keyboard.press("ArrowRight");
      assert.equal(await page.locator("#kv input:checked + span").innerText(), "q8_0");
      await page.keyboard.press("Tab");
      await focused("device");
      const card = await page.locator("#device").inputValue();
      await page.keyboard.press("ArrowDown");
      assert.notEqual(await page.locator("#device").inputValue(), card);
      await page.keyboard.press("Tab");
      await focused("memory");
      await page.keyboard.press("Control+A");
      await page.keyboard.type("2");
      assert.equal(await page.locator("#device").inputValue(), "", "an amount of one's own is no card");
      assert.equal(await verdict.innerText(), "Does not fit");

      const parts = await page.locator("#parts th").allInnerTexts();
      for (const label of [...Object.values(LABELS), "Driver", "Sum"]) assert.ok(parts.includes(label), label);
      assert.deepEqual(trouble, []);
    }));

  test("calculator: the address holds the settings, and brings them back", () =>
    visiting(browser, address + START, {}, async page => {
      await page.locator("#ctx").fill("20000");
      await page.locator("#others").fill("700");
      await page.locator("#kv label", { hasText: "q4_0" }).click();
      await page.waitForURL(/ctx=20000&kv=q4_0.*others=700/);
      const answer = async page => [await page.locator("#verdict").innerText(), await page.locator("#margin").innerText(), await page.locator("#parts").innerText(), await page.locator("#command-llama").innerText()];
      await visiting(browser, page.url(), {}, async again => {
        assert.equal(await again.locator("#ctx").inputValue(), "20000");
        assert.equal(await again.locator("#others").inputValue(), "700");
        assert.equal(await again.locator("#device").inputValue(), "geforce-rtx-3060-12-gb");
        assert.deepEqual(await answer(again), await answer(page));
      });
    }));

  test("calculator: an offer is taken with one press, and then it fits", () =>
    visiting(browser, address + START.replace("ctx=8192", "ctx=131072"), {}, async page => {
      assert.equal(await page.locator("#verdict").innerText(), "Does not fit");
      const [offered] = /[\d\u202f]+(?= tokens)/.exec(await page.locator("#best [data-what=ctx]").innerText());
      await page.locator("#best [data-what=ctx]").press("Enter");
      assert.equal(await page.locator("#verdict").innerText(), "Fits");
      assert.equal(await page.locator("#ctx").inputValue(), offered.replace(/\D/g, ""));
    }));

  test("calculator: an address that makes no sense still shows a whole page", () =>
    visiting(browser, `${address}#model=nothing&quant=Q99&ctx=-5&kv=%00&gpu=&mem=1e999&others=x`, {}, async (page, { trouble }) => {
      assert.notEqual(await page.locator("#verdict").innerText(), "");
      assert.deepEqual(trouble, []);
    }));

  test("calculator: at 1,000 settings the script gives what the tables hold", () =>
    visiting(browser, address, {}, async page => {
      const fit = await fitData(page);
      const asked = settings(fit, 1000);
      const given = await page.evaluate(list => list.map(([id, quant, kv, ctx]) => {
        const { data, need } = window.kbgenFit;
        return need(data.models.find(model => model.id === id), quant, kv, ctx);
      }), asked.map(({ model, quant, kv, ctx }) => [model.id, quant, kv, ctx]));
      for (const [i, setting] of asked.entries()) {
        const sizes = Object.fromEntries(Object.entries(given[i]).map(([name, size]) => [name, BigInt(size)]));
        assert.deepEqual(sizes, expected(fit, setting), hash(fit, setting, ""));
      }
    }));

  test("calculator: at 30 settings the page shows what the program computes, to the byte", () =>
    visiting(browser, address, {}, async page => {
      const fit = await fitData(page);
      for (const setting of settings(fit, 30)) {
        const { model, quant, kv, ctx } = setting;
        const told = await kbgen("--root", rootWithModel(model.id), "fit", model.id, "--quant", fit.quants[quant], "--ctx", String(ctx), "--kv-type", fit.kv[kv], "--format", "json");
        const [row] = JSON.parse(told).rows;
        await page.goto("about:blank");
        await page.goto(address + hash(fit, setting, "geforce-rtx-3060-12-gb"));
        assert.ok((await page.locator("#command-llama").innerText()).includes(`-c ${ctx} -ctk ${fit.kv[kv]} -ctv`));
        assert.equal(await page.locator("#model").inputValue(), model.id);
        assert.deepEqual(await shownParts(page), { weights: row.weights_bytes, cache: row.kv_bytes, compute: row.compute_bytes }, page.url());
        assert.equal(row.total_bytes, row.weights_bytes + row.kv_bytes + row.compute_bytes);
      }
    }));

  test("calculator: verdict and largest context are the program's", () =>
    visiting(browser, address + START, {}, async page => {
      const told = await kbgen("--root", siteRoot, "fit", "llama-3.1-8b-instruct", "--ctx", "8192", "--kv-type", "f16", "--gpu", "geforce-rtx-3060-12-gb", "--format", "json");
      const { devices: [{ verdicts }] } = JSON.parse(told);
      const ladder = await page.locator("#ladder tr").evaluateAll(rows => rows.map(row => [...row.querySelectorAll("th, td")].slice(0, 3).map(cell => cell.textContent)));
      const words = { fits: "fits", tight: "tight", no: "does not fit" };
      assert.deepEqual(ladder, verdicts.map(row => [row.quant, words[row.verdict] ?? row.verdict, row.largest_context?.toLocaleString("en").replace(/,/g, "\u202f") ?? "none"]));
    }));

  test("calculator: without scripts it says where the tables are, and they are there", () =>
    visiting(browser, address, { javaScriptEnabled: false }, async page => {
      assert.match(await page.locator("main").innerText(), /The calculator needs JavaScript/);
      await page.locator("noscript a", { hasText: "model" }).click();
      await page.waitForURL(/models\/index\.html/);
      await page.locator("main a", { hasText: "Llama 3.1 8B Instruct" }).first().click();
      await page.waitForURL(/models\/llama-3\.1-8b-instruct\//);
      assert.match(await page.locator("table", { hasText: "Total on the GPU" }).innerText(), /Q4_K_M[\s\S]*GiB/);
    }));
}
