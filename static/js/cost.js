// Cost against the cloud: one line of arithmetic a figure, over what the reader types. No price is stored.
(function () {
  "use strict";
  var kit = window.kbgenTools, find = kit.find, $ = kit.by_id, make = kit.make;
  var fit = JSON.parse($("fit-data").textContent), power = JSON.parse($("power").textContent);
  fit.devices.forEach(function (device, i) { device.power = power[i]; });
  var AMOUNTS = ["ctx", "speed", "watts", "kwh", "hours", "price", "years", "out", "in", "ratio", "reading"];
  var TYPED = ["currency"].concat(AMOUNTS);
  var NAMES = {
    speed: t("the speed"), watts: t("the power"), kwh: t("the price of electricity"), hours: t("the hours a day"), price: t("the price of the card"),
    years: t("the years"), out: t("the cloud's price of generated tokens"), "in": t("the cloud's price of prompt tokens")
  };
  // What must be more than nothing, because something is divided by it.
  var DIVIDES = ["ctx", "speed", "hours", "years", "reading"];

  // ---- figures -------------------------------------------------------------
  // A range is [least, most]. `speed` is one too; the fast end makes the low cost.
  function reckon(typed, speed) {
    var ratio = typed.ratio || 0, figures = {};
    var figure = function (name, needs, make_range) {
      var missing = needs.filter(function (need) { return need === "speed" ? !speed : typed[need] == null; });
      figures[name] = missing.length ? { missing: missing } : { range: make_range().sort(function (a, b) { return a - b; }) };
      return figures[name].range;
    };
    var v = figure("pace", ["speed"], function () {
      return speed.map(function (s) { return 1 / (1 / s + (typed.reading ? ratio / typed.reading : 0)); });
    });
    var per_day = figure("day", ["speed", "hours"], function () { return v.map(function (pace) { return pace * 3600 * typed.hours / 1e6; }); });
    var electricity = figure("electricity", ["speed", "watts", "kwh"], function () {
      return v.map(function (pace) { return typed.watts * typed.kwh / (3.6 * pace); });
    });
    var card = figure("card", ["speed", "price", "hours", "years"], function () {
      return v.map(function (pace) { return typed.price * 1e6 / (pace * 3600 * typed.hours * 365 * typed.years); });
    });
    figure("home", ["speed", "watts", "kwh", "price", "hours", "years"], function () {
      return [electricity[0] + card[0], electricity[1] + card[1]];
    });
    var prices = ratio ? ["out", "in"] : ["out"], saving = ["speed", "watts", "kwh", "price"].concat(prices);
    var cloud = figure("cloud", prices, function () {
      var price = typed.out + ratio * (typed["in"] || 0);
      return [price, price];
    });
    // Without end where electricity alone costs as much as the cloud.
    var millions = figure("millions", saving, function () {
      return electricity.map(function (cost) { return cloud[0] > cost ? typed.price / (cloud[0] - cost) : Infinity; });
    });
    // The slow end costs more and takes longer for the same tokens: the ends belong together.
    figure("days", saving.concat("hours"), function () {
      return [millions[0] / per_day[1], millions[1] / per_day[0]];
    });
    return figures;
  }

  // ---- words ---------------------------------------------------------------
  function digits(n) {
    if (!isFinite(n)) return "∞";
    if (n >= 1000) return kit.whole(n);
    if (n >= 100) return n.toFixed();
    if (n >= 0.1 || n === 0) return n.toFixed(2);
    return n >= 1e-6 ? n.toFixed(Math.ceil(-Math.log10(n)) + 1) : n.toExponential(1);
  }
  function span(range, words) {
    var from = words(range[0]), to = words(range[1]);
    return from === to ? from : from + t(" to ") + to;
  }
  function rate(n) { return n >= 100 ? kit.whole(n) : String(Number(n.toPrecision(3))); }
  function money(n) { var sign = $("currency").value.trim(); return (sign ? sign + "\u00a0" : "") + digits(n); }
  function spell(days, unit) {
    var n = unit === t("years") ? days / 365 : unit === t("months") ? days / 365 * 12 : days;
    return n >= 10 ? kit.whole(n) : n.toFixed(1);
  }
  function time(range) {
    var longest = isFinite(range[1]) ? range[1] : range[0], unit = longest >= 730 ? t("years") : longest >= 60 ? t("months") : t("days");
    var from = spell(range[0], unit), to = isFinite(range[1]) ? spell(range[1], unit) : t("never");
    return from === to ? from + " " + unit : to === t("never") ? t("{n} {unit} to never", { n: from, unit: unit }) : t("{from} to {to} {unit}", { from: from, to: to, unit: unit });
  }
  function list(names) {
    var words = names.map(function (name) { return NAMES[name]; });
    return words.length < 2 ? words.join() : t("{list} and {last}", { list: words.slice(0, -1).join(", "), last: words[words.length - 1] });
  }

  // ---- speed ---------------------------------------------------------------
  var state = { model: null, gpu: null, quant: -1 }, table = null;
  // The range of the model on the device, or why there is none.
  function range_of(ctx) {
    if (!state.model || !state.gpu) return { words: t("Choose a model and a card: the range of its speed is computed.") };
    if (!table) return { words: t("The figures of {model} are on their way.", { model: state.model.name }) };
    var setting = { quant: state.quant, k: 0, v: 0, ctx: Math.min(ctx || fit.ctx, table.max), slots: 1, server: true, shares: [1], layers: null, experts: 0, uncovered: [!state.gpu.ok] };
    var look = window.kbgenFit, found = look.speed(table, setting, state.gpu, fit), verdict = look.judge(look.need(table, setting), [state.gpu.vis], fit.driver);
    if (verdict === "no") return { words: t("It does not fit with every layer on this device, and for layers in the computer's own memory no speed is known. Type what you measured.") };
    if (!found) return { words: t("For this device no range is known. Type what you measured.") };
    return { range: found.full, words: t("{n} tokens/s", { n: kit.pace(found.full) }), at: setting.ctx };
  }
  function settle() {
    if (table && !table.quants[state.quant]) state.quant = window.kbgenFit.usual(table, fit.quants);
  }
  // Of two tables that were asked for, the last counts.
  function open() {
    var wanted = state.model;
    table = null;
    if (!wanted) return update();
    kit.figures(wanted.id, fit.stamp, function (loaded) {
      if (wanted !== state.model) return;
      table = loaded;
      settle();
      update();
      if (!table) $("range").textContent = t("The figures of {model} did not load. Type what you measured.", { model: wanted.name });
    });
    if (!table) update();
  }
  function controls(found) {
    model_box.show(state.model ? state.model.id : "");
    gpu_box.show(state.gpu ? state.gpu.id : "");
    $("quant").replaceChildren.apply($("quant"), table ? kit.quantizations(table, fit.quants).map(function (i) { return kit.option(i, fit.quants[i]); }) : [kit.option("", "–")]);
    $("quant").disabled = !table;
    if (table) $("quant").value = state.quant;
    $("range").replaceChildren(found.range ? make("b", found.words) : found.words, found.range ? t(" on {device}, with {n} tokens in the context.", { device: state.gpu.name, n: kit.whole(found.at) }) : "");
    var watts = state.gpu && state.gpu.power, offer = make("button", t("Use it"), "plain");
    $("power-limit").hidden = !watts;
    if (!watts || $("power-limit").dataset.of === state.gpu.id) return;
    $("power-limit").dataset.of = state.gpu.id;
    offer.type = "button";
    offer.addEventListener("click", function () { $("watts").value = watts; $("watts").focus(); update(); });
    $("power-limit").replaceChildren(t("Power limit of the card alone: {n} W. ", { n: watts }), offer);
  }

  // ---- what is typed -----------------------------------------------------------
  function typed() {
    var amounts = {};
    AMOUNTS.forEach(function (name) {
      var input = $(name), n = Number(input.value), least = DIVIDES.indexOf(name) >= 0;
      var wrong = input.validity.badInput || input.value !== "" && !(n >= 0 && n <= 1e9 && !(least && n === 0)) || name === "hours" && n > 24;
      amounts[name] = wrong || input.value === "" ? null : n;
      fault(input, !wrong ? "" : name === "hours" ? t("More than 0 and at most 24.") : least ? t("A number above 0.") : t("A number, 0 or more."));
    });
    return amounts;
  }
  function fault(input, words) {
    var note = $(input.id + "-fault");
    if (!words) {
      if (note) { note.remove(); input.removeAttribute("aria-invalid"); described(input); }
      return;
    }
    if (!note) { note = make("p", null, "fault small"); note.id = input.id + "-fault"; input.closest(".field").append(note); }
    note.textContent = words;
    input.setAttribute("aria-invalid", "true");
    described(input);
  }
  function described(input) {
    var ids = ["-hint", "-fault"].map(function (end) { return input.id + end; }).filter($);
    if (ids.length) input.setAttribute("aria-describedby", ids.join(" ")); else input.removeAttribute("aria-describedby");
  }

  // ---- the answer ------------------------------------------------------------
  // Name, label, how its figure is said, and the formula with the figures in it.
  var ROWS = [
    ["electricity", t("Electricity for a million generated tokens"), money, function (t, v) { return t.watts + " × " + t.kwh + " ÷ (3.6 × " + v + ")"; }],
    ["card", t("The card in a million generated tokens"), money, function (t, v) { return t.price + " × 1,000,000 ÷ (" + v + " × 3600 × " + t.hours + " × 365 × " + t.years + ")"; }],
    ["home", t("At home, both together"), money, function (t, v, f) { return span(f.electricity.range, digits) + " + " + span(f.card.range, digits); }],
    ["cloud", t("The cloud for a million generated tokens"), money, function (t) { return Number(t.ratio) ? t.out + " + " + t.ratio + " × " + t["in"] : String(t.out); }],
    ["day", t("Millions of tokens a day at home"), rate, function (t, v) { return v + " × 3600 × " + t.hours + " ÷ 1,000,000"; }],
    ["millions", t("Millions of tokens until the card has paid for itself"), function (n) { return isFinite(n) ? digits(n) : t("never"); }, function (t, v, f) { return t.price + " ÷ (" + digits(f.cloud.range[0]) + " − " + span(f.electricity.range, digits) + ")"; }]
  ];

  function headline(figures) {
    var days = figures.days, millions = figures.millions;
    if (days.range) {
      if (days.range[0] === Infinity) return [t("It never pays"), t("Electricity alone costs at least as much as the cloud.")];
      return [t("Paid for after {time}", { time: time(days.range) }), t("From then on each million tokens costs its electricity: {low} against {high}.", { low: span(figures.electricity.range, money), high: money(figures.cloud.range[0]) })];
    }
    if (millions.range && millions.range[0] < Infinity) return [t("Paid for after {n} million tokens", { n: span(millions.range, function (n) { return isFinite(n) ? digits(n) : t("never"); }) }), t("For the time that takes: {list}.", { list: list(days.missing) })];
    if (figures.electricity.range) return [t("{price} for a million tokens", { price: span(figures.electricity.range, money) }), t("In electricity. For when the card has paid for itself: {list}.", { list: list(days.missing) })];
    return [t("Type what you know"), t("For the electricity of a million tokens: {list}.", { list: list(figures.electricity.missing) })];
  }
  function update() {
    var amounts = typed(), found = range_of(amounts.ctx), speed = amounts.speed ? [amounts.speed, amounts.speed] : found.range;
    controls(found);
    var figures = reckon(amounts, speed), words = headline(figures), v = figures.pace.range ? span(figures.pace.range, rate) : "";
    var as_typed = {};
    AMOUNTS.forEach(function (name) { as_typed[name] = $(name).value; });
    $("headline").textContent = words[0];
    $("margin").textContent = words[1];
    $("dock").textContent = words[0];
    kit.say(words.join(". "));
    $("results").replaceChildren.apply($("results"), ROWS.map(function (row) {
      var figure = figures[row[0]], line = make("div");
      line.dataset.figure = row[0];
      line.append(make("dt", row[1]));
      if (figure.range) line.append(make("dd", span(figure.range, row[2]), "value"), make("dd", row[3](as_typed, v, figures).split(t(" to ")).join(" … "), "formula"));
      else line.append(make("dd", t("needs {list}", { list: list(figure.missing) }), "needs"));
      return line;
    }));
    kit.keep([["model", state.model && state.model.id], ["quant", state.model && fit.quants[state.quant]], ["gpu", state.gpu && state.gpu.id]]
      .concat(TYPED.map(function (name) { return [name, $(name).value]; })));
  }

  // ---- controls ----------------------------------------------------------------
  function read() {
    var asked = kit.asked();
    TYPED.forEach(function (name) { if (asked.has(name)) $(name).value = asked.get(name).slice(0, 20); });
    state = { model: find(fit.models, asked.get("model")), gpu: find(fit.devices, asked.get("gpu")), quant: fit.quants.indexOf(asked.get("quant")) };
  }
  var NONE = [{ id: "", name: t("none"), group: "" }];
  var model_box = window.kbgenCombobox($("model"), {
    entries: NONE.concat(fit.models.map(function (model) { return { id: model.id, name: model.name, group: model.family }; })),
    choose: function (id) { state.model = find(fit.models, id); open(); }
  });
  var gpu_box = window.kbgenCombobox($("gpu"), {
    entries: NONE.concat(fit.devices.map(function (device) { return { id: device.id, name: device.name, group: device.vendor }; })),
    choose: function (id) { state.gpu = find(fit.devices, id); update(); }
  });
  $("quant").addEventListener("change", function () { state.quant = Number($("quant").value); update(); });
  TYPED.forEach(function (name) { $(name).addEventListener("input", update); });
  addEventListener("hashchange", function () { read(); open(); });
  read();
  open();
})();
