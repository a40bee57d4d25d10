// What the calculator says of a setting: verdict, parts, offers, rows, all as plain data. Works without a page.
(function (global) {
  "use strict";
  const { t } = kbgen;
  var look = global.kbgenFit, GIB = look.GIB, MIB = look.MIB;
  var WORDS = { fits: t("Fits"), tight: t("Tight"), no: t("Does not fit"), unknown: t("Not covered") };

  // What a figure rests on, and where that is explained.
  var BASES = { exact: [t("exact"), "exact"], range: [t("range"), "a-range"], about: [t("about"), "a-range"], no: [t("not covered"), "not-covered"], given: [t("given")] };

  // ---- words ---------------------------------------------------------------
  var whole = function (n) { return Math.round(n).toLocaleString("en").replace(/,/g, "\u202f"); };
  var gib = function (n) { return (n / GIB).toFixed(2); };
  var round_gib = function (n) { return gib(n).replace(/\.?0+$/, "") + " GiB"; };
  var gb = function (n) { return (n / 1e9).toFixed(2); };
  var mib = function (n, up) { return whole((up ? Math.ceil : Math.floor)(n / MIB)) + " MiB"; };
  var tokens = function (n) { return t("{count} token", "{count} tokens", { count: whole(n), n: n }); };
  // A range in a unit: one figure where both ends read the same.
  function range(low, high, unit) {
    if (low === null) return "–";
    if (high === null) return t("from {size}", { size: unit(low) });
    return unit(low) === unit(high) ? unit(low) : t("{from} to {to}", { from: unit(low), to: unit(high) });
  }
  function speed_words(range) {
    var say = function (n, round) { return n < 10 ? (round(n * 10) / 10).toFixed(1) : String(round(n)); };
    return t("{from} to {to}", { from: say(range[0], Math.floor), to: say(range[1], Math.ceil) });
  }
  var part = function (name, label, bytes, basis, tag) {
    var own = BASES[basis];
    return { name: name, label: label, low: bytes && bytes[0], high: bytes && bytes[1], basis: own[0], anchor: own[1] && "what-is-" + own[1], tag: tag };
  };

  // ---- llama.cpp and Ollama --------------------------------------------------
  var rooms_of = function (state) { return state.devices.map(function (device) { return device.vis - device.others; }); };
  var all_covered = function (state) { return state.devices.every(function (device) { return device.ok; }); };
  // Shares as small whole numbers: equal for equal devices, else by memory.
  function shares_of(state) {
    var all = state.devices.map(function (device) { return Math.round(device.mem / GIB) || 1; });
    var common = all.reduce(function divisor(a, b) { return b ? divisor(b, a % b) : a; });
    return all.map(function (share) { return share / common; });
  }
  // The setting as a table takes it, with what is automatic worked out.
  function setting_of(state, table, index) {
    var rooms = rooms_of(state), setting = {
      quant: index.quants.indexOf(state.quant), k: state.k, v: state.v, ctx: state.ctx, slots: state.slots, server: state.runner !== "library",
      shares: shares_of(state), layers: typeof state.layers === "number" ? state.layers : null, experts: state.experts === "auto" ? 0 : state.experts,
      uncovered: state.devices.map(function (device) { return !device.ok; })
    };
    if (!all_covered(state)) return setting;
    if (state.experts === "auto") {
      var away = look.fewest_experts(table, setting, rooms, index.driver);
      setting.experts = away < 0 ? "all" : away;
    }
    if (state.layers === "auto") {
      var layers = look.most_layers(table, setting, rooms, index.driver);
      setting.layers = layers < 0 || layers > table.layers ? null : layers;
    }
    return setting;
  }
  function llama(state, table, index) {
    var setting = setting_of(state, table, index), rooms = rooms_of(state), driver = index.driver, several = state.devices.length > 1;
    var needed = look.need(table, setting), verdict = look.judge(needed, rooms, driver), covered = is_covered(needed);
    var margin = margin_of(state, needed, rooms, driver, verdict), offered = covered ? offers(state, table, index, setting, verdict) : [];
    return {
      setting: setting, verdict: verdict, exact: needed.exact,
      title: WORDS[verdict], some: verdict === "no" ? "" : some_of(setting, table), margin: margin.words, short: margin.short,
      devices: state.devices.map(function (device, i) {
        var own = needed.devices[i], one = look.judge_one(own, rooms[i], driver);
        return { name: (several ? i + 1 + ". " : "") + device.name, memory: device.vis, verdict: one, parts: parts(state, needed, i, driver),
          says: one === "fits" ? t("{size} to spare", { size: mib(rooms[i] - own.total[1] - driver[1]) }) : one === "no" && own.total ? t("{size} short", { size: mib(own.total[0] + driver[0] - rooms[i], true) }) : WORDS[one].toLowerCase() };
      }),
      stats: stats(state, table, index, setting, needed, verdict),
      offers: offered, offload: verdict === "no" ? offload(state, table, index, offered) : null,
      rows: rows(state, table, index, setting),
      needs: several ? t("On the devices") : t("On the GPU"), heading: t("Every quantization of this model"),
      most: covered ? look.largest(table, setting, rooms, driver) : 0,
      most_layers: covered && typeof state.layers === "number" ? look.most_layers(table, setting, rooms, driver) : 0,
      meets: verdict !== "no" ? null : state.runner === "ollama" ? "ollama" : too_large(needed, rooms, driver)
    };
  }
  // Of the offers the one that keeps quantization and context and moves a part into RAM: experts before layers.
  function offload(state, table, index, offered) {
    var fitting = offered.filter(function (each) { return /^(experts|layers)$/.test(each.what) && each.change; })[0];
    return fitting ? { change: fitting.change, how: some_of(setting_of(look.but(state, fitting.change), table, index), table) } : null;
  }
  // What of the model is on the devices, where it is not all of it.
  function some_of(setting, table) {
    var layers = setting.layers === null ? "" : t("with {n} of {all} layers", { n: setting.layers, all: table.layers + 1 });
    var away = setting.experts === "all" ? table.layers : setting.experts;
    return away ? layers + (layers ? ", " : t("with ")) + t("experts of {n} in RAM", { n: away }) : layers;
  }
  // Whether all compute buffers are known: not on every device, and not for every pair of cache types.
  function is_covered(needed) { return needed.devices.every(function (device) { return device.total; }); }
  function margin_of(state, needed, rooms, driver, verdict) {
    var spare = Infinity, loose = Infinity, short = 0, bare = 0, on = needed.devices.length > 1 ? t(" on the fullest device") : "";
    needed.devices.forEach(function (device, i) {
      if (!device.total) { bare = Math.max(bare, device.weights + device.cache - rooms[i]); return; }
      loose = Math.min(loose, rooms[i] - device.total[1]);
      spare = loose - driver[1];
      short = Math.max(short, device.total[0] + driver[0] - rooms[i]);
    });
    if (verdict === "fits") return { short: t("{size} to spare", { size: mib(spare) }), words: t("{size} to spare{place}, even at the driver’s most.", { size: mib(spare), place: on }) };
    if (verdict === "tight") return { short: "", words: loose >= driver[0]
      ? t("It loads if the driver takes no more than {size}{place}. Drivers take {low} to {high}.", { size: mib(loose), place: on, low: mib(driver[0]), high: mib(driver[1]) })
      : t("It loads only if the compute buffer stays near the low end of its range{place}.", { place: on }) };
    if (verdict === "unknown") return { short: "", words: all_covered(state)
      ? t("These types of the cache are not covered for this model.")
      : t("Weights and cache are known to the byte. What the compute buffer takes on this device is not, so there is no verdict.") };
    var lacking = mib(Math.max(short, bare), true);
    return { short: t("{size} short", { size: lacking }), words: t("{size} short{place}{why}", { size: lacking, place: on, why: bare > short ? t(": weights and cache alone are more than its memory.") : t(" at the least.") }) };
  }
  function parts(state, needed, i, driver) {
    var own = needed.devices[i], known = own.compute;
    var all = [
      part("weights", t("Weights"), [own.weights, own.weights], "exact", t("Weights")),
      part("kv", t("K/V cache"), [own.cache, own.cache], own.cache === null ? "no" : "exact", t("Cache")),
      part("compute", t("Compute buffer"), known || [null, null], !known ? "no" : needed.exact ? "exact" : "range"),
      part("driver", t("Driver"), known ? driver : [null, null], known ? "range" : "no")
    ];
    if (state.devices.some(function (device) { return device.others; })) all.push(part("other", t("Other programs"), [state.devices[i].others, state.devices[i].others], "given"));
    return all;
  }
  // Beside the verdict: what it takes in all, what stays in RAM, how fast.
  function stats(state, table, index, setting, needed, verdict) {
    var all = [], memory = state.devices.reduce(function (sum, device) { return sum + device.vis; }, 0);
    var total = needed.devices.reduce(function (sum, device) { return device.total && sum ? [sum[0] + device.total[0] + index.driver[0], sum[1] + device.total[1] + index.driver[1]] : null; }, [0, 0]);
    if (total) all.push({ name: t("Needs"), value: range(total[0], total[1], gib) + " GiB", note: t("of {size}", { size: round_gib(memory) }) });
    if (setting.layers !== null || setting.experts) all.push({ name: t("In RAM"), value: gib(needed.host.weights + needed.host.cache) + " GiB", note: t("weights and cache, at most") });
    var device = state.devices[0].entry, speed = verdict !== "no" && device && needed.exact && needed.devices[0].cache !== null && state.slots === 1 && look.speed(table, setting, device, index);
    if (speed) all.push({ name: t("Speed at full context"), value: t("{n} tokens/s", { n: speed_words(speed.full) }), note: t("{n} when empty, ", { n: speed_words(speed.empty) }), basis: t("range") });
    return all;
  }
  // What would fit instead: `change` is what a click puts into the state, `now` that it is so already.
  function offers(state, table, index, setting, verdict) {
    var rooms = rooms_of(state), driver = index.driver, all = [];
    var most = look.largest(table, setting, rooms, driver), top = look.best(table, setting, rooms, driver);
    all.push({ what: "ctx", title: t("Largest context that fits"), text: most ? tokens(most) : t("none with {quant}", { quant: state.quant }), change: most ? { ctx: most } : null, now: most === state.ctx });
    // With what is automatic every quantization may fit: the rows say how.
    if (state.layers !== "auto" && state.experts !== "auto") all.push({ what: "quant", title: t("Best quantization that fits"), text: top < 0 ? t("none at this context") : index.quants[top], change: top < 0 ? null : { quant: index.quants[top] }, now: top === setting.quant });
    if (look.has_experts(table) && state.runner !== "ollama" && (verdict !== "fits" || setting.experts)) {
      var away = look.fewest_experts(table, look.but(setting, { layers: null }), rooms, driver);
      all.push({ what: "experts", title: t("Experts to keep in RAM"), text: away < 0 ? t("all are not enough") : away ? t("of the first {n} of {all} layers", { n: away, all: table.layers }) : t("none"), change: away < 0 ? null : { experts: away, layers: null }, now: away === setting.experts && setting.layers === null });
    }
    if (verdict !== "fits" || setting.layers !== null) {
      var layers = look.most_layers(table, setting, rooms, driver), every = layers > table.layers;
      all.push({ what: "layers", title: t("Layers that fit"), text: layers < 0 ? t("not even none") : every ? t("all {n}", { n: layers }) : t("{n} of {all}", { n: layers, all: table.layers + 1 }), change: layers < 0 ? null : { layers: every ? null : layers }, now: layers >= 0 && (every ? null : layers) === setting.layers });
    }
    return all;
  }
  // Every quantization that the model has; what is automatic is worked out for each.
  function rows(state, table, index, setting) {
    var rooms = rooms_of(state), add = function (sum, n) { return sum + n; }, room = rooms.reduce(add);
    var automatic = state.layers === "auto" || state.experts === "auto";
    return index.quants.map(function (name, i) {
      if (!table.quants[i]) return null;
      var own = automatic ? setting_of(look.but(state, { quant: name }), table, index) : look.but(setting, { quant: i }), needed = look.need(table, own), covered = is_covered(needed);
      return {
        name: name, verdict: look.judge(needed, rooms, index.driver), some: automatic ? " " + some_of(own, table) : "",
        largest: covered ? look.largest(table, own, rooms, index.driver) : null, room: room, file: table.quants[i].file, least: !covered,
        weights: needed.devices.map(function (device) { return device.weights; }).reduce(add),
        total: needed.devices.map(function (device) { return device.total ? device.total[1] : device.weights + device.cache; }).reduce(add)
      };
    }).filter(Boolean);
  }
  // The part that llama.cpp fails at: it allocates weights, cache and compute buffer in this order.
  function too_large(needed, rooms, driver) {
    var failed = function (held) { return needed.devices.some(function (device, i) { return held(device) + driver[0] > rooms[i]; }); };
    return failed(function (device) { return device.weights; }) ? "weights" : failed(function (device) { return device.weights + device.cache; }) ? "cache" : "compute";
  }

  // ---- vLLM --------------------------------------------------------------------
  // Every card holds the same, so the smallest decides.
  function ask_vllm(state, table, change) {
    var memory = Math.min.apply(null, state.devices.map(function (device) { return device.vis; }));
    return look.vllm(table, look.but({ dtype: state.dtype, cards: state.devices.length, memory: memory, util: state.util * 10, fp8: state.fp8, ctx: state.ctx, held: Math.max.apply(null, state.devices.map(function (device) { return device.others; })) }, change || {}));
  }
  function vllm(state, table, index) {
    var cards = state.devices.length, ask = ask_vllm.bind(null, state, table), names = index.dtypes;
    var need = all_covered(state) ? ask() : { reason: t("vLLM is covered on NVIDIA’s cards alone") };
    if (!need.pool) {
      var unknown = function (name) { return { name: name, verdict: "unknown", largest: null }; };
      return { verdict: "unknown", title: WORDS.unknown, margin: need.reason.replace(/^(?!vLLM)./, function (letter) { return letter.toUpperCase(); }) + ".", short: "", devices: [], stats: [], offers: [], rows: names.map(unknown), most: 0, meets: null };
    }
    var verdict = need.verdict, blocked = need.blocked, most = need.context[0], memory = need.memory, spare = need.pool[0] - need.request[1];
    // Without saturating: how much is missing of weights, activations and the cache of one request.
    var short = need.weights + need.reserve[0] + need.request[0] + need.left[0] - memory;
    var result = {
      verdict: verdict, title: WORDS[verdict], exact: false, most: most,
      short: verdict === "fits" ? t("{size} to spare", { size: mib(spare) }) : verdict === "no" && !blocked ? t("{size} short", { size: mib(short, true) }) : "",
      margin: blocked ? t("Other programs hold more than the {size} that vLLM leaves alone: it stops before it loads.", { size: mib(need.left[0]) })
        : verdict === "fits" ? t("{size} of the pool to spare for more requests, even when activations take their most.", { size: mib(spare) })
        : verdict === "tight" ? t("It starts if activations and CUDA take less than their most.") : t("{size} short at the least.", { size: mib(short, true) }),
      needs: cards > 1 ? t("On each card") : t("On the GPU"), heading: t("Every type of the weights"),
      stats: [{ name: t("Longest context"), value: t("{n} tokens", { n: range(most, need.context[1], whole) }), note: t("of one request, "), basis: t("range") }],
      devices: [{
        name: state.devices[0].name + (cards > 1 ? t(", each of {n}", { n: cards }) : ""), memory: memory, verdict: verdict, free: t("For more requests"),
        parts: [
          part("weights", t("Weights"), [need.weights, need.weights], "about", t("Weights")), part("kv", t("Cache of one request"), need.request, "range", "Cache"),
          part("compute", t("Activations and CUDA"), need.reserve, "range"), part("other", t("Left alone"), need.left, "range")
        ]
      }],
      offers: [{ what: "ctx", title: t("Largest context that fits"), text: most ? tokens(most) : t("none in {type}", { type: names[state.dtype] }), change: most ? { ctx: most } : null, now: most === state.ctx }],
      rows: names.map(function (name, i) {
        var own = ask({ dtype: i });
        return { name: name, verdict: own.verdict, largest: own.context[0], room: memory - need.left[1], file: null, weights: own.weights, total: own.weights + own.request[1] + own.reserve[1] };
      }),
      meets: blocked ? "vllm-memory" : verdict !== "no" ? null : need.pool[1] > 0 ? "vllm-length" : "vllm-blocks"
    };
    var top = result.rows.findIndex(function (row) { return row.verdict === "fits"; });
    result.offers.push({ what: "quant", title: t("Best type of the weights that fits"), text: top < 0 ? t("none at this context") : names[top], change: top < 0 ? null : { dtype: top }, now: top === state.dtype });
    return result;
  }

  global.kbgenAnswer = {
    // The verdict alone, for lists where each row asks.
    verdict_of: function (state, table, index) {
      if (state.runner === "vllm") return all_covered(state) && ask_vllm(state, table).verdict || "unknown";
      return look.judge(look.need(table, setting_of(state, table, index)), rooms_of(state), index.driver);
    },
    of: function (state, table, index) { return (state.runner === "vllm" ? vllm : llama)(state, table, index); },
    setting_of: setting_of, WORDS: WORDS, whole: whole, gib: gib, gb: gb, mib: mib, round_gib: round_gib, tokens: tokens, range: range
  };
})(typeof window === "undefined" ? globalThis : window);
