// Filters and sorts lists in place; the address contains the choices.
(() => {
  "use strict";
  const { t } = kbgen;
  const form = document.getElementById("filters");
  if (!form) return;
  const DAY = 86400000;
  const MAX_UNFOLDED = 50;
  const all = (selector, from) => Array.from((from || document).querySelectorAll(selector));
  const fields = all("[name]", form);
  const count = document.getElementById("filter-count");
  const clear = document.getElementById("filter-clear");
  const groups = all(".group").map(element => ({
    element,
    id: element.dataset.of,
    all: 0,
    left: 0,
    count: element.querySelector(".count"),
  }));
  const rows = groups.reduce((found, group) => {
    const own = all(".row", group.element);
    group.all = own.length;
    return found.concat(
      own.map(element => {
        const link = element.querySelector("a");
        // Addresses have the short names that titles spell out: "cuda-oom".
        const slug = link.pathname.replace(/\/(index\.html)?$/, "").replace(/.*\//, "");
        const words = `${element.textContent} ${slug} ${element.dataset.class || ""}`.toLowerCase();
        return {
          element,
          group,
          home: element.parentNode,
          // Programs print "Laptop GPU" for what databases call "Mobile".
          text: words.replace(/ mobile(?![a-z])/, "$& laptop gpu"),
          title: link.textContent,
        };
      }),
    );
  }, []);
  const collator = new Intl.Collator("en", { numeric: true });

  // A field whose options are the values in the rows.
  all("[data-collect]", form).forEach(field => {
    const values = rows.reduce((found, row) => found.concat(facts(row, field.name)), []);
    values
      .filter((fact, i) => values.indexOf(fact) === i)
      .sort(collator.compare)
      .forEach(fact => {
        field.add(new Option(fact, fact));
      });
  });

  function facts(row, name) {
    return (row.element.dataset[name] || "").split("|").filter(Boolean);
  }
  // The number of days ago, if the field asks for an age.
  function amount(fact, field) {
    return field.hasAttribute("data-age") ? Math.floor((Date.now() - Date.parse(fact)) / DAY) : Number(fact);
  }
  // A choice is a word, or a range such as "24..".
  function passes(row, field) {
    const asked = field.value;
    if (!asked) return true;
    if (field.type === "search") {
      return asked
        .toLowerCase()
        .split(/\s+/)
        .every(word => row.text.includes(word));
    }
    if (field.hasAttribute("data-group")) return row.group.id === asked;
    const values = facts(row, field.name);
    const ends = asked.split("..");
    if (ends.length === 1) return values.includes(asked) || (!values.length && field.hasAttribute("data-lax"));
    return values.some(fact => {
      const number = amount(fact, field);
      return number >= (ends[0] || -Infinity) && number <= (ends[1] || Infinity);
    });
  }

  // ---- order ---------------------------------------------------------------------

  const order = form.elements.order;
  let whole = null;
  // One list in place of the groups, created on first use.
  function makeWhole() {
    const first = groups[0].element;
    const element = document.createElement("div");
    element.append(...first.cloneNode(true).childNodes);
    all(".row, p, summary", element).forEach(part => {
      part.remove();
    });
    all("[id]", element).forEach(part => {
      part.removeAttribute("id");
    });
    all("caption", element).forEach(caption => {
      caption.textContent = form.dataset.whole;
    });
    all("[aria-label]", element).forEach(part => {
      part.setAttribute("aria-label", form.dataset.whole);
    });
    first.parentNode.insertBefore(element, first);
    return { element, home: element.querySelector("tbody, ul") };
  }
  function compare(name) {
    if (name === "title") return (a, b) => collator.compare(a.title, b.title);
    const back = name[0] === "-";
    const key = back ? name.slice(1) : name;
    return (a, b) => {
      const one = facts(a, key)[0];
      const other = facts(b, key)[0];
      // Unknown values come last in either direction.
      if (!one || !other) return (one ? 0 : 1) - (other ? 0 : 1) || collator.compare(a.title, b.title);
      return (
        (back ? -1 : 1) * (isNaN(one) || isNaN(other) ? collator.compare(one, other) : one - other) ||
        collator.compare(a.title, b.title)
      );
    };
  }
  function arrange() {
    const name = order ? order.value : "";
    if (!name && !whole) return;
    whole = whole || makeWhole();
    const sorted = name ? rows.slice().sort(compare(name)) : rows;
    sorted.forEach(row => {
      (name ? whole.home : row.home).appendChild(row.element);
    });
    whole.element.hidden = !name;
  }

  // ---- rendering -------------------------------------------------------------------

  let arranged = "";
  let unfolded = false;
  function show() {
    const name = order ? order.value : "";
    const chosen = fields.some(field => field.value);
    let left = 0;
    if (name !== arranged) {
      arrange();
      arranged = name;
    }
    groups.forEach(group => {
      group.left = 0;
    });
    rows.forEach(row => {
      const shown = fields.every(field => field === order || passes(row, field));
      row.element.hidden = !shown;
      if (shown) {
        left++;
        row.group.left++;
      }
    });
    groups.forEach(group => {
      group.element.hidden = !!name || !group.left;
      if (group.count) {
        group.count.textContent =
          group.left < group.all ? t("{n} of {all}", { n: group.left, all: group.all }) : group.all;
      }
    });
    // Folded groups open when few rows or a single group are left.
    const isSingle = groups.filter(group => group.left).length === 1;
    const unfolds = (left <= MAX_UNFOLDED || isSingle) && left < rows.length;
    if (unfolds !== unfolded) {
      groups.forEach(group => {
        group.element.open = unfolds;
      });
    }
    unfolded = unfolds;
    count.textContent = !chosen
      ? ""
      : left
        ? t("{n} of {all}", { n: left.toLocaleString("en"), all: rows.length.toLocaleString("en") })
        : t("Nothing matches. Remove a keyword or a filter.");
    const words = form.elements.words && form.elements.words.value.trim();
    if (!left && words) {
      const link = document.createElement("a");
      link.href = `${document.documentElement.dataset.root}search/index.html#q=${encodeURIComponent(words)}`;
      link.textContent = t("Search all pages for these words");
      count.append(" ", link);
    }
    clear.hidden = !chosen;
  }

  // ---- address -----------------------------------------------------------------------

  const usual = location.pathname + location.search;
  // A fragment without "=" is an anchor and changes nothing.
  function read() {
    if (location.hash.length > 1 && location.hash.indexOf("=") < 0) return;
    const asked = new URLSearchParams(location.hash.length > 1 ? location.hash.slice(1) : location.search);
    fields.forEach(field => {
      field.value = asked.get(field.name) || "";
      if (field.selectedIndex < 0) field.selectedIndex = 0;
    });
    const folded = form.querySelector("details");
    if (folded && fields.some(field => field.value && folded.contains(field))) folded.open = true;
    show();
  }
  function write(way) {
    const kept = new URLSearchParams();
    fields.forEach(field => {
      if (field.value.trim()) kept.set(field.name, field.value.trim());
    });
    // An empty fragment means "no choices" if the page was opened with choices.
    const text = kept.toString() || (location.search ? "all=" : "");
    try {
      history[way](null, "", usual + (text && `#${text}`));
    } catch {
      /* file:// may refuse */
    }
    show();
  }
  let typing = false;
  form.addEventListener("input", event => {
    const typed = event.target.type === "search";
    write(typed && typing ? "replaceState" : "pushState");
    typing = typed;
  });
  form.addEventListener("submit", event => {
    event.preventDefault();
  });
  clear.addEventListener("click", () => {
    fields.forEach(field => {
      field.value = "";
    });
    typing = false;
    write("pushState");
    fields[0].focus();
  });
  addEventListener("popstate", () => {
    typing = false;
    read();
  });
  read();
})();
