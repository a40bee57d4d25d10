// Lists: narrowed and ordered in place, with the choice in the address; models against memory; the chart of a model.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { PHONE, axe, estimate, readJson, sideways, visiting } from "../harness.mjs";

const GIB = 2 ** 30;
/** Phone screens of a page with everything folded. */
const SCREENS = {
  "errors/": 4,
  "hardware/": 3,
  "hardware/geforce-rtx-3090/": 6,
  "hardware/apple-m4/": 6,
  "models/": 6,
  "models-by-memory/": 6,
  "benchmarks/": 6,
  "quants/q4-k-m/": 6,
  "tools/ollama/": 6,
  "compare/": 7,
};
const titles = page =>
  page
    .locator(".row:visible a:first-of-type")
    .evaluateAll(all =>
      all.filter(link => link.closest(".row").querySelector("a") === link).map(link => link.textContent),
    );
const choose = (page, name, value) => page.locator(`#filters [name=${name}]`).selectOption(value);
const unfold = page =>
  page.locator("details.group").evaluateAll(groups =>
    groups.forEach(group => {
      group.open = true;
    }),
  );
const counted = async page =>
  (await page.locator("#filter-count").innerText()).split(" of ").map(count => Number(count.replaceAll(",", "")));

export default function ({ folder, browser, url }) {
  const errors = readJson(join(folder, "kb.json")).errors;

  test("errors narrow by tool and platform as their data say, and the count is told", () =>
    visiting(browser, `${url}errors/`, {}, async (page, { trouble }) => {
      await choose(page, "tool", "vLLM");
      await page.locator(".filter-more summary").click();
      await choose(page, "platform", "windows");
      await unfold(page);
      const told = await titles(page);
      const meant = errors
        .filter(
          error => error.tools.includes("vllm") && (!error.platforms?.length || error.platforms.includes("windows")),
        )
        .map(error => error.title);
      assert.ok(meant.length > 0 && meant.length < errors.length);
      assert.deepEqual(told.toSorted(), meant.toSorted());
      assert.deepEqual(await counted(page), [meant.length, errors.length]);
      assert.equal(await page.locator("#filter-count").getAttribute("role"), "status");
      assert.equal(
        await page.locator(".group:visible h2").count(),
        new Set(errors.filter(error => meant.includes(error.title)).map(error => error.category)).size,
      );
      for (const [shown, told] of await page
        .locator(".group:visible")
        .evaluateAll(all =>
          all.map(group => [
            group.querySelectorAll(".row:not([hidden])").length,
            group.querySelector(".count").textContent,
          ]),
        )) {
        assert.equal(parseInt(told, 10), shown);
      }
      assert.deepEqual(trouble, []);
    }));

  test("a list narrows while one types, every word counts", () =>
    visiting(browser, `${url}errors/`, {}, async page => {
      await page.locator("#by-words").pressSequentially("vllm memory");
      await unfold(page);
      const rows = page.locator(".row:visible");
      const [left, all] = await counted(page);
      assert.ok(left > 0 && left < all, `${left} of ${all}`);
      assert.equal(await rows.count(), left);
      // The words of a row include those of its address.
      for (const row of await rows.evaluateAll(every =>
        every.map(row => `${row.textContent} ${row.querySelector("a").getAttribute("href")}`),
      )) {
        assert.match(row, /(?=.*vllm)(?=.*memory)/is);
      }
    }));

  test("a list without a match says what to do, and Clear does it", () =>
    visiting(browser, `${url}models/`, {}, async page => {
      await page.locator("#by-words").fill("no such model");
      await page.locator("#filter-count", { hasText: "Nothing matches. Remove a keyword or a filter." }).waitFor();
      assert.equal(await page.locator(".group:visible").count(), 0);
      await page.locator("#filter-clear").click();
      assert.ok((await page.locator(".group:visible").count()) > 10);
    }));

  for (const [name, base] of [
    ["served", () => url],
    ["from file://", () => `${pathToFileURL(folder)}/`],
  ]) {
    test(`${name}: the address keeps the choice, and the back button takes it back step by step`, () =>
      visiting(browser, `${base()}hardware/index.html`, {}, async (page, { trouble }) => {
        const all = await page.locator(".row").count();
        await choose(page, "memory", "24..");
        const large = (await counted(page))[0];
        await choose(page, "maker", "amd");
        await page.locator("#by-words").pressSequentially("radeon");
        const few = await titles(page);
        assert.ok(few.length < large && large < all);
        const kept = page.url();
        assert.match(kept, /#words=radeon&maker=amd&memory=24\.\.$/);
        await visiting(browser, kept, {}, async other => assert.deepEqual(await titles(other), few));
        await page.goBack();
        assert.equal(await page.locator("#by-words").inputValue(), "");
        await page.goBack();
        assert.equal((await counted(page))[0], large);
        await page.goBack();
        assert.equal(await page.locator(".row:not([hidden])").count(), all);
        assert.equal(await page.locator("#filter-clear").isVisible(), false);
        await page.goForward();
        assert.equal(await page.locator("#by-memory").inputValue(), "24..");
        await page.locator("#filter-clear").click();
        assert.equal(await page.locator(".row:not([hidden])").count(), all);
        assert.equal(await page.evaluate(() => document.activeElement.id), "by-words");
        assert.equal(new URL(page.url()).hash, "");
        assert.deepEqual(trouble, []);
      }));
  }

  test("an order makes one list of all groups, and the first choice brings the groups back as they were", () =>
    visiting(browser, `${url}hardware/`, {}, async page => {
      await unfold(page);
      const before = await titles(page);
      await choose(page, "order", "-bandwidth");
      const cells = await page
        .locator(".row:visible")
        .evaluateAll(rows => rows.map(row => parseFloat(row.cells[2].textContent.replaceAll(",", ""))));
      const known = cells.filter(rate => !Number.isNaN(rate));
      assert.equal(cells.length, before.length);
      assert.deepEqual(
        known,
        known.toSorted((a, b) => b - a),
      );
      assert.ok(cells.slice(known.length).every(Number.isNaN), "what is not known comes last");
      assert.equal(await page.locator("table:visible").count(), 1);
      assert.equal(await page.locator("table:visible caption").innerText(), "All hardware");
      assert.deepEqual(await axe(page), []);
      await choose(page, "order", "");
      assert.deepEqual(await titles(page), before);
    }));

  test("a place on the page is no choice: the list stays as it is", () =>
    visiting(browser, `${url}models/#experts=yes`, {}, async page => {
      const [left] = await counted(page);
      await page.evaluate(() => {
        location.hash = document.querySelector(".group:not([hidden]) > [id]").id;
      });
      await page.locator("[id]:target").waitFor();
      assert.equal((await counted(page))[0], left);
    }));

  test("without scripts every row is there, folded by category, and no field is", () =>
    visiting(browser, `${url}errors/#tool=vLLM`, { javaScriptEnabled: false }, async page => {
      assert.equal(await page.locator(".row").count(), errors.length);
      assert.equal(await page.locator("#filters").isVisible(), false);
      assert.equal(await page.locator(".row:visible").count(), 0);
      const first = page.locator("details.group").first();
      await first.locator("summary").click();
      assert.equal(await page.locator(".row:visible").count(), Number(await first.locator(".count").innerText()));
    }));

  test("/errors/ unfolds when few rows are left, and opens the category in the address", () =>
    visiting(browser, `${url}errors/`, PHONE, async page => {
      await page.locator("#by-words").fill("illegal memory access");
      await page.locator(".row:visible").first().waitFor();
      await page.locator("#by-words").fill("");
      await page.locator(".row:visible").first().waitFor({ state: "hidden" });
      await page.goto(`${url}errors/#out-of-memory`);
      await page.reload();
      await page.locator(".row:visible").first().waitFor();
      assert.ok(await page.locator("details.group[data-of=out-of-memory]").evaluate(group => group.open));
    }));

  for (const [path, most] of Object.entries(SCREENS)) {
    test(`/${path} is at most ${most} phone screens, and an address opens a folded part, without scripts too`, async t => {
      const phone = { ...PHONE, viewport: { width: 390, height: 844 } };
      const target = await visiting(browser, url + path, phone, async page => {
        const screens = await page.evaluate(() => document.documentElement.scrollHeight / innerHeight);
        t.diagnostic(`${screens.toFixed(1)} screens`);
        assert.ok(screens <= most, `${screens} screens`);
        return page.evaluate(() => document.querySelector("details.fold > [id]")?.id);
      });
      for (const javaScriptEnabled of target ? [true, false] : []) {
        await visiting(browser, `${url}${path}#${target}`, { ...phone, javaScriptEnabled }, page =>
          page.locator(`#${target}`).waitFor(),
        );
      }
    });
  }

  for (const path of ["errors/", "models/", "hardware/", "models-by-memory/"]) {
    test(`/${path} on a phone: nothing moves, and it stays within 320 px and with letters twice as large`, () =>
      visiting(browser, url + path, PHONE, async page => {
        const moved = await page.evaluate(
          () =>
            new Promise(done => {
              let sum = 0;
              new PerformanceObserver(list => {
                for (const entry of list.getEntries()) sum += entry.value;
              }).observe({ type: "layout-shift", buffered: true });
              requestAnimationFrame(() => requestAnimationFrame(() => done(sum)));
            }),
        );
        assert.equal(moved, 0);
        await page.setViewportSize({ width: 320, height: 640 });
        assert.ok((await sideways(page)) <= 0);
        await page.setViewportSize({ width: 412, height: 823 });
        await page.evaluate(() => {
          const larger = new CSSStyleSheet();
          larger.replaceSync("html { font-size: 200% }");
          document.adoptedStyleSheets = [larger];
        });
        assert.ok((await sideways(page)) <= 0, "with letters twice as large");
      }));
  }

  // ---- models by memory ------------------------------------------------------------

  test("models by memory: fits, tight and not are the program's verdicts", () =>
    visiting(browser, `${url}models-by-memory/`, {}, async page => {
      const sizes = (await page.locator("thead").first().locator("th").allTextContents())
        .slice(1)
        .map(text => parseInt(text, 10));
      assert.deepEqual(sizes, [8, 12, 16, 24, 32, 48, 80]);
      const rows = (
        await page.locator(".row").evaluateAll(all =>
          all.map(row => ({
            model: row.querySelector("a").getAttribute("href").split("/").at(-2),
            ctx: Math.min(8192, Number(row.dataset.context)),
            card: row.dataset.card,
            cells: [...row.querySelectorAll(".verdict")].map(mark => mark.textContent),
          })),
        )
      ).filter(row => row.cells.length);
      const plain = rows.filter(row => !row.model.startsWith("gpt-oss"));
      const answers = await estimate(
        plain.map(({ model, ctx }) => ({
          kind: "total",
          device: "gpu0",
          catalogue_id: model,
          quant: "Q4_K_M",
          ctx,
          kv_type: "f16/f16",
          n_seq: 1,
          n_outputs: 1,
        })),
      );
      const driver = await page.evaluate(async root => {
        await new Promise(done => {
          const script = document.createElement("script");
          script.src = `${root}data/runs.js`;
          script.onload = done;
          document.head.append(script);
        });
        return kbgen.runs.driver;
      }, "../");
      await page.goto(`${url}choose-gpu/`);
      const { devices } = JSON.parse(await page.locator("#fit-data").textContent());
      const visible = size =>
        Math.min(...devices.filter(device => device.ok && device.mem === size * GIB).map(device => device.vis));
      assert.ok(plain.length > 100);
      for (const [i, row] of plain.entries()) {
        const verdicts = sizes.map(size =>
          answers[i].bytes + driver[1] <= visible(size)
            ? "fits"
            : answers[i].bytes + driver[0] <= visible(size)
              ? "tight"
              : "more",
        );
        assert.deepEqual(
          row.cells.map(cell => (/^(fits|tight)$/.test(cell) ? cell : "more")),
          verdicts,
          row.model,
        );
        assert.equal(row.card, String(sizes[verdicts.indexOf("fits")] ?? ""), row.model);
      }
    }));

  test("models by memory: of a divided model so many layers run as the page says, and one more does not", () =>
    visiting(browser, `${url}models-by-memory/`, {}, async page => {
      const [model, size, most, all] = await page
        .locator(".row")
        .evaluateAll(rows =>
          rows.flatMap(row =>
            [...row.cells].slice(1).flatMap((cell, at) => {
              const found = /^(\d+) of (\d+)$/.exec(cell.textContent);
              return found
                ? [
                    [
                      row.querySelector("a").getAttribute("href").split("/").at(-2),
                      [8, 12, 16, 24, 32, 48, 80][at],
                      Number(found[1]),
                      Number(found[2]),
                    ],
                  ]
                : [];
            }),
          ),
        )
        .then(found => found.find(([model]) => model === "qwen3-32b") ?? found[0]);
      assert.ok(most < all);
      for (const [layers, word] of [
        [most, /^Runs/],
        [most + 1, /^(?!Runs)/],
      ]) {
        await page.goto(`${url}will-it-run/#model=${model}&quant=Q4_K_M&ctx=8192&gpu=${size * GIB}&ngl=${layers}`);
        await page.reload();
        await page.waitForFunction(() => document.getElementById("verdict").innerText !== "");
        assert.match(await page.locator("#verdict").innerText(), word, `${model}, ${layers} layers in ${size} GB`);
      }
    }));

  // ---- chart ------------------------------------------------------------------------

  test("the chart of a model is drawn where the program's figures lie", () =>
    visiting(browser, `${url}models/llama-3.1-8b-instruct/`, {}, async page => {
      const drawn = await page.locator(".plot").evaluate(plot => ({
        names: [...plot.querySelectorAll(".curve-name")].map(text => text.textContent),
        curves: [...plot.querySelectorAll("polyline")].map(line =>
          line
            .getAttribute("points")
            .split(" ")
            .map(point => point.split(",").map(Number)),
        ),
        levels: [...plot.querySelectorAll("line")].map((line, i) => [
          parseFloat(plot.querySelectorAll(".level-name")[i].textContent),
          Number(line.getAttribute("y1")),
          line.getAttribute("class"),
        ]),
        told: plot.querySelector("desc").textContent,
      }));
      const contexts = [2048, 4096, 8192, 16384, 32768, 65536, 131072];
      const asked = drawn.names.flatMap(quant =>
        contexts.map(ctx => ({
          kind: "total",
          device: "gpu0",
          catalogue_id: "llama-3.1-8b-instruct",
          quant,
          ctx,
          kv_type: "f16/f16",
          n_seq: 1,
          n_outputs: 1,
        })),
      );
      const answers = await estimate(asked);
      const cards = drawn.levels.filter(([, , kind]) => kind === "card-line");
      const driver = JSON.parse(readFileSync(join(folder, "data/runs.js"), "utf8").replace(/^[^{]*|;\s*$/g, ""))
        .driver[1];
      const { devices } = JSON.parse(
        /id="fit-data"[^>]*>([^<]*)</.exec(readFileSync(join(folder, "choose-gpu/index.html"), "utf8"))[1],
      );
      const visible = size =>
        Math.min(...devices.filter(device => device.ok && device.mem === size * GIB).map(device => device.vis));
      const bytes = card => Math.log2(visible(card[0]) - driver);
      const [low, high] = [cards[0], cards.at(-1)];
      const read = y => 2 ** (bytes(low) + ((bytes(high) - bytes(low)) * (low[1] - y)) / (low[1] - high[1]));
      assert.ok(drawn.names.length >= 3 && cards.length >= 4, drawn.told);
      drawn.curves
        .flat()
        .forEach(([, y], i) =>
          assert.ok(
            Math.abs(read(y) / answers[i].bytes - 1) < 0.01,
            `${asked[i].quant} at ${asked[i].ctx}: drawn at ${read(y) / GIB} GiB, is ${answers[i].bytes / GIB}`,
          ),
        );
    }));

  test("every chart is at most 3 KiB", () => {
    for (const model of readJson(join(folder, "kb.json")).models) {
      const html = readFileSync(join(folder, "models", model.slug, "index.html"), "utf8");
      const chart = /<figure class="chart">[^]*?<\/figure>/.exec(html)?.[0];
      if (chart) assert.ok(chart.length <= 3 * 1024, `${model.slug}: ${chart.length} bytes`);
    }
  });
}
