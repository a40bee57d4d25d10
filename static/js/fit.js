// The fit tables of models and all computations on them: figures are looked up and added, never estimated.
// Independent of the page except for `load`.

/**
 * Settings for a lookup in a table.
 * @typedef {object} Setting
 * @property {number} quant index of the quantization
 * @property {number} k index of the K cache type
 * @property {number} v index of the V cache type
 * @property {number} ctx tokens
 * @property {number} [slots] 1, 2, 4 or 8
 * @property {boolean} server logits of only one token per slot
 * @property {number[]} [shares] relative number of layers per device
 * @property {number | null} [layers] layers on the devices, including the output; null: all
 * @property {number | "all"} [experts] number of first layers with experts in RAM
 * @property {Profile[][]} [profiles] backends that the answer holds for, per device; none: CUDA
 */
/**
 * Differences of a backend from CUDA, as in backend.rs of kbgen-estimate.
 * @typedef {object} Profile
 * @property {Bounds} compute share of the compute buffer in thousandths
 * @property {number} extra bytes beyond the largest share
 * @property {boolean} widens whether the buffer holds an f16 copy of a quantized cache
 * @property {boolean} pipelined whether several devices keep copies of their inputs
 * @property {"" | "mapped" | "shared"} file whether the model file takes memory of the device
 * @property {Bounds} driver bytes beside the buffers
 */
/** @typedef {[number, number]} Bounds minimum and maximum */
/** @typedef {number[]} Curve cells, bytes, bytes per further 256 cells, repeated: exact at every context */
/** @typedef {{ from: number, to: number, output: boolean }} Place layers of a device */

