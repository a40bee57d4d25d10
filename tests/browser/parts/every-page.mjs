// One page of each kind: nothing breaks, everyone can use it, it fits a narrow screen.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, axe, sideways, visiting } from "../harness.mjs";

// The first have been looked at in every dress; the others share their parts.
const EVERY_DRESS = [
  "",
  "errors/cuda-oom-loading-model/",
  "will-it-run/",
  "models/llama-3.1-8b-instruct/",
  "diagnose/",
  "compare/",
  "choose-gpu/",
  "cost-vs-cloud/",
];
const IN_LIGHT = [
  "categories/out-of-memory/",
  "tools/vllm/",
  "guides/choose-a-quantization/",
  "glossary/",
  "hardware/geforce-rtx-3060-12-gb/",
  "quants/q4-k-m/",
  "methodology/",
  "about/",
  "errors/",
  "models/",
  "models-by-memory/",
  "hardware/",
  "quants/",
  "tools/",
  "guides/",
  "changes/",
  "search/",
  "404.html",
];
/** In other dresses the elements are those of the light one: only the rules that ask for their looks run again. */
const COLORS = ["color-contrast", "link-in-text-block"];
const DRESSES = {
  light: [{}],
  dark: [{ colorScheme: "dark" }, COLORS],
  phone: [PHONE, [...COLORS, "target-size", "scrollable-region-focusable", "meta-viewport"]],
};

export default function ({ browser, url }) {
  for (const path of [...EVERY_DRESS, ...IN_LIGHT]) {
    const dresses = Object.entries(DRESSES).slice(0, EVERY_DRESS.includes(path) ? 3 : 1);
    for (const [dress, [options, rules]] of dresses) {
      test(`/${path} in ${dress}: no error, and axe-core finds nothing`, () =>
        visiting(browser, url + path, options, async (page, { trouble }) => {
          assert.deepEqual(await axe(page, rules), []);
          assert.deepEqual(trouble, []);
          assert.equal(await page.locator("h1").count(), 1);
        }));
    }
    test(`/${path} does not scroll sideways at 320 px`, () =>
      visiting(browser, url + path, { viewport: { width: 320, height: 640 } }, async page =>
        assert.ok((await sideways(page)) <= 0, `${await sideways(page)} px too wide`),
      ));
  }

  test("on paper the pages are dark on white without controls, from a dark screen too", () =>
    visiting(browser, url, { colorScheme: "dark" }, async page => {
      for (const path of ["", "will-it-run/", "errors/cuda-oom-loading-model/"]) {
        await page.goto(url + path);
        await page.emulateMedia({ media: "print" });
        assert.deepEqual(await axe(page, ["color-contrast"]), [], path);
        assert.equal(await page.locator("button:visible:not(.best *)").count(), 0, path);
        const dark = page.locator(".hero, .fit-teaser, .calc-answer, .code").filter({ visible: true });
        for (const color of await dark.evaluateAll(all => all.map(each => getComputedStyle(each).backgroundColor))) {
          assert.equal(color, "rgb(255, 255, 255)", path);
        }
      }
    }));

  test("the focus is outlined on every kind of control, and nothing moves for readers who prefer that", () =>
    visiting(browser, url, { reducedMotion: "reduce" }, async page => {
      assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior), "auto");
      for (const path of ["", "models/", "errors/cuda-oom-loading-model/"]) {
        await page.goto(url + path);
        for (let stop = 0; stop < 25; stop++) {
          await page.keyboard.press("Tab");
          const { name, width } = await page.evaluate(() => {
            const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
            return {
              name: document.activeElement.outerHTML,
              width: outlineStyle === "none" ? 0 : parseInt(outlineWidth),
            };
          });
          assert.ok(width >= 2, `${path}: ${name.slice(0, 120)}`);
        }
      }
    }));

  test("an address that does not exist says so, at any depth, and offers the way on", () =>
    visiting(browser, `${url}errors/no-such/cuda-out-of-memory`, {}, async (page, { trouble }) => {
      assert.match(await page.title(), /Page not found/);
      await page
        .locator("#kbgen-finder li a", { hasText: /out of memory/i })
        .first()
        .waitFor();
      assert.equal(await page.locator("#kbgen-finder input").inputValue(), "cuda out of memory");
      assert.deepEqual(
        trouble.filter(line => !line.endsWith("/errors/no-such/cuda-out-of-memory") && !line.includes("status of 404")),
        [],
      );
    }));
}
