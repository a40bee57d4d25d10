// From a pasted log to its page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, readJson, visiting } from "../harness.mjs";

const HEALTHY = `llama_model_loader: loaded meta data with 33 key-value pairs and 292 tensors from model.gguf (version GGUF V3 (latest))
load_tensors: offloading 32 repeating layers to GPU
load_tensors: offloaded 33/33 layers to GPU
llama_context: n_ctx         = 8192
main: server is listening on http://127.0.0.1:8080 - starting the main loop
srv  update_slots: all slots are idle`;

export default function ({ folder, browser, url }) {
  const knowledge = readJson(`${folder}/kb.json`);
  const samples = knowledge.errors.flatMap(({ slug, title, signatures }) => signatures.flatMap(each => each.samples).slice(0, 1).map(sample => ({ slug, title, sample })));
  const found = page => page.locator("#paste-out .found > li > a");
  const paste = (page, text) => page.locator("#paste-text").fill(text);

  for (const [name, path] of [["home", ""], ["diagnose", "diagnose/"]]) {
    test(`${name}: the first sample of each page leads to it`, () =>
      visiting(browser, url + path, {}, async (page, { trouble }) => {
        const wrong = [];
        for (const { slug, title, sample } of samples) {
          await paste(page, "");
          await page.locator("#paste-go").click();
          await found(page).first().waitFor({ state: "detached" });
          await paste(page, sample);
          await page.locator("#paste-go").click();
          const first = found(page).first();
          if (await first.innerText() !== title || !(await first.getAttribute("href")).includes(`errors/${slug}/`)) wrong.push(`${slug}: ${await first.innerText()}`);
        }
        assert.deepEqual(wrong, []);
        assert.deepEqual(trouble, []);
      }));

    test(`${name}: a healthy log finds nothing, and the box says so`, () =>
      visiting(browser, url + path, {}, async page => {
        await paste(page, HEALTHY);
        const said = page.locator("#paste-out .said");
        await said.waitFor();
        assert.match(await said.innerText(), /^(Nothing here is a known error|No page knows this exact message)/);
      }));
  }

  test("diagnose: figures are read, the cause is named, and axe-core finds nothing in the answer", () =>
    visiting(browser, `${url}diagnose/`, {}, async page => {
      await paste(page, "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 7.21 GiB already allocated; 0.50 GiB free; 7.30 GiB reserved in total by PyTorch)");
      await found(page).first().waitFor();
      const answer = await page.locator("#paste-out").innerText();
      assert.match(answer, /2\.00 GiB asked, 0\.50 GiB there|2\.00 GiB asked, 512 MiB there/);
      assert.match(answer, /1\.50 GiB short/);
      assert.match(await page.locator("#paste-out a", { hasText: "What fits into 8.00 GiB?" }).getAttribute("href"), /will-it-run\/index\.html#mem=8589934592/);
      assert.deepEqual(await axe(page), []);
    }));

  test("by keyboard: / goes to the box, the arrows walk the answers, Escape goes back and clears", () =>
    visiting(browser, url, {}, async page => {
      await page.keyboard.press("/");
      await page.locator("#paste-text:focus").waitFor();
      await page.keyboard.insertText(samples[0].sample);
      await found(page).first().waitFor();
      await page.keyboard.press("ArrowDown");
      assert.equal(await page.locator(":focus").innerText(), samples[0].title);
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      await found(page).first().waitFor({ state: "detached" });
      assert.equal(await page.locator("#paste-text").inputValue(), "");
    }));

  test("words that no signature holds lead to near pages, said to be only near", () =>
    visiting(browser, url, {}, async (page, { trouble }) => {
      await paste(page, "cuda memroy fragmentation");
      await found(page).first().waitFor();
      assert.equal(await page.locator("#paste-out .said").innerText(), "No page knows this exact message. These are only near it:");
      assert.ok((await found(page).allInnerTexts()).some(title => /CUDA out of memory/.test(title)));
      await found(page).first().click();
      await page.waitForURL(/\/errors\/[\w-]+\/index\.html$|\/guides\//);
      assert.deepEqual(trouble, []);
    }));

  test("nothing of a paste leaves the page", () =>
    visiting(browser, url, {}, async (page, { requests, trouble }) => {
      await page.locator("#paste-text").focus();
      await page.waitForFunction(() => window.kbgenTables && window.kbgenMatch && window.kbgenSearch);
      const before = requests.length;
      await paste(page, `password=hunter2\n${samples[0].sample}`);
      await found(page).first().waitFor();
      await page.waitForLoadState("networkidle");
      assert.deepEqual(requests.slice(before), []);
      for (const request of requests) {
        assert.equal(request.method, "GET");
        assert.equal(request.body, null);
      }
      assert.deepEqual(trouble, []);
    }));

  const hostile = {
    "one letter": "a", "white space": " ", "colours as text": "\\x1b[31m", "quotes": "> ", "the beginning of a message": "CUDA out of memory. Tried to allocate ",
    "entities": "&amp;", "trouble words": "error failed zzzzq ",
  };
  for (const [name, piece] of Object.entries(hostile)) {
    test(`a mebibyte of ${name} is answered, and the page goes on working`, () =>
      visiting(browser, `${url}diagnose/`, {}, async (page, { trouble }) => {
        await page.locator("#paste-text").evaluate((box, text) => { box.value = text; }, piece.repeat((1 << 20) / piece.length));
        await page.locator("#paste-go").click();
        if (piece.trim()) await page.locator("#paste-out .said").waitFor();
        await paste(page, samples[0].sample);
        await page.locator("#paste-out .found", { hasText: samples[0].title }).waitFor();
        assert.deepEqual(trouble, []);
      }));
  }

  test("a log inside a mebibyte of other lines is still found", () =>
    visiting(browser, `${url}diagnose/`, {}, async page => {
      const other = "INFO 10:20:30 request 127.0.0.1 answered in 12 ms\n".repeat(10_000);
      await page.locator("#paste-text").evaluate((box, text) => { box.value = text; }, other + samples[0].sample + "\n" + other);
      await page.locator("#paste-go").click();
      await found(page).first().waitFor();
      assert.equal(await found(page).first().innerText(), samples[0].title);
    }));
}
