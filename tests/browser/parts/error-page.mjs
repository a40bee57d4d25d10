// The page that a reader with an error in hand arrives at.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readJson, visiting } from "../harness.mjs";

const SLUG = "cuda-oom-loading-model";
const WITH_PROMPT = "cuda-oom-other-process";

export default function ({ folder, browser, url }) {
  const address = `${url}errors/${SLUG}/`;
  const facts = readJson(`${folder}/errors/${SLUG}.json`);
  const on = (name, options, use) => test(`error page: ${name}`, () => visiting(browser, address, options, use));

  on("match, cause, fixes, check, next steps and sources stand in this order", {}, async page => {
    const ids = await page.locator("article [id]").evaluateAll(elements => elements.map(element => element.id));
    const order = ["is-this-it", "which-cause", ...facts.solutions.map(solution => solution.id), "check", "next", "sources"];
    assert.deepEqual(ids.filter(id => order.includes(id)), order);
    assert.equal(await page.locator("h1").innerText(), facts.title);
    for (const cause of facts.causes) {
      const jumps = page.locator(`#cause-${cause.id} .jumps a`);
      assert.deepEqual(await jumps.evaluateAll(links => links.map(link => link.hash.slice(1))), cause.solutions);
    }
  });

  test("error page: the copy button takes the command without its prompt and its output", () =>
    visiting(browser, `${url}errors/${WITH_PROMPT}/`, { permissions: ["clipboard-read", "clipboard-write"] }, async page => {
      const block = page.locator(".code[data-lang=console]").first();
      const [first] = (await block.locator("code").innerText()).split("\n");
      assert.match(first, /^\$ /);
      await block.locator("button.copy").click();
      await block.locator("button.copy", { hasText: "Copied" }).waitFor();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      assert.equal(copied.split("\n")[0], first.slice(2));
      assert.doesNotMatch(copied, /^\$/m);
    }));

  on("the list of contents leads to each part and marks the one being read", {}, async page => {
    const links = page.locator(".toc a");
    const targets = await links.evaluateAll(all => all.map(link => link.hash));
    for (const target of targets) assert.equal(await page.locator(target).count(), 1, target);
    const last_fix = `#${facts.solutions.at(-1).id}`;
    await page.locator(`.toc a[href="${last_fix}"]`).click();
    await page.locator(`.toc a[href="${last_fix}"][aria-current]`).waitFor();
    assert.equal(new URL(page.url()).hash, last_fix);
    const { y } = await page.locator(last_fix).boundingBox();
    assert.ok(y >= 0 && y < 900, `the heading is at ${y}`);
  });

  on("the chosen theme is remembered on the next page", {}, async page => {
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.locator("#theme").click();
    const dark = await background();
    assert.notEqual(dark, light);
    await page.goto(`${url}glossary/`);
    assert.equal(await background(), dark);
    await page.locator("#theme").click();
    assert.equal(await background(), light);
  });

  const clock = time => ({ prepare: page => page.clock.setFixedTime(time) });
  on("years later the badge asks for another look", clock(new Date("2040-01-01")), async page =>
    assert.ok(await page.locator(".verified .overdue").isVisible()));
  on("on the day it was verified the badge asks for nothing", clock(new Date(`${facts.verified}T12:00:00Z`)), async page => {
    assert.ok(!(await page.locator(".verified .overdue").isVisible()));
    assert.match(await page.locator(".verified").innerText(), new RegExp(facts.verified));
  });

  on("the first stop of the Tab key skips to the content", {}, async page => {
    await page.keyboard.press("Tab");
    const skip = page.locator("a.skip:focus");
    const { x, y } = await skip.boundingBox();
    assert.ok(x >= 0 && y >= 0, "the link shows when it has the focus");
    await page.keyboard.press("Enter");
    await page.locator("#main:focus").waitFor();
    await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => document.querySelector("main").contains(document.activeElement)));
  });

  on("without scripts nothing of the text is missing", { javaScriptEnabled: false }, async (page, { requests }) => {
    const bare = await page.locator("main").innerText();
    await visiting(browser, address, {}, async scripted => {
      const box = await scripted.locator(".paste").innerText();
      const missing = (await scripted.locator("main").innerText()).split("\n").filter(line => line.trim() && line !== "Copy" && !box.includes(line) && !bare.includes(line));
      assert.deepEqual(missing, []);
    });
    for (const heading of await page.locator("main h2").all()) assert.ok(await heading.isVisible());
    assert.match(bare, /The paste box needs JavaScript/);
    assert.ok(!requests.some(request => request.url.endsWith(".js")));
  });

  on("what stands folded away opens by keyboard", {}, async page => {
    for (const details of await page.locator("details").all()) {
      await details.locator("summary").focus();
      await page.keyboard.press("Enter");
      assert.ok(await details.locator(".code").first().isVisible());
    }
  });
}
