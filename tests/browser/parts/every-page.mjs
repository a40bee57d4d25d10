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
