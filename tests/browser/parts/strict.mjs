// The strictest policy that a browser knows, and what a reader leaves behind: nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { visiting } from "../harness.mjs";

/** What a reader types and would not want to see anywhere else. */
const SECRET = "secret-4711-token";
const LOG = `${SECRET} <img src=x onerror=alert(1)> torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB`;
/** All that the scripts may remember, each a choice of the reader. */
const REMEMBERED = ["theme", "variants", "card"];

export default function ({ browser, url }) {
  /** A visitor whose browser notes what breaks the policy; at the end nothing has, and nothing was sent or kept. */
  const strictly = (path, use) => visiting(browser, url + path, {
    prepare: page => page.addInitScript(() => {
      window.broken = [];
      addEventListener("securitypolicyviolation", event => window.broken.push(`${event.effectiveDirective}: ${event.sample} ${event.sourceFile}:${event.lineNumber}`));
      window.alert = () => window.broken.push("a script of the text ran");
    }),
  }, async (page, { context, requests, trouble }) => {
    await use(page);
    assert.deepEqual(await page.evaluate(() => window.broken), []);
    assert.deepEqual(trouble, []);
    const kept = await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)]);
    assert.deepEqual(kept.filter(name => !REMEMBERED.includes(name)), []);
    assert.equal(await page.evaluate(() => document.cookie), "");
    assert.deepEqual(await context.cookies(), []);
    for (const request of requests) {
      assert.equal(request.method, "GET");
      assert.equal(request.body, null);
      // A fragment never leaves the browser.
      assert.ok(!request.url.split("#")[0].includes(SECRET), request.url);
    }
  });

  test("strict: a browser that demands trusted types refuses everything but this site's own scripts", () =>
    strictly("", async page => {
      const told = await page.evaluate(() => ["innerHTML", "script", "foreign", "policy"].map(what => {
        try {
          if (what === "innerHTML") document.createElement("div").innerHTML = "<b>x</b>";
          if (what === "script") document.createElement("script").src = "x.js";
          if (what === "foreign") { window.kbgenLoad("https://example.org/x.js"); return "loaded"; }
          if (what === "policy") trustedTypes.createPolicy("other", {});
          return "done";
        } catch (error) { return error.constructor.name; }
      }));
      assert.deepEqual(told.slice(0, 2), ["TypeError", "TypeError"]);
      assert.equal(told[3], "TypeError");
      assert.equal(await page.evaluate(() => window.kbgenLoad("https://example.org/y.js").then(() => "loaded", () => "refused")), "refused");
      assert.equal(await page.locator("script[src*='example.org']").count(), 0);
      // What was broken here was broken on purpose.
      await page.evaluate(() => { window.broken = []; });
    }).catch(error => {
      // The console tells of what was tried; nothing else may have gone wrong.
      if (!/TrustedScriptURL|TrustedHTML|trusted-types|Trusted Type/.test(String(error))) throw error;
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
      await page.waitForFunction(() => window.kbgenPages);
      const dialog = page.locator("dialog.finder");
      await dialog.locator("input").fill("4090");
      await dialog.locator("[role=option]").first().waitFor();
      await dialog.locator("input").fill(`<img src=x onerror=alert(1)> ${SECRET}`);
      await dialog.locator("[role=status]").waitFor({ state: "attached" });
      assert.equal(await dialog.locator("img").count(), 0);
    }));

  test("strict: the calculator loads a model's table and answers", () =>
    strictly("will-it-run/#model=llama-3.1-8b-instruct&quant=Q4_K_M&ctx=8192&kv=f16&gpu=geforce-rtx-3060-12-gb", async page => {
      await page.locator("#answer:not([aria-busy])").waitFor();
      assert.match(await page.locator("#verdict").innerText(), /fits/i);
      assert.ok(await page.evaluate(() => localStorage.length <= 1));
    }));

  for (const path of ["compare/#a=geforce-rtx-3060-12-gb&b=geforce-rtx-4090&quant=Q4_K_M&ctx=32768", "choose-gpu/", "cost-vs-cloud/", "errors/",
    "errors/cuda-oom-loading-model/", "diagnose/", "models/", "search/?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"]) {
    test(`strict: /${path.split(/[#?]/)[0]} breaks nothing of the policy`, () =>
      strictly(path, page => page.waitForLoadState("networkidle")));
  }
}
