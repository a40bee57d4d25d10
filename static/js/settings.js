// What a reader of the calculator has chosen: what it is at the start, and how an address says it. Works without a page.
//
// A state is {model, chosen_quant (null: the usual one), quant (what that comes to), ctx, k, v (positions of cache types),
// slots, runner ("server", "library", "ollama", "vllm"), layers (null: all, "auto", or so many), experts in RAM (0, "auto",
// "all", or of so many first layers), devices [{id, name, mem, ok, others, entry}], and for vLLM dtype, util (percent), fp8}.
(function (global) {
  "use strict";
  var look = global.kbgenFit, GIB = look.GIB, MIB = look.MIB;
  var MODEL = "llama-3.1-8b-instruct", START = { model: MODEL, chosen_quant: null, k: 0, v: 0, slots: 1, runner: "server", layers: null, experts: 0, dtype: 0, util: 92, fp8: false };
  var USUAL_DEVICE = "geforce-rtx-3060-12-gb", MOST_DEVICES = 4, MOST_MEMORY = 1048576 * GIB;
  var RUNNERS = ["server", "library", "ollama", "vllm"];
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
    // Links of the site ask in the query; what a reader chose stands in the fragment.
    function read(text) {
      var asked = new URLSearchParams(text.replace(/^[#?]/, "")), state = start();
      var one_of = function (name, list) { return list.indexOf(asked.get(name)); };
      if (by_id(index.models, asked.get("model"))) state.model = asked.get("model");
      if (one_of("quant", index.quants) >= 0) state.chosen_quant = asked.get("quant");
      if (number(asked.get("ctx"), 1)) state.ctx = number(asked.get("ctx"), 1);
      // `kv` is both types in one, as links of older pages have it.
      ["kv", "k", "v"].forEach(function (name) {
        var type = one_of(name, index.kv);
        if (type >= 0 && name !== "v") state.k = type;
        if (type >= 0 && name !== "k") state.v = type;
      });
      if (one_of("slots", look.SLOTS.map(String)) >= 0) state.slots = Number(asked.get("slots"));
      if (one_of("run", RUNNERS) >= 0) state.runner = asked.get("run");
      state.layers = asked.get("ngl") === "auto" ? "auto" : number(asked.get("ngl"), 0);
      state.experts = /^(auto|all)$/.test(asked.get("moe") || "") ? asked.get("moe") : number(asked.get("moe"), 0) || 0;
      if (one_of("dtype", index.dtypes) >= 0) state.dtype = one_of("dtype", index.dtypes);
      if (number(asked.get("util"), 1)) state.util = Math.min(100, number(asked.get("util"), 1));
      state.fp8 = asked.get("cache") === "fp8";
      var known = function (what) { return by_id(index.devices, what) || number(what, 1); };
      var devices = (asked.get("gpu") || asked.get("device") || "").split(",").filter(known).slice(0, MOST_DEVICES).map(device), amount = number(asked.get("mem"), 1);
      if (amount && !(devices.length && devices[0].mem === amount)) devices = [device(amount)];
      if (devices.length) state.devices = devices;
      (asked.get("others") || "").split(",").forEach(function (text, i) { if (state.devices[i]) state.devices[i].others = (number(text, 0) || 0) * MIB; });
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
