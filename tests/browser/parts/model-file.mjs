// Will it run? A GGUF file that the reader opens: read on the page, with the figures of the terminal.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { axe, hold, kbgen, scratch, siteRoot, visiting } from "../harness.mjs";

const MIB = 2 ** 20;

// ---- small files -------------------------------------------------------------

const u32 = n => Buffer.from(new Uint32Array([n]).buffer);
const u64 = n => Buffer.from(new BigUint64Array([BigInt(n)]).buffer);
const string = text => Buffer.concat([u64(text.length), Buffer.from(text)]);
const entry = (key, value) =>
  Buffer.concat([
    string(key),
    ...(typeof value === "string" ? [u32(8), string(value)] : value instanceof Buffer ? [value] : [u32(4), u32(value)]),
  ]);

/** A header: metadata, and tensors as [name, type, dimensions]. */
function header(metadata, tensors) {
  const entries = Object.entries(metadata);
  return Buffer.concat([
    Buffer.from("GGUF"),
    u32(3),
    u64(tensors.length),
    u64(entries.length),
    ...entries.map(([key, value]) => entry(key, value)),
    ...tensors.flatMap(([name, type, sizes]) => [
      string(name),
      u32(sizes.length),
      ...sizes.map(u64),
      u32(type),
      u64(0),
    ]),
  ]);
}
const LLAMA = {
  "general.architecture": "llama",
  "general.name": "Small Llama",
  "llama.block_count": 2,
  "llama.context_length": 8192,
  "llama.embedding_length": 512,
  "llama.feed_forward_length": 1024,
  "llama.attention.head_count": 4,
  "llama.attention.head_count_kv": 2,
};
/** Tensors of a Llama of a shape that no model has, in several types. */
const TENSORS = [
  ["token_embd.weight", 14, [512, 1000]],
  ...[0, 1].flatMap(layer =>
    [
      ["attn_q", 12, [512, 512]],
      ["attn_k", 23, [512, 256]],
      ["attn_v", 10, [512, 256]],
      ["attn_output", 39, [512, 512]],
      ["ffn_gate", 34, [512, 1024]],
      ["ffn_up", 40, [512, 1024]],
      ["ffn_down", 8, [1024, 512]],
    ].map(([name, type, sizes]) => [`blk.${layer}.${name}.weight`, type, sizes]),
  ),
  ["output.weight", 6, [512, 1000]],
];

/** A file with the shape of Llama 3.1 8B, with all layers in Q4_K. */
const ofLlama8B = () => {
  const layer = [
    ["attn_norm", 0, [4096]],
    ["ffn_norm", 0, [4096]],
    ["attn_q", 12, [4096, 4096]],
    ["attn_k", 12, [4096, 1024]],
    ["attn_v", 12, [4096, 1024]],
    ["attn_output", 12, [4096, 4096]],
    ["ffn_gate", 12, [4096, 14336]],
    ["ffn_up", 12, [4096, 14336]],
    ["ffn_down", 12, [14336, 4096]],
  ];
  const metadata = {
    "general.architecture": "llama",
    "general.name": "Llama 3.1 8B",
    "general.file_type": 15,
    "llama.block_count": 32,
    "llama.context_length": 131072,
    "llama.embedding_length": 4096,
    "llama.feed_forward_length": 14336,
    "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8,
    "llama.rope.dimension_count": 128,
  };
  return header(metadata, [
    ["token_embd.weight", 12, [4096, 128256]],
    ["output_norm.weight", 0, [4096]],
    ["output.weight", 14, [4096, 128256]],
    ["rope_freqs.weight", 0, [64]],
    ...Array.from({ length: 32 }, (_, i) =>
      layer.map(([name, type, sizes]) => [`blk.${i}.${name}.weight`, type, sizes]),
    ).flat(),
  ]);
};

