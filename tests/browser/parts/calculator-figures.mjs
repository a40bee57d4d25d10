// Will it run? Every figure of the page against the program, to the byte.
import assert from "node:assert/strict";
import { test } from "node:test";
import { estimate, visiting } from "../harness.mjs";

/** The same numbers on every run. */
function dice(seed) {
  return below => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return Math.floor((seed / 0x1_0000_0000) * below);
  };
}

const indexOf = page => page.locator("#fit-data").textContent().then(JSON.parse);

/** Settings as someone might choose them, on one device with all layers or, `spread`, in any other way. */
function settings(index, tables, count, seed, spread) {
  const roll = dice(seed);
  const from = list => list[roll(list.length)];
  return Array.from({ length: count }, () => {
    const model = from(index.models);
    const { max, layers, quants } = tables[model.id];
    const ctx = 1 + (roll(2) ? roll(max) : roll(Math.min(max, 20_000)));
    const setting = {
      quant: from(quants),
      k: roll(index.kv.length),
      v: roll(index.kv.length),
      ctx,
      slots: from(index.slots),
      server: roll(2) === 1,
      shares: [1],
      layers: null,
      experts: 0,
    };
    if (spread) {
      setting.shares = from([[1], [1, 1], [2, 1], [1, 1, 1], [24, 12, 8], [3, 1, 1, 2]]);
      setting.layers = roll(3) ? roll(layers + 2) : null;
      setting.experts = model.moe && roll(2) ? from(["all", roll(layers + 1)]) : 0;
    }
    return { model: model.id, setting };
  });
}

/** The questions of a setting as rows of a batch: one for each part and device. */
function questions(index, { model, setting }) {
  const run = {
    catalogue_id: model,
    quant: index.quants[setting.quant],
    ctx: setting.ctx,
    kv_type: `${index.kv[setting.k]}/${index.kv[setting.v]}`,
    n_seq: setting.slots,
    kv_unified: 1,
    n_outputs: setting.server ? setting.slots : "",
    n_gpu_layers: setting.layers ?? "",
    n_gpu: setting.shares.length,
    tensor_split: `"${setting.shares}"`,
    moe_cpu: setting.experts === "all" ? "all" : setting.experts ? `first:${setting.experts}` : "none",
  };
  return setting.shares.flatMap((_, i) =>
    ["model_bytes", "kv_bytes", "compute_bytes", "total"].map(kind => ({ ...run, kind, device: `gpu${i}` })),
  );
}

const named = ({ model, setting }) => `${model} ${JSON.stringify(setting)}`;

