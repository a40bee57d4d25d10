// Finds GPUs for a model: looks up one model's table for every device of the page. No estimates here.
(() => {
  "use strict";
  const { t } = kbgen;
  const kit = kbgen.tools;
  const lookup = kbgen.fit;
  const find = kit.find;
  const root = kit.root;
  const $ = kit.byId;
  const el = kit.el;
  const fit = JSON.parse($("fit-data").textContent);
  const places = JSON.parse($("places").textContent);
  const LOW = fit.driver[0];
  const HIGH = fit.driver[1];
  // Maximum number of sizes per group and names per size at first, and groups of GPUs that can be used in pairs.
  const SIZES = 3;
  const NAMES = 6;
  const RUNS = ["server", "library"];
  const IN_PAIRS = [t("Desktop"), t("Workstation"), t("Data center")];
  if (!fit.models.length) return;

  // ---- state ---------------------------------------------------------------
  let state;
  let table = null;
  function read() {
    const asked = kit.reading();
    const usual = find(fit.models, "llama-3.1-8b-instruct") || fit.models[0];
    const orZero = (name, list) => asked.take(name, kit.placeIn(list), t("not a valid value")) || 0;
    const quant = asked.take("quant", kit.placeIn(fit.quants), t("unknown quantization"));
    state = {
      model: asked.take("model", id => find(fit.models, id), t("unknown model")) || usual,
      quant: quant === null ? -1 : quant,
    };
    state.ctx = Math.round(asked.take("ctx", kit.between(1, Infinity), t("not a number of tokens")) || fit.ctx);
    state.k = orZero("k", fit.kv);
    state.v = orZero("v", fit.kv);
    state.run = RUNS[orZero("run", RUNS)];
    state.others = Math.round(asked.take("others", kit.between(0, 1e9), t("not a number of MiB")) || 0);
    state.budget = asked.take("budget", kit.between(0, 1e9), t("not an amount")) || 0;
    asked.report();
    $("more").open = state.k + state.v + state.others > 0 || state.run !== RUNS[0];
  }
  function save() {
    kit.keep([
      ["model", state.model.id],
      ["quant", fit.quants[state.quant]],
      ["ctx", state.ctx],
      ["k", fit.kv[state.k]],
      ["v", fit.kv[state.v]],
      ["run", state.run === "server" ? "" : state.run],
      ["others", state.others || ""],
      ["budget", state.budget || ""],
    ]);
  }
  // Limits the settings to those of the model's table.
  function settle() {
    if (!table.quants[state.quant]) state.quant = lookup.usual(table, fit.quants);
    state.ctx = Math.min(state.ctx, table.max);
  }
  function setting(shares) {
    return {
      quant: state.quant,
      k: state.k,
      v: state.v,
      ctx: state.ctx,
      slots: 1,
      server: state.run === "server",
      shares,
      layers: null,
      experts: 0,
    };
  }

  // ---- devices ---------------------------------------------------------------
  // Every device in each memory size that it is sold with.
  const devices = fit.devices.flatMap((device, i) => {
    const place = places.names[places.of[i]];
    const sizes = device.sizes || [[device.mem, device.vis, device.most]];
    return sizes.map(([mem, vis, most]) => ({
      ...device,
      spec: device.sizes ? `${device.id}@${mem / kit.GIB}` : device.id,
      place,
      mem,
      vis,
      most,
    }));
  });
  // Smallest memory first; ties by bandwidth.
  function byMemory(a, b) {
    return a.device.mem - b.device.mem || a.spare - b.spare || (b.device.bw || 0) - (a.device.bw || 0);
  }
  // Devices that run the model as `count` of a kind, with the remaining memory on each at the maximum driver overhead.
  function running(needs, devices, count) {
    return devices
      .map(device => {
        const needed = needs(device);
        const others = state.others * kit.MIB;
        const room = device.vis - others;
        const rooms = needed.devices.map(() => [room, Math.max(device.most || 0, device.vis) - others]);
        const high = (needed.devices[0].driver || fit.driver)[1];
        const most = Math.max(...needed.devices.map(each => (each.total ? each.total[1] : Infinity)));
        return {
          device,
          count,
          verdict: lookup.judge(needed, rooms, fit.driver),
          spare: room - most - high,
          onCuda: needed.onCuda,
          driver: room - most,
        };
      })
      .filter(entry => entry.verdict === "fits" || entry.verdict === "tight")
      .sort(byMemory);
  }

  // ---- lists -----------------------------------------------------------------
  function size(bytes) {
    return `${Number((bytes / kit.GIB).toFixed(3))} GB`;
  }
  function margin(entry) {
    if (entry.verdict === "fits") {
      return (
        (entry.count > 1 ? t("at least ") : "") +
        t("{size} to spare", { size: kit.spare(entry.spare) }) +
        (entry.count > 1 ? t(" on each") : "")
      );
    }
    if (!entry.onCuda) return t("only in the best case of memory, driver and buffers");
    return entry.count > 1
      ? t("if its buffers stay at the low end of their range")
      : t("if the driver uses less than {size}", { size: kit.spare(entry.driver) });
  }
  // The calculator with the same settings and one or two of this device.
  function closer(entry) {
    const link = el("a", margin(entry));
    const asked = {
      model: state.model.id,
      quant: fit.quants[state.quant],
      ctx: state.ctx,
      k: fit.kv[state.k],
      v: fit.kv[state.v],
      gpu: Array(entry.count).fill(entry.device.spec).join(","),
    };
    if (state.run !== "server") asked.run = state.run;
    if (state.others) asked.others = Array(entry.count).fill(state.others).join(",");
    link.href = `${root}will-it-run/index.html#${new URLSearchParams(asked)}`;
    return link;
  }
  function nameOf(entry) {
    const link = el("a", entry.device.name);
    const item = el("span", null, "card-name");
    link.href = `${root}hardware/${entry.device.id}/index.html`;
    item.append(link);
    const speed = entry.verdict && entry.count === 1 ? lookup.speed(table, setting([1]), entry.device, fit) : null;
    if (speed && speed.full) item.append(" ", el("span", t("{n} tokens/s", { n: kit.pace(speed.full) }), "upto"));
    return item;
  }
  // All devices with the same memory and verdict; the margin is that of the first, which has the least usable memory.
  function line(entries) {
    const first = entries[0];
    const item = el("li");
    const names = el("p", null, "card-names");
    item.append(el("b", (first.count > 1 ? `${first.count} × ` : "") + size(first.device.mem)));
    if (first.verdict) {
      const line = el("p");
      line.append(kit.verdict(first.verdict), " ", closer(first));
      item.append(line);
    }
    entries.forEach((entry, i) => {
      const name = nameOf(entry);
      name.hidden = i >= NAMES;
      names.append(name, " ");
    });
    if (entries.length > NAMES) {
      names.append(el("span", t("and {n} more", { n: entries.length - NAMES }), "small and-more"));
    }
    item.append(names);
    return item;
  }
  // A list with a heading and a line per memory size; the rest is behind a button.
  function group(title, note, entries) {
    const part = el("section", null, "cards-of");
    const list = el("ul");
    const sizes = {};
    entries.forEach(entry => {
      const key = entry.device.mem + entry.verdict;
      (sizes[key] = sizes[key] || []).push(entry);
    });
    const lines = Object.keys(sizes).map(key => line(sizes[key]));
    // Enough to include one that fits.
    const shown = Math.max(
      SIZES,
      entries.filter((entry, i) => entry.verdict === "tight" && (!i || entries[i - 1].device.mem !== entry.device.mem))
        .length + 1,
    );
    lines.forEach((item, i) => {
      item.hidden = i >= shown;
    });
    list.append(...lines);
    part.append(el("h2", title));
    if (note) part.append(el("p", note, "small"));
    part.append(list);
    if (part.querySelector("[hidden]")) part.append(showAll(part, entries.length));
    return part;
  }
  function showAll(part, count) {
    const button = el("button", t("Show all {n}", { n: count }), "plain");
    button.type = "button";
    button.addEventListener("click", () => {
      const hidden = [...part.querySelectorAll("[hidden]")];
      const first = hidden[0];
      hidden.forEach(each => {
        each.hidden = false;
      });
      part.querySelectorAll(".and-more").forEach(each => {
        each.remove();
      });
      button.remove();
      first.querySelector("a").focus();
    });
    return button;
  }
  // ---- the answer ------------------------------------------------------------
  function part(name, value) {
    const line = el("div");
    line.append(el("dt", name), el("dd", value));
    return line;
  }
  // What the budget allows: the reader's amount, divided.
  function budget(one, two) {
    const place = $("budget-answer");
    const share = (entry, parts) => kit.whole(state.budget / (entry.device.mem / kit.GIB) / parts);
    place.hidden = !state.budget || !(one || two);
    place.replaceChildren();
    if (place.hidden) return;
    if (one) {
      place.append(
        t("Within {budget}: one GPU with {size} or more, at up to {price} per GB.", {
          budget: kit.whole(state.budget),
          size: size(one.device.mem),
          price: share(one, 1),
        }),
        " ",
      );
    }
    if (two) {
      place.append(
        t("Or two GPUs with {size} each, at up to {price} each.", {
          size: size(two.device.mem),
          price: kit.whole(state.budget / 2),
        }),
        " ",
      );
    }
    const link = el("a", t("When does it pay off?"));
    const asked = { model: state.model.id, quant: fit.quants[state.quant], price: state.budget };
    if (one) asked.gpu = one.device.id;
    link.href = `${root}cost-vs-cloud/index.html?${new URLSearchParams(asked)}`;
    place.append(link);
  }
  // Words in place of an answer: no line of another model stays.
  function instead(words, ...more) {
    $("headline").textContent = $("dock").textContent = words;
    $("margin").replaceChildren(...more);
    $("budget-answer").hidden = true;
    $("parts").replaceChildren();
    $("cards").replaceChildren();
    kit.announce(words);
  }
  function update() {
    if (!table) return controls();
    settle();
    controls();
    const needed = lookup.need(table, setting([1]));
    const one = needed.devices[0];
    // One answer for all devices with the same backends.
    const needsOf = shares => {
      const known = {};
      return ({ backends = [] }) =>
        known[backends] ||
        (known[backends] = lookup.need(
          table,
          lookup.but(setting(shares), { profiles: shares.map(() => backends.map(at => fit.backends[at])) }),
        ));
    };
    const singles = running(needsOf([1]), devices, 1);
    const fitting = singles.filter(entry => entry.verdict === "fits");
    const alone = singles.map(entry => entry.device.spec);
    const pairs = running(
      needsOf([1, 1]),
      devices.filter(device => alone.indexOf(device.spec) < 0 && IN_PAIRS.includes(device.place)),
      2,
    );
    // The smallest size of which all GPUs fit.
    const whole = fitting.filter(
      entry =>
        fit.devices.filter(device => device.ok && device.mem === entry.device.mem).length ===
        fitting.filter(other => other.device.ok && other.device.mem === entry.device.mem).length,
    );
    const first = whole.filter(entry => entry.device.ok)[0] || fitting[0];
    const tight =
      singles[0] && singles[0].verdict === "tight" ? t("Tight with {size}", { size: size(singles[0].device.mem) }) : "";
    $("headline").textContent = !one.total
      ? t("Not covered")
      : first
        ? t("Runs with {size} or more", { size: size(first.device.mem) })
        : tight || t("No single GPU in the catalog holds it");
    $("margin").textContent = !one.total
      ? t("For this pair of cache types the compute buffer was not measured.")
      : t("{size}, plus {low} to {high} for the driver{tight}.", {
          size: kit.gib(one.total[1]),
          low: kit.mib(LOW),
          high: kit.mib(HIGH),
          tight: first && tight ? `. ${tight}` : "",
        });
    budget(first, pairs.filter(entry => entry.verdict === "fits")[0]);
    $("dock").textContent = $("headline").textContent;
    kit.announce(
      `${state.model.name}, ${fit.quants[state.quant]}, ${t("{n} tokens: ", { n: kit.whole(state.ctx) })}${$("headline").textContent}. ${$("margin").textContent}`,
    );
    $("parts").replaceChildren(
      part(t("Weights"), kit.gib(one.weights)),
      part(t("KV cache"), kit.gib(one.cache)),
      part(t("Compute buffer"), one.compute ? kit.gib(one.compute[1]) : t("not covered")),
    );
    const shown = places.names
      .map(name => [name, singles.filter(entry => entry.device.place === name)])
      .filter(entry => entry[1].length)
      .map(entry => group(entry[0], "", entry[1]));
    if (pairs.length) {
      shown.push(
        group(
          t("Two identical GPUs"),
          t(
            "GPUs that do not hold it alone, with half of the layers on each. The compute buffers are ranges; the verdict uses the upper end.",
          ),
          pairs,
        ),
      );
    }
    $("cards").replaceChildren(...shown);
    save();
  }

  // ---- controls ----------------------------------------------------------------
  function controls() {
    const put = (id, value) => {
      if ($(id) !== document.activeElement) $(id).value = value;
    };
    const quants = table ? kit.quantizations(table, fit.quants).map(i => kit.option(i, fit.quants[i])) : [];
    $("quant").replaceChildren(...quants);
    $("quant").disabled = !table;
    $("quant").value = state.quant;
    put("ctx", state.ctx);
    $("ctx-hint").textContent = table ? t("At most {n}.", { n: kit.whole(table.max) }) : "";
    put("others", state.others || "");
    put("budget", state.budget || "");
    $("run").value = state.run;
    $("pair-note").hidden = state.k === state.v;
    ["k", "v"].forEach(name => {
      $(name).querySelectorAll("input")[state[name]].checked = true;
    });
    modelBox.show(state.model.id);
  }
  // Waits for the table; of two requests, the last counts.
  function open() {
    const wanted = state.model;
    table = null;
    instead(t("Loading the figures for {model}…", { model: wanted.name }));
    controls();
    kit.figures(wanted.id, fit.stamp, loaded => {
      if (wanted !== state.model) return;
      table = loaded;
      if (table) return update();
      instead(t("The figures for {model} could not be loaded", { model: wanted.name }), kit.retry(open));
    });
  }
  const modelBox = kbgen.combobox($("model"), {
    entries: fit.models.map(model => ({
      id: model.id,
      name: model.name,
      group: model.family,
      note: `${kit.whole(model.max / 1024)}K`,
    })),
    choose(id) {
      state.model = find(fit.models, id);
      open();
    },
  });
  function on(id, event, act) {
    $(id).addEventListener(event, () => {
      if (act($(id).value) !== false) update();
    });
  }
  kit.choices($("k"), "k", fit.kv, at => {
    state.k = at;
    update();
  });
  kit.choices($("v"), "v", fit.kv, at => {
    state.v = at;
    update();
  });
  on("quant", "change", i => {
    state.quant = Number(i);
  });
  on("ctx", "input", text => {
    const n = Math.round(Number(text));
    if (!(n >= 1)) return false;
    state.ctx = n;
  });
  on("ctx", "change", () => {
    $("ctx").value = state.ctx;
  });
  on("run", "change", name => {
    state.run = name;
  });
  on("budget", "input", text => {
    state.budget = Math.max(0, Number(text) || 0);
  });
  on("others", "input", text => {
    state.others = Math.max(0, Math.round(Number(text)) || 0);
  });
  addEventListener("hashchange", () => {
    read();
    open();
  });
  read();
  open();
})();
