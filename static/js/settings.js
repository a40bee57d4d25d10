// State of the calculator: defaults, and its encoding in the address. Independent of the page.
// A state is {model, chosenQuant (null: default), quant (the resolved one), ctx, k, v (indices of cache types), slots,
// runner ("server", "library", "ollama", "vllm"), layers (null: all, "auto", or a number), experts in RAM (0, "auto",
// "all", or the number of first layers), ram (bytes, 0 if not given), devices [{id, name, mem, ok, others, entry,
// isAssumed: whether it is sold with several memory sizes and none was named}],
// invalid parts of the address (misread), and for vLLM dtype, util (percent), fp8}.
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
    ram: 0,
    dtype: 0,
    util: 92,
    fp8: false,
    os: null,
  };
  // A device of the catalog and, if it is sold with several memory sizes, the size in GiB: "apple-m4@24".
  const specOf = device =>
    !device.id ? String(Math.round(device.mem)) : device.id + (device.entry.sizes ? `@${device.mem / GIB}` : "");
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
    "ram",
    "os",
    "file",
  ];
  const SYSTEMS = ["linux", "windows", "macos", "macos-15", "macos-26"];
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
      now.devices = [[own, USUAL_DEVICE, 12 * GIB].map(smallest).filter(Boolean)[0]];
      return now;
    }
    // A device of the catalog with its memory size, or a custom amount of memory; null if it is neither.
    function device(what) {
      const [id, gib] = String(what).split("@");
      const entry = byId(index.devices, id);
      if (entry && gib === undefined) {
        return { ...entry, others: 0, entry, isAssumed: Boolean(entry.sizes) };
      }
      if (entry) return sized({ ...entry, others: 0, entry }, Number(gib) * GIB);
      if (!number(what, MIB)) return null;
      return seen({
        id: "",
        name: t("Your device"),
        mem: Math.min(Number(what), MOST_MEMORY),
        ok: true,
        others: 0,
        entry: null,
      });
    }
    // A device for which nobody has named a memory size has the smallest: what fits there fits on all. A link without a
    // size is for the largest, as on the page of the device.
    function smallest(what) {
      const found = device(what);
      if (found && found.isAssumed) [[found.mem]] = found.entry.sizes;
      return found;
    }
    // Gives a device of the catalog one of its memory sizes; null if it is not sold with it.
    function sized(device, mem) {
      const { entry } = device;
      if (!entry.sizes) return mem === entry.mem ? device : null;
      const size = entry.sizes.filter(each => each[0] === mem)[0];
      return size ? Object.assign(device, { mem, isAssumed: false }) : null;
    }
    // Systems that a device runs with, the default first: that of its page, or any macOS.
    function systemsOf({ entry }) {
      const others = entry ? Object.keys(entry.systems || {}) : ["windows"];
      return [others[0] && others[0] !== "windows" ? "macos" : "linux", ...others];
    }
    // Systems that all devices run with.
    const systems = devices =>
      devices.map(systemsOf).reduce((all, own) => all.filter(system => own.indexOf(system) >= 0));
    // Memory that programs see on a system, by settings of the system: [least, most].
    function visible({ entry, mem }, system) {
      const sizes = entry.sizes || [[entry.mem, entry.vis, entry.most || entry.vis]];
      const place = sizes.findIndex(size => size[0] === mem);
      const own = system && (entry.systems || {})[system];
      return own ? [own[place]].flat() : sizes[place].slice(1);
    }
    // Usable memory of a device: for a custom amount, the minimum of GPUs sold with it, as in src/site/visible.rs.
    function seen(device, system) {
      if (device.entry) {
        [device.vis, device.most] = visible(device, system);
        return device;
      }
      const alike = index.devices
        .filter(entry => entry.ok && entry.mem === device.mem)
        .map(entry => visible({ entry, mem: entry.mem }, system)[0]);
      device.vis = alike.length ? Math.min(...alike) : Math.floor(device.mem / 1000) * index.visible;
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
      const file = byId(index.models, "file");
      const why = t("a link does not contain the file: open it again");
      const base = take("file", name => (file && file.file === name ? "file" : null), state.model, why);
      state.model = take("model", id => (byId(index.models, id) ? id : null), base, t("unknown model"));
      state.chosenQuant = take("quant", oneOf(index.quants), null);
      state.ctx = take("ctx", between(1), state.ctx, t("not a number of tokens"));
      // `kv` sets both types, for links of older pages.
      state.k = state.v = take("kv", placeIn(index.kv), state.k);
      state.k = take("k", placeIn(index.kv), state.k);
      state.v = take("v", placeIn(index.kv), state.v);
      state.slots = Number(take("slots", oneOf(lookup.SLOTS.map(String)), state.slots));
      state.runner = take("run", oneOf(RUNNERS), state.runner);
      state.layers = take("ngl", text => (/^(auto|all)$/.test(text) ? text : number(text, 0)), null);
      if (state.layers === "all") state.layers = null;
      state.experts = take("moe", text => (/^(auto|all)$/.test(text) ? text : number(text, 0)), 0);
      state.dtype = take("dtype", placeIn(index.dtypes), state.dtype);
      state.util = take("util", between(1, 100), state.util);
      state.os = take("os", oneOf(SYSTEMS), null);
      state.fp8 = take("cache", oneOf(["fp8", "auto"]), "") === "fp8";
      const deviceWhy = t("unknown device, and not an amount of memory in bytes");
      const named = asked.get("gpu") ? "gpu" : "device";
      let devices = [];
      (asked.get(named) || "")
        .split(",")
        .filter(Boolean)
        .forEach(what => {
          const found = device(what);
          if (!found) reject(named, what, deviceWhy);
          else if (devices.length === MOST_DEVICES) {
            reject(named, what, t("more than {n} devices", { n: MOST_DEVICES }));
          } else devices.push(found);
        });
      const amount = take("mem", between(MIB), null, t("not an amount of memory in bytes"));
      if (amount && !(devices.length && devices[0].mem === amount)) devices = [device(amount)];
      if (devices.length) state.devices = devices;
      (asked.get("others") || "").split(",").forEach((text, i) => {
        if (text && number(text, 0) === null) reject("others", text, t("not a number of MiB"));
        else if (text && state.devices[i]) state.devices[i].others = number(text, 0) * MIB;
      });
      state.ram = take("ram", between(0, MOST_MEMORY / GIB), 0, t("not a number of GiB")) * GIB;
      // A query may contain parameters of other sites.
      if (text[0] === "#") {
        asked.forEach((value, name) => {
          if (NAMES.indexOf(name) < 0) reject(name.slice(0, 60), value, t("unknown setting"));
        });
      }
      // Availability in the model is checked when its table is loaded.
      state.systems = systems(state.devices);
      state.unchecked = ["quant", "ctx", "os"].filter(name => asked.get(name));
      return state;
    }
    // All settings that apply to the inference engine, so that a link means the same for everyone and in later
    // versions.
    function address(state) {
      const vllm = state.runner === "vllm";
      const each = of => state.devices.map(of).join(",");
      const pairs = [
        state.model === "file" ? ["file", byId(index.models, "file").file] : ["model", state.model],
        vllm ? ["dtype", index.dtypes[state.dtype]] : ["quant", state.quant],
        ["ctx", state.ctx],
        ["gpu", each(specOf)],
        ["run", state.runner],
        ["others", each(device => Math.round(device.others / MIB))],
        ["os", state.os || state.systems[0] || ""],
      ].concat(
        vllm
          ? [
              ["util", state.util],
              ["cache", state.fp8 ? "fp8" : "auto"],
            ]
          : [
              ["k", index.kv[state.k]],
              ["v", index.kv[state.v]],
              ["slots", state.slots],
              ["ngl", state.layers === null ? "all" : state.layers],
              ["moe", state.experts],
              ...(state.ram ? [["ram", Math.round((state.ram / GIB) * 1000) / 1000]] : []),
            ],
      );
      const text = new URLSearchParams(pairs.map(pair => pair.map(String))).toString();
      return `#${text.replace(/%2C/g, ",").replace(/%40/g, "@")}`;
    }
    // Limits a state to what its model and inference engine support.
    function settle(state, table) {
      const known = systems(state.devices);
      if (state.os && known.indexOf(state.os) < 0) {
        if (state.unchecked.indexOf("os") >= 0) {
          state.misread.push({ name: "os", text: state.os, why: t("not a system of these devices") });
        }
        state.os = null;
      }
      state.systems = known;
      // The default needs no name, so that another device has its own.
      if (state.os === known[0]) state.os = null;
      state.devices.forEach(device => seen(device, state.os));
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
      if (!lookup.hasExperts(table) || table.isWhole) state.experts = 0;
      if (table.isWhole) state.layers = null;
      if (typeof state.experts === "number") state.experts = Math.min(table.layers, Math.round(state.experts));
      // Ollama has one cache type, and a separate cache per request: the tables contain one.
      if (state.runner === "ollama") {
        state.v = state.k;
        state.slots = 1;
        state.experts = 0;
      }
    }
    return { usual: USUAL, mostDevices: MOST_DEVICES, device, smallest, sized, seen, specOf, read, address, settle };
  };
})();
