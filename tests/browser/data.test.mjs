// What the site holds for machines, held against real validators: JSON Schemas by Ajv, XML by libxml2's xmllint.
// JSON-LD is held against an excerpt of schema.org. No browser is started.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import Ajv2020 from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { build, close, htmlFiles, kbgen, readJson, scratch } from "./harness.mjs";

after(close);

const tests = new URL("../", import.meta.url);
const rules = name => fileURLToPath(new URL(`data/xml/${name}.rng`, tests));
const vocabulary = readJson(new URL("data/schema-org.json", tests));

/** This site, a new one, and one with a page of each kind: their output folders by name. */
const sites = { "this site": await build() };
await kbgen("init", join(scratch, "new"));
for (const [name, root] of [
  ["a new site", join(scratch, "new")],
  ["the small site", new URL("golden/site", tests).pathname],
]) {
  sites[name] = join(scratch, `${name} built`);
  await kbgen("--root", root, "build", "--no-cache", "--date", "2026-11-20", "--output-dir", sites[name]);
}

/** Files of a folder with an ending, by their paths in it. */
const files = (folder, ending) =>
  readdirSync(folder, { recursive: true })
    .filter(path => path.endsWith(ending))
    .sort();
const text = (folder, path) => readFileSync(join(folder, path), "utf8");

