// What the tests of the site share: the site built once, two ways to serve it, and one browser. KBGEN names the
// program, KBGEN_SITE the folder with site.toml, KBGEN_BUILT a folder with `public` and `kb.html` built from it (else
// each test file builds its own), CHROMIUM the browser.
import { execFile, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompressSync } from "node:zlib";
import { chromium } from "playwright-core";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** The longest that a test waits for anything: for a busy machine, not for the site. */
const PATIENCE = 90_000;
const repository = fileURLToPath(new URL("../../", import.meta.url));
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const program = process.env.KBGEN ? resolve(process.env.KBGEN) : join(repository, "target/debug/kbgen");
export const siteRoot = resolve(process.env.KBGEN_SITE ?? repository);
export const scratch = mkdtempSync(join(tmpdir(), "kbgen-browser-"));
const closing = [() => rmSync(scratch, { recursive: true, force: true })];

/** Ends everything that was started, the last first. */
export async function close() {
  for (const end of closing.reverse()) await end();
}

export async function kbgen(...args) {
  return (await promisify(execFile)(program, args, { maxBuffer: 1 << 26 })).stdout;
}

/** Answers a batch of questions: rows of `column: value`, all with the same columns; `bytes` null where not covered. */
export async function estimate(rows) {
  const columns = Object.keys(rows[0]);
  const asked = join(scratch, `questions-${Math.random()}.csv`);
  writeFileSync(
    asked,
    [columns.join(","), ...rows.map(row => columns.map(column => row[column]).join(","))].join("\n"),
  );
  const lines = (await kbgen("--root", siteRoot, "estimate", asked)).trim().split("\n").slice(1);
  return lines.map(line => {
    const [, bytes, status] = /,(\d*),"?(ok|not covered.*?)"?$/.exec(line);
    return { bytes: bytes === "" ? null : Number(bytes), status };
  });
}

const built = process.env.KBGEN_BUILT ? resolve(process.env.KBGEN_BUILT) : scratch;

/** The site as one file, once it is built. */
export const bundleFile = join(built, "kb.html");

/** The built site. */
export async function build() {
  const folder = join(built, "public");
  if (built === scratch) await kbgen("--root", siteRoot, "build", "--output-dir", folder, "--bundle", bundleFile);
  return folder;
}

/** The texts of all pages below `content/`, of the folders that are wanted. */
export const writtenPages = (isWanted = () => true) =>
  readdirSync(join(siteRoot, "content"), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith(".md") && isWanted(entry.parentPath))
    .map(entry => readFileSync(join(entry.parentPath, entry.name), "utf8"));

/**
 * A copy of the site to build in another way, without what only costs time: models that no other page names,
 * alternates and pictures. `change` changes its settings.
 */
export function copySite(root, change = settings => settings) {
  const from = join(siteRoot, "content");
  const models = join(from, "models");
  const pages = writtenPages(folder => !folder.startsWith(models)).join("");
  const isNeeded = path =>
    !path.startsWith(models) || statSync(path).isDirectory() || pages.includes(basename(path, ".md"));
  cpSync(from, join(root, "content"), { recursive: true, filter: isNeeded });
  const settings = change(readFileSync(join(siteRoot, "site.toml"), "utf8"));
  writeFileSync(join(root, "site.toml"), `alternates = []\nsocial_images = false\n${settings}`);
}

/** The site in another language, built in a folder of its own; `lines` is what stands in its `i18n/`. */
export async function buildIn(language, lines) {
  const root = mkdtempSync(join(scratch, "language-"));
  copySite(root, settings => settings.replace(/^language = .*$/m, `language = "${language}"`));
  if (lines) {
    mkdirSync(join(root, "i18n"));
    writeFileSync(join(root, `i18n/${language}.toml`), lines);
  }
  const folder = join(root, "public");
  await kbgen("--root", root, "build", "--output-dir", folder);
  return folder;
}

export async function start() {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell",
    args: FLAGS,
    headless: true,
    timeout: PATIENCE,
  });
  closing.push(() => browser.close());
  return browser;
}

// ---- serving -----------------------------------------------------------------

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".xml": "application/xml",
  ".txt": "text/plain; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
};

/** The rules of the published `_headers` file: [prefix, name, value]. */
function headerRules(folder) {
  let prefix = "/";
  return readFileSync(join(folder, "_headers"), "utf8")
    .split("\n")
    .flatMap(line => {
      const [, name, value] = /^\s+([\w-]+):\s*(.*)$/.exec(line) ?? [];
      if (name) return [[prefix, name, value]];
      if (line.trim()) prefix = line.trim().replace(/\*$/, "");
      return [];
    });
}

/** Compressed files by path: as small as a host sends them takes long, so each is made once. */
const compressed = new Map();
function compress(file) {
  const key = `${file} ${statSync(file).mtimeMs}`;
  if (!compressed.has(key)) compressed.set(key, brotliCompressSync(readFileSync(file)));
  return compressed.get(key);
}

