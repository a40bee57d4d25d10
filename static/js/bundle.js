// The knowledge base in one file: shows one page at a time by the fragment of the address, reads tables from the file
// itself, and redirects links of other scripts into the file. Without scripts all pages are shown one after another.
(() => {
  "use strict";
  const { t } = kbgen;
  const data = document.documentElement.dataset;
  const base = new URL(data.root).href;
  const start = document.querySelector("main > article");
  const said = document.getElementById("bundle-status");
  let shown = start;
  const title = document.title;
  /** @type {Promise<void>} */
  const whole = new Promise(done => {
    if (document.readyState !== "loading") done();
    else document.addEventListener("DOMContentLoaded", () => done());
  });

  // Resources that other pages load are part of the file: the scripts have run, a table is parsed on first use.
  kbgen.load = address => {
    if (!address || address.indexOf(data.root) !== 0) return whole;
    return whole.then(() => {
      const table = document.getElementById(address.slice(data.root.length));
      if (!table) return;
      kbgen[table.dataset.variable] = JSON.parse(table.textContent);
      table.remove();
    });
  };

  // Prevents the browser from opening a file that is dropped on the paste box.
  document.querySelector(".paste").addEventListener("dragover", event => {
    event.preventDefault();
  });

  // The fragment for an address of the site without its root; undefined for a page that is not in the file.
  function place(address) {
    const parts = /^([^?#]*)(\?[^#]*)?#?(.*)$/.exec(address);
    // Drops the case after the anchor: the file shows only the page.
    const anchor = parts[3].split("&")[0];
    const page = parts[1].replace(/index\.html$/, "").replace(/\/$/, "") || start.id;
    const inner = `${page}/${anchor}`;
    if (parts[2] || !document.getElementById(page)) return "";
    // The link to a case is for others, who do not have this file.
    if (parts[3].indexOf("case=") === 0) return "";
    return anchor && document.getElementById(inner) ? inner : page;
  }
  function lead(link) {
    const to = link.href.indexOf(base) === 0 && place(link.href.slice(base.length));
    if (to) link.setAttribute("href", `#${to}`);
  }
  // Hides names without a target in this file.
  const names = kbgen.names;
  kbgen.names = (pages, text) => {
    const found = names(pages, text);
    found.pages = found.pages.filter(page => place(page.address));
    return found;
  };

  function pageOf(place) {
    return place && place.closest("main > article");
  }
  function show(moves) {
    let name = location.hash.slice(1);
    const opened = name.indexOf("case=") === 0;
    try {
      name = decodeURIComponent(name);
    } catch {
      /* not percent-encoded: used as is */
    }
    let place = name && !opened ? document.getElementById(name) : start;
    let page = pageOf(place);
    // The skip link, or another element that is not a page.
    if (place && !page) return;
    said.textContent = page
      ? ""
      : t("This file has no page \u201c{name}\u201d. Use the search or one of the lists.", { name });
    if (!page) place = page = start;
    shown.classList.remove("shown");
    page.classList.add("shown");
    shown = page;
    const heading = page.querySelector("h1");
    const list = page.id.split("/")[0];
    document.title = page === start ? title : `${heading.textContent} \u00b7 ${title}`;
    document.querySelectorAll(".nav a").forEach(link => {
      if (link.hash === `#${list}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    page.querySelectorAll(".code").forEach(kbgen.offerCopy);
    if (!moves) return;
    const target = place === page ? heading : place;
    const at = history.state && history.state.at;
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
    if (at != null) scrollTo({ top: at, behavior: "instant" });
    else if (place === page) scrollTo({ top: 0, behavior: "instant" });
    else place.scrollIntoView({ behavior: "instant" });
  }

  // Restores the scroll position when the reader returns to a page.
  history.scrollRestoration = "manual";
  function keep() {
    history.replaceState({ at: scrollY }, "");
  }
  let resting = 0;
  addEventListener(
    "scroll",
    () => {
      clearTimeout(resting);
      resting = setTimeout(keep, 120);
    },
    { passive: true },
  );
  document.addEventListener(
    "click",
    event => {
      const link = event.target.closest && event.target.closest("a");
      if (!link) return;
      clearTimeout(resting);
      keep();
      if (!link.classList.contains("skip")) return;
      event.preventDefault();
      const heading = shown.querySelector("h1");
      heading.tabIndex = -1;
      heading.focus();
    },
    true,
  );
  addEventListener("hashchange", () => {
    clearTimeout(resting);
    show(true);
  });

  // The page may be further down in the file, which is still being read.
  if (location.hash.length > 1) start.classList.remove("shown");
  whole.then(() => {
    new MutationObserver(changes => {
      changes.forEach(change => {
        change.addedNodes.forEach(node => {
          if (!(node instanceof Element)) return;
          if (node.matches("a")) lead(node);
          node.querySelectorAll("a").forEach(lead);
        });
      });
    }).observe(document.body, { childList: true, subtree: true });
    show(location.hash.length > 1);
  });
})();
