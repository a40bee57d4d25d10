// Comparing, choosing, cost: the pages against the program and against arithmetic by hand.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PHONE, axe, estimate, visiting } from "../harness.mjs";

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const CARDS = ["geforce-rtx-3060-12-gb", "geforce-rtx-4060-ti-16-gb", "geforce-rtx-4090"];

/** Models that are released in a type of their own stand in that type where the default is asked for. */
const released = (model, quant) => (model.startsWith("gpt-oss-") ? "MXFP4" : quant);
/** The bytes that a model needs by the program, with every layer on one GPU; by default for a server of one slot. */
const totals = asked =>
  estimate(
    asked.map(({ model, quant, ctx, k = "f16", v = "f16", outputs = 1 }) => ({
      kind: "total",
      device: "gpu0",
      catalogue_id: model,
      quant: released(model, quant),
      ctx,
      kv_type: `${k}/${v}`,
      n_seq: 1,
      n_outputs: outputs,
    })),
  ).then(answers => answers.map(answer => answer.bytes));
/** Bytes that programs see of these devices, by the table of the compare page. */
const visible = (page, ids) =>
  page.evaluate(
    ids => ids.map(id => Number(document.querySelector(`#devices tr[data-id="${id}"]`).dataset.vis.split(" ")[0])),
    ids,
  );
const judge = (total, [low, high], memory) =>
  total + high <= memory ? "fits" : total + low <= memory ? "tight" : "does not fit";
/** A difference as pages print it. */
const spareWords = bytes =>
  bytes < GIB ? `${Math.round(bytes / MIB).toLocaleString("en")} MiB` : `${(bytes / GIB).toFixed(2)} GiB`;
const grid = rows => rows.evaluateAll(all => all.map(row => [...row.cells].map(cell => cell.textContent.trim())));

