// What fits on the reader's own card: data/runs.js looked up, nothing estimated. The card is kept in this browser alone.
(function () {
  "use strict";
  var kit = window.kbgenTools, make = kit.make, runs = kit.runs(), cards = window.kbgenCards;
  var QUANT = runs.quants.indexOf(runs.quant), CONTEXT = runs.contexts.indexOf(runs.ctx), LARGEST = 6;
  var place = document.querySelector(".own-card"), named = place.dataset.models.split(" ");
  if (!cards.length || QUANT < 0 || CONTEXT < 0) return;

  var label = make("label", t("Your card ")), select = make("select"), answer = make("div");
  label.append(select);
  select.append(kit.option("", t("Choose …")));
  cards.forEach(function (card) { select.append(kit.option(card[0], card[1])); });
  answer.setAttribute("aria-live", "polite");

  function remembered() { try { return localStorage.getItem("card"); } catch (_) { return null; } }
  function remember(id) { try { if (id) localStorage.setItem("card", id); else localStorage.removeItem("card"); } catch (_) { /* not remembered */ } }

  function row(entry) {
    var line = make("tr"), head = make("th"), link = make("a", entry.model.name), verdict = make("td");
    head.scope = "row";
    link.href = kit.root + "models/" + entry.model.id + "/index.html";
    head.append(link);
    verdict.append(kit.verdict(entry.word));
    line.append(head, verdict, make("td", kit.gib(entry.total), "num"));
    return line;
  }
  function table(entries) {
    var box = make("div", null, "table"), table = make("table", null, "list"), head = make("thead"), titles = make("tr"), body = make("tbody");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", t("What fits on your card"));
    [[t("Model"), ""], [t("Verdict"), ""], [t("Needs"), "num"]].forEach(function (title) {
      var cell = make("th", title[0], title[1]);
      cell.scope = "col";
      titles.append(cell);
    });
    head.append(titles);
    body.append.apply(body, entries.map(row));
    table.append(make("caption", t("Weights, cache and compute buffer, before what the driver takes: {which} largest that fit", { which: named[0] ? t("the models of this page, then the") : t("the") })), head, body);
    box.append(table);
    return box;
  }
  function show() {
    var card = cards.filter(function (card) { return card[0] === select.value; })[0];
    answer.replaceChildren();
    if (!card) return;
    var entries = runs.models.map(function (model) {
      var total = runs.need(model, QUANT, CONTEXT);
      return { model: model, total: total, word: total === null ? "" : runs.judge(total, card[2]) };
    }).filter(function (entry) { return entry.total !== null; });
    var own = entries.filter(function (entry) { return named.indexOf(entry.model.id) >= 0; });
    var fitting = entries.filter(function (entry) { return entry.word === "fits"; });
    var largest = fitting.filter(function (entry) { return own.indexOf(entry) < 0; })
      .sort(function (a, b) { return b.total - a.total; }).slice(0, LARGEST);
    var line = make("p"), more = make("p", null, "small"), page = make("a", card[1]), compute = make("a", t("Compute it at other settings"));
    line.append(t("In {quant} with {n} tokens of context ", { quant: runs.quants[QUANT], n: kit.whole(runs.contexts[CONTEXT]) }), make("strong", t("{n} of {all} models", { n: fitting.length, all: entries.length })), t(" fit."));
    page.href = kit.root + "hardware/" + card[0] + "/index.html";
    compute.href = kit.root + "will-it-run/index.html?gpu=" + card[0];
    more.append(compute, " · ", page);
    answer.append(line, table(own.concat(largest)), more);
  }
  select.addEventListener("change", function () { remember(select.value); show(); });
  place.append(label, answer);
  select.value = remembered() || "";
  if (select.selectedIndex < 0) select.value = "";
  show();
})();
