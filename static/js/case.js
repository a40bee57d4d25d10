// A diagnosed text in an address, after the "#", which is not sent to servers.
(() => {
  "use strict";
  // The end of a text, with names, tokens and addresses masked.
  kbgen.masked = (text, longest) =>
    text
      .slice(-2 * longest)
      .replace(/\b(hf_|sk-|ghp_|github_pat_|AKIA)[\w-]{8,}/g, "[secret]")
      .replace(/((?:token|password|secret|api[_-]?key|authorization)[\x22\x27]?\s*[:=]\s*)\S+/gi, "$1[secret]")
      .replace(/[\w.+-]+@[\w-]+\.[\w.-]+/g, "[address]")
      .replace(/\b(?!127\.|0\.0\.0\.0)\d{1,3}(?:\.\d{1,3}){3}\b/g, "[ip]")
      .replace(/((?:\/home|\/Users|[A-Z]:\\Users)[\\\/])[^\\\/\s\x22\x27]+/g, "$1[name]")
      .trim()
      .slice(-longest);

  // Text in an address, in which half of a character is not valid.
  kbgen.encoded = text => encodeURIComponent(text.replace(/\p{Surrogate}/gu, ""));

  // The address, relative to the root of the site, that opens diagnosis with the end of a text.
  kbgen.caseAddress = (text, longest) => `diagnose/index.html#case=${kbgen.encoded(kbgen.masked(text, longest))}`;
})();

// Settings of the calculator in a log: {model, quant, ctx, gpu, mem}.
(() => {
  "use strict";
  // How many characters before and after a message are read.
  const ABOVE = 600;
  const BELOW = 100;
  const WIDTH = 2000;
  const GIB = 1073741824;
  const squeezed = name => name.toLowerCase().replace(/[^a-z0-9.]/g, "");
  const escaped = text => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  // The slug of a model or device of the table, which leaves out those that follow from the title.
  kbgen.slugOf = ([title, , slug]) =>
    slug ||
    title
      .toLowerCase()
      .split(/[^a-z0-9.]+/)
      .filter(Boolean)
      .join("-");

  // Slugs by name without separators; null if two models share one. File names may lack the maker's name, and Ollama's
  // tags omit "instruct".
  function namesOf(models) {
    const names = {};
    const short = {};
    const put = (list, name, slug) => {
      list[name] = name in list && list[name] !== slug ? null : slug;
    };
    models.forEach(model => {
      const [title, repository] = model;
      const slug = kbgen.slugOf(model);
      // The name of a repository is left out if it is the title.
      const [owner, file = title] = (repository || "").split("/");
      const own = [slug, title].concat(owner ? [file, owner + file, owner.split("-")[0] + file] : []);
      own.map(squeezed).forEach(name => {
        put(names, name, slug);
        put(short, name.replace(/(instruct|chat|it)$/, ""), slug);
      });
    });
    for (const name in short) if (!(name in names)) names[name] = short[name];
    return names;
  }
  // The model and quantization in a path, an id or a tag; null if there is none.
  function modelOf(token, names, quants) {
    let name = token
      .replace(/[.,:;]+$/, "")
      .split(/[\/\\]|--/)
      .pop()
      .replace(/\.(gguf|safetensors|bin)$/i, "")
      .replace(/-\d{5}-of-\d{5}$/, "");
    let quant = null;
    quants.forEach(each => {
      if (!quant && new RegExp(`[-._:]${escaped(each)}$`, "i").test(name)) quant = each;
    });
    if (quant) name = name.slice(0, -quant.length - 1).replace(/[-._]UD$/, "");
    const slug = Object.prototype.hasOwnProperty.call(names, squeezed(name)) ? names[squeezed(name)] : null;
    return slug && /\d/.test(name) ? { model: slug, quant } : null;
  }
  function modelIn(line, names, quants) {
    const tokens = line.match(/[A-Za-z~.\/\\][\w.+~-]*(?:[\/\\:]+[\w.+~-]+)*/g) || [];
    const general = /general\.name\s+str\s*=\s*(.+)/.exec(line);
    if (general) tokens.push(general[1].trim());
    return tokens
      .map(token => modelOf(token, names, quants))
      .filter(Boolean)
      .pop();
  }
  function contextIn(line) {
    const found =
      /(?:n_ctx(?:_seq)?|num_ctx|ctx[-_]size|max[-_]model[-_]len|max[-_]seq[-_]len)[\x22\x27]?\s*[=:\s]\s*(\d{3,8})\b/.exec(
        line,
      ) || /llama-\w+.*\s-c (\d{3,8})\b/.exec(line);
    return found && Number(found[1]);
  }
  // The only device named in the lines. Titles in the catalog include the memory if a GPU has two sizes: then a total
  // or the free memory in the same line distinguishes them.
  function deviceIn(lines, devices, total) {
    const base = title => title.replace(/ \d+ GB$/, "");
    const all = devices.map(([title]) => base(title)).sort((a, b) => b.length - a.length);
    const pattern = new RegExp(
      `\\b(${all.map(name => escaped(name).replace(/ /g, "[ -]")).join("|")})(?![\\w]| (?:Ti|SUPER|Mobile|D|Max)\\b)`,
      "g",
    );
    let named = {};
    let least = 0;
    lines.forEach(line => {
      const names = line.replace(/ Laptop GPU/g, " Mobile").match(pattern) || [];
      const free = names.length && /(\d+) MiB free\b/.exec(line);
      if (free) least = Math.max(least, Number(free[1]) * 1048576);
      names.forEach(name => {
        named[name.replace(/-/g, " ")] = true;
      });
    });
    named = Object.keys(named);
    const fitting =
      named.length !== 1
        ? []
        : devices.filter(
            ([title, memory]) =>
              base(title).replace(/-/g, " ") === named[0] &&
              memory >= least &&
              (!total || Math.abs(memory - total) < 0.1 * memory),
          );
    return fitting.length === 1 ? kbgen.slugOf(fitting[0]) : null;
  }

  // The name of a GGUF file: the last one before a message, or else the first one after it; undefined if there is none.
  kbgen.fileInLog = (lines, line) => {
    const filesIn = part =>
      part
        .flatMap(text => text.slice(0, WIDTH).match(/[\w.+-]+\.gguf\b/g) || [])
        .filter(name => !name.includes("mmproj"));
    return filesIn(lines.slice(Math.max(0, line - ABOVE), line)).pop() || filesIn(lines.slice(line, line + BELOW))[0];
  };

  // Of several models, the last one before the message counts.
  kbgen.settingInLog = (text, match, tables) => {
    const all = text.split("\n");
    const at = match.line - 1;
    const cut = line => line.slice(0, WIDTH);
    const above = all
      .slice(Math.max(0, at - ABOVE), at + 1)
      .map(cut)
      .reverse();
    const below = all.slice(at + 1, at + BELOW).map(cut);
    const lines = above.concat(below);
    const first = find => {
      for (const line of lines) {
        const found = find(line);
        if (found) return found;
      }
      return null;
    };
    const names = namesOf(tables.models);
    const total = match.figures && match.figures.total;
    const model = first(line => modelIn(line, names, tables.quants));
    const gpu = deviceIn(lines, tables.devices, total);
    const setting = {};
    if (model) setting.model = model.model;
    if (model && model.quant) setting.quant = model.quant;
    const ctx = model && first(contextIn);
    if (ctx) setting.ctx = ctx;
    if (gpu) setting.gpu = gpu;
    else if (total > GIB) setting.mem = total;
    return setting;
  };
})();

