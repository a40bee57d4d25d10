// What diagnosis knows of a case goes with the reader: to the page of the error, and on to the calculator.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { axe, causeTitle, visiting } from "../harness.mjs";

const TORCH =
  "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 7.21 GiB already allocated; 0.50 GiB free; 7.30 GiB reserved in total by PyTorch)";
const FAILED =
  "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 14656.12 MiB on device 0: cudaMalloc failed: out of memory";
/** Ways in which logs name a model, and what the calculator is asked for. */
const NAMED = {
  "llama_model_loader: loaded meta data from /home/me/models/Llama-3.1-8B-Instruct-Q4_K_M.gguf (version GGUF V3)": {
    model: "llama-3.1-8b-instruct",
    quant: "Q4_K_M",
  },
  "C:\\models\\Meta-Llama-3.1-8B-Instruct-Q8_0.gguf": { model: "llama-3.1-8b-instruct", quant: "Q8_0" },
  "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 32768": { model: "llama-3.1-8b-instruct", ctx: "32768" },
  "ollama run llama3.1:8b": { model: "llama-3.1-8b-instruct" },
  "ollama run llama3.1:8b-instruct-q4_K_M": { model: "llama-3.1-8b-instruct", quant: "Q4_K_M" },
  "llama_model_loader: - kv   2:  general.name str = Llama 3.1 8B Instruct\nllama_context: n_ctx         = 16384": {
    model: "llama-3.1-8b-instruct",
    ctx: "16384",
  },
  "  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes\nload Qwen_Qwen3-8B-Q4_K_M.gguf": {
    model: "qwen3-8b",
    quant: "Q4_K_M",
    gpu: "geforce-rtx-3090",
  },
  "  Device 0: NVIDIA GeForce RTX 3060, compute capability 8.6\nload Qwen3-8B-Q4_K_M.gguf": {
    model: "qwen3-8b",
    quant: "Q4_K_M",
  },
  "using device CUDA0 (NVIDIA GeForce RTX 3060) - 11620 MiB free\nload Qwen3-8B-Q4_K_M.gguf": {
    model: "qwen3-8b",
    quant: "Q4_K_M",
    gpu: "geforce-rtx-3060-12-gb",
  },
  "load some-merge-of-mine-8B-Q4_K_M.gguf": {},
};

