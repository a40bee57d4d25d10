// The paste box: finds the page for a pasted error. This script, the matcher and the tables are loaded on first use.
(function () {
  "use strict";
  var root = document.documentElement.dataset;
  var box = document.getElementById("paste-text");
  var out = document.getElementById("paste-out");
  if (!box) return;
  // The pause before a text is read, and the reading itself.
  var pause = 0, reading = 0, runs = 0;
  // Whether the reader asked for the answer, and is to be led to it. Typing takes that back.
  var requested = false;

  function load() {
    return Promise.all([root.match, root.search, root.case, root.root + "data/diagnose.js"].map(window.kbgenLoad));
  }
  function make(name, text, kind) {
    var element = document.createElement(name);
    if (text) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  }
  // Port of format_figure in src/diagnosis/diagnosed_page.rs.
  function figure(name, value) {
    if (typeof value !== "number") return value;
    var counts = window.kbgenTables.counts.some(function (word) { return name.indexOf(word) >= 0; });
    var mib = value / 1048576;
    if (mib < 1 || counts && mib < 16) return String(value);
    return mib < 1024 ? Math.floor(mib + 0.5) + " MiB" : (Math.floor(mib / 10.24 + 0.5) / 100).toFixed(2) + " GiB";
  }
  function told(names, figures) {
    return names.filter(function (name) { return name in figures; })
      .map(function (name) { return name.replace(/_/g, " ") + " " + figure(name, figures[name]); });
  }
  // What was asked against what was there, where a message gives both.
  function shortage(figures) {
    return window.kbgenTables.pairs.filter(function (pair) { return figures[pair[0]] > figures[pair[1]]; }).slice(0, 1)
      .map(function (pair) { return t("{size} too much", { size: figure(pair[0], figures[pair[0]] - figures[pair[1]]) }); });
  }
  // Port of conclusion in src/diagnosis/diagnosed_page.rs.
  function conclusion(cause, figures) {
    var told_of = told(cause.names, figures).concat(shortage(figures));
    return cause.title.replace(/\.+$/, "").replace(/\x60/g, "") + (told_of.length ? ": " + told_of.join(", ") : "") + ".";
  }

  // Figures with their names; what the reading only derives for itself is not shown.
  function figure_list(figures) {
    var list = make("dl");
    Object.keys(figures || {}).forEach(function (name) {
      if (name === "own" || name === "verdict") return;
      var pair = make("div");
      pair.appendChild(make("dt", name.replace(/_/g, " ")));
      pair.appendChild(make("dd", figure(name, figures[name])));
      list.appendChild(pair);
    });
    return list;
  }
  // A link to the calculator with what is known of the case; none where that is nothing to compute with.
  function calculator_link(setting, total) {
    var model = window.kbgenTables.models.filter(function (each) { return each[0] === setting.model; })[0];
    if (!model && !(total > 1073741824)) return null;
    var line = make("p"), link = make("a", model ? t("Does {model} fit?", { model: model[1] }) : t("What fits into {size}?", { size: figure("total", total) }));
    link.href = root.root + "will-it-run/index.html#" + new URLSearchParams(setting);
    line.appendChild(link);
    return line;
  }

  // One found page: its title, the figures that were read, the cause they point to.
  function entry(page, match, brief) {
    var item = make("li");
    var link = make("a", page.title);
    link.href = root.root + page.href;
    var here = link.pathname === location.pathname;
    item.appendChild(link);
    if (here) item.appendChild(make("span", t(" this page"), "tags"));
    if (!match) return item;
    var cause = match.cause;
    var known = cause && page.causes && page.causes[cause];
    var carried = window.kbgenCarry(cause ? "cause-" + cause : "main", match.figures, match.setting, window.kbgenTables);
    if (carried !== "#main") link.hash = carried;
    item.appendChild(make("p", page.description, "small"));
    if (known) item.appendChild(make("p", conclusion(known, match.figures), "why"));
    if (brief) return item;
    var where = make("p", t("Line {n}:", { n: match.line }), "small");
    where.appendChild(make("mark", match.quote));
    item.appendChild(where);
    var list = figure_list(match.figures);
    if (list.firstChild) item.appendChild(list);
    if (page.first_command) {
      var first = make("p", t("First to try: "), "small");
      first.appendChild(make("code", page.first_command));
      item.appendChild(first);
    }
    var total = match.figures && match.figures.total, fit = page.fits || total ? calculator_link(match.setting, total) : null;
    if (fit) item.appendChild(fit);
    return item;
  }

  function ask(text) {
    var issues = box.closest(".paste").dataset.issues;
    if (!issues) return null;
    var line = make("p", null, "small");
    var link = make("a", t("Ask for a page about it"));
    var head = text.trim().split("\n").pop();
    link.href = issues + (issues.indexOf("?") < 0 ? "?" : "&") + "title=" + encodeURIComponent(window.kbgenMasked(head.slice(0, 200), 200).slice(0, 100)) +
      "&body=" + encodeURIComponent("```\n" + window.kbgenMasked(text, 1500) + "\n```");
    line.appendChild(link);
    line.appendChild(document.createTextNode(t(" (opens an issue; secrets and names are masked, read it before you send it)")));
    return line;
  }

  // A link that opens this case: the lines around the first message, or the end of the text.
  function shared(text, first) {
    var lines = first ? text.split("\n").slice(Math.max(0, first.line - 12), first.line + 8).join("\n") : text;
    var line = make("p", null, "small");
    var link = make("a", t("A link to this case"));
    link.href = root.root + window.kbgenCase(lines, 1500);
    line.appendChild(link);
    line.appendChild(document.createTextNode(t(" (it carries the lines themselves, secrets and names masked; no server sees what stands after the #)")));
    return line;
  }

  // The line of a message, or what stands near it in a long one.
  function around(line, at) {
    return line.replace(SHAPELESS, "").slice(Math.max(0, at - 40), at + 160).trim();
  }

  // The end of a log says most, and an index of words needs no more.
  var NEAR_END = 262144;
  function show(text, found) {
    var tables = window.kbgenTables;
    var known = found.filter(function (match) { return tables.pages[match.slug]; });
    var exact = known.filter(function (match) { return !match.weak; }).slice(0, 5);
    var lines = exact.length ? text.split("\n") : [];
    exact.forEach(function (match) {
      match.quote = around(lines[match.line - 1], match.column - 1);
      match.setting = window.kbgenSetting(text, match, tables);
    });
    // Port of rank_pages in src/diagnosis/search.rs: pages whose title is the question come first.
    var search = window.kbgenSearch, question = search.isQuestion(text), titled = search.titled(tables.search, text);
    var whole = titled.filter(function (page) { return page.whole; });
    var is_whole = function (match) { return whole.some(function (page) { return page.address === "errors/" + match.slug + "/"; }); };
    exact = exact.filter(is_whole).concat(exact.filter(function (match) { return !is_whole(match); }));
    whole = whole.filter(function (page) { return !exact.some(function (match) { return page.address === "errors/" + match.slug + "/"; }); });
    var near = [];
    if (!exact.length) {
      near = titled.filter(function (page) { return !page.whole; })
        .concat(known.map(function (match) { return { address: "errors/" + match.slug + "/", title: tables.pages[match.slug].title, weak: true }; }))
        .concat((question ? found.begun : []).filter(function (slug) { return tables.pages[slug]; }).map(function (slug) { return { address: "errors/" + slug + "/", title: tables.pages[slug].title, begun: true }; }))
        .concat(search(tables.search, text.slice(-NEAR_END), 5).filter(function (hit) { return hit.share >= (question ? tables.near_question : tables.near); }));
    }
    near = whole.concat(near).filter(function (page, at, all) { return all.findIndex(function (other) { return other.address === page.address; }) === at; }).slice(0, 5);
    var list = make("ol", null, "found");
    var read = "";
    var add_near = function (hit) { list.appendChild(entry({ title: hit.title, href: hit.address + "index.html" })); };
    // Only a title goes before what signatures found.
    if (exact.length) near.forEach(add_near);
    exact.forEach(function (match) {
      var figures = match.line + JSON.stringify(match.figures);
      list.appendChild(entry(tables.pages[match.slug], match, figures === read));
      read = figures;
    });
    if (!exact.length) near.forEach(add_near);
    var say = exact.length ? (exact.length === 1 ? t("One page knows this message.") : t("{n} pages know this text, the most likely first.", { n: exact.length }))
      : near.length && "whole" in near[0] ? t("No signature matches, but this is the title of a page.")
      : near.length && near[0].weak ? t("No known error was found. A message of these pages stands in the text, but says too little to be sure:")
      : near.length && near[0].begun ? t("No signature matches, but messages of these pages begin like this:")
      : near.length ? t("No page knows this exact message. These are only near it:") : t("Nothing here is a known error. If the log is healthy, that is the right answer.");
    out.replaceChildren(heading(say));
    if (found.skipped) out.appendChild(make("p", t("The signatures near line {n} take too many steps, and not all of them were tried.", { n: found.skipped }), "small"));
    if (list.firstChild) out.appendChild(list);
    var more = exact.length ? null : ask(text);
    if (more) out.appendChild(more);
    if (list.firstChild) out.appendChild(shared(text, exact[0]));
    reveal();
  }

  // The first line of the answer, which can have the focus.
  function heading(text) {
    var line = make("p", text, "said");
    line.tabIndex = -1;
    return line;
  }
  // Leads a reader who asked for it to the answer, unless they have moved on meanwhile. The style sheet says whether the
  // scrolling is smooth.
  function reveal() {
    var answer = out.firstChild, active = document.activeElement;
    if (!requested || !answer) return;
    requested = false;
    // A heading has the focus only where a page was opened at it.
    if (active && active !== document.body && !active.matches("h1") && !box.closest(".paste").contains(active)) return;
    answer.focus({ preventScroll: true });
    var place = answer.getBoundingClientRect();
    if (place.top < 0 || place.bottom > innerHeight * 0.7) answer.scrollIntoView({ block: "start" });
  }

  // Works for a moment at a time, so that the page goes on.
  var MOMENT_MS = 12;
  function work(steps, done) {
    var until = performance.now() + MOMENT_MS, step;
    do step = steps.next(); while (!step.done && performance.now() < until);
    if (step.done) done(step.value);
    else reading = setTimeout(work, 0, steps, done);
  }
  function run() {
    clearTimeout(pause);
    clearTimeout(reading);
    var mine = ++runs, text = held || box.value;
    if (!text.trim()) return out.replaceChildren();
    if (text.length > LARGE) out.replaceChildren(make("p", t("Reading {size} \u2026", { size: figure_of_length(text.length) }), "said"));
    load().then(function () {
      // While the tables were on their way another text may have come.
      if (mine === runs) work(window.kbgenMatch(window.kbgenTables.match, text), function (found) { show(text, found); });
    }, function () { out.replaceChildren(heading(t("The tables could not be loaded. Try again."))); reveal(); });
  }

  // A box is slow with a long text, and with characters that have no shape: such a log is held aside and read whole,
  // and the box shows its end.
  var LARGE = 100000, LONGEST = 8388608, SHAPELESS = /[\0-\x08\x0e-\x1f]/g;
  var held = "";
  function figure_of_length(length) { return length < 1048576 ? Math.ceil(length / 1024) + " KiB" : (length / 1048576).toFixed(1) + " MiB"; }
  function take(text) {
    held = text.slice(-LONGEST);
    box.value = held.slice(-10000).replace(SHAPELESS, "");
    run();
  }
  box.addEventListener("paste", function (event) {
    var text = event.clipboardData ? event.clipboardData.getData("text") : "";
    if (text.length <= LARGE && text.search(SHAPELESS) < 0) return;
    event.preventDefault();
    take(text);
  });
  box.addEventListener("drop", function (event) {
    var file = event.dataTransfer.files[0];
    if (!file) return;
    event.preventDefault();
    file.slice(Math.max(0, file.size - LONGEST)).text().then(take);
  });

  // On the page of an error: the figures that the address carries, at the cause that it names; links to the calculator
  // begin with them. The address is nobody's word: what is shown of it are numbers, by names that the site knows.
  function show_carried() {
    var tables = window.kbgenTables, found = window.kbgenCarried(location.hash, tables), probe = make("a");
    var page = Object.keys(tables.pages).map(function (slug) { return tables.pages[slug]; }).filter(function (page) {
      probe.href = root.root + page.href;
      return probe.pathname === location.pathname || probe.pathname.replace(/index\.html$/, "") === location.pathname;
    })[0];
    if (!found || !page) return;
    document.querySelectorAll(".carried").forEach(function (old) { old.remove(); });
    document.querySelectorAll(".cause.named").forEach(function (old) { old.classList.remove("named"); });
    var cause = document.querySelector(".cause[id=\"" + found.anchor + "\"]"), id = found.anchor.replace(/^cause-/, "");
    var panel = make("div", null, "carried"), list = figure_list(found.figures), fit = calculator_link(found.setting, found.figures.total);
    panel.tabIndex = -1;
    panel.setAttribute("role", "group");
    panel.setAttribute("aria-label", t("From your log"));
    panel.appendChild(make("p", t("From your log"), "label"));
    if (cause && Object.prototype.hasOwnProperty.call(page.causes, id)) panel.appendChild(make("p", conclusion(page.causes[id], found.figures), "why"));
    if (list.firstChild) panel.appendChild(list);
    if (fit) panel.appendChild(fit);
    if (cause) {
      cause.classList.add("named");
      cause.querySelector(".cause-title").after(panel);
    } else document.querySelector(".plate").appendChild(panel);
    document.querySelectorAll("main a[href]").forEach(function (link) {
      if (!out.contains(link) && /will-it-run\/(index\.html)?(#.*)?$/.test(link.getAttribute("href"))) link.hash = new URLSearchParams(found.setting);
    });
    panel.focus({ preventScroll: true });
    (cause || panel).scrollIntoView({ block: cause ? "start" : "nearest" });
  }

  // An address that carries a case.
  function opened() {
    if (/^#[\w-]+&/.test(location.hash)) Promise.all([root.case, root.root + "data/diagnose.js"].map(window.kbgenLoad)).then(show_carried, function () {});
    var found = /^#case=(.+)/.exec(location.hash);
    if (!found) return;
    try { box.value = decodeURIComponent(found[1]); } catch (error) { return; }
    held = "";
    request();
  }
  // The focus reads the answer aloud: the live region would do it a second time.
  function request() {
    requested = true;
    out.setAttribute("aria-live", "off");
    run();
  }
  function withdraw() {
    requested = false;
    out.setAttribute("aria-live", "polite");
  }
  addEventListener("hashchange", opened);
  opened();
  load().catch(function () {});
  // What came before the script did.
  if (box.value && !runs) run();

  box.addEventListener("input", function () { held = ""; withdraw(); clearTimeout(pause); pause = setTimeout(run, 250); });
  window.kbgenFindPage = function () {
    request();
    if (!(held || box.value).trim()) box.focus();
  };
  document.getElementById("paste-go").addEventListener("click", window.kbgenFindPage);

  // Down into the results, up and down among them, Escape back to the box.
  box.closest(".paste").addEventListener("keydown", function (event) {
    var links = Array.prototype.slice.call(out.querySelectorAll(".found li > a"));
    var at = links.indexOf(document.activeElement);
    var in_box = event.target === box;
    if (event.key === "Enter" && in_box && (event.ctrlKey || event.metaKey)) request();
    else if (event.key === "Escape") { if (in_box) { held = box.value = ""; run(); } else box.focus(); }
    else if (event.key === "ArrowDown" && links.length && (at >= 0 || in_box && box.selectionStart === box.value.length || document.activeElement === out.firstChild)) { event.preventDefault(); links[Math.min(at + 1, links.length - 1)].focus(); }
    else if (event.key === "ArrowUp" && at >= 0) { event.preventDefault(); (links[at - 1] || box).focus(); }
  });
})();