export default function ({ browser, url }) {
  const address = `${url}will-it-run/`;

  /** Loads the tables of all models into the page: what the settings are drawn from. */
  async function allTables(page, index) {
    return page.evaluate(
      async ([ids, stamp]) => {
        const root = document.documentElement.dataset.root;
        const load = id => new Promise(done => kbgen.fit.load(id, `${root}data/fit/${id}.js?${stamp}`, done));
        const all = {};
        for (const id of ids) {
          const { max, layers, quants } = await load(id);
          all[id] = { max, layers, quants: quants.flatMap((quant, i) => (quant ? [i] : [])) };
        }
        return all;
      },
      [index.models.map(model => model.id), index.stamp],
    );
  }

  const answers = (page, asked) =>
    page.evaluate(list => list.map(({ model, setting }) => kbgen.fit.need(kbgen.fit.tables[model], setting)), asked);

  test("calculator: at 1,000 settings on one device the page says what the program computes, to the byte", () =>
    visiting(browser, address, {}, async page => {
      const index = await indexOf(page);
      const asked = settings(index, await allTables(page, index), 1000, 20260, false);
      const given = await answers(page, asked);
      const told = await estimate(asked.flatMap(each => questions(index, each)));
      let compared = 0;
      for (const [i, each] of asked.entries()) {
        const [device] = given[i].devices;
        const [weights, cache, compute, total] = told.slice(4 * i, 4 * i + 4);
        // What the program does not cover, the page does not either.
        if (total.bytes === null) {
          assert.equal(device.compute, null, `${total.status}: ${named(each)}`);
          continue;
        }
        compared += 1;
        assert.equal(device.weights, weights.bytes, `weights: ${named(each)}`);
        assert.equal(device.cache, cache.bytes, `cache: ${named(each)}`);
        assert.deepEqual(device.compute, [compute.bytes, compute.bytes], `compute: ${named(each)}`);
        assert.deepEqual(device.total, [total.bytes, total.bytes], `total: ${named(each)}`);
      }
      assert.ok(compared > 900, `${compared} of 1,000 covered`);
    }));

  test("calculator: at 1,000 settings with layers or experts in RAM or several devices, weights and cache are the program's and its compute buffer lies in the range", () =>
    visiting(browser, address, {}, async page => {
      const index = await indexOf(page);
      const asked = settings(index, await allTables(page, index), 1000, 4711, true);
      const given = await answers(page, asked);
      const rows = asked.map(each => questions(index, each));
      const told = await estimate(rows.flat());
      let row = 0;
      let compared = 0;
      for (const [i, each] of asked.entries()) {
        for (const [j, device] of given[i].devices.entries()) {
          const [weights, cache, compute] = told.slice(row, (row += 4));
          const place = `device ${j}: ${named(each)}`;
          if (weights.status !== "ok") {
            // A device that is left without layers has no rows; else it is not covered.
            assert.ok(device.compute === null || !device.weights, `${weights.status}, ${place}`);
            continue;
          }
          assert.equal(device.weights, weights.bytes, `weights, ${place}`);
          assert.equal(device.cache, cache.bytes, `cache, ${place}`);
          // Of one device with a part of the model plans.mjs compares the planner's figure.
          if (!device.compute || (given[i].devices.length === 1 && !given[i].exact)) continue;
          compared += 1;
          assert.ok(
            device.compute[0] <= compute.bytes && compute.bytes <= device.compute[1],
            `compute ${compute.bytes} outside ${device.compute}, ${place}`,
          );
        }
      }
      assert.equal(row, told.length);
      assert.ok(compared > 1000, `${compared} compute buffers compared`);
    }));

  test("calculator: the largest context is the last of all that fits", () =>
    visiting(browser, address, {}, async page => {
      const index = await indexOf(page);
      const tables = await allTables(page, index);
      const roll = dice(31);
      const asked = [...settings(index, tables, 60, 5, false), ...settings(index, tables, 40, 6, true)].map(each => ({
        ...each,
        room: (2 + roll(60)) * 2 ** 30,
      }));
      const wrong = await page.evaluate(
        ([list, driver]) => {
          const { but, judge, largest, need, tables, CELL } = kbgen.fit;
          return list.filter(({ model, setting, room }) => {
            const table = tables[model];
            const rooms = setting.shares.map(() => room);
            let step = Math.ceil(table.max / CELL);
            while (step && judge(need(table, but(setting, { ctx: step * CELL })), rooms, driver) !== "fits") step -= 1;
            return largest(table, setting, rooms, driver) !== Math.min(step * CELL, table.max);
          });
        },
        [asked, index.driver],
      );
      assert.deepEqual(wrong.map(named), []);
    }));

  test("calculator: at 300 settings of vLLM, weights and the cache of a request are the program's", () =>
    visiting(browser, address, {}, async page => {
      const index = await indexOf(page);
      const tables = await allTables(page, index);
      const roll = dice(97);
      const asked = Array.from({ length: 300 }, () => {
        const { id } = index.models[roll(index.models.length)];
        return {
          model: id,
          dtype: roll(index.dtypes.length),
          cards: 1 + roll(4),
          fp8: roll(2) === 1,
          ctx: 1 + roll(tables[id].max),
          memory: 24 * 2 ** 30,
          util: 920,
        };
      });
      const given = await page.evaluate(
        list => list.map(each => kbgen.fit.vllm(kbgen.fit.tables[each.model], each)),
        asked,
      );
      const told = await estimate(
        asked.flatMap(({ model, dtype, cards, fp8, ctx }) =>
          ["model_bytes", "kv_bytes"].map(kind => ({
            engine: "vllm",
            kind,
            catalogue_id: model,
            quant: index.dtypes[dtype],
            ctx,
            kv_type: fp8 ? "fp8" : "auto",
            n_gpu: cards,
            device: "gpu0",
          })),
        ),
      );
      let compared = 0;
      for (const [i, each] of asked.entries()) {
        const [weights, request] = told.slice(2 * i, 2 * i + 2);
        const place = JSON.stringify(each);
        if (given[i].reason) {
          assert.ok(weights.bytes === null || request.bytes === null, `${given[i].reason}: ${place}`);
          continue;
        }
        compared += 1;
        assert.equal(given[i].weights, weights.bytes, place);
        const range = /a range of (\d+) to (\d+) bytes/.exec(request.status)?.slice(1).map(Number) ?? [
          request.bytes,
          request.bytes,
        ];
        assert.deepEqual(given[i].request, range, place);
      }
      assert.ok(compared > 150, `${compared} compared`);
    }));
}
