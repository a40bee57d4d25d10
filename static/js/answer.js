// Results of the calculator for its settings: verdict, parts, suggestions, rows, all as plain data. Independent of the
// page.
(() => {
  "use strict";
  const { t } = kbgen;
  const lookup = kbgen.fit;
  const { GIB, MIB } = lookup;
  const WORDS = {
    fits: t("Fits"),
    tight: t("Tight"),
    part: t("In part"),
    limit: t("With a raised limit"),
    no: t("Does not fit"),
    unknown: t("Not covered"),
  };
  // The limit of a Mac is raised in these steps. So much of a memory that is shared is left to the system.
  const LIMIT_STEP = GIB / 2;
  const LEFT_TO_SYSTEM = 4 * GIB;

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
  /** A shortage from the best case to the worst, in one unit. */
  function shortages(low, high) {
    if (high < GIB) return range(Math.max(low, MIB), Math.max(high, MIB), n => whole(n / MIB)) + " MiB";
    return range(Math.max(low, GIB / 100), high, gib) + " GiB";
  }
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
      const hostExperts = found(lookup.fewestExperts, table, setting, rooms, index.driver).count;
      setting.experts = hostExperts < 0 ? "all" : hostExperts;
    }
    if (state.layers === "auto") {
      const layers = found(lookup.mostLayers, table, setting, rooms, index.driver).count;
      setting.layers = layers < 0 || layers > table.layers ? null : layers;
    }
    return setting;
  }
  /** The number of layers that fits or, if there is none, that is tight; below 0 if there is none either. */
  function found(search, ...asked) {
    const count = search(...asked);
    return count < 0 ? { count: search(...asked, lookup.mayFit), isTight: true } : { count, isTight: false };
  }
  /**
   * The setting that the answer is for: the one that is asked for or, if that does not fit, the one with a part in RAM
   * that fits. `wanted` is the need of the setting that is asked for, `needed` that of the answer, `limit` the GPU
   * limit of a Mac with which it fits, `ram` the missing RAM, `beyond` what the parts on the device and in RAM together
   * exceed the memory by, where it is the same memory.
   */
  function resolve(state, table, index, asked) {
    const rooms = roomsOf(state, index);
    const { driver } = index;
    const wanted = lookup.need(table, asked);
    const verdict = lookup.judge(wanted, rooms, driver);
    let answer = { setting: asked, wanted, needed: wanted, verdict, limit: null, ram: 0, beyond: 0 };
    if (!isCovered(wanted)) return answer;
    if (verdict === "tight" || verdict === "no") answer.limit = limitOf(state, wanted, driver);
    if (answer.verdict === "no" && answer.limit) answer.verdict = "limit";
    if (answer.verdict === "no" && !table.isWhole) {
      const moved = [table, asked, rooms, driver, state.runner !== "ollama"];
      const change = lookup.partInRam(...moved) || lookup.partInRam(...moved, lookup.mayFit);
      const setting = change && lookup.but(asked, change);
      const needed = change && lookup.need(table, setting);
      if (change && !exceeds(sharedOf(state, needed, driver))) {
        answer = { ...answer, setting, needed, verdict: lookup.judge(needed, rooms, driver) };
      }
    }
    if (answer.verdict === "no" || !isSplit(answer.setting)) return answer;
    const shared = sharedOf(state, answer.needed, driver);
    if (exceeds(shared)) return { ...answer, verdict: "no", beyond: shared.sum[0] - shared.room };
    const isTight = shared && shared.sum[1] > shared.room;
    if (answer.verdict === "fits") answer.verdict = isTight ? "tight" : "part";
    const { host } = answer.needed;
    const lacks = state.ram && !shared ? host.weights + host.cache - state.ram : 0;
    return lacks > 0 ? { ...answer, verdict: "no", ram: lacks } : answer;
  }
  /** Whether `resolve` finds a part for RAM, without a search: if the least on the device fits, the search ends. */
  function fitsInPart(state, table, index, asked) {
    if (state.ram || table.isWhole || lookup.sharesMemory(asked) || state.devices.some(isShared)) return false;
    const rooms = roomsOf(state, index);
    const judge = change => lookup.judge(lookup.need(table, lookup.but(asked, change)), rooms, index.driver);
    if (judge({}) !== "no") return false;
    const canMoveExperts = state.runner !== "ollama" && lookup.hasExperts(table) && !asked.experts;
    return (
      (canMoveExperts && judge({ experts: "all" }) === "fits") ||
      (asked.layers === null && judge({ layers: 1 }) === "fits")
    );
  }
  const isShared = device => device.shared;
  /** Whether the share of the memory that the GPU can use is a setting. */
  const isAdjustable = device => device.shared && device.entry.vendor === "AMD" && device.most > device.vis;
  const areShared = state => state.devices.every(isShared);
  /** Whether a part is in RAM. */
  const isSplit = ({ layers, experts }) => layers !== null || Boolean(experts);
  /**
   * Where the devices have no memory of their own: what they and the RAM need together as [least, most], and the memory
   * that the system leaves. Null for other devices.
   */
  function sharedOf(state, { devices, host }, driver) {
    if (!areShared(state)) return null;
    const inRam = host.weights + host.cache;
    const rest = state.devices.map(device => device.others).reduce(add);
    // With CUDA, what the system uses is part of the driver's range, and the memory is what programs see.
    const room = state.devices.map(device =>
      device.entry.vendor === "NVIDIA" ? device.vis : Math.max(device.vis, device.mem - LEFT_TO_SYSTEM),
    );
    const sum = [0, 1].map(end =>
      devices.map(device => device.total[end] + (device.driver || driver)[end]).reduce(add, 0),
    );
    // The upper end of a device that maps the file has the part in RAM already.
    const least = sum[0] + inRam;
    const hasAll = devices.some(device => device.held[1] > device.held[0]);
    return { sum: [least, hasAll ? Math.max(least, sum[1]) : sum[1] + inRam], room: Math.max(...room) - rest };
  }
  const exceeds = shared => shared !== null && shared.sum[0] > shared.room;
  const isMac = state => state.devices.every(({ entry }) => entry && entry.vendor === "Apple");
  /** The GPU limit of a Mac with which all that is needed fits; null if too little would be left to macOS. */
  function limitOf(state, needed, driver) {
    if (!isMac(state) || state.devices.length > 1) return null;
    const [device] = state.devices;
    const [own] = needed.devices;
    const most = own.total[1] + (own.driver || driver)[1] + device.others;
    const limit = Math.ceil(most / LIMIT_STEP) * LIMIT_STEP;
    return limit <= device.mem - LEFT_TO_SYSTEM ? limit : null;
  }
  function llama(state, table, index) {
    const asked = settingOf(state, table, index);
    const answer = resolve(state, table, index, asked);
    const { setting, wanted, needed, verdict, limit } = answer;
    const rooms = roomsOf(state, index);
    const { driver } = index;
    const several = state.devices.length > 1;
    const covered = isCovered(needed);
    const margin = marginOf(state, table, answer, asked, rooms, driver);
    const says = (own, [least, most], one) => {
      const [low, high] = own.driver || driver;
      if (one === "fits") return t("{size} to spare", { size: size(least - own.total[1] - high) });
      if (one === "no" && own.total) {
        return t("{size} short", { size: shortages(own.total[0] + low - most, own.total[1] + high - least) });
      }
      return WORDS[one].toLowerCase();
    };
    const devices = state.devices.map((device, i) => {
      const own = needed.devices[i];
      const one = lookup.judgeOne(own, rooms[i], driver);
      return {
        name: (several ? i + 1 + ". " : "") + device.name,
        memory: device.vis,
        verdict: one,
        parts: parts(state, needed, i, index),
        says: says(own, rooms[i], one),
      };
    });
    const isWhole = lookup.judge(wanted, rooms, driver) !== "no";
    return {
      setting,
      verdict,
      limit: limit && { mib: limit / MIB, size: roundGib(limit), left: roundGib(state.devices[0].mem - limit) },
      exact: needed.exact,
      word: WORDS[verdict],
      title: margin.title,
      some: /^(fits|tight|unknown)$/.test(verdict) ? someOf(setting, table) : "",
      margin: margin.words,
      short: margin.short,
      isSetting: /^(tight|no)$/.test(verdict) && !answer.beyond && state.devices.some(isAdjustable),
      moved: setting === asked ? "" : someOf(setting, table),
      devices,
      stats: stats(state, table, index, setting, needed, verdict, devices),
      offers: covered ? offers(state, table, index, asked, setting, verdict) : [],
      rows: rows(state, table, index, asked),
      needs: several ? t("On the devices") : t("On the GPU"),
      heading: t("Every quantization of this model"),
      most: covered && !answer.beyond ? lookup.largest(table, asked, rooms, driver) : 0,
      mostLayers: covered && typeof state.layers === "number" ? lookup.mostLayers(table, asked, rooms, driver) : 0,
      meets: isWhole ? null : failureOf(state, wanted, rooms, driver),
    };
  }
  /** Which part of the model is on the devices, if not all of it. */
  function someOf(setting, table) {
    const { layers } = setting;
    const hostExperts = setting.experts === "all" ? table.layers : setting.experts;
    const some = { n: layers, all: table.layers + 1, experts: hostExperts };
    if (layers === null) return hostExperts ? t("with the experts of {experts} layers in RAM", some) : "";
    return hostExperts
      ? t("with {n} of {all} layers on the GPU and the experts of the first {experts} layers in RAM", some)
      : t("with {n} of {all} layers on the GPU", some);
  }
  /** Whether all compute buffers are known: not on every device, and not for every pair of cache types. */
  const isCovered = needed => needed.devices.every(device => device.total);
  function marginOf(state, table, answer, asked, rooms, driver) {
    const { setting, wanted, needed, verdict, limit, ram, beyond } = answer;
    const place = needed.devices.length > 1 ? t(" on the fullest device") : "";
    const { spare, loose } = lackOf(needed, rooms, driver);
    const inRam = ramOf(state, needed);
    const how = someOf(setting, table);
    const whole = lackOf(wanted, rooms, driver);
    const short = shortages(whole.short, -whole.spare);
    const lack = isAll(asked)
      ? t("With all layers on the GPU, it is {size} short{place}.", { size: short, place })
      : t("With the chosen settings, it is {size} short{place}.", { size: short, place });
    if (ram) {
      return {
        title: t("Not enough RAM: {size} short", { size: shortage(ram) }),
        short: t("{size} of RAM short", { size: shortage(ram) }),
        words: t("It fits on the GPU {how}, but then needs {size} of RAM.", { how, size: ramNeed(needed) }),
      };
    }
    const shared = isSplit(setting) && isCovered(needed) ? sharedOf(state, needed, driver) : null;
    const together = shared && {
      sum: range(...shared.sum, gib) + " GiB",
      all: roundGib(Math.max(...state.devices.map(device => device.mem))),
      room: roundGib(shared.room),
    };
    if (beyond) {
      return {
        title: t("Does not fit: {size} short", { size: shortage(beyond) }),
        short: t("{size} short", { size: shortage(beyond) }),
        words: t(
          "GPU and RAM are the same memory: both parts together need {sum} of the {all}, of which the system leaves {room}.",
          together,
        ),
      };
    }
    if (verdict === "part") {
      // The whole does not fit, or a part is asked for.
      const rest = setting === asked ? t("{size} to spare on the GPU.", { size: size(spare) }) : lack;
      if (shared) {
        const words = t("GPU and RAM are the same memory: both parts together need {sum} of the {all}.", together);
        return {
          title: t("Runs {how}", { how }),
          short: t("{size} in all", { size: together.sum }),
          words: `${words} ${rest}`,
        };
      }
      const words = t("Needs {size} of RAM.", { size: inRam }) + " " + rest;
      const need = { how, size: ramNeed(needed) };
      return {
        title: setting.experts ? t("Runs {how}: {size}", need) : t("Runs {how} and {size} of RAM", need),
        short: t("{size} of RAM", { size: inRam }),
        words,
      };
    }
    if (verdict === "limit") {
      const size = roundGib(limit);
      return {
        title: t("Fits if you raise the GPU limit to {size}", { size }),
        short: t("GPU limit: {size}", { size }),
        words: t("With the default limit of macOS, it is {size} short.", { size: short }) + dependsOnSystem(state),
      };
    }
    if (verdict === "fits") {
      const left = { size: size(spare) };
      return {
        title: t("Fits with {size} to spare", left),
        short: t("{size} to spare", left),
        words: place
          ? t("That is on the fullest device, with the maximum driver overhead.")
          : t("That is with the maximum driver overhead."),
      };
    }
    if (verdict === "tight") {
      const [low, high] = driver.map(bytes => mib(bytes));
      const words =
        !needed.onCuda || rooms.some(([least, most]) => least < most)
          ? t("In the worst case, it is {size} short{place}.", { size: shortage(-spare), place }) +
            dependsOnSystem(state)
          : loose >= driver[0]
            ? t("It loads if the driver uses at most {size}{place}. Drivers use {low} to {high}.", {
                size: mib(loose),
                place,
                low,
                high,
              })
            : t("It loads only if the compute buffer stays near the low end of its range{place}.", { place });
      const both =
        shared && t("GPU and RAM are the same memory: both parts together need {sum} of the {all}.", together);
      const isWhole = setting === asked;
      return {
        title: WORDS.tight,
        short: "",
        words: [spare < 0 ? words : "", both, isWhole ? "" : lack].filter(Boolean).join(" "),
      };
    }
    if (verdict === "unknown") {
      return { title: WORDS.unknown, short: "", words: t("These cache types are not covered for this model.") };
    }
    if (!isCovered(needed)) {
      const missing = { size: shortage(whole.short) };
      return {
        title: t("Does not fit: at least {size} short", missing),
        short: t("at least {size} short", missing),
        words: t("Weights and cache alone exceed the memory{place}.", { place }),
      };
    }
    const words = t("That is from the best case to the worst{place}.", { place }) + dependsOnSystem(state);
    return {
      title: t("Does not fit: {size} short", { size: short }),
      short: t("{size} short", { size: short }),
      words,
    };
  }
  const isAll = ({ layers, experts }) => layers === null && !experts;
  /** What is free in the worst case, without the driver as well, and what is missing in the best case. */
  function lackOf(needed, rooms, driver) {
    let spare = Infinity;
    let loose = Infinity;
    let short = 0;
    needed.devices.forEach((device, i) => {
      const [least, most] = device.driver || driver;
      const [low, high] = device.total || [device.weights + device.cache - least, Infinity];
      loose = Math.min(loose, rooms[i][0] - high);
      spare = Math.min(spare, rooms[i][0] - high - most);
      short = Math.max(short, low + least - rooms[i][1]);
    });
    return { spare, loose, short };
  }
  /** A sentence for devices whose memory depends on the version of the system. */
  const dependsOnSystem = state =>
    isMac(state) && state.devices.some(device => device.most > device.vis)
      ? " " + t("It depends on the macOS version.")
      : "";
  const ramNeed = needed => size(needed.host.weights + needed.host.cache);
  /** The RAM that the model needs, and how much there is, if that is given. */
  const ramOf = (state, needed) =>
    state.ram ? t("{size} of the {all}", { size: ramNeed(needed), all: roundGib(state.ram) }) : ramNeed(needed);
  function parts(state, needed, i, index) {
    const { driver } = index;
    const own = needed.devices[i];
    const known = own.compute;
    const isBand = !needed.onCuda || needed.devices.length > 1;
    const basis = isBand ? "range" : needed.exact ? "exact" : "about";
    const exactness = ([low, high]) => (low === high ? "exact" : "range");
    const all = [
      part("weights", t("Weights"), own.held, exactness(own.held), t("Weights")),
      part("kv", t("KV cache"), own.kept, own.kept ? exactness(own.kept) : "no", t("Cache")),
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
  function stats(state, table, index, setting, needed, verdict, devices) {
    const all = [];
    const least = state.devices.map(device => device.vis).reduce(add);
    const most = state.devices.map(device => Math.max(device.most || 0, device.vis)).reduce(add);
    if (isCovered(needed)) {
      // The total of the table.
      const sum = end => devices.flatMap(device => device.parts.map(each => each[end])).reduce(add);
      const memory = range(least, most, n => roundGib(n).replace(" GiB", "")) + " GiB";
      all.push({
        name: t("Needs"),
        value: range(sum("low"), sum("high"), gib) + " GiB",
        note: t("of {size}", { size: memory }),
      });
    }
    if (setting.layers !== null || setting.experts) {
      const value = gib(needed.host.weights + needed.host.cache) + " GiB";
      const isGiven = state.ram && !areShared(state);
      all.push({
        name: t("In RAM"),
        value,
        note: isGiven ? t("of {size}", { size: roundGib(state.ram) }) : t("weights and cache, at most"),
      });
    }
    const device = state.devices[0].entry;
    const speed = verdict === "no" || verdict === "limit" ? null : speedOf(state, table, index, setting, device);
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
  /**
   * Alternatives to the setting that is asked for: `change` is the change of state on a click, `now` whether the
   * answer is for it.
   */
  function offers(state, table, index, setting, used, verdict) {
    const rooms = roomsOf(state, index);
    const { driver } = index;
    const all = [];
    const isMoved = used !== setting && isAll(setting);
    const most = lookup.largest(table, setting, rooms, driver);
    const exceedsWith = change => exceeds(sharedOf(state, lookup.need(table, lookup.but(setting, change)), driver));
    // With a part in RAM, the largest that fits on the device may be too large for both.
    const isBeyond = isSplit(setting) && exceedsWith({ ctx: most || state.ctx });
    const top = lookup.best(table, setting, rooms, driver);
    if (isBeyond) return all;
    all.push({
      what: "ctx",
      title: isMoved ? t("Largest context all on the GPU") : t("Largest context that fits"),
      text: most ? tokens(most) : t("none with {quant}", { quant: state.quant }),
      change: most ? { ctx: most } : null,
      now: most === state.ctx,
    });
    if (table.isWhole) return all;
    // With automatic offloading every quantization may fit: the rows show how. A file has only its own.
    if (!table.file && state.layers !== "auto" && state.experts !== "auto") {
      all.push({
        what: "quant",
        title: isMoved ? t("Best quantization all on the GPU") : t("Best quantization that fits"),
        text: top < 0 ? t("none at this context") : index.quants[top],
        change: top < 0 ? null : { quant: index.quants[top] },
        now: top === setting.quant,
      });
    }
    // With memory that is shared, a part in RAM gains nothing where the driver maps it, and has to fit beside the rest.
    if (lookup.sharesMemory(setting)) return all;
    const some = ({ count, isTight }, all) =>
      isTight ? t("{n} of {all}, tight", { n: count, all }) : t("{n} of {all}", { n: count, all });
    if (lookup.hasExperts(table) && state.runner !== "ollama" && (verdict !== "fits" || setting.experts)) {
      const few = found(lookup.fewestExperts, table, lookup.but(setting, { layers: null }), rooms, driver);
      const { count } = few;
      const change = count < 0 ? null : { experts: count, layers: null };
      if (!count || !change || !exceedsWith(change)) {
        all.push({
          what: "experts",
          title: t("Layers with experts in RAM"),
          text: count < 0 ? t("not enough, even with all") : count ? some(few, table.layers) : t("none"),
          change,
          now: count === used.experts && used.layers === null,
        });
      }
    }
    if (verdict !== "fits" || setting.layers !== null) {
      const most = found(lookup.mostLayers, table, setting, rooms, driver);
      const { count } = most;
      const layers = count > table.layers ? null : count;
      const text = layers === null && !most.isTight ? t("all {n}", { n: count }) : some(most, table.layers + 1);
      if (count < 0 || layers === null || !exceedsWith({ layers })) {
        all.push({
          what: "layers",
          title: t("Layers that fit"),
          text: count < 0 ? t("does not fit, even with 0") : text,
          change: count < 0 ? null : { layers },
          now: count >= 0 && layers === used.layers && setting.experts === used.experts,
        });
      }
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
        const asked = automatic
          ? settingOf(lookup.but(state, { quant: name }), table, index)
          : lookup.but(setting, { quant: i });
        const { setting: own, needed, verdict, beyond } = resolve(state, table, index, asked);
        const covered = isCovered(needed);
        const total = device => (device.total ? device.total[1] : device.weights + device.cache);
        return {
          name,
          verdict,
          some: automatic ? " " + someOf(own, table) : "",
          // With a part in RAM that is not asked for, it would be that of another part.
          largest: covered && own === asked && !beyond ? lookup.largest(table, own, rooms, driver) : null,
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
    if (isMac(state)) return "metal";
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
      const asked = settingOf(state, table, index);
      return fitsInPart(state, table, index, asked) ? "part" : resolve(state, table, index, asked).verdict;
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
