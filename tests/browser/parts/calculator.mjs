// Will it run? The page as a reader uses it: by keyboard, by address, when something is missing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, axe, hold, kbgen, sideways, siteRoot, visiting } from "../harness.mjs";

const START = "#model=llama-3.1-8b-instruct&quant=Q4_K_M&ctx=8192&kv=f16&gpu=geforce-rtx-3060-12-gb";
/** What a fresh visitor's address becomes. */
const DEFAULTS =
  "#model=llama-3.1-8b-instruct&quant=Q4_K_M&ctx=8192&gpu=geforce-rtx-3060-12-gb&run=server&others=0&os=linux&k=f16&v=f16&slots=1&ngl=all&moe=0";
/** Everything changed at once, in a model with experts. */
const BUSY =
  "#model=qwen3-30b-a3b&quant=Q4_K_M&ctx=20000&k=q8_0&v=q4_0&slots=4&run=library&gpu=geforce-rtx-4090,geforce-rtx-3060-12-gb,8589934592&others=700,0,100&os=linux&ngl=40&moe=12";
/** Too large for most devices, and with experts. */
const MOE = "#model=qwen3-30b-a3b&quant=Q4_K_M&ctx=8192";
const MIB = 2 ** 20;
const digits = text => Number(text.replace(/\D/g, ""));

