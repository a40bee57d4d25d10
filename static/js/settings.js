// What a reader of the calculator has chosen: what it is at the start, and how an address says it. Works without a page.
//
// A state is {model, chosen_quant (null: the usual one), quant (what that comes to), ctx, k, v (positions of cache types),
// slots, runner ("server", "library", "ollama", "vllm"), layers (null: all, "auto", or so many), experts in RAM (0, "auto",
// "all", or of so many first layers), devices [{id, name, mem, ok, others, entry}], what of
// the address was not understood (misread), and for vLLM dtype, util (percent), fp8}.
(function (global) {
  "use strict";
  var look = global.kbgenFit, GIB = look.GIB, MIB = look.MIB;
  var MODEL = "llama-3.1-8b-instruct", START = { model: MODEL, chosen_quant: null, k: 0, v: 0, slots: 1, runner: "server", layers: null, experts: 0, dtype: 0, util: 92, fp8: false };
  var USUAL_DEVICE = "geforce-rtx-3060-12-gb", MOST_DEVICES = 4, MOST_MEMORY = 1048576 * GIB;
  var RUNNERS = ["server", "library", "ollama", "vllm"];
  var NAMES = ["model", "quant", "ctx", "kv", "k", "v", "slots", "run", "ngl", "moe", "dtype", "util", "cache", "gpu", "device", "mem", "others"];
  var by_id = function (list, id) { return list.filter(function (entry) { return entry.id === id; })[0]; };
  var number = function (text, least) { var n = Number(text); return text && n >= least && isFinite(n) ? n : null; };

  // `own` is the reader's card, if one is remembered: with an address that names none one begins with it.
  global.kbgenSettings = function (index, own) {
    var USUAL = look.but(START, { ctx: index.ctx });
    function start() {
      var now = look.but(USUAL, {});
      if (!by_id(index.models, now.model)) now.model = index.models[0].id;
      now.devices = [device([own, USUAL_DEVICE].filter(function (id) { return by_id(index.devices, id); })[0] || 12 * GIB)];
      return now;
    }
    // A device of the catalog by its name, or an amount of memory of one's own.
    function device(what) {
      var entry = by_id(index.devices, what);
      return entry ? { id: entry.id, name: entry.name, mem: entry.mem, vis: entry.vis, ok: entry.ok, others: 0, entry: entry } : seen({ id: "", name: t("Your device"), mem: Math.min(Number(what), MOST_MEMORY), ok: true, others: 0, entry: null });
    }
    // What programs see of a device's memory: of an amount the least of the cards that are sold with it, as src/site/visible.rs has it.
    function seen(device) {
      var alike = index.devices.filter(function (entry) { return entry.ok && entry.mem === device.mem; }).map(function (entry) { return entry.vis; });
      device.vis = device.entry && device.entry.mem === device.mem ? device.entry.vis : alike.length ? Math.min.apply(null, alike) : Math.floor(device.mem / 1000) * index.visible;
      return device;
    }
    // Links of the site ask in the query; what a reader chose stands in the fragment. `misread` of the state lists what was
    // not understood as {name, text, why}: the start takes its place, and nobody may mistake that for an answer.
    function read(text) {
      var asked = new URLSearchParams(text.replace(/^[#?]/, "")), state = start(), misread = state.misread = [];
      var reject = function (name, text, why) { misread.push({ name: name, text: text.replace(/[\p{C}]/gu, " ").slice(0, 60), why: why }); };
      // The value that `parse` makes of a parameter; `usual` if the address has none, or none that makes sense.
      function take(name, parse, usual, why) {
        var text = asked.get(name), value = text ? parse(text) : null;
        if (text && value === null) reject(name, text, why || t("not a valid value"));
        return value === null ? usual : value;
      }
      var one_of = function (list) { return function (text) { return list.indexOf(text) < 0 ? null : text; }; };
      var place_in = function (list) { return function (text) { var at = list.indexOf(text); return at < 0 ? null : at; }; };
      var between = function (least, most) { return function (text) { var n = number(text, least); return n > most ? null : n; }; };
      state.model = take("model", function (id) { return by_id(index.models, id) ? id : null; }, state.model, t("unknown model"));
      state.chosen_quant = take("quant", one_of(index.quants), null);
      state.ctx = take("ctx", between(1), state.ctx, t("not a number of tokens"));
      // `kv` is both types in one, as links of older pages have it.
      state.k = state.v = take("kv", place_in(index.kv), state.k);
      state.k = take("k", place_in(index.kv), state.k);
      state.v = take("v", place_in(index.kv), state.v);
      state.slots = Number(take("slots", one_of(look.SLOTS.map(String)), state.slots));
      state.runner = take("run", one_of(RUNNERS), state.runner);
      state.layers = take("ngl", function (text) { return text === "auto" ? text : number(text, 0); }, null);
      state.experts = take("moe", function (text) { return /^(auto|all)$/.test(text) ? text : number(text, 0); }, 0);
      state.dtype = take("dtype", place_in(index.dtypes), state.dtype);
      state.util = take("util", between(1, 100), state.util);
      state.fp8 = take("cache", one_of(["fp8"]), "") === "fp8";
      var device_why = t("unknown device, and not an amount of memory in bytes");
      var named = asked.get("gpu") ? "gpu" : "device", devices = [];
      (asked.get(named) || "").split(",").filter(Boolean).forEach(function (what) {
        if (!by_id(index.devices, what) && !number(what, MIB)) reject(named, what, device_why);
        else if (devices.length === MOST_DEVICES) reject(named, what, t("more than {n} devices", { n: MOST_DEVICES }));
        else devices.push(device(what));
      });
      var amount = take("mem", between(MIB), null, t("not an amount of memory in bytes"));
      if (amount && !(devices.length && devices[0].mem === amount)) devices = [device(amount)];
      if (devices.length) state.devices = devices;
      (asked.get("others") || "").split(",").forEach(function (text, i) {
        if (text && number(text, 0) === null) reject("others", text, t("not a number of MiB"));
        else if (text && state.devices[i]) state.devices[i].others = number(text, 0) * MIB;
      });
      // A query may carry what other sites put there.
      if (text[0] === "#") asked.forEach(function (value, name) { if (NAMES.indexOf(name) < 0) reject(name.slice(0, 60), value, t("unknown setting")); });
      // What the model has to offer is known once its table is there.
      state.unchecked = ["quant", "ctx"].filter(function (name) { return asked.get(name); });
      return state;
    }
    // What differs from the start; the model always, so that it never falls back to the query, and the devices where a
    // remembered card would take their place.
    function address(state) {
      var kept = new URLSearchParams({ model: state.model }), put = function (name, value, usual) { if (value !== usual) kept.set(name, value); };
      var each = function (of) { return state.devices.map(of).join(","); };
      put("quant", state.chosen_quant, null);
      put("ctx", state.ctx, USUAL.ctx);
      put("k", state.k, USUAL.k);
      put("v", state.v, USUAL.v);
      put("slots", state.slots, USUAL.slots);
      put("run", state.runner, USUAL.runner);
      put("gpu", each(function (device) { return device.id || Math.round(device.mem); }), own ? null : USUAL_DEVICE);
      put("others", each(function (device) { return Math.round(device.others / MIB); }), each(function () { return 0; }));
      put("ngl", state.layers, USUAL.layers);
      put("moe", state.experts, USUAL.experts);
      put("dtype", state.dtype, USUAL.dtype);
      put("util", state.util, USUAL.util);
      put("cache", state.fp8 ? "fp8" : "", "");
      if (kept.has("k")) kept.set("k", index.kv[state.k]);
      if (kept.has("v")) kept.set("v", index.kv[state.v]);
      if (kept.has("dtype")) kept.set("dtype", index.dtypes[state.dtype]);
      return "#" + kept.toString().replace(/%2C/g, ",");
    }
    // Brings a state into what its model and its runner have.
    function settle(state, table) {
      state.devices.forEach(seen);
      var has = function (name) { return table.quants[index.quants.indexOf(name)]; };
      state.unchecked.splice(0).forEach(function (name) {
        if (state.misread.some(function (each) { return each.name === "model" || each.name === name; })) return;
        if (name === "quant" && !has(state.chosen_quant)) state.misread.push({ name: name, text: state.chosen_quant, why: t("not available for this model") });
        if (name === "ctx" && state.ctx > table.max) state.misread.push({ name: name, text: String(state.ctx), why: t("more than the {n} tokens of this model", { n: table.max }) });
      });
      state.quant = has(state.chosen_quant) ? state.chosen_quant : index.quants[look.usual(table, index.quants)];
      state.ctx = Math.max(1, Math.min(table.max, Math.round(state.ctx) || 1));
      if (typeof state.layers === "number") state.layers = state.layers > table.layers ? null : Math.round(state.layers);
      if (!look.has_experts(table)) state.experts = 0;
      if (typeof state.experts === "number") state.experts = Math.min(table.layers, Math.round(state.experts));
      // Ollama has one type for both, and a cache for each request: the tables hold one.
      if (state.runner === "ollama") { state.v = state.k; state.slots = 1; state.experts = 0; }
    }
    return { usual: USUAL, most_devices: MOST_DEVICES, device: device, read: read, address: address, settle: settle };
  };
})(typeof window === "undefined" ? globalThis : window);
