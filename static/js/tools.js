// Shared functions of the tool pages: elements, number formats, settings in the address.
(() => {
  "use strict";
  const { t } = kbgen;
  const byId = id => document.getElementById(id);

  function el(name, text, kind) {
    const element = document.createElement(name);
    if (text != null) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  }
  function option(value, text) {
    const entry = el("option", text);
    entry.value = value;
    return entry;
  }

  // ---- figures in words ------------------------------------------------------
  const GIB = 1073741824;
  const MIB = 1048576;
  function whole(n) {
    return Math.round(n).toLocaleString("en");
  }
  function gib(n) {
    return `${(n / GIB).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })} GiB`;
  }
  function mib(n) {
    return `${whole(Math.floor(n / MIB))} MiB`;
  }
  // Formats tokens per second as a range, rounded outward.
  function pace(range) {
    const word = (n, round) => (n < 10 ? (round(n * 10) / 10).toFixed(1) : whole(round(n)));
    const from = word(range[0], Math.floor);
    const to = word(range[1], Math.ceil);
    return from === to ? from : from + t(" to ") + to;
  }

  // ---- the address -----------------------------------------------------------
  // Links of the site use the query; the reader's choices are in the fragment and take precedence.
  function asked() {
    return new URLSearchParams(location.hash.length > 1 ? location.hash.slice(1) : location.search);
  }
  let saving = 0;
  function keep(pairs) {
    clearTimeout(saving);
    saving = setTimeout(() => {
      const kept = new URLSearchParams();
      pairs.forEach(pair => {
        if (pair[1] !== "" && pair[1] != null) kept.set(pair[0], pair[1]);
      });
      try {
        history.replaceState(null, "", `#${kept}`);
      } catch {
        /* file:// may refuse */
      }
    }, 200);
  }

  // ---- reading aloud -----------------------------------------------------------
  let saying = 0;
  function announce(text) {
    clearTimeout(saying);
    saying = setTimeout(() => {
      byId("say").textContent = text;
    }, 700);
  }

  // ---- verdicts ----------------------------------------------------------------
  const WORDS = { fits: t("fits"), tight: t("tight"), no: t("does not fit"), unknown: t("not covered") };
  function verdict(word) {
    return el("span", WORDS[word], `verdict verdict-${word}`);
  }

  // ---- what every model needs at a few settings: data/runs.js --------------------
  function runs() {
    const data = kbgen.runs;
    return {
      quants: data.quants,
      contexts: data.contexts,
      quant: data.quant,
      ctx: data.ctx,
      models: data.models.map(m => ({ id: m[0], name: m[1], parameters: m[2], weights: m[3], buffers: m[4] })),
      // Memory in bytes, by position in the two lists; null if the model has none.
      need(model, quant, ctx) {
        const weights = model.weights[quant];
        const buffers = model.buffers[ctx];
        return weights == null || buffers == null ? null : weights + buffers;
      },
      judge(total, room) {
        return total + data.driver[1] <= room ? "fits" : total + data.driver[0] <= room ? "tight" : "no";
      },
    };
  }

  // ---- controls ------------------------------------------------------------------
  // A short list of things to choose one from; `choose` gets the position.
  function choices(place, name, texts, choose) {
    texts.forEach((text, at) => {
      const wrap = el("label");
      const input = el("input");
      input.type = "radio";
      input.name = name;
      wrap.append(input, el("span", text));
      input.addEventListener("change", () => {
        choose(at);
      });
      place.append(wrap);
    });
  }

  // ---- a model's figures ---------------------------------------------------------
  // Loads a model's table, and before it the script that looks things up in it, if the page has not: `done(table)`, or
  // null.
  const root = document.documentElement.dataset.root;
  function figures(model, stamp, done) {
    const ready = kbgen.fit ? Promise.resolve() : kbgen.load(document.querySelector("[data-fit]").dataset.fit);
    ready.then(
      () => {
        kbgen.fit.load(model, `${root}data/fit/${model}.js?${stamp}`, done);
      },
      () => {
        done(null);
      },
    );
  }
  // Indices of the quantizations in a table.
  function quantizations(table, names) {
    return names.map((_, i) => i).filter(i => table.quants[i]);
  }
  const find = (list, id) => list.filter(entry => entry.id === id)[0] || null;

  kbgen.tools = {
    byId,
    el,
    option,
    GIB,
    MIB,
    whole,
    gib,
    mib,
    pace,
    asked,
    keep,
    announce,
    verdict,
    choices,
    runs,
    root,
    figures,
    quantizations,
    find,
  };
})();
