// A diagnosed text in an address, after the "#", which is not sent to servers.
(() => {
  "use strict";
  // A setting whose name ends in one of the names, with a value of at least so many characters.
  const assigned = (names, least) =>
    new RegExp(
      String.raw`((?:${names})[\\\x22\x27]*[ \t]*[:=][ \t]*[\\\x22\x27]*)` +
        String.raw`(?![\d.]+(?:[^\w.]|$))[^\s\\\x22\x27,;&)}\]]{${least},}`,
      "gi",
    );
  // What no other reader may see, and its replacement, in the order of the replacements. A number after
  // "token" is an id of the vocabulary; `==12.4.5.8` is a version, and `52.17.408.135` a time of llama.cpp.
  /** @type {[RegExp, any][]} */
  const MASKS = [
    // A private key, whose first or last line may be cut off.
    [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*-----)?/g, "[secret]"],
    [/^[\w+\/=\s]*-----END [A-Z ]*PRIVATE KEY-----/, "[secret]"],
    [/((?:authorization|cookie)[\\\x22\x27]*[ \t]*[:=][ \t]*[\\\x22\x27]*)[^\n\\\x22\x27]+/gi, "$1[secret]"],
    [/\b((?:bearer|basic) +)[\w.~+\/=-]{12,}/gi, "$1[secret]"],
    // `https://name:password@host`, and signatures in addresses of downloads.
    [/(:\/\/)[^\s\/@\x22\x27]{1,200}@/g, "$1[secret]@"],
    [/([?&][\w.-]+=)[^\s&\x22\x27<>]{16,}/g, "$1[secret]"],
    [assigned("passw(?:or)?d|passphrase|secret", 1), "$1[secret]"],
    [assigned("token|api[_-]?key|(?:access|secret)[_-]?key(?:[_-]?id)?|\\bauth", 8), "$1[secret]"],
    [/(--[\w-]*(?:token|password|api-key|secret)[ \t]+[\x22\x27]?)(?!-|\d+\s)[^\s\x22\x27]+/g, "$1[secret]"],
    [/(\s(?:-u|--user)[ =]+[\x22\x27]?)(?!\d+:\d+\b)[^\s:\x22\x27]+:[^\s\x22\x27]+/g, "$1[secret]"],
    // Beginnings of tokens, as in src/check/private_data.rs.
    [/\b(?:hf_|api_org_|gh[opusr]_|gsk_|npm_|r8_|pplx-|AKIA|ASIA)[A-Za-z0-9]{14,}/g, "[secret]"],
    [/\b(?:sk-|github_pat_|glpat-|xox[a-z]-|nvapi-|pypi-Ag|AIza|eyJ)[\w.-]{12,}/g, "[secret]"],
    // Prompts such as `(venv) jane@desk:~$`, then addresses.
    [/^((?:\([^)\n]{0,40}\) ?)*\[?)[\w.-]+@[A-Za-z][\w.-]*(?=[: ])/gm, "$1[name]@[host]"],
    [/[\w.+-]+@(?:[\w-]+\.)+[A-Za-z]{2,}/g, "[address]"],
    [
      /(==|version )?\b(?!127\.|0\.0\.0\.0)\d{1,3}(?:\.\d{1,3}){3}\b/gi,
      (found, version) => (version || found.split(".").some(part => part > 255) ? found : "[ip]"),
    ],
    [/\b(?:[\da-f]{1,4}:){5,7}[\da-f]{1,4}\b|\bfe80::[\da-f:]+|\b(?:[\da-f]{1,4}:){2,6}:[\da-f:]*/gi, "[ip]"],
    [/((?:\/home|\/Users)\/)[^\/\\\s\x22\x27:,;)]+/g, "$1[name]"],
    [/([A-Z]:[\\\/]+Users[\\\/]+)(?:[^\\\/\n\x22\x27:]{1,40}(?=[\\\/])|[^\\\/\s\x22\x27]+)/gi, "$1[name]"],
    [/\b((?:USER|USERNAME|LOGNAME|HOSTNAME|COMPUTERNAME|USERDOMAIN)=)\S+/g, "$1[name]"],
  ];
  // The end of a text, with names, tokens and addresses masked.
  kbgen.masked = (text, longest) => {
    let end = text.slice(-4 * longest);
    // Half of a token is not recognized.
    if (end.length < text.length) end = end.replace(/^[^\n]{0,999}\n|^\S*\s/, "");
    MASKS.forEach(([found, instead]) => {
      end = end.replace(found, instead);
    });
    return end.trim().slice(-longest);
  };

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
