// Error pages on a phone: what a reader in a hurry sees first, and what a link into a folded part shows.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { readJson, visiting } from "../harness.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
/** Share of pages whose first step is on the first screen, and screens of the median page with everything closed. */
const SHARE = 0.95;
const SCREENS = 5;
const MANY_CAUSES = "cuda-oom";

export default function ({ folder, browser, url }) {
  const slugs = readdirSync(`${folder}/errors`)
    .filter(name => name.endsWith(".json") && name !== "index.json")
    .map(name => name.replace(/\.json$/, ""));
  /** Every third page, for time. */
  const drawn = slugs.filter((_, at) => at % 3 === 0);
  const facts = slug => readJson(`${folder}/errors/${slug}.json`);

  test(`on a phone ${SHARE * 100} % of error pages show the first step at once, and half end within ${SCREENS} screens`, t =>
    visiting(browser, `${url}errors/${slugs[0]}/`, PHONE, async page => {
      const measured = [];
      for (const slug of drawn) {
        await page.goto(`${url}errors/${slug}/`);
        measured.push({
          slug,
          ...(await page.evaluate(() => {
            const step = document.querySelector(".first-step") ?? document.querySelector(".causes");
            const parts = [...step.querySelectorAll(".code, summary, p, li, tr")].filter(part =>
              part.checkVisibility(),
            );
            const first = parts.find(part => part.matches(".code")) ?? parts[0];
            return {
              step: first.getBoundingClientRect().bottom / innerHeight,
              length: document.documentElement.scrollHeight / innerHeight,
              open: document.querySelectorAll("main details[open]").length,
            };
          })),
        });
      }
      const late = measured.filter(({ step }) => step > 1);
      const lengths = measured.map(({ length }) => length).sort((a, b) => a - b);
      const median = lengths[Math.floor(lengths.length / 2)];
      t.diagnostic(`first step on the first screen: ${measured.length - late.length} of ${measured.length} pages`);
      t.diagnostic(late.map(({ slug, step }) => `${slug} ${step.toFixed(2)}`).join(", "));
      t.diagnostic(`screens: median ${median.toFixed(1)}, longest ${lengths.at(-1).toFixed(1)}`);
      assert.deepEqual(
        measured.filter(({ open }) => open),
        [],
      );
      assert.ok(measured.length - late.length >= SHARE * measured.length);
      assert.ok(median <= SCREENS, `${median} screens`);
    }));

  test("a link to a folded fix, cause, section or source opens it, from outside, from the page and by the Back key", () =>
    visiting(
      browser,
      `${url}errors/${MANY_CAUSES}/`,
      { ...PHONE, reducedMotion: "reduce" },
      async (page, { trouble }) => {
        const { causes, solutions } = facts(MANY_CAUSES);
        const isShown = id =>
          page.waitForFunction(id => {
            const target = document.getElementById(id);
            const { top } = target.getBoundingClientRect();
            return !target.closest("details:not([open])") && top >= 0 && top < innerHeight;
          }, id);
        const targets = [`cause-${causes.at(-1).id}`, solutions.at(-1).id, solutions[0].id, "sources", "is-this-it"];
        for (const id of targets) {
          await page.goto("about:blank");
          await page.goto(`${url}errors/${MANY_CAUSES}/#${id}`);
          await isShown(id);
        }
        await page.goto("about:blank");
        await page.goto(`${url}errors/${MANY_CAUSES}/`);
        const [first, last] = [solutions[0].id, solutions.at(-1).id];
        for (const id of [first, last]) {
          await page.evaluate(id => {
            location.hash = id;
          }, id);
          await isShown(id);
        }
        await page.evaluate(() => {
          for (const details of document.querySelectorAll("details")) details.open = false;
        });
        await page.goBack();
        await page.locator(`#${first}`).waitFor();
        assert.deepEqual(trouble, []);
      },
    ));

  test("every fix is on the page once, under the first cause that names it, and the others link to it", () =>
    visiting(browser, `${url}errors/${MANY_CAUSES}/`, {}, async page => {
      const { causes } = facts(MANY_CAUSES);
      const seen = new Set();
      for (const cause of causes) {
        const body = page.locator(`#cause-${cause.id}`);
        const own = await body.locator(".fix h3").evaluateAll(titles => titles.map(title => title.id));
        const links = await body.locator(".again a").evaluateAll(all => all.map(link => link.hash.slice(1)));
        assert.deepEqual(
          own,
          cause.solutions.filter(id => !seen.has(id)),
        );
        assert.deepEqual(
          links,
          cause.solutions.filter(id => seen.has(id)),
        );
        cause.solutions.forEach(id => seen.add(id));
        assert.equal(await body.locator(".done a").getAttribute("href"), "#check");
      }
    }));

  test("without scripts the causes open by keyboard and by a link, and everything is printed", () =>
    visiting(browser, `${url}errors/${MANY_CAUSES}/`, { javaScriptEnabled: false }, async page => {
      const { causes, solutions } = facts(MANY_CAUSES);
      const cause = page.locator(`#cause-${causes[0].id}`);
      assert.ok(!(await cause.isVisible()));
      await page.locator(".cause summary").first().focus();
      await page.keyboard.press("Enter");
      assert.ok(await cause.isVisible());
      await page.goto(`${url}errors/${MANY_CAUSES}/#${solutions.at(-1).id}`);
      assert.ok(await page.locator(`#${solutions.at(-1).id}`).isVisible());
      await page.emulateMedia({ media: "print" });
      for (const { id } of solutions) {
        const { height } = await page.locator(`#${id}`).boundingBox();
        assert.ok(height > 0 && (await page.locator(`#${id}`).isVisible()), id);
      }
    }));
}
