// An author's page beside the editor: it follows every save.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { kbgen, liveServer, scratch, visiting } from "../harness.mjs";

export default function ({ browser }) {
  test("an open page follows its source, and a broken one says what is wrong without going away", async () => {
    const root = join(scratch, "small");
    await kbgen("init", root);
    const source = join(root, "content/errors/out-of-memory/buffer-does-not-fit.md");
    const whole = readFileSync(source, "utf8");
    const save = title => writeFileSync(source, title ? whole.replace(/^title: .*/m, title) : whole);
    const url = await liveServer(root);
    await visiting(browser, `${url}errors/buffer-does-not-fit/`, {}, async (page, { trouble }) => {
      const heading = page.locator("h1");
      const overlay = page.locator("dialog.kbgen-overlay");
      const title = await heading.innerText();

      save("title: A title of today");
      await page.locator("h1", { hasText: "A title of today" }).waitFor();

      save("titel: A title of today");
      await overlay.waitFor();
      assert.match(await overlay.innerText(), /buffer-does-not-fit\.md:\d+[\s\S]*titel/);
      assert.equal(await heading.innerText(), "A title of today");

      save(null);
      await page.locator("h1", { hasText: title }).waitFor();
      await overlay.waitFor({ state: "detached" });
      assert.deepEqual(trouble, []);
    });
  });
}
