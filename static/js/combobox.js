// A text field with a list to choose from, by the combobox pattern of WAI-ARIA. Typing narrows the list.
//
//   var box = kbgenCombobox(input, {entries: [{id, name, group, note}], choose: function (id) {}, note: function (entry) {}});
//   box.show(id)      what the field says while nobody types
//
// The field needs an id and a label; a `<div role="listbox" hidden>` follows it, named by its `aria-controls`.
// `note` is asked for each entry whenever the list opens: {text, kind} at its right end, kind a class or "".
(function () {
  "use strict";
  var PAGE = 8;
  function make(name, kind, text) {
    var element = document.createElement(name);
    if (kind) element.className = kind;
    if (text != null) element.textContent = text;
    return element;
  }
  var plain = function (text) { return " " + text.toLowerCase().replace(/[^a-z0-9.]+/g, " ").trim(); };
  // Ways to match what was typed, the strictest first: each word begins one of the entry's, stands anywhere in it,
  // or all of it does once the spaces are left out ("rtx4090").
  var WAYS = [
    function (entry, typed) { return typed.split(" ").slice(1).every(function (word) { return entry.indexOf(" " + word) >= 0; }); },
    function (entry, typed) { return typed.split(" ").every(function (word) { return entry.indexOf(word) >= 0; }); },
    function (entry, typed) { return entry.replace(/ /g, "").indexOf(typed.replace(/ /g, "")) >= 0; }
  ];

  window.kbgenCombobox = function (input, options) {
    var list = document.getElementById(input.getAttribute("aria-controls"));
    var said = list.parentNode.appendChild(make("span", "hidden"));
    said.setAttribute("role", "status");
    var rows = [], groups = [], chosen = null, active = null, typed = false;

    // Built when it is first opened: two hundred rows that most readers never see.
    function build() {
      if (rows.length) return;
      var by_name = {};
      options.entries.forEach(function (entry, i) {
        var place = list;
        if (entry.group) {
          var group = by_name[entry.group];
          if (!group) {
            group = by_name[entry.group] = { element: make("div", "combo-group"), rows: [] };
            var name = group.element.appendChild(make("div", "combo-name", entry.group));
            name.id = input.id + "-group-" + groups.length;
            group.element.setAttribute("role", "group");
            group.element.setAttribute("aria-labelledby", name.id);
            groups.push(group);
            list.appendChild(group.element);
          }
          place = group.element;
        }
        var row = { entry: entry, element: make("div", "combo-option"), words: plain(entry.group + " " + entry.name), note: make("span", "combo-note") };
        row.element.id = input.id + "-option-" + i;
        row.element.setAttribute("role", "option");
        row.element.append(make("span", null, entry.name), " ", row.note);
        row.element.addEventListener("click", function () { take(row); });
        place.appendChild(row.element);
        rows.push(row);
        if (group) group.rows.push(row);
      });
    }
    var seen = function () { return rows.filter(function (row) { return !row.element.hidden; }); };
    function point(row, quiet) {
      if (active) active.element.classList.remove("active");
      active = row || null;
      if (!active) return input.removeAttribute("aria-activedescendant");
      active.element.classList.add("active");
      input.setAttribute("aria-activedescendant", active.element.id);
      if (!quiet) reveal(active.element);
    }
    // Scrolls the list alone, never the page.
    function reveal(element) {
      var top = element.offsetTop, bottom = top + element.offsetHeight;
      if (top < list.scrollTop + 32) list.scrollTop = top - 32;
      else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight + 8;
    }
    function narrow() {
      var asked = typed ? plain(input.value) : " ", way = asked === " " ? function () { return true; } : WAYS.filter(function (way) {
        return rows.some(function (row) { return way(row.words, asked); });
      })[0];
      rows.forEach(function (row) { row.element.hidden = !way || !way(row.words, asked); });
      groups.forEach(function (group) { group.element.hidden = group.rows.every(function (row) { return row.element.hidden; }); });
      var left = seen();
      list.classList.toggle("none", !left.length);
      said.textContent = asked === " " ? "" : left.length ? t("{n} match", "{n} matches", { n: left.length }) : t("No match");
      point(typed ? left[0] : left.filter(function (row) { return row.entry.id === chosen; })[0]);
    }
    function open() {
      if (!list.hidden) return;
      build();
      rows.forEach(function (row) {
        var note = options.note ? options.note(row.entry) : null;
        row.note.textContent = note ? note.text : row.entry.note || "";
        row.note.className = "combo-note " + (note ? note.kind : "");
        row.element.setAttribute("aria-selected", String(row.entry.id === chosen));
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
      input.value = name_of(chosen);
    }
    var name_of = function (id) {
      var found = options.entries.filter(function (entry) { return entry.id === id; })[0];
      return found ? found.name : "";
    };
    function take(row) {
      var changed = row.entry.id !== chosen;
      chosen = row.entry.id;
      close();
      input.focus();
      input.select();
      if (changed) options.choose(chosen);
    }
    function move(by) {
      var left = seen();
      if (!left.length) return;
      var at = left.indexOf(active), to = at + by;
      point(left[at < 0 ? (by > 0 ? 0 : left.length - 1) : Math.abs(by) > 1 ? Math.max(0, Math.min(left.length - 1, to)) : (to + left.length) % left.length]);
    }

    // The field keeps the focus while the list is pressed.
    list.addEventListener("mousedown", function (event) { event.preventDefault(); });
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-expanded", "false");
    input.setAttribute("autocomplete", "off");
    input.spellcheck = false;
    input.addEventListener("focus", function () { input.select(); });
    input.addEventListener("click", open);
    input.addEventListener("input", function () { typed = true; open(); narrow(); });
    input.addEventListener("blur", function () { if (!list.hidden) close(); });
    input.addEventListener("keydown", function (event) {
      var closed = list.hidden, by = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE }[event.key];
      if (by && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        if (closed) open(); else if (!event.altKey) move(by); else if (by < 0) close();
      } else if (event.key === "Enter" && !closed) {
        event.preventDefault();
        if (active) take(active);
      } else if (event.key === "Escape" && !closed) {
        event.preventDefault();
        close();
        input.select();
      } else if (event.key === "Tab" && !closed && typed && active) {
        // What was typed and stands out is meant; Tab then goes on from the field.
        var row = active;
        chosen = row.entry.id;
        close();
        options.choose(chosen);
      }
    });
    return {
      show: function (id) {
        chosen = id;
        if (list.hidden) input.value = name_of(id);
      }
    };
  };
})();
