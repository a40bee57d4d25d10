// A text field with a list of options (WAI-ARIA combobox pattern). Typing filters the list.
//    const box = kbgen.combobox(input, {entries: [{id, name, group, note}], choose: (id, typed) => {}});
//    box.show(id)      sets the field's text, except while it is being edited
//    box.renew()       reads the entries again when the list opens next
//  The field needs an id and a label, and a `<div role="listbox" hidden>` after it, referenced by `aria-controls`.
// `note(entry, typed)` is called for each entry when the list opens: {text, kind} is shown at its right end, with
// `kind` as the class or "". `more(text)` is called if no entry matches: a promise of further entries, whose ids are
// those of others; one with `isGuess` is chosen only from the list. `reads(typed)` returns the name in what is typed,
// `none` says what to do without a match, in the list, and `instead` after it is closed. An entry has further words in
// `also`, and stays in the list without a match if it is `always` there.
(() => {
  "use strict";
  const { t } = kbgen;
  const PAGE = 8;
  function el(name, kind, text) {
    const element = document.createElement(name);
    if (kind) element.className = kind;
    if (text != null) element.textContent = text;
    return element;
  }
  // A size is one word: "24 GB", "24gb", "24 GiB".
  const plain = text =>
    ` ${text
      .toLowerCase()
      .replace(/(\d) ?gi?b\b/g, "$1gb")
      .replace(/[^\p{L}\p{N}.]+/gu, " ")
      .trim()}`;
  // Ways to match the input, strictest first: each word starts a word of the entry, occurs anywhere in it, or the
  // whole input does without spaces ("rtx4090").
  const WAYS = [
    (entry, typed) =>
      typed
        .split(" ")
        .slice(1)
        .every(word => entry.includes(` ${word}`)),
    (entry, typed) => typed.split(" ").every(word => entry.includes(word)),
    (entry, typed) => entry.replace(/ /g, "").includes(typed.replace(/ /g, "")),
  ];
  // "llama3.1:8b" begins with the name "Llama 3.1".
  const apart = text => text.replace(/(\p{L})(?=\d)/gu, "$1 ");
  const startsWith = (name, typed) => `${apart(name)} `.startsWith(`${apart(typed)} `);
  const isSize = /^ \d[\d.]*b\b/;
  const hasWords = (entry, typed) =>
    typed
      .split(" ")
      .slice(1)
      .every(word => `${entry} `.includes(` ${word} `));
  kbgen.combobox = (input, options) => {
    const list = document.getElementById(input.getAttribute("aria-controls"));
    const none = t("No match") + (options.none ? `. ${options.none}` : "");
    list.dataset.none = none;
    const said = list.parentNode.appendChild(el("span", "hidden"));
    said.setAttribute("role", "status");
    // Says below the field that it has its former value again.
    const dropped = el("p", "small combo-dropped");
    dropped.hidden = true;
    const box = list.parentElement;
    (box.closest(".with-unit") || box).after(dropped);
    let rows = [];
    let groups = [];
    let chosen = null;
    let active = null;
    let typed = false;

    let byName = {};
    let asked = {};

    // Built on first use: hundreds of rows that most readers never see.
    function build() {
      if (!rows.length) options.entries.forEach(add);
    }
    function add(entry) {
      let place = list;
      let group = null;
      if (entry.group) {
        group = byName[entry.group];
        if (!group) {
          group = byName[entry.group] = { element: el("div", "combo-group"), rows: [], at: groups.length, rank: 0 };
          const name = group.element.appendChild(el("div", "combo-name", entry.group));
          name.id = `${input.id}-group-${groups.length}`;
          group.element.setAttribute("role", "group");
          group.element.setAttribute("aria-labelledby", name.id);
          groups.push(group);
          list.appendChild(group.element);
        }
        place = group.element;
      }
      const row = {
        entry,
        element: el("div", "combo-option"),
        name: plain(entry.name),
        // Programs print "Laptop GPU" for what databases call "Mobile".
        words: plain(`${entry.group} ${entry.name} ${entry.also || ""}`).replace(/ mobile\b/, "$& laptop gpu notebook"),
        note: el("span", "combo-note"),
        group,
        at: rows.length,
        rank: 0,
      };
      row.element.id = `${input.id}-option-${rows.length}`;
      row.element.setAttribute("role", "option");
      row.element.append(el("span", null, entry.name), " ", row.note);
      row.note.textContent = entry.note || "";
      row.element.addEventListener("click", () => {
        take(row);
      });
      place.appendChild(row.element);
      rows.push(row);
      if (group) group.rows.push(row);
    }
    const seen = () => rows.filter(row => !row.element.hidden);
    function point(row, quiet) {
      if (active) active.element.classList.remove("active");
      active = row || null;
      if (!active) return input.removeAttribute("aria-activedescendant");
      active.element.classList.add("active");
      input.setAttribute("aria-activedescendant", active.element.id);
      if (!quiet) reveal(active.element);
    }
    // Scrolls the list only, never the page.
    function reveal(element) {
      const top = element.offsetTop;
      const bottom = top + element.offsetHeight;
      if (top < list.scrollTop + 32) list.scrollTop = top - 32;
      else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight + 8;
    }
    const read = () => plain(options.reads ? options.reads(input.value) : input.value);
    // How well the name has what is typed: "m4" is the Apple M4 rather than the Tesla M40, and "llama 3" Llama 3 rather
    // than a model that was made from it.
    const LAST = 4;
    const rankOf = (row, text) =>
      [
        row.name === text,
        startsWith(row.name, text),
        hasWords(row.name, text),
        hasWords(row.words, text),
        true,
      ].indexOf(true);
    // Moves the best names to the top, with their groups.
    function sort(text) {
      rows.forEach(row => {
        row.rank = text && !row.element.hidden ? rankOf(row, text) : LAST;
      });
      groups.forEach(group => {
        group.rank = Math.min(...group.rows.map(row => row.rank));
        group.rows.sort((a, b) => a.rank - b.rank || a.at - b.at);
        group.element.append(...group.rows.map(row => row.element));
      });
      groups.sort((a, b) => a.rank - b.rank || a.at - b.at);
      list.append(...groups.map(group => group.element));
      rows = [...rows.filter(row => !row.group), ...groups.flatMap(group => group.rows)];
    }
    function noteOf(row, text) {
      const note = options.note ? options.note(row.entry, text) : null;
      row.note.textContent = note ? note.text : row.entry.note || "";
      row.note.className = `combo-note ${note ? note.kind : ""}`;
    }
    function narrow() {
      const text = read();
      const isEmpty = !typed || !input.value.trim();
      const way = isEmpty ? () => true : text !== " " && WAYS.find(way => rows.some(row => way(row.words, text)));
      if (!way && text !== " ") more(text);
      rows.forEach(row => {
        row.element.hidden = way ? !way(row.words, text) : !row.entry.always;
      });
      groups.forEach(group => {
        group.element.hidden = group.rows.every(row => row.element.hidden);
      });
      sort(isEmpty ? "" : text);
      const left = seen();
      // An entry may have a memory size in what is typed.
      left
        .filter(row => row.entry.sizes)
        .forEach(row => {
          noteOf(row, typed ? input.value : "");
        });
      list.classList.toggle("none", !way);
      said.textContent = isEmpty ? "" : way ? t("{n} match", "{n} matches", { n: left.length }) : none;
      if (!typed) return point(left.find(row => row.entry.id === chosen));
      if (!way) return point(null);
      point(
        isEmpty
          ? null
          : nearest(
              left.filter(row => !row.entry.isGuess),
              way,
              text,
            ),
      );
    }
    // The one that the input names best: to the letter ("Command R+"), in words, by its start, or without its group.
    function nearest(left, way, text) {
      if (!left.length) return null;
      const best = Math.min(...left.map(row => row.rank));
      const rows = left.filter(row => row.rank === best);
      const raw = input.value.trim().toLowerCase();
      return [
        row => row.entry.name.toLowerCase() === raw,
        row => row.name === text,
        row => startsWith(row.name, text) && isSize.test(apart(row.name).slice(apart(text).length)),
        row => row.name.startsWith(text),
        row => way(row.name, text),
        () => true,
      ]
        .map(isNear => rows.find(isNear))
        .find(Boolean);
    }
    // Looks for entries that are not in the list, once for each text.
    function more(text) {
      if (!options.more || asked[text]) return;
      asked[text] = options.more(text).then(
        found => {
          found.forEach(add);
          if (found.length && !list.hidden) narrow();
        },
        () => {},
      );
    }
    function open() {
      if (!list.hidden) return;
      build();
      dropped.hidden = true;
      const own = rows.filter(row => row.entry.id === chosen)[0];
      rows.forEach(row => {
        noteOf(row, "");
        row.element.setAttribute("aria-selected", String(row === own));
      });
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      narrow();
      if (active) list.scrollTop = active.element.offsetTop - list.clientHeight / 2;
      list.scrollIntoView({ block: "nearest" });
    }
    function close() {
      list.hidden = true;
      typed = false;
      said.textContent = "";
      point(null);
      input.setAttribute("aria-expanded", "false");
      input.value = nameOf(chosen);
    }
    // Closes without a choice, and says so.
    function drop() {
      const text = input.value.trim().slice(0, 60);
      const isNone = hasNone();
      close();
      if (!text) return;
      said.textContent = t("Nothing was chosen");
      const words = isNone
        ? t("Nothing was chosen: no match for “{text}”.", { text })
        : t("Nothing was chosen: select one of the names with “{text}” from the list.", { text });
      const now = t("This is still for {name}.", { name: nameOf(chosen) });
      dropped.replaceChildren(`${words} `, el("strong", "", now));
      if (isNone && options.instead) dropped.append(` ${options.instead}`);
      dropped.hidden = false;
    }
    const hasNone = () => seen().every(row => row.entry.always);
    // Enter, when further entries are there.
    async function enter() {
      const text = read();
      await asked[text];
      if (list.hidden || !typed || read() !== text || !input.value.trim()) return;
      if (active) take(active);
      else if (hasNone()) {
        drop();
        input.select();
      }
    }
    const nameOf = id => {
      const found = options.entries.filter(entry => entry.id === id)[0];
      return found ? found.name : "";
    };
    function accept(row) {
      const changed = row.entry.id !== chosen;
      const text = typed ? input.value : "";
      chosen = row.entry.id;
      close();
      if (changed || text) options.choose(chosen, text);
    }
    function take(row) {
      input.focus();
      accept(row);
      if (document.activeElement === input) input.select();
    }
    function move(by) {
      const left = seen();
      if (!left.length) return;
      const at = left.indexOf(active);
      const to = at + by;
      point(
        left[
          at < 0
            ? by > 0
              ? 0
              : left.length - 1
            : Math.abs(by) > 1
              ? Math.max(0, Math.min(left.length - 1, to))
              : (to + left.length) % left.length
        ],
      );
    }

    // Keeps the focus in the field while the list is pressed.
    list.addEventListener("mousedown", event => {
      event.preventDefault();
    });
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-expanded", "false");
    input.setAttribute("autocomplete", "off");
    input.spellcheck = false;
    input.addEventListener("focus", () => {
      input.select();
    });
    input.addEventListener("click", open);
    input.addEventListener("input", () => {
      typed = true;
      open();
      narrow();
    });
    input.addEventListener("blur", () => {
      // Another window leaves the field as it is.
      if (list.hidden || document.activeElement === input) return;
      const isNamed = typed && active && (seen().length === 1 || active.name === read());
      if (isNamed) return accept(active);
      if (typed) drop();
      else close();
    });
    input.addEventListener("keydown", event => {
      const closed = list.hidden;
      const by = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE }[event.key];
      if (by && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        if (closed) open();
        else if (!event.altKey) move(by);
        else if (by < 0) close();
      } else if (event.key === "Enter" && !closed) {
        event.preventDefault();
        if (active) take(active);
        else if (typed) enter();
      } else if (event.key === "Escape" && !closed) {
        event.preventDefault();
        close();
        input.select();
      } else if (event.key === "Tab" && !closed && typed && active) {
        // Accepts the highlighted option; Tab then moves on.
        accept(active);
      }
    });
    return {
      show(id) {
        chosen = id;
        if (list.hidden) input.value = nameOf(id);
      },
      renew() {
        if (!list.hidden) close();
        rows = [];
        groups = [];
        byName = {};
        asked = {};
        list.replaceChildren();
      },
    };
  };
})();