export default function ({ folder, browser, url }) {
  const found = page => page.locator("#paste-out .found > li > a");
  const asked = async link =>
    Object.fromEntries(new URLSearchParams(new URL(await link.evaluate(element => element.href)).hash.slice(1)));

  for (const [name, base] of [
    ["from a server", url],
    ["from a file", `${pathToFileURL(folder)}/`],
  ]) {
    test(`${name}: the page of the error shows the figures at their cause, and its calculator begins with them`, () =>
      visiting(
        browser,
        `${base}diagnose/index.html`,
        { reducedMotion: "reduce" },
        async (page, { requests, trouble }) => {
          await page
            .locator("#paste-text")
            .fill(`loading /models/secret-folder/Llama-3.1-8B-Instruct-Q4_K_M.gguf\n${TORCH}`);
          const offer = page.locator("#paste-out a", { hasText: "Does Llama 3.1 8B Instruct fit?" }).first();
          const setting = { model: "llama-3.1-8b-instruct", quant: "Q4_K_M", mem: "8589934592" };
          assert.deepEqual(await asked(offer), setting);
          const cause = new URL(
            await found(page)
              .first()
              .evaluate(link => link.href),
          ).hash
            .slice(1)
            .split("&")[0];
          await found(page).first().click();
          const panel = page.locator(".carried:focus");
          await panel.waitFor();
          const title = causeTitle(folder, "cuda-oom", "one-huge-request");
          assert.match(
            await panel.innerText(),
            new RegExp(
              `From your log\\s+${title}: requested 2\\.00 GiB, total 8\\.00 GiB, 1\\.50 GiB missing\\.[^]*free\\s+512 MiB`,
            ),
          );
          assert.ok(
            await page.locator(`#${cause}.named`).evaluate(element => {
              const { top } = element.getBoundingClientRect();
              return element.contains(document.activeElement) && top >= 0 && top < innerHeight;
            }),
          );
          assert.ok(
            !page.url().includes("secret-folder") && !requests.some(request => request.url.includes("requested")),
            page.url(),
          );
          if (base === url) assert.deepEqual(await axe(page), []);
          for (const link of await page.locator("main a[href*='will-it-run/']:not([href*='?'])").all()) {
            assert.deepEqual(await asked(link), setting);
          }
          await page.reload();
          await panel.waitFor();
          await panel.locator("a", { hasText: "Does Llama 3.1 8B Instruct fit?" }).click();
          await page.locator("#verdict:visible").waitFor();
          assert.equal(await page.locator("#model").inputValue(), "Llama 3.1 8B Instruct");
          assert.equal(await page.locator("#memory-1").inputValue(), "8");
          assert.deepEqual(trouble, []);
        },
      ));
  }

  test("the model, quantization, context and device that a log names go to the calculator, and nothing that it does not name", () =>
    visiting(browser, `${url}diagnose/`, {}, async (page, { trouble }) => {
      await page.locator("#paste-text").focus();
      await page.waitForFunction(() => kbgen.tables && kbgen.settingInLog);
      const told = await page.evaluate(
        ([texts, failed]) =>
          texts.map(text => {
            const log = `${text}\n${failed}`;
            return kbgen.settingInLog(log, { line: log.split("\n").length, figures: {} }, kbgen.tables);
          }),
        [Object.keys(NAMED), FAILED],
      );
      assert.deepEqual(
        told.map(each => Object.fromEntries(Object.entries(each).map(([name, value]) => [name, String(value)]))),
        Object.values(NAMED),
      );
      // Of two models the last one before the message counts.
      await page
        .locator("#paste-text")
        .fill(`Qwen3-8B-Q8_0.gguf\nLlama-3.1-8B-Instruct-Q4_K_M.gguf\n${FAILED}\nQwen3-14B-Q8_0.gguf`);
      assert.deepEqual(await asked(page.locator("#paste-out a[href*='will-it-run']").first()), {
        model: "llama-3.1-8b-instruct",
        quant: "Q4_K_M",
      });
      assert.deepEqual(trouble, []);
    }));

  test("what an address claims of a case is shown as known figures only", () =>
    visiting(
      browser,
      `${url}errors/cuda-oom-loading-model/#main&call_0900_1234=1&total=8589934592&requested=%3Cimg%20src=x%20onerror=alert(1)%3E&free=-4&model=%22%3E&quant=Q99&ctx=1e999&gpu=x&mem=x&constructor=1&__proto__=2`,
      {
        prepare: page =>
          page.addInitScript(() => {
            window.broken = [];
            window.alert = () => window.broken.push("alert");
            addEventListener("securitypolicyviolation", event => window.broken.push(event.effectiveDirective));
          }),
      },
      async (page, { trouble }) => {
        await page.locator(".carried").waitFor();
        assert.equal((await page.locator(".carried dl").innerText()).replace(/\s+/g, " "), "total 8.00 GiB");
        assert.equal(await page.locator(".carried img").count(), 0);
        assert.match(await page.locator("main .onward a[href*='will-it-run']").getAttribute("href"), /index\.html#?$/);
        assert.deepEqual(await page.evaluate(() => window.broken), []);
        assert.deepEqual(trouble, []);
      },
    ));

  test("a bare CUDA message offers the pages of PyTorch, llama.cpp and Ollama", () =>
    visiting(browser, `${url}diagnose/`, {}, async page => {
      await page.locator("#paste-text").fill("CUDA error: out of memory");
      await found(page).first().waitFor();
      const hrefs = await found(page).evaluateAll(links => links.map(link => /errors\/([\w-]+)/.exec(link.href)[1]));
      for (const slug of ["cuda-oom", "ggml-cuda-oom-runtime", "ollama-cuda-oom-runner"]) {
        assert.ok(hrefs.includes(slug), hrefs.join(" "));
      }
    }));
}
