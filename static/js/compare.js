// Compares devices. Reads specifications from the page's table, and memory from data/runs.js. No estimates here.
(() => {
  "use strict";
  const { t } = kbgen;
  const kit = kbgen.tools;
  const find = kit.find;
  const $ = kit.byId;
  const el = kit.el;
  const CELL_OF_MEMORY = 1;
  const CELL_OF_BANDWIDTH = 3;
  // Number of models that a column names.
  const LARGEST = 4;

  // The number at the start of a text: 1010 for "1,010 GB/s", 0 if there is none.
  function amount(text) {
    return parseFloat(text.replace(/,/g, "")) || 0;
  }

  // ---- data ----------------------------------------------------------------
  const columns = Array.prototype.map.call($("devices").tHead.rows[0].cells, cell => cell.textContent);
  const devices = Array.prototype.map.call($("devices").tBodies[0].rows, row => {
    const texts = Array.prototype.map.call(row.cells, cell => cell.textContent);
    return {
      id: row.dataset.id,
      name: texts[0],
      href: row.querySelector("a").getAttribute("href"),
      texts,
      maker: texts[6],
      backends: row.dataset.backends.split(" ").map(Number),
      room: row.dataset.vis.split(" ").map(Number),
      bw: amount(texts[CELL_OF_BANDWIDTH]),
      sp: Number(row.dataset.sp),
    };
  });
  const index = JSON.parse($("speed-data").textContent);
  const runs = kit.runs();
  const need = runs.need;
  const judge = runs.judge;
  if (!devices.length || !runs.models.length || !runs.quants.length) return;

  // ---- state ---------------------------------------------------------------
  const LETTERS = ["a", "b", "c", "d"];
  const start = [
    find(devices, "geforce-rtx-4060-ti-16-gb") || devices[0],
    find(devices, "geforce-rtx-3090") || devices[1] || null,
  ];
  // `model` is the one that the reader selected; without it, the largest that fits on all devices.
  const state = { picks: start.concat(null, null), quant: 0, ctx: 0, model: null };
  let spoken = null;
  function read() {
    const asked = kit.reading();
    const picks = LETTERS.map(letter => asked.take(letter, id => find(devices, id), t("unknown device")));
    if (picks.some(Boolean)) {
      state.picks = picks;
      if (!picks[0]) picks[0] = start.filter(device => device && picks.indexOf(device) < 0)[0];
      // A link from the site names one device; an address with only one device was chosen by the reader.
      if (location.hash.length < 2 && !picks[1]) {
        picks[1] = start.filter(device => device && device !== picks[0])[0] || null;
      }
    } else state.picks = start.concat(null, null);
    const position = (name, list, usual, why) => {
      const at = asked.take(name, kit.placeIn(list), why);
      return at === null ? Math.max(0, list.indexOf(usual)) : at;
    };
    state.quant = position("quant", runs.quants, runs.quant, t("unknown quantization"));
    state.ctx = position("ctx", runs.contexts, runs.ctx, t("not one of the contexts below"));
    state.model = asked.take("model", id => find(runs.models, id), t("unknown model"));
    asked.report();
    $("more-picks").open = !!(state.picks[2] || state.picks[3]);
  }
  function save() {
    kit.keep(
      LETTERS.map((letter, i) => [letter, state.picks[i] && state.picks[i].id]).concat([
        ["quant", runs.quants[state.quant]],
        ["ctx", runs.contexts[state.ctx]],
        ["model", state.model && state.model.id],
      ]),
    );
  }
  function chosen() {
    return state.picks.filter((device, i) => device && state.picks.indexOf(device) === i);
  }

  // ---- tables ----------------------------------------------------------------
  function heads(row, list) {
    row.replaceChildren(el("td"));
    list.forEach(device => {
      const cell = el("th");
      const link = el("a", device.name);
      cell.scope = "col";
      link.href = device.href;
      cell.append(link);
      row.append(cell);
    });
  }
  function line(label, list, fill) {
    const row = el("tr");
    const head = el("th", label);
    head.scope = "row";
    row.append(head);
    list.forEach(device => {
      const cell = el("td");
      cell.append(...[].concat(fill(device)));
      row.append(cell);
    });
    return row;
  }
  // A bar with a length proportional to the maximum.
  function bar(share) {
    const space = "http://www.w3.org/2000/svg";
    const picture = document.createElementNS(space, "svg");
    const rect = document.createElementNS(space, "rect");
    picture.setAttribute("class", "share");
    picture.setAttribute("aria-hidden", "true");
    rect.setAttribute("width", `${(share * 100).toFixed(1)}%`);
    rect.setAttribute("height", "10");
    picture.append(rect);
    return picture;
  }
  function facts(list) {
    const rows = columns.slice(1).map((label, i) => {
      const at = i + 1;
      const figures = list.map(device => amount(device.texts[at]));
      const most = Math.max(...figures);
      return line(label, list, device => {
        const text = device.texts[at];
        return (at === CELL_OF_MEMORY || at === CELL_OF_BANDWIDTH) && text !== "–"
          ? [text, bar(amount(text) / most)]
          : text;
      });
    });
    $("facts").replaceChildren(...rows);
  }

  // ---- what each runs ----------------------------------------------------------
  function verdicts(list) {
    return runs.models
      .map(model => {
        const total = need(model, state.quant, state.ctx);
        return {
          model,
          total,
          words: list.map(device => (total === null ? "" : judge(model, state.quant, state.ctx, device))),
        };
      })
      .filter(row => row.total !== null);
  }
  function size(model) {
    return model.parameters
      ? model.parameters < 1e9
        ? `${(model.parameters / 1e6).toFixed(0)}M`
        : `${(model.parameters / 1e9).toFixed(2)}B`
      : "";
  }
  function link(model) {
    const to = el("a", model.name);
    to.href = `${kit.root}models/${model.id}/index.html`;
    return to;
  }
  function of(rows, at, word) {
    return rows.filter(row => row.words[at] === word);
  }

  function headline(list, rows) {
    const counts = list
      .map((device, at) => ({ device, count: of(rows, at, "fits").length }))
      .sort((a, b) => b.count - a.count);
    const [first, second] = counts;
    if (!second) {
      return t("{device} runs {n} of {all} models", { device: first.device.name, n: first.count, all: rows.length });
    }
    const more = first.count - second.count;
    return !more
      ? t("{device} and {other} run the same {n} of {all} models", {
          device: first.device.name,
          other: second.device.name,
          n: first.count,
          all: rows.length,
        })
      : t("{device} runs {n} of {all} models, {more} more than {other}", {
          device: first.device.name,
          n: first.count,
          all: rows.length,
          more,
          other: second.device.name,
        });
  }
  function tableOfRuns(list, rows) {
    const at = device => list.indexOf(device);
    $("runs").replaceChildren(
      ...[
        line(t("Models that fit"), list, device =>
          t("{n} of {all}", { n: of(rows, at(device), "fits").length, all: rows.length }),
        ),
        line(t("Tight"), list, device => String(of(rows, at(device), "tight").length)),
        line(t("Largest model that fits"), list, device => {
          const fitting = of(rows, at(device), "fits").filter(row => row.model.parameters);
          const last = fitting[fitting.length - 1];
          return last ? [link(last.model), " ", el("span", size(last.model), "upto")] : t("none");
        }),
      ].concat(rowOfSpeed(list)),
    );
  }
  // The speed range of the selected model, from its own table.
  function speedWords(device) {
    const model = spoken;
    const table = kbgen.fit && kbgen.fit.tables[model.id];
    const total = need(model, state.quant, state.ctx);
    const quant = index.quants.indexOf(runs.quants[state.quant]);
    if (total === null) return t("not at this setting");
    if (judge(model, state.quant, state.ctx, device) === "no") return t("does not fit");
    if (!table) return "–";
    const speed = kbgen.fit.speed(
      table,
      { quant, k: 0, v: 0, ctx: runs.contexts[state.ctx], layers: null },
      device,
      index,
    );
    return speed.full
      ? t("{n} tokens/s", { n: kit.pace(speed.full) })
      : t("not covered: {reason}", { reason: speed.reason });
  }
  function rowOfSpeed(list) {
    return spoken ? [line(t("Speed with {model}", { model: spoken.name }), list, speedWords)] : [];
  }
  // The answer in one column per device: what decides, and what no other of them runs.
  function columnsOf(list, rows) {
    const named = (label, value) => {
      const pair = el("div");
      pair.append(el("dt", label), el("dd"));
      pair.lastChild.append(...[].concat(value));
      return pair;
    };
    $("columns").replaceChildren(
      ...list.map((device, at) => {
        const column = el("section");
        const title = el("h3");
        const name = el("a", device.name);
        const figures = el("dl");
        const only = rows
          .filter(row => row.words[at] === "fits" && row.words.every((word, other) => other === at || word !== "fits"))
          .sort((a, b) => b.total - a.total);
        name.href = device.href;
        title.append(name);
        figures.append(
          named(t("Memory"), device.texts[CELL_OF_MEMORY]),
          named(t("Bandwidth"), device.texts[CELL_OF_BANDWIDTH]),
        );
        if (spoken) figures.append(named(t("Speed with {model}", { model: spoken.name }), speedWords(device)));
        figures.append(
          named(t("Models that fit"), t("{n} of {all}", { n: of(rows, at, "fits").length, all: rows.length })),
        );
        if (list.length > 1) {
          const links = only.slice(0, LARGEST).flatMap((row, i) => (i ? [", ", link(row.model)] : [link(row.model)]));
          if (only.length > LARGEST) links.push(` ${t("and {n} more", { n: only.length - LARGEST })}`);
          figures.append(named(t("Only this one runs"), links.length ? links : t("nothing")));
        }
        column.append(title, figures);
        return column;
      }),
    );
  }
  // Models with different verdicts, the largest memory first.
  function tableOfDifferences(list, rows) {
    const place = $("apart");
    const apart = rows
      .filter(row => {
        const words = row.words.filter(Boolean);
        return words.some(word => word !== words[0]);
      })
      .sort((a, b) => b.total - a.total);
    place.replaceChildren();
    if (list.length < 2) return;
    place.append(
      el(
        "h2",
        apart.length
          ? t("Models that run on only some of the devices: {n}", { n: apart.length })
          : t("All models have the same verdict on these devices"),
      ),
    );
    if (!apart.length) return;
    const box = el("div", null, "table");
    const table = el("table", null, "grid versus");
    const head = el("tr");
    const body = el("tbody");
    const thead = el("thead");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", t("Models with different verdicts"));
    heads(head, list);
    head.cells[0].replaceWith(label(t("Model")), label(t("Needs"), "num"));
    apart.forEach(row => {
      const entry = line("", list, device => {
        const word = row.words[list.indexOf(device)];
        return word ? kit.verdict(word) : "–";
      });
      const first = entry.cells[0];
      first.append(link(row.model));
      const total = el("td", kit.gib(row.total), "num");
      total.title = t("{n} bytes", { n: kit.whole(row.total) });
      first.after(total);
      body.append(entry);
    });
    function label(text, kind) {
      const cell = el("th", text, kind);
      cell.scope = "col";
      return cell;
    }
    thead.append(head);
    table.append(el("caption", t("Weights, cache and compute buffer, without driver overhead")), thead, body);
    box.append(table);
    place.append(box);
  }

  // ---- everything ------------------------------------------------------------
  // The model whose table could not be loaded, and the line that says so below the columns.
  let broken = null;
  const fault = el("p", null, "fault");
  $("columns").after(fault);
  function loadSpeed() {
    const asked = spoken;
    broken = null;
    fault.hidden = true;
    kit.figures(asked.id, index.stamp, loaded => {
      if (asked !== spoken) return;
      if (!loaded) broken = asked;
      update();
    });
  }
  function update() {
    const list = chosen();
    const rows = verdicts(list);
    spoken = state.model || largestOnAll(rows);
    state.picks.forEach((device, i) => {
      boxes[i].show(device ? device.id : "");
    });
    modelBox.show(spoken ? spoken.id : "");
    mark("quant", state.quant);
    mark("ctx", state.ctx);
    heads($("names"), list);
    heads($("names-again"), list);
    facts(list);
    columnsOf(list, rows);
    tableOfRuns(list, rows);
    tableOfDifferences(list, rows);
    $("headline").textContent = headline(list, rows);
    fault.hidden = !spoken || spoken !== broken;
    const words = fault.hidden ? "" : t("The figures for {model} could not be loaded.", { model: spoken.name });
    fault.replaceChildren(words, " ", kit.retry(loadSpeed));
    kit.announce(
      `${runs.quants[state.quant]}, ${t("{n} tokens: ", { n: kit.whole(runs.contexts[state.ctx]) })}${headline(list, rows)}. ${words}`,
    );
    save();
    if (fault.hidden && spoken && !(kbgen.fit && kbgen.fit.tables[spoken.id])) loadSpeed();
  }
  function largestOnAll(rows) {
    const common = rows.filter(row => row.model.parameters && row.words.every(word => word === "fits"));
    return common.length ? common[common.length - 1].model : null;
  }
  function mark(name, at) {
    $(name).querySelectorAll("input")[at].checked = true;
  }

  // ---- controls ----------------------------------------------------------------
  const NONE = [{ id: "", name: t("none"), group: "" }];
  const boxes = state.picks.map((_, i) => {
    const entries = devices.map(device => ({
      id: device.id,
      name: device.name,
      group: device.maker,
      note: device.texts[CELL_OF_MEMORY],
    }));
    return kbgen.combobox($(`device-${i}`), {
      entries: i ? NONE.concat(entries) : entries,
      choose(id) {
        state.picks[i] = find(devices, id);
        update();
      },
    });
  });
  const modelBox = kbgen.combobox($("model"), {
    entries: runs.models.map(model => ({ id: model.id, name: model.name, group: "", note: size(model) })),
    choose(id) {
      state.model = find(runs.models, id);
      update();
    },
  });
  kit.choices($("quant"), "quant", runs.quants, at => {
    state.quant = at;
    update();
  });
  kit.choices(
    $("ctx"),
    "ctx",
    runs.contexts.map(ctx => `${ctx / 1024}K`),
    at => {
      state.ctx = at;
      update();
    },
  );
  addEventListener("hashchange", () => {
    read();
    update();
  });
  read();
  update();
})();
