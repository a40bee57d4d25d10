// The problem matcher of docs/editors.md against the output of `kbgen check`.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const program = resolve(process.env.KBGEN ?? join(repository, "target/debug/kbgen"));

test("VS Code lists the findings of kbgen check", t => {
  const root = mkdtempSync(join(tmpdir(), "kbgen-editors-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  spawnSync(program, ["init", root]);
  const kbgen = (...args) => spawnSync(program, ["--root", root, ...args], { encoding: "utf8" }).stdout;
  writeFileSync(join(root, "content/pages/bad.md"), "---\ntitel: Bad\n---\n[one](gone.md)\n");
  const page = readFileSync(join(repository, "docs/editors.md"), "utf8");
  const { problemMatcher } = JSON.parse(page.match(/```json\n([^]*?)```/)[1]).tasks[0];
  const [first, second] = problemMatcher.pattern;
  const lines = kbgen("check", "--no-cache").split("\n");
  const found = lines.flatMap((line, at) => {
    const heading = line.match(first.regexp);
    const place = heading && lines[at + 1].match(second.regexp);
    return place ? [`${place[second.file]}:${place[second.line]} ${heading[first.code]}`] : [];
  });
  const reported = JSON.parse(kbgen("check", "--no-cache", "--format", "json"));
  assert.ok(reported.length >= 2);
  assert.deepEqual(
    found,
    reported.map(finding => `${finding.file}:${finding.line} ${finding.code}`),
  );
});
