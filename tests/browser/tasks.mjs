// Counts taps, typed texts and scrolled screens of ten tasks on a phone, from the home page: node
// tests/browser/tasks.mjs FOLDER, a built site. Each task has one or more ways; the shortest that works is printed.
import { close, serve, start, visiting } from "./harness.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, reducedMotion: "reduce" };
const LOG = `INFO 11-20 10:11:12 [gpu_worker.py:340] Available KV cache memory: -1.25 GiB
ERROR 11-20 10:11:12 [core.py:718] ValueError: No available memory for the cache blocks. Try increasing \`gpu_memory_utilization\` when initializing the engine.`;

/** A reader with a thumb: what they tap, type and scroll is counted. */
function reader(page) {
  const count = { taps: 0, texts: 0, screens: 0 };
  /** Scrolls until an element is in view. */
  async function see(selector, options) {
    const found = page.locator(selector, options).filter({ visible: true }).first();
    await found.waitFor({ timeout: 6000 });
    count.screens += await found.evaluate(element => {
      const { top, bottom } = element.getBoundingClientRect();
      const beyond = bottom > innerHeight ? Math.min(top, bottom - innerHeight) : Math.min(0, top);
      scrollBy(0, beyond);
      return Math.abs(beyond) / innerHeight;
    });
    return found;
  }
  async function tap(selector, options) {
    const found = await see(selector, options);
    count.taps += 1;
    await found.click();
    await page.waitForLoadState("load");
    await page.waitForTimeout(400);
  }
  async function type(selector, text) {
    const found = await see(selector);
    count.texts += 1;
    await found.fill(text);
    await page.waitForTimeout(600);
  }
  async function choose(id, text, name) {
    await type(`#${id}`, text);
    await tap("[role=listbox] [role=option]", { hasText: name });
  }
  const search = async (text, name) => {
    await tap("#kbgen-search");
    await type("dialog input", text);
    await tap("dialog a[href]", { hasText: name });
  };
  const diagnose = async (text, address) => {
    await type("#paste-text", text);
    await tap("#paste-go");
    await tap(`#paste-out a[href*="${address}"]`);
    await see(".first-step .code, .first-step p, .cause > summary");
  };
  const menu = async name => {
    await tap(".menu > summary");
    await tap(".menu a", { hasText: name });
  };
  return { count, see, tap, type, choose, search, diagnose, menu };
}

const COMPARED = async on => {
  await on.choose("device-0", "rtx 4090", /^GeForce RTX 4090(?! D)/);
  await on.choose("device-1", "rtx 5090", /^GeForce RTX 5090(?! D)/);
  await on.see("#headline", { hasText: "GeForce RTX 5090" });
};
const CALCULATED = async on => {
  await on.choose("model", "qwen3 30b a3b", "Qwen3 30B A3B");
  await on.choose("device-1", "rtx 3090", /^GeForce RTX 3090(?! Ti)/);
  await on.type("#ctx", "32768");
  await on.see(".dock .verdict, #verdict", { hasText: "Fits" });
};
const CHOSEN = async on => {
  await on.choose("model", "llama 3.3 70b", "Llama 3.3 70B");
  await on.see("#headline", { hasText: "Runs with" });
};

/** Name, and the ways to do it. */
const TASKS = [
  [
    "Ollama out of memory on 8 GB",
    on =>
      on.diagnose("model requires more system memory (9.4 GiB) than is available (7.1 GiB)", "ollama-requires-more"),
  ],
  [
    "Qwen3 30B A3B on a 3090 at 32K",
    async on => {
      await on.search("qwen3 30b a3b", "Qwen3 30B A3B");
      await on.see(".answer-line", { hasText: "24 GB GPU at Q4_K_M with 32K" });
    },
    async on => {
      await on.tap("main a", { hasText: "Open the calculator" });
      await CALCULATED(on);
    },
    async on => {
      await on.menu("Will it run?");
      await CALCULATED(on);
    },
  ],
  [
    "A GPU for Llama 3.3 70B",
    async on => {
      await on.search("llama 3.3 70b", "Llama 3.3 70B");
      await on.see(".answer-line", { hasText: "Runs on" });
    },
    async on => {
      await on.tap("main a", { hasText: "Choose a GPU" });
      await CHOSEN(on);
    },
    async on => {
      await on.menu("Choose a GPU");
      await CHOSEN(on);
    },
  ],
  [
    "vLLM: No available memory for the cache blocks",
    on => on.diagnose("No available memory for the cache blocks", "vllm-no-cache"),
  ],
  [
    "4090 or 5090",
    async on => {
      await on.tap("main a", { hasText: "Compare devices" });
      await COMPARED(on);
    },
    async on => {
      await on.menu("Compare devices");
      await COMPARED(on);
    },
  ],
  [
    "Quantize the KV cache in Ollama",
    async on => {
      await on.search("quantize kv cache ollama", "Quantize the KV cache");
      await on.see("h2, h3", { hasText: "Ollama" });
    },
    async on => {
      await on.menu("Guides");
      await on.tap("main a", { hasText: "Quantize the KV cache" });
      await on.see("h2, h3", { hasText: "Ollama" });
    },
    async on => {
      await on.tap(".nav a", { hasText: "Guides" });
      await on.tap("main a", { hasText: "Quantize the KV cache" });
      await on.see("h2, h3", { hasText: "Ollama" });
    },
  ],
  ["A pasted log", on => on.diagnose(LOG, "vllm-no-cache")],
  [
    "An unknown error",
    async on => {
      await on.type("#paste-text", "RuntimeError: zorblax 17 failed at stage qq");
      await on.tap("#paste-go");
      await on.see("#paste-out a, #paste-out button, #paste-out p");
    },
  ],
  [
    "Ollama does not use my GPU",
    on => on.diagnose("ollama does not use my GPU", "errors/"),
    async on => {
      await on.search("ollama does not use my gpu", /GPU|CPU/);
      await on.see(".first-step .code, .first-step p, .cause > summary");
    },
  ],
  [
    "What runs on a 24 GB MacBook",
    async on => {
      await on.search("apple m4 pro", "Apple M4 Pro");
      await on.see(".leads div", { hasText: "24 GB" });
    },
    async on => {
      await on.search("apple m4 pro", "Apple M4 Pro");
      await on.see("thead th", { hasText: "24 GB" });
    },
  ],
];

const browser = await start();
const { url } = await serve(process.argv[2]);
console.log("| task | taps | texts | screens scrolled |\n| --- | --- | --- | --- |");
for (const [name, ...ways] of TASKS) {
  const done = [];
  for (const way of ways) {
    await visiting(browser, url, PHONE, async page => {
      page.setDefaultTimeout(6000);
      const on = reader(page);
      try {
        await way(on);
        done.push(on.count);
      } catch (error) {
        if (process.env.TASKS_DEBUG) console.error(`${name}: ${error.message.split("\n")[0]}`);
      }
    });
  }
  const effort = ({ taps, texts, screens }) => taps + texts + screens;
  const [best] = done.sort((a, b) => effort(a) - effort(b));
  console.log(
    best ? `| ${name} | ${best.taps} | ${best.texts} | ${best.screens.toFixed(1)} |` : `| ${name} | – | – | – |`,
  );
}
await close();
