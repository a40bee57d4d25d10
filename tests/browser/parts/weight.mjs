// What a first visit costs, compressed as a host sends it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { serve, visiting } from "../harness.mjs";

const BUDGETS = { "": [20, 6], "errors/cuda-oom-loading-model/": [20, 6], "will-it-run/": [60, 13], "compare/": [33, 11], "choose-gpu/": [33, 12], "cost-vs-cloud/": [28, 10] };

export default function ({ folder, browser }) {
  for (const [path, [kib, requests]] of Object.entries(BUDGETS)) {
    test(`/${path} is at most ${kib} KiB in ${requests} requests`, async t => {
      const { url, sent } = await serve(folder);
      await visiting(browser, url + path, {}, page => page.waitForLoadState("networkidle"));
      const bytes = sent.reduce((sum, each) => sum + each.bytes, 0);
      t.diagnostic(`${(bytes / 1024).toFixed(1)} KiB in ${sent.length} requests`);
      assert.ok(bytes <= kib * 1024 && sent.length <= requests, JSON.stringify(sent, null, 1));
    });
  }
}
