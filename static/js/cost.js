// Cost against the cloud: one line of arithmetic a figure, over what the reader types. No price is stored.
(function () {
  "use strict";
  var kit = window.kbgenTools, $ = kit.by_id, make = kit.make;
  var AMOUNTS = ["speed", "watts", "kwh", "hours", "price", "years", "out", "in", "ratio", "reading"];
  var NAMES = {
    speed: "the speed", watts: "the power", kwh: "the price of electricity", hours: "the hours a day", price: "the price of the card",
    years: "the years", out: "the cloud's price of generated tokens", "in": "the cloud's price of prompt tokens"
  };
  // What must be more than nothing, because something is divided by it.
  var DIVIDES = ["speed", "hours", "years", "reading"];

  // ---- figures -------------------------------------------------------------
  // A range is [least, most]. `speed` is one too; the fast end makes the low cost.
  function reckon(typed, speed) {
    var has = function () { return Array.prototype.every.call(arguments, function (name) { return typed[name] != null; }); };
    var ratio = typed.ratio || 0, figures = {};
    var each = function (act) { return speed && speed.map(act); };
    var lacks = function (names) {
      return names.filter(function (name) { return name === "speed" ? !speed : typed[name] == null; });
    };
    var figure = function (name, needs, make_range) {
      var missing = lacks(needs);
      figures[name] = missing.length ? { missing: missing } : { range: make_range().sort(function (a, b) { return a - b; }) };
      return figures[name].range;
    };
    var v = figure("pace", ["speed"], function () {
      return each(function (s) { return 1 / (1 / s + (has("reading") ? ratio / typed.reading : 0)); });
    });
    var per_day = figure("day", ["speed", "hours"], function () { return v.map(function (pace) { return pace * 3600 * typed.hours; }); });
    var electricity = figure("electricity", ["speed", "watts", "kwh"], function () {
      return v.map(function (pace) { return typed.watts * typed.kwh / (3.6 * pace); });
    });
    var card = figure("card", ["speed", "price", "hours", "years"], function () {
      return v.map(function (pace) { return typed.price * 1e6 / (pace * 3600 * typed.hours * 365 * typed.years); });
    });
    figure("home", ["speed", "watts", "kwh", "price", "hours", "years"], function () {
      return [electricity[0] + card[0], electricity[1] + card[1]];
    });
    var cloud = figure("cloud", ratio ? ["out", "in"] : ["out"], function () {
      var price = typed.out + ratio * (typed["in"] || 0);
      return [price, price];
    });
    // Without end where electricity alone costs as much as the cloud.
    var millions = figure("millions", ["speed", "watts", "kwh", "price"].concat(ratio ? ["out", "in"] : ["out"]), function () {
      return electricity.map(function (cost) { return cloud[0] > cost ? typed.price / (cloud[0] - cost) : Infinity; });
    });
    // The slow end costs more and takes longer for the same tokens: the ends belong together.
    figure("days", ["speed", "watts", "kwh", "price", "hours"].concat(ratio ? ["out", "in"] : ["out"]), function () {
      return [millions[0] * 1e6 / per_day[1], millions[1] * 1e6 / per_day[0]];
    });
    return figures;
  }

  // For tests: the same figures, without the page around them.
  window.kbgenCost = { reckon: reckon };

  // ---- words ---------------------------------------------------------------
  function digits(n) {
    if (!isFinite(n)) return "∞";
    if (n >= 1000) return kit.whole(n);
    if (n >= 100) return n.toFixed(0);
    if (n >= 0.1 || n === 0) return n.toFixed(2);
    return n >= 1e-6 ? n.toFixed(Math.ceil(-Math.log10(n)) + 1) : n.toExponential(1);
  }
  function span(range, words) {
    var from = words(range[0]), to = words(range[1]);
    return from === to ? from : from + " to " + to;
  }
  function rate(n) { return n >= 100 ? kit.whole(n) : String(Number(n.toPrecision(3))); }
  function money(n) { var sign = $("currency").value.trim(); return (sign ? sign + "\u00a0" : "") + digits(n); }
  function spell(days, unit) {
    var n = unit === "years" ? days / 365 : unit === "months" ? days / 365 * 12 : days;
    return n >= 10 ? kit.whole(n) : n.toFixed(1);
  }
  function time(range) {
    var longest = isFinite(range[1]) ? range[1] : range[0], unit = longest >= 730 ? "years" : longest >= 60 ? "months" : "days";
    var from = spell(range[0], unit), to = isFinite(range[1]) ? spell(range[1], unit) : "never";
    return from === to ? from + " " + unit : to === "never" ? from + " " + unit + " to never" : from + " to " + to + " " + unit;
  }
  function list(names) {
    var words = names.map(function (name) { return NAMES[name]; });
    return words.length < 2 ? words.join("") : words.slice(0, -1).join(", ") + " and " + words[words.length - 1];
  }

  // ---- state ---------------------------------------------------------------
  function typed() {
    var amounts = {};
    AMOUNTS.forEach(function (name) {
      var input = $(name), n = Number(input.value), least = DIVIDES.indexOf(name) >= 0;
      var wrong = input.validity.badInput || input.value !== "" && !(n >= 0 && n <= 1e9 && !(least && n === 0)) || name === "hours" && n > 24;
      amounts[name] = wrong || input.value === "" ? null : n;
      fault(input, !wrong ? "" : name === "hours" ? "More than 0 and at most 24." : least ? "A number above 0." : "A number, 0 or more.");
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
    ["electricity", "Electricity for a million generated tokens", money, function (t, v) { return t.watts + " × " + t.kwh + " ÷ (3.6 × " + v + ")"; }],
    ["card", "The card in a million generated tokens", money, function (t, v) { return t.price + " × 1,000,000 ÷ (" + v + " × 3600 × " + t.hours + " × 365 × " + t.years + ")"; }],
    ["home", "At home, both together", money, function (t, v, f) { return span(f.electricity.range, digits) + " + " + span(f.card.range, digits); }],
    ["cloud", "The cloud for a million generated tokens", money, function (t) { return Number(t.ratio) ? t.out + " + " + t.ratio + " × " + t["in"] : String(t.out); }],
    ["day", "Tokens a day at home", function (n) { return kit.whole(n); }, function (t, v) { return v + " × 3600 × " + t.hours; }],
    ["millions", "Millions of tokens until the card has paid for itself", function (n) { return isFinite(n) ? digits(n) : "never"; }, function (t, v, f) { return t.price + " ÷ (" + digits(f.cloud.range[0]) + " − " + span(f.electricity.range, digits) + ")"; }]
  ];
  function pace_words(figures) { return span(figures.pace.range, rate).replace(" to ", " … "); }

  function headline(figures) {
    var days = figures.days, millions = figures.millions;
    if (days.range) {
      if (days.range[0] === Infinity) return ["It never pays", "Electricity alone costs at least as much as the cloud."];
      return ["Paid for after " + time(days.range), "From then on each million tokens costs its electricity: " + span(figures.electricity.range, money) + " against " + money(figures.cloud.range[0]) + "."];
    }
    if (millions.range && millions.range[0] < Infinity) return ["Paid for after " + span(millions.range, function (n) { return isFinite(n) ? digits(n) : "never"; }) + " million tokens", "For the time that takes: " + list(days.missing) + "."];
    if (figures.electricity.range) return [span(figures.electricity.range, money) + " for a million tokens", "In electricity. For when the card has paid for itself: " + list(days.missing) + "."];
    return ["Type what you know", "For the electricity of a million tokens: " + list(figures.electricity.missing) + "."];
  }
  function update() {
    var amounts = typed(), speed = amounts.speed ? [amounts.speed, amounts.speed] : null;
    var figures = reckon(amounts, speed), words = headline(figures), v = figures.pace.range ? pace_words(figures) : "";
    var as_typed = {};
    AMOUNTS.forEach(function (name) { as_typed[name] = $(name).value; });
    $("headline").textContent = words[0];
    $("margin").textContent = words[1];
    kit.say(words.join(". "));
    $("results").replaceChildren.apply($("results"), ROWS.map(function (row) {
      var figure = figures[row[0]], line = make("div");
      line.dataset.figure = row[0];
      line.append(make("dt", row[1]));
      if (figure.range) line.append(make("dd", span(figure.range, row[2]), "value"), make("dd", row[3](as_typed, v, figures), "formula"));
      else line.append(make("dd", "needs " + list(figure.missing), "needs"));
      return line;
    }));
    kit.keep(["currency"].concat(AMOUNTS).map(function (name) { return [name, $(name).value]; }));
  }

  // ---- controls ----------------------------------------------------------------
  function read() {
    var asked = kit.asked();
    ["currency"].concat(AMOUNTS).forEach(function (name) { if (asked.has(name)) $(name).value = asked.get(name).slice(0, 20); });
  }
  ["currency"].concat(AMOUNTS).forEach(function (name) { $(name).addEventListener("input", update); });
  addEventListener("hashchange", function () { read(); update(); });
  read();
  update();
})();
