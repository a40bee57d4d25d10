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

// A case after the anchor of an error page: `#cause-x&requested=2147483648&model=…`. It contains only numbers and ids
// of the catalog, never text of the log; readers accept nothing else.
(() => {
  "use strict";
  const LARGEST = 1e18;

  // The slug of a model or device of the table, which leaves out those that follow from the title.
  kbgen.slugOf = ([title, , slug]) =>
    slug ||
    title
      .toLowerCase()
      .split(/[^a-z0-9.]+/)
      .filter(Boolean)
      .join("-");

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
