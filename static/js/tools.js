// What the small tools share: elements, figures in words, settings in the address.
(function () {
  "use strict";
  var by_id = function (id) { return document.getElementById(id); };

  function make(name, text, kind) {
    var element = document.createElement(name);
    if (text != null) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  }
  function option(value, text) {
    var entry = make("option", text);
    entry.value = value;
    return entry;
  }

  // ---- figures in words ------------------------------------------------------
  var GIB = 1073741824, MIB = 1048576;
  function whole(n) { return Math.round(n).toLocaleString("en").replace(/,/g, "\u202f"); }
  function gib(n) { return (n / GIB).toFixed(2) + " GiB"; }
  function mib(n) { return whole(Math.floor(n / MIB)) + " MiB"; }
  // Tokens a second as [least, most], rounded outward: a range says no more than it holds.
  function pace(range) {
    var word = function (n, round) { return n < 10 ? (round(n * 10) / 10).toFixed(1) : whole(round(n)); };
    var from = word(range[0], Math.floor), to = word(range[1], Math.ceil);
    return from === to ? from : from + t(" to ") + to;
  }

  // ---- the address -----------------------------------------------------------
  // Links of the site ask in the query; what a reader chose stands in the fragment and goes before it.
  function asked() { return new URLSearchParams(location.hash.length > 1 ? location.hash.slice(1) : location.search); }
  var saving = 0;
  function keep(pairs) {
    clearTimeout(saving);
    saving = setTimeout(function () {
      var kept = new URLSearchParams();
      pairs.forEach(function (pair) { if (pair[1] !== "" && pair[1] != null) kept.set(pair[0], pair[1]); });
      try { history.replaceState(null, "", "#" + kept); } catch (_) { /* file:// may refuse */ }
    }, 200);
  }

  // ---- reading aloud -----------------------------------------------------------
  var saying = 0;
  function say(text) {
    clearTimeout(saying);
    saying = setTimeout(function () { by_id("say").textContent = text; }, 700);
  }

  // ---- verdicts ----------------------------------------------------------------
  var WORDS = { fits: t("fits"), tight: t("tight"), no: t("does not fit"), unknown: t("not covered") };
  function verdict(word) { return make("span", WORDS[word], "verdict verdict-" + word); }

  // ---- what every model needs at a few settings: data/runs.js --------------------
  function runs() {
    var data = window.kbgenRuns;
    return {
      quants: data.quants, contexts: data.contexts, quant: data.quant, ctx: data.ctx,
      models: data.models.map(function (m) { return { id: m[0], name: m[1], parameters: m[2], weights: m[3], buffers: m[4] }; }),
      // In bytes, at positions in the two lists; null where the model has none.
      need: function (model, quant, ctx) {
        var weights = model.weights[quant], buffers = model.buffers[ctx];
        return weights == null || buffers == null ? null : weights + buffers;
      },
      judge: function (total, room) { return total + data.driver[1] <= room ? "fits" : total + data.driver[0] <= room ? "tight" : "no"; }
    };
  }

  // ---- controls ------------------------------------------------------------------
  // A short list of things to choose one from; `choose` gets the position.
  function choices(place, name, texts, choose) {
    texts.forEach(function (text, at) {
      var wrap = make("label"), input = make("input");
      input.type = "radio";
      input.name = name;
      wrap.append(input, make("span", text));
      input.addEventListener("change", function () { choose(at); });
      place.append(wrap);
    });
  }

  // ---- a model's figures ---------------------------------------------------------
  // Loads a model's table, and before it the script that looks things up in it, if the page has not: `done(table)`, or null.
  var root = document.documentElement.dataset.root;
  function figures(model, stamp, done) {
    var ready = window.kbgenFit ? Promise.resolve() : window.kbgenLoad(document.querySelector("[data-fit]").dataset.fit);
    ready.then(function () {
      window.kbgenFit.load(model, root + "data/fit/" + model + ".js?" + stamp, done);
    }, function () { done(null); });
  }
  // Places of the quantizations that a table has.
  function quantizations(table, names) {
    return names.map(function (_, i) { return i; }).filter(function (i) { return table.quants[i]; });
  }
  var find = function (list, id) { return list.filter(function (entry) { return entry.id === id; })[0] || null; };

  window.kbgenTools = {
    by_id: by_id, make: make, option: option, GIB: GIB, MIB: MIB, whole: whole, gib: gib, mib: mib, pace: pace,
    asked: asked, keep: keep, say: say, verdict: verdict, choices: choices, runs: runs,
    root: root, figures: figures, quantizations: quantizations, find: find
  };
})();
