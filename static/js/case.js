// A case in an address: the text stands behind the "#", which no server sees.
(function () {
  "use strict";
  // The end of a text, without what does not belong where others may read it: names, tokens, addresses.
  window.kbgenMasked = function (text, longest) {
    return text.slice(-2 * longest)
      .replace(/\b(hf_|sk-|ghp_|github_pat_|AKIA)[\w-]{8,}/g, "[secret]")
      .replace(/((?:token|password|secret|api[_-]?key|authorization)["']?\s*[:=]\s*)\S+/gi, "$1[secret]")
      .replace(/[\w.+-]+@[\w-]+\.[\w.-]+/g, "[address]")
      .replace(/\b(?!127\.|0\.0\.0\.0)\d{1,3}(?:\.\d{1,3}){3}\b/g, "[ip]")
      .replace(/((?:\/home|\/Users|[A-Z]:\\Users)[\\/])[^\\/\s"']+/g, "$1[name]")
      .trim().slice(-longest)
      // Half a character cannot stand in an address.
      .replace(/\p{Surrogate}/gu, "");
  };

  // The address, from the root of the site, that opens diagnosis with the end of a text.
  window.kbgenCase = function (text, longest) {
    return "diagnose/index.html#case=" + encodeURIComponent(window.kbgenMasked(text, longest));
  };
})();

// What a log names that the calculator knows, as its parameters: {model, quant, ctx, gpu, mem}.
(function () {
  "use strict";
  // So many lines above and below a message are read, and so much of each.
  var ABOVE = 600, BELOW = 100, WIDTH = 2000, GIB = 1073741824;
  var squeezed = function (name) { return name.toLowerCase().replace(/[^a-z0-9.]/g, ""); };
  var escaped = function (text) { return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"); };

  // Names without separators to slugs; null where two models share one. Files bear the maker's name or not, and Ollama's
  // tags leave "instruct" out.
  function names_of(models) {
    var names = {}, short = {};
    var put = function (list, name, slug) { list[name] = name in list && list[name] !== slug ? null : slug; };
    models.forEach(function (model) {
      var hub = (model[2] || "").split("/"), own = [model[0], model[1]].concat(hub.length > 1 ? [hub[1], hub.join(""), hub[0].split("-")[0] + hub[1]] : []);
      own.map(squeezed).forEach(function (name) {
        put(names, name, model[0]);
        put(short, name.replace(/(instruct|chat|it)$/, ""), model[0]);
      });
    });
    for (var name in short) if (!(name in names)) names[name] = short[name];
    return names;
  }
  // The model and the quantization that a path, an id or a tag names; null if none.
  function model_of(token, names, quants) {
    var name = token.replace(/[.,:;]+$/, "").split(/[\/\\]|--/).pop().replace(/\.(gguf|safetensors|bin)$/i, "").replace(/-\d{5}-of-\d{5}$/, ""), quant = null;
    quants.forEach(function (each) {
      if (!quant && new RegExp("[-._:]" + escaped(each) + "$", "i").test(name)) quant = each;
    });
    if (quant) name = name.slice(0, -quant.length - 1).replace(/[-._]UD$/, "");
    var slug = Object.prototype.hasOwnProperty.call(names, squeezed(name)) ? names[squeezed(name)] : null;
    return slug && /\d/.test(name) ? { model: slug, quant: quant } : null;
  }
  function model_in(line, names, quants) {
    var tokens = line.match(/[A-Za-z~.\/\\][\w.+~-]*(?:[\/\\:]+[\w.+~-]+)*/g) || [];
    var general = /general\.name\s+str\s*=\s*(.+)/.exec(line);
    if (general) tokens.push(general[1].trim());
    return tokens.map(function (token) { return model_of(token, names, quants); }).filter(Boolean).pop();
  }
  function context_in(line) {
    var found = /(?:n_ctx(?:_seq)?|num_ctx|ctx[-_]size|max[-_]model[-_]len|max[-_]seq[-_]len)["']?\s*[=:\s]\s*(\d{3,8})\b/.exec(line) || /llama-\w+.*\s-c (\d{3,8})\b/.exec(line);
    return found && Number(found[1]);
  }
  // The one device that the lines name. Titles of the catalog add the memory where a card comes in two sizes.
  function device_in(lines, devices, total) {
    var base = function (title) { return title.replace(/ \d+ GB$/, ""); };
    var all = devices.map(function (device) { return base(device[1]); }).sort(function (a, b) { return b.length - a.length; });
    var pattern = new RegExp("\\b(" + all.map(function (name) { return escaped(name).replace(/ /g, "[ -]"); }).join("|") + ")(?![\\w]| (?:Ti|SUPER|Mobile|D|Max)\\b)", "g");
    var named = {};
    lines.forEach(function (line) { (line.replace(/ Laptop GPU/g, " Mobile").match(pattern) || []).forEach(function (name) { named[name.replace(/-/g, " ")] = true; }); });
    named = Object.keys(named);
    var fitting = named.length !== 1 ? [] : devices.filter(function (device) { return base(device[1]).replace(/-/g, " ") === named[0] && (!total || Math.abs(device[2] - total) < 0.1 * device[2]); });
    return fitting.length === 1 ? fitting[0][0] : null;
  }

  // Of several models the one named last before the message counts.
  window.kbgenSetting = function (text, match, tables) {
    var all = text.split("\n"), at = match.line - 1, cut = function (line) { return line.slice(0, WIDTH); };
    var above = all.slice(Math.max(0, at - ABOVE), at + 1).map(cut).reverse(), below = all.slice(at + 1, at + BELOW).map(cut), lines = above.concat(below);
    var first = function (find) { for (var i = 0, found; i < lines.length; i++) if ((found = find(lines[i]))) return found; return null; };
    var names = names_of(tables.models), total = match.figures && match.figures.total;
    var model = first(function (line) { return model_in(line, names, tables.quants); }), gpu = device_in(lines, tables.devices, total);
    var setting = {};
    if (model) setting.model = model.model;
    if (model && model.quant) setting.quant = model.quant;
    var ctx = model && first(context_in);
    if (ctx) setting.ctx = ctx;
    if (gpu) setting.gpu = gpu; else if (total > GIB) setting.mem = total;
    return setting;
  };
})();

// A case behind the anchor of an error page: `#cause-x&requested=2147483648&model=…`. It carries numbers and names of the
// catalog, never words of the log; whoever reads it takes nothing else.
(function () {
  "use strict";
  var LARGEST = 1e18;
  // The figures that pages speak of.
  function names_of(tables) {
    var names = { total: true };
    tables.pairs.forEach(function (pair) { names[pair[0]] = names[pair[1]] = true; });
    Object.keys(tables.pages).forEach(function (slug) {
      var causes = tables.pages[slug].causes;
      for (var id in causes) causes[id].names.forEach(function (name) { names[name] = true; });
    });
    return names;
  }
  var is_number = function (value) { return typeof value === "number" && isFinite(value) && value >= 0 && value <= LARGEST; };
  var has = function (list, id) { return list.some(function (each) { return each[0] === id; }); };
  // What of a setting the calculator would take, as it takes it.
  function checked(setting, tables) {
    var kept = {}, ctx = Number(setting.ctx), mem = Number(setting.mem);
    if (has(tables.models, setting.model)) kept.model = setting.model;
    if (tables.quants.indexOf(setting.quant) >= 0) kept.quant = setting.quant;
    if (is_number(ctx) && ctx >= 1 && ctx % 1 === 0) kept.ctx = ctx;
    if (has(tables.devices, setting.gpu)) kept.gpu = setting.gpu;
    else if (is_number(mem) && mem >= 1048576) kept.mem = mem;
    return kept;
  }

  window.kbgenCarry = function (anchor, figures, setting, tables) {
    var names = names_of(tables), kept = new URLSearchParams();
    Object.keys(figures || {}).forEach(function (name) { if (names[name] === true && is_number(figures[name])) kept.set(name, figures[name]); });
    for (var name in setting) if (!kept.has(name)) kept.set(name, setting[name]);
    return "#" + anchor + (String(kept) ? "&" + kept : "");
  };
  // {anchor, figures, setting}, or null where an address carries none.
  window.kbgenCarried = function (hash, tables) {
    var found = /^#([\w-]+)&(.+)/.exec(hash), figures = {};
    if (!found) return null;
    var names = names_of(tables), pairs = new URLSearchParams(found[2]);
    pairs.forEach(function (text, name) { if (names[name] === true && /^[\d.e+]{1,24}$/.test(text) && is_number(Number(text))) figures[name] = Number(text); });
    return { anchor: found[1], figures: figures, setting: checked(Object.fromEntries(pairs), tables) };
  };
})();