export default function ({ folder, browser, url }) {
  // ---- compare -------------------------------------------------------------------
  const compare = `${url}compare/`;

  test("compare: facts are those of the table below, and the verdicts the program's", () =>
    visiting(
      browser,
      `${compare}#a=${CARDS[0]}&b=${CARDS[1]}&c=${CARDS[2]}&quant=Q4_K_M&ctx=32768`,
      {},
      async (page, { trouble }) => {
        const facts = Object.fromEntries(
          (await grid(page.locator("#facts tr"))).map(([label, ...cells]) => [label, cells]),
        );
        assert.deepEqual(facts.Memory, ["12 GB", "16 GB", "24 GB"]);
        assert.deepEqual(facts.Bandwidth, ["360 GB/s", "288 GB/s", "1,010 GB/s"]);
        for (const label of ["Memory type", "Power limit", "Class", "Manufacturer", "Released"]) {
          assert.equal(facts[label].length, 3);
        }

        const differing = await page.locator("#apart tbody tr").evaluateAll(all =>
          all.map(row => ({
            model: row.querySelector("a").getAttribute("href").split("/").at(-2),
            bytes: Number(row.querySelector("td").title.replace(/\D/g, "")),
            verdicts: [...row.querySelectorAll(".verdict")].map(mark => mark.textContent),
          })),
        );
        assert.ok(differing.length > 10);
        const driver = await page.evaluate(() => kbgen.runs.driver);
        const room = await visible(page, CARDS);
        const told = await totals(differing.map(({ model }) => ({ model, quant: "Q4_K_M", ctx: 32768 })));
        for (const [i, { model, bytes, verdicts }] of differing.entries()) {
          assert.equal(bytes, told[i], model);
          assert.deepEqual(
            verdicts,
            room.map(bytes => judge(told[i], driver, bytes)),
            model,
          );
        }
        assert.deepEqual(trouble, []);
      },
    ));

  test("compare: the counts are those of data/runs.js, and a boundary is where it should be", () =>
    visiting(browser, `${compare}#a=${CARDS[0]}&b=${CARDS[2]}&quant=Q8_0&ctx=8192`, {}, async page => {
      const runs = await page.evaluate(() => kbgen.runs);
      const [quant, ctx] = [runs.quants.indexOf("Q8_0"), runs.contexts.indexOf(8192)];
      const needs = runs.models
        .map(([, , , weights, buffers]) =>
          weights[quant] === null || buffers[ctx] === null ? null : weights[quant] + buffers[ctx][0] + buffers[ctx][1],
        )
        .filter(total => total !== null);
      const [room] = await visible(page, CARDS);
      const fits = needs.filter(total => total + runs.driver[1] <= room).length;
      const tight = needs.filter(total => total + runs.driver[0] <= room).length - fits;
      const [counted, tightly] = await grid(page.locator("#runs tr"));
      assert.equal(counted[1], `${fits} of ${needs.length}`);
      assert.equal(tightly[1], String(tight));
    }));

  test("compare: data/runs.js holds what the program computes, to the byte", () =>
    visiting(browser, compare, {}, async page => {
      const runs = await page.evaluate(() => kbgen.runs);
      const asked = runs.models.flatMap(([model, , , weights, buffers]) =>
        runs.quants.flatMap((quant, q) =>
          runs.contexts.flatMap((ctx, c) =>
            (q === 1 || c === 1) && weights[q] !== null && buffers[c] !== null
              ? [{ model, quant, ctx, bytes: weights[q] + buffers[c][0] + buffers[c][1] }]
              : [],
          ),
        ),
      );
      assert.ok(asked.length > 500);
      assert.deepEqual(
        asked.map(({ bytes }) => bytes),
        await totals(asked),
      );
    }));

  test("compare: the address brings everything back, and devices are chosen by keyboard", () =>
    visiting(browser, `${compare}#a=${CARDS[0]}&b=${CARDS[1]}`, {}, async (page, { trouble }) => {
      await page.locator("#more-picks > summary").click();
      await page.locator("#device-2").focus();
      await page.keyboard.type("4090");
      await page.locator("#device-2-list [role=option]:visible").first().waitFor();
      await page.keyboard.press("Enter");
      await page.locator("#quant label", { hasText: "Q8_0" }).click();
      await page.locator("#ctx label", { hasText: "32K" }).click();
      await page.waitForURL(/c=geforce-rtx-4090.*quant=Q8_0&ctx=32768/);
      const shown = page => page.locator("#facts, #headline, #runs, #apart").allInnerTexts();
      await visiting(browser, page.url(), {}, async again => assert.deepEqual(await shown(again), await shown(page)));
      assert.deepEqual(trouble, []);
    }));

  test("compare and choose: the pages of devices and models lead there with what they are about", () =>
    visiting(browser, `${url}hardware/${CARDS[0]}/`, {}, async (page, { trouble }) => {
      await page.locator("main a", { hasText: "Compare with other devices" }).click();
      await page.waitForURL(/compare\/index\.html/);
      const names = await page.locator("#names th").allInnerTexts();
      assert.equal(names.length, 2);
      assert.equal(names[0], "GeForce RTX 3060 12 GB");
      await page.goto(`${url}models/qwen3-32b/`);
      await page.locator("main a", { hasText: "Find a GPU for other settings" }).click();
      await page.waitForURL(/choose-gpu\/index\.html/);
      await page.locator(".cards-of").first().waitFor();
      assert.equal(await page.locator("#model").inputValue(), "Qwen3 32B");
      assert.deepEqual(trouble, []);
    }));

  test("compare: a device of another backend has verdicts and speeds", () =>
    visiting(
      browser,
      `${compare}#a=${CARDS[2]}&b=apple-m4-max-40-core-gpu&model=llama-3.1-8b-instruct`,
      {},
      async page => {
        await page.locator("#runs th", { hasText: "Speed with Llama 3.1 8B Instruct" }).waitFor();
        const rows = Object.fromEntries(
          (await grid(page.locator("#runs tr"))).map(([label, ...cells]) => [label, cells]),
        );
        assert.match(rows["Models that fit"][1], /^\d+ of \d+$/);
        await page.waitForFunction(() => /tokens\/s/.test(document.getElementById("runs").textContent));
        assert.deepEqual(await axe(page), []);
      },
    ));

  test("compare: on a phone both verdicts of a model are in sight", () =>
    visiting(browser, `${compare}#a=geforce-rtx-4060-ti-16-gb&b=geforce-rtx-3090`, PHONE, async page => {
      await page.locator("#apart tbody tr").first().waitFor();
      const hidden = await page.locator("#apart .table").evaluate(place => place.scrollWidth - place.clientWidth);
      assert.ok(hidden <= 0, `${hidden} px out of sight`);
    }));

  test("compare: one column for each device says what only that one runs, before the tables", () =>
    visiting(browser, `${compare}#a=geforce-rtx-4090&b=geforce-rtx-5090`, PHONE, async page => {
      await page.waitForFunction(() => /tokens\/s/.test(document.getElementById("columns").textContent));
      const columns = page.locator("#columns section");
      const [left, right] = [await columns.nth(0).boundingBox(), await columns.nth(1).boundingBox()];
      assert.equal(left.y, right.y);
      assert.match(await columns.nth(0).innerText(), /GeForce RTX 4090[\s\S]*24 GB[\s\S]*Only this one runs\s+nothing/);
      const only = await columns.nth(1).locator("dd a").allInnerTexts();
      const differing = await page
        .locator("#apart tbody tr")
        .evaluateAll(rows =>
          rows
            .filter(row => row.cells[3].textContent === "fits" && row.cells[2].textContent !== "fits")
            .map(row => row.cells[0].textContent),
        );
      assert.deepEqual(only, differing.slice(0, only.length));
      assert.ok(only.length > 0);
      // 1,790 of 1,010 GB/s: the bar of the slower one is shorter.
      const bars = await page
        .locator("#facts tr", { hasText: "Bandwidth" })
        .locator("rect")
        .evaluateAll(all => all.map(bar => bar.getAttribute("width")));
      assert.deepEqual(bars, ["56.4%", "100.0%"]);
    }));

  /** Addresses of the three pages with unknown values, and what is reported of each. */
  const UNKNOWN = {
    "compare/#a=nothing&quant=Q99&ctx=-1&model=x&modle=y": ["a", "quant", "ctx", "model", "modle"],
    "choose-gpu/#model=x&quant=Q99&ctx=x&k=q&run=y&budget=much": ["model", "quant", "ctx", "k", "run", "budget"],
    "cost-vs-cloud/#model=x&gpu=y&kwh=cheap": ["model", "gpu", "kwh"],
  };
  for (const [address, names] of Object.entries(UNKNOWN)) {
    test(`/${address.split("#")[0]} reports what it does not know in an address, and shows a whole page`, () =>
      visiting(browser, url + address, {}, async (page, { trouble }) => {
        await page.locator("#misread:visible li").first().waitFor();
        const reported = await page.locator("#misread li code").allInnerTexts();
        assert.deepEqual(reported.map(text => text.split("=")[0]).sort(), names.sort());
        assert.equal(await page.locator("#misread").getAttribute("role"), "alert");
        await page.waitForFunction(() => document.getElementById("headline").textContent);
        assert.deepEqual(await axe(page), []);
        assert.deepEqual(trouble, []);
      }));
  }

  // ---- choose --------------------------------------------------------------------
  const choose = `${url}choose-gpu/`;
  // A line has the margin of the card of which programs see the least.
  const least = (devices, names) => Math.min(...names.map(name => devices.find(device => device.id === name).vis));
  const lines = page =>
    page.locator(".cards-of").evaluateAll(parts =>
      parts.flatMap(part =>
        [...part.querySelectorAll("li")].map(line => ({
          group: part.querySelector("h2").textContent,
          memory: parseFloat(line.querySelector("b").textContent.replace(/^2 × /, "")),
          verdict: line.querySelector(".verdict")?.textContent ?? "",
          spare: line.querySelector("p:not(.card-names) a")?.textContent ?? "",
          names: [...line.querySelectorAll(".card-name a")].map(link => link.getAttribute("href").split("/").at(-2)),
        })),
      ),
    );

  test("choose: verdicts and margins are the program's, one and the other side of the boundary", () =>
    visiting(
      browser,
      `${choose}#model=llama-3.1-8b-instruct&quant=Q4_K_M&ctx=8192&k=f16&v=f16&run=library`,
      {},
      async (page, { trouble }) => {
        await page.locator(".cards-of").first().waitFor();
        const [total] = await totals([{ model: "llama-3.1-8b-instruct", quant: "Q4_K_M", ctx: 8192, outputs: "" }]);
        const { driver, devices } = JSON.parse(await page.locator("#fit-data").textContent());
        const covered = devices.filter(device => device.ok);
        const seen = (await lines(page)).filter(({ group }) =>
          ["Desktop", "Laptop", "Workstation", "Data center", "Other"].includes(group),
        );
        const shown = new Map(seen.flatMap(({ names, ...line }) => names.map(name => [name, line])));
        for (const device of covered) {
          const verdict = judge(total, driver, device.vis);
          assert.equal(shown.get(device.id)?.verdict ?? "does not fit", verdict, device.id);
        }
        for (const { spare, names } of seen.filter(line => line.verdict === "fits")) {
          // elsewhere the margin is that of a band
          if (!names.every(name => covered.some(({ id }) => id === name))) continue;
          assert.equal(spare, `${spareWords(least(devices, names) - total - driver[1])} to spare`, names[0]);
        }
        for (const group of new Set(seen.map(line => line.group))) {
          const sizes = seen.filter(line => line.group === group).map(line => line.memory);
          assert.deepEqual(
            sizes,
            sizes.toSorted((a, b) => a - b),
            group,
          );
        }
        assert.deepEqual(trouble, []);
      },
    ));

  test("choose: every setting counts, as the program counts it", () =>
    visiting(browser, choose, {}, async page => {
      const { driver, devices } = JSON.parse(await page.locator("#fit-data").textContent());
      const asked = [
        { model: "qwen3-32b", quant: "Q5_K_M", ctx: 16000, k: "q8_0", v: "q4_0", outputs: 1 },
        { model: "gemma-3-27b-it", quant: "Q4_K_M", ctx: 100000, k: "f16", v: "q8_0", outputs: 1 },
        { model: "qwen3-30b-a3b", quant: "Q8_0", ctx: 4097, outputs: "" },
      ];
      const told = await totals(asked);
      for (const [i, { model, quant, ctx, k = "f16", v = "f16", outputs }] of asked.entries()) {
        await page.goto("about:blank");
        await page.goto(
          `${choose}#${new URLSearchParams({ model, quant, ctx, k, v, run: outputs ? "server" : "library" })}`,
        );
        await page.locator(".cards-of").first().waitFor();
        const seen = (await lines(page)).filter(
          ({ verdict, group }) => verdict === "fits" && group !== "Two identical GPUs",
        );
        assert.ok(seen.length > 0, model);
        for (const { names, spare } of seen) {
          if (!names.every(name => devices.find(({ id }) => id === name).ok)) continue;
          assert.equal(
            spare,
            `${spareWords(least(devices, names) - told[i] - driver[1])} to spare`,
            `${model} on ${names[0]}`,
          );
        }
      }
    }));

  test("choose: two of the same card are offered where the program says that both halves fit", () =>
    visiting(browser, `${choose}#model=llama-3.3-70b-instruct&quant=Q4_K_M&ctx=8192`, {}, async page => {
      await page.locator(".cards-of").first().waitFor();
      const { driver } = JSON.parse(await page.locator("#fit-data").textContent());
      const pairs = (await lines(page)).filter(({ group }) => group === "Two identical GPUs");
      const halves = await estimate(
        ["gpu0", "gpu1"].map(device => ({
          kind: "total",
          device,
          catalogue_id: "llama-3.3-70b-instruct",
          quant: "Q4_K_M",
          ctx: 8192,
          kv_type: "f16/f16",
          n_seq: 1,
          n_outputs: 1,
          n_gpu: 2,
          tensor_split: '"1,1"',
        })),
      );
      const needed = Math.max(...halves.map(half => half.bytes));
      assert.ok(pairs.some(({ memory, verdict }) => memory === 24 && verdict === "fits"));
      for (const { memory, verdict, spare } of pairs) {
        if (verdict === "tight") continue;
        const left = memory * GIB - needed - driver[1];
        const [, number, unit] = /([\d.]+) ([GM])iB/.exec(spare);
        assert.ok(Number(number) * (unit === "G" ? GIB : MIB) <= left, `${memory}: ${spare}, ${left} by the program`);
      }
    }));

  test("choose: a context one step beyond the boundary changes the verdict", () =>
    visiting(browser, `${choose}#model=llama-3.1-8b-instruct&quant=Q4_K_M&ctx=8192`, {}, async page => {
      await page.locator(".cards-of").first().waitFor();
      const line = (await lines(page)).find(({ group, memory }) => group === "Desktop" && memory === 8);
      const { name, most } = await page.evaluate(names => {
        const fit = JSON.parse(document.getElementById("fit-data").textContent);
        const table = kbgen.fit.tables["llama-3.1-8b-instruct"];
        const setting = {
          quant: fit.quants.indexOf("Q4_K_M"),
          k: 0,
          v: 0,
          ctx: 1,
          slots: 1,
          server: true,
          shares: [1],
          layers: null,
          experts: 0,
        };
        const [device] = fit.devices.filter(({ id, ok }) => ok && names.includes(id)).toSorted((a, b) => a.vis - b.vis);
        return { name: device.id, most: kbgen.fit.largest(table, setting, [device.vis], fit.driver) };
      }, line.names);
      const verdict = async ctx => {
        await page.locator("#ctx").fill(String(ctx));
        return (await lines(page)).find(({ group, names }) => group === "Desktop" && names.includes(name))?.verdict;
      };
      assert.equal(await verdict(most), "fits");
      assert.equal(await verdict(most + 1), "tight");
    }));

  test("choose: settings go through the address, and a device leads to the calculator with them", () =>
    visiting(browser, choose, {}, async (page, { trouble }) => {
      await page.locator(".cards-of").first().waitFor();
      await page.locator("#model").fill("qwen3 32b");
      await page.keyboard.press("Enter");
      await page.locator("#more > summary").click();
      await page.locator("#v label", { hasText: "q8_0" }).click();
      await page.locator("#others").fill("600");
      await page.waitForURL(/model=qwen3-32b.*v=q8_0.*others=600/);
      const answer = page => page.locator("#headline, #margin, #parts, #cards").allInnerTexts();
      const before = await answer(page);
      await visiting(browser, page.url(), {}, async again => {
        await again.locator(".cards-of").first().waitFor();
        assert.deepEqual(await answer(again), before);
      });
      const spare = await page.locator(".cards-of p a[href*=will-it-run]").first().innerText();
      await page.locator(".cards-of p a[href*=will-it-run]").first().click();
      await page.waitForFunction(() => /^Fits/.test(document.getElementById("verdict")?.textContent));
      assert.equal(await page.locator("#verdict").innerText(), `Fits with ${spare}`);
      assert.deepEqual(trouble, []);
    }));

  test("choose: devices of every backend are among the answers, and a long list opens", () =>
    visiting(browser, `${choose}#model=llama-3.1-8b-instruct&quant=Q4_K_M&ctx=8192`, {}, async page => {
      await page.locator(".cards-of").first().waitFor();
      const { backends, devices } = JSON.parse(await page.locator("#fit-data").textContent());
      const shown = (await lines(page)).flatMap(line => line.names);
      const used = devices.filter(({ id }) => shown.includes(id)).flatMap(({ backends = [0] }) => backends);
      assert.equal(new Set(used).size, backends.length);
      const hidden = page.locator(".cards-of").first().locator("[hidden]");
      assert.ok((await hidden.count()) > 0);
      await page.locator(".cards-of").first().locator("button").click();
      assert.equal(await hidden.count(), 0);
      assert.deepEqual(await axe(page), []);
    }));

  // ---- cost ----------------------------------------------------------------------
  const cost = `${url}cost-vs-cloud/`;
  const figures = page =>
    page
      .locator("#results > div")
      .evaluateAll(rows =>
        Object.fromEntries(
          rows.map(row => [
            row.dataset.figure,
            row.querySelector(".value, .needs").textContent.replace(/[\u00a0]/g, " "),
          ]),
        ),
      );

  test("cost: figures worked by hand", () =>
    // 360 W at 50 tokens/s: a million tokens take 20,000 s and 2 kWh, at 0.25 a kWh 0.50. 1,000 over 2 years of 10
    // hours a day are 1,314 million tokens, of 0.76 each. Against 1.50 each million saves 1.00: 1,000 millions, 1.8 a
    // day.
    visiting(
      browser,
      `${cost}#currency=X&speed=50&watts=360&kwh=0.25&hours=10&price=1000&years=2&out=1.5`,
      {},
      async (page, { trouble }) => {
        assert.deepEqual(await figures(page), {
          electricity: "X 0.50",
          card: "X 0.76",
          home: "X 1.26",
          cloud: "X 1.50",
          day: "1.8",
          millions: "1,000",
        });
        assert.equal(await page.locator("#headline").innerText(), "Break-even after 18 months");
        assert.equal(
          await page.locator("#results [data-figure=electricity] .formula").innerText(),
          "360 × 0.25 ÷ (3.6 × 50)",
        );
        // Three tokens of prompt for each, read at 300 a second: 1 / (1/50 + 3/300) = 33.3; the cloud takes 1.5 + 3 ×
        // 0.1.
        for (const [id, value] of [
          ["ratio", "3"],
          ["reading", "300"],
          ["in", "0.1"],
        ]) {
          await page.locator(`#${id}`).fill(value);
        }
        const withPrompts = await figures(page);
        assert.equal(withPrompts.electricity, "X 0.75");
        assert.equal(withPrompts.cloud, "X 1.80");
        assert.equal(withPrompts.millions, "952");
        assert.deepEqual(trouble, []);
      },
    ));

  test("cost: it opens on an example that says so, and cleared, each figure says what it needs", () =>
    visiting(browser, cost, {}, async page => {
      await page.waitForFunction(() => /^Break-even/.test(document.getElementById("headline").textContent));
      assert.match(await page.locator("#example").innerText(), /example figures, not real prices/);
      await page.locator("#example-clear").click();
      assert.ok(await page.locator("#example").isHidden());
      assert.equal(await page.locator("#headline").innerText(), "Enter your figures");
      for (const id of ["currency", "speed", "watts", "kwh", "hours", "price", "years", "out", "in"]) {
        assert.equal(await page.locator(`#${id}`).inputValue(), "");
      }
      assert.match((await figures(page)).electricity, /^requires the power and the price of electricity$/);
    }));

  test("choose: a budget is divided by the memory that it takes", () =>
    visiting(browser, `${choose}#model=llama-3.3-70b-instruct&quant=Q4_K_M&ctx=8192`, {}, async page => {
      await page.locator(".cards-of").first().waitFor();
      assert.ok(await page.locator("#budget-answer").isHidden());
      await page.locator("#budget").fill("1920");
      const [, size] = /Runs with (\d+) GB or more/.exec(await page.locator("#headline").innerText());
      assert.match(
        await page.locator("#budget-answer").innerText(),
        new RegExp(
          `one GPU with ${size} GB or more, at up to ${Math.round(1920 / size)} per GB.*two GPUs.*up to 960 each`,
        ),
      );
      await page.locator("#budget-answer a").click();
      await page.waitForURL(/cost-vs-cloud/);
      assert.equal(await page.locator("#price").inputValue(), "1920");
    }));

  test("cost: a cloud cheaper than electricity is never paid back, and nonsense is named at its field", () =>
    visiting(browser, `${cost}#speed=50&watts=360&kwh=0.25&hours=10&price=1000&years=2&out=0.4`, {}, async page => {
      assert.equal(await page.locator("#headline").innerText(), "It never pays off");
      await page.locator("#hours").fill("25");
      assert.equal(await page.locator("#hours").getAttribute("aria-invalid"), "true");
      assert.match(await page.locator("#hours-fault").innerText(), /at most 24/);
      assert.equal((await figures(page)).day, "requires the hours per day");
      assert.deepEqual(await axe(page), []);
      await page.locator("#hours").fill("24");
      assert.equal(await page.locator("#hours-fault").count(), 0);
    }));

  test("cost: the speed is the program's range, and the result a range with it", () =>
    visiting(
      browser,
      `${cost}#model=llama-3.1-8b-instruct&quant=Q4_K_M&gpu=geforce-rtx-4090&ctx=8192&watts=360&kwh=0.25`,
      {},
      async (page, { trouble }) => {
        await page.waitForFunction(() => /tokens\/s/.test(document.getElementById("range").textContent));
        // Cards with GDDR memory reach 92 % of 1010 GB/s for weights and 8192 tokens of cache, and need 80 µs a layer.
        const { touch } = await page.evaluate(() => {
          const fit = JSON.parse(document.getElementById("fit-data").textContent);
          return kbgen.fit.tables["llama-3.1-8b-instruct"].quants[fit.quants.indexOf("Q4_K_M")];
        });
        const cache = 32 * 2 * 8 * 128 * 2 * 8192;
        const middle = 1 / ((touch + cache) / (1010e9 * 0.92) + 32 * 80e-6);
        const [low, high] = [middle / 1.483, middle * 1.483];
        assert.equal(await page.locator("#range b").innerText(), `${Math.floor(low)} to ${Math.ceil(high)} tokens/s`);
        const words = [high, low].map(speed => ((360 * 0.25) / (3.6 * speed)).toFixed(2));
        assert.equal((await figures(page)).electricity, `${words[0]} to ${words[1]}`);
        await page.locator("#power-limit button").click();
        assert.equal(await page.locator("#watts").inputValue(), "450");
        await page.waitForURL(/watts=450/);
        await visiting(browser, page.url(), {}, async again => {
          await again.waitForFunction(() => /tokens\/s/.test(document.getElementById("range").textContent));
          assert.deepEqual(await figures(again), await figures(page));
        });
        assert.deepEqual(trouble, []);
      },
    ));

  // ---- all three -----------------------------------------------------------------
  const failing = (address, use) => {
    let isBroken = true;
    const prepare = page =>
      page.route(/data\/fit\/gemma-3-12b-it\.js/, route => (isBroken ? route.abort() : route.continue()));
    return visiting(browser, address, { prepare }, (page, visitor) =>
      use(page, visitor, () => {
        isBroken = false;
        return page.locator("button", { hasText: "Try again" }).click();
      }),
    );
  };
  const FAULT = "The figures for Gemma 3 12B IT could not be loaded";
  const isSaid = page => page.locator("#say", { hasText: FAULT }).waitFor({ state: "attached" });

  test("choose: a table that cannot be loaded leaves no other answer, and is asked for again", () =>
    failing(choose, async (page, visitor, retry) => {
      await page.locator(".cards-of").first().waitFor();
      await page.locator("#model").fill("gemma 3 12b it");
      await page.keyboard.press("Enter");
      await page.locator("#headline", { hasText: FAULT }).waitFor();
      assert.equal(await page.locator("#dock").textContent(), FAULT);
      assert.equal(await page.locator("#parts div, #cards section").count(), 0);
      await isSaid(page);
      // The context of the next model is not that of the one before.
      await page.locator("#ctx").fill("16384");
      await retry();
      await page.locator("#headline", { hasText: /^Runs with/ }).waitFor();
      assert.equal(await page.locator("#ctx").inputValue(), "16384");
      assert.ok(await page.locator("#model").evaluate(field => field === document.activeElement));
    }));

  test("choose: what is entered before the first table counts, and no answer of another model is shown", async () => {
    const waiting = [];
    const prepare = page =>
      page.route(/data\/fit\//, async route => {
        await new Promise(done => waiting.push(done));
        await route.continue();
      });
    await visiting(browser, `${url}privacy/`, { prepare }, async (page, { trouble }) => {
      // The event of the complete page waits for the table.
      await page.goto(choose, { waitUntil: "commit" });
      await page.locator("#headline", { hasText: "Loading the figures for Llama 3.1 8B Instruct…" }).waitFor();
      assert.equal(await page.locator("#ctx").inputValue(), "8192");
      await page.locator("#ctx").fill("65536");
      await page.locator("#budget").fill("500");
      waiting[0]();
      await page.locator(".cards-of").first().waitFor();
      assert.equal(await page.locator("#ctx").inputValue(), "65536");
      assert.match(await page.locator("#budget-answer").innerText(), /^Within 500: /);
      await page.locator("#model").fill("phi-2");
      await page.keyboard.press("Enter");
      assert.match(await page.locator("#headline").innerText(), /^Loading the figures for Phi-2…$/i);
      assert.ok(await page.locator("#quant").isDisabled());
      assert.equal(await page.locator("#cards section").count(), 0);
      assert.deepEqual(trouble, []);
    });
  });

  test("cost: a table that cannot be loaded is said until it is there, and is asked for again", () =>
    failing(`${cost}#model=gemma-3-12b-it&gpu=geforce-rtx-4090`, async (page, visitor, retry) => {
      await page.locator("#range", { hasText: FAULT }).waitFor();
      await isSaid(page);
      await page.locator("#hours").fill("3");
      assert.match(await page.locator("#range").innerText(), new RegExp(`^${FAULT}`));
      await retry();
      await page.locator("#range", { hasText: "tokens/s" }).waitFor();
    }));

  test("compare: a table that cannot be loaded is said, and is asked for again", () =>
    failing(`${compare}#a=geforce-rtx-3090&b=geforce-rtx-4090&model=gemma-3-12b-it`, async (page, visitor, retry) => {
      const fault = page.locator("#columns + .fault");
      await fault.locator("button").waitFor();
      assert.match(await fault.innerText(), new RegExp(`^${FAULT}`));
      await isSaid(page);
      await page.locator("#ctx label").nth(1).click();
      assert.ok(await fault.isVisible());
      await retry();
      await page.locator("#columns", { hasText: "tokens/s" }).waitFor();
      assert.ok(await fault.isHidden());
    }));

  for (const path of ["will-it-run/", "choose-gpu/", "cost-vs-cloud/"]) {
    test(`/${path}: the answer at the bottom covers no control that has the focus`, () =>
      visiting(browser, url + path, { viewport: { width: 640, height: 400 }, reducedMotion: "reduce" }, async page => {
        await page.locator(".dock", { hasText: /\d/ }).waitFor();
        await page.locator("#model").focus();
        const covered = [];
        for (let at = "#model"; at;) {
          await page.keyboard.press("Tab");
          at = await page.evaluate(() => {
            const { activeElement } = document;
            const dock = document.querySelector(".dock");
            if (!dock.parentNode.contains(activeElement)) return "";
            const isCovered = activeElement.getBoundingClientRect().bottom > dock.getBoundingClientRect().top;
            return `${activeElement.tagName}#${activeElement.id}${isCovered ? " is covered" : ""}`;
          });
          if (at.endsWith("is covered")) covered.push(at);
        }
        assert.deepEqual(covered, []);
      }));
  }

  const WITHOUT_SCRIPTS = {
    "compare/": /GeForce RTX 3090[\s\S]*24 GB[\s\S]*936/,
    "choose-gpu/": /24 GB[\s\S]*GeForce RTX/,
    "cost-vs-cloud/": /W × k ÷ \(3\.6 × v\)/,
  };
  for (const [path, wanted] of Object.entries(WITHOUT_SCRIPTS)) {
    test(`/${path} says its part without scripts`, () =>
      visiting(browser, url + path, { javaScriptEnabled: false }, async page => {
        for (const fold of await page.locator("main details.rest > summary").all()) await fold.click();
        assert.match(await page.locator("main").innerText(), wanted);
        assert.ok(await page.locator("noscript .note").isVisible());
        assert.equal(await page.locator(".tool").isVisible(), false);
      }));
    test(`/${path} works from file://`, () =>
      visiting(browser, `file://${join(folder, path)}index.html`, PHONE, async (page, { trouble }) => {
        await page.waitForFunction(() => document.getElementById("headline").textContent);
        assert.deepEqual(trouble, []);
      }));
  }

  test("the table that stands without scripts says what the one with scripts does", () => {
    const html = readFileSync(join(folder, "choose-gpu/index.html"), "utf8");
    const { devices } = JSON.parse(/id="fit-data"[^>]*>(.*?)<\/script>/s.exec(html)[1]);
    const rows = [...html.matchAll(/<th scope="row" class="num">([\d.]+) GB<\/th>.*?<td class="num">(\d+)<\/td>/g)];
    const runs = JSON.parse(readFileSync(join(folder, "data/runs.js"), "utf8").replace(/^kbgen\.runs=|;\s*$/g, ""));
    const [quant, ctx] = [runs.quants.indexOf("Q4_K_M"), runs.contexts.indexOf(8192)];
    assert.ok(rows.length > 5);
    for (const [, gib, count] of rows) {
      const room = Math.min(
        ...devices.filter(device => device.ok && Math.abs(device.mem / GIB - gib) < 0.05).map(device => device.vis),
      );
      const fits = runs.models.filter(
        ([, , , weights, buffers]) =>
          weights[quant] !== null &&
          buffers[ctx] !== null &&
          weights[quant] + buffers[ctx][0] + buffers[ctx][1] + runs.driver[1] <= room,
      );
      assert.equal(Number(count), fits.length, gib);
    }
  });
}
