// Keeps this page as new as the site's sources: reloads it, exchanges style sheets, shows what is broken.
(() => {
  "use strict";
  const script = /** @type {HTMLScriptElement | null} */ (document.currentScript);
  if (!script || !window.EventSource) return;
  const events = new URL("events", script.src);
  const site = new URL("../", script.src);
  const overlayStyle = new URL("overlay.css", script.src).href;
  const here = location.pathname;

  let version = "VERSION_OF_THIS_PAGE";
  let source = null;
  let overlay = null;
  let dismissed = null;

  // Storage may be forbidden; then the browser's own memory of the scroll position has to do.
  const remember = (key, value) => {
    try {
      sessionStorage.setItem(key, value);
    } catch {
      /* not kept */
    }
  };
  const recall = key => {
    try {
      return sessionStorage.getItem(key);
    } catch {
      return null;
    }
  };
  const forget = key => {
    try {
      sessionStorage.removeItem(key);
    } catch {
      /* not kept */
    }
  };

  function reload(to) {
    // Reloaded once for this version already and still older: a cache between us would make it a loop.
    if (recall("kbgen-reloaded") === here + to) return;
    remember("kbgen-reloaded", here + to);
    remember("kbgen-scroll", JSON.stringify([here, scrollX, scrollY]));
    location.reload();
  }

  function restoreScroll() {
    const kept = JSON.parse(recall("kbgen-scroll") || "null");
    forget("kbgen-scroll");
    if (kept && kept[0] === here) scrollTo({ left: kept[1], top: kept[2], behavior: "instant" });
  }

  // True when at least one sheet of this page was exchanged; one imported by another sheet is not found.
  function exchangeStyles(styles) {
    let found = false;
    for (const { from, to } of styles) {
      const path = name => new URL(name.split("/").map(encodeURIComponent).join("/"), site);
      for (const link of document.querySelectorAll('link[rel~="stylesheet"]')) {
        const href = new URL(link.href);
        if (href.origin + href.pathname !== path(from).href) continue;
        found = true;
        const next = /** @type {HTMLLinkElement} */ (link.cloneNode());
        next.removeAttribute("integrity");
        next.href = `${path(to).href}?${Date.now()}`;
        // The old sheet stays until the new one is there, so that the page never shows without style.
        next.addEventListener("load", () => link.remove(), { once: true });
        next.addEventListener("error", () => link.remove(), { once: true });
        link.after(next);
      }
    }
    return found;
  }

  // True when this page, or something that it has loaded, is among files that changed.
  function isAmong(changed) {
    const loaded = performance.getEntriesByType("resource").map(entry => new URL(entry.name));
    const paths = [new URL(location.href), ...loaded]
      .filter(url => url.origin === site.origin)
      .map(url => url.pathname);
    const names = new Set(
      changed.map(name => new URL(name.split("/").map(encodeURIComponent).join("/"), site).pathname),
    );
    return paths.some(path => names.has(path.endsWith("/") ? `${path}index.html` : path));
  }

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function hide() {
    overlay?.remove();
    overlay = null;
  }

  function show(text) {
    if (text === dismissed || overlay?.dataset.text === text) return;
    hide();
    if (!document.querySelector(`link[href="${overlayStyle}"]`)) {
      document.head.append(element("link", { rel: "stylesheet", href: overlayStyle }));
    }
    const dismiss = element("button", { type: "button", textContent: "Dismiss" });
    overlay = element(
      "dialog",
      { className: "kbgen-overlay" },
      element("h2", {
        id: "kbgen-overlay-title",
        textContent: "The site does not build. This page shows its last good state.",
      }),
      element("pre", { id: "kbgen-overlay-text", tabIndex: 0, textContent: text }),
      dismiss,
    );
    overlay.dataset.text = text;
    overlay.setAttribute("role", "alertdialog");
    overlay.setAttribute("aria-labelledby", "kbgen-overlay-title");
    overlay.setAttribute("aria-describedby", "kbgen-overlay-text");
    dismiss.addEventListener("click", () => overlay.close());
    // Escape closes a dialog too.
    overlay.addEventListener("close", () => {
      dismissed = text;
      hide();
    });
    document.body.append(overlay);
    overlay.showModal();
    dismiss.focus();
  }

  function follow(news) {
    if (news.version !== version) {
      const known = news.from === version;
      const styled = known && news.styles.length > 0 && exchangeStyles(news.styles);
      const concerned = !known || news.changed === null || isAmong(news.changed);
      if (!styled && concerned) return reload(news.version);
      version = news.version;
    } else {
      forget("kbgen-reloaded");
    }
    if (news.broken === null) {
      dismissed = null;
      hide();
    } else {
      show(news.broken);
    }
  }

  // A browser opens six connections to a server at most: only pages in sight keep one.
  function connect() {
    if (source || document.visibilityState === "hidden") return;
    source = new EventSource(events);
    source.addEventListener("state", event => follow(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      // The browser tries again by itself, unless the server refused: then we do.
      if (source?.readyState !== EventSource.CLOSED) return;
      source = null;
      setTimeout(connect, 2000);
    });
  }

  function disconnect() {
    source?.close();
    source = null;
  }

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") disconnect();
    else connect();
  });
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", connect);
  restoreScroll();
  connect();
})();
