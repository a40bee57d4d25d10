// The fit tables of models, and every question that they answer. Nothing is estimated here: a figure is looked up
// and added. Works without a page; only `load` needs one.
(function (global) {
  "use strict";
  const { t } = kbgen;
  var CELL = 256, GIB = 1073741824, MIB = 1048576;
  var SLOTS = [1, 2, 4, 8];
  var tables = {}, waiting = {};

  // ---- tables ----------------------------------------------------------------
  // A table's file is one call: kbFit("slug", {...}).
  global.kbFit = function (slug, table) { tables[slug] = unpack(table); };

  // Sums over layers, so that what any run of layers holds is one subtraction: sums[i] is what the first i hold.
  function sums(each) {
    var all = [0];
    each.forEach(function (value, i) { all.push(all[i] + value); });
    return all;
  }
  // [value, count, value, count, …] written out.
  function written_out(runs) {
    var all = [];
    for (var i = 0; i < runs.length; i += 2) for (var n = 0; n < runs[i + 1]; n++) all.push(runs[i]);
    return all;
  }
  function unpack(table) {
    var classes = written_out(table["class"]);
    table.of_class = table.cache.map(function (_, one) { return sums(classes.map(function (other) { return other === one ? 1 : 0; })); });
    table.quants.forEach(function (quant) {
      if (!quant) return;
      quant.kind_of = written_out(quant.layer).map(function (kind) { return quant.kinds[kind]; });
      var column = function (at) { return sums(quant.kind_of.map(function (kind) { return kind[at] || 0; })); };
      quant.sums = { gpu: column(0), host: column(1), experts_gpu: column(2), experts_host: column(3) };
    });
    return table;
  }

  // Fetches a model's table by a script of the page, once; `done(table)`, or `done(null)` when it cannot be had.
  function load(slug, href, done) {
    if (tables[slug]) return done(tables[slug]);
    if (waiting[slug]) return waiting[slug].push(done);
    waiting[slug] = [done];
    var end = function () {
      var all = waiting[slug];
      delete waiting[slug];
      all.forEach(function (each) { each(tables[slug] || null); });
    };
    kbgen.load(href).then(end, end);
  }

  // ---- curves ------------------------------------------------------------------
  var cells_of = function (ctx) { return Math.max(CELL, Math.ceil(ctx / CELL) * CELL); };
  // A curve is [cells, bytes, bytes for every 256 cells more, …], exact at every context.
  function at(curve, ctx) {
    var cells = cells_of(ctx), low = 0, high = curve.length / 3 - 1;
    while (low < high) {
      var middle = (low + high + 1) >> 1;
      if (curve[3 * middle] <= cells) low = middle; else high = middle - 1;
    }
    return curve[3 * low + 1] + curve[3 * low + 2] * ((cells - curve[3 * low]) / CELL);
  }

  // ---- where things are ----------------------------------------------------------
  // The layers of each device as llama.cpp shares them out: of layers and output the last `layers` go to the
  // devices; a place goes to the first device whose cumulative share exceeds it, compared in single precision.
  function places(table, setting) {
    var count = table.layers + 1, on = setting.layers == null ? count : Math.min(setting.layers, count), first = count - on;
    var shares = setting.shares && setting.shares.length ? setting.shares : [1], single = Math.fround;
    var total = shares.reduce(function (sum, share) { return sum + share; }, 0);
    var devices = shares.map(function () { return { from: 0, to: 0, output: false }; });
    for (var place = 0, device = 0, cumulative = shares[0]; place < on; place++) {
      while (device < shares.length - 1 && !(single(single(cumulative) / single(total)) > single(single(place) / single(on)))) cumulative += shares[++device];
      var holds = devices[device], layer = first + place;
      if (layer === table.layers) holds.output = true;
      else { if (holds.to === holds.from) holds.from = layer; holds.to = layer + 1; }
    }
    return { devices: devices, host: { from: 0, to: Math.min(first, table.layers), output: on === 0 }, on: on, whole: shares.length === 1 && on === count };
  }
  // How many of the first layers keep their experts in the host's memory.
  function experts_away(table, setting) { return setting.experts === "all" ? table.layers : Math.min(setting.experts || 0, table.layers); }
  // Whether any of these has experts: in some models the first layers have none.
  function moves_experts(table, setting) { return table.quants[setting.quant].sums.experts_gpu[experts_away(table, setting)] > 0; }
  // The place of the quantization that files of a model are met in: as it was released, or Q4_K_M.
  function usual(table, names) {
    var there = function (place) { return Boolean(table.quants[place]); };
    return [names.indexOf(table.as), names.indexOf("Q4_K_M")].concat(names.map(function (_, i) { return i; })).filter(there)[0];
  }
  var has_experts = function (table) { return Boolean(table.moe); };
  var between = function (to, from, end) { return end > from ? to[end] - to[from] : 0; };

  // ---- what a device holds ---------------------------------------------------------
  var pair = function (setting) { return setting.k * 3 + setting.v; };
  var slots_at = function (setting) { return Math.max(0, SLOTS.indexOf(setting.slots || 1)); };
  // What every device holds that has a layer of some classes: rotary factors.
  function factors(table, place, side) {
    var all = table.factors;
    var used = all && all["class"].some(function (one) { return between(table.of_class[one], place.from, place.to); });
    return used ? all[side] : 0;
  }
  function weights(table, setting, place) {
    var quant = table.quants[setting.quant], away = Math.min(place.to, experts_away(table, setting));
    return between(quant.sums.gpu, place.from, place.to) - between(quant.sums.experts_gpu, place.from, away)
      + (place.output ? quant.out[0] : 0) + factors(table, place, "gpu");
  }
  function host_weights(table, setting, place) {
    var quant = table.quants[setting.quant], away = Math.max(place.to, experts_away(table, setting));
    return quant["in"] + between(quant.sums.host, place.from, place.to) + between(quant.sums.experts_host, place.to, away)
      + (place.output ? quant.out[1] : 0) + factors(table, place, "host");
  }
  // The curves that a device's cache is the sum of: [[how many layers, curve], …].
  function caches(table, setting, place) {
    return table.cache.map(function (by_slots, one) {
      var index = by_slots[slots_at(setting)][pair(setting)];
      return [between(table.of_class[one], place.from, place.to), table.curves[index]];
    }).filter(function (each) { return each[0]; });
  }
  function cache(table, setting, place, ctx) {
    return caches(table, setting, place).reduce(function (sum, each) { return sum + each[0] * at(each[1], ctx); }, 0);
  }
  // ---- the compute buffer ----------------------------------------------------------
  // That of one device with all layers is exact. Otherwise it is a range, by the bounds of src/site/tables/offload.rs.
  var MICRO_BATCH = 512;
  function compute_curve(table, setting, server) {
    return curve_at(table, table.compute[server ? 1 : 0], setting);
  }
  function curve_at(table, by_slots, setting) {
    var index = by_slots[slots_at(setting)][pair(setting)];
    return index < 0 ? null : table.curves[index];
  }
  function compute(table, setting, where, i, ctx) {
    var curve = compute_curve(table, setting, setting.server);
    if (!curve) return null;
    var place = where.devices[i], whole = at(curve, ctx), inner = at(compute_curve(table, setting, true), ctx);
    var away = experts_away(table, setting), apart = moves_experts(table, setting), on_host = table.layers + 1 - where.on;
    if (where.whole && !apart) return [whole, whole];
    if (!on_host && !away) return pipelined(table, setting, place, ctx, whole, inner);
    var terms = table.offload, first = i === 0, empty = place.from === place.to;
    if (empty && !place.output && !first) return [0, 0];
    var logits = outputs(setting, ctx) * terms.logits;
    var high = (place.output || first && on_host > table.layers ? whole : inner) + terms.slack, low = place.output ? logits : 0;
    // The first device computes what the host holds, but not surely the attention of a model with a state.
    var helped = first && !terms.states ? where.host : { from: 0, to: 0 };
    if ((!apart || first) && has_all_classes(table, place, helped)) low = Math.max(low, inner - (apart || !first ? 4 : 1) * terms.slack);
    // What other devices computed comes over, of experts on the host for each one used.
    if (!first) high += 2 * terms.stream * (apart ? table.moe[1] : 2) + (apart ? 2 * terms.slack : 0);
    if (first) {
      var weight = largest_weight(table, setting, where.host.to, away), cell = largest_cache(table, setting, where.host, ctx);
      high += 2 * weight + 3 * cell;
      low = Math.max(low, weight);
      if (on_host > table.layers && !setting.server) {
        var output = table.quants[setting.quant].big;
        high += output;
        low = Math.max(low, output + logits);
      }
    }
    return [low, high];
  }
  // Several devices with all layers: what one of them hands to the next is there four times.
  function pipelined(table, setting, place, ctx, whole, inner) {
    var terms = table.offload, begins = place.from === 0 && place.to > 0, range;
    var first = at(curve_at(table, terms.first, setting), ctx), last = at(curve_at(table, terms.last[1], setting), ctx);
    var more = whole + Math.max(0, last - inner);
    if (!place.output && place.from === place.to) return [0, 0];
    if (begins && place.output) range = [whole, more];
    else if (begins) range = [first, first];
    else if (!place.output) range = [last, last];
    else {
      var own = at(curve_at(table, terms.last[setting.server ? 1 : 0], setting), ctx);
      range = [own, Math.max(own, more)];
    }
    var low = has_all_classes(table, place, { from: 0, to: 0 }) ? range[0] - 3 * terms.slack : 0;
    return [Math.max(0, low, place.output ? outputs(setting, ctx) * terms.logits : 0), range[1] + terms.slack];
  }
  // Tokens of a micro-batch whose logits are kept.
  function outputs(setting, ctx) { return setting.server ? setting.slots || 1 : Math.min(MICRO_BATCH, cells_of(ctx)); }
  // Whether a layer of each class is among these. The last layer drops most tokens before its end, and does not count
  // for the device that holds it.
  function has_all_classes(table, mine, helped) {
    return table.of_class.every(function (sums) {
      return between(sums, mine.from, Math.min(mine.to, table.layers - 1)) + between(sums, helped.from, helped.to) > 0;
    });
  }
  // The largest weight that the first device copies in from the host, and the largest cache of a layer.
  function largest_weight(table, setting, on_host, away) {
    var quant = table.quants[setting.quant], largest = 0;
    for (var layer = 0; layer < Math.max(on_host, away); layer++) {
      var kind = quant.kind_of[layer];
      largest = Math.max(largest, layer < on_host ? kind[4] : 0, kind[5] || 0);
    }
    return largest;
  }
  function largest_cache(table, setting, host, ctx) {
    return caches(table, setting, host).reduce(function (most, each) { return Math.max(most, at(each[1], ctx)); }, 0);
  }
  // The curves that a buffer may be made of: between the starts of their pieces it is convex.
  function compute_curves(table, setting) {
    var terms = table.offload;
    return [table.compute[0], table.compute[1]].concat(terms ? [terms.first, terms.last[0], terms.last[1]] : []).map(function (by_slots) { return curve_at(table, by_slots, setting) || []; });
  }

  // Everything, device by device and in the host's memory. A setting is
  // {quant, k, v (positions), ctx, slots (1, 2, 4, 8), server (true: logits of one token a slot only),
  //  shares ([1], or a share for each device), layers (on the devices, output counted; null: all), experts (0, n, "all"),
  //  uncovered ([true] where the figures of CUDA do not hold for a device; may be left out)}.
  function need(table, setting) {
    var where = places(table, setting);
    // Cache types that the model is not run with have no figures but the weights'.
    var cached = function (place) { return compute_curve(table, setting, setting.server) ? cache(table, setting, place, setting.ctx) : null; };
    return {
      devices: where.devices.map(function (place, i) {
        var device = { weights: weights(table, setting, place), cache: cached(place), layers: place.to - place.from, output: place.output };
        device.compute = setting.uncovered && setting.uncovered[i] ? null : compute(table, setting, where, i, setting.ctx);
        device.total = device.compute && device.compute.map(function (bytes) { return device.weights + device.cache + bytes; });
        return device;
      }),
      exact: where.whole && !moves_experts(table, setting),
      host: { weights: host_weights(table, setting, where.host), cache: cached(where.host) }
    };
  }

  // ---- verdicts ----------------------------------------------------------------------
  // One device: `room` what other programs leave, `driver` as [least, most].
  // Where the compute buffer is not covered, only what does not fit without it is known.
  function judge_one(device, room, driver) {
    var total = device.total;
    if (!total) return device.weights + device.cache > room ? "no" : "unknown";
    return total[1] + driver[1] <= room ? "fits" : total[0] + driver[0] <= room ? "tight" : "no";
  }
  // All devices: the worst of them decides.
  function judge(needed, rooms, driver) {
    var worst = ["fits", "tight", "unknown", "no"], found = 0;
    needed.devices.forEach(function (device, i) { found = Math.max(found, worst.indexOf(judge_one(device, rooms[i], driver))); });
    return worst[found];
  }
  function fits(table, setting, rooms, driver) {
    return judge(need(table, setting), rooms, driver) === "fits";
  }
  function but(setting, change) {
    var changed = {};
    for (var key in setting) changed[key] = setting[key];
    for (key in change) changed[key] = change[key];
    return changed;
  }

  // ---- what would fit ------------------------------------------------------------------
  // The largest context at which everything fits even if the driver takes its most; 0 when none does.
  function largest(table, setting, rooms, driver) {
    var last = Math.ceil(table.max / CELL), where = places(table, setting);
    // What is missing on the device where most is missing; straight or convex between the starts of two pieces.
    var missing = function (step) {
      var worst = -Infinity;
      need(table, but(setting, { ctx: step * CELL })).devices.forEach(function (device, i) {
        worst = Math.max(worst, device.total ? device.total[1] + driver[1] - rooms[i] : Infinity);
      });
      return worst;
    };
    var starts = { 1: 1 }, curves = compute_curves(table, setting);
    where.devices.concat(where.host).forEach(function (place) { caches(table, setting, place).forEach(function (each) { curves.push(each[1]); }); });
    curves.forEach(function (curve) { for (var i = 0; i < curve.length; i += 3) starts[Math.max(1, curve[i] / CELL)] = 1; });
    starts = Object.keys(starts).map(Number).sort(function (a, b) { return a - b; });
    // From the far end: over all pieces the sum may fall and rise.
    for (var i = starts.length - 1, end = last; i >= 0; i--) {
      if (starts[i] > end) continue;
      var step = last_in(starts[i], end, missing);
      if (step) return Math.min(step * CELL, table.max);
      end = starts[i] - 1;
    }
    return 0;
  }
  // The last step of a convex piece at which nothing is missing; 0 when there is none.
  function last_in(start, end, missing) {
    if (missing(end) <= 0) return end;
    var good = start, bad = end, middle;
    if (missing(start) > 0) {
      for (var low = start, high = end; low < high;) {
        middle = (low + high) >> 1;
        if (missing(middle + 1) < missing(middle)) low = middle + 1; else high = middle;
      }
      if (missing(low) > 0) return 0;
      good = low;
    }
    while (bad - good > 1) {
      middle = (good + bad) >> 1;
      if (missing(middle) <= 0) good = middle; else bad = middle;
    }
    return good;
  }
  // The quantization with the most bytes of those that fit; -1 when none does.
  function best(table, setting, rooms, driver) {
    var found = -1, most = -1;
    table.quants.forEach(function (quant, i) {
      if (quant && quant.file > most && fits(table, but(setting, { quant: i }), rooms, driver)) { found = i; most = quant.file; }
    });
    return found;
  }
  // The most layers on the devices (the output counted) that fit; -1 when not even none does.
  function most_layers(table, setting, rooms, driver) {
    for (var layers = table.layers + 1; layers >= 0; layers--) if (fits(table, but(setting, { layers: layers }), rooms, driver)) return layers;
    return -1;
  }
  // Of how many first layers the experts have to stay in the host's memory so that it fits; -1 when all are not enough.
  function fewest_experts(table, setting, rooms, driver) {
    for (var away = 0; away <= table.layers; away++) if (fits(table, but(setting, { experts: away }), rooms, driver)) return away;
    return -1;
  }

  // ---- speed -----------------------------------------------------------------------------
  // Elements in a block of a cache type and its bytes: f16, q8_0, q4_0.
  var BLOCKS = [[1, 2], [32, 34], [32, 18]];
  // Tokens a second as [least, most] with an empty and with a full context: bandwidth over the bytes that a token reads,
  // times the share (in thousandths) that devices of its class reach. For all layers on one device and one request;
  // `device` is an entry of the index.
  function speed(table, setting, device, index) {
    var bandwidth = device.bw, band = device.sp === undefined ? null : index.bands[device.sp][table.speed];
    if (!bandwidth || !band) return null;
    var read = table.read, size = function (elements, type) { return Math.ceil(elements / BLOCKS[type][0]) * BLOCKS[type][1]; };
    var at_depth = function (depth) {
      var near = Math.min(depth, read[4]);
      var bytes = table.quants[setting.quant].touch + size(read[0] * depth + read[2] * near, setting.k) + size(read[1] * depth + read[3] * near, setting.v) + read[5];
      return band.map(function (share) { return bandwidth * 1e6 * share / bytes; });
    };
    return { empty: at_depth(0), full: at_depth(setting.ctx) };
  }

  // ---- vLLM --------------------------------------------------------------------------------
  var BLOCK = 16, SMALL_BATCH = 2048, LARGE_BATCH = 8192, LARGE_CARD = 70 * GIB;
  // What vLLM takes of each card, as crates/kbgen-estimate/src/vllm.rs has it: weights, the cache of one request, activations and
  // CUDA, what it leaves alone, the pool, the longest context; ranges but for the weights. `asked`: {dtype (position in the index),
  // cards, memory (as programs see it), util (thousandths), fp8 (the cache), ctx, held (by other programs)}. Where it is not covered: {reason}.
  function vllm(table, asked) {
    var model = table.vllm;
    if (typeof model === "string") return { reason: model };
    var at_cards = model.weights[asked.cards - 1], page = model.page[asked.cards - 1] / (asked.fp8 ? 2 : 1);
    if (!at_cards) return { reason: t("its heads cannot be shared out among {n} cards", { n: asked.cards }) };
    var weights = at_cards[asked.dtype];
    var request = function (tokens) {
      var blocks = Math.ceil(tokens / BLOCK), window = function (batch) { return Math.ceil(Math.min(Math.max(0, model.window - 1) + batch, tokens) / BLOCK) + 1; };
      return [(model.layers[0] * blocks + model.layers[1] * window(SMALL_BATCH)) * page, (model.padded[0] * blocks + model.padded[1] * window(LARGE_BATCH)) * page];
    };
    var large = asked.memory >= LARGE_CARD, reserve = [GIB, asked.cards > 1 ? (large ? 11 : 5) * GIB : (large ? 3.5 : 2) * GIB];
    var share = Math.floor(asked.memory * asked.util / 1000);
    var pool = [Math.max(0, share - weights - reserve[1]), Math.max(0, share - weights - reserve[0])];
    var longest = function (end, held) {
      var low = 0, high = table.max;
      while (low < high) {
        var middle = Math.ceil((low + high) / 2);
        if (request(middle)[end] <= held) low = middle; else high = middle - 1;
      }
      return low;
    };
    var context = [longest(1, pool[0]), longest(0, pool[1])];
    // It does not begin where other programs hold more than it leaves alone.
    var blocked = (asked.held || 0) > asked.memory - share;
    return {
      memory: asked.memory, blocked: blocked, weights: weights, request: request(asked.ctx), reserve: reserve, pool: pool, context: context, left: [asked.memory - share, asked.memory - share],
      verdict: blocked ? "no" : asked.ctx <= context[0] ? "fits" : asked.ctx <= context[1] ? "tight" : "no"
    };
  }

  global.kbgenFit = {
    CELL: CELL, GIB: GIB, MIB: MIB, SLOTS: SLOTS, tables: tables, load: load, at: at, cells: cells_of, places: places, has_experts: has_experts, usual: usual,
    need: need, judge: judge, judge_one: judge_one, but: but, largest: largest, best: best, most_layers: most_layers, fewest_experts: fewest_experts, speed: speed,
    vllm: vllm
  };
})(typeof window === "undefined" ? globalThis : window);