/** Serves a folder as a plain host does, compressed, below `base`; `sent` counts the bodies as they left. */
export async function serve(folder, base = "/") {
  const sent = [];
  const rules = headerRules(folder);
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://host").pathname);
    const inside = path.startsWith(base) ? `/${path.slice(base.length)}` : null;
    let file = inside && join(folder, inside);
    if (file && existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
    const found = file && existsSync(file);
    if (!found) file = join(folder, "404.html");
    const body = compress(file);
    for (const [prefix, name, value] of rules) if (inside?.startsWith(prefix)) response.setHeader(name, value);
    sent.push({ path, bytes: body.length });
    response.writeHead(found ? 200 : 404, {
      "content-type": TYPES[extname(file)] ?? "application/octet-stream",
      "content-encoding": "br",
    });
    response.end(body);
  });
  await new Promise(done => server.listen(0, "127.0.0.1", done));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}${base}`, sent };
}

/** Starts `kbgen serve` on a folder; its address is the one line that it prints. */
export async function liveServer(root) {
  const child = spawn(program, ["--root", root, "serve", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  closing.push(() => child.kill());
  const url = await new Promise((done, failed) => {
    let printed = "";
    child.stdout.on("data", piece => {
      printed += piece;
      if (printed.includes("\n")) done(printed.trim());
    });
    child.on("exit", code => failed(new Error(`kbgen serve ended with ${code}`)));
  });
  return url;
}

// ---- pages -------------------------------------------------------------------

export const PHONE = { viewport: { width: 412, height: 823 }, deviceScaleFactor: 1.75, isMobile: true, hasTouch: true };

/** A fresh visitor: a context with a page, and `trouble`, all that went wrong on it so far. */
export async function visit(browser, url, { prepare, ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    colorScheme: "light",
    serviceWorkers: "block",
    ...options,
  });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const own = new URL(url);
  const requests = [];
  const trouble = [];
  const ours = address =>
    (own.protocol === "file:" ? address.startsWith("file:") : address.startsWith(own.origin + "/")) ||
    address.startsWith("data:");
  page.on("console", message => {
    if (message.type() === "error") trouble.push(`console: ${message.text()}`);
  });
  page.on("pageerror", error => trouble.push(`exception: ${error}`));
  // What was under way when the page was left is given up.
  page.on("requestfailed", request => {
    if (request.failure()?.errorText !== "net::ERR_ABORTED") trouble.push(`failed: ${request.url()}`);
  });
  page.on("response", response => {
    if (response.status() >= 400) trouble.push(`${response.status()}: ${response.url()}`);
  });
  page.on("request", request => {
    requests.push({ url: request.url(), method: request.method(), body: request.postData() });
    if (!ours(request.url())) trouble.push(`another host: ${request.url()}`);
  });
  await prepare?.(page, context);
  await page.goto(url, { waitUntil: "load" });
  return { page, context, requests, trouble };
}

/** Runs `use` on a fresh visitor and closes it, whatever happens. */
export async function visiting(browser, url, options, use) {
  const visitor = await visit(browser, url, options);
  try {
    return await use(visitor.page, visitor);
  } finally {
    await visitor.context.close();
  }
}

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Holds the requests of a page for these files until the returned function is called. */
export async function hold(page, files) {
  let release;
  const held = new Promise(done => {
    release = done;
  });
  await page.route(files, async route => {
    await held;
    await route.continue();
  });
  return release;
}

/** What axe-core objects to, one line for each rule; with `only`, of these rules alone. */
export async function axe(page, only) {
  await page.evaluate(axeSource);
  return page.evaluate(
    async ([tags, only]) => {
      const options = only
        ? { runOnly: { type: "rule", values: only } }
        : { runOnly: tags, rules: { "target-size": { enabled: true } } };
      const { violations } = await window.axe.run(document, options);
      return violations.map(({ id, nodes }) => `${id}: ${nodes.length} of ${nodes[0].target.join(" ")}`);
    },
    [TAGS, only ?? null],
  );
}

/** By how many pixels the page is wider than its window. */
export const sideways = page =>
  page.evaluate(() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth);

// ---- the site as data ----------------------------------------------------------

export const readJson = path => JSON.parse(readFileSync(path, "utf8"));

/** The title of a cause of an error page, as a pattern. */
export function causeTitle(folder, slug, id) {
  const { title } = readJson(join(folder, `errors/${slug}.json`)).causes.find(cause => cause.id === id);
  return title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Every HTML file of a folder, by its path inside it. */
export function htmlFiles(folder) {
  const below = inside =>
    readdirSync(join(folder, inside), { withFileTypes: true }).flatMap(entry => {
      const path = inside + entry.name;
      return entry.isDirectory() ? below(`${path}/`) : path.endsWith(".html") ? [path] : [];
    });
  return below("");
}

/** A root of its own that holds one model and what every model is judged by: asked in a moment. */
export function rootWithModel(slug) {
  const models = join(siteRoot, "content/models");
  const root = mkdtempSync(join(scratch, "model-"));
  cpSync(join(siteRoot, "site.toml"), join(root, "site.toml"));
  for (const folder of ["hardware", "quants"]) {
    cpSync(join(siteRoot, "content", folder), join(root, "content", folder), { recursive: true });
  }
  cpSync(models, join(root, "content/models"), {
    recursive: true,
    filter: path => statSync(path).isDirectory() || path.endsWith(`/${slug}.md`),
  });
  return root;
}
