// A newcomer with a keyboard and nothing else: from the message to the command.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readJson, visiting } from "../harness.mjs";

/** More stops than any page has before what is looked for. */
const STOPS = 80;

export default function ({ folder, browser, url }) {
  const {
    title,
    signatures: [
      {
        samples: [sample],
      },
    ],
  } = readJson(`${folder}/errors/cuda-oom-loading-model.json`);

  test("by keyboard alone: from the home page over a pasted message, its page and the calculator to a copied command", () =>
    visiting(browser, url, { permissions: ["clipboard-read", "clipboard-write"] }, async (page, { trouble }) => {
      /** Goes on with Tab until the focus is on one of these; the focus is seen on the way. */
      const tabTo = async wanted => {
        for (let stop = 0; stop < STOPS; stop++) {
          await page.keyboard.press("Tab");
          if (await page.evaluate(wanted => document.activeElement.matches(wanted), wanted)) {
            return page.locator(":focus");
          }
        }
        throw new Error(`${STOPS} stops, and no ${wanted}`);
      };
      // The clipboard of a reader, pasted as a reader does.
      const paste = async () => {
        await page.evaluate(text => navigator.clipboard.writeText(text), sample);
        await page.keyboard.press("Control+v");
        await page.locator("#paste-out .found a").first().waitFor();
      };

      await tabTo("#paste-text");
      await paste();
      await page.keyboard.press("ArrowDown");
      assert.equal(await page.locator(":focus").innerText(), title);
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/errors\/cuda-oom-loading-model\/index\.html/);
      assert.equal(await page.locator("h1").innerText(), title);

      // The page's own box reads the figures, and the calculator begins with them.
      await tabTo("#paste-text");
      await paste();
      const offer = await tabTo('#paste-out a[href*="will-it-run"]');
      const [, size] = /(\d+\.\d\d) GiB/.exec(await offer.innerText());
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/will-it-run\/index\.html#mem=/);
      await page.locator("#answer-body").waitFor();
      assert.equal(Number(await page.locator("#memory-1").inputValue()), Number(size));

      const copy = await tabTo("#commands .copy");
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => document.activeElement.textContent === "Copied");
      const block = copy.locator("xpath=ancestor::*[contains(concat(' ', @class, ' '), ' code ')]");
      assert.equal(
        await page.evaluate(() => navigator.clipboard.readText()),
        (await block.locator("code").textContent()).replace(/\n$/, ""),
      );
      assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^(llama-|ollama )/);
      assert.deepEqual(trouble, []);
    }));
}
