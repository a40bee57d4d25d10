// Will it run? The page around the fit tables: its settings, its address, its answer.
(function () {
  "use strict";
  var $ = function (id) { return document.getElementById(id); };
  var fit = JSON.parse($("fit-data").textContent), links = JSON.parse($("calc-links").textContent);
  var look = window.kbgenFit, picture = window.kbgenPicture;
  var make = picture.make, draw = picture.draw, whole = picture.whole, gib = picture.gib;
  var GIB = look.GIB, MIB = look.MIB, CELL = look.CELL, MOST_DEVICES = 4;
  var LOW = fit.driver[0], HIGH = fit.driver[1];
  var WORDS = { fits: "Fits", tight: "Tight", no: "Does not fit", unknown: "Not covered" };
  var SHORT = { fits: "fits", tight: "tight", no: "too small", unknown: "not covered" };
  var RUNNERS = ["server", "library", "ollama", "vllm"];
  var root = document.documentElement.dataset.root;

  // ---- words ---------------------------------------------------------------
  var mib = function (n, up) { return whole((up ? Math.ceil : Math.floor)(n / MIB)) + " MiB"; };
  var round_gib = function (n) { return gib(n).replace(/\.?0+$/, "") + " GiB"; };
  var tokens = function (n) { return whole(n) + " tokens"; };
  var by_id = function (list, id) { return list.filter(function (entry) { return entry.id === id; })[0]; };

  // ---- state ---------------------------------------------------------------
  // Everything that a reader may choose; the address holds what differs from this.
  var START = { model: "llama-3.1-8b-instruct", quant: "Q4_K_M", ctx: 8192, k: 0, v: 0, slots: 1, runner: "server", layers: null, experts: 0 };
  var FIRST_DEVICE = "geforce-rtx-3060-12-gb";
  var state, table = null;
  function start() {
    var now = {};
    for (var key in START) now[key] = START[key];
    if (!by_id(fit.models, now.model)) now.model = fit.models[0].id;
    now.devices = [device_of(by_id(fit.devices, FIRST_DEVICE) ? FIRST_DEVICE : 12 * GIB)];
    return now;
  }
  // A device of the catalogue by its name, or an amount of memory of one's own.
  function device_of(what) {
    var known = by_id(fit.devices, what);
    return known ? { id: known.id, name: known.name, mem: known.mem, ok: known.ok, others: 0 } : { id: "", name: "Your device", mem: Number(what), ok: true, others: 0 };
  }
  var known = function (device) { return by_id(fit.devices, device.id); };

  // ---- the address ---------------------------------------------------------
  var number = function (text, least) { var n = Number(text); return text && n >= least && isFinite(n) ? n : null; };
  function read() {
    // Links of the site ask in the query; what a reader chose stands in the fragment and goes before it.
    var asked = new URLSearchParams(location.hash.length > 1 ? location.hash.slice(1) : location.search);
    var one_of = function (name, list) { return list.indexOf(asked.get(name)); };
    state = start();
    if (by_id(fit.models, asked.get("model"))) state.model = asked.get("model");
    if (one_of("quant", fit.quants) >= 0) state.quant = asked.get("quant");
    if (number(asked.get("ctx"), 1)) state.ctx = number(asked.get("ctx"), 1);
    // `kv` is both types in one, as links of older pages have it.
    ["kv", "k", "v"].forEach(function (name) {
      var type = one_of(name, fit.kv);
      if (type >= 0 && name !== "v") state.k = type;
      if (type >= 0 && name !== "k") state.v = type;
    });
    if (one_of("slots", look.SLOTS.map(String)) >= 0) state.slots = Number(asked.get("slots"));
    if (one_of("run", RUNNERS) >= 0) state.runner = asked.get("run");
    state.layers = asked.get("ngl") === "auto" ? "auto" : number(asked.get("ngl"), 0);
    state.experts = /^(auto|all)$/.test(asked.get("moe") || "") ? asked.get("moe") : number(asked.get("moe"), 0) || 0;
    var devices = (asked.get("gpu") || asked.get("device") || "").split(",").filter(function (what) { return by_id(fit.devices, what) || number(what, 1); }).slice(0, MOST_DEVICES).map(device_of);
    var amount = number(asked.get("mem"), 1);
    if (amount && !(devices.length && devices[0].mem === amount)) devices = [device_of(amount)];
    if (devices.length) state.devices = devices;
    (asked.get("others") || "").split(",").forEach(function (text, i) { if (state.devices[i]) state.devices[i].others = (number(text, 0) || 0) * MIB; });
  }
  function address() {
    var kept = new URLSearchParams({ model: state.model }), put = function (name, value, usual) { if (value !== usual) kept.set(name, value); };
    put("quant", state.quant, START.quant);
    put("ctx", state.ctx, START.ctx);
    put("k", fit.kv[state.k], fit.kv[START.k]);
    put("v", fit.kv[state.v], fit.kv[START.v]);
    put("slots", state.slots, START.slots);
    put("run", state.runner, START.runner);
    put("gpu", state.devices.map(function (device) { return device.id || Math.round(device.mem); }).join(","), FIRST_DEVICE);
    put("others", state.devices.map(function (device) { return Math.round(device.others / MIB); }).join(","), state.devices.map(function () { return 0; }).join(","));
    put("ngl", state.layers === null ? null : String(state.layers), null);
    put("moe", String(state.experts), "0");
    return "#" + kept.toString().replace(/%2C/g, ",");
  }
  var saving = 0;
  function save() {
    clearTimeout(saving);
    saving = setTimeout(function () { try { history.replaceState(null, "", address()); } catch (_) { /* file:// may refuse */ } }, 200);
  }

  // ---- what is asked of the table --------------------------------------------
  function settle() {
    var quant = fit.quants.indexOf(state.quant);
    if (!table.quants[quant]) state.quant = fit.quants[table.quants.findIndex(Boolean)];
    if (!table.quants[quant] && table.quants[fit.quants.indexOf(START.quant)]) state.quant = START.quant;
    state.ctx = Math.max(1, Math.min(table.max, Math.round(state.ctx) || 1));
    if (typeof state.layers === "number") state.layers = state.layers > table.layers ? null : Math.round(state.layers);
    if (!look.has_experts(table)) state.experts = 0;
    if (typeof state.experts === "number") state.experts = Math.min(table.layers, Math.round(state.experts));
    // Ollama has one type for both, and a cache for each request: the tables hold one.
    if (state.runner === "ollama") { state.v = state.k; state.slots = 1; state.experts = 0; }
  }
  var rooms = function () { return state.devices.map(function (device) { return device.mem - device.others; }); };
  var driver = fit.driver;
  var covered = function () { return state.devices.every(function (device) { return device.ok; }); };
  // Shares as small whole numbers: equal for equal devices, else by memory.
  function shares() {
    var all = state.devices.map(function (device) { return Math.round(device.mem / GIB) || 1; });
    var common = all.reduce(function divisor(a, b) { return b ? divisor(b, a % b) : a; });
    return all.map(function (share) { return share / common; });
  }
  // The setting as the table takes it, with what is automatic worked out.
  function setting_of(now) {
    var setting = {
      quant: fit.quants.indexOf(now.quant), k: now.k, v: now.v, ctx: now.ctx, slots: now.slots, server: now.runner !== "library",
      shares: shares(), layers: typeof now.layers === "number" ? now.layers : null, experts: now.experts === "auto" ? 0 : now.experts,
      uncovered: state.devices.map(function (device) { return !device.ok; })
    };
    if (now.experts === "auto" && covered()) {
      var away = look.fewest_experts(table, setting, rooms(), driver);
      setting.experts = away < 0 ? table.layers : away;
    }
    if (now.layers === "auto" && covered()) {
      var layers = look.most_layers(table, setting, rooms(), driver);
      setting.layers = layers < 0 || layers > table.layers ? null : layers;
    }
    return setting;
  }

  // ---- the answer ------------------------------------------------------------
  var of_layers = function (setting) { return setting.layers === null ? "" : setting.layers + " of " + (table.layers + 1) + " layers"; };
  function margin_of(needed, verdict) {
    var spare = Infinity, short = 0, tight = Infinity, held = 0;
    needed.devices.forEach(function (device, i) {
      var room = rooms()[i];
      if (!device.total) { held = Math.max(held, device.weights + device.cache - room); return; }
      spare = Math.min(spare, room - device.total[1] - HIGH);
      tight = Math.min(tight, room - device.total[1]);
      short = Math.max(short, device.total[0] + LOW - room, 0);
    });
    var on = needed.devices.length > 1 ? " on the fullest device" : "";
    return { spare: spare, short: Math.max(short, held), words: verdict === "fits" ? mib(spare) + " to spare" + on + ", even when the driver takes its most."
      : verdict === "tight" ? (tight >= LOW ? "It loads if the driver takes no more than " + mib(tight) + on + "; drivers take " + mib(LOW) + " to " + mib(HIGH) + "." : "It loads only if the compute buffer stays at the low end of its range" + on + ".")
      : verdict === "no" ? mib(Math.max(short, held), true) + " short" + on + (held > 0 && !short ? ": weights and cache alone are more than its memory." : " at the least.")
      : "Weights and cache are known to the byte. What the compute buffer takes on this device is not, so there is no verdict." };
  }
  function parts_of(device, needed, i) {
    var own = needed.devices[i], compute = own.compute || [null, null], exact = needed.exact ? "exact" : "range";
    var parts = [
      { name: "weights", label: "Weights", tag: "Weights", low: own.weights, high: own.weights, basis: "exact", anchor: "what-is-exact" },
      { name: "kv", label: "K/V cache", tag: "Cache", low: own.cache, high: own.cache, basis: "exact", anchor: "what-is-exact" },
      { name: "compute", label: "Compute buffer", low: compute[0], high: compute[1], basis: own.compute ? exact : "not covered", anchor: own.compute ? "what-is-" + (needed.exact ? "exact" : "a-range") : "what-is-not-covered" },
      { name: "driver", label: "Driver", low: own.compute ? LOW : null, high: own.compute ? HIGH : null, basis: own.compute ? "range" : "not covered", anchor: own.compute ? "what-is-a-range" : "what-is-not-covered" }
    ];
    if (state.devices.some(function (each) { return each.others; })) parts.push({ name: "other", label: "Other programs", low: device.others, high: device.others, basis: "given" });
    return parts;
  }
  var saying = 0;
  function answer(setting) {
    var needed = look.need(table, setting), verdict = look.judge(needed, rooms(), driver), margin = margin_of(needed, verdict);
    var word = WORDS[verdict] + (setting.layers !== null && verdict !== "no" ? " with " + of_layers(setting) : "");
    $("verdict").className = $("dock-verdict").className = "verdict verdict-" + verdict;
    $("verdict").classList.add("big");
    $("verdict").textContent = $("dock-verdict").textContent = word;
    $("margin").textContent = margin.words;
    $("dock-margin").textContent = verdict === "fits" ? mib(margin.spare) + " to spare" : verdict === "no" ? mib(margin.short, true) + " short" : "";
    clearTimeout(saying);
    saying = setTimeout(function () { $("say").textContent = by_id(fit.models, state.model).name + ", " + state.quant + ", " + tokens(state.ctx) + ": " + word + ". " + margin.words; }, 700);

    var devices = state.devices.map(function (device, i) {
      var own = needed.devices[i], one = look.judge_one(own, rooms()[i], driver), spare = own.total && rooms()[i] - own.total[1] - HIGH;
      return { name: (state.devices.length > 1 ? (i + 1) + ". " : "") + device.name, memory: device.mem, parts: parts_of(device, needed, i), verdict: one,
        says: one === "fits" ? mib(spare) + " to spare" : one === "no" && own.total ? mib(own.total[0] + LOW - rooms()[i], true) + " short" : WORDS[one].toLowerCase() };
    });
    picture.bars(devices);
    picture.table(devices, links.methodology);
    stats(setting, needed);
    offers(setting, verdict);
    ladder(setting);
    meet(needed, verdict);
    commands(setting);
    $("waiting").hidden = true;
  }
  // Beside the verdict: what it takes in all, what stays in RAM, how fast.
  function stats(setting, needed) {
    var list = $("stats");
    list.replaceChildren();
    var add = function (name, value, note) {
      var row = list.appendChild(make("div"));
      row.append(make("dt", name), make("dd", value));
      if (note) row.appendChild(make("dd", note, "small"));
    };
    var memory = state.devices.reduce(function (sum, device) { return sum + device.mem; }, 0);
    var total = needed.devices.reduce(function (sum, device) { return device.total && sum ? [sum[0] + device.total[0] + LOW, sum[1] + device.total[1] + HIGH] : null; }, [0, 0]);
    if (total) add("Needs", picture.range(total[0], total[1], gib) + " GiB", "of " + round_gib(memory));
    if (!needed.exact && needed.host.weights) add("In RAM", gib(needed.host.weights + needed.host.cache) + " GiB", "weights and cache");
    var device = known(state.devices[0]), speed = device && needed.exact && state.slots === 1 && look.speed(table, setting, device, fit);
    if (speed) add("Writes, context full", speed_words(speed.full) + " tokens/s", "empty: " + speed_words(speed.empty));
  }
  function speed_words(range) {
    var say = function (n, round) { return n < 10 ? (round(n * 10) / 10).toFixed(1) : String(round(n)); };
    return say(range[0], Math.floor) + " to " + say(range[1], Math.ceil);
  }

  // What would fit instead: each a click.
  function offers(setting, verdict) {
    var place = $("best"), held = document.activeElement && place.contains(document.activeElement) ? document.activeElement.dataset.what : null;
    place.replaceChildren();
    if (!covered()) return;
    // `change` null: nothing to apply; `now`: it is in use.
    var offer = function (what, title, text, change, now) {
      var button = place.appendChild(make("button"));
      button.type = "button";
      button.dataset.what = what;
      button.append(make("span", title), " ", make("b", text));
      if (change || now) button.append(" ", make("em", now ? "in use" : "Use it"));
      button.disabled = !change || now;
      if (change) button.addEventListener("click", function () { for (var key in change) state[key] = change[key]; update(); });
    };
    var most = look.largest(table, setting, rooms(), driver);
    offer("ctx", "Largest context that fits", most ? tokens(most) : "none with " + state.quant, most ? { ctx: most } : null, most === state.ctx);
    var top = look.best(table, setting, rooms(), driver);
    offer("quant", "Best quantization that fits", top < 0 ? "none at this context" : fit.quants[top], top < 0 ? null : { quant: fit.quants[top] }, top === setting.quant);
    if (look.has_experts(table) && state.runner !== "ollama" && (verdict !== "fits" || setting.experts)) {
      var away = look.fewest_experts(table, look.but(setting, { layers: null }), rooms(), driver);
      offer("experts", "Experts to keep in RAM", away < 0 ? "all are not enough" : away ? "of the first " + away + " of " + table.layers + " layers" : "none", away < 0 ? null : { experts: away, layers: null }, away === setting.experts && setting.layers === null);
    }
    if (verdict !== "fits" || setting.layers !== null) {
      var layers = look.most_layers(table, setting, rooms(), driver), all = layers > table.layers;
      offer("layers", "Layers that fit", layers < 0 ? "not even none" : all ? "all " + layers : layers + " of " + (table.layers + 1), layers < 0 ? null : { layers: all ? null : layers }, (all ? null : layers) === setting.layers);
    }
    if (held) {
      var again = place.querySelector("[data-what=" + held + "]:not(:disabled)");
      (again || $("verdict")).focus();
    }
  }

  // ---- all quantizations -------------------------------------------------------
  var rows_of = null, rows = [];
  function build_rows() {
    if (rows_of === table) return;
    rows_of = table;
    rows = [];
    $("quant").replaceChildren();
    $("ladder").replaceChildren();
    fit.quants.forEach(function (name, i) {
      if (!table.quants[i]) return;
      var option = $("quant").appendChild(make("option", name));
      option.value = name;
      var row = $("ladder").appendChild(make("tr")), head = row.appendChild(make("th"));
      head.scope = "row";
      var input = radio("ladder", name, name, head, function () { state.quant = name; update(); });
      var cells = ["", "num", "num", "num"].map(function (kind) { return row.appendChild(make("td", null, kind)); });
      var graph = row.appendChild(make("td", null, "graph")), mini = graph.appendChild(draw("svg", { "class": "mini", "aria-hidden": "true" }));
      graph.setAttribute("aria-hidden", "true");
      rows.push({ quant: i, input: input, cells: cells, mini: mini });
    });
  }
  function ladder(setting) {
    var room = rooms().reduce(function (sum, each) { return sum + each; }, 0), all = function (device) { return device.total ? device.total[1] : device.weights + device.cache; };
    var add = function (sum, n) { return sum + n; };
    var needs = rows.map(function (row) {
      var needed = look.need(table, look.but(setting, { quant: row.quant }));
      return { needed: needed, weights: needed.devices.map(function (device) { return device.weights; }).reduce(add), total: needed.devices.map(all).reduce(add) };
    });
    var widest = Math.max.apply(null, needs.map(function (each) { return each.total + HIGH; }));
    var span = Math.max(room, Math.min(widest, room * 3)), part = function (n) { return Math.max(0, Math.min(n, span) / span * 100).toFixed(2) + "%"; };
    $("ladder-needs").textContent = state.devices.length > 1 ? "On the devices" : "On the GPU";
    rows.forEach(function (row, i) {
      var each = needs[i], word = look.judge(each.needed, rooms(), driver), most = covered() && look.largest(table, look.but(setting, { quant: row.quant }), rooms(), driver);
      var inside = Math.min(each.weights, room);
      row.input.checked = row.quant === setting.quant;
      row.cells[0].replaceChildren(make("span", WORDS[word].toLowerCase(), "verdict verdict-" + word));
      row.cells[1].textContent = !covered() ? "–" : most ? whole(most) : "none";
      row.cells[2].textContent = (covered() ? "" : "from ") + gib(each.total) + " GiB";
      row.cells[3].textContent = gib(table.quants[row.quant].file) + " GiB";
      row.mini.replaceChildren(
        draw("rect", { "class": "seg seg-weights", width: part(inside), height: 14 }),
        draw("rect", { "class": "seg seg-kv", x: part(inside), width: part(Math.max(0, Math.min(each.total, room) - each.weights)), height: 14 }));
      if (each.total > room) row.mini.appendChild(draw("rect", { "class": "seg seg-over", x: part(room), width: part(Math.min(each.total, span) - room), height: 14 }));
      row.mini.appendChild(draw("rect", { "class": "limit", x: part(room), y: -5, width: 2, height: 24, transform: "translate(-2)" }));
    });
    var pages = $("pages");
    pages.replaceChildren("All contexts and caches as tables: ");
    var page = function (folder, entry) { var link = pages.appendChild(make("a", entry.name)); link.href = root + folder + "/" + entry.id + "/index.html"; };
    page("models", by_id(fit.models, state.model));
    state.devices.forEach(function (device, i) { if (device.id && state.devices.findIndex(function (each) { return each.id === device.id; }) === i) { pages.append(", "); page("hardware", device); } });
  }

  // ---- what one meets, what one types ---------------------------------------------
  function meet(needed, verdict) {
    var place = $("meet"), error = verdict === "no" && links.errors[state.runner === "ollama" ? "ollama" : too_large(needed)];
    place.hidden = !error;
    if (!error) return;
    var link = make("a", error.title);
    link.href = error.href;
    place.replaceChildren("Loaded as it is, it ends in an error: ", link, ".");
  }
  // The part that llama.cpp fails at: it allocates weights, cache and compute buffer in this order.
  function too_large(needed) {
    var failed = function (held) { return needed.devices.some(function (device, i) { return held(device) + LOW > rooms()[i]; }); };
    return failed(function (device) { return device.weights; }) ? "weights" : failed(function (device) { return device.weights + device.cache; }) ? "cache" : "compute";
  }
  function commands(setting) {
    var place = $("commands"), file = by_id(fit.models, state.model).name.replace(/[^\w.-]+/g, "-") + "-" + state.quant + ".gguf", lines = window.kbgenCommands(state, setting, { file: file, table: table, kv: fit.kv });
    place.replaceChildren();
    lines.forEach(function (line) {
      if (line.note) { place.appendChild(make("p", line.note, "small")); return; }
      var block = place.appendChild(make("div", null, "code wrap")), pre = block.appendChild(make("pre")), code = pre.appendChild(make("code"));
      block.dataset.lang = "bash";
      block.dataset.label = line.label;
      pre.tabIndex = 0;
      // It wraps between its words, never inside a flag.
      line.text.split(" ").forEach(function (word, i) { code.append(i ? " " : "", word[0] === "-" ? make("span", word, "flag") : word); });
      window.kbgenOfferCopy(block);
    });
  }

  // ---- controls ----------------------------------------------------------------
  function radio(name, value, label, parent, chosen) {
    var wrap = parent.appendChild(make("label")), input = wrap.appendChild(make("input"));
    input.type = "radio"; input.name = name; input.value = value;
    wrap.appendChild(make("span", label));
    input.addEventListener("change", chosen);
    return input;
  }
  // A row of choices [[value, label], …]; `choose` gets the value.
  function choices(id, list, choose) {
    list.forEach(function (each) { radio(id, each[0], each[1], $(id), function () { choose(each[0]); update(); }); });
  }
  function mark(id, value) {
    Array.prototype.forEach.call($(id).querySelectorAll("input"), function (input) { input.checked = input.value === String(value); });
  }
  function on(id, event, act) { $(id).addEventListener(event, function () { if (act(this.value) !== false) update(); }); }

  var log_span = function () { return Math.log(Math.max(table.max, 512) / CELL); };
  var slide_at = function (ctx) { return Math.log(Math.max(ctx, CELL) / CELL) / log_span(); };
  // Under a slider: how far it fits.
  function reach(id, share) {
    $(id).replaceChildren(draw("rect", { "class": "reach-all", width: "100%", height: 4, y: 2 }));
    if (share > 0) $(id).appendChild(draw("rect", { "class": "reach-fits", width: (Math.min(1, share) * 100).toFixed(2) + "%", height: 4, y: 2 }));
    if (share > 0 && share < 1) $(id).appendChild(draw("rect", { "class": "limit", x: (share * 100).toFixed(2) + "%", width: 2, height: 8 }));
  }
  var model_box, device_boxes = [];
  function controls(setting) {
    var put = function (id, value) { if ($(id) !== document.activeElement) $(id).value = value; };
    var model = by_id(fit.models, state.model), facts = $("model-facts"), page = make("a", "its tables");
    page.href = root + "models/" + model.id + "/index.html";
    facts.replaceChildren(table.layers + " layers, up to " + tokens(table.max) + ", ", page);
    put("quant", state.quant);
    put("ctx", state.ctx);
    $("ctx").max = table.max;
    $("ctx-max").textContent = whole(table.max);
    put("ctx-slide", Math.round(1000 * slide_at(state.ctx)));
    $("ctx-slide").setAttribute("aria-valuetext", tokens(state.ctx));
    var most = covered() ? look.largest(table, setting, rooms(), driver) : 0;
    reach("ctx-reach", most ? slide_at(most) : 0);
    for (var n = 1; n <= MOST_DEVICES; n++) device_controls(n, state.devices[n - 1]);
    $("device-add").hidden = state.devices.length >= MOST_DEVICES;
    $("device-label-1").textContent = state.devices.length > 1 ? "Device 1" : "Device";
    $("others-label-1").textContent = "Held by other programs" + (state.devices.length > 1 ? " on device 1" : "");
    put("runner", state.runner);
    mark("k", state.k);
    mark("v", state.v);
    mark("slots", state.slots);
    ["v", "slots"].forEach(function (id) { $(id).parentNode.disabled = state.runner === "ollama"; });
    $("pair-note").hidden = state.k === state.v && state.runner !== "ollama";
    $("pair-note").textContent = state.runner === "ollama" ? "Ollama has one type for both." : "Two types at once need a build with GGML_CUDA_FA_ALL_QUANTS; others have no CUDA kernel for the pair.";
    $("slots-note").textContent = state.runner === "ollama" ? "For Ollama the figures are for one request at a time, its default." : state.slots > 1 ? "They share the context of " + tokens(state.ctx) + "." : "";
    mark("layers", state.layers === null ? "all" : state.layers === "auto" ? "auto" : "own");
    $("layers-own").hidden = typeof state.layers !== "number";
    $("layers-slide").max = table.layers + 1;
    put("layers-slide", setting.layers === null ? table.layers + 1 : setting.layers);
    $("layers-said").textContent = of_layers(setting) + ", the output counted as one";
    $("experts-field").hidden = !look.has_experts(table) || state.runner === "ollama" || state.runner === "vllm";
    mark("experts", state.experts === 0 ? "none" : typeof state.experts === "number" ? "own" : state.experts);
    $("experts-own").hidden = typeof state.experts !== "number" || !state.experts;
    $("experts-slide").max = table.layers;
    put("experts-slide", setting.experts === "all" ? table.layers : setting.experts);
    $("experts-said").textContent = "of the first " + setting.experts + " of " + table.layers + " layers";
    var changed = [state.runner !== "server", state.k !== 0, state.v !== 0, state.slots !== 1, state.devices.some(function (device) { return device.others; }), state.layers !== null, state.experts !== 0].filter(Boolean).length;
    $("more-count").textContent = changed ? changed + " changed" : "";
  }
  function device_controls(n, device) {
    $("device-row-" + n).hidden = $("others-row-" + n).hidden = !device;
    if (!device) return;
    device_boxes[n - 1].show(device.id);
    var put = function (id, value) { if ($(id) !== document.activeElement) $(id).value = value; };
    var facts = $("device-facts-" + n), entry = known(device);
    $("own-" + n).hidden = !!entry;
    put("memory-" + n, Math.round(device.mem / ($("memory-unit-" + n).value === "MiB" ? MIB : GIB) * 1000) / 1000);
    put("others-" + n, Math.round(device.others / MIB));
    facts.replaceChildren();
    if (entry) {
      var page = make("a", "its page");
      page.href = root + "hardware/" + entry.id + "/index.html";
      facts.append(round_gib(entry.mem) + (entry.bw ? ", " + whole(entry.bw) + " GB/s" : "") + ", ", page);
    }
  }
  // In the list of devices: what each would say.
  function device_note(n) {
    return function (entry) {
      if (!entry.id || !table) return null;
      var was = state.devices, setting;
      state.devices = was.slice();
      state.devices[n - 1] = device_of(entry.id);
      state.devices[n - 1].others = was[n - 1] ? was[n - 1].others : 0;
      setting = setting_of(state);
      var word = look.judge(look.need(table, setting), rooms(), driver);
      state.devices = was;
      return { text: SHORT[word] + " · " + round_gib(entry.mem), kind: "verdict verdict-" + word };
    };
  }

  // ---- loading ----------------------------------------------------------------
  function choose(id) {
    state.model = id;
    model_box.show(id);
    var name = by_id(fit.models, id).name;
    if (look.tables[id]) return arrived(look.tables[id]);
    $("answer").setAttribute("aria-busy", "true");
    $("waiting").hidden = false;
    $("broken").hidden = true;
    $("waiting").textContent = $("say").textContent = "Loading the figures of " + name + " …";
    look.load(id, root + "data/fit/" + id + ".js?" + fit.stamp, function (found) {
      if (state.model !== id) return;
      if (found) return arrived(found);
      $("waiting").hidden = true;
      $("broken").hidden = false;
      $("broken-model").textContent = name;
      $("broken-stale").textContent = table ? "What stands below belongs to the model before." : "";
      $("say").textContent = "The figures of " + name + " could not be loaded.";
    });
  }
  function arrived(found) {
    table = found;
    $("answer").removeAttribute("aria-busy");
    $("answer-body").hidden = $("ladder-part").hidden = false;
    $("waiting").hidden = $("broken").hidden = true;
    update();
  }
  function update() {
    if (!table || look.tables[state.model] !== table) return;
    settle();
    build_rows();
    var setting = setting_of(state);
    controls(setting);
    answer(setting);
    save();
  }

  model_box = window.kbgenCombobox($("model"), {
    entries: fit.models.map(function (model) { return { id: model.id, name: model.name, group: model.family, note: whole(model.max / 1024) + "k" }; }), choose: choose
  });
  var entries = [{ id: "", name: "Another amount of memory", group: "" }].concat(fit.devices.map(function (device) { return { id: device.id, name: device.name, group: device.vendor, mem: device.mem }; }));
  function device_field(n) {
    device_boxes[n - 1] = window.kbgenCombobox($("device-" + n), {
      entries: entries, note: device_note(n),
      choose: function (id) {
        var others = state.devices[n - 1].others;
        state.devices[n - 1] = device_of(id || state.devices[n - 1].mem);
        state.devices[n - 1].others = others;
        update();
        if (!id) $("memory-" + n).focus();
      }
    });
    on("memory-" + n, "input", function (text) {
      var amount = Number(text);
      if (!(amount > 0)) return false;
      state.devices[n - 1].mem = amount * ($("memory-unit-" + n).value === "MiB" ? MIB : GIB);
    });
    on("memory-unit-" + n, "change", function () {});
    on("others-" + n, "input", function (text) { state.devices[n - 1].others = Math.max(0, Number(text) || 0) * MIB; });
    if (n > 1) on("device-drop-" + n, "click", function () { state.devices.splice(n - 1, 1); $("device-add").hidden = false; $("device-add").focus(); });
  }
  for (var n = 1; n <= MOST_DEVICES; n++) device_field(n);
  on("device-add", "click", function () {
    var last = state.devices[state.devices.length - 1];
    state.devices.push(device_of(last.id || last.mem));
    setTimeout(function () { $("device-" + state.devices.length).focus(); });
  });
  choices("k", fit.kv.map(function (name, i) { return [i, name]; }), function (i) { state.k = i; });
  choices("v", fit.kv.map(function (name, i) { return [i, name]; }), function (i) { state.v = i; });
  choices("slots", look.SLOTS.map(function (n) { return [n, n]; }), function (n) { state.slots = n; });
  choices("layers", [["all", "All"], ["auto", "As many as fit"], ["own", "Choose"]], function (how) { state.layers = how === "all" ? null : how === "auto" ? "auto" : Math.floor(table.layers / 2); });
  choices("experts", [["none", "None"], ["auto", "As few as needed"], ["all", "All"], ["own", "Choose"]], function (how) { state.experts = how === "none" ? 0 : how === "own" ? Math.ceil(table.layers / 2) : how; });

  on("quant", "change", function (name) { state.quant = name; });
  on("ctx", "input", function (text) { var n = Number(text); if (!(n >= 1)) return false; state.ctx = n; });
  on("ctx", "change", function () { $("ctx").value = state.ctx; });
  on("ctx-slide", "input", function (at) {
    var raw = CELL * Math.exp(at / 1000 * log_span()), grain = raw >= 16384 ? 1024 : CELL;
    state.ctx = Number(at) === 1000 ? table.max : Math.round(raw / grain) * grain;
  });
  on("runner", "change", function (runner) { state.runner = runner; });
  on("layers-slide", "input", function (at) { state.layers = Number(at); });
  on("experts-slide", "input", function (at) { state.experts = Number(at); });
  $("reset").addEventListener("click", function () { var model = state.model; state = start(); state.model = model; update(); $("more").querySelector("summary").focus(); });
  $("again").addEventListener("click", function () { choose(state.model); $("model").focus(); });
  addEventListener("hashchange", function () { if (location.hash !== address()) { read(); choose(state.model); } });
  var resizing = 0;
  addEventListener("resize", function () { clearTimeout(resizing); resizing = setTimeout(update, 150); });

  // For tests: the table of the page and what is asked of it.
  window.kbgenCalculator = { index: fit, state: function () { return state; }, setting: function () { return setting_of(state); }, table: function () { return table; } };

  read();
  $("more").open = address().replace(/#model=[^&]*|&(quant|ctx|gpu)=[^&]*/g, "") !== "";
  choose(state.model);
})();
