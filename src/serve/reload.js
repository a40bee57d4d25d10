// Keeps this page up to date: reloads it, replaces style sheets, shows build errors.
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

  // Storage may be blocked; the browser then restores the scroll position.
  const remember = (key, value) => {
    try {
      sessionStorage.setItem(key, value);
    } catch {
      /* not stored */
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
      /* not stored */
    }
  };

  function reload(to) {
    // A reload for this version returned an older page, for example from a proxy cache. Avoid a loop.
    if (recall("kbgen-reloaded") === here + to) return;
    remember("kbgen-reloaded", here + to);
    remember("kbgen-scroll", JSON.stringify([here, scrollX, scrollY]));
    location.reload();
  }

  function restoreScroll() {
    const saved = JSON.parse(recall("kbgen-scroll") || "null");
    forget("kbgen-scroll");
    if (saved && saved[0] === here) scrollTo({ left: saved[1], top: saved[2], behavior: "instant" });
  }

  // Returns whether a style sheet of this page was replaced. Sheets imported by other sheets are not found.
  function replaceStyles(styles) {
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
        // Keep the old sheet until the new one has loaded.
        next.addEventListener("load", () => link.remove(), { once: true });
        next.addEventListener("error", () => link.remove(), { once: true });
        link.after(next);
      }
    }
    return found;
  }

  // Returns whether this page or a resource that it loaded is among the changed files.
  function usesAny(changed) {
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
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
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
        textContent: "The site does not build. This page shows the last successful build.",
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

  function applyState(state) {
    if (state.version !== version) {
      const known = state.from === version;
      const replaced = known && state.styles.length > 0 && replaceStyles(state.styles);
      const affected = !known || state.changed === null || usesAny(state.changed);
      if (!replaced && affected) return reload(state.version);
      version = state.version;
    } else {
      forget("kbgen-reloaded");
    }
    if (state.broken === null) {
      dismissed = null;
      hide();
    } else {
      show(state.broken);
    }
  }

  // Browsers open at most six connections per server, so only visible pages keep one.
  function connect() {
    if (source || document.visibilityState === "hidden") return;
    source = new EventSource(events);
    source.addEventListener("state", event => applyState(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      // The browser reconnects unless the server rejected the request.
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