// A case after the anchor of an error page: `#cause-x&requested=2147483648&model=…`. It contains only numbers and ids
// of the catalog, never text of the log; readers accept nothing else.
(() => {
  "use strict";
  const LARGEST = 1e18;
  // Names of the figures that pages use.
  function namesOf(tables) {
    const names = { total: true };
    tables.pairs.forEach(pair => {
      names[pair[0]] = names[pair[1]] = true;
    });
    tables.figures.forEach(name => {
      names[name] = true;
    });
    return names;
  }
  const isNumber = value => typeof value === "number" && isFinite(value) && value >= 0 && value <= LARGEST;
  const has = (list, id) => list.some(each => kbgen.slugOf(each) === id);
  // Those settings that the calculator accepts.
  function checked(setting, tables) {
    const kept = {};
    const ctx = Number(setting.ctx);
    const mem = Number(setting.mem);
    if (has(tables.models, setting.model)) kept.model = setting.model;
    if (tables.quants.includes(setting.quant)) kept.quant = setting.quant;
    if (isNumber(ctx) && ctx >= 1 && ctx % 1 === 0) kept.ctx = ctx;
    if (has(tables.devices, setting.gpu)) kept.gpu = setting.gpu;
    else if (isNumber(mem) && mem >= 1048576) kept.mem = mem;
    return kept;
  }

  kbgen.caseFragment = (anchor, figures, setting, tables) => {
    const names = namesOf(tables);
    const kept = new URLSearchParams();
    Object.keys(figures || {}).forEach(name => {
      if (names[name] === true && isNumber(figures[name])) kept.set(name, figures[name]);
    });
    for (const name in setting) if (!kept.has(name)) kept.set(name, setting[name]);
    return `#${anchor}${String(kept) ? `&${kept}` : ""}`;
  };
  // {anchor, figures, setting}, or null if the address has none.
  kbgen.readCaseFragment = (hash, tables) => {
    const found = /^#([\w-]+)&(.+)/.exec(hash);
    const figures = {};
    if (!found) return null;
    const names = namesOf(tables);
    const pairs = new URLSearchParams(found[2]);
    pairs.forEach((text, name) => {
      if (names[name] === true && /^[\d.e+]{1,24}$/.test(text) && isNumber(Number(text))) figures[name] = Number(text);
    });
    return { anchor: found[1], figures, setting: checked(Object.fromEntries(pairs), tables) };
  };
})();
