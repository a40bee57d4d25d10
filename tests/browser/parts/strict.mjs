// The strictest policy that a browser knows, and what a reader leaves behind: nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { visiting } from "../harness.mjs";

/** What a reader types and would not want to see anywhere else. */
const SECRET = "secret-4711-token";
const LOG = `${SECRET} <img src=x onerror=alert(1)> torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB`;
/** All that the scripts may remember, each a choice of the reader. */
const REMEMBERED = ["theme", "variants", "device"];

export default function ({ browser, url }) {
  /** A visitor whose browser notes what breaks the policy; at the end nothing has, and nothing was sent or kept. */
  const strictly = (path, use) =>
    visiting(
      browser,
      url + path,
      {
        prepare: page =>
          page.addInitScript(() => {
            window.broken = [];
            addEventListener("securitypolicyviolation", event =>
              window.broken.push(
                `${event.effectiveDirective}: ${event.sample} ${event.sourceFile}:${event.lineNumber}`,
              ),
            );
            window.alert = () => window.broken.push("a script of the text ran");
          }),
      },
      async (page, { context, requests, trouble }) => {
        await use(page);
        assert.deepEqual(await page.evaluate(() => window.broken), []);
        assert.deepEqual(trouble, []);
        const kept = await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)]);
        assert.deepEqual(
          kept.filter(name => !REMEMBERED.includes(name)),
          [],
        );
        assert.equal(await page.evaluate(() => document.cookie), "");
        assert.deepEqual(await context.cookies(), []);
        for (const request of requests) {
          assert.equal(request.method, "GET");
          assert.equal(request.body, null);
          // A fragment never leaves the browser.
          assert.ok(!request.url.split("#")[0].includes(SECRET), request.url);
        }
      },
    );

  test("strict: where a browser knows trusted types, text becomes no markup and only the site's own files are scripts", () =>
    // The console tells of all that is tried here.
    visiting(browser, url, {}, async page => {
      const told = await page.evaluate(() => {
        const tried = {
          markup: () => {
            document.createElement("div").innerHTML = "<b>x</b>";
          },
          code: () => {
            document.createElement("script").text = "alert(1)";
          },
          foreign: () => {
            document.createElement("script").src = "https://example.org/x.js";
          },
          beside: () => {
            document.createElement("script").src = `${location.origin}.example.org/x.js`;
          },
          data: () => {
            document.createElement("script").src = "data:text/javascript,alert(1)";
          },
          policy: () => {
            trustedTypes.createPolicy("other", {});
          },
          second: () => {
            trustedTypes.createPolicy("default", {});
          },
          own: () => {
            document.createElement("script").src = "data/search.js";
          },
        };
        return Object.entries(tried)
          .filter(([, attempt]) => {
            try {
              attempt();
              return true;
            } catch {
              return false;
            }
          })
          .map(([name]) => name);
      });
      assert.deepEqual(told, ["own"]);
      assert.equal(
        await page.evaluate(() =>
          kbgen.load("https://example.org/y.js").then(
            () => "loaded",
            () => "refused",
          ),
        ),
        "refused",
      );
      assert.equal(await page.locator("script[src*='example.org']").count(), 0);
    }));

  test("strict: the paste box finds a page, and what was pasted stays", () =>
    strictly("", async page => {
      await page.locator("#paste-text").fill(LOG);
      await page.locator("#paste-go").click();
      await page.locator("#paste-out .found > li > a").first().waitFor();
      assert.equal(await page.locator("#paste-out img").count(), 0);
    }));

  test("strict: the search shows what is typed as text", () =>
    strictly("models/llama-3.1-8b-instruct/", async page => {
      await page.keyboard.press("/");
      await page.waitForFunction(() => kbgen.pages);
      const dialog = page.locator("dialog.finder");
      await dialog.locator("input").fill("4090");
      await dialog.locator("[role=option]").first().waitFor();
      await dialog.locator("input").fill(`<img src=x onerror=alert(1)> ${SECRET}`);
      await dialog.locator("[role=status]").waitFor({ state: "attached" });
      assert.equal(await dialog.locator("img").count(), 0);
    }));

  test("strict: the calculator loads a model's table and answers", () =>
    strictly(
      "will-it-run/#model=llama-3.1-8b-instruct&quant=Q4_K_M&ctx=8192&kv=f16&gpu=geforce-rtx-3060-12-gb",
      async page => {
        await page.locator("#answer:not([aria-busy])").waitFor();
        assert.match(await page.locator("#verdict").innerText(), /fits/i);
        assert.ok(await page.evaluate(() => localStorage.length <= 1));
      },
    ));

  for (const path of [
    "compare/#a=geforce-rtx-3060-12-gb&b=geforce-rtx-4090&quant=Q4_K_M&ctx=32768",
    "choose-gpu/",
    "cost-vs-cloud/",
    "errors/",
    "errors/cuda-oom-loading-model/",
    "diagnose/",
    "models/",
    "search/?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
  ]) {
    test(`strict: /${path.split(/[#?]/)[0]} breaks nothing of the policy`, () =>
      strictly(path, page => page.waitForLoadState("networkidle")));
  }
}
