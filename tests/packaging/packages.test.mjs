// The wheel and the npm packages, built from the program of the other tests, installed offline from files into an empty
// environment, and run from another folder. KBGEN names the program, PYTHON the interpreter.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const program = resolve(process.env.KBGEN ?? join(repository, "target/debug/kbgen"));
const python = process.env.PYTHON ?? "python3";
const target = `${process.arch === "arm64" ? "aarch64" : "x86_64"}-unknown-linux-gnu`;
const scratch = mkdtempSync(join(tmpdir(), "kbgen-packages-"));
const dist = join(scratch, "dist");
// Another folder, without a site.
const elsewhere = join(scratch, "elsewhere");
const version = /^version = "(.+)"$/m.exec(readFileSync(join(repository, "Cargo.toml"), "utf8"))[1];

/** Compares the hashes in RECORD with the files of a wheel; pip does not. */
const VERIFY_RECORD = `
import base64, csv, hashlib, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
[record] = [name for name in wheel.namelist() if name.endswith(".dist-info/RECORD")]
hashes = {name: digest for name, digest, _ in csv.reader(wheel.read(record).decode().splitlines())}
assert hashes.pop(record) == "" and {*hashes, record} == {*wheel.namelist()}
for name, digest in hashes.items():
    actual = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).decode().rstrip("=")
    assert digest == f"sha256={actual}", name
`;

function run(command, args, options = {}) {
  return execFileSync(command, args, {
    encoding: "utf8",
    cwd: elsewhere,
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
  });
}

/** Runs a script of `packaging/` and returns the path that it prints. */
function build(script, ...args) {
  const options = ["--out", dist, "--level", "1"];
  return run(python, ["-B", join(repository, "packaging", script), ...args, ...options]).trim();
}

before(() => mkdirSync(elsewhere));
after(() => rmSync(scratch, { recursive: true, force: true }));

test("the wheel installs offline, answers a log and starts a site", async () => {
  const wheel = build("wheel.py", program, "--target", target);
  const environment = join(scratch, "venv");
  run(python, ["-m", "venv", environment]);
  run(python, ["-c", VERIFY_RECORD, wheel]);
  run(join(environment, "bin/pip"), ["install", "--no-index", "--disable-pip-version-check", wheel]);
  const kbgen = join(environment, "bin/kbgen");
  assert.equal(run(kbgen, ["--version"]), `kbgen ${version}\n`);
  // No site and no network: the program contains its knowledge base.
  const log = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.";
  const env = { ...process.env, KBGEN_CACHE_DIR: join(scratch, "cache") };
  assert.match(run(kbgen, ["diagnose"], { input: log, stdio: "pipe", env }), /kbgen explain \S*cuda\S*/);
  run(kbgen, ["init", "--pack", "none", "notes"], { env });
  run(kbgen, ["--root", "notes", "build"], { env });
  assert.match(readFileSync(join(elsewhere, "notes/public/errors/connection-refused/index.html"), "utf8"), /<h1/);
  const server = spawn(kbgen, ["--root", "notes", "serve", "--port", "0"], { cwd: elsewhere, env });
  try {
    const [address] = await once(server.stdout.setEncoding("utf8"), "data");
    const page = await (await fetch(address.trim())).text();
    assert.match(page, /<title>My error pages<\/title>/);
  } finally {
    server.kill();
  }
});

test("the npm packages install offline and run", () => {
  const files = [build("npm.py"), build("npm.py", program, "--target", target)];
  const prefix = join(scratch, "npm");
  const flags = ["--offline", "--no-audit", "--no-fund", "--global", "--prefix", prefix];
  run("npm", ["install", ...flags, "--cache", join(scratch, "npm-cache"), ...files]);
  assert.equal(run(join(prefix, "bin/kbgen"), ["--version"]), `kbgen ${version}\n`);
  const failed = spawnSync(join(prefix, "bin/kbgen"), ["check"], { cwd: elsewhere, encoding: "utf8" });
  assert.equal(failed.status, 2, "the exit code is that of the program");
  assert.match(failed.stderr, /no `site.toml`/);
});

test("without a platform package the npm launcher says which one is missing", () => {
  const launcher = join(repository, "packaging/launcher.mjs");
  const failed = spawnSync(process.execPath, [launcher, "--version"], { encoding: "utf8" });
  assert.equal(failed.status, 2);
  assert.match(failed.stderr, new RegExp(`kbgen-${process.platform}-${process.arch}`));
});

test("every target of the release has a wheel and an npm package of its platform", () => {
  const workflow = readFileSync(join(repository, ".github/workflows/release.yml"), "utf8");
  const targets = [...workflow.matchAll(/target: ([a-z0-9_-]+)/g)].map(([, name]) => name);
  assert.ok(targets.length >= 5);
  const binary = join(scratch, "program");
  writeFileSync(binary, "#!/bin/sh\n");
  chmodSync(binary, 0o755);
  for (const name of targets) {
    const wheel = build("wheel.py", binary, "--target", name);
    assert.match(wheel, /-py3-none-(manylinux_2_17|macosx_1|win_amd64)/, "PyPI accepts the tag");
    const [, system, cpu] = /kbgen-(\w+)-(\w+)-[\d.]+\.tgz$/.exec(build("npm.py", binary, "--target", name));
    const manifest = run("tar", ["-xzOf", join(dist, `kbgen-${system}-${cpu}-${version}.tgz`), "package/package.json"]);
    assert.deepEqual([JSON.parse(manifest).os, JSON.parse(manifest).cpu], [[system], [cpu]]);
  }
});
