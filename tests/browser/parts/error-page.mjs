// The page that a reader with an error in hand arrives at.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PHONE, axe, readJson, sideways, visiting } from "../harness.mjs";

const SLUG = "cuda-oom-loading-model";
const WITH_PROMPT = "cuda-oom-other-process";
/** Both have variants by system. */
const [FOR_SYSTEMS, FOR_SYSTEMS_TOO] = ["ollama-port-in-use", "llamacpp-port-in-use"];
// Its first command is for Linux and macOS, or for Windows.
const FOR_UNIX = "browser-failed-to-fetch";
/** Opens everything that is folded but what brings its own scripts. */
const unfold = page =>
  page.evaluate(() => {
    for (const details of document.querySelectorAll("details:not([data-scripts])")) details.open = true;
  });
/** How far what is there has moved since the page was opened, whoever moved it. */
const shifts = {
  prepare: page =>
    page.addInitScript(() => {
      window.shifted = 0;
      new PerformanceObserver(list => {
        for (const entry of list.getEntries()) window.shifted += entry.value;
      }).observe({ type: "layout-shift", buffered: true });
    }),
};

export default function ({ folder, browser, url }) {
  const address = `${url}errors/${SLUG}/`;
  const facts = readJson(`${folder}/errors/${SLUG}.json`);
  const on = (name, options, use) => test(`error page: ${name}`, () => visiting(browser, address, options, use));

  on("causes, fixes, check, next steps, messages and sources stand in this order", {}, async page => {
    const ids = await page.locator("article [id]").evaluateAll(elements => elements.map(element => element.id));
    const fixes = [...new Set(facts.causes.flatMap(cause => cause.solutions))];
    const order = ["which-cause", ...fixes, "check", "next", "is-this-it", "sources"];
    assert.deepEqual(
      ids.filter(id => order.includes(id)),
      order,
    );
    assert.equal(await page.locator("h1").innerText(), facts.title);
  });

  test("error page: the copy button takes the command without its prompt and its output", () =>
    visiting(
      browser,
      `${url}errors/${WITH_PROMPT}/`,
      { permissions: ["clipboard-read", "clipboard-write"] },
      async page => {
        await unfold(page);
        const block = page.locator(".code[data-lang=console]").first();
        const [first] = (await block.locator("code").innerText()).split("\n");
        assert.match(first, /^\$ /);
        await block.locator("button.copy").click();
        await block.locator("button.copy", { hasText: "Copied" }).waitFor();
        const copied = await page.evaluate(() => navigator.clipboard.readText());
        assert.equal(copied.split("\n")[0], first.slice(2));
        assert.doesNotMatch(copied, /^\$/m);
      },
    ));

  test("error page: copy all takes prompts and output too", () =>
    visiting(
      browser,
      `${url}errors/${WITH_PROMPT}/`,
      { permissions: ["clipboard-read", "clipboard-write"] },
      async page => {
        await unfold(page);
        const block = page.locator(".code[data-lang=console]").first();
        await block.locator("button", { hasText: "Copy all" }).click();
        await block.locator("button.copy-all", { hasText: "Copied" }).waitFor();
        assert.equal(
          await page.evaluate(() => navigator.clipboard.readText()),
          await block.locator("code").evaluate(code => code.textContent),
        );
        assert.equal(
          await page.locator(".code[data-lang=log] button").first().locator("xpath=..").locator("button").count(),
          1,
        );
      },
    ));

  test("error page: one variant of a command is shown, and the one chosen goes for other pages too", () =>
    visiting(browser, `${url}errors/${FOR_SYSTEMS}/`, shifts, async page => {
      await unfold(page);
      const group = page.locator(".variants[data-by=os]").first();
      const shown = () =>
        group.locator(".code:visible").evaluateAll(blocks => blocks.map(block => block.dataset.label));
      const [first, ...others] = await group
        .locator(".code")
        .evaluateAll(blocks => blocks.map(block => block.dataset.label));
      assert.ok(others.length);
      assert.deepEqual(await shown(), [first]);
      const below = () => page.locator("#check").evaluate(heading => heading.getBoundingClientRect().top + scrollY);
      const before = await below();
      const windows = page.getByRole("group", { name: "System" }).first().getByRole("button", { name: "Windows" });
      await windows.focus();
      await page.keyboard.press("Enter");
      assert.equal(await windows.getAttribute("aria-pressed"), "true");
      for (const each of await page.locator(".variants[data-by=os]").all()) {
        assert.match(await each.locator(".code:visible").getAttribute("data-label"), /Windows$/);
      }
      assert.equal(await below(), before);
      await page.goto(`${url}errors/${FOR_SYSTEMS_TOO}/`);
      assert.equal(await page.evaluate(() => window.shifted), 0);
      await unfold(page);
      assert.match(
        await page.locator(".variants[data-by=os] .code:visible").first().getAttribute("data-label"),
        /Windows$/,
      );
      await page.emulateMedia({ media: "print" });
      for (const block of await page.locator(".variants .code").all()) assert.ok(await block.isVisible());
    }));

  test("error page: a choice of Linux and macOS goes for blocks of one of them", () =>
    visiting(browser, `${url}errors/${FOR_UNIX}/`, {}, async page => {
      await unfold(page);
      const choose = name =>
        page.getByRole("group", { name: "System" }).first().getByRole("button", { name }).press("Enter");
      await choose("Windows");
      await choose("Linux and macOS");
      await page.goto(`${url}errors/${FOR_SYSTEMS}/`);
      await unfold(page);
      const block = page.locator(".variants[data-by=os] .code:visible").first();
      assert.match(await block.getAttribute("data-label"), /(Linux|macOS)$/);
    }));

  test("error page: a remembered choice of another form is none", () =>
    visiting(browser, `${url}errors/${FOR_SYSTEMS}/`, {}, async (page, { trouble }) => {
      await page.evaluate(() => localStorage.setItem("variants", '{"a":1}'));
      await page.reload();
      await page.locator(".variants [aria-pressed=true]").first().waitFor({ state: "attached" });
      assert.deepEqual(trouble, []);
    }));

  test("error page: without scripts every variant is shown", () =>
    visiting(browser, `${url}errors/${FOR_SYSTEMS}/`, { javaScriptEnabled: false }, async page => {
      await page.emulateMedia({ media: "print" });
      for (const block of await page.locator(".variants .code").all()) assert.ok(await block.isVisible());
    }));

  for (const [dress, options] of Object.entries({ light: {}, dark: { colorScheme: "dark" }, phone: PHONE })) {
    test(`error page: variants and the table of one's own card in ${dress} give axe-core nothing to find`, () =>
      visiting(
        browser,
        `${url}errors/cuda-oom-long-context/`,
        { ...options, bypassCSP: true },
        async (page, { trouble }) => {
          assert.ok(await page.locator(".variants").count());
          await page.locator(".your-gpu summary").click();
          await page.locator(".your-gpu select").selectOption("geforce-rtx-3060-12-gb");
          await page.locator(".your-gpu tbody tr").first().waitFor();
          await unfold(page);
          assert.deepEqual(await axe(page), []);
          assert.deepEqual(trouble, []);
          await page.setViewportSize({ width: 320, height: 640 });
          await page.addStyleTag({ content: ":root { font-size: 200% }" });
          assert.ok((await sideways(page)) <= 0, `${await sideways(page)} px too wide`);
        },
      ));
  }

  on(
    "what fits on one's own card is as data/runs.js has it, and nothing is loaded before it is asked for",
    {},
    async (page, { requests }) => {
      const card = "geforce-rtx-3060-12-gb";
      const loaded = () => requests.filter(request => /data\/(runs|devices)\.js/.test(request.url)).length;
      assert.equal(loaded(), 0);
      await page.locator(".your-gpu summary").click();
      await page.locator(".your-gpu select").selectOption(card);
      const said = await page.locator(".your-gpu strong").innerText();
      const { quants, contexts, driver, models } = JSON.parse(
        readFileSync(`${folder}/data/runs.js`, "utf8").replace(/^kbgen\.runs=|;\s*$/g, ""),
      );
      const [, , [memory]] = JSON.parse(
        readFileSync(`${folder}/data/devices.js`, "utf8").replace(/^kbgen\.devices=|;\s*$/g, ""),
      ).find(([id]) => id === card);
      const [quant, ctx] = [quants.indexOf("Q4_K_M"), contexts.indexOf(8192)];
      const needs = models
        .filter(model => model[3][quant] !== null && model[4][ctx] !== null)
        .map(model => model[3][quant] + model[4][ctx][0] + model[4][ctx][1]);
      assert.equal(said, `${needs.filter(need => need + driver[1] <= memory).length} of ${needs.length} models`);
      await page.goto(`${url}errors/cuda-oom-long-context/`);
      await page.locator(".your-gpu tbody tr").first().waitFor();
      assert.equal(await page.locator(".your-gpu select").inputValue(), card);
      const named = (await page.locator(".your-gpu").getAttribute("data-models")).split(" ");
      const first = await page.locator(".your-gpu tbody a").first().getAttribute("href");
      assert.ok(
        named.some(slug => first.includes(`/${slug}/`)),
        first,
      );
    },
  );

  on(
    "the card that a reader has named is the calculator's, and one chosen there is what errors speak of",
    {},
    async page => {
      await page.locator(".your-gpu summary").click();
      await page.locator(".your-gpu select").selectOption("geforce-rtx-3090");
      await page.goto(`${url}will-it-run/`);
      assert.equal(await page.locator("#device-1").inputValue(), "GeForce RTX 3090");
      await page.locator("#device-1").fill("RTX 4090");
      await page.locator("#device-list-1 [role=option]", { hasText: "RTX 4090" }).first().click();
      await page.goto(address);
      await page.locator(".your-gpu summary").click();
      assert.match(await page.locator(".your-gpu select").inputValue(), /4090/);
    },
  );

  on("each fix ends with what to do if it fails, and each cause with where to see that it worked", {}, async page => {
    await unfold(page);
    for (const fix of await page.locator(".fix").all()) {
      assert.match(await fix.locator("> :last-child").innerText(), /^If it fails:/);
    }
    for (const cause of await page.locator(".cause-body").all()) {
      assert.equal(await cause.locator("> :last-child a").getAttribute("href"), "#check");
    }
  });

  on("pages with similar messages are named below the check, and not among the related ones again", {}, async page => {
    const others = await page.locator(".not-this a").evaluateAll(links => links.map(link => link.href));
    assert.ok(others.length > 0 && others.length <= 3, others.join(" "));
    const below = await page.locator(".next .refs a").evaluateAll(links => links.map(link => link.href));
    assert.deepEqual(
      others.filter(other => below.includes(other)),
      [],
    );
    for (const other of others) assert.ok(!facts.related.some(slug => other.includes(`/${slug}/`)), other);
  });

  on("who was not helped is led to an issue that names the page", {}, async page => {
    const link = new URL(await page.locator(".feedback a").first().getAttribute("href"));
    assert.match(link.pathname, /\/issues\/new$/);
    assert.ok(link.searchParams.get("title").includes(SLUG));
    assert.equal(link.searchParams.get("page"), `errors/${SLUG}/`);
  });

  on("the list of contents leads to each part and marks the one being read", {}, async page => {
    const links = page.locator(".toc a");
    const targets = await links.evaluateAll(all => all.map(link => link.hash));
    for (const target of targets) assert.equal(await page.locator(target).count(), 1, target);
    const lastFix = `#${facts.causes.at(-1).solutions.at(-1)}`;
    await page.locator(`.toc a[href="${lastFix}"]`).click();
    await page.locator(`.toc a[href="${lastFix}"][aria-current]`).waitFor();
    assert.equal(new URL(page.url()).hash, lastFix);
    const { y } = await page.locator(lastFix).boundingBox();
    assert.ok(y >= 0 && y < 900, `the heading is at ${y}`);
  });

  on("the link of a heading changes the address, not the clipboard", {}, async (page, { context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.evaluate(() => navigator.clipboard.writeText("a command"));
    await page.locator("article :is(h2, h3) > .anchor").first().click();
    assert.match(page.url(), /#[\w-]+$/);
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "a command");
  });

  on("code is printed on white", { colorScheme: "dark" }, async page => {
    await page.emulateMedia({ media: "print" });
    assert.equal(
      await page
        .locator(".code pre")
        .first()
        .evaluate(code => getComputedStyle(code).backgroundImage),
      "none",
    );
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
    assert.ok(await page.locator(".verified .overdue").isVisible()),
  );
  on(
    "on the day it was verified the badge asks for nothing",
    clock(new Date(`${facts.verified}T12:00:00Z`)),
    async page => {
      assert.ok(!(await page.locator(".verified .overdue").isVisible()));
      assert.match(await page.locator(".verified").innerText(), new RegExp(facts.verified));
    },
  );

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
    await unfold(page);
    const bare = await page.locator("main").innerText();
    await visiting(browser, address, {}, async scripted => {
      await unfold(scripted);
      const box = await scripted.locator(".paste").innerText();
      const missing = (await scripted.locator("main").innerText())
        .split("\n")
        .filter(line => line.trim() && !/^Copy( all)?$/.test(line) && !box.includes(line) && !bare.includes(line));
      assert.ok(bare.length > 2000);
      assert.deepEqual(missing, []);
    });
    assert.match(bare, /Diagnosis requires JavaScript/);
    assert.ok(!requests.some(request => request.url.endsWith(".js")));
  });

  on("folded parts open by keyboard", {}, async page => {
    for (const details of await page.locator("main details").all()) {
      await details.locator("summary").focus();
      await page.keyboard.press("Enter");
      assert.ok(await details.locator("> :not(summary)").first().isVisible());
    }
  });
}