for (const [name, folder] of Object.entries(sites)) {
  const base = readJson(join(folder, "kb.json")).generated_for;

  // ---- JSON -------------------------------------------------------------------

  const ajv = new Ajv2020({ strict: true, allErrors: true });
  formats(ajv);
  for (const path of files(folder, ".json").filter(path => path.startsWith("schema/"))) {
    ajv.addSchema(readJson(join(folder, path)));
  }
  const schemaOf = (path, data) => new URL(data.$schema, base + path).href;

  test(`${name}: every schema is one, bears its address, and allows no unknown key`, () => {
    for (const path of files(folder, ".json").filter(path => path.startsWith("schema/"))) {
      const schema = readJson(join(folder, path));
      assert.equal(schema.$id, base + path);
      assert.ok(ajv.getSchema(schema.$id), path);
      const closed = part => {
        if (part?.type === "object") {
          assert.ok("additionalProperties" in part, `${path}: ${JSON.stringify(part).slice(0, 200)}`);
        }
        if (part && typeof part === "object") Object.values(part).forEach(closed);
      };
      closed(schema);
    }
  });

  test(`${name}: every data file names its schema and is as it says`, t => {
    const paths = files(folder, ".json").filter(path => !path.startsWith("schema/"));
    for (const path of paths) {
      const data = readJson(join(folder, path));
      const validate = ajv.getSchema(schemaOf(path, data));
      assert.ok(validate, `${path} names ${data.$schema}, which is no schema of this site`);
      assert.ok(validate(data), `${path}: ${ajv.errorsText(validate.errors?.slice(0, 5))}`);
    }
    t.diagnostic(`${paths.length} files`);
    for (const kind of ["errors", "models", "hardware"]) {
      for (const { slug } of readJson(join(folder, "kb.json"))[kind]) {
        assert.ok(paths.includes(`${kind}/${slug}.json`), slug);
      }
    }
  });

  test(`${name}: a key too many and a key too few are both found`, () => {
    for (const path of ["kb.json", "data/models.json", "data/hardware.json"]) {
      const data = readJson(join(folder, path));
      const validate = ajv.getSchema(schemaOf(path, data));
      assert.ok(!validate({ ...data, surprise: 1 }), path);
      const list = Object.values(data).find(Array.isArray);
      if (!list.length) continue;
      delete list[0].title;
      assert.ok(!validate(data), path);
    }
  });

  test(`${name}: ids are given once in a kind, and old addresses lead to pages`, () => {
    const kb = readJson(join(folder, "kb.json"));
    for (const kind of ["errors", "models", "hardware", "tools", "guides"]) {
      const ids = kb[kind].map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length, kind);
      for (const { url, aliases } of kb[kind]) {
        for (const address of [url, ...aliases]) {
          assert.ok(existsSync(join(folder, address, "index.html")), `${kind}: ${address}`);
        }
      }
    }
  });

  // ---- XML --------------------------------------------------------------------

  /** Faults of XML files by the rules in tests/data/xml. */
  function xmlFaults(paths, schema) {
    const { status, stderr, error } = spawnSync("xmllint", ["--nonet", "--noout", "--relaxng", schema, ...paths], {
      cwd: folder,
      encoding: "utf8",
      maxBuffer: 1 << 26,
    });
    if (error) throw error;
    return status === 0 ? [] : stderr.split("\n").filter(line => line && !line.endsWith(" validates"));
  }
  const all = (xml, pattern) => [...xml.matchAll(pattern)].map(([, found]) => found.replaceAll("&amp;", "&"));
  const file = address => {
    assert.ok(address.startsWith(base), address);
    const [path] = address.slice(base.length).split("#");
    return join(folder, path === "" || path.endsWith("/") ? `${path}index.html` : path);
  };

  test(`${name}: feeds are Atom, of everything and of each category`, () => {
    const feeds = files(folder, "feed.xml");
    const categories = existsSync(join(folder, "categories")) ? readdirSync(join(folder, "categories")) : [];
    assert.deepEqual(feeds, [...categories.map(category => `categories/${category}/feed.xml`), "feed.xml"].sort());
    assert.deepEqual(xmlFaults(feeds, rules("atom")), []);
    for (const path of feeds) {
      const xml = text(folder, path);
      assert.equal(all(xml, /rel="self"[^>]*href="([^"]+)"/g)[0], base + path);
      assert.equal(all(xml, /^ <link ([^>]*)>/gm).length, 2, "itself, and the page it goes with");
      const ids = all(xml, /<id>([^<]+)<\/id>/g);
      assert.equal(new Set(ids).size, ids.length, `${path}: an id twice`);
      const [updated, ...days] = all(xml, /<updated>([^<]+)<\/updated>/g);
      assert.ok(
        days.every(day => day <= updated),
        `${path}: an entry is younger than the feed`,
      );
      for (const address of all(xml, /<link href="([^"]+)"/g)) assert.ok(existsSync(file(address)), address);
    }
  });

  test(`${name}: what breaks a rule of XML files is found`, () => {
    const spoiled = [
      ["feed.xml", "atom", xml => xml.replace(/<updated>[^<]*<\/updated>/, "")],
      ["feed.xml", "atom", xml => xml.replaceAll("T00:00:00Z", "")],
      ["feed.xml", "atom", xml => xml.replace("</feed>", "<summary>A feed has none</summary></feed>")],
      ["sitemap.xml", "sitemap", xml => xml.replace(`<loc>${base}`, "<loc>")],
      ["opensearch.xml", "opensearch", xml => xml.replace(/<ShortName>/, "<ShortName>Far too long for it: ")],
      ["opensearch.xml", "opensearch", xml => xml.replace("</OpenSearchDescription>", "")],
    ];
    const file = join(scratch, "spoiled.xml");
    for (const [path, schema, change] of spoiled) {
      writeFileSync(file, change(text(folder, path)));
      assert.notDeepEqual(xmlFaults([file], rules(schema)), [], `${change}`);
    }
  });

  test(`${name}: a page that changed after it was verified is in the feeds on that day, with what changed`, () => {
    const changed = readJson(join(folder, "kb.json")).errors.filter(
      ({ changes, verified }) => changes.length && changes[0].date >= verified,
    );
    for (const {
      slug,
      category,
      changes: [{ date, what }],
    } of changed) {
      const [entry] = all(
        text(folder, `categories/${category}/feed.xml`),
        new RegExp(`<id>${base}errors/${slug}/</id>([^]*?)</entry>`, "g"),
      );
      assert.match(entry, new RegExp(`<updated>${date}T00:00:00Z</updated>`));
      const plain = entry
        .replace(/&gt;/g, ">")
        .replace(/&lt;/g, "<")
        .replace(/&quot;/g, '"')
        .replace(/&apos;/g, "'")
        .replace(/&amp;/g, "&");
      assert.ok(plain.includes(`Changed: ${what.replace(/\.+$/, "")}. `), entry);
      assert.ok(text(folder, "changes/index.html").includes(`errors/${slug}/index.html`), slug);
    }
  });

  test(`${name}: pages name the feeds they belong to`, () => {
    const named = path =>
      all(text(folder, path), /type="application\/atom\+xml"[^>]*href="([^"]+)"/g).map(href =>
        relative(folder, join(folder, path, "..", href)),
      );
    assert.deepEqual(named("index.html"), ["feed.xml"]);
    for (const { slug, category } of readJson(join(folder, "kb.json")).errors) {
      for (const path of [`errors/${slug}/index.html`, `categories/${category}/index.html`]) {
        assert.deepEqual(named(path), ["feed.xml", `categories/${category}/feed.xml`], path);
      }
    }
  });

  test(`${name}: the sitemap is one, and each address in it is a page`, () => {
    assert.deepEqual(xmlFaults(["sitemap.xml"], rules("sitemap")), []);
    const addresses = all(text(folder, "sitemap.xml"), /<loc>([^<]+)<\/loc>/g);
    assert.ok(addresses.length <= 50_000 && new Set(addresses).size === addresses.length);
    for (const address of addresses) assert.ok(existsSync(file(address)), address);
  });

  test(`${name}: the OpenSearch description is one, and every page names it`, () => {
    assert.deepEqual(xmlFaults(["opensearch.xml"], rules("opensearch")), []);
    const [results, self] = all(text(folder, "opensearch.xml"), /template="([^"]+)"/g);
    assert.deepEqual([results, self], [`${base}search/?q={searchTerms}`, `${base}opensearch.xml`]);
    assert.ok(existsSync(file(results.split("?")[0])), results);
    const [icon] = all(text(folder, "opensearch.xml"), /<Image[^>]*>([^<]+)/g);
    assert.ok(existsSync(file(icon)), icon);
    for (const path of htmlFiles(folder).filter(path => !/http-equiv="refresh"/.test(text(folder, path)))) {
      assert.match(
        text(folder, path),
        /<link rel="search" type="application\/opensearchdescription\+xml" title="[^"]+" href="[^"]*opensearch\.xml">/,
        path,
      );
    }
  });

  test(`${name}: badges are small pictures with a title, and say what the figures say`, t => {
    const { models } = readJson(join(folder, "data/models.json"));
    const badges = files(folder, ".svg").filter(path => path.startsWith("badges/"));
    assert.deepEqual(
      badges,
      models
        .filter(({ runs_on }) => runs_on)
        .map(({ slug }) => `badges/${slug}.svg`)
        .sort(),
    );
    if (badges.length) assert.deepEqual(xmlFaults(badges, rules("badge")), []);
    // Desk and server cards with CUDA, as the pages of the models list them; of a size the card counts of which
    // programs see the least.
    const cuda = readJson(join(folder, "data/hardware.json")).hardware.filter(
      card => card.vendor === "NVIDIA" && card.class === "gpu",
    );
    const sizes = cuda
      .filter(card => card.released >= "2018" && !/Mobile/.test(card.generation ?? ""))
      .map(card => card.memory_bytes);
    const room = size => Math.min(...cuda.filter(card => card.memory_bytes === size).map(card => card.visible_bytes));
    for (const { slug, memory: needs, runs_on } of models.filter(({ runs_on }) => runs_on)) {
      const weights = needs.weights.find(({ quantization }) => quantization === runs_on.quantization).gpu_bytes;
      const buffers = needs.buffers.find(({ cache_type, ctx }) => cache_type === "f16" && ctx === runs_on.ctx);
      if (buffers) assert.equal(weights + buffers.cache_bytes + buffers.compute_bytes, runs_on.needs_bytes, slug);
      const fitting = sizes.filter(size => runs_on.needs_bytes + needs.driver_bytes.most <= room(size));
      const smallest = fitting.length ? Math.min(...fitting) / 2 ** 30 : null;
      assert.ok(smallest === null ? runs_on.memory_gib === null : Math.abs(smallest - runs_on.memory_gib) < 0.01, slug);
      const badge = text(folder, `badges/${slug}.svg`);
      assert.ok(
        badge.includes(smallest === null ? ">several GPUs<" : `>${runs_on.memory_gib} GB<`) && badge.length < 1024,
        badge,
      );
      assert.ok(text(folder, `models/${slug}/index.html`).includes(`${base}badges/${slug}.svg`), slug);
    }
    t.diagnostic(`${badges.length} badges`);
  });

  // ---- texts for language models ------------------------------------------------

  test(`${name}: llms.txt opens with name and purpose, and its links lead to files; llms-full.txt has every error`, () => {
    const map = text(folder, "llms.txt");
    assert.match(map, /^# .+\n\n> .+\n\n- \[/);
    for (const address of all(map, /\]\((https?:[^)]+)\)/g)) assert.ok(existsSync(file(address)), address);
    const whole = text(folder, "llms-full.txt");
    const { errors } = readJson(join(folder, "kb.json"));
    assert.deepEqual(
      all(whole, /^Page: (.+)$/gm),
      errors.map(({ url }) => base + url.slice(1)),
    );
    // Marks in a title are escaped: a title is text and nothing else.
    const titles = new Set(all(whole, /^# (.+)$/gm).map(line => line.replace(/\\([^A-Za-z0-9\s])/g, "$1")));
    for (const { title } of errors) assert.ok(titles.has(title), title);
  });

  // ---- JSON-LD ------------------------------------------------------------------

  /** Faults of a thing by the excerpt of schema.org. */
  function faults(thing, at) {
    const above = vocabulary.types[thing["@type"]];
    if (!above) return [`${at}: no type ${thing["@type"]}`];
    const types = [thing["@type"], ...above];
    return Object.entries(thing)
      .filter(([key]) => !key.startsWith("@"))
      .flatMap(([key, value]) => {
        const property = vocabulary.properties[key];
        if (!property?.of.some(type => types.includes(type))) return [`${at}: ${thing["@type"]} has no ${key}`];
        return [value].flat().flatMap(each => valueFaults(each, property.is, `${at}.${key}`));
      });
  }
  function valueFaults(value, may, at) {
    if (value && typeof value === "object") {
      const types = [value["@type"], ...(vocabulary.types[value["@type"]] ?? [])];
      return [
        ...faults(value, at),
        ...(may.some(type => types.includes(type)) ? [] : [`${at} is a ${value["@type"]}`]),
      ];
    }
    const isUrl = typeof value === "string" && URL.canParse(value);
    const fits = {
      Text: typeof value === "string" && value !== "",
      URL: isUrl,
      Boolean: typeof value === "boolean",
      Integer: Number.isInteger(value),
      Date: /^\d{4}-\d\d-\d\d$/.test(value),
      // An address may stand for a thing: https://schema.org/docs/gs.html#schemaorg_expected
      Thing: isUrl,
    };
    return may.some(type => fits[type]) ? [] : [`${at} is ${JSON.stringify(value)}, not ${may}`];
  }

  test(`${name}: JSON-LD uses types and properties of schema.org as they are meant`, () => {
    const seen = new Set();
    for (const path of htmlFiles(folder)) {
      for (const source of all(text(folder, path), /<script type="application\/ld\+json">([^<]*)<\/script>/g)) {
        const { "@context": context, "@graph": graph } = JSON.parse(source);
        assert.equal(context, "https://schema.org");
        for (const thing of graph) seen.add(`${path.split("/")[0]} ${thing["@type"]}`);
        assert.deepEqual(
          graph.flatMap(thing => faults(thing, path)),
          [],
        );
        const list = graph.find(thing => thing["@type"] === "BreadcrumbList")?.itemListElement ?? [];
        assert.deepEqual(
          list.map(({ position }) => position),
          list.map((_, at) => at + 1),
          path,
        );
        for (const { distribution } of graph.filter(thing => thing["@type"] === "Dataset")) {
          assert.ok(existsSync(file(distribution.contentUrl)), path);
        }
      }
    }
    for (const wanted of [
      "will-it-run WebApplication",
      "will-it-run Dataset",
      "models Dataset",
      "hardware Dataset",
      "glossary DefinedTermSet",
    ]) {
      assert.ok(seen.has(wanted), wanted);
    }
    if (readJson(join(folder, "kb.json")).errors.length) {
      for (const wanted of ["errors TechArticle", "errors BreadcrumbList"]) assert.ok(seen.has(wanted), wanted);
    }
    assert.ok(![...seen].some(kind => kind.endsWith("FAQPage")), "no page of ours is a list of questions");
  });
}
