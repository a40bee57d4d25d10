// Every sample of every page, in the script as in the program: one page reads them all.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { program, readJson, visiting } from "../harness.mjs";

/** Written by `cargo test every_sample`. */
const ANSWERS = join(dirname(program), "../tmp/answers.json");

export default function ({ browser, url }) {
  test(
    "every sample is answered as by the program",
    { skip: !existsSync(ANSWERS) && "cargo test has left no answers" },
    t =>
      visiting(browser, `${url}diagnose/`, {}, async (page, { trouble }) => {
        const answers = readJson(ANSWERS);
        const told = await page.evaluate(
          async texts => {
            const box = document.getElementById("paste-text");
            const out = document.getElementById("paste-out");
            box.focus();
            while (!(kbgen.tables && kbgen.match && kbgen.search)) await new Promise(done => setTimeout(done, 20));
            let matches;
            const { match } = kbgen;
            // The first call is for the text, later ones are for messages in it.
            kbgen.match = Object.assign(function* (...input) {
              const found = yield* match(...input);
              // The page adds to what is found.
              matches ??= JSON.parse(JSON.stringify(found));
              return found;
            }, match);
            let isAnswered;
            new MutationObserver(() => out.querySelector(".said") && isAnswered()).observe(out, {
              childList: true,
              subtree: true,
            });
            const said = [];
            for (const text of texts) {
              matches = null;
              out.replaceChildren();
              box.value = text;
              const answer = new Promise(done => {
                isAnswered = done;
              });
              document.getElementById("paste-go").click();
              await answer;
              const conclusions = [...out.querySelectorAll(".found > li")].map(
                each => each.querySelector(".why")?.textContent ?? null,
              );
              said.push({ matches, conclusions });
            }
            return said;
          },
          answers.map(each => each.text),
        );
        for (const [at, { text, matches, conclusions }] of answers.entries()) {
          assert.deepEqual(told[at].matches, matches, `cargo test writes the answers anew\n${text}`);
          assert.deepEqual(told[at].conclusions, conclusions.slice(0, 5), text);
        }
        t.diagnostic(`${answers.length} samples`);
        assert.deepEqual(trouble, []);
      }),
  );
}
