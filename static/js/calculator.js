// Will it run? Looks up the fit tables of the page; nothing is estimated here.
(function () {
  "use strict";
  var $ = function (id) { return document.getElementById(id); };
  var fit = JSON.parse($("fit-data").textContent);
  fit.models = fit.models.filter(function (model) { return model.q.some(Boolean); });
  var GIB = 1073741824, MIB = 1048576, CELL = 256;
  var LOW = fit.driver[0], HIGH = fit.driver[1];
  var WORDS = { fits: "Fits", tight: "Tight", no: "Does not fit", unknown: "Not covered" };

  // ---- figures -------------------------------------------------------------
  function look(segments, ctx) {
    var cells = Math.ceil(ctx / CELL) * CELL;
    var at = 0;
    for (var i = 0; i < segments.length && segments[i] <= cells; i += 3) at = i;
    return segments[at + 1] + segments[at + 2] * (cells - segments[at]) / CELL;
  }
  function need(model, quant, kv, ctx) {
    var weights = model.q[quant][1], cache = look(model.kv[kv], ctx), compute = look(model.cb[kv], ctx);
    return { weights: weights, cache: cache, compute: compute, total: weights + cache + compute };
  }
  function judge(total, room) { return total + HIGH <= room ? "fits" : total + LOW <= room ? "tight" : "no"; }
  // The largest context in whole steps of 256 cells; more context never needs less.
  function largest(model, quant, kv, room, driver) {
    var low = 0, high = Math.ceil(model.max / CELL);
    while (low < high) {
      var middle = Math.ceil((low + high) / 2);
      if (need(model, quant, kv, middle * CELL).total + driver <= room) low = middle; else high = middle - 1;
    }
    return Math.min(low * CELL, model.max);
  }
  function best(model, kv, ctx, room, driver) {
    var found = -1;
    model.q.forEach(function (sizes, i) {
      if (sizes && need(model, i, kv, ctx).total + driver <= room && (found < 0 || sizes[1] > model.q[found][1])) found = i;
    });
    return found;
  }

  // For tests: the same look-ups, without the page around them.
  window.kbgenFit = { data: fit, need: need, judge: judge, largest: largest, best: best };

  // ---- words ---------------------------------------------------------------
  var whole = function (n) { return Math.round(n).toLocaleString("en").replace(/,/g, "\u202f"); };
  var gib = function (n) { return (n / GIB).toFixed(2); };
  var gb = function (n) { return (n / 1e9).toFixed(2); };
  var mib = function (n, up) { return whole((up ? Math.ceil : Math.floor)(n / MIB)) + " MiB"; };
  var tokens = function (n) { return whole(n) + " tokens"; };

  // ---- state ---------------------------------------------------------------
  var by_id = function (list, id) { return list.filter(function (entry) { return entry.id === id; })[0]; };
  var state = {
    model: by_id(fit.models, "llama-3.1-8b-instruct") || fit.models[0], quant: -1, ctx: 8192, kv: 0,
    device: by_id(fit.devices, "geforce-rtx-3060-12-gb") || fit.devices.filter(function (d) { return d.ok; })[0] || null, memory: 12 * GIB, others: 0
  };
  function settle() {
    var model = state.model;
    if (!model.q[state.quant]) {
      state.quant = model.q[fit.quants.indexOf("Q4_K_M")] ? fit.quants.indexOf("Q4_K_M") : model.q.findIndex(Boolean);
    }
    state.ctx = Math.max(1, Math.min(model.max, Math.round(state.ctx) || 1));
  }
  function read() {
    // Links of the site ask in the query; what a reader chose stands in the fragment and goes before it.
    var asked = new URLSearchParams(location.hash.length > 1 ? location.hash.slice(1) : location.search);
    var amount = function (name) { var n = Number(asked.get(name)); return asked.has(name) && n >= 0 && isFinite(n) ? n : null; };
    state.model = by_id(fit.models, asked.get("model")) || state.model;
    if (fit.quants.indexOf(asked.get("quant")) >= 0) state.quant = fit.quants.indexOf(asked.get("quant"));
    if (fit.kv.indexOf(asked.get("kv")) >= 0) state.kv = fit.kv.indexOf(asked.get("kv"));
    if (amount("ctx")) state.ctx = amount("ctx");
    var device = by_id(fit.devices, asked.get("gpu") || asked.get("device"));
    if (device) state.device = device;
    if (state.device) state.memory = state.device.mem;
    if (amount("mem")) { state.memory = amount("mem"); state.device = device && device.mem === state.memory ? device : null; }
    if (amount("others") !== null) state.others = amount("others") * MIB;
    settle();
  }
  var saving = 0;
  function save() {
    clearTimeout(saving);
    saving = setTimeout(function () {
      var kept = new URLSearchParams({ model: state.model.id, quant: fit.quants[state.quant], ctx: state.ctx, kv: fit.kv[state.kv] });
      if (state.device) kept.set("gpu", state.device.id); else kept.set("mem", Math.round(state.memory));
      if (state.others) kept.set("others", Math.round(state.others / MIB));
      try { history.replaceState(null, "", "#" + kept); } catch (_) { /* file:// may refuse */ }
    }, 200);
  }

  // ---- building ------------------------------------------------------------
  function make(name, text, kind) {
    var element = document.createElement(name);
    if (text != null) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  }
  function draw(name, attributes, text) {
    var element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (var key in attributes) element.setAttribute(key, attributes[key]);
    if (text != null) element.textContent = text;
    return element;
  }
  function grouped(select, list, group) {
    var groups = {};
    list.forEach(function (entry) {
      var place = groups[entry[group]];
      if (!place) { place = groups[entry[group]] = make("optgroup"); place.label = entry[group]; select.appendChild(place); }
      var option = make("option", entry.name);
      option.value = entry.id;
      place.appendChild(option);
    });
  }
  function radio(name, value, label, parent) {
    var wrap = make("label"), input = make("input");
    input.type = "radio"; input.name = name; input.value = value;
    wrap.appendChild(input);
    wrap.appendChild(make("span", label));
    parent.appendChild(wrap);
    return input;
  }

  // A command that wraps between its words, never inside a flag.
  function command(id, text) {
    $(id).replaceChildren();
    text.split(" ").forEach(function (word, i) { $(id).append(i ? " " : "", word[0] === "-" ? make("span", word, "flag") : word); });
  }

  var ladder_of = null, ladder = [];
  function build_model() {
    if (ladder_of === state.model) return;
    ladder_of = state.model;
    ladder = [];
    $("quant").replaceChildren();
    $("ladder").replaceChildren();
    fit.quants.forEach(function (name, i) {
      if (!state.model.q[i]) return;
      var option = make("option", name);
      option.value = i;
      $("quant").appendChild(option);
      var row = make("tr"), head = make("th");
      head.scope = "row";
      var input = radio("ladder", i, name, head);
      input.addEventListener("change", function () { state.quant = i; update(); });
      var cells = ["", "num", "num", "num"].map(function (kind) { return make("td", null, kind); });
      var graph = make("td", null, "graph"), mini = draw("svg", { "class": "mini", "aria-hidden": "true" });
      graph.setAttribute("aria-hidden", "true");
      graph.appendChild(mini);
      row.append.apply(row, [head].concat(cells, graph));
      $("ladder").appendChild(row);
      ladder.push({ quant: i, input: input, cells: cells, mini: mini });
    });
    $("ctx-max").textContent = whole(state.model.max);
    $("ctx").max = state.model.max;
  }

  // ---- the bar ---------------------------------------------------------------
  function bar(parts, room) {
    var held = parts.reduce(function (sum, part) { return sum + part.bytes; }, 0);
    var scale = Math.max(state.memory, held) || 1, width = $("bar").clientWidth || 600, TOP = 10, TALL = 60;
    var group = $("bar-parts"), x = 0, percent = function (n) { return (n / scale * 100).toFixed(3) + "%"; };
    group.replaceChildren();
    parts.forEach(function (part) {
      if (!part.bytes) return;
      group.appendChild(draw("rect", { "class": "seg seg-" + part.name, x: percent(x), y: TOP, width: percent(part.bytes), height: TALL }));
      if (part.tag && part.bytes / scale * width > part.tag.length * 9 + 16) {
        group.appendChild(draw("text", { "class": "tag tag-" + part.name, x: percent(x), dx: 9, y: TOP + TALL / 2 + 5 }, part.tag));
      }
      x += part.bytes;
    });
    if (held > state.memory) group.appendChild(draw("rect", { "class": "seg seg-over", x: percent(state.memory), y: TOP, width: percent(held - state.memory), height: TALL }));
    else group.appendChild(draw("rect", { "class": "seg seg-free", x: percent(held), y: TOP, width: percent(state.memory - held), height: TALL }));
    // A scale in GiB, about one figure every 60 pixels.
    var step = 0.25;
    while (scale / GIB / step * 60 > width) step *= 2;
    for (var at = 0; at * GIB <= scale; at += step) {
      var last = at * GIB > scale * 0.96;
      group.appendChild(draw("rect", { "class": "tick", x: percent(at * GIB), y: TOP + TALL + 3, width: 1, height: 7 }));
      group.appendChild(draw("text", { "class": "scale", x: percent(at * GIB), y: TOP + TALL + 26, "text-anchor": at === 0 ? "start" : last ? "end" : "middle" }, at + (at === 0 ? " GiB" : "")));
    }
    group.appendChild(draw("rect", { "class": "limit", x: percent(state.memory), y: 0, width: 3, height: TALL + 2 * TOP, transform: "translate(-3)" }));
    $("bar").setAttribute("aria-label", "Memory bar: " + parts.filter(function (p) { return p.bytes; }).map(function (p) { return p.label + " " + gib(p.bytes) + " GiB"; }).join(", ") + ", of " + gib(state.memory) + " GiB");
  }
  function table(parts, sum, room) {
    var body = $("parts");
    body.replaceChildren();
    var line = function (part, kind) {
      var row = make("tr", null, kind), head = make("th"), key = draw("svg", { "class": "key", width: 18, height: 18, "aria-hidden": "true" });
      head.scope = "row";
      if (part.name) { key.appendChild(draw("rect", { "class": "seg seg-" + part.name, width: 18, height: 18 })); head.appendChild(key); }
      head.appendChild(document.createTextNode(part.label));
      row.append(head, make("td", part.text || gib(part.bytes), "num"), make("td", part.text_gb || gb(part.bytes), "num"), make("td", part.basis, "basis"));
      row.title = part.text ? "" : whole(part.bytes) + " bytes";
      body.appendChild(row);
    };
    parts.filter(function (part) { return !part.merged; }).forEach(function (part) { line(part); });
    line({ label: "Sum", text: gib(sum + LOW) + " to " + gib(sum + HIGH), text_gb: gb(sum + LOW) + " to " + gb(sum + HIGH), basis: "" }, "sum");
    var free = state.memory - sum - HIGH;
    line(free >= 0 ? { name: "free", label: "Free, at least", bytes: free, basis: "left over" } : { name: "over", label: "Over, at most", bytes: -free, basis: "missing" });
  }

  // ---- everything ------------------------------------------------------------
  var saying = 0;
  function update() {
    settle();
    build_model();
    var model = state.model, sizes = need(model, state.quant, state.kv, state.ctx);
    var room = state.memory - state.others, covered = !state.device || state.device.ok;
    var verdict = covered ? judge(sizes.total, room) : "unknown";
    var spare = room - sizes.total - HIGH, short = sizes.total + LOW - room;
    var margin = verdict === "fits" ? mib(spare) + " to spare, even when the driver takes its most."
      : verdict === "tight" ? "It loads if the driver takes less than " + mib(room - sizes.total) + ". Drivers take " + mib(LOW) + " to " + mib(HIGH) + "."
      : verdict === "no" ? mib(short, true) + " short at the least."
      : "These are the figures of CUDA. On this device buffers are allocated by other rules, so there is no verdict.";

    $("verdict").className = "big verdict verdict-" + verdict;
    $("verdict").textContent = WORDS[verdict];
    $("margin").textContent = margin;
    $("dock-verdict").className = "verdict verdict-" + verdict;
    $("dock-verdict").textContent = WORDS[verdict];
    $("dock-margin").textContent = verdict === "fits" ? mib(spare) + " to spare" : verdict === "no" ? mib(short, true) + " short" : "";
    clearTimeout(saying);
    saying = setTimeout(function () { $("say").textContent = model.name + ", " + fit.quants[state.quant] + ", " + tokens(state.ctx) + ": " + WORDS[verdict] + ". " + margin; }, 700);

    var parts = [
      { name: "weights", label: "Weights", tag: "Weights", bytes: sizes.weights, basis: "exact" },
      { name: "kv", label: "K/V cache", tag: "Cache", bytes: sizes.cache, basis: "exact" },
      { name: "compute", label: "Compute buffer", bytes: sizes.compute, basis: "exact" },
      { name: "driver", label: "Driver", bytes: LOW, text: gib(LOW) + " to " + gib(HIGH), text_gb: gb(LOW) + " to " + gb(HIGH), basis: "range" },
      { name: "maybe", label: "Driver, up to", bytes: HIGH - LOW, merged: true }
    ];
    if (state.others) parts.push({ name: "other", label: "Other programs", bytes: state.others, basis: "given" });
    bar(parts, room);
    table(parts, sizes.total + state.others, room);

    // What would fit instead: each a click.
    var offers = $("best"), focus = document.activeElement && offers.contains(document.activeElement) ? document.activeElement.dataset.what : null;
    offers.replaceChildren();
    var offer = function (what, title, text, apply, now) {
      var button = make("button");
      button.type = "button";
      button.dataset.what = what;
      button.append(make("span", title), make("b", text));
      if (apply || now) button.append(make("em", apply ? "Use it" : "in use"));
      if (apply) button.addEventListener("click", apply); else button.disabled = true;
      offers.appendChild(button);
    };
    if (covered) {
      var most = largest(model, state.quant, state.kv, room, HIGH);
      offer("ctx", "Largest context that fits", most ? tokens(most) : "none with " + fit.quants[state.quant], most && most !== state.ctx ? function () { state.ctx = most; update(); } : null, most === state.ctx);
      var top = best(model, state.kv, state.ctx, room, HIGH);
      offer("quant", "Best quantization that fits", top < 0 ? "none at this context" : fit.quants[top], top >= 0 && top !== state.quant ? function () { state.quant = top; update(); } : null, top === state.quant);
      if (focus) { var again = offers.querySelector("[data-what=" + focus + "]"); if (again.disabled) { $("ctx").value = state.ctx; $("ctx").focus(); } else again.focus(); }
    }
    var widest = Math.max.apply(null, ladder.map(function (row) { return need(model, row.quant, state.kv, state.ctx).total + HIGH; }));
    var span = Math.max(room, Math.min(widest, room * 3)), part = function (n) { return Math.max(0, Math.min(n, span) / span * 100).toFixed(2) + "%"; };
    ladder.forEach(function (row) {
      var sizes_of = need(model, row.quant, state.kv, state.ctx), word = judge(sizes_of.total, room), most = largest(model, row.quant, state.kv, room, HIGH);
      row.input.checked = row.quant === state.quant;
      row.cells[2].textContent = gib(sizes_of.total) + " GiB";
      row.cells[3].textContent = gib(model.q[row.quant][0]) + " GiB";
      row.cells[0].replaceChildren(covered ? make("span", WORDS[word].toLowerCase(), "verdict verdict-" + word) : document.createTextNode("–"));
      row.mini.replaceChildren(
        draw("rect", { "class": "seg seg-weights", width: part(Math.min(sizes_of.weights, room)), height: 14 }),
        draw("rect", { "class": "seg seg-kv", x: part(Math.min(sizes_of.weights, room)), width: part(Math.max(0, Math.min(sizes_of.total, room) - sizes_of.weights)), height: 14 }));
      if (sizes_of.total > room) row.mini.appendChild(draw("rect", { "class": "seg seg-over", x: part(room), width: part(Math.min(sizes_of.total, span) - room), height: 14 }));
      row.mini.appendChild(draw("rect", { "class": "limit", x: part(room), y: -5, width: 2, height: 24, transform: "translate(-2)" }));
      row.cells[1].textContent = !covered ? "–" : most ? whole(most) : "none";
    });

    var kv = fit.kv[state.kv], file = model.name.replace(/[^\w.-]+/g, "-") + "-" + fit.quants[state.quant] + ".gguf";
    command("command-llama", "llama-server -m " + file + " -ngl 999 -c " + state.ctx + " -ctk " + kv + " -ctv " + kv + " -fa on");
    command("command-ollama", "OLLAMA_CONTEXT_LENGTH=" + state.ctx + " OLLAMA_KV_CACHE_TYPE=" + kv + " OLLAMA_FLASH_ATTENTION=1 ollama serve");
    var pages = $("pages"), up = document.documentElement.dataset.root;
    pages.replaceChildren("All contexts and caches as tables: ");
    var page = function (folder, entry) { var link = make("a", entry.name); link.href = up + folder + "/" + entry.id + "/index.html"; pages.append(link); };
    page("models", model);
    if (state.device) { pages.append(" and "); page("hardware", state.device); }
    $("meet").hidden = verdict !== "no";
    controls();
    save();
  }

  // ---- controls ----------------------------------------------------------------
  var scale = function () { return Math.log(Math.max(state.model.max, 512) / CELL); };
  function controls() {
    var put = function (id, value) { if ($(id) !== document.activeElement) $(id).value = value; };
    put("model", state.model.id);
    put("quant", state.quant);
    put("ctx", state.ctx);
    put("ctx-slide", Math.round(1000 * Math.log(Math.max(state.ctx, CELL) / CELL) / scale()));
    $("ctx-slide").setAttribute("aria-valuetext", tokens(state.ctx));
    put("device", state.device ? state.device.id : "");
    var unit = $("memory-unit").value === "MiB" ? MIB : GIB;
    put("memory", Math.round(state.memory / unit * 1000) / 1000);
    put("others", Math.round(state.others / MIB));
    Array.prototype.forEach.call($("kv").querySelectorAll("input"), function (input) { input.checked = Number(input.value) === state.kv; });
  }
  function on(id, event, act) { $(id).addEventListener(event, function () { if (act(this.value) !== false) update(); }); }

  grouped($("model"), fit.models, "family");
  $("device").appendChild(make("option", "Other: the amount below")).value = "";
  grouped($("device"), fit.devices, "vendor");
  fit.kv.forEach(function (name, i) { radio("kv", i, name, $("kv")).addEventListener("change", function () { state.kv = i; update(); }); });

  on("model", "change", function (id) { state.model = by_id(fit.models, id); });
  on("quant", "change", function (i) { state.quant = Number(i); });
  on("ctx", "input", function (text) { var n = Number(text); if (!(n >= 1)) return false; state.ctx = n; });
  on("ctx", "change", function () { $("ctx").value = state.ctx; });
  on("ctx-slide", "input", function (at) {
    var raw = CELL * Math.exp(at / 1000 * scale()), grain = raw >= 16384 ? 1024 : CELL;
    state.ctx = Number(at) === 1000 ? state.model.max : Math.round(raw / grain) * grain;
  });
  on("device", "change", function (id) { state.device = by_id(fit.devices, id) || null; if (state.device) state.memory = state.device.mem; });
  on("memory", "input", function (text) { var n = Number(text); if (!(n > 0)) return false; state.memory = n * ($("memory-unit").value === "MiB" ? MIB : GIB); state.device = null; });
  on("memory-unit", "change", function () {});
  on("others", "input", function (text) { state.others = Math.max(0, Number(text) || 0) * MIB; });
  addEventListener("hashchange", function () { read(); update(); });
  var resizing = 0;
  addEventListener("resize", function () { clearTimeout(resizing); resizing = setTimeout(update, 150); });

  read();
  update();
})();
