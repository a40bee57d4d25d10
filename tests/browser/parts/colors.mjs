// The tokens of the theme: what is written can be read on what it is written on, in light and in dark.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { visiting } from "../harness.mjs";

const styles = fileURLToPath(new URL("../../../static/", import.meta.url));
const css = readFileSync(
  join(fileURLToPath(new URL("../../../", import.meta.url)), "static/css/10-tokens.css"),
  "utf8",
);
const GROUNDS = ["paper", "card"];
/** Written words, of prose and of code. */
const WORDS = ["ink", "soft", "accent-ink", "bad", "good", "k", "s", "c", "n", "f", "v", "o", "t"];
/** Lines and shapes that carry a meaning. */
const SHAPES = ["ink", "soft", "accent-ink", "focus"];

/** Both values of each token, light and dark. */
const tokens = Object.fromEntries(
  [...css.split("[data-theme")[0].matchAll(/--([\w-]+): (?:light-dark\((#\w+), (#\w+)\)|(#\w+));/g)].map(
    ([, name, light, dark, both]) => [name, [light ?? both, dark ?? both]],
  ),
);
/** The dark screens inside light pages have grounds of their own. */
const screen = Object.fromEntries(
  [...css.matchAll(/color-scheme: dark;\s+(--paper: (#\w+);\s+--card: (#\w+);)/g)].flatMap(([, , paper, card]) => [
    ["paper", paper],
    ["card", card],
  ]),
);

function luminance(color) {
  const [r, g, b] = [1, 3, 5]
    .map(at => parseInt(color.slice(at, at + 2), 16) / 255)
    .map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(one, other) {
  const [high, low] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

/** The sources of the published style sheets: `site.css` is all of `css/`. */
const SHEETS = Object.fromEntries(
  readdirSync(styles)
    .filter(name => name.endsWith(".css"))
    .map(name => [name, [name]]),
);
SHEETS["site.css"] = readdirSync(join(styles, "css"))
  .sort()
  .map(name => `css/${name}`);

export default function ({ browser, folder, url }) {
  test("the published style sheets have the rules of their sources", () =>
    visiting(browser, url, {}, async page => {
      const rules = text =>
        page.evaluate(text => {
          const sheet = new CSSStyleSheet();
          sheet.replaceSync(text);
          return [...sheet.cssRules].map(rule => rule.cssText.replace(/\s+/g, " "));
        }, text);
      for (const [name, sources] of Object.entries(SHEETS)) {
        const [file] = readdirSync(join(folder, "static")).filter(file => file.startsWith(name.replace("css", "")));
        const published = await rules(readFileSync(join(folder, "static", file), "utf8"));
        assert.ok(published.length > 0);
        const source = sources.map(path => readFileSync(join(styles, path), "utf8")).join("\n");
        assert.deepEqual(published, await rules(source), name);
      }
    }));

  test("every color of words stands out from its ground by 4.5 to 1, every line with a meaning by 3 to 1", () => {
    assert.ok(tokens.paper && screen.card, "the tokens are where they were");
    const faint = [];
    const ask = (name, fore, where, ground, least) => {
      const found = contrast(fore, ground);
      if (found < least) faint.push(`${name} on ${where}: ${found.toFixed(2)} of ${least}`);
    };
    for (const ground of GROUNDS) {
      const dressed = [
        ["light", tokens[ground][0], 0],
        ["dark", tokens[ground][1], 1],
        ["screen", screen[ground], 1],
      ];
      for (const [dress, color, at] of dressed) {
        for (const name of WORDS) ask(name, tokens[name][at], `${ground} in ${dress}`, color, 4.5);
        for (const name of SHAPES) ask(name, tokens[name][at], `${ground} in ${dress}`, color, 3);
      }
    }
    ask("on-accent", tokens["on-accent"][0], "accent", tokens.accent[0], 4.5);
    assert.deepEqual(faint, []);
  });

  // ---- colors that the reader forces ---------------------------------------------
  // Each picture with shapes that have to stand out from the ground and from each other.
  const PICTURES = {
    "will-it-run/": [".bar .seg-weights", ".bar .seg-kv"],
    "models/llama-3.1-8b-instruct/": [".curve"],
    "index.html": [".seg-weights", ".seg-kv"],
    "compare/": [".share rect"],
  };
  for (const colorScheme of ["light", "dark"]) {
    test(`with forced colors, ${colorScheme}: pictures stand out in the reader's colors, and so do the mark and the focus`, async () => {
      for (const [path, shapes] of Object.entries(PICTURES)) {
        await visiting(browser, url + path, { forcedColors: "active", colorScheme }, async page => {
          await page.locator(shapes[0]).first().waitFor({ state: "attached" });
          const { ground, drawn } = await page.evaluate(shapes => {
            const color = shape => {
              const { fill, stroke } = getComputedStyle(document.querySelector(shape));
              return fill === "none" ? stroke : fill;
            };
            const probe = document.body.appendChild(document.createElement("i"));
            probe.style.color = "Canvas";
            return { ground: getComputedStyle(probe).color, drawn: [...shapes, ".brand .mark-line"].map(color) };
          }, shapes);
          const apart = drawn.slice(0, shapes.length);
          assert.ok(!drawn.includes(ground), `${path}: ${drawn} on ${ground}`);
          assert.equal(new Set(apart).size, apart.length, `${path}: ${apart}`);
          await page.keyboard.press("Tab");
          await page.keyboard.press("Tab");
          const outline = await page.evaluate(() => {
            const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(document.activeElement);
            return { seen: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2, color: outlineColor };
          });
          assert.ok(outline.seen && outline.color !== ground, `${path}: ${JSON.stringify(outline)} on ${ground}`);
        });
      }
    });
  }
}
