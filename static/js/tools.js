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
    return `${whole(n / MIB)} MiB`;
  }
  // 5.48 GiB, or 812 MiB below 1 GiB.
  function spare(n) {
    return n < GIB ? mib(n) : gib(n);
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
  // Reads an address and reports values and names in it that are unknown, for which defaults are used.
  function reading() {
    const given = asked();
    const known = [];
    const wrong = [];
    return {
      has(name) {
        return given.has(name);
      },
      // The parsed value of a parameter; null if it is missing or if `parse` returns null.
      take(name, parse, why) {
        const text = given.get(name);
        const value = text ? parse(text) : null;
        known.push(name);
        if (text && value == null) wrong.push([name, text, why]);
        return value == null ? null : value;
      },
      report() {
        // A query may contain parameters of other sites.
        if (location.hash.length > 1) {
          given.forEach((text, name) => {
            if (known.indexOf(name) < 0) wrong.push([name, text, t("unknown setting")]);
          });
        }
        byId("misread").hidden = !wrong.length;
        byId("misread-list").replaceChildren(
          ...wrong.map(([name, text, why]) => {
            const row = el("li");
            row.append(el("code", `${name}=${text}`.replace(/[\p{C}]/gu, " ").slice(0, 60)), `: ${why}`);
            return row;
          }),
        );
      },
    };
  }
  const between = (least, most) => text => {
    const n = Number(text);
    return text.trim() && n >= least && n <= most ? n : null;
  };
  const placeIn = list => text => {
    const at = list.map(String).indexOf(text);
    return at < 0 ? null : at;
  };
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
      models: data.models.map(m => ({
        id: m[0],
        name: m[1],
        parameters: m[2],
        weights: m[3],
        buffers: m[4],
        files: m[5],
      })),
      // Memory in bytes, by position in the two lists; null if the model has none.
      need(model, quant, ctx) {
        const weights = model.weights[quant];
        const buffers = model.buffers[ctx];
        return weights == null || buffers == null ? null : weights + buffers[0] + buffers[1];
      },
      // The verdict on a device {room: [least, most], backends}.
      judge(model, quant, ctx, device) {
        const { band, hull, weightBand, driverAt, judgeOne } = kbgen.fit;
        const profiles = device.backends.map(at => data.backends[at]);
        const [cache, compute] = model.buffers[ctx];
        const total = hull(
          profiles.map(profile => {
            const held = weightBand(profile, model.weights[quant], model.files[quant], true);
            return band(profile, [compute, compute]).map((bytes, end) => held[end] + cache + bytes);
          }),
        );
        return judgeOne({ total, driver: driverAt(profiles) }, device.room, data.driver);
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
  // A button that asks for a table again. It goes away while that is loaded, so the focus goes to the model.
  function retry(act) {
    const button = el("button", t("Try again"), "plain");
    button.type = "button";
    button.addEventListener("click", () => {
      byId("model").focus();
      act();
    });
    return button;
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
    spare,
    pace,
    reading,
    between,
    placeIn,
    keep,
    announce,
    verdict,
    choices,
    runs,
    root,
    figures,
    retry,
    quantizations,
    find,
  };
})();
