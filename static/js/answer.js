// Results of the calculator for its settings: verdict, parts, suggestions, rows, all as plain data. Independent of the
// page.
(() => {
  "use strict";
  const { t } = kbgen;
  const lookup = kbgen.fit;
  const { GIB, MIB } = lookup;
  const WORDS = { fits: t("Fits"), tight: t("Tight"), no: t("Does not fit"), unknown: t("Not covered") };

  /** How exact a figure is, and where that is explained. */
  const BASES = {
    exact: [t("exact"), "exact"],
    range: [t("range"), "a-range"],
    about: [t("about"), "a-range"],
    no: [t("not covered"), "not-covered"],
    given: [t("given")],
  };

  // ---- words ---------------------------------------------------------------
  const whole = n => Math.round(n).toLocaleString("en");
  const decimal = n => n.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const gib = n => decimal(n / GIB);
  const roundGib = n => gib(n).replace(/\.?0+$/, "") + " GiB";
  const gb = n => decimal(n / 1e9);
  const mib = n => whole(n / MIB) + " MiB";
  /** 5.48 GiB, or 812 MiB below 1 GiB: rounded like the figures of tables, from which a reader computes it. */
  const size = n => (n < GIB ? mib(n) : gib(n) + " GiB");
  // A shortage is never 0 MiB.
  const shortage = n => size(Math.max(n, MIB));
  const tokens = n => t("{count} token", "{count} tokens", { count: whole(n), n });
  /** Formats a range, as one figure if both ends are displayed alike. */
  function range(low, high, unit) {
    if (low === null) return "–";
    if (high === null) return t("from {size}", { size: unit(low) });
    return unit(low) === unit(high) ? unit(low) : t("{from} to {to}", { from: unit(low), to: unit(high) });
  }
  function speedWords([from, to]) {
    const format = (n, round) => (n < 10 ? (round(n * 10) / 10).toFixed(1) : whole(round(n)));
    return t("{from} to {to}", { from: format(from, Math.floor), to: format(to, Math.ceil) });
  }
  function part(name, label, bytes, basis, tag) {
    const [words, anchor] = BASES[basis];
    const [low, high] = bytes || [bytes, bytes];
    return { name, label, low, high, basis: words, anchor: anchor && "what-is-" + anchor, tag };
  }

  // ---- llama.cpp and Ollama --------------------------------------------------
  /** What the desktop of Windows uses at most, unless the use of other programs is given. */
  function desktopOf(state, index, device) {
    const counts = state.os === "windows" && !state.devices.some(each => each.others) && !device.shared;
    return counts ? Math.min(index.desktop, device.vis) : 0;
  }
  const roomsOf = (state, index) =>
    state.devices.map(device => [
      device.vis - device.others - desktopOf(state, index, device),
      Math.max(device.most || 0, device.vis) - device.others,
    ]);
  /** Whether all devices are CUDA cards with memory of their own. */
  const areCuda = state => state.devices.every(device => device.ok);
  const add = (sum, n) => sum + n;
  /** Split between devices as small integers: equal for equal devices, else by memory. */
  function sharesOf(state) {
    const all = state.devices.map(device => Math.round(device.mem / GIB) || 1);
    const divisor = (a, b) => (b ? divisor(b, a % b) : a);
    const common = all.reduce(divisor);
    return all.map(share => share / common);
  }
  /** The setting for a table lookup, with automatic values resolved. */
  function settingOf(state, table, index) {
    const rooms = roomsOf(state, index);
    const setting = {
      quant: index.quants.indexOf(state.quant),
      k: state.k,
      v: state.v,
      ctx: state.ctx,
      slots: state.slots,
      server: state.runner !== "library",
      shares: sharesOf(state),
      layers: typeof state.layers === "number" ? state.layers : null,
      experts: state.experts === "auto" ? 0 : state.experts,
      profiles: state.devices.map(device => (device.backends || []).map(at => index.backends[at])),
    };
    if (state.experts === "auto") {
      const hostExperts = lookup.fewestExperts(table, setting, rooms, index.driver);
      setting.experts = hostExperts < 0 ? "all" : hostExperts;
    }
    if (state.layers === "auto") {
      const layers = lookup.mostLayers(table, setting, rooms, index.driver);
      setting.layers = layers < 0 || layers > table.layers ? null : layers;
    }
    return setting;
  }
  function llama(state, table, index) {
    const setting = settingOf(state, table, index);
    const rooms = roomsOf(state, index);
    const { driver } = index;
    const several = state.devices.length > 1;
    const needed = lookup.need(table, setting);
    const verdict = lookup.judge(needed, rooms, driver);
    const covered = isCovered(needed);
    const margin = marginOf(state, needed, rooms, driver, verdict);
    const says = (own, [least, most], one) => {
      const [low, high] = own.driver || driver;
      if (one === "fits") return t("{size} to spare", { size: size(least - own.total[1] - high) });
      if (one === "no" && own.total) return t("{size} short", { size: shortage(own.total[0] + low - most) });
      return WORDS[one].toLowerCase();
    };
    return {
      setting,
      verdict,
      exact: needed.exact,
      word: WORDS[verdict],
      title: margin.title,
      some: verdict === "no" ? "" : someOf(setting, table),
      margin: margin.words,
      short: margin.short,
      devices: state.devices.map((device, i) => {
        const own = needed.devices[i];
        const one = lookup.judgeOne(own, rooms[i], driver);
        return {
          name: (several ? i + 1 + ". " : "") + device.name,
          memory: device.vis,
          verdict: one,
          parts: parts(state, needed, i, index),
          says: says(own, rooms[i], one),
        };
      }),
      stats: stats(state, table, index, setting, needed, verdict),
      offers: covered ? offers(state, table, index, setting, verdict) : [],
      offload: verdict === "no" && covered ? offload(state, table, index, setting) : null,
      rows: rows(state, table, index, setting),
      needs: several ? t("On the devices") : t("On the GPU"),
      heading: t("Every quantization of this model"),
      most: covered ? lookup.largest(table, setting, rooms, driver) : 0,
      mostLayers: covered && typeof state.layers === "number" ? lookup.mostLayers(table, setting, rooms, driver) : 0,
      meets: verdict !== "no" ? null : failureOf(state, needed, rooms, driver),
    };
  }
  /** The change that keeps quantization and context and moves a part into RAM. */
  function offload(state, table, index, setting) {
    if (table.isWhole) return null;
    const change = lookup.partInRam(table, setting, roomsOf(state, index), index.driver, state.runner !== "ollama");
    return change && { change, how: someOf(settingOf(lookup.but(state, change), table, index), table) };
  }
  /** Which part of the model is on the devices, if not all of it. */
  function someOf(setting, table) {
    const { layers } = setting;
    const all = table.layers + 1;
    const some = layers === null ? "" : t("with {n} of {all} layers", { n: layers, all });
    const hostExperts = setting.experts === "all" ? table.layers : setting.experts;
    return hostExperts ? some + (some ? ", " : t("with ")) + t("experts of {n} in RAM", { n: hostExperts }) : some;
  }
  /** Whether all compute buffers are known: not on every device, and not for every pair of cache types. */
  const isCovered = needed => needed.devices.every(device => device.total);
  function marginOf(state, needed, rooms, driver, verdict) {
    const place = needed.devices.length > 1 ? t(" on the fullest device") : "";
    let spare = Infinity;
    let loose = Infinity;
    let short = 0;
    let bare = 0;
    needed.devices.forEach((device, i) => {
      if (!device.total) {
        bare = Math.max(bare, device.weights + device.cache - rooms[i][1]);
        return;
      }
      const [least, most] = device.driver || driver;
      loose = Math.min(loose, rooms[i][0] - device.total[1]);
      spare = Math.min(spare, rooms[i][0] - device.total[1] - most);
      short = Math.max(short, device.total[0] + least - rooms[i][1]);
    });
    if (verdict === "fits") {
      const left = { size: size(spare) };
      return {
        title: t("Fits with {size} to spare", left),
        short: t("{size} to spare", left),
        words: place
          ? t("On the fullest device, even with the maximum driver overhead.")
          : t("Even with the maximum driver overhead."),
      };
    }
    if (verdict === "tight") {
      const [low, high] = driver.map(bytes => mib(bytes));
      const words =
        !needed.onCuda || rooms.some(([least, most]) => least < most)
          ? t("In the worst case of memory, driver and buffers, it is {size} short{place}.", {
              size: shortage(-spare),
              place,
            })
          : loose >= driver[0]
            ? t("It loads if the driver uses at most {size}{place}. Drivers use {low} to {high}.", {
                size: mib(loose),
                place,
                low,
                high,
              })
            : t("It loads only if the compute buffer stays near the low end of its range{place}.", { place });
      return { title: WORDS.tight, short: "", words };
    }
    if (verdict === "unknown") {
      return { title: WORDS.unknown, short: "", words: t("These cache types are not covered for this model.") };
    }
    const missing = { size: shortage(Math.max(short, bare)) };
    const words =
      bare > short
        ? t("Weights and cache alone exceed the memory{place}.", { place })
        : t("Even with the minimum driver overhead{place}.", { place });
    return { title: t("Does not fit: {size} short", missing), short: t("{size} short", missing), words };
  }
  function parts(state, needed, i, index) {
    const { driver } = index;
    const own = needed.devices[i];
    const known = own.compute;
    const isBand = !needed.onCuda || needed.devices.length > 1;
    const basis = isBand ? "range" : needed.exact ? "exact" : "about";
    const held = own.held[0] === own.held[1] ? "exact" : "range";
    const all = [
      part("weights", t("Weights"), own.held, held, t("Weights")),
      part("kv", t("KV cache"), [own.cache, own.cache], own.cache === null ? "no" : "exact", t("Cache")),
      part("compute", t("Compute buffer"), known || [null, null], known ? basis : "no"),
      part("driver", t("Driver"), known ? own.driver || driver : [null, null], known ? "range" : "no"),
    ];
    if (state.devices.some(device => device.others)) {
      const { others } = state.devices[i];
      all.push(part("other", t("Other programs"), [others, others], "given"));
    }
    const desktop = desktopOf(state, index, state.devices[i]);
    if (desktop) all.push(part("other", t("Desktop"), [0, desktop], "range"));
    return all;
  }
  /** Figures next to the verdict: total, RAM, speed. */
  function stats(state, table, index, setting, needed, verdict) {
    const all = [];
    const { driver } = index;
    const memory = state.devices.map(device => device.vis).reduce(add);
    if (isCovered(needed)) {
      const [low, high] = [0, 1].map(end =>
        needed.devices.map(each => each.total[end] + (each.driver || driver)[end]).reduce(add),
      );
      const note = t("of {size}", { size: roundGib(memory) });
      all.push({ name: t("Needs"), value: range(low, high, gib) + " GiB", note });
    }
    if (setting.layers !== null || setting.experts) {
      const value = gib(needed.host.weights + needed.host.cache) + " GiB";
      all.push({ name: t("In RAM"), value, note: t("weights and cache, at most") });
    }
    const device = state.devices[0].entry;
    const speed = verdict === "no" ? null : speedOf(state, table, index, setting, device);
    if (speed && speed.full) {
      const value = t("{n} tokens/s", { n: speedWords(speed.full) });
      const note = t("{n} when empty, ", { n: speedWords(speed.empty) });
      all.push({ name: t("Speed at full context"), value, note, basis: t("range") });
    } else if (speed) all.push({ name: t("Speed"), value: t("not covered"), note: speed.reason });
    return all;
  }
  /** The speed of one request, or the reason why it is unknown. */
  function speedOf(state, table, index, setting, device) {
    if (state.devices.length > 1) return { reason: t("no measurements of several devices") };
    if (state.slots > 1) return { reason: t("no measurements of several requests at a time") };
    return device ? lookup.speed(table, setting, device, index) : { reason: t("the device is not known") };
  }
  /** Alternatives that fit: `change` is the change of state on a click, `now` whether it is the current state. */
  function offers(state, table, index, setting, verdict) {
    const rooms = roomsOf(state, index);
    const { driver } = index;
    const all = [];
    const most = lookup.largest(table, setting, rooms, driver);
    const top = lookup.best(table, setting, rooms, driver);
    all.push({
      what: "ctx",
      title: t("Largest context that fits"),
      text: most ? tokens(most) : t("none with {quant}", { quant: state.quant }),
      change: most ? { ctx: most } : null,
      now: most === state.ctx,
    });
    if (table.isWhole) return all;
    // With automatic offloading every quantization may fit: the rows show how. A file has only its own.
    if (!table.file && state.layers !== "auto" && state.experts !== "auto") {
      all.push({
        what: "quant",
        title: t("Best quantization that fits"),
        text: top < 0 ? t("none at this context") : index.quants[top],
        change: top < 0 ? null : { quant: index.quants[top] },
        now: top === setting.quant,
      });
    }
    if (lookup.hasExperts(table) && state.runner !== "ollama" && (verdict !== "fits" || setting.experts)) {
      const hostExperts = lookup.fewestExperts(table, lookup.but(setting, { layers: null }), rooms, driver);
      const text = hostExperts
        ? t("of the first {n} of {all} layers", { n: hostExperts, all: table.layers })
        : t("none");
      all.push({
        what: "experts",
        title: t("Experts to keep in RAM"),
        text: hostExperts < 0 ? t("not enough, even with all") : text,
        change: hostExperts < 0 ? null : { experts: hostExperts, layers: null },
        now: hostExperts === setting.experts && setting.layers === null,
      });
    }
    if (verdict !== "fits" || setting.layers !== null) {
      const layers = lookup.mostLayers(table, setting, rooms, driver);
      const every = layers > table.layers;
      const text = every ? t("all {n}", { n: layers }) : t("{n} of {all}", { n: layers, all: table.layers + 1 });
      all.push({
        what: "layers",
        title: t("Layers that fit"),
        text: layers < 0 ? t("does not fit, even with 0") : text,
        change: layers < 0 ? null : { layers: every ? null : layers },
        now: layers >= 0 && (every ? null : layers) === setting.layers,
      });
    }
    return all;
  }
  /** All quantizations of the model, with automatic values resolved for each. */
  function rows(state, table, index, setting) {
    const rooms = roomsOf(state, index);
    const room = rooms.map(each => each[0]).reduce(add);
    const { driver } = index;
    const automatic = state.layers === "auto" || state.experts === "auto";
    return index.quants
      .map((name, i) => {
        if (!table.quants[i]) return null;
        const own = automatic
          ? settingOf(lookup.but(state, { quant: name }), table, index)
          : lookup.but(setting, { quant: i });
        const needed = lookup.need(table, own);
        const covered = isCovered(needed);
        const total = device => (device.total ? device.total[1] : device.weights + device.cache);
        return {
          name,
          verdict: lookup.judge(needed, rooms, driver),
          some: automatic ? " " + someOf(own, table) : "",
          largest: covered ? lookup.largest(table, own, rooms, driver) : null,
          room,
          file: table.quants[i].file,
          least: !covered,
          weights: needed.devices.map(device => device.weights).reduce(add),
          total: needed.devices.map(total).reduce(add),
        };
      })
      .filter(Boolean);
  }
  /** The error that results: on a Mac that of Metal, with llama.cpp elsewhere that of the part that is too large. */
  function failureOf(state, needed, rooms, driver) {
    if (/^macos/.test(state.os || (state.systems || [])[0])) return "metal";
    return state.runner === "ollama" ? "ollama" : tooLarge(needed, rooms, driver);
  }
  /** The part that fails to load: llama.cpp allocates weights, cache and compute buffer in this order. */
  function tooLarge(needed, rooms, driver) {
    const failed = held =>
      needed.devices.some((device, i) => held(device) + (device.driver || driver)[0] > rooms[i][1]);
    if (failed(device => device.weights)) return "weights";
    return failed(device => device.weights + device.cache) ? "cache" : "compute";
  }

  // ---- vLLM --------------------------------------------------------------------
  /** All GPUs hold the same, so the smallest decides. */
  function askVllm(state, table, index, change) {
    const memory = Math.min(...state.devices.map(device => device.vis - desktopOf(state, index, device)));
    const held = Math.max(...state.devices.map(device => device.others));
    const cards = state.devices.length;
    const { dtype, fp8, ctx } = state;
    return lookup.vllm(table, { dtype, cards, memory, util: state.util * 10, fp8, ctx, held, ...change });
  }
  function vllm(state, table, index) {
    const cards = state.devices.length;
    const ask = change => askVllm(state, table, index, change);
    const names = index.dtypes;
    const need = areCuda(state) ? ask() : { reason: t("vLLM is covered on NVIDIA GPUs only") };
    if (!need.pool) {
      const reason = need.reason.replace(/^(?!vLLM)./, letter => letter.toUpperCase());
      return {
        verdict: "unknown",
        word: WORDS.unknown,
        title: WORDS.unknown,
        margin: reason + ".",
        short: "",
        devices: [],
        stats: [],
        offers: [],
        rows: names.map(name => ({ name, verdict: "unknown", largest: null })),
        most: 0,
        meets: null,
      };
    }
    const { verdict, blocked, memory } = need;
    const [most, longest] = need.context;
    const spare = size(need.pool[0] - need.request[1]);
    // Not clamped to zero: the missing memory for weights, activations and the cache of one request.
    const short = shortage(need.weights + need.reserve[0] + need.request[0] + need.left[0] - memory);
    const margins = {
      fits: t("{size} of the pool free for more requests, even with maximum activations.", { size: spare }),
      tight: t("It starts if activations and CUDA use less than their maximum."),
      no: t("At least {size} short.", { size: short }),
    };
    const shorts = {
      fits: t("{size} to spare", { size: spare }),
      tight: "",
      no: blocked ? "" : t("{size} short", { size: short }),
    };
    const left = mib(need.left[0]);
    const rows = names.map((name, i) => {
      const own = ask({ dtype: i });
      const total = own.weights + own.request[1] + own.reserve[1];
      const room = memory - need.left[1];
      return { name, verdict: own.verdict, largest: own.context[0], room, file: null, weights: own.weights, total };
    });
    const top = rows.findIndex(row => row.verdict === "fits");
    return {
      verdict,
      word: WORDS[verdict],
      title: WORDS[verdict],
      exact: false,
      most,
      short: shorts[verdict],
      rows,
      margin: blocked
        ? t("Other programs use more than the {size} that vLLM leaves free: it stops before loading.", {
            size: left,
          })
        : margins[verdict],
      needs: cards > 1 ? t("On each GPU") : t("On the GPU"),
      heading: t("All weight types"),
      stats: [
        {
          name: t("Longest context"),
          value: t("{n} tokens", { n: range(most, longest, whole) }),
          note: t("of one request, "),
          basis: t("range"),
        },
      ],
      devices: [
        {
          name: state.devices[0].name + (cards > 1 ? t(", each of {n}", { n: cards }) : ""),
          memory,
          verdict,
          free: t("For more requests"),
          parts: [
            part("weights", t("Weights"), [need.weights, need.weights], "about", t("Weights")),
            part("kv", t("Cache of one request"), need.request, "range", "Cache"),
            part("compute", t("Activations and CUDA"), need.reserve, "range"),
            part("other", t("Left free"), need.left, "range"),
          ],
        },
      ],
      offers: [
        {
          what: "ctx",
          title: t("Largest context that fits"),
          text: most ? tokens(most) : t("none in {type}", { type: names[state.dtype] }),
          change: most ? { ctx: most } : null,
          now: most === state.ctx,
        },
        {
          what: "quant",
          title: t("Best weight type that fits"),
          text: top < 0 ? t("none at this context") : names[top],
          change: top < 0 ? null : { dtype: top },
          now: top === state.dtype,
        },
      ],
      meets: blocked ? "vllm-memory" : verdict !== "no" ? null : need.pool[1] > 0 ? "vllm-length" : "vllm-blocks",
    };
  }

  kbgen.answer = {
    /** The verdict only, for lists. */
    verdictOf(state, table, index) {
      if (!table.compute) return "unknown";
      if (state.runner === "vllm") return (areCuda(state) && askVllm(state, table, index).verdict) || "unknown";
      return lookup.judge(lookup.need(table, settingOf(state, table, index)), roomsOf(state, index), index.driver);
    },
    of: (state, table, index) => (table.answer || (state.runner === "vllm" ? vllm : llama))(state, table, index),
    settingOf,
    roomsOf,
    WORDS,
    whole,
    gib,
    gb,
    mib,
    roundGib,
    tokens,
    range,
  };
})();
