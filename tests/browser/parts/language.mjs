// The site in another language: nothing of the interface stays English, what answers answers in German, and long words
// have room.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PHONE, axe, buildIn, serve, sideways, siteRoot, visiting, writtenPages } from "../harness.mjs";

const ERROR = "errors/cuda-oom-loading-model/";
const GERMAN_FILE = new URL("../../../i18n/de.toml", import.meta.url);
const LOG =
  "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 204800.00 MiB on device 0: cudaMalloc failed: out of memory\nllama_kv_cache: failed to allocate buffer for kv cache";

/** Each text of the interface in brackets, as a language of its own. */
const bracketed = () =>
  readFileSync(GERMAN_FILE, "utf8")
    .split("\n")
    .filter(line => line.startsWith('"'))
    .map(line => JSON.parse(line.slice(0, line.indexOf('" = "') + 1)))
    .map(text => `${JSON.stringify(text)} = ${JSON.stringify(`⟦${text}⟧`)}`)
    .join("\n");

/** All that authors wrote. */
const written = () =>
  writtenPages()
    .concat(readFileSync(join(siteRoot, "site.toml"), "utf8"))
    .join("\n")
    .replace(/\]\([^)]*\)/g, "")
    .replace(/[*`"'\\[\]]/g, "")
    .replace(/\s+/g, " ") + LOG;

/** What a page shows or reads aloud outside of brackets, text by text. */
const outside = page =>
  page.evaluate(() => {
    const SPOKEN = ["alt", "aria-label", "aria-valuetext", "placeholder", "title"];
    const found = [];
    let depth = 0;
    const keep = (text, own) => {
      let rest = "";
      for (const character of text) {
        if (character === "⟦") {
          depth++;
          rest += "\n";
        } else if (character === "⟧") depth--;
        else if (!depth) rest += character;
      }
      if (own) depth = 0;
      found.push(
        ...rest
          .split("\n")
          .map(part => part.trim())
          .filter(Boolean),
      );
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      if (!walker.currentNode.parentElement.closest("script, style, noscript, pre, code, kbd")) {
        keep(walker.currentNode.data, false);
      }
    }
    for (const element of document.querySelectorAll("*")) {
      for (const name of SPOKEN) {
        if (element.hasAttribute(name) && !element.matches("textarea")) keep(element.getAttribute(name), true);
      }
    }
    return [...new Set(found)];
  });

/** Names of systems, programs, types and keys, and what separates figures. */
const NAMES =
  /^(Linux|Windows|macOS|WSL|Docker|Ollama|vLLM|llama\.cpp|llama\.cpp: llama-server|CPU|GPU|GiB|MiB|GB|KiB|GB\/s|W|f16|bf16|fp8|fp16|fp32|FP8|INT4|q\d_\d|q\d_K|kbgen|Apple silicon|B|M|k|int4|int8|nf4)$/;
const isFigure = word => /^[\d\s.,×÷+−–\-:·/()%…kKMB∞]*$/.test(word);

export default function ({ browser }) {
  let german;
  let brackets;
  let content;
  const germanSite = async () => (german ??= (await serve(await buildIn("de"))).url);
  const bracketedSite = async () => {
    content ??= written();
    return (brackets ??= (await serve(await buildIn("qps", bracketed()))).url);
  };
  // Two letters are the sign of a figure, or an "or" between two pieces of code.
  // A symptom has a capital letter in its list only.
  const isWritten = part => content.includes(part) || content.includes(part[0].toLowerCase() + part.slice(1));
  const isTold = part => part.length < 3 || isFigure(part) || NAMES.test(part) || isWritten(part);
  const isContent = text => {
    const told = text
      .replace(/["'\\[\]]/g, "")
      .replace(/\s+/g, " ")
      .replace(/^([·, ]|\d\. )+|(\.\.\.|…|,|:)$/g, "");
    const isSource = word => word.includes("/") && content.includes(word);
    return (
      isTold(told) ||
      told.split(" ").every(isSource) ||
      told
        .split(/, | · |: /)
        .every(part => isTold(part) || part.split(" ").every(word => isFigure(word) || NAMES.test(word)))
    );
  };

  /** What a reader does on a page before it is looked at. */
  const DONE = {
    "": page => page.keyboard.press("/").then(() => page.locator("dialog.finder [role=option]").first().waitFor()),
    [ERROR]: async page => {
      await page.locator(".your-gpu > summary").click();
      await page.locator(".your-gpu select").selectOption("geforce-rtx-3060-12-gb");
      await page.locator(".your-gpu table").waitFor();
    },
    "diagnose/": async page => {
      await page.fill("#paste-text", LOG);
      await page.locator(".found li").first().waitFor();
    },
    "will-it-run/": page => page.locator("#answer-body:not([hidden])").waitFor(),
    "will-it-run/#model=llama-3.1-8b-instruct&run=vllm": page => page.locator("#answer-body:not([hidden])").waitFor(),
    "will-it-run/#model=llama-3.1-8b-instruct&gpu=geforce-rtx-3060-12-gb,geforce-rtx-3060-12-gb&ngl=auto&moe=auto&k=q8_0&slots=4":
      page => page.locator("#answer-body:not([hidden])").waitFor(),
    "choose-gpu/": page => page.locator("#cards section").first().waitFor(),
    "compare/#a=geforce-rtx-3090&b=geforce-rtx-4090&model=llama-3.1-8b-instruct": page =>
      page.locator("#runs tr").first().waitFor(),
    "cost-vs-cloud/#model=llama-3.1-8b-instruct&gpu=geforce-rtx-3090&watts=300&kwh=0.3&price=900&hours=8&years=4&out=1":
      page => page.locator("#results [data-figure=days], #results .value").first().waitFor(),
    "errors/#severity=fatal": page => page.locator("#filter-count").filter({ hasText: /\d/ }).waitFor(),
    "models-by-memory/": async () => {},
    "models/llama-3.1-8b-instruct/": async () => {},
    "hardware/geforce-rtx-3060-12-gb/": async () => {},
  };
  for (const [path, act] of Object.entries(DONE)) {
    test(`/${path} has no words but its content and the texts of the interface`, async () => {
      const url = await bracketedSite();
      await visiting(browser, url + path, {}, async (page, { trouble }) => {
        await act(page);
        assert.deepEqual(
          (await outside(page)).filter(text => !isContent(text)),
          [],
        );
        assert.deepEqual(trouble, []);
      });
    });
  }

  test("in German the search, the paste box, the calculator and the copy button answer in German", async () => {
    const url = await germanSite();
    await visiting(browser, url, {}, async (page, { trouble }) => {
      assert.equal(await page.getAttribute("html", "lang"), "de");
      await page.keyboard.press("/");
      await page.keyboard.type("rtx 4090");
      await page.locator("dialog.finder [role=status]", { hasText: /^\d+ Ergebnis/ }).waitFor();
      await page.keyboard.press("Escape");
      await page.fill("#paste-text", LOG);
      await page.locator("#paste-out .said", { hasText: /beschreibt|kennen/ }).waitFor();
      await page.goto(`${url}will-it-run/`);
      await page.locator("#verdict", { hasText: /^(Passt|Knapp)/ }).waitFor();
      assert.match(await page.locator("#legend").innerText(), /Gewichte[^]*Compute-Puffer[^]*Treiber/);
      await page.goto(url + ERROR);
      assert.equal(await page.locator(".code .copy").first().innerText(), "Kopieren");
      assert.deepEqual(trouble, []);
    });
  });

  for (const path of ["", ERROR, "will-it-run/"]) {
    test(`in German /${path} has nothing for axe-core and does not scroll sideways at 320 px`, async () => {
      const url = await germanSite();
      await visiting(browser, url + path, {}, async page => assert.deepEqual(await axe(page), []));
      await visiting(browser, url + path, PHONE, async page => assert.deepEqual(await axe(page), []));
      await visiting(browser, url + path, { viewport: { width: 320, height: 640 } }, async page => {
        if (path === "will-it-run/") await page.locator("#answer-body:not([hidden])").waitFor();
        assert.ok((await sideways(page)) <= 0, `${await sideways(page)} px too wide`);
      });
    });
  }
}
