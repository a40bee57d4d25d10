// Search: a dialog on every page, and the panel on search pages. Loaded on first use.
(() => {
  "use strict";
  const { t } = kbgen;
  const data = document.documentElement.dataset;
  // Longer input was pasted and is offered to diagnosis, up to this many characters.
  const TYPED = 100;
  const CASE = 20000;

  function tables() {
    return Promise.all([data.search, data.names, data.case, `${data.root}data/search.js`].map(kbgen.load));
  }
  function el(name, kind, text) {
    const element = document.createElement(name);
    if (kind) element.className = kind;
    if (text != null) element.textContent = text;
    return element;
  }
  const file = address => data.root + address.replace(/(#|$)/, "index.html$1");

  // Marks the typed parts at the start of words and numbers; "Q4_K_M" is one part.
  function marked(element, text, parts) {
    let last = null;
    let between = "";
    (text.match(/[A-Za-z]+|\d+|[^A-Za-z\d]+/g) || []).forEach(piece => {
      const low = piece.toLowerCase();
      const length = parts.reduce(
        (most, part) =>
          low === part || (part.length > 1 && low.indexOf(part) === 0) ? Math.max(most, part.length) : most,
        0,
      );
      if (!length) {
        between += piece;
        return;
      }
      if (last && between.length < 2) last.textContent += between + piece.slice(0, length);
      else {
        element.append(between);
        last = element.appendChild(el("mark", null, piece.slice(0, length)));
      }
      between = piece.slice(length);
      if (between) {
        element.append(between);
        between = "";
        last = null;
      }
    });
    element.append(between);
    return element;
  }

  // Style of notes: short facts next to the title, or a message in monospace.
  const NOTES = { models: "short", hardware: "short", errors: "printed" };
  // Results by group, the one with the best page first: {title, rows, all}.
  function grouped(pages, most) {
    const lists = kbgen.pages.groups;
    const groups = [];
    pages.forEach(page => {
      let group = groups.filter(each => each.address === page.group)[0];
      if (!group) {
        const list = lists.filter(each => each[0] === page.group)[0];
        groups.push((group = { address: page.group, title: list ? list[1] : t("More pages"), rows: [] }));
      }
      group.rows.push({
        title: page.title,
        note: page.similar
          ? t("{message} (and {n} more page with this message)", "{message} (and {n} more pages with this message)", {
              message: page.note,
              n: page.similar,
            })
          : page.note,
        href: file(page.address),
        kind: NOTES[page.address.split("/")[0]],
      });
    });
    // A single group may use the space of two.
    if (groups.length === 1) most *= 2;
    groups.forEach(group => {
      group.all = group.rows.length;
      group.rows = group.rows.slice(0, most);
    });
    return groups;
  }
  // Content of an empty search.
  function lists() {
    return [
      {
        title: t("All pages"),
        rows: kbgen.pages.groups
          .map(list => ({ title: list[1], note: list[2].toLocaleString("en"), href: file(list[0]), kind: "short" }))
          .concat({ title: t("Diagnose a log"), note: t("or paste it above"), href: file("diagnose/"), kind: "short" }),
      },
    ];
  }

  // A field with its results. In a dialog they are a list of options while the field keeps the focus (WAI-ARIA
  // combobox pattern); on a page they are headings and links.
  function Finder(place, options) {
    const chooses = options.chooses;
    const part = (name, kind, within) =>
      (within || place).querySelector(`.${kind}`) || (within || place).appendChild(el(name, kind));
    const head = part("div", "finder-head");
    const field = part("input", "finder-field", head);
    const list = part("div", "finder-list");
    const foot = part("div", "finder-foot");
    const status = part("p", "finder-status", foot);
    // The hint while the field is empty.
    const hint = status.textContent;
    const start = [...list.children];
    let rows = [];
    let active = -1;
    let asked = null;
    // Whether Enter was pressed before there were results.
    let entered = false;

    if (chooses) {
      const lens = document.querySelector(".lens");
      if (lens) head.prepend(lens.cloneNode(true));
      list.id = "kbgen-found";
      list.hidden = true;
      list.setAttribute("role", "listbox");
      list.setAttribute("aria-label", t("Results"));
      status.setAttribute("role", "status");
      const about = {
        type: "text",
        role: "combobox",
        "aria-label": t("Search all pages"),
        "aria-autocomplete": "list",
        "aria-controls": list.id,
        "aria-expanded": "false",
        placeholder: document.getElementById("kbgen-search").dataset.hint,
        autocomplete: "off",
        autocapitalize: "off",
        spellcheck: "false",
        enterkeyhint: "go",
      };
      Object.keys(about).forEach(name => {
        field.setAttribute(name, about[name]);
      });
    }

    function point(to) {
      if (rows[active]) rows[active].setAttribute("aria-selected", "false");
      active = to;
      const row = rows[active];
      if (!row) return field.removeAttribute("aria-activedescendant");
      row.setAttribute("aria-selected", "true");
      field.setAttribute("aria-activedescendant", row.id);
      // Shows the name of its group with the first row.
      if (active === 0) list.scrollTop = 0;
      else row.scrollIntoView({ block: "nearest" });
    }
    function add(place, row, parts) {
      const link = el("a", `finder-row${row.kind ? ` ${row.kind}` : ""}`);
      link.href = row.href;
      link.append(marked(el("span", "finder-title"), row.title, parts));
      if (row.note) link.append(" ", marked(el("span", "finder-note"), row.note, row.kind === "short" ? [] : parts));
      if (chooses) {
        link.id = `kbgen-found-${rows.length}`;
        link.tabIndex = -1;
        link.setAttribute("role", "option");
        link.setAttribute("aria-selected", "false");
      } else {
        place = place.appendChild(el("li"));
      }
      rows.push(link);
      place.append(link);
    }
    function renderResults(groups, parts) {
      rows = [];
      list.replaceChildren();
      groups.forEach((group, at) => {
        let box = list.appendChild(el("div", group.title ? "" : "finder-more"));
        if (group.title) {
          const name = box.appendChild(el(chooses ? "div" : "h2", "finder-name", group.title));
          name.id = `kbgen-found-name-${at}`;
          if (group.all) name.append(" ", el("span", "count", String(group.all)));
          if (chooses) box.setAttribute("aria-labelledby", name.id);
        }
        if (chooses) box.setAttribute("role", "group");
        else box = box.appendChild(el("ul"));
        group.rows.forEach(row => {
          add(box, row, group.title ? parts : []);
        });
      });
      if (!chooses) return;
      list.hidden = !rows.length;
      field.setAttribute("aria-expanded", String(!list.hidden));
      point(0);
    }
    function show() {
      const text = field.value.trim();
      if (text === asked) return;
      asked = text;
      if (options.asked) options.asked(text);
      if (!text) {
        status.textContent = hint;
        if (chooses) renderResults(lists(), []);
        else list.replaceChildren(...start);
        return;
      }
      const found = kbgen.names(kbgen.pages, text);
      if (found.missing.length) {
        status.textContent = t("Loading\u2026");
        rows = [];
        Promise.all(found.missing.map(file => kbgen.load(data.root + file))).then(() => {
          asked = null;
          show();
        }, failed);
        return;
      }
      const pages = found.pages;
      const groups = grouped(pages, options.most);
      const more = [];
      if (groups.some(group => group.all > group.rows.length) && chooses) {
        more.push({
          title: t("All {n} results", { n: pages.length }),
          href: `${file("search/")}?q=${kbgen.encoded(text)}`,
        });
      }
      // Short input is a name; longer input may be a message.
      if (!pages.length || text.split(/\s+/).length > 3) {
        more.push({
          title: t("Diagnose this text"),
          note: t("compare with all known messages"),
          href: data.root + kbgen.caseAddress(text, CASE),
          kind: "short",
        });
      }
      if (more.length) groups.push({ rows: more });
      renderResults(groups, found.parts);
      status.textContent = pages.length ? t("{n} result", "{n} results", { n: pages.length }) : t("Nothing found");
      if (found.unknown.length) {
        status.textContent += t(". No page contains: {words}", { words: found.unknown.slice(0, 3).join(", ") });
      }
      if (entered) enter();
    }
    // Shows results for the current input, once the index is loaded.
    function refresh() {
      if (!kbgen.pages) status.textContent = t("Loading\u2026");
      tables().then(() => {
        // Prepares the index before the first key press.
        if (asked === null) kbgen.names(kbgen.pages, "");
        show();
      }, failed);
    }
    function failed() {
      asked = null;
      rows = [];
      status.textContent = t("The index could not be loaded. Check your connection and try again.");
    }

    // Opens the chosen result, or moves to the first one on the page.
    function enter(apart) {
      const row = rows[chooses ? active : 0];
      entered = !row;
      if (!row) refresh();
      else if (!chooses) row.focus();
      else if (apart) window.open(row.href);
      else row.click();
    }

    field.addEventListener("input", () => {
      entered = false;
      refresh();
    });
    field.addEventListener("paste", event => {
      const text = (event.clipboardData ? event.clipboardData.getData("text") : "").trim();
      if (text.length <= TYPED && text.indexOf("\n") < 0) return;
      event.preventDefault();
      kbgen.load(data.case).then(
        () => {
          options.leave();
          location.href = data.root + kbgen.caseAddress(text, CASE);
        },
        () => {
          field.value = text.replace(/\s+/g, " ");
          failed();
        },
      );
    });
    field.addEventListener("keydown", event => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.isComposing) return;
      if (by && chooses && rows.length) point((active + by + rows.length) % rows.length);
      else if (event.key === "Enter") enter(event.ctrlKey || event.metaKey);
      else return;
      event.preventDefault();
    });
    // Keeps the focus in the field while the list is pressed; a followed link closes the dialog.
    list.addEventListener("mousedown", event => {
      if (chooses) event.preventDefault();
    });
    list.addEventListener("click", event => {
      if (event.target.closest("a") && !event.ctrlKey && !event.metaKey && !event.shiftKey) options.leave();
    });
    return {
      foot,
      head,
      open(typed) {
        field.focus();
        if (typed) field.value = typed;
        else field.select();
        entered = /\n$/.test(typed);
        refresh();
      },
      ask(text) {
        field.value = text;
        refresh();
      },
    };
  }

  // ---- the dialog --------------------------------------------------------------
  let dialog = null;
  let inside = null;
  function build() {
    dialog = el("dialog", "finder");
    dialog.setAttribute("aria-label", t("Search"));
    inside = Finder(dialog, {
      chooses: true,
      most: 5,
      leave() {
        dialog.close();
      },
    });
    const close = inside.head.appendChild(el("button", "plain", t("Close")));
    close.type = "button";
    close.addEventListener("click", () => {
      dialog.close();
    });
    const keys = inside.foot.appendChild(el("p", "finder-keys"));
    keys.setAttribute("aria-hidden", "true");
    [
      ["\u2191 \u2193", t("choose")],
      [t("Enter"), t("open")],
      [t("Esc"), t("close")],
    ].forEach(each => {
      const key = keys.appendChild(el("span"));
      key.append(el("kbd", null, each[0]), ` ${each[1]}`);
    });
    // A click outside of the dialog closes it.
    dialog.addEventListener("mousedown", event => {
      if (event.target === dialog) dialog.close();
    });
    document.body.appendChild(dialog);
  }

  // ---- the page made for it ----------------------------------------------------
  const panel = document.getElementById("kbgen-finder");
  let onPage = null;
  if (panel) {
    onPage = Finder(panel, {
      most: 40,
      leave() {},
      asked(text) {
        // Keeps the address of a missing page.
        if (!/\/search\/(index\.html)?$/.test(location.pathname)) return;
        try {
          history.replaceState(null, "", location.pathname + (text ? `?q=${kbgen.encoded(text)}` : ""));
        } catch {
          /* file:// may refuse */
        }
      },
    });
    let first = new URLSearchParams(location.search || location.hash.slice(1)).get("q");
    // On a missing page, searches for the words of its address.
    if (first === null && panel.dataset.missing != null) {
      try {
        first = decodeURIComponent(location.pathname);
      } catch {
        first = "";
      }
      first = first
        .replace(/\/+(index\.html)?$|\.html$/, "")
        .split("/")
        .pop()
        .replace(/[-_+]+/g, " ");
      if (first === "404") first = "";
    }
    if (first) onPage.ask(first.slice(0, TYPED));
  }

  kbgen.openSearch = typed => {
    if (onPage) return onPage.open(typed);
    if (!dialog) build();
    if (!dialog.open) dialog.showModal();
    inside.open(typed);
  };
})();