(() => {
  "use strict";
  const { t } = kbgen;
  const CELL = 256;
  const GIB = 1073741824;
  const MIB = 1048576;
  const SLOTS = [1, 2, 4, 8];
  /** Alignment of compute buffers. */
  const ALIGNMENT = 128;
  /** Cells of the first sample of a compute buffer; the others are at its doubles. */
  const LEAST_SAMPLE = 2048;
  const tables = {};
  const waiting = {};

  // ---- tables ----------------------------------------------------------------
  // A table's file is one call: kbgen.fit.add("slug", {...}).
  function add(slug, table) {
    tables[slug] = unpack(table);
  }

  /** Prefix sums over layers: sums[i] is the sum of the first i layers. */
  function sums(each) {
    const all = [0];
    each.forEach((value, i) => all.push(all[i] + value));
    return all;
  }
  /** Decodes [value, count, value, count, …]. */
  function writtenOut(runs) {
    const all = [];
    for (let i = 0; i < runs.length; i += 2) for (let n = 0; n < runs[i + 1]; n++) all.push(runs[i]);
    return all;
  }
  /** Linear pieces through samples; port of `plan::partial::through` in kbgen-estimate. @returns {Curve} */
  function through(samples) {
    const curve = [CELL, samples[0] * ALIGNMENT, 0];
    samples.forEach((sample, i) => {
      const cells = LEAST_SAMPLE * 2 ** i;
      const rise = i + 1 < samples.length ? (samples[i + 1] - sample) * ALIGNMENT : 0;
      curve.push(cells, sample * ALIGNMENT, Math.ceil(rise / (cells / CELL)));
    });
    return curve;
  }
  function unpack(table) {
    const classes = writtenOut(table.class);
    table.ofClass = table.cache.map((_, one) => sums(classes.map(other => (other === one ? 1 : 0))));
    table.sampled = table.samples.map(through);
    table.quants.filter(Boolean).forEach(unpackQuant);
    return table;
  }
  function unpackQuant(quant) {
    quant.kindOf = writtenOut(quant.layer).map(kind => quant.kinds[kind]);
    const column = at => sums(quant.kindOf.map(kind => kind[at] || 0));
    quant.sums = { gpu: column(0), host: column(1), expertsGpu: column(2), expertsHost: column(3) };
    return quant;
  }

  /** Loads a model's table with a script element, once; calls `done(table)`, or `done(null)` on failure. */
  function load(slug, href, done) {
    if (tables[slug]) return done(tables[slug]);
    if (waiting[slug]) return waiting[slug].push(done);
    waiting[slug] = [done];
    const end = () => {
      const all = waiting[slug];
      delete waiting[slug];
      all.forEach(each => each(tables[slug] || null));
    };
    kbgen.load(href).then(end, end);
  }

  // ---- curves ------------------------------------------------------------------
  const cellsOf = ctx => Math.max(CELL, Math.ceil(ctx / CELL) * CELL);
  /** Bytes at a context. @param {Curve} curve */
  function at(curve, ctx) {
    const cells = cellsOf(ctx);
    let low = 0;
    let high = curve.length / 3 - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (curve[3 * middle] <= cells) low = middle;
      else high = middle - 1;
    }
    return curve[3 * low + 1] + curve[3 * low + 2] * ((cells - curve[3 * low]) / CELL);
  }

  // ---- where things are ----------------------------------------------------------
  /**
   * The layers of each device, split like in llama.cpp: of layers and output, the last `layers` are on devices; each
   * goes to the first device whose cumulative share exceeds its index, compared in single precision.
   */
  function places(table, setting) {
    const count = table.layers + 1;
    const on = setting.layers == null ? count : Math.min(setting.layers, count);
    const first = count - on;
    const shares = setting.shares && setting.shares.length ? setting.shares : [1];
    const single = Math.fround;
    const total = single(shares.reduce((sum, share) => sum + share, 0));
    const devices = shares.map(() => ({ from: 0, to: 0, output: false }));
    let device = 0;
    let cumulative = shares[0];
    const exceeds = place => single(single(cumulative) / total) > single(single(place) / single(on));
    for (let place = 0; place < on; place++) {
      while (device < shares.length - 1 && !exceeds(place)) cumulative += shares[++device];
      const holds = devices[device];
      const layer = first + place;
      if (layer === table.layers) holds.output = true;
      else {
        if (holds.to === holds.from) holds.from = layer;
        holds.to = layer + 1;
      }
    }
    return { devices, host: { from: 0, to: Math.min(first, table.layers), output: on === 0 }, on, onHost: first };
  }
  /** The number of first layers with experts in RAM. */
  const expertsAway = (table, setting) =>
    setting.experts === "all" ? table.layers : Math.min(setting.experts || 0, table.layers);
  /** Whether any layer on a device has its experts in RAM: in some models the first layers have no experts. */
  function movesExperts(table, setting, where) {
    const held = table.quants[setting.quant].sums.expertsGpu;
    return between(held, where.host.to, expertsAway(table, setting)) > 0;
  }
  /** The index of the default quantization of a model: the released one, or Q4_K_M. */
  function usual(table, names) {
    const wanted = [names.indexOf(table.as), names.indexOf("Q4_K_M"), ...names.keys()];
    return wanted.find(place => Boolean(table.quants[place]));
  }
  const hasExperts = table => Boolean(table.moe);
  const between = (to, from, end) => (end > from ? to[end] - to[from] : 0);

  // ---- what a device holds ---------------------------------------------------------
  const pair = setting => setting.k * 3 + setting.v;
  const slotsAt = setting => Math.max(0, SLOTS.indexOf(setting.slots || 1));
  /** Rotary factors, which every device with a layer of some classes holds. */
  function factors(table, place, side) {
    const all = table.factors;
    const used = all && all.class.some(one => between(table.ofClass[one], place.from, place.to));
    return used ? all[side] : 0;
  }
  function weights(table, setting, place) {
    const quant = table.quants[setting.quant];
    const hostExperts = Math.min(place.to, expertsAway(table, setting));
    return (
      between(quant.sums.gpu, place.from, place.to) -
      between(quant.sums.expertsGpu, place.from, hostExperts) +
      (place.output ? quant.out[0] : 0) +
      factors(table, place, "gpu")
    );
  }
  function hostWeights(table, setting, place) {
    const quant = table.quants[setting.quant];
    const hostExperts = Math.max(place.to, expertsAway(table, setting));
    const held =
      between(quant.sums.host, place.from, place.to) + between(quant.sums.expertsHost, place.to, hostExperts);
    return quant.in + held + (place.output ? quant.out[1] : 0) + factors(table, place, "host");
  }
  /** The curves whose sum is a device's cache: [[number of layers, curve], …]. */
  function caches(table, setting, place) {
    return table.cache
      .map((bySlots, one) => {
        const index = bySlots[slotsAt(setting)][pair(setting)];
        return [between(table.ofClass[one], place.from, place.to), table.curves[index]];
      })
      .filter(each => each[0]);
  }
  const cache = (table, setting, place, ctx) =>
    caches(table, setting, place).reduce((sum, [count, curve]) => sum + count * at(curve, ctx), 0);

  // ---- the compute buffer ----------------------------------------------------------
  // With one device it is that of the planner. With several it is a range, widened by the observed effect of gaps in
  // the allocator.
  const MICRO_BATCH = 512;
  const computeCurve = (table, setting, server) => curveAt(table, table.compute[server ? 1 : 0], setting);
  function curveAt(table, bySlots, setting) {
    const index = bySlots[slotsAt(setting)][pair(setting)];
    return index < 0 ? null : table.curves[index];
  }
  /** The settings whose figures on CUDA are nearest to a backend's. */
  const nearest = (setting, profile) => (profile.widens ? setting : but(setting, { k: 0, v: 0 }));
  /** The band of a compute buffer that is so large on CUDA. @param {Profile} profile @returns {Bounds} */
  function band(profile, [low, high]) {
    const [least, most] = profile.compute;
    return [Math.floor((low * least) / 1000), high ? Math.ceil((high * most) / 1000) + profile.extra : 0];
  }
  /** The range that contains all. @returns {Bounds} */
  const hull = ranges => [Math.min(...ranges.map(range => range[0])), Math.max(...ranges.map(range => range[1]))];
  /** The band of the weights, of which `placed` are on the device. @param {Profile} profile @returns {Bounds} */
  function weightBand(profile, placed, file, isWhole) {
    if (!profile.file) return [placed, placed];
    const high = Math.max(placed, file);
    return [profile.file === "mapped" && isWhole ? high : placed, high];
  }
  const profilesAt = (setting, i) => (setting.profiles && setting.profiles[i]) || [];
  /** What is used beside the buffers on a device. @returns {Bounds | null} */
  const driverAt = profiles => (profiles.length ? hull(profiles.map(profile => profile.driver)) : null);
  /** @returns {Bounds | null} */
  function compute(table, setting, where, i, ctx) {
    const curve = computeCurve(table, setting, setting.server);
    if (!curve) return null;
    const profiles = profilesAt(setting, i);
    if (!profiles.length) return computeOnCuda(table, setting, where, i, ctx, true);
    return hull(
      profiles.map(profile =>
        band(profile, computeOnCuda(table, nearest(setting, profile), where, i, ctx, profile.pipelined)),
      ),
    );
  }
  /** @returns {Bounds} */
  function computeOnCuda(table, setting, where, i, ctx, isPipelined) {
    if (where.devices.length > 1) {
      const [low, high] = computeOfSeveral(table, setting, where, i, ctx, isPipelined);
      // How an embedding model's buffer is divided was not measured.
      return [table.embeds ? 0 : low, high];
    }
    const bytes = computeOfOne(table, setting, where, ctx);
    return [bytes, bytes];
  }
  /** The sampled buffers for a split with one device; none if the whole model is on it. @returns {Curve[]} */
  function sampled(table, setting, where) {
    const split = table.quants[setting.quant].split;
    // [layers, index of the buffer by cache type, …]: the first split with at least this many
    const row = (list, count) => {
      let i = 0;
      while (list[i] < count) i += 4;
      return list.slice(i + 1, i + 4);
    };
    const rows = [];
    if (where.onHost > table.layers) rows.push(split[2]);
    else {
      if (where.onHost) rows.push(row(split[0], where.onHost));
      if (movesExperts(table, setting, where)) rows.push(row(split[1], expertsAway(table, setting)));
    }
    return rows.flatMap(row => [table.sampled[row[setting.k]], table.sampled[row[setting.v]]]);
  }
  /** Port of `plan::partial::partial_bytes` in kbgen-estimate. */
  function computeOfOne(table, setting, where, ctx) {
    const asked = at(computeCurve(table, setting, setting.server), ctx);
    const curves = sampled(table, setting, where);
    if (!curves.length) return asked;
    const oneSlot = at(computeCurve(table, but(setting, { slots: 1 }), true), ctx);
    const more = Math.max(0, at(computeCurve(table, setting, true), ctx) - oneSlot);
    const output = where.onHost > table.layers && !setting.server ? table.quants[setting.quant].big : 0;
    return Math.max(asked, Math.max(oneSlot, ...curves.map(curve => at(curve, ctx))) + more) + output;
  }
  /** @returns {Bounds} */
  function computeOfSeveral(table, setting, where, i, ctx, isPipelined) {
    const place = where.devices[i];
    const whole = at(computeCurve(table, setting, setting.server), ctx);
    const inner = at(computeCurve(table, setting, true), ctx);
    const hostExperts = expertsAway(table, setting);
    const apart = table.quants[setting.quant].sums.expertsGpu[hostExperts] > 0;
    const { onHost } = where;
    if (!onHost && !hostExperts && isPipelined) return pipelined(table, setting, place, ctx, whole, inner);
    const terms = table.offload;
    const first = i === 0;
    if (place.from === place.to && !place.output && !first) return [0, 0];
    const logits = outputs(setting, ctx) * terms.logits;
    let high = (place.output || (first && onHost > table.layers) ? whole : inner) + terms.slack;
    let low = place.output ? logits : 0;
    // The mask is copied to each device, where it is kept until the logits are computed.
    if (place.output) high = Math.max(high, logits + 2 * MICRO_BATCH * cellsOf(ctx) + terms.slack);
    // The first device computes the layers on the host, except possibly the attention of a model with state.
    const helped = first && !terms.states ? where.host : { from: 0, to: 0 };
    const spared = apart || !first ? 4 : 1;
    if ((!apart || first) && hasAllClasses(table, place, helped)) low = Math.max(low, inner - spared * terms.slack);
    high += 2 * copiedCache(table, setting, ctx);
    // Results of other devices are copied, and for experts on the host one per active expert.
    if (!first) high += 2 * terms.stream * (apart ? table.moe[1] : 2) + (apart ? 2 * terms.slack : 0);
    if (first) {
      const weight = largestWeight(table, setting, where.host.to, hostExperts);
      high += 2 * weight + 3 * largestCache(table, setting, where.host, ctx);
      low = Math.max(low, weight);
      if (onHost > table.layers && (!setting.server || table.embeds)) {
        const output = table.quants[setting.quant].big;
        high += output;
        low = Math.max(low, output + logits);
      }
    }
    return [low, high];
  }
  /** Several devices with all layers: the data passed from one to the next exist four times. @returns {Bounds} */
  function pipelined(table, setting, place, ctx, whole, inner) {
    const terms = table.offload;
    const begins = place.from === 0 && place.to > 0;
    const size = curve => at(curve, ctx);
    const first = size(curveAt(table, terms.first, setting));
    const last = size(curveAt(table, terms.last[1], setting));
    const more = whole + Math.max(0, last - inner);
    if (!place.output && place.from === place.to) return [0, 0];
    let range;
    if (begins && place.output) range = [whole, more];
    else if (begins) range = [first, first];
    else if (!place.output) range = [last, last];
    else {
      const own = size(curveAt(table, terms.last[setting.server ? 1 : 0], setting));
      range = [own, Math.max(own, more)];
    }
    const low = hasAllClasses(table, place, { from: 0, to: 0 }) ? range[0] - 3 * terms.slack : 0;
    // With two copies of shared caches, buffers were above the range; with 16, none of 5,000 random settings was.
    const high = range[1] + terms.slack + 16 * copiedCache(table, setting, ctx);
    return [Math.max(0, low, place.output ? outputs(setting, ctx) * terms.logits : 0), high];
  }
  /** Number of tokens of a micro-batch whose logits are kept. */
  const outputs = (setting, ctx) => (setting.server ? setting.slots || 1 : Math.min(MICRO_BATCH, cellsOf(ctx)));
  /**
   * Whether these include a layer of each class. The last layer drops most tokens before its end, so it does not count
   * for its device.
   */
  function hasAllClasses(table, mine, helped) {
    const end = Math.min(mine.to, table.layers - 1);
    return table.ofClass.every(of => between(of, mine.from, end) + between(of, helped.from, helped.to) > 0);
  }
  /** The largest weight that the first device copies from the host. */
  function largestWeight(table, setting, onHost, hostExperts) {
    const quant = table.quants[setting.quant];
    let largest = 0;
    for (let layer = 0; layer < Math.max(onHost, hostExperts); layer++) {
      const kind = quant.kindOf[layer];
      largest = Math.max(largest, layer < onHost ? kind[4] : 0, kind[5] || 0);
    }
    return largest;
  }
  /** One copy of each class of caches, where layers of another device can share them. */
  const copiedCache = (table, setting, ctx) =>
    table.offload.sharesCache
      ? caches(table, setting, { from: 0, to: table.layers }).reduce((sum, [, curve]) => sum + at(curve, ctx), 0)
      : 0;
  /** The largest cache of a layer. */
  const largestCache = (table, setting, host, ctx) =>
    caches(table, setting, host).reduce((most, [, curve]) => Math.max(most, at(curve, ctx)), 0);
  /** The curves that a buffer can consist of: it is convex between the starts of their pieces. */
  function computeCurves(table, setting, where) {
    const terms = table.offload;
    const several = where.devices.length > 1 ? [terms.first, terms.last[0], terms.last[1]] : [];
    const curves = [...table.compute, ...several].map(bySlots => curveAt(table, bySlots, setting) || []);
    const plain = but(setting, { k: 0, v: 0 });
    if (setting.profiles && (setting.k || setting.v)) {
      curves.push(...computeCurves(table, but(plain, { profiles: null }), where));
    }
    const alone = computeCurve(table, but(setting, { slots: 1 }), true) || [];
    return [...curves, alone, ...(several.length ? [] : sampled(table, setting, where))];
  }

  /** The memory of a setting, by device and in RAM. @param {Setting} setting */
  function need(table, setting) {
    const where = places(table, setting);
    const isCovered = computeCurve(table, setting, setting.server);
    // For unsupported cache types only the weights are known.
    const cached = place => (isCovered ? cache(table, setting, place, setting.ctx) : null);
    return {
      devices: where.devices.map((place, i) => {
        const profiles = profilesAt(setting, i);
        const isAlone = where.devices.length === 1;
        const placed = weights(table, setting, place);
        const file = isAlone ? table.quants[setting.quant].file : 0;
        const isWhole = isAlone && !where.onHost && !(expertsAway(table, setting) > 0);
        const held = profiles.length
          ? hull(profiles.map(profile => weightBand(profile, placed, file, isWhole)))
          : [placed, placed];
        // Where RAM is the same memory, what the host holds counts too.
        const shared = profiles.some(profile => profile.file) ? cached(where.host) : 0;
        const least = cached(place);
        const kept = least === null ? null : [least, least + shared];
        const buffer = compute(table, setting, where, i, setting.ctx);
        return {
          weights: held[1],
          cache: kept && kept[1],
          held,
          kept,
          layers: place.to - place.from,
          output: place.output,
          compute: buffer,
          total: buffer && buffer.map((bytes, end) => held[end] + kept[end] + bytes),
          driver: driverAt(profiles),
        };
      }),
      onCuda: !setting.profiles || setting.profiles.every(profiles => !profiles.length),
      exact: where.devices.length === 1 && !where.onHost && !movesExperts(table, setting, where),
      host: { weights: hostWeights(table, setting, where.host), cache: cached(where.host) },
    };
  }

  // ---- verdicts ----------------------------------------------------------------------
  /**
   * The verdict for one device: `room` is the memory that other programs leave, a number or a range by settings of the
   * system; `driver` is that of the driver with CUDA. Without a covered compute buffer, the verdict is known only if
   * the rest does not fit.
   */
  function judgeOne(device, room, driver) {
    const total = device.total;
    const [least, most] = bounds(room);
    if (!total) return device.weights + device.cache > most ? "no" : "unknown";
    const [low, high] = device.driver || driver;
    return total[1] + high <= least ? "fits" : total[0] + low <= most ? "tight" : "no";
  }
  /** @returns {Bounds} */
  const bounds = room => (typeof room === "number" ? [room, room] : room);
  /** The worst verdict of all devices. */
  function judge(needed, rooms, driver) {
    const worst = ["fits", "tight", "unknown", "no"];
    const each = needed.devices.map((device, i) => worst.indexOf(judgeOne(device, rooms[i], driver)));
    return worst[Math.max(...each)];
  }
  const fits = (table, setting, rooms, driver) => judge(need(table, setting), rooms, driver) === "fits";
  /** Whether it fits at least in the best case. */
  const mayFit = (table, setting, rooms, driver) =>
    ["fits", "tight"].includes(judge(need(table, setting), rooms, driver));
  const but = (setting, change) => ({ ...setting, ...change });

  // ---- what would fit ------------------------------------------------------------------
  /** The largest context that fits even with the maximum driver overhead; 0 if there is none. */
  function largest(table, setting, rooms, driver) {
    const where = places(table, setting);
    // The missing memory on the worst device; linear or convex between the starts of two pieces.
    const missing = step => {
      const { devices } = need(table, but(setting, { ctx: step * CELL }));
      const lacks = (device, i) =>
        device.total ? device.total[1] + (device.driver || driver)[1] - bounds(rooms[i])[0] : Infinity;
      return Math.max(...devices.map(lacks));
    };
    const curves = computeCurves(table, setting, where);
    for (const place of [...where.devices, where.host]) {
      curves.push(...caches(table, setting, place).map(each => each[1]));
    }
    const found = new Set([1]);
    for (const curve of curves) for (let i = 0; i < curve.length; i += 3) found.add(Math.max(1, curve[i] / CELL));
    const starts = [...found].sort((a, b) => b - a);
    // Starts at the end: over all pieces the sum may not be monotonic.
    let end = Math.ceil(table.max / CELL);
    for (const start of starts) {
      if (start > end) continue;
      const step = lastIn(start, end, missing);
      if (step) return Math.min(step * CELL, table.max);
      end = start - 1;
    }
    return 0;
  }
  /** The last step of a convex piece that fits; 0 if there is none. */
  function lastIn(start, end, missing) {
    if (missing(end) <= 0) return end;
    let good = start;
    let bad = end;
    if (missing(start) > 0) {
      let low = start;
      let high = end;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (missing(middle + 1) < missing(middle)) low = middle + 1;
        else high = middle;
      }
      if (missing(low) > 0) return 0;
      good = low;
    }
    while (bad - good > 1) {
      const middle = (good + bad) >> 1;
      if (missing(middle) <= 0) good = middle;
      else bad = middle;
    }
    return good;
  }
  /** The widest quantization that fits; -1 if there is none. */
  const best = (table, setting, rooms, driver) =>
    table.quants.findIndex((quant, i) => quant && fits(table, but(setting, { quant: i }), rooms, driver));
  /** The maximum number of layers on the devices (including the output) that fits; -1 if not even 0 fits. */
  function mostLayers(table, setting, rooms, driver, isEnough = fits) {
    let layers = table.layers + 1;
    while (layers >= 0 && !isEnough(table, but(setting, { layers }), rooms, driver)) layers -= 1;
    return layers;
  }
  /** The number of first layers whose experts must be in RAM to fit; -1 if all are not enough. */
  function fewestExperts(table, setting, rooms, driver, isEnough = fits) {
    for (let hostExperts = 0; hostExperts <= table.layers; hostExperts++) {
      if (isEnough(table, but(setting, { experts: hostExperts }), rooms, driver)) return hostExperts;
    }
    return -1;
  }
  /** Whether the memory of a device is the RAM. */
  const sharesMemory = ({ profiles }) => Boolean(profiles) && profiles.some(all => all.some(profile => profile.file));
  /**
   * The change that keeps quantization and context and moves a part into RAM, like `Remedies::plan` of kbgen-estimate:
   * experts, unless they need more than 5/4 of the RAM of whole layers. Null if nothing fits.
   */
  function partInRam(table, setting, rooms, driver, canMoveExperts, isEnough = fits) {
    // With memory that is shared nothing is gained.
    if (sharesMemory(setting)) return null;
    const experts =
      canMoveExperts && hasExperts(table) && !setting.experts
        ? fewestExperts(table, setting, rooms, driver, isEnough)
        : -1;
    const layers = setting.layers == null ? mostLayers(table, setting, rooms, driver, isEnough) : -1;
    const held = change => {
      const { host } = need(table, but(setting, change));
      return host.weights + host.cache;
    };
    const byLayers = layers > 0 ? { layers } : null;
    if (experts < 0) return byLayers;
    const isLarge = byLayers && Math.floor(held({ experts }) / 5) > Math.floor(held(byLayers) / 4);
    return isLarge ? byLayers : { experts };
  }

  // ---- speed -----------------------------------------------------------------------------
  /** Elements and bytes of a block by cache type: f16, q8_0, q4_0. */
  const BLOCKS = [
    [1, 2],
    [32, 34],
    [32, 18],
  ];
  /** Bytes of weights that a token reads from RAM: those of whole layers, and of the experts that it uses. */
  function readFromRam(table, setting) {
    const { host } = places(table, setting);
    const { sums, out } = table.quants[setting.quant];
    const [all, used] = table.moe || [1, 0];
    const experts = between(sums.expertsHost, 0, Math.max(host.to, expertsAway(table, setting)));
    const rest = between(sums.host, 0, host.to) - between(sums.expertsHost, 0, host.to);
    return { bytes: rest + (experts / all) * used + (host.output ? out[1] : 0), layers: host.to };
  }
  /**
   * Tokens per second as [min, max] with an empty and with a full context, or the `reason` why they are unknown. For
   * one device and one request; `device` and `index` are those of the calculator. A port of speed.rs.
   */
  function speed(table, setting, device, index) {
    if (table.embeds) return { reason: t("an embedding model writes no text") };
    const bandwidth = device.bw;
    const { classes, spread, ram } = index.decode;
    const known = classes[device.sp];
    if (!known) return { reason: index.unmeasured[-1 - device.sp] };
    if (!bandwidth) return { reason: t("the bandwidth of the device is not confirmed") };
    if (setting.layers === 0) return { reason: t("no measurements without layers on the GPU") };
    const [share, layerTime, expertsReason, ramReason] = known;
    const onHost = readFromRam(table, setting);
    if (hasExperts(table) && expertsReason >= 0) return { reason: index.unmeasured[expertsReason] };
    if (onHost.bytes && ramReason >= 0) return { reason: index.unmeasured[ramReason] };
    const read = table.read;
    const weightBytes = table.quants[setting.quant].touch;
    const size = (elements, type) => Math.ceil(elements / BLOCKS[type][0]) * BLOCKS[type][1];
    const atDepth = depth => {
      const near = Math.min(depth, read[4]);
      const keys = size(read[0] * depth + read[2] * near, setting.k);
      const cached = keys + size(read[1] * depth + read[3] * near, setting.v) + read[5];
      const inRam = onHost.bytes + (cached / table.layers) * onHost.layers;
      const onDevice = weightBytes + cached - inRam;
      const time = onDevice / (bandwidth * share * 1e6) + table.layers * layerTime * 1e-6 + inRam / (ram * 1e9);
      return [1000 / (time * spread), spread / (time * 1000)];
    };
    return { empty: atDepth(0), full: atDepth(setting.ctx) };
  }

  // ---- vLLM --------------------------------------------------------------------------------
  const BLOCK = 16;
  const SMALL_BATCH = 2048;
  const LARGE_BATCH = 8192;
  const LARGE_CARD = 70 * GIB;
  /**
   * Memory of vLLM on each GPU, a port of vllm.rs in kbgen-estimate: weights, cache of one request, activations and
   * CUDA, unused memory, pool, longest context; all but the weights are ranges. `asked` is {dtype (index), cards,
   * memory (usable), util (thousandths), fp8 (cache), ctx, held (by other programs)}. {reason} if not covered.
   */
  function vllm(table, asked) {
    const model = table.vllm;
    if (typeof model === "string") return { reason: model };
    const atCards = model.weights[asked.cards - 1];
    const page = model.page[asked.cards - 1] / (asked.fp8 ? 2 : 1);
    if (!atCards) return { reason: t("its heads cannot be split across {n} GPUs", { n: asked.cards }) };
    const held = atCards[asked.dtype];
    const withStates = tokens => {
      const bytes = (full, layers, state) => {
        const blocks = Math.max(1, Math.ceil(state / page));
        return (full * Math.ceil(tokens / (BLOCK * blocks)) + layers) * blocks * page;
      };
      const state = model.state[asked.cards - 1];
      return [0, 1].map(end => bytes((end ? model.padded : model.layers)[0], model.states[end], state[end]));
    };
    const request = tokens => {
      if (model.states) return withStates(tokens);
      const blocks = Math.ceil(tokens / BLOCK);
      const before = Math.max(0, model.window - 1);
      const window = batch => Math.ceil(Math.min(before + batch, tokens) / BLOCK) + 1;
      const count = ([all, near], batch) => (all * blocks + near * window(batch)) * page;
      return [count(model.layers, SMALL_BATCH), count(model.padded, LARGE_BATCH)];
    };
    const isLarge = asked.memory >= LARGE_CARD;
    const reserve = [GIB / 2, asked.cards > 1 ? (isLarge ? 12 : 6.5) * GIB : (isLarge ? 5 : 3.5) * GIB];
    const share = Math.floor((asked.memory * asked.util) / 1000);
    const pool = [Math.max(0, share - held - model.further - reserve[1]), Math.max(0, share - held - reserve[0])];
    const longest = (end, room) => {
      let low = 0;
      let high = table.max;
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (request(middle)[end] <= room) low = middle;
        else high = middle - 1;
      }
      return low;
    };
    const context = [longest(1, pool[0]), longest(0, pool[1])];
    const left = asked.memory - share;
    // It does not start if other programs use more than it leaves free.
    const blocked = (asked.held || 0) > left;
    const verdict = blocked ? "no" : asked.ctx <= context[0] ? "fits" : asked.ctx <= context[1] ? "tight" : "no";
    return {
      memory: asked.memory,
      blocked,
      weights: held,
      request: request(asked.ctx),
      reserve,
      pool,
      context,
      left: [left, left],
      verdict,
    };
  }

  kbgen.fit = {
    CELL,
    GIB,
    MIB,
    SLOTS,
    tables,
    add,
    load,
    unpackQuant,
    at,
    places,
    hasExperts,
    usual,
    need,
    bounds,
    band,
    hull,
    weightBand,
    driverAt,
    judge,
    judgeOne,
    but,
    largest,
    best,
    mostLayers,
    fewestExperts,
    sharesMemory,
    partInRam,
    mayFit,
    speed,
    vllm,
  };
})();
