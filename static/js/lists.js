// Lists: narrowed and put in order where they stand; what was chosen is in the address.
(function () {
  "use strict";
  var form = document.getElementById("narrow");
  if (!form) return;
  var DAY = 86400000;
  var all = (selector, from) => Array.from((from || document).querySelectorAll(selector));
  var fields = all("[name]", form), count = document.getElementById("narrow-count"), clear = document.getElementById("narrow-clear"), contents = document.querySelector(".toc");
  var groups = all(".group").map(element => ({ element: element, id: element.dataset.of, count: element.querySelector(".count"), link: document.querySelector(".toc a[href='#" + element.dataset.of + "']") }));
  var rows = groups.reduce(function (found, group) {
    var own = all(".row", group.element);
    group.all = own.length;
    return found.concat(own.map(function (element) {
      return { element: element, group: group, home: element.parentNode, text: element.textContent.toLowerCase(), title: element.querySelector("a").textContent };
    }));
  }, []);
  var collator = new Intl.Collator("en", { numeric: true });

  // A field whose choices are what the rows have.
  all("[data-collect]", form).forEach(function (field) {
    var told = rows.reduce((found, row) => found.concat(facts(row, field.name)), []);
    told.filter((fact, i) => told.indexOf(fact) === i).sort(collator.compare).forEach(function (fact) { field.add(new Option(fact, fact)); });
  });

  function facts(row, name) { return (row.element.dataset[name] || "").split("|").filter(Boolean); }
  // Days back where the field asks for an age.
  function amount(fact, field) { return field.hasAttribute("data-age") ? Math.floor((Date.now() - Date.parse(fact)) / DAY) : Number(fact); }
  // A choice is a word, or a range such as "24..".
  function passes(row, field) {
    var asked = field.value;
    if (!asked) return true;
    if (field.type === "search") return asked.toLowerCase().split(/\s+/).every(word => row.text.indexOf(word) >= 0);
    if (field.hasAttribute("data-group")) return row.group.id === asked;
    var told = facts(row, field.name), ends = asked.split("..");
    if (ends.length === 1) return told.indexOf(asked) >= 0 || (!told.length && field.hasAttribute("data-lax"));
    return told.some(function (fact) {
      var number = amount(fact, field);
      return number >= (ends[0] || -Infinity) && number <= (ends[1] || Infinity);
    });
  }

  // ---- order ---------------------------------------------------------------------

  var order = form.elements.order, whole = null;
  // One list in place of the groups, made when it is first asked for.
  function make_whole() {
    var first = groups[0].element, element = first.cloneNode(true);
    all(".row, [data-of-group], h2, p", element).forEach(function (part) { part.remove(); });
    element.classList.remove("group");
    element.removeAttribute("data-of");
    all("caption", element).forEach(function (caption) { caption.textContent = form.dataset.whole; });
    all("[aria-label]", element).forEach(function (part) { part.setAttribute("aria-label", form.dataset.whole); });
    first.parentNode.insertBefore(element, first);
    return { element: element, home: element.matches("tbody") ? element : element.querySelector("tbody, ul") };
  }
  function compare(name) {
    if (name === "title") return (a, b) => collator.compare(a.title, b.title);
    var back = name[0] === "-", key = back ? name.slice(1) : name;
    return function (a, b) {
      var one = facts(a, key)[0], other = facts(b, key)[0];
      // What is not known comes last, whichever way the list runs.
      if (!one || !other) return (one ? 0 : 1) - (other ? 0 : 1) || collator.compare(a.title, b.title);
      return (back ? -1 : 1) * (isNaN(one) || isNaN(other) ? collator.compare(one, other) : one - other) || collator.compare(a.title, b.title);
    };
  }
  function arrange() {
    var name = order ? order.value : "";
    if (!name && !whole) return;
    whole = whole || make_whole();
    var sorted = name ? rows.slice().sort(compare(name)) : rows;
    sorted.forEach(function (row) { (name ? whole.home : row.home).appendChild(row.element); });
    whole.element.hidden = !name;
    if (contents) contents.hidden = !!name;
  }

  // ---- what is shown ---------------------------------------------------------------

  var arranged = "";
  function show() {
    var name = order ? order.value : "", chosen = fields.some(field => field.value), left = 0;
    if (name !== arranged) { arrange(); arranged = name; }
    groups.forEach(function (group) { group.left = 0; });
    rows.forEach(function (row) {
      var shown = fields.every(field => field === order || passes(row, field));
      row.element.hidden = !shown;
      if (shown) { left++; row.group.left++; }
    });
    groups.forEach(function (group) {
      group.element.hidden = !!name || !group.left;
      if (group.count) group.count.textContent = group.left < group.all ? t("{n} of {all}", { n: group.left, all: group.all }) : group.all;
      if (group.link) group.link.parentNode.hidden = group.element.hidden;
    });
    count.textContent = chosen ? t("{n} of {all}", { n: left, all: rows.length }) : "";
    clear.hidden = !chosen;
  }

  // ---- address -----------------------------------------------------------------------

  var usual = location.pathname + location.search;
  // A fragment without "=" is a place on the page, and changes nothing.
  function read() {
    if (location.hash.length > 1 && location.hash.indexOf("=") < 0) return;
    var asked = new URLSearchParams(location.hash.length > 1 ? location.hash.slice(1) : location.search);
    fields.forEach(function (field) {
      field.value = asked.get(field.name) || "";
      if (field.selectedIndex < 0) field.selectedIndex = 0;
    });
    show();
  }
  function write(way) {
    var kept = new URLSearchParams();
    fields.forEach(function (field) { if (field.value.trim()) kept.set(field.name, field.value.trim()); });
    // An empty one still stands for "nothing chosen" where the page came with choices.
    var text = kept.toString() || (location.search ? "all=" : "");
    try { history[way](null, "", usual + (text && "#" + text)); } catch { /* file:// may refuse */ }
    show();
  }
  var typing = false;
  form.addEventListener("input", event => {
    var typed = event.target.type === "search";
    write(typed && typing ? "replaceState" : "pushState");
    typing = typed;
  });
  form.addEventListener("submit", event => { event.preventDefault(); });
  clear.addEventListener("click", () => {
    fields.forEach(function (field) { field.value = ""; });
    typing = false;
    write("pushState");
    fields[0].focus();
  });
  addEventListener("popstate", () => { typing = false; read(); });
  read();
})();
