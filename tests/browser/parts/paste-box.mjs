// From a pasted log to its page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, causeTitle, hold, readJson, visiting } from "../harness.mjs";

const HEALTHY = `llama_model_loader: loaded meta data with 33 key-value pairs and 292 tensors from model.gguf (version GGUF V3 (latest))
load_tensors: offloading 32 repeating layers to GPU
load_tensors: offloaded 33/33 layers to GPU
llama_context: n_ctx         = 8192
main: server is listening on http://127.0.0.1:8080 - starting the main loop
srv  update_slots: all slots are idle`;

export default function ({ folder, browser, url }) {
  const knowledge = readJson(`${folder}/kb.json`);
  const samples = knowledge.errors.flatMap(({ slug, title, signatures }) =>
    signatures
      .flatMap(each => each.samples)
      .slice(0, 1)
      .map(sample => ({ slug, title, sample })),
  );
  const found = page => page.locator("#paste-out .found > li > a");
  const paste = (page, text) => page.locator("#paste-text").fill(text);

  for (const [name, path] of [
    ["home", ""],
    ["diagnose", "diagnose/"],
  ]) {
    test(`${name}: the first sample of each page leads to it`, () =>
      visiting(browser, url + path, {}, async (page, { trouble }) => {
        await page.locator("#paste-text").focus();
        await page.waitForFunction(() => kbgen.findPage);
        // All within the page: a round trip for each step takes ten times as long.
        const firsts = await page.evaluate(
          async texts => {
            const box = document.getElementById("paste-text");
            const go = document.getElementById("paste-go");
            const out = document.getElementById("paste-out");
            const firsts = [];
            for (const text of texts) {
              box.value = "";
              go.click();
              if (out.firstChild) throw new Error("the answer before is still there");
              box.value = text;
              go.click();
              while (!out.querySelector(".said")) await new Promise(done => setTimeout(done));
              const link = out.querySelector(".found > li > a");
              firsts.push([link?.textContent, link?.getAttribute("href")]);
            }
            return firsts;
          },
          samples.map(({ sample }) => sample),
        );
        assert.deepEqual(
          samples
            .filter(({ slug, title }, at) => firsts[at][0] !== title || !firsts[at][1].includes(`errors/${slug}/`))
            .map(({ slug }) => slug),
          [],
        );
        assert.deepEqual(trouble, []);
      }));

    test(`${name}: a healthy log finds nothing, and the box says so`, () =>
      visiting(browser, url + path, {}, async page => {
        await paste(page, HEALTHY);
        const said = page.locator("#paste-out .said");
        await said.waitFor();
        assert.match(await said.innerText(), /^(No known error found|No page matches this exact message)/);
      }));
  }

  test("diagnose: figures are read, the cause is named, and axe-core finds nothing in the answer", () =>
    visiting(browser, `${url}diagnose/`, {}, async page => {
      await paste(
        page,
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 7.21 GiB already allocated; 0.50 GiB free; 7.30 GiB reserved in total by PyTorch)",
      );
      await found(page).first().waitFor();
      const answer = await page.locator("#paste-out").innerText();
      assert.match(answer, /Line 1:\s+torch\.cuda\.OutOfMemoryError: CUDA out of memory\. Tried/);
      const title = causeTitle(folder, "cuda-oom", "one-huge-request");
      assert.match(answer, new RegExp(`${title}: requested 2\\.00 GiB, total 8\\.00 GiB, 1\\.50 GiB missing\\.`));
      assert.match(
        await page.locator("#paste-out a", { hasText: "What fits into 8.00 GiB?" }).getAttribute("href"),
        /will-it-run\/index\.html#mem=8589934592/,
      );
      assert.deepEqual(await axe(page), []);
    }));

  for (const [question, settings] of [
    ["can i run llama 3.3 70b on a rtx 4090", "model=llama-3.3-70b-instruct&gpu=geforce-rtx-4090"],
    ["will qwen3 8b run on a rtx 4090 laptop", "model=qwen3-8b&gpu=geforce-rtx-4090-mobile"],
    ["does mixtral fit on mac m2 32gb", "model=mixtral-8x22b-instruct-v0.1&gpu=apple-m2-pro%4032"],
    ["qwen3 30b a3b on a radeon 780m with 32gb ram, does it run", "model=qwen3-30b-a3b&gpu=radeon-780m&ram=32"],
    ["how much vram does qwen3 30b a3b need", "model=qwen3-30b-a3b"],
    ["will llama 3 70b run on 24gb", "model=llama-3.1-70b-instruct&mem=25769803776"],
    // RAM is no memory of a GPU.
    ["does llama 3.1 8b run on 16gb ram without gpu", null],
  ]) {
    test(`the calculator gets the device of the question: ${question}`, () =>
      visiting(browser, url, {}, async page => {
        await paste(page, question);
        await page.locator("#paste-out .said").waitFor();
        await page.locator("#paste-out a", { hasText: "Search all pages" }).waitFor();
        const links = page.locator('#paste-out a[href*="will-it-run/"]');
        const href = (await links.count()) ? await links.first().getAttribute("href") : null;
        assert.equal(href && href.split("#")[1], settings);
      }));
  }

  test("by keyboard: the arrows walk the answers, Escape goes back and keeps the text", () =>
    visiting(browser, url, {}, async page => {
      await page.locator("#paste-text").focus();
      await page.keyboard.insertText(samples[0].sample);
      await found(page).first().waitFor();
      await page.keyboard.press("ArrowDown");
      assert.equal(await page.locator(":focus").innerText(), samples[0].title);
      await page.keyboard.press("Escape");
      await page.locator("#paste-text:focus").waitFor();
      await page.keyboard.press("Escape");
      assert.equal(await page.locator("#paste-text").inputValue(), samples[0].sample);
      assert.equal(await found(page).first().innerText(), samples[0].title);
    }));

  /** Where the answer is: whether it has the focus, and its top edge against the window. */
  const answerPlace = page =>
    page.evaluate(() => {
      const answer = document.querySelector("#paste-out .said");
      const { top } = answer.getBoundingClientRect();
      return {
        focused: document.activeElement === answer,
        top,
        visible: top >= 0 && top < innerHeight - 100,
        scrolled: scrollY,
      };
    });
  const settled = page =>
    page.waitForFunction(
      () =>
        new Promise(done => {
          const before = scrollY;
          requestAnimationFrame(() =>
            requestAnimationFrame(() => requestAnimationFrame(() => done(scrollY === before))),
          );
        }),
    );

  const PHONE_PORTRAIT = {
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
  };
  for (const [name, address] of [
    ["home", url],
    ["diagnose", `${url}diagnose/`],
    ["home from a file", `file://${folder}/index.html`],
  ]) {
    for (const reducedMotion of ["no-preference", "reduce"]) {
      test(`${name}: on a phone the button moves focus and window to the answer, motion: ${reducedMotion}`, () =>
        visiting(browser, address, { ...PHONE_PORTRAIT, reducedMotion }, async (page, { trouble }) => {
          await paste(page, samples[0].sample);
          await found(page).first().waitFor();
          await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
          assert.equal((await answerPlace(page)).focused, false, "an answer that comes by itself takes nobody's focus");
          await page.locator("#paste-go").tap();
          await page.locator("#paste-out .said:focus").waitFor();
          // Smooth scrolling takes a while; without motion the answer is there at once.
          if (reducedMotion === "no-preference") {
            await page.waitForFunction(
              () => document.querySelector("#paste-out .said").getBoundingClientRect().top < innerHeight - 100,
            );
          }
          const place = await answerPlace(page);
          assert.ok(place.visible && place.focused, JSON.stringify(place));
          assert.deepEqual(trouble, []);
        }));
    }
  }

  test("the button without an answer leads back to the box, and an answer in sight is not moved", () =>
    visiting(browser, `${url}diagnose/`, { viewport: { width: 1280, height: 1400 } }, async page => {
      await page.locator("#paste-go").click();
      await page.locator("#paste-text:focus").waitFor();
      await paste(page, samples[0].sample);
      await page.locator("#paste-go").click();
      await page.locator("#paste-out .said:focus").waitFor();
      assert.equal((await answerPlace(page)).scrolled, 0);
      // From there the arrows lead on, and Escape leads back.
      await page.keyboard.press("ArrowDown");
      assert.equal(await page.locator(":focus").innerText(), samples[0].title);
      await page.keyboard.press("Escape");
      await page.locator("#paste-text:focus").waitFor();
      await page.keyboard.press("Control+Enter");
      await page.locator("#paste-out .said:focus").waitFor();
    }));

  test("a press of the button counts, even if the script is still on its way", () =>
    visiting(browser, `${url}diagnose/`, PHONE_PORTRAIT, async page => {
      const release = await hold(page, "**/js/paste.*.js");
      await paste(page, samples[0].sample);
      await page.locator("#paste-go").tap();
      release();
      await page.locator("#paste-out .said:focus").waitFor();
      assert.ok((await answerPlace(page)).top < 844);
    }));

  test("until the data is loaded, the box says that it loads, and a short text asks for all files at once", () =>
    visiting(browser, `${url}diagnose/`, PHONE_PORTRAIT, async (page, { requests }) => {
      for (const files of ["**/js/paste.*.js", "**/data/diagnose.js"]) {
        await page.goto(`${url}diagnose/`);
        const release = await hold(page, files);
        await paste(page, "cuda memory fragmentation");
        await page.locator("#paste-go").tap();
        await page.locator("#paste-out", { hasText: /^Loading the data…$/ }).waitFor();
        assert.equal(await page.locator(".paste [role=status]").innerText(), "Loading the data…");
        if (files.includes("data")) {
          await page.waitForFunction(() => document.querySelector("script[src$='data/similar.js']"));
          for (const name of [/js\/names\./, /data\/search\.js/, /data\/similar\.js/]) {
            assert.ok(
              requests.some(request => name.test(request.url)),
              `${name}`,
            );
          }
        }
        release();
        await page.locator("#paste-out .said:focus").waitFor();
      }
    }));

  test("a script that cannot be loaded is told of, and typing or the button tries again", () =>
    visiting(browser, `${url}diagnose/`, PHONE_PORTRAIT, async page => {
      await page.route("**/js/paste.*.js", route => route.abort());
      await page.locator("#paste-text").focus();
      await page.keyboard.type("cuda");
      const failed = page.locator("#paste-out", { hasText: /^The data could not be loaded\. Try again\.$/ });
      await failed.waitFor();
      await page.locator("#paste-go").tap();
      await failed.waitFor();
      await page.unroute("**/js/paste.*.js");
      await page.keyboard.type(" memory");
      await found(page).first().waitFor();
    }));

  test("an answer that comes by itself is announced in one line, and one that gets the focus is not", () =>
    visiting(browser, `${url}diagnose/`, {}, async page => {
      const said = page.locator("#paste-out .said");
      const status = page.locator(".paste [role=status]");
      await paste(page, samples[0].sample);
      await said.waitFor();
      assert.equal(await status.innerText(), await said.innerText());
      assert.equal(await page.locator("[aria-live] .found, [role=status] .found").count(), 0);
      await page.locator("#paste-go").click();
      await page.locator("#paste-out .said:focus").waitFor();
      assert.equal(await status.innerText(), "");
    }));

  test("who types on, or has gone elsewhere, keeps the focus when the answer comes", () =>
    visiting(browser, `${url}diagnose/`, PHONE_PORTRAIT, async page => {
      const release = await hold(page, "**/data/diagnose.js");
      await paste(page, samples[0].sample);
      await page.locator("#paste-go").click();
      await page.locator("#paste-text").focus();
      await page.keyboard.type(" and more");
      release();
      await found(page).first().waitFor();
      assert.equal(await page.evaluate(() => document.activeElement.id), "paste-text");
      await page.evaluate(() => {
        document.getElementById("paste-go").click();
        document.querySelector(".skip").focus();
      });
      await page.waitForFunction(() => document.querySelector("#paste-out .said"));
      await settled(page);
      assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    }));

  test("words that no signature holds lead to near pages, said to be only near", () =>
    visiting(browser, url, {}, async (page, { trouble }) => {
      await paste(page, "cuda memroy fragmentation");
      await found(page).first().waitFor();
      assert.equal(await page.locator("#paste-out .said").innerText(), "Pages that may help:");
      assert.ok((await found(page).allInnerTexts()).some(title => /CUDA out of memory/.test(title)));
      await found(page).first().click();
      await page.waitForURL(/\/errors\/[\w-]+\/index\.html$|\/guides\//);
      assert.deepEqual(trouble, []);
    }));

  test("a question that a page answers shows the page's title, summary and first step, and asks for no page", () =>
    visiting(browser, `${url}diagnose/`, {}, async (page, { trouble }) => {
      const shown = async text => {
        await paste(page, text);
        await found(page).first().waitFor();
        return page.locator("#paste-out").innerText();
      };
      const black = knowledge.errors.find(({ slug }) => slug === "image-nan-black");
      const answer = await shown("comfyui black image");
      assert.equal(await found(page).first().innerText(), black.title);
      assert.match(answer, /contains values that are not numbers/);
      assert.doesNotMatch(answer, /Request a page/);
      await paste(page, "");
      await found(page).waitFor({ state: "detached" });
      assert.match(await shown("CUDA out of memory"), /Try first:\s+nvidia-smi --query-gpu/);
      await paste(page, "");
      await found(page).first().waitFor({ state: "detached" });
      assert.match(await shown("no module named"), /Request a page/);
      assert.deepEqual(trouble, []);
    }));

  test("a long command does not make the home page wider than a phone", () =>
    visiting(browser, url, PHONE_PORTRAIT, async page => {
      await paste(page, "ollama: command not found");
      await page.locator("#paste-out .found .code").waitFor();
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    }));

  test("the command to try first fits the program that the shell did not find, and can be copied", () =>
    visiting(browser, `${url}diagnose/`, {}, async page => {
      const step = page.locator("#paste-out .found .code code");
      for (const [text, command] of [
        ["bash: ollama: command not found", "curl -fsSL https://ollama.com/install.sh | sh"],
        [
          "'ollama' is not recognized as an internal or external command, operable program or batch file.",
          "irm https://ollama.com/install.ps1 | iex",
        ],
        ["zsh: command not found: llama-cli", "brew install llama.cpp"],
        ["'llama-server' is not recognized as an internal or external command", "winget install llama.cpp"],
        ["bash: lms: command not found\nzsh: command not found: lms", "npx lmstudio install-cli"],
        ["bash: vllm: command not found", "python -m pip list"],
        ["torch.cuda.OutOfMemoryError: Allocation on device", "nvidia-smi"],
      ]) {
        await paste(page, text);
        await step.filter({ hasText: command }).waitFor();
        assert.deepEqual(await step.allInnerTexts(), [command], text);
        assert.doesNotMatch(await page.locator("#paste-out").innerText(), /node torch/);
      }
      const copied = page.locator("#paste-out .found .copy");
      await page.evaluate(() => {
        navigator.clipboard.writeText = async text => {
          document.title = text;
        };
      });
      await copied.click();
      await copied.filter({ hasText: "Copied" }).waitFor();
      assert.equal(await page.title(), "nvidia-smi");
    }));

  test("a page that the list names is not named again by a reading", () =>
    visiting(browser, `${url}diagnose/`, {}, async page => {
      for (const text of ["CUDA out of memory", "segmentation fault"]) {
        await paste(page, text);
        await page.locator("#paste-out .readings").waitFor();
        const links = await page
          .locator("#paste-out :is(.found, .readings) a")
          .evaluateAll(all => all.map(a => a.href));
        assert.deepEqual([...new Set(links)], links, text);
        await paste(page, "");
        await page.locator("#paste-out .readings").waitFor({ state: "detached" });
      }
    }));

  test("nothing of a paste leaves the page", () =>
    visiting(browser, url, {}, async (page, { requests, trouble }) => {
      await page.locator("#paste-text").focus();
      await page.waitForFunction(() => kbgen.tables && kbgen.match && kbgen.search);
      assert.ok(requests.every(request => !/js\/names\./.test(request.url)));
      const before = requests.length;
      await paste(page, `password=hunter2\n${samples[0].sample}`);
      await found(page).first().waitFor();
      await page.waitForLoadState("networkidle");
      // Texts for the result and the catalog, in the same files whatever the result is.
      assert.deepEqual(
        requests.slice(before).map(request => request.url),
        [`${url}data/page-texts.js`, `${url}data/catalog.js`],
      );
      for (const request of requests) {
        assert.equal(request.method, "GET");
        assert.equal(request.body, null);
      }
      assert.deepEqual(trouble, []);
    }));

  test("a text that comes while the tables are on their way is the one that is read", () =>
    visiting(browser, `${url}diagnose/`, {}, async page => {
      const release = await hold(page, "**/data/diagnose.js");
      await page.clock.install({ time: 0 });
      await page.clock.pauseAt(86_400_000);
      await paste(page, samples[1].sample);
      await page.locator("#paste-go").click();
      await paste(page, samples[0].sample);
      release();
      await found(page).first().waitFor();
      await page.clock.runFor(1000);
      await page.locator("#paste-out .found", { hasText: samples[0].title }).waitFor({ timeout: 10_000 });
    }));

  test("a link carries the case, without what is secret", () =>
    visiting(browser, url, {}, async (page, { requests, trouble }) => {
      await paste(page, `loading\ntoken=hf_abcdefghijklmnop\n${samples[0].sample}\n`);
      await page.locator("#paste-go").click();
      const link = page.locator("#paste-out a", { hasText: "Link to this case" });
      const title = await found(page).first().innerText();
      const address = await link.evaluate(element => element.href);
      assert.match(address, /diagnose\/index\.html#case=loading%0Atoken%3D%5Bsecret%5D/);
      await link.click();
      await page.waitForURL(/diagnose\/index\.html#case=/);
      await page.locator("#paste-out .found", { hasText: title }).waitFor();
      assert.match(await page.locator("#paste-text").inputValue(), /^loading\ntoken=\[secret\]/);
      assert.ok(requests.every(request => !request.url.includes("case=")));
      assert.deepEqual(trouble, []);
    }));

  test("an address that carries nonsense is an empty box", () =>
    visiting(browser, `${url}diagnose/index.html#case=%E0%A4%A`, {}, async (page, { trouble }) => {
      assert.equal(await page.locator("#paste-text").inputValue(), "");
      assert.deepEqual(trouble, []);
    }));

  test("half a character, in the text or where it is cut, is answered and left out of addresses", () =>
    visiting(browser, `${url}diagnose/`, {}, async (page, { trouble }) => {
      await page.locator("#paste-text").focus();
      await page.waitForFunction(() => kbgen.findPage);
      for (const text of [`${"x".repeat(99)}\u{1f600} something`, "\ud800 zzzzq"]) {
        await page.locator("#paste-text").evaluate((box, text) => {
          box.value = text;
        }, text);
        await page.locator("#paste-go").click();
        const address = await page.locator("#paste-out a[href*='issues/new']").getAttribute("href");
        assert.ok(decodeURIComponent(address).includes(text.trim().replace("\ud800 ", "").slice(0, 99)), address);
        await page.locator("#paste-text").evaluate(box => {
          box.value = "";
        });
        await page.locator("#paste-go").click();
      }
      assert.deepEqual(trouble, []);
    }));

  const hostile = {
    "one letter": "a",
    "white space": " ",
    "escape characters": "\u001b",
    "colours as text": "\\x1b[31m",
    quotes: "> ",
    "the beginning of a message": "CUDA out of memory. Tried to allocate ",
    entities: "&amp;",
    "trouble words": "error failed zzzzq ",
  };
  for (const [name, piece] of Object.entries(hostile)) {
    test(`a mebibyte of ${name} is answered, and the page goes on working`, () =>
      visiting(browser, `${url}diagnose/`, {}, async (page, { trouble }) => {
        await page.locator("#paste-text").evaluate(
          (box, text) => {
            box.value = text;
          },
          piece.repeat((1 << 20) / piece.length),
        );
        await page.locator("#paste-go").click();
        if (piece.trim()) await page.locator("#paste-out .said").waitFor();
        await paste(page, samples[0].sample);
        await page.locator("#paste-out .found", { hasText: samples[0].title }).waitFor();
        assert.deepEqual(trouble, []);
      }));
  }

  test("while a mebibyte is read the page answers again and again", () =>
    visiting(browser, `${url}diagnose/`, {}, async page => {
      await page.locator("#paste-text").focus();
      await page.waitForFunction(() => kbgen.tables && kbgen.match && kbgen.search);
      const turns = await page.evaluate(async () => {
        const steps = kbgen.match(kbgen.tables.match, "runtimeerror: ".repeat(75_000));
        let count = 1;
        while (!steps.next().done) count++;
        // The box itself: other tasks get their turn while it works.
        let turns = 0;
        let working = true;
        const tick = () => {
          turns++;
          if (working) setTimeout(tick);
        };
        document.getElementById("paste-text").value = "error no file named ".repeat(52_000);
        document.getElementById("paste-go").click();
        tick();
        while (!/known/.test(document.querySelector("#paste-out .said")?.textContent)) {
          await new Promise(done => setTimeout(done));
        }
        working = false;
        return { count, turns };
      });
      assert.ok(turns.count >= 100, `${turns.count} steps`);
      assert.ok(turns.turns >= 5, `${turns.turns} turns`);
    }));

  test("a long paste and a dropped file are read whole, and the box shows their end", () =>
    visiting(browser, `${url}diagnose/`, {}, async (page, { trouble }) => {
      const log = `${samples[0].sample}\n${"INFO 10:20:30 all is well\n".repeat(10_000)}`;
      await page.locator("#paste-text").focus();
      await page.waitForFunction(() => kbgen.tables);
      for (const kind of ["paste", "drop"]) {
        await page.locator("#paste-text").evaluate(
          (box, { kind, log }) => {
            const data = new DataTransfer();
            if (kind === "paste") data.setData("text", log);
            else data.items.add(new File([log], "run.log"));
            const event =
              kind === "paste"
                ? new ClipboardEvent("paste", { clipboardData: data, cancelable: true, bubbles: true })
                : new DragEvent("drop", { dataTransfer: data, cancelable: true, bubbles: true });
            box.dispatchEvent(event);
          },
          { kind, log },
        );
        await found(page).first().waitFor();
        assert.equal(await found(page).first().innerText(), samples[0].title);
        assert.ok((await page.locator("#paste-text").inputValue()).length <= 10_000);
        // The rest is still read after a change, and is gone with the text that it belongs to.
        const note = page.locator("#paste-out", { hasText: "The box shows only the end of the log." });
        await page.locator("#paste-text").press("Control+End");
        await page.keyboard.type(" ");
        await page.locator("#paste-go").click();
        await note.waitFor();
        assert.equal(await found(page).first().innerText(), samples[0].title);
        await paste(page, HEALTHY);
        await note.waitFor({ state: "detached" });
        assert.equal(await found(page).filter({ hasText: samples[0].title }).count(), 0);
        await paste(page, "");
        await found(page).first().waitFor({ state: "detached" });
      }
      assert.deepEqual(trouble, []);
    }));

  test("whoever comes back from a page finds the text and its answer, also of a long log", () =>
    visiting(browser, url, {}, async (page, { trouble }) => {
      const log = `${samples[0].sample}\n${"INFO 10:20:30 all is well\n".repeat(20_000)}`;
      for (const text of [samples[0].sample, log]) {
        await page.locator("#paste-text").focus();
        await page.waitForFunction(() => kbgen.findPage);
        await page.locator("#paste-text").evaluate((box, text) => {
          const data = new DataTransfer();
          data.setData("text", text);
          box.value = text.length < 10_000 ? text : "";
          box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, cancelable: true, bubbles: true }));
          document.getElementById("paste-go").click();
        }, text);
        await found(page).first().click();
        await page.waitForURL(/\/errors\//);
        await page.goBack();
        await found(page).first().waitFor();
        assert.equal(await found(page).first().innerText(), samples[0].title);
      }
      await paste(page, "");
      await found(page).first().waitFor({ state: "detached" });
      assert.ok(!(await page.evaluate(() => history.state.log)));
      assert.deepEqual(trouble, []);
    }));

  test("a paste with the colors of a terminal goes where the cursor is, without them, and can be undone", () =>
    visiting(browser, `${url}diagnose/`, {}, async page => {
      const box = page.locator("#paste-text");
      await box.fill("before\n\nafter");
      await page.waitForFunction(() => kbgen.findPage);
      await box.evaluate(box => {
        box.setSelectionRange(7, 7);
        const data = new DataTransfer();
        data.setData("text", "\u001b[1;31merror\u001b[0m in\u001b]8;;file://a\u0007 line\u202e 3\b");
        box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, cancelable: true, bubbles: true }));
      });
      assert.equal(await box.inputValue(), "before\nerror in line 3\nafter");
      await page.keyboard.press("Control+Z");
      assert.equal(await box.inputValue(), "before\n\nafter");
    }));

  test("a quoted line does not change its direction", () =>
    visiting(browser, `${url}diagnose/`, {}, async page => {
      await paste(page, `\u202e\u2066${samples[0].sample}`);
      await page.locator("#paste-out mark").first().waitFor();
      assert.doesNotMatch(await page.locator("#paste-out").innerText(), /[\u202a-\u202e\u2066-\u2069]/);
    }));

  test("a log inside a mebibyte of other lines is still found", () =>
    visiting(browser, `${url}diagnose/`, {}, async page => {
      const other = "INFO 10:20:30 request 127.0.0.1 answered in 12 ms\n".repeat(10_000);
      await page.locator("#paste-text").evaluate(
        (box, text) => {
          box.value = text;
        },
        other + samples[0].sample + "\n" + other,
      );
      await page.locator("#paste-go").click();
      await found(page).first().waitFor();
      assert.equal(await found(page).first().innerText(), samples[0].title);
    }));
}
