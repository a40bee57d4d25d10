// The same files below a path and without a server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { readJson, serve, visiting } from "../harness.mjs";

const background = page => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

export default function ({ folder, browser }) {
  const places = {
    "below /kb/": async () => (await serve(folder, "/kb/")).url,
    "from file://": async () => `${pathToFileURL(folder)}/`,
  };
  for (const [name, place] of Object.entries(places)) {
    test(`${name}: styles, links, the theme switch and the paste box work`, async () => {
      const base = await place();
      const {
        signatures: [
          {
            samples: [sample],
          },
        ],
      } = readJson(`${folder}/errors/cuda-oom-loading-model.json`);
      await visiting(browser, `${base}index.html`, {}, async (page, { trouble }) => {
        const light = await background(page);
        assert.notEqual(light, "rgba(0, 0, 0, 0)", "the style sheet is not applied");
        await page.locator("#theme").click();
        assert.notEqual(await background(page), light);

        await page.locator(".nav-wide a", { hasText: "Errors" }).click();
        await page.waitForURL(`${base}errors/index.html`);
        const row = page.locator("a.row-title[href*=cuda-oom-loading-model]");
        await page.locator("details.group", { has: row }).locator("summary").click();
        await row.click();
        await page.waitForURL(`${base}errors/cuda-oom-loading-model/index.html`);
        await page.locator("header.top a.brand").click();
        await page.waitForURL(`${base}index.html`);

        await page.locator("#paste-text").fill(sample);
        await page.locator("#paste-out .found a").first().click();
        await page.waitForURL(/cuda-oom-loading-model\/index\.html/);
        await page.goto(`${base}will-it-run/index.html`);
        assert.notEqual(await page.locator("#verdict").innerText(), "");
        assert.deepEqual(trouble, []);
      });
    });
  }
}
