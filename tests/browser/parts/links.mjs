// Every link and file that any page names: relative, and there.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { htmlFiles } from "../harness.mjs";

const plain = text =>
  text
    .replace(/&#x([0-9a-f]+);/gi, (_, hex) => String.fromCodePoint(parseInt(hex, 16)))
    .replace(/&amp;/g, "&")
    .replace(/&quot;/g, '"');
const values = (html, name) =>
  [...html.matchAll(new RegExp(`<(\\w+)[^>]*?\\s${name}="([^"]*)"`, "g"))].map(([, tag, value]) => [tag, plain(value)]);

export default function ({ folder }) {
  const pages = new Map(htmlFiles(folder).map(path => [path, readFileSync(join(folder, path), "utf8")]));
  const ids = new Map([...pages].map(([path, html]) => [path, values(html, "id").map(([, id]) => id)]));

  test("every link of every page leads to a file, and every fragment to a place in it", () => {
    const broken = [];
    for (const [path, html] of pages) {
      for (const [tag, target] of [...values(html, "href"), ...values(html, "src")]) {
        if (/^[a-z]+:/.test(target)) continue;
        if (target.startsWith("/") && path !== "404.html") {
          broken.push(`${path}: ${target} holds at the root only`);
          continue;
        }
        const address = new URL(target, `file:///${path}`);
        const file = decodeURIComponent(address.pathname).slice(1);
        if (!existsSync(join(folder, file)) || file.endsWith("/") || file === "") {
          broken.push(`${path}: ${tag} to ${target}`);
          continue;
        }
        const fragment = decodeURIComponent(address.hash.slice(1));
        // The calculator's fragment is its state.
        if (fragment && !/^[\w.-]+=/.test(fragment) && ids.has(file) && !ids.get(file).includes(fragment)) {
          broken.push(`${path}: no such place, ${target}`);
        }
      }
    }
    assert.deepEqual(broken, []);
  });

  test("no page names an id twice, and none carries a script or a style of its own", () => {
    const wrong = [];
    for (const [path, html] of pages) {
      const named = ids.get(path);
      if (new Set(named).size < named.length) {
        wrong.push(`${path}: ${named.filter((id, i) => named.indexOf(id) < i)} twice`);
      }
      if (/<style|<[^>]+\sstyle="|<[^>]+\son[a-z]+="|<script(?![^>]*(\ssrc=|application\/(ld\+)?json))/.test(html)) {
        wrong.push(`${path}: inline`);
      }
    }
    assert.deepEqual(wrong, []);
  });
}
