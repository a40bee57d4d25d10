// Diagnosis: finds the pages for a pasted error. This script, the matcher and the tables are loaded on first use.
(() => {
  "use strict";
  const { t } = kbgen;
  // Words of the question whether a model fits into a memory.
  const FITS = t("run runs fit fits vram need needs").split(" ");
  const GIB = 1073741824;
  const root = document.documentElement.dataset;
  const box = document.getElementById("paste-text");
  const out = document.getElementById("paste-out");
  const status = document.getElementById("kbgen-paste-status");
  if (!box) return;
  // Timer before matching starts, and the current run.
  let pause = 0;
  let reading = 0;
  let runs = 0;
  // Whether the reader pressed the button, so that the result is scrolled into view. Typing resets it.
  let requested = false;

  function load() {
    return Promise.all(
      [root.match, root.readings, root.search, root.case, `${root.root}data/diagnose.js`].map(kbgen.load),
    ).then(numberPatterns);
  }
  const CATALOG = "data/catalog.js";
  // What finds pages by their names; the single file has the script already.
  const NAMES = [CATALOG, "data/search.js"].concat(root.names ? root.names.slice(root.root.length) : []);
  function tell(text) {
    out.textContent = status.textContent = text;
  }
  // The signatures of a whole table have the distance of each pattern from the first one that no signature before has.
  function numberPatterns() {
    const table = kbgen.tables.match;
    let next = 0;
    const numbers = list => list && list.map(distance => (distance ? next - distance : next++));
    table.pages =
      table.pages ||
      table.pages_by_distance.map((page, at) => ({
        slug: table.slugs[at],
        ...page,
        signatures: page.signatures.map(signature => ({
          ...signature,
          all: numbers(signature.all),
          not: numbers(signature.not),
          not_on_line: numbers(signature.not_on_line),
        })),
      }));
  }
  function el(name, text, kind) {
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
    if (mib < 1 || (counts && mib < 16) || name.includes("code")) return String(value);
    return mib < 1024 ? `${Math.floor(mib + 0.5)} MiB` : `${(Math.floor(mib / 10.24 + 0.5) / 100).toFixed(2)} GiB`;
  }
  // Figures whose names in conditions are no words for readers.
  const LABELS = {
    arch: t("architecture"),
    estimate: t("longest length that fits"),
    have: t("available"),
    kv_tokens: t("tokens that fit"),
    need: t("needed"),
    __proto__: null,
  };
  const labelOf = name => (name in LABELS ? LABELS[name] : name.replace(/_/g, " "));
  function told(names, figures) {
    return names.filter(name => name in figures).map(name => `${labelOf(name)} ${figure(name, figures[name])}`);
  }
  // The difference between requested and available memory, if a message contains both.
  function shortage(figures) {
    return kbgen.tables.pairs
      .filter(pair => figures[pair[0]] > figures[pair[1]])
      .slice(0, 1)
      .map(pair => t("{size} missing", { size: figure(pair[0], figures[pair[0]] - figures[pair[1]]) }));
  }
  // Port of conclusion in src/diagnosis/diagnosed_page.rs.
  function conclusion(cause, figures) {
    const toldOf = told(cause.names, figures).concat(shortage(figures));
    return `${cause.title.replace(/\.+$/, "").replace(/\x60/g, "") + (toldOf.length ? `: ${toldOf.join(", ")}` : "")}.`;
  }

  // Figures with their labels, without intermediate ones, those whose name is a letter, and those already shown.
  function figureList(figures, shown = []) {
    const list = el("dl");
    Object.keys(figures || {}).forEach(name => {
      if (name === "own" || name === "verdict" || name.length < 2) return;
      if (figures[name] === "" || figures[name] === "unknown") return;
      if (shown.includes(name)) return;
      const pair = el("div");
      pair.appendChild(el("dt", labelOf(name)));
      pair.appendChild(el("dd", figure(name, figures[name])));
      list.appendChild(pair);
    });
    return list;
  }
  // A link to the calculator with the settings of the case; null if there are none.
  function calculatorLink(setting, total) {
    const { models } = kbgen.catalog;
    const model = models.find(each => kbgen.slugOf(each) === setting.model);
    if (!models.length || (!model && !(total > GIB))) return null;
    const line = el("p");
    const link = el(
      "a",
      model
        ? t("Does {model} fit?", { model: model[0] })
        : t("What fits into {size}?", { size: figure("total", total) }),
    );
    link.href = `${root.root}will-it-run/index.html#${new URLSearchParams(setting)}`;
    line.appendChild(link);
    return line;
  }

  // A question is at most this long if the search answers it too; longer text is a message.
  const TYPED = 60;
  const isTyped = text => text.trim().length <= TYPED && !/[\n_={}[\]<>"\\]/.test(text.trim());
  const wordsOf = text => text.toLowerCase().match(/[\p{L}\d.]+/gu) || [];
  // The device that a question names: the one of whose title it has the most words, then the shortest title. The
  // catalog has the memory of its largest version.
  function deviceIn(words, pages, gib) {
    const said = words.concat(words.some(word => word === "laptop" || word === "notebook") ? "mobile" : []);
    const isModelNumber = part => /\d/.test(part) && !/^\d{1,2}$/.test(part);
    const known = pages
      .map(page => kbgen.catalog.devices.find(each => page.address === `hardware/${kbgen.slugOf(each)}/`))
      .filter(each => each && each[1] >= gib * GIB)
      .map(device => {
        const parts = wordsOf(device[0]);
        return { device, parts, shared: parts.filter(part => said.includes(part)) };
      })
      .filter(each => each.shared.some(isModelNumber));
    const order = (a, b) =>
      b.shared.length - a.shared.length || a.parts.length - b.parts.length || a.device[1] - b.device[1];
    return known.length ? known.sort(order)[0].device : null;
  }
  // Links to the calculator for the models of a question such as "will llama 3 70b run on 24gb". Null for other text,
  // and if the memory is that of a computer without a known GPU.
  function fitAnswer(text, pages) {
    const words = wordsOf(text);
    if (!words.some(word => FITS.includes(word)) || !/\d ?g?i?b\b/i.test(text)) return null;
    const models = pages.filter(page => page.address.startsWith("models/"));
    const best = models.filter(page => page.worth > models[0].worth - 0.05);
    const amount = form => Number((form.exec(text) || [])[1] || 0);
    const ram = amount(/(\d+) ?gi?b (?:of )?ram\b/i);
    const gib = amount(/(\d+) ?gi?b\b(?! (?:of )?ram\b)/i);
    const device = deviceIn(words, pages, gib);
    const isComputer = ram || /\b(?:mac|macbook|imac|cpu|(?:no|without(?: an?)?) gpu)\b/i.test(text);
    if (!device && isComputer) return null;
    const gpu = device && kbgen.slugOf(device) + (gib ? `@${gib}` : "");
    const place = device ? { gpu } : gib && { mem: gib * GIB };
    const list = el("ol", null, "found");
    // A size that many models have names none of them.
    best.slice(0, best.length > 5 ? 0 : 3).forEach(page => {
      const setting = { model: page.address.split("/")[1], ...place, ...(ram && { ram }) };
      const link = calculatorLink(setting, 0);
      if (link) list.appendChild(el("li")).append(...link.childNodes);
    });
    return list.firstChild ? list : null;
  }

  // A command with the figures and the file of the log in place of the example.
  function filled(command, { figures, file }) {
    let text = command;
    if (figures.estimate > 0) text = text.replace(/(--max-model-len )\d+/, `$1${figures.estimate}`);
    return file ? text.replace(/\bmodel\.gguf\b/, () => file) : text;
  }

  // The command to try first, with a button that copies it.
  function addFirstStep(item, command) {
    if (!command) return;
    item.appendChild(el("p", t("Try first: "), "small"));
    const block = item.appendChild(el("div", null, "code"));
    const pre = block.appendChild(el("pre"));
    pre.tabIndex = 0;
    pre.appendChild(el("code", command));
    kbgen.offerCopy(block);
  }

  const fileOf = slug => `errors/${slug}/index.html`;
  // The files with the texts of pages that are not loaded, and the catalog.
  function missingTexts(slugs) {
    const { parts } = kbgen.tables.match;
    if (!slugs.length) return [];
    const files = kbgen.catalog ? [] : [CATALOG];
    if (!parts) return kbgen.pageTexts ? files : ["data/page-texts.js", ...files];
    const missing = slugs
      .map(slug => parts.slugs.findLastIndex(first => first <= slug))
      .filter(part => part >= 0 && !parts.pages[part]);
    return [...new Set(missing)].map(part => parts.files.pages[part]).concat(files);
  }
  // A result: title of the page, figures, and the cause that they indicate.
  function entry(page, match, brief) {
    const item = el("li");
    const link = el("a", page.title);
    link.href = root.root + page.href;
    const here = link.pathname === location.pathname;
    item.appendChild(link);
    if (here) item.appendChild(el("span", t(" this page"), "tags"));
    if (!match) {
      if (page.description) item.appendChild(el("p", page.description, "small"));
      if (page.first_commands) addFirstStep(item, page.first_commands[""]);
      return item;
    }
    const cause = match.cause;
    const known = cause && page.causes && page.causes[cause];
    const carried = kbgen.caseFragment(cause ? `cause-${cause}` : "main", match.figures, match.setting, kbgen.tables);
    if (carried !== "#main") link.hash = carried;
    item.appendChild(el("p", page.description, "small"));
    if (known) item.appendChild(el("p", conclusion(known, match.figures), "why"));
    if (brief) return item;
    const where = el("p", t("Line {n}:", { n: match.line }), "small");
    where.appendChild(el("mark", match.quote));
    item.appendChild(where);
    const list = figureList(match.figures, known ? known.names : []);
    if (list.firstChild) item.appendChild(list);
    const command = page.first_commands[known ? cause : ""];
    addFirstStep(item, command && filled(command, match));
    const total = match.figures && match.figures.total;
    const fit = page.fits || total ? calculatorLink(match.setting, total) : null;
    if (fit) item.appendChild(fit);
    return item;
  }

  function ask(text) {
    const issues = box.closest(".paste").dataset.issues;
    if (!issues) return null;
    const line = el("p", null, "small");
    const link = el("a", t("Request a page for it"));
    const head = text.trim().split("\n").pop();
    const title = kbgen.masked(head.slice(0, 200), 200).slice(0, 100);
    const body = `\`\`\`\n${kbgen.masked(text, 1500)}\n\`\`\``;
    const values = { "{title}": title, "{body}": body };
    link.href = issues.replace(/\{title\}|\{body\}/g, hole => kbgen.encoded(values[hole]));
    line.appendChild(link);
    line.appendChild(
      document.createTextNode(t(" (opens an issue; secrets and names are masked; review it before you submit)")),
    );
    return line;
  }

  // What to search for: a short text, or of a log the line that a reading explains or the last one.
  function searchable(text, reading) {
    const lines = text.trim().split("\n");
    const line = reading && text.split("\n")[reading.line - 1];
    return (line || lines[lines.length - 1]).replace(SHAPELESS, "").trim().slice(0, 100);
  }
  // A link to the search, for a question or a few words. The address sends nothing to the host.
  function searched(text) {
    const line = el("p");
    const link = el("a", t("Search all pages for this text"));
    link.href = `${root.root}search/index.html#q=${kbgen.encoded(text.trim())}`;
    line.appendChild(link);
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
    const line = el("p", null, "small");
    const link = el("a", t("Link to this case"));
    link.href = root.root + kbgen.caseAddress(lines, 1500);
    // An address on this machine opens for nobody else.
    if (link.protocol === "file:") return null;
    line.appendChild(link);
    line.appendChild(
      document.createTextNode(
        t(" (contains the lines, with secrets and names masked; servers do not see the part after #)"),
      ),
    );
    return line;
  }

  // What the log says if no page names the cause: sentences, next steps, and pages that apply.
  function readingList(readings, text, listed) {
    const hasLines = text.trim().includes("\n");
    const list = el("ul", null, "readings");
    readings.forEach(reading => {
      const item = el("li");
      const where = hasLines ? `${t("Line {n}:", { n: reading.line })} ` : "";
      item.appendChild(el("p", where + reading.says, "why"));
      item.appendChild(el("p", reading.next, "small"));
      reading.pages
        .filter(slug => kbgen.pageTexts[slug] && !listed.includes(slug))
        .forEach(slug => {
          const link = el("a", kbgen.pageTexts[slug].title);
          link.href = root.root + fileOf(slug);
          item.appendChild(el("p")).appendChild(link);
        });
      list.appendChild(item);
    });
    return list;
  }

  // Sequences of a terminal, other unprintable characters, and those that reverse a text.
  const SHAPELESS =
    // eslint-disable-next-line no-control-regex
    /\x1b(?:\[[\d;?: ]*[@-~]?|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\))?|[\0-\x08\x0e-\x1f\u202a-\u202e\u2066-\u2069]/g;
  // The line of a message, shortened around the match to whole words.
  function around(line, at) {
    const before = line.slice(0, at).replace(SHAPELESS, "").trimStart();
    const after = line.slice(at).replace(SHAPELESS, "").trimEnd();
    const start = before.length > 40 ? `…${before.slice(-40).replace(/^\S*\s+/, "")}` : before;
    const end = after.length > 160 ? `${after.slice(0, 160).replace(/\s+\S*$/, "")}…` : after;
    return start + end;
  }

  // The name of an error page by its address; empty for other pages.
  const slugOf = ({ address }) => (/^errors\/([^/]+)\/$/.exec(address) || ["", ""])[1];
  // Minimum share of a page for the first line of a post, which is only a part of it.
  const MIN_POST_SHARE = 80;
  // The questions in a text, as in text_search.rs: the text itself, or of a short post the first line, such as a title,
  // and other sentences; `searched` is the one that similar pages are searched for.
  function questions(text, { isQuestion }) {
    if (isQuestion(text)) return { titles: [text], searched: [text] };
    const lines = text
      .split("\n")
      .map(line => line.trim())
      .filter(Boolean);
    if (lines.length > 3 || !lines.every(isQuestion)) return { titles: [], searched: [] };
    const isSentence = line => line.includes(" ") && !/[={}[\]<>"\\]|: /.test(line);
    const titles = lines.filter((line, at) => !at || isSentence(line));
    return { titles, searched: titles.slice(0, titles.length < lines.length ? 0 : 1) };
  }

  // The end of a log is the most relevant.
  const NEAR_END = 262144;
  function show(text, found, mine) {
    const tables = kbgen.tables;
    // Shows the result again once these files are loaded.
    const lacks = files => {
      if (files.length) {
        loadParts(files, mine, () => {
          show(text, found, mine);
        });
      }
      return files.length > 0;
    };
    // Port of rank_pages in src/diagnosis/search.rs: pages whose title is the question come first.
    const search = kbgen.search;
    const question = search.isQuestion(text);
    const index = kbgen.similar;
    let exact = found.filter(match => !match.weak).slice(0, 5);
    const asked = question || !exact.length ? questions(text, search) : { titles: [], searched: [] };
    const weak = exact.length ? [] : found.slice(0, 5).map(match => match.slug);
    // A few words are a question to the search, which orders the pages whose messages begin with them.
    const typed = question && !exact.length && isTyped(text);
    if (typed && lacks(kbgen.pages && kbgen.names && kbgen.catalog ? [] : NAMES)) return;
    const named = typed && kbgen.pages ? kbgen.names(kbgen.pages, text) : { pages: [], missing: [] };
    if (lacks(named.missing)) return;
    const order = named.pages.map(page => page.address);
    const place = slug => (order.indexOf(`errors/${slug}/`) + 1 || order.length + 1) - 1;
    const begun = question && !exact.length ? [...found.begun].sort((a, b) => place(a) - place(b)).slice(0, 5) : [];
    const used = exact.map(match => match.slug).concat(weak, begun);
    if (lacks((asked.titles.length && !index ? ["data/similar.js"] : []).concat(missingTexts(used)))) return;
    const texts = kbgen.pageTexts;
    const lines = exact.length ? text.split("\n") : [];
    exact.forEach(match => {
      match.quote = around(lines[match.line - 1], match.column - 1);
      match.setting = kbgen.settingInLog(text, match, kbgen.catalog);
      match.file = kbgen.fileInLog(lines, match.line);
    });
    const titled = asked.titles.flatMap(each => search.titled(index, each));
    let whole = titled.filter(page => page.whole);
    const isWhole = match => whole.some(page => page.address === `errors/${match.slug}/`);
    exact = exact.filter(isWhole).concat(exact.filter(match => !isWhole(match)));
    whole = whole.filter(page => !exact.some(match => page.address === `errors/${match.slug}/`));
    let near = [];
    const isSame = page => other => other.address === page.address;
    const isSuggested = (hit, each) =>
      search.isSuggested(index, hit, each) && (question || hit.share >= MIN_POST_SHARE);
    if (!exact.length) {
      near = /** @type {any[]} */ (titled.filter(page => !page.whole))
        .concat(weak.map(slug => ({ address: `errors/${slug}/`, title: texts[slug].title, weak: true })))
        .concat(begun.map(slug => ({ address: `errors/${slug}/`, title: texts[slug].title, begun: true })))
        .concat(asked.searched.flatMap(each => search(index, each, 5).filter(hit => isSuggested(hit, each))));
    }
    if (index && lacks(search.missing(index))) return;
    // Models, devices and terms with this name: errors that share words with it come later.
    const own = named.pages.filter(page => page.named > 1 && !page.isError).slice(0, 2);
    near = whole
      .concat(own, near)
      .filter((page, at, all) => all.findIndex(isSame(page)) === at)
      .slice(0, 5);
    // Port of read_log in src/diagnosis/log_reading.rs.
    const kindOf = match => (tables.match.pages.find(page => page && page.slug === match.slug) || {}).kind;
    const isCause = match => !match.brief && kindOf(match) === "cause";
    const tail = text.slice(-NEAR_END);
    const causes = exact.filter(isCause);
    let namesCause = causes.length > 0;
    const isFatal = causes.some(match => !match.survivable);
    const isMild = ({ survivable, line }) => survivable || kbgen.readings.isQuiet(lines[line - 1]);
    const said =
      isFatal && !causes.every(isMild)
        ? Object.assign([], { start: 0, end: 0, ended: 0, message: "" })
        : kbgen.readings(tables.match, found, tail, text.slice(0, -tail.length).split("\n").length - 1);
    if (!said) return lacks(["data/reading-texts.js"]);
    // Whether a whole traceback is behind a message and has another one.
    const isOther = ({ line }) => said.start > line && !lines[line - 1].includes(said.message);
    let readings = said.filter(reading => reading.names_cause || !found.some(match => match.brief && !match.weak));
    // A page of a failed import or of a warning does not name the cause if the program went on and another line reports
    // how it failed. NCCL reports each failure as a warning.
    const isWarning = line => /warn/i.test(lines[line - 1]) && !lines[line - 1].includes("NCCL WARN");
    const last = list => Math.max(...list.filter(({ line }) => !isWarning(line)).map(({ line }) => line));
    const failure = last(readings.filter(reading => reading.names_cause));
    const end = last(readings.filter(reading => reading.names_cause || reading.ends));
    const isSurvived = ({ line }) =>
      isWarning(line)
        ? end > line || (said.end && (line < said.start || line > said.end))
        : /ImportError|No module named/.test(lines[line - 1]) && said.start > line && failure > line;
    if (isFatal) readings = said.filter(({ line }) => line === said.ended && causes.every(isOther));
    else if (causes.every(isSurvived)) {
      // The end of a program, or a later report of an error, says more than warnings.
      const mild = exact.every(match => !match.brief && kindOf(match) !== "wrapper");
      const first = Math.min(...exact.map(match => match.line));
      const leads = ({ line, ends, explains }) =>
        (ends && namesCause) || (mild && (ends || !explains) && line > first && !isWarning(line));
      if (exact.length) readings = readings.map(one => (leads(one) ? { ...one, names_cause: true } : one));
      namesCause = false;
    } else readings = [];
    // Pages that only share words with the text add nothing to a reading.
    if (readings.length) near = near.filter(page => !("share" in page));
    const fits = fitAnswer(text, named.pages);
    // Error pages do not answer this question.
    if (fits) near = near.filter(page => !page.address.startsWith("errors/"));
    else if (!near.length && !readings.length) near = named.pages.slice(0, 5);
    // A text that a reading explains is whole, not the beginning of a message.
    if (readings.some(reading => reading.names_cause || reading.explains)) near = near.filter(page => !page.begun);
    const linked = readings.flatMap(reading => reading.pages);
    const titles = exact.length ? [] : near.filter(page => "whole" in page);
    const slugs = titles.map(slugOf).filter(Boolean);
    if (lacks(missingTexts(linked.concat(slugs)))) return;
    // A reading that says where the cause is says more than the title of a page without a cause.
    if (slugs.some(slug => kindOf({ slug }) === "wrapper")) {
      readings = readings.map(one => (one.explains ? { ...one, names_cause: true } : one));
    }
    // Pages of the list below, which readings do not name again.
    const listed = exact.map(match => match.slug).concat(near.map(slugOf));
    const list = el("ol", null, "found");
    let read = "";
    // A page found by a question has it as its title; its own title, summary and first step say more.
    const addNear = hit => {
      const own = ("whole" in hit && texts[slugOf(hit)]) || named.pages.find(isSame(hit)) || hit;
      const { address } = hit;
      list.appendChild(entry({ ...own, href: address.replace(/#|$/, "index.html$&") }));
    };
    // Only a title match comes before signature matches.
    if (exact.length) near.forEach(addNear);
    exact.forEach(match => {
      const figures = match.line + JSON.stringify(match.figures);
      list.appendChild(entry({ ...texts[match.slug], href: fileOf(match.slug) }, match, figures === read));
      read = figures;
    });
    if (!exact.length) near.forEach(addNear);
    const summary = summaryOf(text, exact, near);
    const isAsserted = exact.length || (near.length && "whole" in near[0]);
    const pagesFirst = isAsserted && (namesCause || !readings.some(reading => reading.names_cause));
    if (!pagesFirst && readings.length) {
      const said =
        isAsserted || linked.length ? t("What the log says:") : t("No page has this message. What the log says:");
      out.replaceChildren(heading(said), readingList(readings, text, listed));
      if (exact.length) {
        out.appendChild(el("p", t("Pages about messages that do not tell the cause:"), "small"));
      } else if (near.length) out.appendChild(el("p", summary, "small"));
    } else out.replaceChildren(heading(summary));
    if (found.skipped) {
      out.appendChild(
        el(
          "p",
          t("There is too much to match near line {n}, so later messages may be missing.", { n: found.skipped }),
          "small",
        ),
      );
    }
    if (complete(box.value) !== box.value) {
      const size = figureOfLength(text.length);
      out.appendChild(
        el("p", t("The box shows only the end of the log. All of it was read: {size}.", { size }), "small"),
      );
    }
    if (fits) {
      out.replaceChildren(heading(t("The calculator answers this question:")), fits);
      if (near.length) out.appendChild(el("p", t("Similar pages:"), "small"));
    }
    if (list.firstChild) out.appendChild(list);
    if (pagesFirst && readings.length) {
      out.appendChild(el("p", t("What the log says:"), "said"));
      out.appendChild(readingList(readings, text, listed));
    }
    const more = isAsserted ? null : ask(text);
    if (!exact.length) out.appendChild(searched(searchable(text, readings[0])));
    if (more) out.appendChild(more);
    const address = list.firstChild || readings.length ? shared(text, exact[0]) : null;
    if (address) out.appendChild(address);
    reveal();
  }

  // What the pages of a result have in common with the text.
  function summaryOf(text, exact, near) {
    if (exact.length > 1) {
      return t(
        "{n} pages match this text, most likely first. If none of their causes applies, paste more of the log.",
        { n: exact.length },
      );
    }
    if (exact.length) {
      return exact[0].cause
        ? t("One page describes this message.")
        : t("One page describes this message. If none of its causes applies, paste more of the log.");
    }
    if (!near.length) return t("No known error found.");
    if ("whole" in near[0]) return t("A page has this title or answers this question.");
    if (near[0].weak) {
      return t("No known error found. The text contains a message of these pages that is too generic to be certain:");
    }
    if (near[0].begun) return t("Messages of these pages contain this text:");
    return isTyped(text) ? t("Pages that may help:") : t("No page matches this exact message. Similar pages:");
  }

  // The first line of the result, which can have the focus. It is announced, unless it has been just before.
  function heading(text) {
    const line = el("p", text, "said");
    line.tabIndex = -1;
    if (status.textContent !== text) status.textContent = text;
    return line;
  }
  // Scrolls to the result after a request, unless the reader has moved on. The style sheet defines whether scrolling
  // is smooth.
  function reveal() {
    const answer = out.querySelector("*");
    const active = document.activeElement;
    if (!requested || !answer) return;
    requested = false;
    // A heading has the focus only if a page was opened at it.
    if (active && active !== document.body && !active.matches("h1") && !box.closest(".paste").contains(active)) return;
    // The focus announces it, too.
    status.textContent = "";
    answer.focus({ preventScroll: true });
    const place = answer.getBoundingClientRect();
    if (place.top < 0 || place.bottom > innerHeight * 0.7) answer.scrollIntoView({ block: "start" });
  }

  // Works in time slices, so that the page stays responsive.
  const MOMENT_MS = 12;
  function work(steps, mine, done) {
    const until = performance.now() + MOMENT_MS;
    let step;
    do step = steps.next();
    while (!step.done && !step.value && performance.now() < until);
    if (step.done) done(step.value);
    else if (step.value) loadParts(step.value, mine, () => work(steps, mine, done));
    else reading = setTimeout(work, 0, steps, mine, done);
  }
  // Loads parts of the tables, and goes on unless the text has changed meanwhile.
  function loadParts(files, mine, done) {
    tell(t("Loading the data\u2026"));
    Promise.all(files.map(file => kbgen.load(root.root + file))).then(
      () => {
        if (mine === runs) done();
      },
      () => {
        if (mine === runs) failed();
      },
    );
  }
  function failed() {
    out.replaceChildren(heading(t("The data could not be loaded. Try again.")));
    reveal();
  }
  function run() {
    clearTimeout(pause);
    clearTimeout(reading);
    const mine = ++runs;
    const text = complete(box.value);
    keep();
    if (!text.trim()) return tell("");
    if (!kbgen.tables) tell(t("Loading the data\u2026"));
    else if (text.length > LARGE) tell(t("Reading {size}\u2026", { size: figureOfLength(text.length) }));
    const loaded = load();
    // A short text needs these files unless a page has its message: their requests do not wait for that.
    if (isTyped(text)) [...NAMES, "data/similar.js"].forEach(file => kbgen.load(root.root + file).catch(() => {}));
    loaded.then(() => {
      // The text may have changed while the tables were loading.
      if (mine === runs) {
        work(kbgen.match(kbgen.tables.match, text), mine, found => {
          show(text, found, mine);
        });
      }
    }, failed);
  }

  // Text fields are slow with long texts: of such a log the box shows the end. The text before it belongs to what the
  // box contains as long as that has the same start. After a return, browsers restore the box; the state of the history
  // has the text before it.
  const LARGE = 100000;
  const LONGEST = 8388608;
  const SHOWN = 10000;
  let [head, start] = (history.state && history.state.log) || ["", ""];
  let kept = head;
  const complete = text => (text.startsWith(start) ? head : "") + text;
  function keep() {
    const used = box.value.startsWith(start) ? head : "";
    if (used === kept) return;
    kept = used;
    try {
      history.replaceState({ ...history.state, log: used && [head, start] }, "");
    } catch {
      /* too long: not restored */
    }
  }
  function figureOfLength(length) {
    return length < 1048576 ? `${Math.ceil(length / 1024)} KiB` : `${(length / 1048576).toFixed(1)} MiB`;
  }
  function take(text) {
    const log = text.replace(SHAPELESS, "").slice(-LONGEST);
    head = log.slice(0, -SHOWN);
    box.value = log.slice(-SHOWN);
    start = box.value.slice(0, 100);
    run();
  }
  box.addEventListener("paste", event => {
    const text = event.clipboardData ? event.clipboardData.getData("text") : "";
    const printable = text.replace(SHAPELESS, "");
    if (text.length <= LARGE && text === printable) return;
    event.preventDefault();
    // Only this kind of change can be undone, but it is slow.
    if (text.length <= LARGE) document.execCommand("insertText", false, printable);
    else take(complete(box.value.slice(0, box.selectionStart) + text + box.value.slice(box.selectionEnd)));
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

  // On an error page, shows the figures in the address at the cause that it names, and adds them to links to the
  // calculator. The address is untrusted: only numbers with known names are shown.
  function showCarried() {
    const slug = location.pathname.replace(/\/(index\.html)?$/, "").replace(/.*\//, "");
    const files = missingTexts([slug]);
    if (files.length) {
      Promise.all(files.map(file => kbgen.load(root.root + file))).then(showCarried, () => {});
      return;
    }
    const found = kbgen.readCaseFragment(location.hash, { ...kbgen.tables, ...kbgen.catalog });
    const probe = el("a");
    const here = Object.keys(kbgen.pageTexts).find(slug => {
      probe.href = root.root + fileOf(slug);
      return probe.pathname === location.pathname || probe.pathname.replace(/index\.html$/, "") === location.pathname;
    });
    if (!found || !here) return;
    const { causes = {} } = kbgen.pageTexts[here];
    document.querySelectorAll(".carried").forEach(old => {
      old.remove();
    });
    document.querySelectorAll(".named").forEach(old => {
      old.classList.remove("named");
    });
    const place = document.getElementById(found.anchor);
    const cause = place && place.matches("[id^=cause-]") ? place : null;
    const id = found.anchor.replace(/^cause-/, "");
    const panel = el("div", null, "carried");
    const concluded = cause && Object.prototype.hasOwnProperty.call(causes, id);
    const list = figureList(found.figures, concluded ? causes[id].names : []);
    const fit = calculatorLink(found.setting, found.figures.total);
    panel.tabIndex = -1;
    panel.setAttribute("role", "group");
    panel.setAttribute("aria-label", t("From your log"));
    panel.appendChild(el("p", t("From your log"), "label"));
    if (concluded) {
      panel.appendChild(el("p", conclusion(causes[id], found.figures), "why"));
    }
    if (list.firstChild) panel.appendChild(list);
    if (fit) panel.appendChild(fit);
    if (cause) {
      const details = cause.closest("details");
      if (details) details.open = true;
      cause.classList.add("named");
      cause.prepend(panel);
    } else document.querySelector(".error-head").appendChild(panel);
    document.querySelectorAll("main a[href]").forEach(link => {
      if (!out.contains(link) && /will-it-run\/(index\.html)?(#.*)?$/.test(link.getAttribute("href"))) {
        link.hash = String(new URLSearchParams(found.setting));
      }
    });
    panel.focus({ preventScroll: true });
    (cause ? cause.parentElement : panel).scrollIntoView({ block: cause ? "start" : "nearest" });
  }

  // Opens a case in the address.
  function opened() {
    if (/^#[\w-]+&/.test(location.hash)) {
      Promise.all([root.match, root.case, `${root.root}data/diagnose.js`].map(kbgen.load)).then(showCarried, () => {});
    }
    const found = /^#case=(.+)/.exec(location.hash);
    if (!found) return;
    try {
      box.value = decodeURIComponent(found[1]);
    } catch {
      return;
    }
    head = start = "";
    request();
  }
  function request() {
    requested = true;
    run();
  }
  addEventListener("hashchange", opened);
  keep();
  opened();
  load().catch(() => {});
  // Handles input from before the script was loaded.
  if (box.value && !runs) run();

  box.addEventListener("input", () => {
    requested = false;
    clearTimeout(pause);
    pause = setTimeout(run, 250);
  });
  kbgen.findPage = () => {
    request();
    if (!complete(box.value).trim()) box.focus();
  };
  document.getElementById("paste-go").addEventListener("click", kbgen.findPage);

  // Arrow keys move between box and results, Escape returns to the box.
  box.closest(".paste").addEventListener("keydown", event => {
    const links = [...out.querySelectorAll(".found li > a")];
    const at = links.indexOf(/** @type {PageElement} */ (document.activeElement));
    const inBox = event.target === box;
    if (event.key === "Enter" && inBox && (event.ctrlKey || event.metaKey)) request();
    else if (event.key === "Escape") box.focus();
    else if (
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
