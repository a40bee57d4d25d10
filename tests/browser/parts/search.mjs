// The search of every page: the dialog by keyboard, the page made for it, and what it says to whom.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { PHONE, axe, hold, readJson, serve, sideways, visiting } from "../harness.mjs";

const MODEL = "models/llama-3.1-8b-instruct/";
/** What a reader types, and the page that has to come first. */
const FIRST = [
  // Names.
  ["4090", "GeForce RTX 4090"],
  ["RTX 4090", "GeForce RTX 4090"],
  ["rtx4090", "GeForce RTX 4090"],
  ["geforse rtx 4090", "GeForce RTX 4090"],
  ["llama 3.1 8b", "Llama 3.1 8B Instruct"],
  ["llama3.1:8b", "Llama 3.1 8B Instruct"],
  ["meta-llama/Llama-3.1-8B-Instruct", "Llama 3.1 8B Instruct"],
  ["q4_k_m", "Q4_K_M"],
  ["q4km", "Q4_K_M"],
  ["kv cache", "KV cache"],
  ["vllm", "vLLM"],
  ["vram", "VRAM"],
  ["wsl", "Run models in WSL 2 with an NVIDIA GPU"],
  ["calculator", "Will it run?"],
  // Messages.
  ["cuda out of memory", "CUDA out of memory"],
  ["out of memroy cuda", "CUDA out of memory"],
  ["segfault", "Segmentation fault (core dumped), SIGSEGV, Fatal Python error: Segmentation fault"],
  ["ollama out of memory", "Ollama: runner died with cudaMalloc failed: out of memory"],
  ["ilegal memmory acess", "CUDA error: an illegal memory access was encountered"],
  ["no kernel image", "CUDA error: no kernel image is available for execution on the device"],
  [
    "connection refused",
    "Connection refused: no program listens at the address (Errno 111, WinError 10061, ECONNREFUSED)",
  ],
  [
    "port already in use",
    "[Errno 98] error while attempting to bind on address: address already in use, permission denied",
  ],
  ["gpu not used ollama slow", "The GPU is hardly used, although the model is loaded"],
  ["gated model", "Hugging Face: cannot access gated repo"],
  // Questions and tasks.
  ["which gpu to buy", "Choose a GPU"],
  ["best gpu for llama 70b", "Choose a GPU for language models"],
  ["4090 or 5090", "Compare devices"],
  ["compare gpus", "Compare devices"],
  ["how much vram do I need", "Will it run?"],
  ["what fits in 24 gb", "Models by memory"],
  ["how to choose a quantization", "Choose a quantization"],
  ["which quantization should I use", "Choose a quantization"],
  ["which program should I use", "Getting started 1: choose a program to run models"],
  ["what model should I use", "Getting started 2: choose a model for your memory"],
  ["setup", "Getting started 3: run your first model"],
  ["how to set up vllm", "vLLM"],
  ["how to install llama.cpp", "llama.cpp"],
  ["how to free gpu memory", "Free GPU memory"],
  ["free gpu memory", "Free GPU memory"],
  ["kv cache quantization ollama", "Quantize the KV cache"],
  ["one model on two gpus", "Use several GPUs for one model"],
  ["docker gpu", "Run models in Docker with a GPU"],
  ["offload layers", "Offload layers to the GPU and keep the rest in RAM"],
  ["tokens per second", "Benchmarks"],
  ["rocm or vulkan", "AMD GPUs: ROCm or Vulkan"],
  ["convert to gguf", "Convert a model to GGUF and quantize it"],
  ["is my gpu broken", "Is my GPU broken?"],
  ["how to update", "Update without breaking your environment"],
  ["install cuda", "NVIDIA driver and CUDA versions: what to install"],
  ["flash attention install", "FlashAttention"],
  ["flash attention install windows", "flash-attn build failed"],
  ["how to install pytorch", "PyTorch"],
  ["how to set up wsl", "Run models in WSL 2 with an NVIDIA GPU"],
  ["which quant", "Choose a quantization"],
  ["what is q4_k_m", "Q4_K_M"],
  ["mac unified memory limit", "The memory limit of Apple silicon"],
  ["wsl gpu not found", "WSL: Failed to initialize NVML: GPU access blocked by the operating system"],
  ["cuda version mismatch", "The detected CUDA version mismatches the version that was used to compile PyTorch"],
  ["rtx 5090 pytorch", "GeForce RTX 5090"],
  ["what is a token", "Token"],
  ["what is kv cache", "KV cache"],
  ["cpu", "Experts on the CPU"],
  // Environment variables, flags and parameters.
  ["OLLAMA_HOST", "Serve a model to other machines safely"],
  ["OLLAMA_FLASH_ATTENTION", "Quantize the KV cache"],
  ["OLLAMA_KV_CACHE_TYPE", "Quantize the KV cache"],
  ["OLLAMA_NUM_PARALLEL", "How much memory a context needs"],
  ["OLLAMA_KEEP_ALIVE", "Free GPU memory"],
  ["PYTORCH_CUDA_ALLOC_CONF", "CUDA out of memory although PyTorch holds free memory"],
  ["HF_TOKEN", "Hugging Face: cannot access gated repo"],
  ["HSA_OVERRIDE_GFX_VERSION", "AMD GPUs: ROCm or Vulkan"],
  ["-ngl", "Offloading"],
  ["--n-gpu-layers", "Offload layers to the GPU and keep the rest in RAM"],
  ["--n-cpu-moe", "Experts on the CPU"],
  ["--gpu-memory-utilization", "vLLM memory settings"],
  ["gpu_memory_utilization", "vLLM memory settings"],
  ["--max-model-len", "Context window"],
  ["--tensor-parallel-size", "Tensor parallelism"],
  ["num_ctx", "Context window"],
  ["context length ollama", "How much memory a context needs"],
  ["gpu memory utilization", "vLLM memory settings"],
  ["cuda visible devices", "CUDA error: invalid device ordinal; AssertionError: Invalid device id"],
];
/** What a reader types, and what no result may be. */
const NEVER = [
  ["cpu", /^Apple/],
  ["which gpu to buy", /^Ollama:/],
  ["gpu not used ollama slow", /^Metal/],
];

