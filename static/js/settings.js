// State of the calculator: defaults, and its encoding in the address. Independent of the page.
// A state is {model, chosenQuant (null: default), quant (the resolved one), ctx, k, v (indices of cache types), slots,
// runner ("server", "library", "ollama", "vllm"), layers (null: all, "auto", or a number), experts in RAM (0, "auto",
// "all", or the number of first layers), devices [{id, name, mem, ok, others, entry}], invalid parts of the address
// (misread), and for vLLM dtype, util (percent), fp8}.
(() => {
  "use strict";
  const { t } = kbgen;
  const lookup = kbgen.fit;
  const GIB = lookup.GIB;
  const MIB = lookup.MIB;
  const MODEL = "llama-3.1-8b-instruct";
  const START = {
    model: MODEL,
    chosenQuant: null,
    k: 0,
    v: 0,
    slots: 1,
    runner: "server",
    layers: null,
    experts: 0,
    dtype: 0,
    util: 92,
    fp8: false,
  };
  const USUAL_DEVICE = "geforce-rtx-3060-12-gb";
  const MOST_DEVICES = 4;
  const MOST_MEMORY = 1048576 * GIB;
  const RUNNERS = ["server", "library", "ollama", "vllm"];
  const NAMES = [
    "model",
    "quant",
    "ctx",
    "kv",
    "k",
    "v",
    "slots",
    "run",
    "ngl",
    "moe",
    "dtype",
    "util",
    "cache",
    "gpu",
    "device",
    "mem",
    "others",
  ];
  const byId = (list, id) => list.filter(entry => entry.id === id)[0];
  const number = (text, least) => {
    const n = Number(text);
    return text && n >= least && isFinite(n) ? n : null;
  };

  // `own` is the reader's remembered device, the default if the address names none.
  kbgen.settings = (index, own) => {
    const USUAL = lookup.but(START, { ctx: index.ctx });
    function start() {
      const now = lookup.but(USUAL, {});
      if (!byId(index.models, now.model)) now.model = index.models[0].id;
      now.devices = [device([own, USUAL_DEVICE].filter(id => byId(index.devices, id))[0] || 12 * GIB)];
      return now;
    }
    // A device of the catalog by its name, or a custom amount of memory.
    function device(what) {
      const entry = byId(index.devices, what);
      return entry
        ? { id: entry.id, name: entry.name, mem: entry.mem, vis: entry.vis, ok: entry.ok, others: 0, entry }
        : seen({
            id: "",
            name: t("Your device"),
            mem: Math.min(Number(what), MOST_MEMORY),
            ok: true,
            others: 0,
            entry: null,
          });
    }
    // Usable memory of a device: for a custom amount, the minimum of GPUs sold with it, as in src/site/visible.rs.
    function seen(device) {
      const alike = index.devices.filter(entry => entry.ok && entry.mem === device.mem).map(entry => entry.vis);
      device.vis =
        device.entry && device.entry.mem === device.mem
          ? device.entry.vis
          : alike.length
            ? Math.min(...alike)
            : Math.floor(device.mem / 1000) * index.visible;
      return device;
    }
    // Links of the site use the query; the reader's choices are in the fragment. `misread` of the state lists invalid
    // values as {name, text, why}: their defaults are used, and no verdict is shown until the reader confirms.
    function read(text) {
      const asked = new URLSearchParams(text.replace(/^[#?]/, ""));
      const state = start();
      const misread = (state.misread = []);
      const reject = (name, text, why) => {
        misread.push({ name, text: text.replace(/[\p{C}]/gu, " ").slice(0, 60), why });
      };
      // The parsed value of a parameter; `usual` if it is missing or invalid.
      function take(name, parse, usual, why) {
        const text = asked.get(name);
        const value = text ? parse(text) : null;
        if (text && value === null) reject(name, text, why || t("not a valid value"));
        return value === null ? usual : value;
      }
      const oneOf = list => text => (list.indexOf(text) < 0 ? null : text);
      const placeIn = list => text => {
        const at = list.indexOf(text);
        return at < 0 ? null : at;
      };
      const between = (least, most) => text => {
        const n = number(text, least);
        return n > most ? null : n;
      };
      state.model = take("model", id => (byId(index.models, id) ? id : null), state.model, t("unknown model"));
      state.chosenQuant = take("quant", oneOf(index.quants), null);
      state.ctx = take("ctx", between(1), state.ctx, t("not a number of tokens"));
      // `kv` sets both types, for links of older pages.
      state.k = state.v = take("kv", placeIn(index.kv), state.k);
      state.k = take("k", placeIn(index.kv), state.k);
      state.v = take("v", placeIn(index.kv), state.v);
      state.slots = Number(take("slots", oneOf(lookup.SLOTS.map(String)), state.slots));
      state.runner = take("run", oneOf(RUNNERS), state.runner);
      state.layers = take("ngl", text => (text === "auto" ? text : number(text, 0)), null);
      state.experts = take("moe", text => (/^(auto|all)$/.test(text) ? text : number(text, 0)), 0);
      state.dtype = take("dtype", placeIn(index.dtypes), state.dtype);
      state.util = take("util", between(1, 100), state.util);
      state.fp8 = take("cache", oneOf(["fp8"]), "") === "fp8";
      const deviceWhy = t("unknown device, and not an amount of memory in bytes");
      const named = asked.get("gpu") ? "gpu" : "device";
      let devices = [];
      (asked.get(named) || "")
        .split(",")
        .filter(Boolean)
        .forEach(what => {
          if (!byId(index.devices, what) && !number(what, MIB)) reject(named, what, deviceWhy);
          else if (devices.length === MOST_DEVICES) {
            reject(named, what, t("more than {n} devices", { n: MOST_DEVICES }));
          } else devices.push(device(what));
        });
      const amount = take("mem", between(MIB), null, t("not an amount of memory in bytes"));
      if (amount && !(devices.length && devices[0].mem === amount)) devices = [device(amount)];
      if (devices.length) state.devices = devices;
      (asked.get("others") || "").split(",").forEach((text, i) => {
        if (text && number(text, 0) === null) reject("others", text, t("not a number of MiB"));
        else if (text && state.devices[i]) state.devices[i].others = number(text, 0) * MIB;
      });
      // A query may contain parameters of other sites.
      if (text[0] === "#") {
        asked.forEach((value, name) => {
          if (NAMES.indexOf(name) < 0) reject(name.slice(0, 60), value, t("unknown setting"));
        });
      }
      // Availability in the model is checked when its table is loaded.
      state.unchecked = ["quant", "ctx"].filter(name => asked.get(name));
      return state;
    }
    // All values that differ from the defaults; always the model, so that the query does not apply, and the devices if
    // a remembered one would apply.
    function address(state) {
      const kept = new URLSearchParams({ model: state.model });
      const put = (name, value, usual) => {
        if (value !== usual) kept.set(name, value);
      };
      const each = of => state.devices.map(of).join(",");
      put("quant", state.chosenQuant, null);
      put("ctx", state.ctx, USUAL.ctx);
      put("k", state.k, USUAL.k);
      put("v", state.v, USUAL.v);
      put("slots", state.slots, USUAL.slots);
      put("run", state.runner, USUAL.runner);
      put(
        "gpu",
        each(device => device.id || Math.round(device.mem)),
        own ? null : USUAL_DEVICE,
      );
      put(
        "others",
        each(device => Math.round(device.others / MIB)),
        each(() => 0),
      );
      put("ngl", state.layers, USUAL.layers);
      put("moe", state.experts, USUAL.experts);
      put("dtype", state.dtype, USUAL.dtype);
      put("util", state.util, USUAL.util);
      put("cache", state.fp8 ? "fp8" : "", "");
      if (kept.has("k")) kept.set("k", index.kv[state.k]);
      if (kept.has("v")) kept.set("v", index.kv[state.v]);
      if (kept.has("dtype")) kept.set("dtype", index.dtypes[state.dtype]);
      return `#${kept.toString().replace(/%2C/g, ",")}`;
    }
    // Limits a state to what its model and inference engine support.
    function settle(state, table) {
      state.devices.forEach(seen);
      const has = name => table.quants[index.quants.indexOf(name)];
      state.unchecked.splice(0).forEach(name => {
        if (state.misread.some(each => each.name === "model" || each.name === name)) return;
        if (name === "quant" && !has(state.chosenQuant)) {
          state.misread.push({ name, text: state.chosenQuant, why: t("not available for this model") });
        }
        if (name === "ctx" && state.ctx > table.max) {
          state.misread.push({
            name,
            text: String(state.ctx),
            why: t("more than the {n} tokens of this model", { n: table.max }),
          });
        }
      });
      state.quant = has(state.chosenQuant) ? state.chosenQuant : index.quants[lookup.usual(table, index.quants)];
      state.ctx = Math.max(1, Math.min(table.max, Math.round(state.ctx) || 1));
      if (typeof state.layers === "number") {
        state.layers = state.layers > table.layers ? null : Math.round(state.layers);
      }
      if (!lookup.hasExperts(table)) state.experts = 0;
      if (typeof state.experts === "number") state.experts = Math.min(table.layers, Math.round(state.experts));
      // Ollama has one cache type, and a separate cache per request: the tables contain one.
      if (state.runner === "ollama") {
        state.v = state.k;
        state.slots = 1;
        state.experts = 0;
      }
    }
    return { usual: USUAL, mostDevices: MOST_DEVICES, device, read, address, settle };
  };
})();
