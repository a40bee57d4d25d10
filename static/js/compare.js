// Devices side by side. Facts are read from the page's own table, needs from data/runs.js; nothing is estimated here.
(function () {
  "use strict";
  var kit = window.kbgenTools, find = kit.find, $ = kit.by_id, make = kit.make;
  var CELL_OF_MEMORY = 1, CELL_OF_BANDWIDTH = 3;

  // ---- data ----------------------------------------------------------------
  var columns = Array.prototype.map.call($("devices").tHead.rows[0].cells, function (cell) { return cell.textContent; });
  var devices = Array.prototype.map.call($("devices").tBodies[0].rows, function (row) {
    var texts = Array.prototype.map.call(row.cells, function (cell) { return cell.textContent; });
    return {
      id: row.dataset.id, name: texts[0], href: row.querySelector("a").getAttribute("href"), texts: texts, maker: texts[6],
      covered: row.hasAttribute("data-ok"), memory: Number(row.dataset.vis),
      bw: parseFloat(texts[CELL_OF_BANDWIDTH]) || 0, sp: row.dataset.sp
    };
  });
  var index = JSON.parse($("speed-data").textContent);
  var runs = kit.runs(), need = runs.need, judge = runs.judge;
  if (!devices.length || !runs.models.length || !runs.quants.length) return;

  // ---- state ---------------------------------------------------------------
  var LETTERS = ["a", "b", "c", "d"];
  var start = [find(devices, "geforce-rtx-4060-ti-16-gb") || devices[0], find(devices, "geforce-rtx-3090") || devices[1] || null];
  var state = { picks: start.concat(null, null), quant: 0, ctx: 0, model: null };
  function read() {
    var asked = kit.asked();
    if (LETTERS.some(function (letter) { return asked.has(letter); })) {
      state.picks = LETTERS.map(function (letter) { return find(devices, asked.get(letter)); });
      if (!state.picks[0]) state.picks[0] = devices[0];
      // A link of the site names one device; a reader who compares one alone has chosen that.
      if (location.hash.length < 2 && !state.picks[1]) state.picks[1] = start.filter(function (device) { return device && device !== state.picks[0]; })[0] || null;
    }
    state.quant = Math.max(0, runs.quants.indexOf(asked.has("quant") ? asked.get("quant") : runs.quant));
    state.ctx = Math.max(0, runs.contexts.indexOf(asked.has("ctx") ? Number(asked.get("ctx")) : runs.ctx));
    state.model = find(runs.models, asked.get("model"));
  }
  function save() {
    kit.keep(LETTERS.map(function (letter, i) { return [letter, state.picks[i] && state.picks[i].id]; })
      .concat([["quant", runs.quants[state.quant]], ["ctx", runs.contexts[state.ctx]], ["model", state.model && state.model.id]]));
  }
  function chosen() {
    return state.picks.filter(function (device, i) { return device && state.picks.indexOf(device) === i; });
  }

  // ---- tables ----------------------------------------------------------------
  function heads(row, list) {
    row.replaceChildren(make("td"));
    list.forEach(function (device) {
      var cell = make("th"), link = make("a", device.name);
      cell.scope = "col";
      link.href = device.href;
      cell.append(link);
      row.append(cell);
    });
  }
  function line(label, list, fill) {
    var row = make("tr"), head = make("th", label);
    head.scope = "row";
    row.append(head);
    list.forEach(function (device) { var cell = make("td"); cell.append.apply(cell, [].concat(fill(device))); row.append(cell); });
    return row;
  }
  // A bar as long as its share of the longest.
  function bar(share) {
    var space = "http://www.w3.org/2000/svg", picture = document.createElementNS(space, "svg"), rect = document.createElementNS(space, "rect");
    picture.setAttribute("class", "share");
    picture.setAttribute("aria-hidden", "true");
    rect.setAttribute("width", (share * 100).toFixed(1) + "%");
    rect.setAttribute("height", "10");
    picture.append(rect);
    return picture;
  }
  function facts(list) {
    var rows = columns.slice(1).map(function (label, i) {
      var at = i + 1, figures = list.map(function (device) { return parseFloat(device.texts[at]) || 0; }), most = Math.max.apply(null, figures);
      return line(label, list, function (device) {
        var text = device.texts[at];
        return (at === CELL_OF_MEMORY || at === CELL_OF_BANDWIDTH) && text !== "–" ? [text, bar((parseFloat(text) || 0) / most)] : text;
      });
    });
    $("facts").replaceChildren.apply($("facts"), rows);
  }

  // ---- what each runs ----------------------------------------------------------
  function verdicts(list) {
    return runs.models.map(function (model) {
      var total = need(model, state.quant, state.ctx);
      return { model: model, total: total, words: list.map(function (device) { return total === null || !device.covered ? "" : judge(total, device.memory); }) };
    }).filter(function (row) { return row.total !== null; });
  }
  function size(model) { return model.parameters ? (model.parameters < 1e9 ? (model.parameters / 1e6).toFixed(0) + " M" : (model.parameters / 1e9).toFixed(2) + " B") : ""; }
  function link(model) { var to = make("a", model.name); to.href = kit.root + "models/" + model.id + "/index.html"; return to; }
  function of(rows, at, word) { return rows.filter(function (row) { return row.words[at] === word; }); }

  function headline(list, rows) {
    var covered = list.map(function (device, at) { return { device: device, count: of(rows, at, "fits").length }; })
      .filter(function (entry) { return entry.device.covered; }).sort(function (a, b) { return b.count - a.count; });
    if (!covered.length) return t("No verdicts for these devices");
    var first = covered[0], second = covered[1];
    if (!second) return t("{device} runs {n} of {all} models", { device: first.device.name, n: first.count, all: rows.length });
    var more = first.count - second.count;
    return !more ? t("{device} and {other} run the same {n} of {all} models", { device: first.device.name, other: second.device.name, n: first.count, all: rows.length })
      : t("{device} runs {n} of {all} models, {more} more than {other}", { device: first.device.name, n: first.count, all: rows.length, more: more, other: second.device.name });
  }
  function table_of_runs(list, rows) {
    var at = function (device) { return list.indexOf(device); };
    var unknown = function (device) { return device.covered ? null : t("not covered"); };
    $("runs").replaceChildren.apply($("runs"), [
      line(t("Models that fit"), list, function (device) { return unknown(device) || t("{n} of {all}", { n: of(rows, at(device), "fits").length, all: rows.length }); }),
      line(t("Tight"), list, function (device) { return unknown(device) || String(of(rows, at(device), "tight").length); }),
      line(t("Largest that fits"), list, function (device) {
        var fitting = of(rows, at(device), "fits").filter(function (row) { return row.model.parameters; }), last = fitting[fitting.length - 1];
        return unknown(device) || (last ? [link(last.model), " ", make("span", size(last.model), "upto")] : t("none"));
      })].concat(row_of_speed(list)));
  }
  // The range of a chosen model, from its own table.
  function speed_words(device) {
    var model = state.model, table = window.kbgenFit && window.kbgenFit.tables[model.id];
    var total = need(model, state.quant, state.ctx), quant = index.quants.indexOf(runs.quants[state.quant]);
    if (total === null) return t("not at this setting");
    // Where the rules of CUDA do not hold, the weights alone tell.
    if (device.covered ? judge(total, device.memory) === "no" : model.weights[state.quant] > device.memory) return t("does not fit");
    if (!table) return "–";
    var speed = window.kbgenFit.speed(table, { quant: quant, k: 0, v: 0, ctx: runs.contexts[state.ctx] }, device, index);
    return speed ? t("{n} tokens/s", { n: kit.pace(speed.full) }) : t("not known");
  }
  function row_of_speed(list) {
    return state.model ? [line(t("Speed with {model}", { model: state.model.name }), list, speed_words)] : [];
  }
  // Models on which the verdicts differ, those that need most first.
  function table_of_differences(list, rows) {
    var place = $("apart");
    var apart = rows.filter(function (row) {
      var words = row.words.filter(Boolean);
      return words.some(function (word) { return word !== words[0]; });
    }).sort(function (a, b) { return b.total - a.total; });
    place.replaceChildren();
    if (list.filter(function (device) { return device.covered; }).length < 2) return;
    place.append(make("h3", apart.length ? t("Models that one runs and another does not: {n}", { n: apart.length }) : t("Every model gets the same verdict on all of them")));
    if (!apart.length) return;
    var box = make("div", null, "table"), table = make("table", null, "grid versus"), head = make("tr"), body = make("tbody"), thead = make("thead");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", t("Models on which the devices differ"));
    heads(head, list);
    head.cells[0].replaceWith(label(t("Model")), label(t("Needs"), "num"));
    apart.forEach(function (row) {
      var entry = line("", list, function (device) { var word = row.words[list.indexOf(device)]; return word ? kit.verdict(word) : "–"; }), first = entry.cells[0];
      first.append(link(row.model));
      var total = make("td", kit.gib(row.total), "num");
      total.title = t("{n} bytes", { n: kit.whole(row.total) });
      first.after(total);
      body.append(entry);
    });
    function label(text, kind) { var cell = make("th", text, kind); cell.scope = "col"; return cell; }
    thead.append(head);
    table.append(make("caption", t("Weights, cache and compute buffer, before what the driver takes")), thead, body);
    box.append(table);
    place.append(box);
  }

  // ---- everything ------------------------------------------------------------
  function update() {
    var list = chosen(), rows = verdicts(list);
    state.picks.forEach(function (device, i) { boxes[i].show(device ? device.id : ""); });
    model_box.show(state.model ? state.model.id : "");
    mark("quant", state.quant);
    mark("ctx", state.ctx);
    heads($("names"), list);
    heads($("names-again"), list);
    facts(list);
    table_of_runs(list, rows);
    table_of_differences(list, rows);
    $("headline").textContent = headline(list, rows);
    kit.say(runs.quants[state.quant] + ", " + t("{n} tokens: ", { n: kit.whole(runs.contexts[state.ctx]) }) + headline(list, rows) + ".");
    save();
  }
  function mark(name, at) { $(name).querySelectorAll("input")[at].checked = true; }

  // ---- controls ----------------------------------------------------------------
  var NONE = [{ id: "", name: t("none"), group: "" }];
  var boxes = state.picks.map(function (_, i) {
    var entries = devices.map(function (device) { return { id: device.id, name: device.name, group: device.maker, note: device.texts[CELL_OF_MEMORY] }; });
    return window.kbgenCombobox($("device-" + i), { entries: i ? NONE.concat(entries) : entries, choose: function (id) { state.picks[i] = find(devices, id); update(); } });
  });
  var model_box = window.kbgenCombobox($("model"), {
    entries: NONE.concat(runs.models.map(function (model) { return { id: model.id, name: model.name, group: "", note: size(model) }; })),
    choose: function (id) { state.model = find(runs.models, id); open(); }
  });
  // The row of speeds comes when the model's table is there.
  function open() {
    update();
    if (state.model) kit.figures(state.model.id, index.stamp, update);
  }
  kit.choices($("quant"), "quant", runs.quants, function (at) { state.quant = at; update(); });
  kit.choices($("ctx"), "ctx", runs.contexts.map(function (ctx) { return ctx / 1024 + "k"; }), function (at) { state.ctx = at; update(); });
  addEventListener("hashchange", function () { read(); open(); });
  read();
  open();
})();