export default function ({ browser, program, url }) {
  const address = `${url}will-it-run/`;
  const made = join(scratch, "gguf");
  mkdirSync(made, { recursive: true });
  const written = (name, bytes) => {
    writeFileSync(join(made, name), bytes);
    return join(made, name);
  };
  const text = (page, id) => page.locator(`#${id}`).innerText();
  const at = (hash, use) =>
    visiting(browser, address + hash, {}, async (page, visitor) => {
      await page.locator("#answer:not([aria-busy])").waitFor({ state: "attached" });
      return use(page, visitor);
    });
  const isRead = page =>
    page.waitForFunction(() => !/^(Reading|$)/.test(document.getElementById("file-note").textContent));
  const open = async (page, ...files) => {
    await page.evaluate(() => document.getElementById("file-note").replaceChildren());
    await page.locator("#file").setInputFiles(files);
    await isRead(page);
  };
  const terminal = async (file, ...args) =>
    JSON.parse(await kbgen("--root", siteRoot, "fit", file, ...args, "--format", "json"));

  // The headers of the measured models, as `cargo test -p kbgen-estimate` leaves them.
  const headers = join(dirname(program), "../tmp/gguf");
  const slugs = existsSync(headers) ? readdirSync(headers).map(name => name.replace(/\.gguf$/, "")) : [];
  const isMissing = !slugs.length && "cargo test -p kbgen-estimate has left no headers";

  test(
    "calculator: a file of each measured model has its shape, and its weights to the byte",
    { skip: isMissing },
    () =>
      at("", async (page, { trouble }) => {
        await open(page, written("m.gguf", header(LLAMA, TENSORS)));
        const files = slugs.map(slug => [slug, readFileSync(join(headers, `${slug}.gguf`)).toString("base64")]);
        const wrong = await page.evaluate(async files => {
          const { index } = kbgen.calculator;
          const quant = index.quants.indexOf("Q4_K_M");
          const wrong = [];
          for (const [slug, bytes] of files) {
            const blob = new Blob([Uint8Array.from(atob(bytes), letter => letter.charCodeAt(0))]);
            const model = await kbgen.openModel([Object.assign(blob, { name: `${slug}.gguf` })], index);
            // One measured model has no page.
            if (!model.slug && index.models.some(({ id }) => id === slug)) wrong.push(`${slug}: no shape`);
            if (!model.slug) continue;
            const base = await new Promise(done => {
              kbgen.fit.load(model.slug, `${document.documentElement.dataset.root}data/fit/${model.slug}.js`, done);
            });
            const own = model.table(base, index.quants.length);
            const [found, known] = [own.quants.at(-1), base.quants[quant]].map(
              each => each && [each.file, each.in, each.out, each.touch, each.sums],
            );
            // Of a model that is published in one type there is no other.
            if (!known) continue;
            if (JSON.stringify([found, own.factors]) !== JSON.stringify([known, base.factors])) {
              wrong.push(slug);
            }
          }
          return wrong;
        }, files);
        assert.deepEqual(wrong, []);
        assert.ok(slugs.length > 30, `${slugs.length} files`);
        assert.deepEqual(trouble, []);
      }),
  );

  const SETTINGS = [
    ["llama-3.1-8b-instruct", "gpu=geforce-rtx-3060-12-gb&ctx=8192", ["--gpu", "geforce-rtx-3060-12-gb"]],
    ["gemma-3-4b-it", "gpu=apple-m4@16&ctx=20000", ["--gpu", "apple-m4", "--memory", "16", "--ctx", "20000"]],
    [
      "qwen3-30b-a3b",
      "gpu=geforce-rtx-4090&ctx=4096&k=q8_0&v=q8_0&os=windows",
      ["--gpu", "geforce-rtx-4090", "--ctx", "4096", "--kv-type", "q8_0", "--os", "windows"],
    ],
    ["deepseek-v2-lite-chat", "gpu=radeon-rx-7900-xtx&ctx=8192", ["--gpu", "radeon-rx-7900-xtx"]],
    ["llama-3.1-8b-instruct", "gpu=geforce-gtx-1650&ctx=8192", ["--gpu", "geforce-gtx-1650"]],
    ["qwen3-30b-a3b", "gpu=geforce-rtx-3060-12-gb&ctx=16384", ["--gpu", "geforce-rtx-3060-12-gb", "--ctx", "16384"]],
    [
      "gpt-oss-20b",
      "gpu=geforce-rtx-3060-12-gb,geforce-rtx-3060-12-gb&ctx=8192",
      ["--gpu", "geforce-rtx-3060-12-gb", "--gpu", "geforce-rtx-3060-12-gb"],
    ],
  ];
  for (const [slug, hash, args] of SETTINGS.filter(([slug]) => slugs.includes(slug))) {
    test(`calculator: a file of ${slug} gives the figures of kbgen fit FILE with ${hash}`, () =>
      at(`#${hash}`, async page => {
        const file = join(headers, `${slug}.gguf`);
        await open(page, file);
        assert.match(await text(page, "file-note"), /has the shape of/);
        const told = await terminal(file, ...args);
        const found = await page.evaluate(() => {
          const state = kbgen.calculator.state();
          const table = kbgen.fit.tables.file;
          const { devices } = kbgen.fit.need(table, kbgen.answer.settingOf(state, table, kbgen.calculator.index));
          const answer = kbgen.answer.of(state, table, kbgen.calculator.index);
          const { setting, moved } = answer;
          const part = moved && { setting, ...kbgen.fit.need(table, setting) };
          return { devices, verdict: answer.verdict, most: answer.most, part };
        });
        for (const [i, device] of found.devices.entries()) {
          const own = told.devices[i];
          assert.deepEqual([device.weights, device.cache], [own.weights_bytes, own.cache_bytes]);
          if (found.devices.length === 1) {
            assert.deepEqual(device.compute, own.compute_range_bytes);
            assert.deepEqual(device.total, own.total_range_bytes);
          }
        }
        assert.equal(Boolean(found.part), Boolean(told.plan));
        if (found.part) {
          const { plan } = told;
          const { setting, devices, host } = found.part;
          assert.equal(setting.layers ?? told.model.layers + 1, plan.settings.gpu_layers);
          assert.equal(setting.experts, plan.settings.cpu_expert_layers);
          assert.deepEqual(devices[0].total, plan.devices[0].total_range_bytes);
          assert.deepEqual([host.weights, host.cache], [plan.host.weights_bytes, plan.host.cache_bytes]);
        }
        const verdicts = told.devices.map(device => device.verdict);
        const worst = ["fits", "tight", "no"].findLast(verdict => verdicts.includes(verdict));
        const expected = worst === "no" && found.part ? "part" : worst;
        if (found.devices.length === 1) assert.equal(found.most, told.largest_context ?? 0);
        assert.ok(found.verdict === expected || (found.devices.length > 1 && found.verdict === "tight"), found.verdict);
      }));
  }

  test("calculator: a file of an unknown shape shows its exact weights and the command for the terminal", () =>
    at("#gpu=geforce-rtx-4090&os=windows&ctx=4096", async (page, { trouble, requests }) => {
      const file = written("small llama.gguf", header(LLAMA, TENSORS));
      requests.length = 0;
      await open(page, file);
      const told = await terminal(file, "--gpu", "geforce-rtx-4090");
      const shown = await page.evaluate(() => kbgen.fit.tables.file.quants.at(-1));
      const sum = shown.sums.gpu.at(-1) + shown.out[0];
      assert.equal(sum, told.devices[0].weights_bytes);
      assert.equal(shown.in, told.host.weights_bytes);
      assert.match(await text(page, "verdict"), /Not covered/);
      assert.match(
        await text(page, "commands"),
        /kbgen fit 'small llama\.gguf' --gpu geforce-rtx-4090 --os windows --ctx 4096/,
      );
      assert.deepEqual(await axe(page), []);
      assert.ok(requests.every(request => request.method === "GET" && !request.body));
      // Another model is chosen as before.
      await page.locator("#model").fill("llama 3.1 8b instruct");
      await page.keyboard.press("Enter");
      await page.locator("#verdict", { hasText: "Fits" }).waitFor();
      assert.deepEqual(trouble, []);
    }));

  test("calculator: a split file needs all parts, which may be dropped together", () =>
    at("", async (page, { trouble }) => {
      const [one, two] = [TENSORS.slice(0, 6), TENSORS.slice(6)];
      const first = written("m-00001-of-00002.gguf", header({ ...LLAMA, "split.count": 2 }, one));
      const second = written("m-00002-of-00002.gguf", header({ "split.count": 2 }, two));
      const bytes = () => page.evaluate(() => kbgen.fit.tables.file.quants.at(-1).file);
      await open(page, written("whole.gguf", header(LLAMA, TENSORS)));
      const whole = await bytes();
      await open(page, second);
      assert.equal(
        await text(page, "file-note"),
        "m-00002-of-00002.gguf: parts of it are missing: m-00001-of-00002.gguf",
      );
      await page.evaluate(
        parts => {
          const data = new DataTransfer();
          for (const [name, text] of parts) {
            data.items.add(new File([Uint8Array.from(atob(text), letter => letter.charCodeAt(0))], name));
          }
          document.getElementById("file-note").replaceChildren();
          document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        },
        [second, first].map(path => [path.split("/").at(-1), readFileSync(path).toString("base64")]),
      );
      await isRead(page);
      assert.match(await text(page, "file-note"), /^m-00001-of-00002\.gguf: weights of/);
      assert.equal(await bytes(), whole);
      assert.equal(whole, (await terminal(first, "--memory", "24")).quantizations[0].file_bytes);
      assert.deepEqual(trouble, []);
    }));

  test("calculator: in a command, the name of an opened file is one word of the shell, whatever it contains", () =>
    at("#gpu=geforce-rtx-4090", async page => {
      const name = "-a;echo pwned;$(id) it's.gguf";
      const named = async name => {
        await page.locator("#file").setInputFiles({ name, mimeType: "", buffer: ofLlama8B() });
        await page.locator("#file-note", { hasText: "weights of" }).waitFor();
        return page.locator("#commands code").first().textContent();
      };
      const command = (await named(name)).replace("llama-server", "printf '%s\\n'");
      assert.deepEqual(execFileSync("sh", ["-c", command], { encoding: "utf8" }).split("\n").slice(0, 3), [
        "-m",
        `./${name}`,
        "-ngl",
      ]);
      await page.locator("#os").selectOption("windows");
      assert.match(await text(page, "commands"), /-m '\.\/-a;echo pwned;\$\(id\) it''s\.gguf' -ngl/);
      await page.locator("#file-note").evaluate(note => note.replaceChildren());
      assert.match(await named("Llama\u001b[201~\nx.gguf"), /-m 'Llama \[201~ x\.gguf' -ngl/);
    }));

  test("calculator: a model that is chosen while a file is read stays, and the file is in the list", async () => {
    let read;
    const prepare = async page => {
      read = await hold(page, /data\/gguf\.js/);
    };
    await visiting(browser, address, { prepare }, async (page, { trouble }) => {
      const choose = async name => {
        await page.locator("#model").fill(name);
        await page.keyboard.press("Enter");
      };
      await choose("gemma 3 12b");
      await page.locator("#commands", { hasText: "gemma-3-12b" }).waitFor();
      await choose("llama 3.1 8b instruct");
      await page.locator("#file").setInputFiles(written("late.gguf", header(LLAMA, TENSORS)));
      await choose("gemma 3 12b");
      read();
      await page.locator("#file-note", { hasText: "weights of" }).waitFor();
      assert.match(await text(page, "commands"), /gemma-3-12b/i);
      await choose("small llama");
      await page.locator("#verdict", { hasText: "Not covered" }).waitFor();
      assert.deepEqual(trouble, []);
    });
  });

  const good = header(LLAMA, TENSORS);
  const patched = (at, bytes) => Buffer.concat([good.subarray(0, at), bytes, good.subarray(at + bytes.length)]);
  const many = Buffer.concat([u32(9), u32(9), u64(2n ** 40n), u32(8), u64(2n ** 60n)]);
  const HOSTILE = {
    "a text": [Buffer.from("a text"), "it is not a GGUF file"],
    empty: [Buffer.alloc(0), "the file ends within its header"],
    cut: [good.subarray(0, 300), "the file ends within its header"],
    "2^60 tensors": [patched(8, u64(2n ** 60n)), "its header has more entries than that of any model"],
    "2^60 entries": [patched(16, u64(2n ** 60n)), "its header has more entries than that of any model"],
    "a key of 2^40 bytes": [patched(24, u64(2n ** 40n)), "a name in its header is too long"],
    "a string of 2^40 bytes": [
      header({ a: Buffer.concat([u32(8), u64(2n ** 40n)]) }, []),
      "the file ends within its header",
    ],
    "arrays in arrays": [header({ a: many }, []), "the file ends within its header"],
    "2^40 empty strings": [
      Buffer.concat([header({ a: Buffer.concat([u32(9), u32(8), u64(2n ** 40n)]) }, []), Buffer.alloc(64 * MIB)]),
      "the file ends within its header",
    ],
    "an unknown type": [header(LLAMA, [["t", 99, [32]]]), "tensor t has the unknown type 99"],
    "2^80 elements": [header(LLAMA, [["t", 0, [2 ** 40, 2 ** 40]]]), "tensor t has more elements than any model"],
    "2^32 layers": [header({ ...LLAMA, "llama.block_count": 2 ** 32 - 1 }, TENSORS), "its number of layers is invalid"],
    "a projector": [header({ "general.architecture": "clip" }, []), "it is not a language model but clip"],
  };
  test("calculator: damaged and hostile files get a message, and change nothing", () =>
    at("", async (page, { trouble }) => {
      const answer = () => Promise.all(["verdict", "margin", "parts", "commands"].map(id => text(page, id)));
      const before = await answer();
      for (const [name, [bytes, message]] of Object.entries(HOSTILE)) {
        const start = performance.now();
        await open(page, written("x.gguf", bytes));
        assert.equal(await text(page, "file-note"), `x.gguf: ${message}`, name);
        assert.ok(performance.now() - start < 20_000, name);
        assert.deepEqual(await answer(), before, name);
      }
      assert.deepEqual(trouble, []);
    }));

  test("calculator: an address with a file asks for it, and the Back button returns to the model before", () =>
    at("#model=gemma-3-12b-it", async page => {
      await open(page, written("x.gguf", good));
      await page.waitForURL(/#file=x\.gguf/);
      await page.goBack();
      await page.locator("#verdict:visible", { hasNotText: "Not covered" }).waitFor();
      assert.match(await text(page, "commands"), /Gemma-3-12B/i);
      await page.goForward();
      await page.locator("#verdict:visible", { hasText: "Not covered" }).waitFor();
      await page.reload();
      await page.locator("#misread li:visible", { hasText: "file=x.gguf: a link does not contain the file" }).waitFor();
      await open(page, join(made, "x.gguf"));
      await page.locator("#verdict:visible", { hasText: "Not covered" }).waitFor();
      assert.ok(await page.locator("#misread").isHidden());
    }));
}
