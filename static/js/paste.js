// The paste box: finds the page for a pasted error. This script, the matcher and the tables are loaded on first use.
(() => {
  "use strict";
  const { t } = kbgen;
  const root = document.documentElement.dataset;
  const box = document.getElementById("paste-text");
  const out = document.getElementById("paste-out");
  if (!box) return;
  // The pause before a text is read, and the reading itself.
  let pause = 0;
  let reading = 0;
  let runs = 0;
  // Whether the reader asked for the answer, and is to be led to it. Typing takes that back.
  let requested = false;

  function load() {
    return Promise.all([root.match, root.readings, root.search, root.case, `${root.root}data/diagnose.js`].map(kbgen.load));
  }
  function make(name, text, kind) {
    const element = document.createElement(name);
    if (text) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  }
  // Port of format_figure in src/diagnosis/diagnosed_page.rs.
  function figure(name, value) {
    if (typeof value !== "number") return value;
    const counts = kbgen.tables.counts.some(word => name.includes(word));
    const mib = value / 1048576;
    if (mib < 1 || (counts && mib < 16)) return String(value);
    return mib < 1024 ? `${Math.floor(mib + 0.5)} MiB` : `${(Math.floor(mib / 10.24 + 0.5) / 100).toFixed(2)} GiB`;
  }
  function told(names, figures) {
    return names
      .filter(name => name in figures)
      .map(name => `${name.replace(/_/g, " ")} ${figure(name, figures[name])}`);
  }
  // What was asked against what was there, where a message gives both.
  function shortage(figures) {
    return kbgen.tables.pairs
      .filter(pair => figures[pair[0]] > figures[pair[1]])
      .slice(0, 1)
      .map(pair => t("{size} too much", { size: figure(pair[0], figures[pair[0]] - figures[pair[1]]) }));
  }
  // Port of conclusion in src/diagnosis/diagnosed_page.rs.
  function conclusion(cause, figures) {
    const toldOf = told(cause.names, figures).concat(shortage(figures));
    return `${cause.title.replace(/\.+$/, "").replace(/\x60/g, "") + (toldOf.length ? `: ${toldOf.join(", ")}` : "")}.`;
  }

  // Figures with their names; what the reading only derives for itself is not shown.
  function figureList(figures) {
    const list = make("dl");
    Object.keys(figures || {}).forEach(name => {
      if (name === "own" || name === "verdict") return;
      const pair = make("div");
      pair.appendChild(make("dt", name.replace(/_/g, " ")));
      pair.appendChild(make("dd", figure(name, figures[name])));
      list.appendChild(pair);
    });
    return list;
  }
  // A link to the calculator with what is known of the case; none where that is nothing to compute with.
  function calculatorLink(setting, total) {
    const model = kbgen.tables.models.filter(each => each[0] === setting.model)[0];
    if (!model && !(total > 1073741824)) return null;
    const line = make("p");
    const link = make(
      "a",
      model
        ? t("Does {model} fit?", { model: model[1] })
        : t("What fits into {size}?", { size: figure("total", total) }),
    );
    link.href = `${root.root}will-it-run/index.html#${new URLSearchParams(setting)}`;
    line.appendChild(link);
    return line;
  }

  // One found page: its title, the figures that were read, the cause they point to.
  function entry(page, match, brief) {
    const item = make("li");
    const link = make("a", page.title);
    link.href = root.root + page.href;
    const here = link.pathname === location.pathname;
    item.appendChild(link);
    if (here) item.appendChild(make("span", t(" this page"), "tags"));
    if (!match) return item;
    const cause = match.cause;
    const known = cause && page.causes && page.causes[cause];
    const carried = kbgen.caseFragment(cause ? `cause-${cause}` : "main", match.figures, match.setting, kbgen.tables);
    if (carried !== "#main") link.hash = carried;
    item.appendChild(make("p", page.description, "small"));
    if (known) item.appendChild(make("p", conclusion(known, match.figures), "why"));
    if (brief) return item;
    const where = make("p", t("Line {n}:", { n: match.line }), "small");
    where.appendChild(make("mark", match.quote));
    item.appendChild(where);
    const list = figureList(match.figures);
    if (list.firstChild) item.appendChild(list);
    if (page.first_command) {
      const first = make("p", t("First to try: "), "small");
      first.appendChild(make("code", page.first_command));
      item.appendChild(first);
    }
    const total = match.figures && match.figures.total;
    const fit = page.fits || total ? calculatorLink(match.setting, total) : null;
    if (fit) item.appendChild(fit);
    return item;
  }

  function ask(text) {
    const issues = box.closest(".paste").dataset.issues;
    if (!issues) return null;
    const line = make("p", null, "small");
    const link = make("a", t("Ask for a page about it"));
    const head = text.trim().split("\n").pop();
    link.href = `${issues + (issues.indexOf("?") < 0 ? "?" : "&")}title=${encodeURIComponent(
      kbgen.masked(head.slice(0, 200), 200).slice(0, 100),
    )}&body=${encodeURIComponent(`\`\`\`\n${kbgen.masked(text, 1500)}\n\`\`\``)}`;
    line.appendChild(link);
    line.appendChild(
      document.createTextNode(t(" (opens an issue; secrets and names are masked, read it before you send it)")),
    );
    return line;
  }

  // A link that opens this case: the lines around the first message, or the end of the text.
  function shared(text, first) {
    const lines = first
      ? text
          .split("\n")
          .slice(Math.max(0, first.line - 12), first.line + 8)
          .join("\n")
      : text;
    const line = make("p", null, "small");
    const link = make("a", t("A link to this case"));
    link.href = root.root + kbgen.caseAddress(lines, 1500);
    line.appendChild(link);
    line.appendChild(
      document.createTextNode(
        t(" (it carries the lines themselves, secrets and names masked; no server sees what stands after the #)"),
      ),
    );
    return line;
  }

  // What the log says where no page names the cause: sentences, next steps, and pages that apply.
  function readingList(readings) {
    const list = make("ul", null, "readings");
    readings.forEach(reading => {
      const item = make("li");
      item.appendChild(make("p", reading.says, "why"));
      item.appendChild(make("p", `${t("Line {n}:", { n: reading.line })} ${reading.next}`, "small"));
      reading.pages
        .filter(slug => kbgen.tables.pages[slug])
        .forEach(slug => {
          const link = make("a", kbgen.tables.pages[slug].title);
          link.href = root.root + kbgen.tables.pages[slug].href;
          item.appendChild(link);
        });
      list.appendChild(item);
    });
    return list;
  }

  // The line of a message, or what stands near it in a long one.
  function around(line, at) {
    return line
      .replace(SHAPELESS, "")
      .slice(Math.max(0, at - 40), at + 160)
      .trim();
  }

  // The end of a log says most, and an index of words needs no more.
  const NEAR_END = 262144;
  function show(text, found) {
    const tables = kbgen.tables;
    const known = found.filter(match => tables.pages[match.slug]);
    let exact = known.filter(match => !match.weak).slice(0, 5);
    const lines = exact.length ? text.split("\n") : [];
    exact.forEach(match => {
      match.quote = around(lines[match.line - 1], match.column - 1);
      match.setting = kbgen.settingInLog(text, match, tables);
    });
    // Port of rank_pages in src/diagnosis/search.rs: pages whose title is the question come first.
    const search = kbgen.search;
    const question = search.isQuestion(text);
    const titled = search.titled(tables.search, text);
    let whole = titled.filter(page => page.whole);
    const isWhole = match => whole.some(page => page.address === `errors/${match.slug}/`);
    exact = exact.filter(isWhole).concat(exact.filter(match => !isWhole(match)));
    whole = whole.filter(page => !exact.some(match => page.address === `errors/${match.slug}/`));
    let near = [];
    if (!exact.length) {
      near = /** @type {any[]} */ (titled.filter(page => !page.whole))
        .concat(
          known.map(match => ({ address: `errors/${match.slug}/`, title: tables.pages[match.slug].title, weak: true })),
        )
        .concat(
          (question ? found.begun : [])
            .filter(slug => tables.pages[slug])
            .map(slug => ({ address: `errors/${slug}/`, title: tables.pages[slug].title, begun: true })),
        )
        .concat(
          search(tables.search, text.slice(-NEAR_END), 5).filter(hit =>
            search.isSuggested(tables.search, hit, text.slice(-NEAR_END)),
          ),
        );
    }
    near = whole
      .concat(near)
      .filter((page, at, all) => all.findIndex(other => other.address === page.address) === at)
      .slice(0, 5);
    // Port of read_log in src/diagnosis/log_reading.rs.
    const isCause = match => tables.match.pages.some(page => page.slug === match.slug && page.kind === "cause");
    const end = text.slice(-NEAR_END);
    const readings =
      titled.length || exact.some(isCause)
        ? []
        : kbgen.readings(tables.match, found, end, text.slice(0, -end.length).split("\n").length - 1);
    const list = make("ol", null, "found");
    let read = "";
    const addNear = hit => {
      list.appendChild(entry({ title: hit.title, href: `${hit.address}index.html` }));
    };
    // Only a title goes before what signatures found.
    if (exact.length) near.forEach(addNear);
    exact.forEach(match => {
      const figures = match.line + JSON.stringify(match.figures);
      list.appendChild(entry(tables.pages[match.slug], match, figures === read));
      read = figures;
    });
    if (!exact.length) near.forEach(addNear);
    const say = exact.length
      ? exact.length === 1
        ? t("One page knows this message.")
        : t("{n} pages know this text, the most likely first.", { n: exact.length })
      : near.length && "whole" in near[0]
        ? t("No signature matches, but this is the title of a page.")
        : near.length && near[0].weak
          ? t("No known error was found. A message of these pages stands in the text, but says too little to be sure:")
          : near.length && near[0].begun
            ? t("No signature matches, but messages of these pages begin like this:")
            : near.length
              ? t("No page knows this exact message. These are only near it:")
              : t("Nothing here is a known error. If the log is healthy, that is the right answer.");
    if (!exact.length && readings.length) {
      out.replaceChildren(heading(t("No page matches this error. What the log says:")), readingList(readings));
      if (near.length) out.appendChild(make("p", say, "small"));
    } else out.replaceChildren(heading(say));
    if (found.skipped) {
      out.appendChild(
        make(
          "p",
          t("The signatures near line {n} take too many steps, and not all of them were tried.", { n: found.skipped }),
          "small",
        ),
      );
    }
    if (list.firstChild) out.appendChild(list);
    if (exact.length && readings.length) {
      out.appendChild(make("p", t("What the log says of the cause:"), "said"));
      out.appendChild(readingList(readings));
    }
    const more = exact.length ? null : ask(text);
    if (more) out.appendChild(more);
    if (list.firstChild || readings.length) out.appendChild(shared(text, exact[0]));
    reveal();
  }

  // The first line of the answer, which can have the focus.
  function heading(text) {
    const line = make("p", text, "said");
    line.tabIndex = -1;
    return line;
  }
  // Leads a reader who asked for it to the answer, unless they have moved on meanwhile. The style sheet says whether
  // the scrolling is smooth.
  function reveal() {
    const answer = out.querySelector("*");
    const active = document.activeElement;
    if (!requested || !answer) return;
    requested = false;
    // A heading has the focus only where a page was opened at it.
    if (active && active !== document.body && !active.matches("h1") && !box.closest(".paste").contains(active)) return;
    answer.focus({ preventScroll: true });
    const place = answer.getBoundingClientRect();
    if (place.top < 0 || place.bottom > innerHeight * 0.7) answer.scrollIntoView({ block: "start" });
  }

  // Works for a moment at a time, so that the page goes on.
  const MOMENT_MS = 12;
  function work(steps, done) {
    const until = performance.now() + MOMENT_MS;
    let step;
    do step = steps.next();
    while (!step.done && performance.now() < until);
    if (step.done) done(step.value);
    else reading = setTimeout(work, 0, steps, done);
  }
  function run() {
    clearTimeout(pause);
    clearTimeout(reading);
    const mine = ++runs;
    const text = held || box.value;
    if (!text.trim()) return out.replaceChildren();
    if (text.length > LARGE) {
      out.replaceChildren(make("p", t("Reading {size} \u2026", { size: figureOfLength(text.length) }), "said"));
    }
    load().then(
      () => {
        // While the tables were on their way another text may have come.
        if (mine === runs) {
          work(kbgen.match(kbgen.tables.match, text), found => {
            show(text, found);
          });
        }
      },
      () => {
        out.replaceChildren(heading(t("The tables could not be loaded. Try again.")));
        reveal();
      },
    );
  }

  // A box is slow with a long text, and with characters that have no shape: such a log is held aside and read whole,
  // and the box shows its end.
  const LARGE = 100000;
  const LONGEST = 8388608;
  // eslint-disable-next-line no-control-regex
  const SHAPELESS = /[\0-\x08\x0e-\x1f]/g;
  let held = "";
  function figureOfLength(length) {
    return length < 1048576 ? `${Math.ceil(length / 1024)} KiB` : `${(length / 1048576).toFixed(1)} MiB`;
  }
  function take(text) {
    held = text.slice(-LONGEST);
    box.value = held.slice(-10000).replace(SHAPELESS, "");
    run();
  }
  box.addEventListener("paste", event => {
    const text = event.clipboardData ? event.clipboardData.getData("text") : "";
    if (text.length <= LARGE && text.search(SHAPELESS) < 0) return;
    event.preventDefault();
    take(text);
  });
  box.addEventListener("drop", event => {
    const file = event.dataTransfer.files[0];
    if (!file) return;
    event.preventDefault();
    file
      .slice(Math.max(0, file.size - LONGEST))
      .text()
      .then(take);
  });

  // On the page of an error: the figures that the address carries, at the cause that it names; links to the calculator
  // begin with them. The address is nobody's word: what is shown of it are numbers, by names that the site knows.
  function showCarried() {
    const tables = kbgen.tables;
    const found = kbgen.readCaseFragment(location.hash, tables);
    const probe = make("a");
    const page = Object.keys(tables.pages)
      .map(slug => tables.pages[slug])
      .filter(page => {
        probe.href = root.root + page.href;
        return probe.pathname === location.pathname || probe.pathname.replace(/index\.html$/, "") === location.pathname;
      })[0];
    if (!found || !page) return;
    document.querySelectorAll(".carried").forEach(old => {
      old.remove();
    });
    document.querySelectorAll(".cause.named").forEach(old => {
      old.classList.remove("named");
    });
    const cause = document.querySelector(`.cause[id="${found.anchor}"]`);
    const id = found.anchor.replace(/^cause-/, "");
    const panel = make("div", null, "carried");
    const list = figureList(found.figures);
    const fit = calculatorLink(found.setting, found.figures.total);
    panel.tabIndex = -1;
    panel.setAttribute("role", "group");
    panel.setAttribute("aria-label", t("From your log"));
    panel.appendChild(make("p", t("From your log"), "label"));
    if (cause && Object.prototype.hasOwnProperty.call(page.causes, id)) {
      panel.appendChild(make("p", conclusion(page.causes[id], found.figures), "why"));
    }
    if (list.firstChild) panel.appendChild(list);
    if (fit) panel.appendChild(fit);
    if (cause) {
      cause.classList.add("named");
      cause.querySelector(".cause-title").after(panel);
    } else document.querySelector(".plate").appendChild(panel);
    document.querySelectorAll("main a[href]").forEach(link => {
      if (!out.contains(link) && /will-it-run\/(index\.html)?(#.*)?$/.test(link.getAttribute("href"))) {
        link.hash = String(new URLSearchParams(found.setting));
      }
    });
    panel.focus({ preventScroll: true });
    (cause || panel).scrollIntoView({ block: cause ? "start" : "nearest" });
  }

  // An address that carries a case.
  function opened() {
    if (/^#[\w-]+&/.test(location.hash)) {
      Promise.all([root.case, `${root.root}data/diagnose.js`].map(kbgen.load)).then(showCarried, () => {});
    }
    const found = /^#case=(.+)/.exec(location.hash);
    if (!found) return;
    try {
      box.value = decodeURIComponent(found[1]);
    } catch {
      return;
    }
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
  load().catch(() => {});
  // What came before the script did.
  if (box.value && !runs) run();

  box.addEventListener("input", () => {
    held = "";
    withdraw();
    clearTimeout(pause);
    pause = setTimeout(run, 250);
  });
  kbgen.findPage = () => {
    request();
    if (!(held || box.value).trim()) box.focus();
  };
  document.getElementById("paste-go").addEventListener("click", kbgen.findPage);

  // Down into the results, up and down among them, Escape back to the box.
  box.closest(".paste").addEventListener("keydown", event => {
    const links = [...out.querySelectorAll(".found li > a")];
    const at = links.indexOf(/** @type {PageElement} */ (document.activeElement));
    const inBox = event.target === box;
    if (event.key === "Enter" && inBox && (event.ctrlKey || event.metaKey)) request();
    else if (event.key === "Escape") {
      if (inBox) {
        held = box.value = "";
        run();
      } else box.focus();
    } else if (
      event.key === "ArrowDown" &&
      links.length &&
      (at >= 0 || (inBox && box.selectionStart === box.value.length) || document.activeElement === out.firstChild)
    ) {
      event.preventDefault();
      links[Math.min(at + 1, links.length - 1)].focus();
    } else if (event.key === "ArrowUp" && at >= 0) {
      event.preventDefault();
      (links[at - 1] || box).focus();
    }
  });
})();
