// The map of the errors: its list is complete, its picture shows the same, and both light up together.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, readJson, visiting } from "../harness.mjs";

const title = "llama.cpp: failed to allocate compute buffers", slug = "llamacpp-compute-buffer-failed";

export default function ({ folder, browser, url }) {
  const map = `${url}errors/map/`;
  const { errors } = readJson(`${folder}/kb.json`);
  const related = new Map(errors.map(error => [error.slug, new Set()]));
  for (const error of errors) for (const other of error.related) {
    related.get(error.slug).add(other);
    related.get(other).add(error.slug);
  }
  const entry_of = (page, slug) => page.locator("details", { has: page.locator(`#at-${slug}`) });
  const neighbours = entry => entry.locator("li a").evaluateAll(links => links.map(link => link.hash.slice("#at-".length)));

  test("map: without scripts every error stands in the list with all its neighbours", () =>
    visiting(browser, map, { javaScriptEnabled: false }, async page => {
      const listed = await page.locator(".map-list details").evaluateAll(entries => entries.map(entry => [entry.firstChild.id.slice("at-".length),
        [...entry.querySelectorAll("li")].filter(item => !item.querySelector("i")).map(item => item.firstChild.hash.slice("#at-".length))]));
      assert.equal(listed.length, errors.length);
      for (const [own, others] of listed) assert.deepEqual(others.sort(), [...related.get(own)].sort(), own);
      await page.locator(`#at-${slug}`).click();
      await entry_of(page, slug).locator("p a").click();
      await page.waitForURL(`${url}errors/${slug}/index.html`);
    }));

  test("map: a stroke under the pointer lights up with its curves and the strokes at their ends", () =>
    visiting(browser, map, {}, async (page, { trouble }) => {
      const stroke = page.locator(".points a", { hasText: title });
      await stroke.hover();
      assert.equal(await page.locator("#map-said").innerText(), title);
      const lit = await page.locator(".points .on").count();
      assert.equal(lit, 1 + (await neighbours(entry_of(page, slug))).length);
      assert.equal(await page.locator(".curves .on").count(), lit - 1);
      await page.locator("h1").hover();
      assert.equal(await page.locator(".on").count(), 0);
      assert.deepEqual(trouble, []);
    }));

  test("map: by keyboard from an error's page to its place, and on to a neighbour", () =>
    visiting(browser, `${url}errors/${slug}/`, {}, async page => {
      await page.getByRole("link", { name: "See it on the map" }).press("Enter");
      await page.waitForURL(`${map}index.html#at-${slug}`);
      const entry = entry_of(page, slug);
      await page.waitForFunction(id => document.activeElement.id === id && document.activeElement.parentNode.open, `at-${slug}`);
      assert.equal(await page.locator("#map-said").textContent(), title);
      const [first] = await neighbours(entry);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.locator(`[open] > #at-${first}`).waitFor();
      assert.equal(await page.locator(".map-list [open]").count(), 1);
      assert.deepEqual(await axe(page), []);
    }));
}
