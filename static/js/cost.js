// Cost vs. cloud: one formula per figure, from the reader's inputs. No prices are stored.
(() => {
  "use strict";
  const { t } = kbgen;
  const kit = kbgen.tools;
  const find = kit.find;
  const $ = kit.byId;
  const el = kit.el;
  const fit = JSON.parse($("fit-data").textContent);
  const power = JSON.parse($("power").textContent);
  fit.devices.forEach((device, i) => {
    device.power = power[i];
  });
  const AMOUNTS = ["ctx", "speed", "watts", "kwh", "hours", "price", "years", "out", "in", "ratio", "reading"];
  const TYPED = ["currency"].concat(AMOUNTS);
  const NAMES = {
    speed: t("the speed"),
    watts: t("the power"),
    kwh: t("the price of electricity"),
    hours: t("the hours per day"),
    price: t("the price of the GPU"),
    years: t("the depreciation period"),
    out: t("the cloud price of generated tokens"),
    in: t("the cloud price of prompt tokens"),
  };
  // Divisors, which must be positive.
  const DIVIDES = ["ctx", "speed", "hours", "years", "reading"];

  // ---- figures -------------------------------------------------------------
  // A range is [least, most]. `speed` is one too; the fast end makes the low cost.
  function compute(typed, speed) {
    const ratio = typed.ratio || 0;
    const figures = {};
    const figure = (name, needs, makeRange) => {
      const missing = needs.filter(need => (need === "speed" ? !speed : typed[need] == null));
      figures[name] = missing.length ? { missing } : { range: makeRange().sort((a, b) => a - b) };
      return figures[name].range;
    };
    const v = figure("pace", ["speed"], () =>
      speed.map(s => 1 / (1 / s + (typed.reading ? ratio / typed.reading : 0))),
    );
    const perDay = figure("day", ["speed", "hours"], () => v.map(pace => (pace * 3600 * typed.hours) / 1e6));
    const electricity = figure("electricity", ["speed", "watts", "kwh"], () =>
      v.map(pace => (typed.watts * typed.kwh) / (3.6 * pace)),
    );
    const card = figure("card", ["speed", "price", "hours", "years"], () =>
      v.map(pace => (typed.price * 1e6) / (pace * 3600 * typed.hours * 365 * typed.years)),
    );
    figure("home", ["speed", "watts", "kwh", "price", "hours", "years"], () => [
      electricity[0] + card[0],
      electricity[1] + card[1],
    ]);
    const prices = ratio ? ["out", "in"] : ["out"];
    const saving = ["speed", "watts", "kwh", "price"].concat(prices);
    const cloud = figure("cloud", prices, () => {
      const price = typed.out + ratio * (typed.in || 0);
      return [price, price];
    });
    // Infinite if electricity alone costs as much as the cloud.
    const millions = figure("millions", saving, () =>
      electricity.map(cost => (cloud[0] > cost ? typed.price / (cloud[0] - cost) : Infinity)),
    );
    // The slow end costs more and takes longer for the same tokens, so the ends are combined accordingly.
    figure("days", saving.concat("hours"), () => [millions[0] / perDay[1], millions[1] / perDay[0]]);
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
    const from = words(range[0]);
    const to = words(range[1]);
    return from === to ? from : from + t(" to ") + to;
  }
  function rate(n) {
    return n >= 100 ? kit.whole(n) : String(Number(n.toPrecision(3)));
  }
  function money(n) {
    const sign = $("currency").value.trim();
    return (sign ? `${sign}\u00a0` : "") + digits(n);
  }
  // Units of time, each with its days and the days from which on it is used.
  const UNITS = [
    { unit: t("years"), days: 365, least: 730 },
    { unit: t("months"), days: 365 / 12, least: 60 },
    { unit: t("days"), days: 1, least: 0 },
  ];
  function time([shortest, longest]) {
    const known = isFinite(longest) ? longest : shortest;
    const { unit, days } = UNITS.find(({ least }) => known >= least);
    const spell = total => (total >= days * 10 ? kit.whole(total / days) : (total / days).toFixed(1));
    const from = spell(shortest);
    if (!isFinite(longest)) return t("{n} {unit} to never", { n: from, unit });
    const to = spell(longest);
    return from === to ? `${from} ${unit}` : t("{from} to {to} {unit}", { from, to, unit });
  }
  function list(names) {
    const words = names.map(name => NAMES[name]);
    return words.length < 2
      ? words.join()
      : t("{list} and {last}", { list: words.slice(0, -1).join(", "), last: words[words.length - 1] });
  }

  // ---- speed ---------------------------------------------------------------
  let state = { model: null, gpu: null, quant: -1 };
  let table = null;
  let isBroken = false;
  // The speed range of the model on the device, or why it is unknown.
  function rangeOf(ctx) {
    if (!state.model || !state.gpu) {
      return { words: t("Select a model and a GPU to calculate the speed range.") };
    }
    if (isBroken) {
      const words = t("The figures for {model} could not be loaded. Enter your measured speed.", {
        model: state.model.name,
      });
      return { words, more: [" ", kit.retry(open)] };
    }
    if (!table) return { words: t("Loading the figures for {model}…", { model: state.model.name }) };
    const setting = {
      quant: state.quant,
      k: 0,
      v: 0,
      ctx: Math.min(ctx || fit.ctx, table.max),
      slots: 1,
      server: true,
      shares: [1],
      layers: null,
      experts: 0,
      profiles: [(state.gpu.backends || []).map(at => fit.backends[at])],
    };
    const lookup = kbgen.fit;
    const found = lookup.speed(table, setting, state.gpu, fit);
    const verdict = lookup.judge(
      lookup.need(table, setting),
      [[state.gpu.vis, state.gpu.most || state.gpu.vis]],
      fit.driver,
    );
    if (verdict === "no") {
      return {
        words: t(
          "It does not fit with all layers on this device, and the speed with layers in system RAM is unknown. Enter your measured speed.",
        ),
      };
    }
    if (!found.full) {
      return { words: t("Speed not covered: {reason}. Enter your measured speed.", { reason: found.reason }) };
    }
    const more = t(" on {device}, with {n} tokens in the context.", {
      device: state.gpu.name,
      n: kit.whole(setting.ctx),
    });
    return { range: found.full, words: t("{n} tokens/s", { n: kit.pace(found.full) }), more: [more] };
  }
  function settle() {
    if (table && !table.quants[state.quant]) state.quant = kbgen.fit.usual(table, fit.quants);
  }
  // Of two requested tables, the last counts.
  function open() {
    const wanted = state.model;
    table = null;
    isBroken = false;
    if (!wanted) return update();
    kit.figures(wanted.id, fit.stamp, loaded => {
      if (wanted !== state.model) return;
      table = loaded;
      isBroken = !table;
      settle();
      update();
      if (isBroken) kit.announce($("range").firstChild.textContent);
    });
    if (!table) update();
  }
  function controls(found) {
    modelBox.show(state.model ? state.model.id : "");
    gpuBox.show(state.gpu ? state.gpu.id : "");
    $("quant").replaceChildren(
      ...(table ? kit.quantizations(table, fit.quants).map(i => kit.option(i, fit.quants[i])) : [kit.option("", "–")]),
    );
    $("quant").disabled = !table;
    if (table) $("quant").value = state.quant;
    $("range").replaceChildren(found.range ? el("b", found.words) : found.words, ...(found.more || []));
    const watts = state.gpu && state.gpu.power;
    const offer = el("button", t("Use it"), "plain");
    $("power-limit").hidden = !watts;
    if (!watts || $("power-limit").dataset.of === state.gpu.id) return;
    $("power-limit").dataset.of = state.gpu.id;
    offer.type = "button";
    offer.addEventListener("click", () => {
      $("watts").value = watts;
      $("watts").focus();
      update();
    });
    $("power-limit").replaceChildren(t("Power limit of the GPU alone: {n} W. ", { n: watts }), offer);
  }

  // ---- inputs ------------------------------------------------------------------
  function typed() {
    const amounts = {};
    AMOUNTS.forEach(name => {
      const input = $(name);
      const n = Number(input.value);
      const least = DIVIDES.includes(name);
      const wrong =
        input.validity.badInput ||
        (input.value !== "" && !(n >= 0 && n <= 1e9 && !(least && n === 0))) ||
        (name === "hours" && n > 24);
      amounts[name] = wrong || input.value === "" ? null : n;
      fault(
        input,
        !wrong
          ? ""
          : name === "hours"
            ? t("More than 0 and at most 24.")
            : least
              ? t("A number above 0.")
              : t("A number, 0 or more."),
      );
    });
    return amounts;
  }
  function fault(input, words) {
    let note = $(`${input.id}-fault`);
    if (!words) {
      if (note) {
        note.remove();
        input.removeAttribute("aria-invalid");
        described(input);
      }
      return;
    }
    if (!note) {
      note = el("p", null, "fault small");
      note.id = `${input.id}-fault`;
      input.closest(".field").append(note);
    }
    note.textContent = words;
    input.setAttribute("aria-invalid", "true");
    described(input);
  }
  function described(input) {
    const ids = ["-hint", "-fault"].map(end => input.id + end).filter($);
    if (ids.length) input.setAttribute("aria-describedby", ids.join(" "));
    else input.removeAttribute("aria-describedby");
  }

  // ---- the answer ------------------------------------------------------------
  // Name, label, how its figure is said, and the formula with the figures in it.
  /** @type {[name: string, label: string, say: Function, formula: Function][]} */
  const ROWS = [
    [
      "electricity",
      t("Electricity per million generated tokens"),
      money,
      (typed, v) => `${typed.watts} × ${typed.kwh} ÷ (3.6 × ${v})`,
    ],
    [
      "card",
      t("GPU depreciation per million generated tokens"),
      money,
      (typed, v) => `${typed.price} × 1,000,000 ÷ (${v} × 3600 × ${typed.hours} × 365 × ${typed.years})`,
    ],
    [
      "home",
      t("At home, total"),
      money,
      (typed, v, f) => `${span(f.electricity.range, digits)} + ${span(f.card.range, digits)}`,
    ],
    [
      "cloud",
      t("Cloud cost per million generated tokens"),
      money,
      typed => (Number(typed.ratio) ? `${typed.out} + ${typed.ratio} × ${typed.in}` : String(typed.out)),
    ],
    ["day", t("Million tokens per day at home"), rate, (typed, v) => `${v} × 3600 × ${typed.hours} ÷ 1,000,000`],
    [
      "millions",
      t("Break-even in millions of tokens"),
      n => (isFinite(n) ? digits(n) : t("never")),
      (typed, v, f) => `${typed.price} ÷ (${digits(f.cloud.range[0])} − ${span(f.electricity.range, digits)})`,
    ],
  ];

  function headline(figures) {
    const days = figures.days;
    const millions = figures.millions;
    if (days.range) {
      if (days.range[0] === Infinity) {
        return [t("It never pays off"), t("Electricity alone costs at least as much as the cloud.")];
      }
      return [
        t("Break-even after {time}", { time: time(days.range) }),
        t("After that, a million tokens costs only electricity: {low}, compared with {high} in the cloud.", {
          low: span(figures.electricity.range, money),
          high: money(figures.cloud.range[0]),
        }),
      ];
    }
    if (millions.range && millions.range[0] < Infinity) {
      return [
        t("Break-even after {n} million tokens", {
          n: span(millions.range, n => (isFinite(n) ? digits(n) : t("never"))),
        }),
        t("To calculate the time, enter {list}.", { list: list(days.missing) }),
      ];
    }
    if (figures.electricity.range) {
      return [
        t("{price} per million tokens", { price: span(figures.electricity.range, money) }),
        t("Electricity only. To calculate the break-even point, enter {list}.", { list: list(days.missing) }),
      ];
    }
    return [
      t("Enter your figures"),
      t("To calculate the cost of electricity, enter {list}.", { list: list(figures.electricity.missing) }),
    ];
  }
  function update() {
    const amounts = typed();
    const found = rangeOf(amounts.ctx);
    const speed = amounts.speed ? [amounts.speed, amounts.speed] : found.range;
    controls(found);
    const figures = compute(amounts, speed);
    const words = headline(figures);
    const v = figures.pace.range ? span(figures.pace.range, rate) : "";
    const asTyped = {};
    AMOUNTS.forEach(name => {
      asTyped[name] = $(name).value;
    });
    $("headline").textContent = words[0];
    $("margin").textContent = words[1];
    $("dock").textContent = words[0];
    kit.announce(words.join(". "));
    $("results").replaceChildren(
      ...ROWS.map(row => {
        const figure = figures[row[0]];
        const line = el("div");
        line.dataset.figure = row[0];
        line.append(el("dt", row[1]));
        if (figure.range) {
          line.append(
            el("dd", span(figure.range, row[2]), "value"),
            el("dd", row[3](asTyped, v, figures).split(t(" to ")).join(" … "), "formula"),
          );
        } else line.append(el("dd", t("requires {list}", { list: list(figure.missing) }), "needs"));
        return line;
      }),
    );
    kit.keep(
      [
        ["model", state.model && state.model.id],
        ["quant", state.model && fit.quants[state.quant]],
        ["gpu", state.gpu && state.gpu.id],
      ].concat(TYPED.map(name => [name, $(name).value])),
    );
  }

  // ---- controls ----------------------------------------------------------------
  // Without figures in the address the page shows an example. Its prices are round numbers, not those of any seller.
  const EXAMPLE = { kwh: "0.30", hours: "4", price: "1000", years: "4", out: "1", ctx: "4096" };
  const EXAMPLE_MODEL = "llama-3.1-8b-instruct";
  const EXAMPLE_GPU = "geforce-rtx-3090";
  function read() {
    const asked = kit.reading();
    const amount = (name, why) => asked.take(name, text => (Number(text) >= 0 ? text.slice(0, 20) : null), why);
    const quant = asked.take("quant", kit.placeIn(fit.quants), t("unknown quantization"));
    state = {
      model: asked.take("model", id => find(fit.models, id), t("unknown model")),
      gpu: asked.take("gpu", id => find(fit.devices, id), t("unknown device")),
      quant: quant === null ? -1 : quant,
    };
    const given = AMOUNTS.map(name => [name, amount(name, t("not an amount"))]);
    const currency = asked.take("currency", text => text.slice(0, 8), "");
    asked.report();
    const isExample = !location.hash && given.every(([name, text]) => text === null || name === "price");
    $("example").hidden = !isExample;
    if (isExample) {
      state.model = state.model || find(fit.models, EXAMPLE_MODEL);
      state.gpu = state.gpu || find(fit.devices, EXAMPLE_GPU);
    }
    const usual = isExample ? { ...EXAMPLE, watts: state.gpu && state.gpu.power } : {};
    given.forEach(([name, text]) => {
      $(name).value = text === null ? usual[name] || "" : text;
    });
    $("currency").value = currency || "";
  }
  function clearExample() {
    $("example").hidden = true;
    TYPED.forEach(name => {
      $(name).value = "";
    });
    update();
    $("currency").focus();
  }
  const NONE = [{ id: "", name: t("none"), group: "" }];
  const modelBox = kbgen.combobox($("model"), {
    entries: NONE.concat(fit.models.map(model => ({ id: model.id, name: model.name, group: model.family }))),
    choose(id) {
      state.model = find(fit.models, id);
      open();
    },
  });
  const gpuBox = kbgen.combobox($("gpu"), {
    entries: NONE.concat(fit.devices.map(device => ({ id: device.id, name: device.name, group: device.vendor }))),
    choose(id) {
      state.gpu = find(fit.devices, id);
      update();
    },
  });
  $("quant").addEventListener("change", () => {
    state.quant = Number($("quant").value);
    update();
  });
  TYPED.forEach(name => {
    $(name).addEventListener("input", () => {
      $("example").hidden = true;
      update();
    });
  });
  $("example-clear").addEventListener("click", clearExample);
  addEventListener("hashchange", () => {
    read();
    open();
  });
  read();
  open();
})();