export default function ({ folder, browser, url }) {
  const address = `${url}will-it-run/`;
  const ready = page => page.locator("#answer:not([aria-busy])").waitFor({ state: "attached" });
  const text = (page, id) => page.locator(`#${id}`).innerText();
  /** The first words of the verdict. */
  const verdict = async page =>
    /^(Fits if you raise the GPU limit|Fits|Tight|Runs|Does not fit|Not enough RAM|Not covered)( with [\d,]+ of \d+ layers)?/.exec(
      (await text(page, "verdict"))
        .replace(/\s+/g, " ")
        .replace(/ with [\d.]+ [GM]iB to spare|: ([\d.]+ to )?[\d.]+ [GM]iB short/, ""),
    )?.[0];
  /** A fresh visitor, once the figures are there. */
  const at = (hash, use, options = {}) =>
    visiting(browser, address + hash, options, async (page, visitor) => {
      await ready(page);
      return use(page, visitor);
    });
  const answer = async page => [
    await text(page, "verdict"),
    await text(page, "margin"),
    await text(page, "parts"),
    await text(page, "commands"),
  ];

  test("calculator: the name of a fine-tune leads to the model of its shape", () =>
    at(START, async (page, { trouble }) => {
      await page.locator("#model").focus();
      await page.keyboard.type("hermes 2 pro llama 3 8b");
      const option = page.locator("#model-list [role=option]:visible", {
        hasText: "NousResearch/Hermes-2-Pro-Llama-3-8B",
      });
      await option.first().click();
      await ready(page);
      assert.equal(await page.locator("#model").inputValue(), "Llama 3 8B Instruct");
      assert.deepEqual(trouble, []);
    }));

  test("calculator: every model and device is chosen by its complete name", () =>
    at(START, async page => {
      const others = await page.evaluate(() => {
        kbgen.fit.load = () => {};
        const { index, state } = kbgen.calculator;
        const chosen = (id, name) => {
          const input = document.getElementById(id);
          input.value = name;
          input.dispatchEvent(new InputEvent("input"));
          input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", cancelable: true }));
          return input.value;
        };
        const wrong = (id, list, current) =>
          list
            .map(entry => [entry.name, chosen(id, entry.name), current() === entry.id])
            .filter(([name, shown, isRight]) => !isRight || shown !== name);
        return [
          ...wrong("model", index.models, () => state().model),
          ...wrong("device-1", index.devices, () => state().devices[0].id),
        ];
      });
      assert.deepEqual(others, []);
    }));

  test("calculator: a part of a name leads to the name that begins with it", () =>
    at(START, async page => {
      for (const [typed, name] of [
        ["llama 3.1 8b", "Llama 3.1 8B Instruct"],
        ["command r+", "Command R+"],
      ]) {
        await page.locator("#model").fill(typed);
        await page.keyboard.press("Enter");
        assert.equal(await page.locator("#model").inputValue(), name);
      }
    }));

  test("calculator: an empty field chooses nothing, and what names nothing has no match", () =>
    at(START, async (page, { trouble }) => {
      const shown = page.locator("#model-list [role=option]:visible");
      for (const key of ["Tab", "Enter"]) {
        for (const id of ["model", "device-1"]) {
          const before = await page.locator(`#${id}`).inputValue();
          await page.locator(`#${id}`).fill("");
          assert.equal(await page.locator(`#${id}`).getAttribute("aria-activedescendant"), null);
          await page.keyboard.press(key);
          await page.keyboard.press("Escape");
          assert.equal(await page.locator(`#${id}`).inputValue(), before);
        }
      }
      for (const typed of ["нет", "😀", "-"]) {
        await page.locator("#model").fill(typed);
        await page.locator("#model-list + [role=status]", { hasText: "No match" }).waitFor({ state: "attached" });
        assert.equal(await shown.count(), 0, typed);
      }
      assert.deepEqual(trouble, []);
    }));

  test("calculator: a press elsewhere accepts the only match, and says that several choose nothing", () =>
    at(START, async page => {
      const typed = async text => {
        await page.locator("#model").fill(text);
        await page.locator("h1").click();
        return page.locator("#model").inputValue();
      };
      assert.equal(await typed("gemma 3 12b"), "Gemma 3 12B IT");
      await ready(page);
      assert.match(await text(page, "commands"), /Gemma-3-12B/i);
      assert.equal(await typed("phi-4"), "Phi-4", "a complete name, although others begin with it");
      assert.equal(await typed("qwen"), "Phi-4");
      assert.equal(await page.locator("#model-list + [role=status]").textContent(), "Nothing was chosen");
    }));

  test("calculator: every setting is chosen by keyboard, and the answer follows", () =>
    at(START, async (page, { trouble }) => {
      const focused = id => page.locator(`#${id}:focus`).waitFor();
      const press = async (...keys) => {
        for (const key of keys) await page.keyboard.press(key);
      };
      const before = await text(page, "commands");

      // A list that narrows: typed, moved through, taken, and left as it was.
      await page.locator("#model").focus();
      await page.keyboard.type("gpt oss 20");
      assert.equal(await page.locator("#model").getAttribute("aria-expanded"), "true");
      assert.equal(
        await page
          .locator("#model-list [role=option]:visible")
          .first()
          .innerText()
          .then(name => name.split("\n")[0].trim()),
        "gpt-oss 20B",
      );
      await press("Enter");
      await ready(page);
      assert.match(await text(page, "commands"), /gpt-oss-20B/);
      assert.equal(await page.locator("#model").getAttribute("aria-expanded"), "false");
      await press("ArrowDown", "ArrowDown");
      const active = await page.locator("#model").getAttribute("aria-activedescendant");
      assert.ok(await page.locator(`#${active}`).isVisible(), "what is pointed at can be seen");
      await press("Escape");
      assert.equal(await page.locator("#model").inputValue(), "gpt-oss 20B");
      await page.keyboard.type("llama 3.1 8b instruct");
      await press("Tab");
      await ready(page);
      assert.equal(await page.locator("#model").inputValue(), "Llama 3.1 8B Instruct");

      await page.locator("#quant").focus();
      await press("Home");
      assert.equal(await page.locator("#quant option:checked").innerText(), "F16");
      assert.match(await text(page, "verdict"), /^Runs\s+with \d+ of 33 layers on the GPU and [\d.]+ GiB of RAM$/);
      assert.match(await text(page, "margin"), /^Needs [\d.]+ GiB of RAM\. .* it is [\d.]+ to [\d.]+ GiB short\.$/);
      assert.match(
        await page.locator("#meet a").first().getAttribute("href"),
        /errors\/llamacpp-cuda-buffer-alloc-failed\//,
      );
      await page.keyboard.type("Q4_K_M");
      assert.equal(await verdict(page), "Fits");
      assert.equal(await text(page, "commands"), before);

      await press("Tab");
      await focused("ctx");
      await press("Control+A");
      await page.keyboard.type("131072");
      assert.match(await verdict(page), /^Runs with \d+ of 33 layers$/);
      await press("Tab");
      await focused("ctx-slide");
      await press("Home");
      assert.equal(await page.locator("#ctx").inputValue(), "256");
      await page.locator("#device-1").focus();
      await page.keyboard.type("rtx4090");
      await press("Enter");
      assert.match(await text(page, "device-facts-1"), /^24 GiB/);

      // Memory of one's own is the first in the list.
      await page.keyboard.type("other amount");
      await press("Enter");
      await focused("memory-1");
      await press("Control+A");
      await page.keyboard.type("2");
      assert.match(await verdict(page), /^Runs with \d+ of 33 layers$/);
      await press("Control+A");
      await page.keyboard.type("24");
      assert.equal(await verdict(page), "Fits");

      // The rest is behind one summary.
      await page.locator("#more > summary").focus();
      await press("Enter", "Tab");
      await focused("runner");
      await press("Tab", "ArrowRight");
      assert.match(await text(page, "commands"), /-ctk q8_0 -ctv f16/);
      assert.match(await text(page, "pair-note"), /GGML_CUDA_FA_QUANTS/);
      await press("Tab", "ArrowRight");
      assert.match(await text(page, "commands"), /-ctk q8_0 -ctv q8_0/);
      assert.ok(await page.locator("#pair-note").isHidden());
      await press("Tab", "ArrowRight");
      assert.match(await text(page, "commands"), /-np 2 --kv-unified/);
      await press("Tab");
      await focused("others-1");
      await press("Control+A");
      await page.keyboard.type("500");
      assert.match(await text(page, "parts"), /Other programs\s+0\.49/);
      await press("Tab", "ArrowRight", "ArrowRight", "Tab");
      await focused("layers-slide");
      await press("Home");
      assert.match(await text(page, "commands"), /-ngl 0 /);
      assert.match(await text(page, "stats"), /In RAM/);
      await press("End");
      assert.match(await text(page, "commands"), /-ngl 999 /);
      assert.deepEqual(trouble, []);
    }));

  test("calculator: the address holds the settings, and brings them back", () =>
    at(BUSY, async page => {
      // What was read is written again the same, with the settings that it did not name.
      await page.locator("#others-1").fill("701");
      const kept = BUSY.replace("others=700", "others=701").slice(1).split("&");
      await page.waitForURL(/others=701/);
      const written = decodeURIComponent(new URL(page.url()).hash.slice(1)).split("&");
      assert.deepEqual(written.sort(), kept.sort());
      await at(new URL(page.url()).hash, async again => assert.deepEqual(await answer(again), await answer(page)));
    }));

  test("calculator: the address holds every setting, and older addresses are understood", () =>
    at("", async page => {
      await page.waitForURL(url => url.hash === DEFAULTS);
      await at("#model=gemma-3-12b-it&quant=Q4_K_M&ctx=4096&kv=q8_0&mem=8589934592&others=300", async old => {
        assert.match(await text(old, "commands"), /-c 4096 -np 1 -ctk q8_0 -ctv q8_0/);
        assert.equal(await old.locator("#memory-1").inputValue(), "8");
        assert.equal(await old.locator("#others-1").inputValue(), "300");
      });
      await at("?model=gemma-3-12b-it&gpu=geforce-rtx-4090", async asked => {
        assert.match(await text(asked, "commands"), /Gemma-3-12B/i);
        assert.match(await text(asked, "device-facts-1"), /^24 GiB/);
      });
    }));

  test("calculator: the Back button undoes a change, and the Forward button repeats it", () =>
    at(START, async page => {
      await page.locator("#quant").selectOption("F16");
      await page.waitForURL(/quant=F16/);
      await page.locator("#ctx").fill("4096");
      await page.waitForURL(/ctx=4096/);
      await page.goBack();
      await page.waitForURL(/quant=F16&ctx=8192/);
      assert.equal(await page.locator("#ctx").inputValue(), "8192");
      await page.goBack();
      await page.waitForURL(/quant=Q4_K_M/);
      assert.equal(await verdict(page), "Fits");
      await page.goForward();
      await page.waitForURL(/quant=F16/);
      assert.match(await verdict(page), /^Runs with \d+ of 33 layers$/);
    }));

  test("calculator: the link button copies the address with every setting", () =>
    at(
      START,
      async page => {
        await page.locator("#ctx").fill("4096");
        await page.locator("#copy-link").click();
        await page.locator("#copy-link", { hasText: "Copied" }).waitFor();
        const copied = await page.evaluate(() => navigator.clipboard.readText());
        assert.equal(new URL(copied).hash, DEFAULTS.replace("ctx=8192", "ctx=4096"));
      },
      { permissions: ["clipboard-read", "clipboard-write"] },
    ));

  test("calculator: a device that is sold with several memory sizes has a choice of them", () =>
    at("?gpu=apple-m4@16", async page => {
      const size = page.locator("#size-1");
      assert.deepEqual(await size.locator("option").allInnerTexts(), ["16 GB", "24 GB", "32 GB"]);
      assert.equal(await size.locator("option:checked").innerText(), "16 GB");
      const total = await text(page, "stats");
      await size.selectOption("24 GB");
      await page.waitForURL(/gpu=apple-m4@24/);
      assert.notEqual(await text(page, "stats"), total);
      await page.locator("#device-1").fill("RTX 4090");
      await page.keyboard.press("Enter");
      assert.ok(await size.isHidden());
    }));

  test("calculator: the unit of a memory size applies to the amount as it stands", () =>
    at(START.replace("geforce-rtx-3060-12-gb", String(12 * 1024 * MIB)), async page => {
      await page.locator("#memory-1").fill("8192");
      await page.locator("#memory-unit-1").selectOption("MiB");
      assert.equal(await page.locator("#memory-1").inputValue(), "8192");
      await page.waitForURL(new RegExp(`gpu=${8192 * MIB}&`));
    }));

  test("calculator: the system is a choice, and each device has its own systems", () =>
    at("#model=qwen3-14b&quant=Q5_K_M&gpu=geforce-rtx-3060-12-gb&ctx=2048", async (page, { trouble }) => {
      const system = page.locator("#os");
      assert.equal(await verdict(page), "Fits");
      await system.selectOption("Windows");
      await page.waitForURL(/os=windows/);
      assert.equal(await verdict(page), "Tight");
      assert.match(await text(page, "parts"), /Desktop\s+0\.00 to 1\.60/);
      await page.locator("#runner").evaluate(element => {
        element.value = "ollama";
        element.dispatchEvent(new Event("change"));
      });
      assert.match(await text(page, "commands"), /\$env:OLLAMA_FLASH_ATTENTION='1'; /);
      // What other programs use is then known.
      await page.locator("#others-1").evaluate(element => {
        element.value = "1";
        element.dispatchEvent(new Event("input"));
      });
      assert.equal(await verdict(page), "Fits");
      await page.locator("#device-1").fill("Apple M4 Max");
      await page.locator("#device-1").press("Enter");
      await page.waitForURL(/os=macos&/);
      assert.deepEqual(await system.locator("option").allInnerTexts(), [
        "macOS, any version",
        "macOS 15 and earlier",
        "macOS 26 and later",
      ]);
      const needs = await text(page, "stats");
      await system.selectOption("macOS 26 and later");
      assert.notEqual(await text(page, "stats"), needs);
      assert.deepEqual(trouble, []);
    }));

  test("calculator: the first device of the catalog is remembered, and starts the next visit", () =>
    at("", async (page, { context }) => {
      const own = () => page.evaluate(() => localStorage.getItem("device"));
      assert.equal(await own(), null);
      await page.locator("#device-1").fill("RTX 3090");
      await page.locator("#device-1").press("Enter");
      await page.waitForURL(/gpu=geforce-rtx-3090/);
      assert.equal(await own(), "geforce-rtx-3090");

      const again = await context.newPage();
      await again.goto(address);
      await ready(again);
      assert.equal(await again.locator("#device-1").inputValue(), "GeForce RTX 3090");
      await again.goto(`${address}?gpu=geforce-rtx-3060-12-gb`);
      await ready(again);
      assert.equal(await again.locator("#device-1").inputValue(), "GeForce RTX 3060 12 GB");
      assert.equal(await own(), "geforce-rtx-3090", "a link changes nothing");
    }));

  /** Each setting wrong by itself, and what is said of it. */
  const WRONG = {
    "model=llama-9": "unknown model",
    "model=%3Cimg%20src=x%20onerror=alert(1)%3E": "unknown model",
    "quant=Q99": "not a valid value",
    "ctx=-5": "not a number of tokens",
    "ctx=1e999": "not a number of tokens",
    "ctx=999999": "more than the 131072 tokens of this model",
    "kv=%00": "not a valid value",
    "k=q": "not a valid value",
    "v=f17": "not a valid value",
    "slots=3": "not a valid value",
    "run=x": "not a valid value",
    "ngl=-1": "not a valid value",
    "ram=x": "not a number of GiB",
    "moe=-2": "not a valid value",
    "dtype=int3": "not a valid value",
    "util=0": "not a valid value",
    "cache=fp7": "not a valid value",
    "gpu=rtx-9090": "unknown device, and not an amount of memory in bytes",
    "gpu=24": "unknown device, and not an amount of memory in bytes",
    "device=none": "unknown device, and not an amount of memory in bytes",
    "mem=-4": "not an amount of memory in bytes",
    "mem=x": "not an amount of memory in bytes",
    "others=x": "not a number of MiB",
    "os=beos": "not a valid value",
    "os=macos-26&gpu=geforce-rtx-3060-12-gb": "not a system of these devices",
    "modle=phi-2": "unknown setting",
  };
  test("calculator: what is not understood in an address is said, and gets no verdict", () =>
    at("#model=llama-3.1-8b-instruct", async (page, { trouble }) => {
      const wrong = [];
      for (const [setting, why] of Object.entries(WRONG)) {
        await page.evaluate(
          hash => {
            location.hash = hash;
          },
          setting.startsWith("model=") ? setting : `model=llama-3.1-8b-instruct&${setting}`,
        );
        const report = page.locator("#misread:visible li");
        await report
          .filter({ hasText: setting.split("=")[0] })
          .first()
          .waitFor();
        const said = await report.allInnerTexts();
        if (said.length !== 1 || !said[0].endsWith(`: ${why}`)) wrong.push(`${setting}: ${said}`);
        if (await page.locator("#verdict, #commands, #ladder").filter({ visible: true }).count()) {
          wrong.push(`${setting}: a verdict`);
        }
        if (!page.url().endsWith(setting)) wrong.push(`${setting}: the address is ${page.url()}`);
        await page.evaluate(() => {
          location.hash = "model=llama-3.1-8b-instruct&ctx=4096";
        });
        await page.locator("#verdict:visible").waitFor();
      }
      assert.deepEqual(wrong, []);
      assert.equal(await page.locator("#misread").getAttribute("role"), "alert");
      assert.deepEqual(trouble, []);
    }));

  test("calculator: what an address had wrong is set right in the settings, or accepted as it is shown", () =>
    at("#model=nothing&quant=Q4_K_M&gpu=rtx-9090&mem=-4", async (page, { trouble }) => {
      assert.equal(await page.locator("#misread-list li").count(), 3);
      assert.deepEqual(await axe(page), []);
      await page.locator("#model").fill("gemma 3 12b");
      await page.keyboard.press("Enter");
      await page.locator("#misread-list li:nth-child(3)").waitFor({ state: "detached" });
      assert.ok(await page.locator("#verdict").isHidden());
      await page.locator("#device-1").fill("RTX 4090");
      await page.keyboard.press("Enter");
      await page.locator("#verdict:visible").waitFor();
      assert.ok(await page.locator("#misread").isHidden());
      assert.match(await text(page, "commands"), /Gemma-3-12B/i);
      await page.evaluate(() => {
        location.hash = "model=nothing";
      });
      await page.locator("#misread-accept").press("Enter");
      await page.locator("#verdict:focus").waitFor();
      assert.deepEqual(trouble, []);
    }));

  test("calculator: for what does not fit there is no command that puts all of it on the device", async () => {
    await at(START.replace("Q4_K_M", "F16"), async page => {
      const offered = await page.locator("#best [data-what=layers] b").innerText();
      assert.equal(await verdict(page), `Runs with ${offered} layers`);
      assert.ok(await page.locator("#best [data-what=layers]").isDisabled());
      assert.match(await text(page, "commands"), new RegExp(`-ngl ${offered.split(" ")[0]} `));
    });
    await at("#model=qwen3-30b-a3b&quant=Q4_K_M", async page => {
      assert.match(await text(page, "verdict"), /^Runs\s+with the experts of \d+ layers in RAM: [\d.]+ GiB$/);
      assert.match(await text(page, "commands"), /--(n-cpu-moe \d+|cpu-moe)/);
    });
    await at(START.replace("8192", "131072&run=vllm"), async page => {
      assert.equal(await verdict(page), "Does not fit");
      assert.match(await text(page, "commands"), /^No command/);
      assert.equal(await page.locator("#commands code").count(), 0);
    });
  });

  test("calculator: what fits with a part in RAM is said everywhere at once, and compared with the RAM that is given", async () => {
    const experts = /^Runs\s+with the experts of 22 layers in RAM: 7\.66 GiB$/;
    await at(`${MOE}&gpu=geforce-rtx-4070`, async (page, { trouble }) => {
      assert.match(await text(page, "verdict"), experts);
      assert.equal(
        await text(page, "margin"),
        "Needs 7.66 GiB of RAM. With all layers on the GPU, it is 6.67 to 7.10 GiB short.",
      );
      assert.match(await page.locator(".dock").textContent(), /^In part\s*7\.66 GiB of RAM$/);
      assert.equal(await page.locator("#best [data-what=experts] b").innerText(), "22 of 48");
      assert.match(await text(page, "commands"), /--n-cpu-moe 22/);
      assert.match(await page.locator("#best [data-what=ctx]").innerText(), /^Largest context all on the GPU/);
      assert.match(await text(page, "meet"), /^With all layers on the GPU, it fails with: llama\.cpp/);
      assert.match(await text(page, "parts"), /Free, at least/);
      assert.equal(await page.locator("#ladder tr:has(:checked) .verdict").innerText(), "in part");
      await page.locator("#device-1").fill("RTX 4070 Ti");
      assert.match(
        await page.locator("#device-list-1 [role=option]:visible").first().innerText(),
        /4070 Ti\s+in part · 12 GiB/,
      );
      await page.keyboard.press("Escape");
      const needed = () => page.locator("#stats div", { hasText: "In RAM" }).innerText();
      await page.locator("#ram").fill("32");
      assert.match(await text(page, "verdict"), experts);
      assert.match(await needed(), /7\.66 GiB\s+of 32 GiB/);
      await page.waitForURL(/ram=32/);
      await page.locator("#ram").fill("4");
      assert.equal(await text(page, "verdict"), "Not enough RAM: 3.66 GiB short");
      assert.match(await text(page, "commands"), /^No command/);
      await page.locator("#device-1").fill("RTX 4070 Ti");
      assert.match(
        await page.locator("#device-list-1 [role=option]:visible").first().innerText(),
        /4070 Ti\s+too small/,
      );
      assert.deepEqual(trouble, []);
    });
    // A part in RAM is no gain where the RAM is the memory of the GPU.
    await at(`${MOE}&gpu=apple-m4@24`, async page => assert.ok(await page.locator("#ram").isHidden()));
  });

  test("calculator: verdict, need and shortage are for the same versions of macOS", async () => {
    const needs = page => page.locator("#stats div", { hasText: "Needs" }).innerText();
    const lack = "With the default limit of macOS, it is";
    await at(`${MOE}&gpu=apple-m4@24`, async page => {
      assert.match(await needs(page), /18\.11 to 18\.66 GiB\s+of 16 to 17\.76 GiB/);
      assert.equal(await text(page, "margin"), `${lack} 0.35 to 2.66 GiB short. It depends on the macOS version.`);
      assert.match(await text(page, "parts"), /Over capacity, at most\s+2\.66/);
      await page.locator("#os").selectOption("macOS 15 and earlier");
      assert.match(await needs(page), /of 16 GiB/);
      assert.equal(await text(page, "margin"), `${lack} 2.11 to 2.66 GiB short.`);
      await page.locator("#os").selectOption("macOS 26 and later");
      assert.match(await needs(page), /of 17\.76 GiB/);
      assert.equal(await text(page, "margin"), `${lack} 356 to 918 MiB short.`);
    });
  });

  test("calculator: a Mac whose limit can be raised gets the command, and what is left for macOS", async () => {
    await at(`${MOE}&gpu=apple-m4@24`, async page => {
      assert.equal(await text(page, "verdict"), "Fits if you raise the GPU limit to 19 GiB");
      assert.match(await text(page, "commands"), /^First raise the GPU limit to 19 GiB\. 5 GiB are left for macOS/);
      assert.match(await text(page, "commands"), /sudo sysctl iogpu\.wired_limit_mb=19456\s[\s\S]*llama-server -m/);
      const [href, id] = (await page.locator("#commands a").getAttribute("href")).split("#");
      await page.goto(new URL(href, page.url()).href);
      assert.ok(await page.locator(`#${id}`).count(), `${href} has #${id}`);
    });
    await at(`${MOE}&gpu=apple-m4@16`, async page => {
      assert.match(await text(page, "verdict"), /^Does not fit: 6\.27 to 7\.99 GiB short$/);
      assert.match(await text(page, "commands"), /^No command/);
    });
    await at(`${MOE}&gpu=apple-m4@32`, async page => {
      assert.equal(await verdict(page), "Fits");
      assert.doesNotMatch(await text(page, "commands"), /sysctl/);
    });
  });

  test("calculator: what is needed is the total of the table, and what is tight is a result of every box", async () => {
    const needs = page => page.locator("#stats div", { hasText: "Needs" }).locator("dd").first().innerText();
    const total = page => page.locator("#parts .sum td").first().innerText();
    for (const hash of [
      `${MOE}&gpu=apple-m4@24&ngl=0`,
      `${MOE}&gpu=apple-m4@24&moe=all`,
      `${MOE}&gpu=geforce-rtx-4090&os=windows`,
      `${BUSY}&ram=64`,
    ]) {
      await at(hash, async page => {
        const sums = await page.locator("#parts .sum td").allInnerTexts();
        assert.ok(sums.includes((await needs(page)).replace(" GiB", "")), `${await needs(page)} of ${sums}`);
      });
    }
    await at(`${MOE}&gpu=apple-m4@24&ngl=0`, async page => {
      assert.match(await text(page, "verdict"), /^Tight\s+with 0 of 49 layers on the GPU$/);
      assert.match(await total(page), /^0\.22 to 18\.82$/);
      assert.equal(await page.locator("#best [data-what=layers], #best [data-what=experts]").count(), 0);
    });
    await at(`${MOE}&gpu=geforce-gtx-1060-3-gb&moe=all`, async page => {
      assert.match(await text(page, "verdict"), /^Tight\s+with the experts of 48 layers in RAM$/);
      assert.match(await page.locator("#best [data-what=experts] b").innerText(), /^\d+ of 48, tight$/);
    });
  });

  test("calculator: a device is found by its family, its kind and the memory that is typed beside its name", () =>
    at(START, async (page, { trouble }) => {
      const options = page.locator("#device-list-1 [role=option]:visible");
      for (const [typed, name, spec] of [
        ["M4 24GB", "Apple M4", "apple-m4@24"],
        ["Apple M4 16 GB", "Apple M4", "apple-m4@16"],
        ["MacBook Air M4", "Apple M4", "apple-m4@16"],
        ["Mac mini m2 pro", "Apple M2 Pro", "apple-m2-pro@16"],
        ["MacBook Pro M4", "Apple M4", "apple-m4@16"],
        ["4070 12gb", "GeForce RTX 4070", "geforce-rtx-4070"],
        ["m4", "Apple M4", "apple-m4@16"],
      ]) {
        await page.locator("#device-1").fill(typed);
        assert.equal((await options.first().innerText()).split("\n")[0].trim(), name, typed);
        await page.keyboard.press("Enter");
        assert.equal(await page.locator("#device-1").inputValue(), name, typed);
        await page.waitForURL(url => url.hash.includes(`gpu=${spec}&`));
      }
      for (const typed of ["MacBook", "iMac", "Mac mini", "Mac Studio"]) {
        await page.locator("#device-1").fill(typed);
        assert.match(await options.first().innerText(), /^Apple M\d/, typed);
      }
      await page.locator("#device-1").fill("igpu");
      assert.match((await options.allInnerTexts()).join(), /Radeon 780M/);
      await page.locator("#device-1").fill("no such card 20 GB");
      assert.match(
        await page.locator("#device-list-1 + [role=status]").textContent(),
        /^No match\. Enter the memory size of your device/,
      );
      await options.first().click();
      await page.waitForURL(new RegExp(`gpu=${20 * 1024 * MIB}&`));
      await page.locator("#device-1").fill("CPU only");
      await page.keyboard.press("Enter");
      await page.locator("#memory-1:focus").waitFor();
      assert.match(await text(page, "device-facts-1"), /^Without a GPU, enter the size of the RAM/);
      assert.deepEqual(trouble, []);
    }));

  test("calculator: where GPU and RAM are one memory, both parts together have to fit", async () => {
    const OSS = "#model=gpt-oss-120b&ctx=8192&os=linux";
    const split = page => page.locator("#best [data-what=layers], #best [data-what=experts]");
    await at(`${OSS}&gpu=radeon-780m@32`, async page => {
      assert.equal(await verdict(page), "Does not fit");
      assert.equal(await split(page).count(), 0);
    });
    for (const change of ["ngl=9", "moe=29"]) {
      await at(`${OSS}&gpu=radeon-780m@32&${change}`, async page => {
        assert.match(await text(page, "verdict"), /^Does not fit: 31\.\d\d GiB short$/);
        assert.match(
          await text(page, "margin"),
          /both parts together need [\d.]+ to [\d.]+ GiB of the 32 GiB, of which the system leaves 28 GiB\.$/,
        );
        assert.match(await text(page, "commands"), /^No command/);
        assert.equal(await page.locator("#best button").count(), 0);
      });
    }
    await at("#model=qwen3-235b-a22b&quant=Q4_K_M&gpu=ryzen-ai-max-395@128&ngl=42", async page =>
      assert.equal(await verdict(page), "Does not fit"),
    );
    for (const gpu of ["gb10", "apple-m4@16"]) {
      await at(`#model=gpt-oss-120b&ctx=8192&gpu=${gpu}&ngl=9`, async page =>
        assert.equal(await verdict(page), gpu === "gb10" ? "Runs with 9 of 37 layers" : "Does not fit"),
      );
    }
    await at(`${OSS}&gpu=radeon-780m@96`, async page => {
      await split(page).last().press("Enter");
      assert.match(await verdict(page), /^Runs with \d+ of 37 layers$/);
      assert.match(await text(page, "margin"), /both parts together need [\d.]+ to [\d.]+ GiB of the 96 GiB\./);
    });
  });

  test("calculator: a chosen part in RAM has the word of one that the page found", async () => {
    const words = async hash =>
      at(hash, async page => [await page.locator("#dock-verdict").textContent(), await verdict(page)]);
    const found = await words(START.replace("Q4_K_M", "F16"));
    const layers = / (\d+) of/.exec(found[1])[1];
    assert.deepEqual(await words(`${START.replace("Q4_K_M", "F16")}&ngl=${layers}`), found);
    assert.equal(found[0], "In part");
    assert.deepEqual(await words("#model=llama-3.1-8b-instruct&gpu=radeon-780m@32&ngl=9"), [
      "In part",
      "Runs with 9 of 33 layers",
    ]);
  });

  test("calculator: the headline has the RAM of a part", () =>
    at("#model=deepseek-r1&quant=Q4_K_M&gpu=geforce-rtx-3060-12-gb", async page =>
      assert.match(await text(page, "verdict"), /^Runs\s+with 2 of 62 layers on the GPU and 369\.\d\d GiB of RAM$/),
    ));

  test("calculator: a GPU share that is a setting is said, with the page that sets it", async () => {
    await at("#model=qwen3-235b-a22b&quant=Q4_K_M&gpu=ryzen-ai-max-395@128", async page => {
      assert.match(await text(page, "margin"), /How much of the memory the GPU can use is a setting/);
      const [href, id] = (await page.locator("#margin a").getAttribute("href")).split("#");
      await page.goto(new URL(href, page.url()).href);
      assert.equal(await page.locator(`#${id}`).count(), 1);
    });
    await at(START, async page => assert.equal(await page.locator("#margin a").count(), 0));
  });

  test("calculator: what names nothing, or several, is said at the field, with what the verdict is for", () =>
    at(START, async (page, { trouble }) => {
      const said = page.locator(".combo-dropped:visible");
      for (const [id, typed, name] of [
        ["device-1", "iphone 15", "GeForce RTX 3060 12 GB"],
        ["device-1", "rtx 9999", "GeForce RTX 3060 12 GB"],
        ["model", "flux dev", "Llama 3.1 8B Instruct"],
      ]) {
        await page.locator(`#${id}`).fill(typed);
        await page.keyboard.press("Enter");
        await said.waitFor();
        assert.ok(
          (await said.innerText()).startsWith(
            `Nothing was chosen: no match for “${typed}”. This is still for ${name}.`,
          ),
          await said.innerText(),
        );
        assert.equal(await page.locator(`#${id}`).inputValue(), name);
        await page.locator(`#${id}`).fill("");
        assert.equal(await said.count(), 0);
        await page.keyboard.press("Escape");
      }
      for (const typed of ["gtx 1060", "m5"]) {
        await page.locator("#device-1").fill(typed);
        await page.locator("h1").click();
        assert.equal(
          await said.innerText(),
          `Nothing was chosen: select one of the names with “${typed}” from the list. This is still for GeForce RTX 3060 12 GB.`,
        );
      }
      assert.deepEqual(await axe(page), []);
      assert.deepEqual(trouble, []);
    }));

  test("calculator: addresses of Hugging Face and names of Ollama choose model and quantization", () =>
    at(START, async (page, { trouble }) => {
      for (const [typed, name, quant] of [
        ["hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q6_K", "Llama 3.2 3B Instruct", "Q6_K"],
        ["unsloth/Qwen3-8B-GGUF", "Qwen3 8B", "Q6_K"],
        ["https://huggingface.co/unsloth/Qwen3-14B-GGUF/tree/main", "Qwen3 14B", "Q6_K"],
        ["llama3.1:8b", "Llama 3.1 8B Instruct", "Q6_K"],
        ["llama3.2:3b-instruct-q8_0", "Llama 3.2 3B Instruct", "Q8_0"],
        ["qwen3:30b-a3b", "Qwen3 30B A3B", "Q8_0"],
        ["llama3", "Llama 3 8B Instruct", "Q8_0"],
      ]) {
        await page.locator("#model").fill(typed);
        await page.keyboard.press("Enter");
        assert.equal(await page.locator("#model").inputValue(), name, typed);
        await ready(page);
        assert.equal(await page.locator("#quant option:checked").innerText(), quant, typed);
      }
      assert.deepEqual(trouble, []);
    }));

  test("calculator: a published model that has the words somewhere is only offered", () =>
    at(START, async page => {
      await page.locator("#model").fill("grok 4");
      await page.locator("#model-list [role=option]:visible").first().waitFor();
      await page.keyboard.press("Enter");
      assert.equal(await page.locator("#model").getAttribute("aria-activedescendant"), null);
      assert.equal(await page.evaluate(() => kbgen.calculator.state().model), "llama-3.1-8b-instruct");
    }));

  test("calculator: without a memory size the smallest is taken, and asked for", () =>
    at(START, async page => {
      for (const [typed, gib] of [
        ["Apple M2", 8],
        ["780M", 16],
      ]) {
        await page.locator("#device-1").fill(typed);
        await page.keyboard.press("Enter");
        assert.match(
          await text(page, "device-facts-1"),
          new RegExp(`^This is for ${gib} GB: select the memory size of yours\\. ${gib} GiB`),
        );
      }
      await page.locator("#size-1").selectOption("32 GB");
      assert.match(await text(page, "device-facts-1"), /^32 GiB/);
      await page.goto("about:blank");
      // A link without a size is for the largest, as the page of the device.
      await page.goto(`${address}#model=llama-3.1-8b-instruct&gpu=radeon-780m`);
      await ready(page);
      assert.match(await text(page, "device-facts-1"), /^This is for 96 GB/);
    }));

  test("calculator: the name of a GGUF file chooses model and quantization", () =>
    at(START, async (page, { trouble }) => {
      for (const [file, name, quant] of [
        ["Qwen3-30B-A3B-Instruct-2507-Q5_K_M.gguf", "Qwen3 30B A3B Instruct 2507", "Q5_K_M"],
        ["/models/Qwen2.5-72B-Instruct-IQ2_M-00001-of-00002.gguf", "Qwen2.5 72B Instruct", "IQ2_M"],
        ["C:\\models\\Meta-Llama-3.1-8B-Instruct-Q6_K.gguf", "Llama 3.1 8B Instruct", "Q6_K"],
        ["Meta-Llama-3.1-8B-Instruct-no-such-tune.Q8_0.gguf", "Llama 3.1 8B Instruct", "Q8_0"],
      ]) {
        await page.locator("#model").fill(file);
        await page.locator("#model-list [role=option]:visible").first().waitFor();
        await page.keyboard.press("Enter");
        await ready(page);
        assert.equal(await page.locator("#model").inputValue(), name);
        assert.equal(await page.locator("#quant option:checked").innerText(), quant);
      }
      assert.deepEqual(trouble, []);
    }));

  test("calculator: all columns of the table of quantizations are in sight on a phone", () =>
    at(
      `${MOE}&gpu=geforce-rtx-4070`,
      async page => {
        const hidden = await page
          .locator("#ladder-part .table")
          .evaluate(place => place.scrollWidth - place.clientWidth);
        assert.ok(hidden <= 0, `${hidden} px out of sight`);
      },
      PHONE,
    ));

  test("calculator: an offer is taken with one press, and then it fits", async () => {
    await at(START.replace("ctx=8192", "ctx=131072"), async page => {
      assert.match(await verdict(page), /^Runs/);
      const offered = digits(await page.locator("#best [data-what=ctx] b").innerText());
      await page.locator("#best [data-what=ctx]").press("Enter");
      assert.equal(await verdict(page), "Fits");
      assert.equal(Number(await page.locator("#ctx").inputValue()), offered);
      // Not a step more.
      await page.locator("#ctx").fill(String(offered + 1));
      assert.notEqual(await verdict(page), "Fits");
    });
    await at(START.replace("Q4_K_M", "F16"), async page => {
      const offered = await page.locator("#best [data-what=quant] b").innerText();
      await page.locator("#best [data-what=quant]").press("Enter");
      assert.equal(await page.locator("#quant option:checked").innerText(), offered);
      assert.equal(await verdict(page), "Fits");
    });
    await at(START.replace("Q4_K_M", "F16"), async page => {
      const offered = await page.locator("#best [data-what=layers] b").innerText();
      await page.locator("#layers input[value=auto]").evaluate(input => input.click());
      assert.equal(await verdict(page), `Runs with ${offered} layers`);
      assert.match(await text(page, "commands"), new RegExp(`-ngl ${offered.split(" ")[0]} `));
    });
    await at(`${MOE}&gpu=geforce-rtx-4070`, async page => {
      const offered = await page.locator("#best [data-what=layers] b").innerText();
      await page.locator("#best [data-what=layers]").press("Enter");
      assert.equal(await verdict(page), `Runs with ${offered} layers`);
      assert.match(await text(page, "commands"), new RegExp(`-ngl ${offered.split(" ")[0]} `));
    });
  });

  test("calculator: the verdict turns where the sum meets the memory, to the byte", () =>
    at(START, async page => {
      const [least, most] = await page.evaluate(() => {
        const { driver } = kbgen.calculator.index;
        const [{ total }] = kbgen.fit.need(
          kbgen.fit.tables["llama-3.1-8b-instruct"],
          kbgen.answer.settingOf(
            kbgen.calculator.state(),
            kbgen.fit.tables["llama-3.1-8b-instruct"],
            kbgen.calculator.index,
          ),
        ).devices;
        return [total[0] + driver[0], total[1] + driver[1]];
      });
      const says = async memory => {
        await page.goto("about:blank");
        await page.goto(`${address}#model=llama-3.1-8b-instruct&quant=Q4_K_M&gpu=${memory}`);
        await ready(page);
        return verdict(page);
      };
      // Of an amount of memory programs see 906 thousandths.
      const seen = bytes => Math.ceil(bytes / 906) * 1000;
      assert.equal(await says(seen(most)), "Fits");
      assert.equal(await says(seen(most) - 1000), "Tight");
      assert.equal(await says(seen(least)), "Tight");
      assert.match(await says(seen(least) - 1000), /^Runs with \d+ of 33 layers$/);
      assert.match(await text(page, "margin"), /it is 1 to 440 MiB short\.$/);
      assert.ok(least - (least % MIB) > 0);
    }));

  test("calculator: each runner gets its own command, and its own words", async () => {
    await at(`${START}&run=ollama`, async page => {
      assert.match(
        await text(page, "commands"),
        /OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=f16 ollama serve[\s\S]*PARAMETER num_ctx 8192\s+PARAMETER num_batch 512/,
      );
      assert.ok(await page.locator("#v").evaluate(field => field.closest("fieldset").disabled));
    });
    await at(`${START}&run=library`, async page =>
      assert.match(
        await text(page, "commands"),
        /^Copy|-m Llama-3\.1-8B-Instruct-Q4_K_M\.gguf -ngl 999 -c 8192 -ctk f16 -ctv f16 -fa on/,
      ),
    );
    await at(`${START.replace("geforce-rtx-3060-12-gb", "geforce-rtx-4090")}&run=vllm`, async page => {
      assert.match(await text(page, "commands"), /vllm serve \S+ --max-model-len 8192 --gpu-memory-utilization 0\.92/);
      assert.ok(await page.locator("#layers").isHidden());
    });
    await at("#model=gemma-4-31b-it&run=vllm", async page => {
      assert.equal(await verdict(page), "Not covered");
      assert.match(await text(page, "margin"), /^The vLLM cache of layers with different widths is not modeled\.$/);
    });
  });

  test("calculator: the headline and the table round one figure alike", () =>
    visiting(browser, address, {}, async page => {
      for (const ctx of [8192, 9216, 11264, 13312, 20000, 30000]) {
        await page.goto(`${address}#model=llama-3.1-8b-instruct&quant=Q4_K_M&gpu=geforce-rtx-3060-12-gb&ctx=${ctx}`);
        await page.reload();
        await page.waitForFunction(() => document.getElementById("verdict").innerText);
        const [, spare] = /([\d.]+) GiB/.exec(await page.locator("#verdict").innerText());
        const free = page.locator("#parts tr", { hasText: "Free" }).locator("td").first();
        assert.equal(await free.innerText(), spare, `${ctx} tokens`);
      }
    }));

  test("calculator: on other backends the compute buffer is a range, and the verdict is the terminal's", () =>
    at("#model=llama-3.1-8b-instruct&quant=Q4_K_M&gpu=radeon-rx-7900-xtx", async page => {
      assert.equal(await verdict(page), "Fits");
      const rows = await page.locator("#parts tr").allInnerTexts();
      assert.match(rows[0], /Weights\s+\d+\.\d+\s+\d+\.\d+\s+exact/);
      assert.match(rows[2], /Compute buffer\s+.*\s+range/);
    }));

  test("calculator: types of the cache that are not covered for a model are told, and nothing is offered for them", () =>
    at("#model=phi-2&k=q8_0&v=q8_0", async (page, { trouble }) => {
      assert.equal(await verdict(page), "Not covered");
      assert.match(await text(page, "margin"), /These cache types are not covered/);
      assert.equal(await page.locator("#best button").count(), 0);
      assert.deepEqual(trouble, []);
    }));

  test("calculator: every label of evidence leads to its place on the methodology page", () =>
    at(START, async page => {
      const hrefs = await page
        .locator("#parts .basis a, #stats a")
        .evaluateAll(all => [...new Set(all.map(each => each.href))]);
      assert.ok(hrefs.length >= 2);
      for (const href of hrefs) {
        await page.goto(href);
        assert.ok(await page.locator(`[id="${new URL(href).hash.slice(1)}"]`).count(), href);
      }
    }));

  test("calculator: a table that cannot be loaded is told in words, and asked for again", () => {
    let broken = true;
    const prepare = page =>
      page.route(/data\/fit\/gemma-3-12b-it\.js/, route => (broken ? route.abort() : route.continue()));
    return visiting(browser, address + START, { prepare }, async page => {
      await ready(page);
      const choose = async name => {
        await page.locator("#model").fill(name);
        await page.keyboard.press("Enter");
      };
      await choose("gemma 3 12b");
      await page.locator("#broken").waitFor();
      assert.match(await text(page, "broken"), /The figures for Gemma 3 12B.* could not be loaded/);
      assert.match(
        await page.locator(".dock").textContent(),
        /^No verdict\s*The figures for Gemma 3 12B.* could not be loaded\.$/,
      );
      assert.equal(
        await page.locator("#answer").getAttribute("aria-busy"),
        "true",
        "the answer before is no answer to this",
      );
      assert.ok(await page.locator("#copy-link").evaluate(button => Boolean(button.closest("[inert]"))));
      broken = false;
      await page.locator("#again").click();
      await ready(page);
      assert.ok(await page.locator("#broken").isHidden());
      assert.match(await text(page, "commands"), /Gemma-3-12B/i);
    });
  });

  test("calculator: before the first table, settings can be read and changed, and count when it is there", () => {
    let read;
    const prepare = async page => {
      read = await hold(page, /data\/fit\//);
    };
    return visiting(browser, `${url}privacy/`, { prepare }, async (page, { trouble }) => {
      // The event of the complete page waits for the table.
      await page.goto(`${address}${START}&k=q8_0`, { waitUntil: "commit" });
      await page
        .locator(".dock", { hasText: /^Loading the figures for Llama 3\.1 8B Instruct…$/ })
        .waitFor({ state: "attached" });
      assert.equal(await page.locator("#ctx").inputValue(), "8192");
      assert.equal(await page.locator("#device-1").inputValue(), "GeForce RTX 3060 12 GB");
      assert.equal(await page.locator("#k input:checked").getAttribute("value"), "1");
      for (const id of ["quant", "ctx-slide", "layers input"]) {
        assert.ok(await page.locator(`#${id}`).first().isDisabled(), id);
      }
      await page.locator("#ctx").fill("4096");
      await page.locator("#device-add").click();
      await page.locator("#device-drop-2").click();
      read();
      await ready(page);
      assert.match(await text(page, "commands"), /-c 4096 .*-ctk q8_0/);
      assert.ok(await page.locator("#quant").isEnabled());
      assert.deepEqual(trouble, []);
    });
  });

  test("calculator: it works from a file, without a server", () =>
    visiting(browser, `file://${folder}/will-it-run/index.html${START}`, {}, async (page, { trouble }) => {
      await ready(page);
      assert.equal(await verdict(page), "Fits");
      assert.deepEqual(trouble, []);
    }));

  const looks = { light: { colorScheme: "light" }, dark: { colorScheme: "dark" }, phone: PHONE };
  for (const [name, options] of Object.entries(looks)) {
    test(`calculator: in ${name}, with everything open, axe-core finds nothing`, () =>
      at(
        BUSY,
        async (page, { trouble }) => {
          assert.deepEqual(await axe(page), []);
          await page.locator("#device-2").click();
          await page.locator("#device-list-2 [role=option]").first().waitFor();
          assert.deepEqual(await axe(page), []);
          await page.keyboard.press("Escape");
          await page.locator("#runner").selectOption("vllm");
          assert.deepEqual(await axe(page), []);
          assert.deepEqual(trouble, []);
        },
        options,
      ));
  }

  test("calculator: another width of the window redraws the picture, and leaves the rest as it is", () =>
    at(START, async page => {
      const marks = () => page.locator("#bars .scale").count();
      const before = await marks();
      await page.evaluate(() => {
        const command = document.querySelector("#commands code");
        getSelection().selectAllChildren(command);
      });
      await page.setViewportSize({ width: 500, height: 900 });
      await page.waitForFunction(before => document.querySelectorAll("#bars .scale").length !== before, before);
      assert.match(await page.evaluate(() => String(getSelection())), /^llama-server/);
      assert.ok((await marks()) < before);
    }));

  test("calculator: nothing scrolls sideways at 320 px, nor with text twice as large", async () => {
    const narrow = { viewport: { width: 320, height: 700 } };
    await at(
      BUSY,
      async page => {
        assert.equal(await sideways(page), 0);
        await page.locator("#model").click();
        assert.equal(await sideways(page), 0);
      },
      narrow,
    );
    await at(
      BUSY,
      async page => {
        await page.addStyleTag({ content: "html { font-size: 200% }" }).catch(() =>
          page.evaluate(() => {
            document.documentElement.style.fontSize = "200%";
          }),
        );
        assert.equal(await sideways(page), 0);
      },
      narrow,
    );
  });

  test("calculator: verdict and largest context are the program's", () =>
    at(`${START}&run=library`, async page => {
      const told = await kbgen(
        "--root",
        siteRoot,
        "fit",
        "llama-3.1-8b-instruct",
        "--ctx",
        "8192",
        "--kv-type",
        "f16",
        "--gpu",
        "geforce-rtx-3060-12-gb",
        "--runner",
        "library",
        "--format",
        "json",
      );
      const { quantizations } = JSON.parse(told);
      const ladder = await page
        .locator("#ladder tr")
        .evaluateAll(rows =>
          rows.map(row => [...row.querySelectorAll("th, td")].slice(0, 3).map(cell => cell.textContent)),
        );
      // For what does not fit, the page looks for a part in RAM.
      const words = { fits: "fits", tight: "tight", no: "in part" };
      assert.deepEqual(
        ladder,
        quantizations.map(row => [
          row.quant,
          words[row.verdict] ?? row.verdict,
          row.largest_context?.toLocaleString("en") ?? (row.verdict === "no" ? "–" : "none"),
        ]),
      );
    }));

  test("calculator: without scripts it says where the tables are, and they are there", () =>
    visiting(browser, address, { javaScriptEnabled: false }, async page => {
      assert.match(await page.locator("main").innerText(), /The calculator requires JavaScript/);
      await page.locator("noscript a", { hasText: "model" }).click();
      await page.waitForURL(/models\/index\.html/);
      await page.locator("main summary", { has: page.getByText("Llama", { exact: true }) }).click();
      await page.locator("main a", { hasText: "Llama 3.1 8B Instruct" }).first().click();
      await page.waitForURL(/models\/llama-3\.1-8b-instruct\//);
      assert.match(await page.locator("table", { hasText: "f16 KV cache" }).innerText(), /Q4_K_M[\s\S]*GiB/);
    }));
}
