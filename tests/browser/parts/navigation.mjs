// The menu, model pages and device pages: where a reader finds an answer, and that it is the program's.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { axe, estimate, sideways, visiting } from "../harness.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const SECTIONS = ["compare", "choose-gpu", "tools", "glossary", "will-it-run", "guides", "cost-vs-cloud"];
const GIB = 2 ** 30;

export default function ({ folder, browser, url }) {
  for (const javaScriptEnabled of [true, false]) {
    test(`on a phone every section is two taps away${javaScriptEnabled ? "" : ", without scripts too"}`, () =>
      visiting(browser, url, { ...PHONE, javaScriptEnabled }, async page => {
        for (const section of SECTIONS) {
          await page.goto(url);
          await page.locator(".menu > summary").click();
          const link = page.locator(`.menu a[href*="${section}/"]`);
          const { x, y, width, height } = await link.boundingBox();
          assert.ok(x >= 0 && x + width <= 390 && y >= 0 && y + height <= 844, section);
          await link.click();
          await page.waitForURL(new RegExp(`/${section}/`));
        }
      }));
  }

  test("the menu closes by Escape and by a tap elsewhere, and nothing is clipped at 320 px", () =>
    visiting(browser, url, { ...PHONE, viewport: { width: 320, height: 700 } }, async (page, { trouble }) => {
      const menu = page.locator(".menu");
      await menu.locator("summary").click();
      assert.equal(await sideways(page), 0);
      assert.deepEqual(await axe(page), []);
      await page.keyboard.press("Escape");
      assert.equal(await menu.getAttribute("open"), null);
      assert.ok(await menu.locator("summary").evaluate(summary => summary === document.activeElement));
      await menu.locator("summary").click();
      await page.locator("#paste-text").click();
      assert.equal(await menu.getAttribute("open"), null);
      assert.deepEqual(trouble, []);
    }));

  test("the menu closes when the focus leaves it", () =>
    visiting(browser, url, PHONE, async page => {
      const menu = page.locator(".menu");
      await menu.locator("summary").press("Enter");
      for (const link of await menu.locator("a").all()) {
        await page.keyboard.press("Tab");
        assert.ok(await link.evaluate(element => element === document.activeElement));
      }
      assert.notEqual(await menu.getAttribute("open"), null);
      await page.keyboard.press("Tab");
      assert.equal(await menu.getAttribute("open"), null);
    }));

  /** Memory of GPUs with CUDA: size in GB, and the bytes that programs see on the one with the least. */
  function sizes() {
    const html = readFileSync(join(folder, "choose-gpu/index.html"), "utf8");
    const { devices, driver } = JSON.parse(/id="fit-data"[^>]*>([^<]*)</.exec(html)[1]);
    const seen = new Map();
    for (const { ok, mem, vis } of devices) if (ok) seen.set(mem / GIB, Math.min(vis, seen.get(mem / GIB) ?? Infinity));
    return { driver: driver[1], seen };
  }

  test("the verdict of a model page is the smallest GPU that the program says holds it at 32K", () =>
    visiting(browser, `${url}models/qwen3-30b-a3b/`, PHONE, async page => {
      const line = page.locator(".answer-line");
      const { y, height } = await line.boundingBox();
      assert.ok(y + height < 844, "on the first screen");
      const [, whole, part] = /on a (\d+) GB GPU at Q4_K_M with 32K .* on (\d+) GB with the experts in RAM/.exec(
        await line.innerText(),
      );
      const row = { catalogue_id: "qwen3-30b-a3b", quant: "Q4_K_M", ctx: 32768, kv_type: "f16/f16", n_seq: 1 };
      const asked = ["none", "all"].map(experts => ({
        ...row,
        kind: "total",
        device: "gpu0",
        n_outputs: 1,
        moe_cpu: experts,
      }));
      const [all, withoutExperts] = await estimate(asked);
      const { driver, seen } = sizes();
      const fits = (bytes, size) => bytes + driver <= seen.get(Number(size));
      assert.ok(fits(all.bytes, whole) && fits(withoutExperts.bytes, part));
      const smaller = [...seen.keys()].filter(size => size < Number(whole) && size >= 4);
      assert.deepEqual(
        smaller.filter(size => fits(all.bytes, size)),
        [],
      );
    }));

  test("a device page leads with the largest models for each memory size, and filters by use", () =>
    visiting(browser, `${url}hardware/apple-m4/`, PHONE, async (page, { trouble }) => {
      const leads = page.locator(".leads div");
      assert.deepEqual(await leads.locator("dt").allInnerTexts(), ["16 GB", "24 GB", "32 GB"]);
      const { y } = await leads.nth(2).boundingBox();
      assert.ok(y < 844, "on the first screen");
      const rows = page.locator("tbody tr.row:not([hidden])");
      const all = await rows.count();
      await page.locator("#by-use").selectOption("coding");
      await page.waitForURL(/use=coding/);
      const names = await rows.locator("th").allInnerTexts();
      assert.ok(names.length > 0 && names.length < all);
      for (const name of names) assert.match(name, /[Cc]ode|Devstral|Codestral/);
      await page.locator("#remember").click();
      assert.equal(await page.locator("#remember").getAttribute("aria-pressed"), "true");
      await page.goto(`${url}will-it-run/`);
      assert.equal(await page.locator("#device-1").inputValue(), "Apple M4");
      assert.deepEqual(trouble, []);
    }));
}