export default function ({ folder, browser, url }) {
  const field = page => page.locator("dialog.finder input");
  const rows = page => page.locator("dialog.finder [role=option]");
  const said = page => page.locator("dialog.finder [role=status]");
  const chosen = page => page.locator("dialog.finder [aria-selected=true] .finder-title");
  const title = row => row.locator(".finder-title").innerText();
  const results = /^\d+ results?$/;
  const open = async page => {
    await page.keyboard.press("/");
    await page.waitForFunction(() => kbgen.pages);
    await rows(page).first().waitFor();
  };
  // The browser closes it a moment after the key, and then takes the focus from its field, in which `/` is a letter.
  const escape = async page => {
    await page.keyboard.press("Escape");
    await page.waitForFunction(
      () => !document.querySelector("dialog.finder").open && !document.activeElement.matches("input"),
    );
  };
  const ask = async (page, text) => {
    await field(page).fill(text);
    await page.waitForFunction(
      text =>
        document
          .querySelector("dialog.finder .finder-more a[href*='case=']")
          ?.href.includes(encodeURIComponent(text)) ||
        /result|Nothing/.test(document.querySelector("dialog.finder [role=status]").textContent),
      text,
    );
  };

  test("search: / and Ctrl-K open it, what is typed meanwhile is kept, Enter goes to the page", () =>
    visiting(browser, url + MODEL, {}, async (page, { trouble }) => {
      const release = await hold(page, "**/finder.*.js");
      await page.keyboard.press("/");
      await page.keyboard.type("q4_k");
      release();
      await field(page).waitFor();
      await page.keyboard.type("_m");
      await page.locator("dialog.finder [role=option]", { hasText: "Q4_K_M" }).first().waitFor();
      assert.equal(await field(page).inputValue(), "q4_k_m");
      await escape(page);
      await page.keyboard.press("Control+k");
      await page.keyboard.type("kv cache");
      await chosen(page).filter({ hasText: "KV cache" }).waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/glossary\/index\.html#kv-cache$/);
      assert.deepEqual(trouble, []);
    }));

  test("search: the arrows go round, the field keeps the focus, Escape gives it back", () =>
    visiting(browser, url + MODEL, {}, async page => {
      const link = page.locator("#kbgen-search");
      await link.focus();
      await page.keyboard.press("Enter");
      await field(page).waitFor();
      await ask(page, "4090");
      const count = await rows(page).count();
      const titles = await rows(page).locator(".finder-title").allInnerTexts();
      assert.equal(await chosen(page).innerText(), titles[0]);
      await page.keyboard.press("ArrowDown");
      assert.equal(await chosen(page).innerText(), titles[1]);
      assert.equal(await field(page).getAttribute("aria-activedescendant"), await rows(page).nth(1).getAttribute("id"));
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("ArrowUp");
      assert.equal(await chosen(page).innerText(), titles[count - 1]);
      assert.ok(await field(page).evaluate(element => element === document.activeElement));
      await escape(page);
      assert.ok(
        await link.evaluate(element => element === document.activeElement),
        "the link that opened it has the focus again",
      );
    }));

  test("search: in a field / is a letter", () =>
    visiting(browser, `${url}errors/`, {}, async page => {
      await page.locator("#by-words").focus();
      await page.keyboard.type("a/b");
      assert.equal(await page.locator("#by-words").inputValue(), "a/b");
      assert.equal(await page.locator("dialog").count(), 0);
    }));

  test("search: names, messages, questions and settings lead to their page, in spite of typing errors", () =>
    visiting(browser, url + MODEL, {}, async page => {
      await open(page);
      const wrong = [];
      for (const [text, wanted] of FIRST) {
        await ask(page, "zzzzq");
        await ask(page, text);
        const first = await title(rows(page).first());
        if (first !== wanted) wrong.push(`${text}: ${first}`);
      }
      for (const [text, unwanted] of NEVER) {
        await ask(page, text);
        const shown = await rows(page).locator(".finder-title").allInnerTexts();
        wrong.push(...shown.filter(title => unwanted.test(title)).map(title => `${text}: ${title}`));
      }
      assert.deepEqual(wrong, []);
    }));

  test("search: pages with one message are one result, and the others follow all other results", () =>
    visiting(browser, url + MODEL, {}, async page => {
      await open(page);
      await ask(page, "cuda out of memory. tried to allocate");
      const notes = await rows(page).locator(".finder-note").allInnerTexts();
      const same = notes.filter(note => note.startsWith("CUDA out of memory. Tried to allocate"));
      assert.equal(same.length, 1, notes.join("\n"));
      assert.match(same[0], /and \d+ more pages with this message/);
    }));

  test("search: every page of every kind is found by its title", () =>
    visiting(browser, url + MODEL, {}, async page => {
      await open(page);
      const { errors, models, hardware, tools, guides } = readJson(`${folder}/kb.json`);
      const titles = [errors, models, hardware, tools, guides].flatMap(list => list.map(each => each.title));
      const lost = await page.evaluate(
        titles =>
          titles.filter(
            title =>
              !kbgen
                .names(kbgen.pages, title)
                .pages.slice(0, 3)
                .some(page => page.title === title),
          ),
        titles,
      );
      assert.deepEqual(lost, []);
    }));

  test("search: groups have names, the words that were typed are marked, and the number of results is announced", () =>
    visiting(browser, url + MODEL, {}, async page => {
      await open(page);
      await ask(page, "llama 3.1 8b");
      const groups = page.locator("dialog.finder [role=group]");
      assert.match(
        await page.locator(`#${await groups.first().getAttribute("aria-labelledby")}`).innerText(),
        /^Models \d+$/,
      );
      assert.ok((await groups.count()) >= 2);
      assert.equal(await chosen(page).locator("mark").innerText(), "Llama 3.1 8B");
      assert.match(await said(page).innerText(), results);
      await ask(page, "qqqqzz");
      assert.equal(await said(page).innerText(), "Nothing found");
      assert.equal(await title(rows(page).first()), "Diagnose this text");
    }));

  test("search: words that no page contains are named, and similar ones are then not searched for", () =>
    visiting(browser, url + MODEL, {}, async page => {
      await open(page);
      await ask(page, "error 43");
      assert.equal(await said(page).innerText(), "Nothing found. No page contains: 43");
      await ask(page, "ollama langsam");
      assert.match(await said(page).innerText(), /^\d+ results\. No page contains: langsam$/);
      await ask(page, "comfyui schwarzes bild");
      assert.match(await said(page).innerText(), /^\d+ results\. No page contains: schwarzes, bild$/);
      assert.equal(await title(rows(page).first()), "ComfyUI");
      for (const [text] of FIRST) {
        await ask(page, text);
        assert.match(await said(page).innerText(), results, text);
      }
    }));

  test("search: a pasted log goes to diagnosis, its page first and its secrets left out", () =>
    visiting(browser, url + MODEL, {}, async (page, { trouble }) => {
      const {
        title: wanted,
        signatures: [
          {
            samples: [sample],
          },
        ],
      } = readJson(`${folder}/errors/cuda-oom-loading-model.json`);
      await open(page);
      await field(page).evaluate((element, text) => {
        const data = new DataTransfer();
        data.setData("text", text);
        element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
      }, `token=hf_abcdefghijklmnop\n${sample}\n`);
      await page.waitForURL(/\/diagnose\/index\.html#case=token%3D%5Bsecret%5D/);
      await page.locator("#paste-out .found li").first().waitFor();
      assert.equal(await page.locator("#paste-out .found > li > a").first().innerText(), wanted);
      assert.deepEqual(trouble, []);
    }));

  test("search: nothing of it is loaded before it is wanted, and nothing that is typed is sent", () =>
    visiting(browser, url + MODEL, {}, async (page, { requests }) => {
      const own = requests => requests.filter(request => /finder|names\.|search/.test(request.url));
      await page.waitForLoadState("networkidle");
      assert.deepEqual(own(requests), []);
      await open(page);
      assert.ok(own(requests).some(request => request.url.endsWith("/data/search.js")));
      const before = requests.length;
      await ask(page, "password hunter2");
      await page.waitForLoadState("networkidle");
      assert.deepEqual(requests.slice(before), []);
    }));

  test("search: what is typed into another field while it loads stays there, and the dialog does not open", () =>
    visiting(browser, url, {}, async page => {
      const release = await hold(page, "**/js/finder.*.js");
      await page.locator("#kbgen-search").click();
      await page.locator("#paste-text").click();
      await page.keyboard.type("CUDA error");
      release();
      await page.waitForFunction(() => kbgen.openSearch);
      assert.equal(await page.locator("#paste-text").inputValue(), "CUDA error");
      assert.equal(await page.locator("dialog").count(), 0);
      await page.locator("#kbgen-search").click();
      await rows(page).first().waitFor();
      assert.equal(await field(page).inputValue(), "");
    }));

  test("search: an index that cannot be loaded is told of, and typing tries again", () =>
    visiting(browser, url + MODEL, {}, async page => {
      await page.route("**/data/search.js", route => route.abort());
      await page.keyboard.press("/");
      await said(page).filter({ hasText: "could not be loaded" }).waitFor();
      await page.unroute("**/data/search.js");
      await page.keyboard.type("vllm");
      await rows(page).first().waitFor();
    }));

  test("search: Enter before the index is loaded opens the first result once it is", () =>
    visiting(browser, url + MODEL, {}, async page => {
      for (const files of ["**/js/finder.*.js", "**/data/search.js"]) {
        await page.goto(url + MODEL);
        const release = await hold(page, files);
        await page.keyboard.press("/");
        if (files.includes("data")) await field(page).waitFor();
        await page.keyboard.type("4090");
        await page.keyboard.press("Enter");
        release();
        await page.waitForURL(`${url}hardware/geforce-rtx-4090/index.html`);
      }
    }));

  test("search: a pasted log stays in the field if it cannot be passed on", () =>
    visiting(browser, url + MODEL, {}, async (page, { trouble }) => {
      await page.route("**/js/case.*.js", route => route.abort());
      await page.keyboard.press("/");
      await said(page).filter({ hasText: "could not be loaded" }).waitFor();
      trouble.length = 0;
      await field(page).evaluate(element => {
        element.value = "";
        const data = new DataTransfer();
        data.setData("text", "one\ntwo\nthree\nfour\nfive");
        element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
      });
      await page.waitForFunction(() => document.querySelector("dialog input").value === "one two three four five");
      await page.unroute("**/js/case.*.js");
      await page.keyboard.type(" six");
      await rows(page).filter({ hasText: "Diagnose this text" }).waitFor();
      assert.ok(!trouble.some(each => each.startsWith("exception")), trouble.join("\n"));
    }));

  for (const [dress, options] of Object.entries({ light: {}, dark: { colorScheme: "dark" }, phone: PHONE })) {
    test(`search: axe-core finds nothing in the dialog in ${dress}`, () =>
      visiting(browser, `${url}errors/cuda-oom-loading-model/`, options, async (page, { trouble }) => {
        await open(page);
        assert.deepEqual(await axe(page), []);
        for (const text of ["memory", "q4_k_m", "qqqqzz"]) {
          await ask(page, text);
          assert.deepEqual(await axe(page), [], text);
        }
        assert.deepEqual(trouble, []);
      }));
  }

  test("search: at 320 px and with text twice as large nothing scrolls sideways, and nothing leaves the window", () =>
    visiting(browser, url + MODEL, { viewport: { width: 320, height: 640 } }, async page => {
      for (const size of ["100%", "200%"]) {
        await page.evaluate(size => {
          document.documentElement.style.fontSize = size;
        }, size);
        await open(page);
        await ask(page, "cuda out of memory");
        assert.ok((await sideways(page)) <= 0, `${size}: ${await sideways(page)} px too wide`);
        const wide = await page
          .locator("dialog.finder")
          .evaluate(dialog =>
            [...dialog.querySelectorAll("*")]
              .filter(
                each =>
                  each.getBoundingClientRect().right > innerWidth + 1 ||
                  (each.scrollWidth > each.clientWidth + 1 &&
                    getComputedStyle(each).overflowX !== "visible" &&
                    each.localName !== "input"),
              )
              .map(each => each.className),
          );
        assert.deepEqual(wide, [], size);
        assert.ok(await rows(page).first().isVisible());
        await escape(page);
      }
    }));

  // ---- the page ------------------------------------------------------------------
  const panel = page => page.locator("#kbgen-finder");

  test("/search/: the address asks, headings group the links, and / goes to the field", () =>
    visiting(browser, `${url}search/?q=cuda+out+of+memory`, {}, async (page, { trouble }) => {
      const first = panel(page).locator("li a").first();
      await first.waitFor();
      assert.match(await first.innerText(), /^CUDA out of memory/);
      assert.match(await panel(page).locator("h2").first().innerText(), /^Errors \d+$/);
      assert.match(await panel(page).locator("[role=status]").innerText(), results);
      assert.deepEqual(await axe(page), []);
      await page.keyboard.press("/");
      await page.keyboard.type("h100");
      await panel(page).locator("li a", { hasText: "H100" }).first().waitFor();
      assert.match(page.url(), /\?q=h100$/);
      await page.keyboard.press("Enter");
      assert.ok(await first.evaluate(link => link === document.activeElement));
      assert.equal(await page.locator("dialog").count(), 0);
      assert.deepEqual(trouble, []);
    }));

  test("search: all results stand on its page", () =>
    visiting(browser, url + MODEL, {}, async page => {
      await open(page);
      await ask(page, "llama");
      const all = rows(page).filter({ hasText: /^All \d+ results$/ });
      const [count] = /\d+/.exec(await all.innerText());
      await all.click();
      await page.waitForURL(/\/search\/index\.html\?q=llama$/);
      await panel(page).locator("li a").first().waitFor();
      assert.equal(await panel(page).locator("[role=status]").innerText(), `${count} results`);
    }));

  test("/search/ without scripts: the link of the header leads there, and it leads to all lists", () =>
    visiting(browser, url + MODEL, { javaScriptEnabled: false }, async page => {
      await page.locator("#kbgen-search").click();
      await page.waitForURL(/\/search\/index\.html$/);
      assert.ok(!(await panel(page).locator("input").isVisible()));
      for (const list of ["errors", "models", "hardware", "guides", "glossary", "quants", "tools"]) {
        assert.ok((await page.locator(`main a[href$="${list}/index.html"]`).count()) > 0, list);
      }
    }));

  for (const [name, place] of Object.entries({
    "below a path": async () => (await serve(folder, "/kb/")).url,
    "from a disk": async () => `${pathToFileURL(folder)}/`,
  })) {
    test(`search: it works ${name}`, async () => {
      const base = await place();
      await visiting(browser, `${base}${MODEL}index.html`, {}, async (page, { trouble }) => {
        await open(page);
        await ask(page, "4090");
        await page.keyboard.press("Enter");
        await page.waitForURL(`${base}hardware/geforce-rtx-4090/index.html`);
        await page.goto(`${base}search/index.html?q=4090`);
        await panel(page).locator("li a").first().waitFor();
        assert.deepEqual(trouble, []);
      });
    });
  }
}
