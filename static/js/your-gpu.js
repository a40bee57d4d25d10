// Models that fit on the reader's own GPU: looks up data/runs.js. No estimates here. The choice is stored in this
// browser only.
(() => {
  "use strict";
  const { t } = kbgen;
  const kit = kbgen.tools;
  const el = kit.el;
  const runs = kit.runs();
  const devices = kbgen.devices;
  const QUANT = runs.quants.indexOf(runs.quant);
  const CONTEXT = runs.contexts.indexOf(runs.ctx);
  const LARGEST = 6;
  const place = document.querySelector(".your-gpu");
  const named = place.dataset.models.split(" ");
  if (!devices.length || QUANT < 0 || CONTEXT < 0) return;

  const label = el("label", t("Your GPU "));
  const select = el("select");
  const answer = el("div");
  label.append(select);
  select.append(kit.option("", t("Select…")));
  devices.forEach(entry => {
    select.append(kit.option(entry[0], entry[1]));
  });
  answer.setAttribute("aria-live", "polite");

  function row(entry) {
    const line = el("tr");
    const head = el("th");
    const link = el("a", entry.model.name);
    const verdict = el("td");
    head.scope = "row";
    link.href = `${kit.root}models/${entry.model.id}/index.html`;
    head.append(link);
    verdict.append(kit.verdict(entry.word));
    line.append(head, verdict, el("td", kit.gib(entry.total), "num"));
    return line;
  }
  function table(entries) {
    const box = el("div", null, "table");
    const table = el("table", null, "list");
    const head = el("thead");
    const titles = el("tr");
    const body = el("tbody");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", t("What fits on your GPU"));
    [
      [t("Model"), ""],
      [t("Verdict"), ""],
      [t("Needs"), "num"],
    ].forEach(title => {
      const cell = el("th", title[0], title[1]);
      cell.scope = "col";
      titles.append(cell);
    });
    head.append(titles);
    body.append(...entries.map(row));
    table.append(
      el(
        "caption",
        t("Weights, cache and compute buffer, without driver overhead: {which} largest models that fit", {
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
    const device = devices.filter(entry => entry[0] === select.value)[0];
    answer.replaceChildren();
    if (!device) return;
    const [id, name, room, backends] = device;
    const entries = runs.models
      .map(model => {
        const total = runs.need(model, QUANT, CONTEXT);
        return { model, total, word: total === null ? "" : runs.judge(model, QUANT, CONTEXT, { room, backends }) };
      })
      .filter(entry => entry.total !== null);
    const own = entries.filter(entry => named.includes(entry.model.id));
    const fitting = entries.filter(entry => entry.word === "fits");
    const largest = fitting
      .filter(entry => own.indexOf(entry) < 0)
      .sort((a, b) => b.total - a.total)
      .slice(0, LARGEST);
    const line = el("p");
    const more = el("p", null, "small");
    const page = el("a", name);
    const compute = el("a", t("Calculate with other settings"));
    line.append(
      t("In {quant} with {n} tokens of context ", { quant: runs.quants[QUANT], n: kit.whole(runs.contexts[CONTEXT]) }),
      el("strong", t("{n} of {all} models", { n: fitting.length, all: entries.length })),
      t(" fit."),
    );
    page.href = `${kit.root}hardware/${id.split("@")[0]}/index.html`;
    compute.href = `${kit.root}will-it-run/index.html?gpu=${id}${named[0] ? `&model=${named[0]}` : ""}`;
    more.append(compute, " · ", page);
    answer.append(line, table(own.concat(largest)), more);
  }
  select.addEventListener("change", () => {
    kbgen.rememberDevice(select.value);
    show();
  });
  place.append(label, answer);
  // A device without a memory size is the one with the largest.
  const own = kbgen.ownDevice();
  const known = devices.map(entry => entry[0]).filter(id => id === own || (own && id.indexOf(`${own}@`) === 0));
  select.value = known.length ? known[known.length - 1] : "";
  show();
})();
