// What fits on the reader's own card: data/runs.js looked up, nothing estimated. The card is kept in this browser
// alone.
(() => {
  "use strict";
  const { t } = kbgen;
  const kit = kbgen.tools;
  const make = kit.make;
  const runs = kit.runs();
  const cards = kbgen.cards;
  const QUANT = runs.quants.indexOf(runs.quant);
  const CONTEXT = runs.contexts.indexOf(runs.ctx);
  const LARGEST = 6;
  const place = document.querySelector(".own-card");
  const named = place.dataset.models.split(" ");
  if (!cards.length || QUANT < 0 || CONTEXT < 0) return;

  const label = make("label", t("Your card "));
  const select = make("select");
  const answer = make("div");
  label.append(select);
  select.append(kit.option("", t("Choose …")));
  cards.forEach(card => {
    select.append(kit.option(card[0], card[1]));
  });
  answer.setAttribute("aria-live", "polite");

  function remembered() {
    try {
      return localStorage.getItem("card");
    } catch {
      return null;
    }
  }
  function remember(id) {
    try {
      if (id) localStorage.setItem("card", id);
      else localStorage.removeItem("card");
    } catch {
      /* not remembered */
    }
  }

  function row(entry) {
    const line = make("tr");
    const head = make("th");
    const link = make("a", entry.model.name);
    const verdict = make("td");
    head.scope = "row";
    link.href = `${kit.root}models/${entry.model.id}/index.html`;
    head.append(link);
    verdict.append(kit.verdict(entry.word));
    line.append(head, verdict, make("td", kit.gib(entry.total), "num"));
    return line;
  }
  function table(entries) {
    const box = make("div", null, "table");
    const table = make("table", null, "list");
    const head = make("thead");
    const titles = make("tr");
    const body = make("tbody");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", t("What fits on your card"));
    [
      [t("Model"), ""],
      [t("Verdict"), ""],
      [t("Needs"), "num"],
    ].forEach(title => {
      const cell = make("th", title[0], title[1]);
      cell.scope = "col";
      titles.append(cell);
    });
    head.append(titles);
    body.append(...entries.map(row));
    table.append(
      make(
        "caption",
        t("Weights, cache and compute buffer, before what the driver takes: {which} largest that fit", {
          which: named[0] ? t("the models of this page, then the") : t("the"),
        }),
      ),
      head,
      body,
    );
    box.append(table);
    return box;
  }
  function show() {
    const card = cards.filter(card => card[0] === select.value)[0];
    answer.replaceChildren();
    if (!card) return;
    const device = { room: card[2], backends: card[3] };
    const entries = runs.models
      .map(model => {
        const total = runs.need(model, QUANT, CONTEXT);
        return { model, total, word: total === null ? "" : runs.judge(model, QUANT, CONTEXT, device) };
      })
      .filter(entry => entry.total !== null);
    const own = entries.filter(entry => named.includes(entry.model.id));
    const fitting = entries.filter(entry => entry.word === "fits");
    const largest = fitting
      .filter(entry => own.indexOf(entry) < 0)
      .sort((a, b) => b.total - a.total)
      .slice(0, LARGEST);
    const line = make("p");
    const more = make("p", null, "small");
    const page = make("a", card[1]);
    const compute = make("a", t("Compute it at other settings"));
    line.append(
      t("In {quant} with {n} tokens of context ", { quant: runs.quants[QUANT], n: kit.whole(runs.contexts[CONTEXT]) }),
      make("strong", t("{n} of {all} models", { n: fitting.length, all: entries.length })),
      t(" fit."),
    );
    page.href = `${kit.root}hardware/${card[0]}/index.html`;
    compute.href = `${kit.root}will-it-run/index.html?gpu=${card[0]}`;
    more.append(compute, " · ", page);
    answer.append(line, table(own.concat(largest)), more);
  }
  select.addEventListener("change", () => {
    remember(select.value);
    show();
  });
  place.append(label, answer);
  select.value = remembered() || "";
  if (select.selectedIndex < 0) select.value = "";
  show();
})();
