// The knowledge base in one file, opened from a disk without a network: diagnosis, links, search, the way back.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { PHONE, axe, bundleFile, causeTitle, readJson, sideways, visiting } from "../harness.mjs";

const SAMPLE =
  "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 7.21 GiB already allocated; 0.50 GiB free; 7.30 GiB reserved in total by PyTorch)";
/** No file of its size was promised to open at once; beyond this it is not one to carry about. */
const MOST_BYTES = 14.4e6;

export default function ({ folder, browser }) {
  const url = pathToFileURL(bundleFile).href;
  const offline = { prepare: (_, context) => context.setOffline(true) };
  const open = (fragment, options, use) => visiting(browser, url + fragment, { ...offline, ...options }, use);
  const shown = page => page.locator("main > article:visible").evaluateAll(all => all.map(each => each.id));
  const focused = page => page.evaluate(() => document.activeElement.textContent.trim());
  // The address changes before the page of the address is shown.
  const settled = (page, hash) =>
    page.waitForFunction(hash => {
      const place = hash ? document.getElementById(hash.slice(1)) : document.querySelector("main > article");
      return location.hash === hash && place.closest("article.shown");
    }, hash);

  test("bundle: the policy allows what stands in the file, by its hash", () => {
    const page = readFileSync(bundleFile, "utf8");
    const [policy] = /(?<=Content-Security-Policy" content=")[^"]*/.exec(page);
    const hash = text => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    for (const [element, directive] of [
      ["script", "script-src"],
      ["style", "style-src"],
    ]) {
      const texts = [...page.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs"))].map(([, text]) => text);
      assert.ok(policy.includes(`${directive} ${texts.map(hash).join(" ")};`), `${element}: ${policy}`);
    }
    assert.ok(page.length < MOST_BYTES, `${page.length} bytes`);
  });

  test("bundle: from a disk and without a network a log finds its page, a link the next one, and back goes back", () =>
    open("", {}, async (page, { trouble }) => {
      assert.deepEqual(await shown(page), ["diagnose"]);
      const title = await page.title();
      await page.locator("#paste-text").fill(SAMPLE);
      const found = page.locator("#paste-out .found li > a").first();
      await found.waitFor();
      await page.waitForFunction(() =>
        document.querySelector("#paste-out .found a").getAttribute("href").startsWith("#errors/"),
      );
      await found.click();
      await settled(page, "#errors/cuda-oom/cause-one-huge-request");
      assert.deepEqual(await shown(page), ["errors/cuda-oom"]);
      assert.match(await focused(page), new RegExp(causeTitle(folder, "cuda-oom", "one-huge-request")));
      assert.equal(await page.title(), `CUDA out of memory · ${title}`);
      const there = await page.evaluate(() => scrollY);
      assert.ok(there > 100, `${there}`);

      // Not by the mouse, which would scroll to it first.
      await page.evaluate(() => document.querySelector("article.shown a[href^='#categories/']").click());
      await settled(page, "#categories/out-of-memory");
      assert.deepEqual(await shown(page), ["errors"]);
      await page.locator("article.shown a[href='#errors/cuda-oom-loading-model']").click();
      await settled(page, "#errors/cuda-oom-loading-model");
      assert.equal(await focused(page), "CUDA out of memory when loading a model");
      assert.equal(await page.evaluate(() => scrollY), 0);

      await page.goBack();
      await page.goBack();
      await settled(page, "#errors/cuda-oom/cause-one-huge-request");
      await page.waitForFunction(there => Math.abs(scrollY - there) < 5, there);
      await page.goBack();
      await settled(page, "");
      assert.equal(await page.title(), title);
      assert.ok(await found.isVisible(), "the answer is still there");
      assert.deepEqual(trouble, []);
    }));

  test("bundle: the answers are those of the site for a message of each category", () =>
    open("", {}, async page => {
      const { errors } = readJson(join(folder, "kb.json"));
      const categories = new Map(errors.filter(each => each.signatures.length).map(each => [each.category, each]));
      for (const { slug, signatures } of categories.values()) {
        await page.locator("#paste-text").fill("");
        await page.locator("#paste-go").click();
        await page.locator("#paste-text").fill(signatures[0].samples[0]);
        await page.locator("#paste-go").click();
        await page.locator(`#paste-out .found a[href^='#errors/${slug}']`).first().waitFor();
      }
    }));

  test("bundle: the search finds what is in the file, by keyboard", () =>
    open("#guides", {}, async (page, { trouble }) => {
      await page.keyboard.press("/");
      await page.locator("dialog.finder [role=option]").first().waitFor();
      await page.keyboard.insertText("rtx 4090");
      const first = page.locator("dialog.finder [role=option]", { hasText: "GeForce RTX 4090" }).first();
      await first.waitFor();
      await page.keyboard.press("Enter");
      await settled(page, "#hardware/geforce-rtx-4090");
      assert.deepEqual(await shown(page), ["hardware"]);
      assert.match(await focused(page), /^GeForce RTX 4090/);
      // The calculator is not in the file, and so is not found.
      await page.keyboard.press("/");
      await page.keyboard.insertText("will it run calculator");
      await page.waitForFunction(() =>
        /result|[Nn]othing/.test(document.querySelector("dialog.finder [role=status]").textContent),
      );
      assert.equal(await page.locator("dialog.finder a[href*='will-it-run']").count(), 0);
      assert.deepEqual(trouble, []);
    }));

  test("bundle: a case in the address is read, and an address of no page says so", () =>
    open(`#case=${encodeURIComponent(SAMPLE)}`, {}, async page => {
      await page.locator("#paste-out .found li > a").first().waitFor();
      await page.evaluate(() => {
        location.hash = "#errors/no-such-page";
      });
      await page.locator("#bundle-status", { hasText: "errors/no-such-page" }).waitFor();
      assert.deepEqual(await shown(page), ["diagnose"]);
    }));

  for (const [dress, options] of Object.entries({ light: {}, dark: { colorScheme: "dark" }, phone: PHONE })) {
    for (const place of ["", "#errors", "#errors/cuda-oom-loading-model", "#models", "#glossary"]) {
      test(`bundle ${place} in ${dress}: axe-core finds nothing`, () =>
        open(place, options, async (page, { trouble }) => {
          await page.locator("article.shown h1").waitFor();
          // Nobody meets the pages that are not shown, and axe-core takes minutes over all of them: once is enough.
          if (place + dress !== "light") {
            await page.evaluate(() =>
              document.querySelectorAll("main > article:not(.shown)").forEach(page => page.remove()),
            );
          }
          assert.deepEqual(await axe(page), []);
          assert.deepEqual(trouble, []);
        }));
    }
  }

  test("bundle: it does not scroll sideways at 320 px", () =>
    open("", { viewport: { width: 320, height: 640 } }, async page => {
      for (const place of ["", "#errors", "#errors/cuda-oom-loading-model", "#models", "#hardware", "#tools/vllm"]) {
        await page.evaluate(place => {
          location.hash = place;
        }, place);
        await page.waitForFunction(
          id => document.querySelector("article.shown").id === id,
          place.slice(1) || "diagnose",
        );
        assert.ok((await sideways(page)) <= 0, `${place}: ${await sideways(page)} px too wide`);
      }
    }));

  test("bundle: without scripts all pages are there, and links lead among them", () =>
    open("", { javaScriptEnabled: false }, async page => {
      const all = page.locator("main > article");
      assert.ok((await all.count()) > readJson(join(folder, "kb.json")).errors.length);
      assert.equal(await page.locator("main > article:not(:visible)").count(), 0);
      await page.locator("#errors a[href='#errors/cuda-oom-loading-model']").click();
      assert.match(page.url(), /#errors\/cuda-oom-loading-model$/);
    }));

  test("bundle: on paper stands the page that is shown", () =>
    open("#errors/cuda-oom-loading-model", {}, async page => {
      await page.locator("article.shown h1").waitFor();
      await page.emulateMedia({ media: "print" });
      assert.deepEqual(await shown(page), ["errors/cuda-oom-loading-model"]);
      assert.equal(await page.locator("header.top").isVisible(), false);
    }));
}
