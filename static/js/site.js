// Progressive enhancement of every page.
(() => {
  "use strict";
  const { t } = kbgen;
  const root = document.documentElement;
  const all = (selector, from) => Array.from((from || document).querySelectorAll(selector));

  // For browsers with Trusted Types: allows only scripts of this site.
  if (window.trustedTypes) {
    trustedTypes.createPolicy("default", {
      createScriptURL: address =>
        new URL(address, location.href).href.startsWith(new URL(root.dataset.root, location.href).href)
          ? address
          : null,
    });
  }

  // Loads scripts on demand: each file once, executed in the order of requests.
  const loads = {};
  function load(address) {
    return (loads[address] =
      loads[address] ||
      new Promise((done, failed) => {
        const style = /\.css$/.test(address);
        const element = /** @type {PageElement} */ (document.createElement(style ? "link" : "script"));
        if (style) element.rel = "stylesheet";
        if (style) element.href = address;
        else element.src = address;
        element.async = false;
        element.onload = done;
        element.onerror = () => {
          delete loads[address];
          failed();
        };
        document.head.appendChild(element);
      }));
  }
  kbgen.load = load;

  // Loads the script of the paste box on first interaction, or if the address contains a case: a text, or figures
  // after an anchor.
  const paste = document.getElementById("paste");
  if (paste) {
    const box = paste.querySelector("textarea");
    const tell = text => {
      all("#kbgen-paste-status, #paste-out", paste).forEach(place => {
        place.textContent = text;
      });
    };
    const want = () =>
      load(paste.dataset.script).catch(() => {
        tell(box.value && t("The data could not be loaded. Try again."));
      });
    ["focusin", "pointerenter", "dragenter", "input"].forEach(name => {
      paste.addEventListener(name, want);
    });
    // After a return, the browser has restored the text by now.
    addEventListener("pageshow", () => {
      if (box.value) want();
    });
    // Repeats a press of the button that came before the script.
    paste.addEventListener("click", event => {
      if (event.target.id !== "paste-go" || kbgen.findPage) return;
      tell(box.value && t("Loading the data\u2026"));
      want().then(() => {
        if (kbgen.findPage) kbgen.findPage();
      });
    });
    // Prevents the browser from opening a dropped file before the script is loaded.
    ["dragover", "drop"].forEach(name => {
      paste.addEventListener(name, event => {
        if (event.dataTransfer.types.includes("Files")) event.preventDefault();
      });
    });
    const arrive = () => {
      if (/^#(case=|[\w-]+&)/.test(location.hash)) want();
    };
    addEventListener("hashchange", arrive);
    arrive();
  }

  // Theme switch; selecting the system's theme removes the stored choice.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const shown = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const button = document.getElementById("theme");
  if (button) {
    button.addEventListener("click", () => {
      const next = shown() === "dark" ? "light" : "dark";
      const own = next !== (dark.matches ? "dark" : "light");
      if (own) root.dataset.theme = next;
      else delete root.dataset.theme;
      try {
        if (own) localStorage.setItem("theme", next);
        else localStorage.removeItem("theme");
      } catch {
        /* not remembered */
      }
    });
  }

  // Copy button: in a console block copies only the input, without prompts and output.
  function copyable(code) {
    if (!code.querySelector(".p")) return code.textContent.replace(/\n$/, "");
    const copy = code.cloneNode(true);
    all(".p", copy).forEach(prompt => {
      prompt.textContent = "\u0001";
    });
    let open = false;
    return (
      copy.textContent
        .split("\n")
        .filter(line => {
          const keep = open || line.includes("\u0001");
          open = keep && /[\\\x60^]\s*$/.test(line);
          return keep;
        })
        .join("\n")
        // eslint-disable-next-line no-control-regex
        .replace(/\u0001\s?/g, "")
    );
  }
  function copy(text, button, label) {
    const done = () => {
      button.textContent = t("Copied");
      setTimeout(() => {
        button.textContent = label;
      }, 1600);
    };
    const byHand = () => {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.appendChild(area);
      area.select();
      if (document.execCommand("copy")) done();
      area.remove();
      button.focus();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, byHand);
    else byHand();
  }
  function offer(block) {
    if (block.querySelector(".copy")) return;
    const code = block.querySelector("code");
    const bar = document.createElement("div");
    bar.className = "copies";
    const add = (label, kind, text) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = kind;
      button.textContent = label;
      button.setAttribute("aria-live", "polite");
      button.addEventListener("click", () => {
        copy(text(code), button, label);
      });
      bar.appendChild(button);
    };
    if (code.querySelector(".p")) add(t("Copy all"), "copy-all", () => code.textContent);
    add(t("Copy"), "copy", copyable);
    block.appendChild(bar);
  }
  all(".code").forEach(offer);
  kbgen.offerCopy = offer;
  kbgen.copy = copy;

  // Opens the sections around the target of a link; newer browsers do this themselves.
  const isFolded = element => element.parentElement.closest("details:not([open])");
  function unfoldTarget() {
    // After a reload, no element is the target.
    const target = document.querySelector(":target") || document.getElementById(location.hash.slice(1));
    if (!target || !isFolded(target)) return;
    for (let box = isFolded(target); box; box = isFolded(box)) box.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", unfoldTarget);
  document.addEventListener("click", event => {
    if (event.target.closest('a[href^="#"]')) setTimeout(unfoldTarget);
  });
  unfoldTarget();

  // Prints folded sections too.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open], [data-scripts])");
    opened.forEach(details => {
      details.open = true;
    });
  });
  addEventListener("afterprint", () => {
    opened.forEach(details => {
      details.open = false;
    });
  });

  // Marks the current section in the table of contents.
  const toc = document.querySelector(".toc");
  const links = all(".toc a");
  const places = links.map(link => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  if (links.length && "IntersectionObserver" in window) {
    let waiting = false;
    const mark = () => {
      waiting = false;
      let at = -1;
      places.forEach((place, i) => {
        if (place && !isFolded(place) && place.getBoundingClientRect().top < innerHeight * 0.3) at = i;
      });
      const ended = innerHeight + scrollY >= document.body.scrollHeight - 2;
      if (ended) at = links.length - 1;
      // Keeps the selected section marked while it is in view.
      links.forEach((link, i) => {
        const top = link.hash === location.hash && places[i] ? places[i].getBoundingClientRect().top : -1;
        if (top >= 0 && top < innerHeight * (ended ? 1 : 0.3)) at = i;
      });
      links.forEach((link, i) => {
        if (i !== at) return link.removeAttribute("aria-current");
        if (link.hasAttribute("aria-current")) return;
        link.setAttribute("aria-current", "true");
        const strip = link.parentNode.parentNode;
        if (strip.scrollWidth > strip.clientWidth) strip.scrollLeft = link.offsetLeft - 24;
        else if (toc.scrollHeight > toc.clientHeight) toc.scrollTop = link.offsetTop - toc.clientHeight / 2;
      });
    };
    addEventListener(
      "scroll",
      () => {
        if (!waiting) {
          waiting = true;
          requestAnimationFrame(mark);
        }
      },
      { passive: true },
    );
    mark();
  }

  // Judges the badge by the reader's date, not that of the build.
  const now = new Date();
  const today = new Date(now.getTime() - now.getTimezoneOffset() * 60000).toISOString().slice(0, 10);
  all("[data-overdue-on]").forEach(badge => {
    const note = badge.querySelector(".overdue");
    if (note) note.hidden = today < badge.dataset.overdueOn;
  });

  // The reader's own device, stored in this browser only: "slug", or "slug@GB" for one of several memory sizes.
  kbgen.ownDevice = () => {
    try {
      return localStorage.getItem("device") || "";
    } catch {
      return "";
    }
  };
  kbgen.rememberDevice = id => {
    try {
      if (id) localStorage.setItem("device", id);
      else localStorage.removeItem("device");
    } catch {
      /* not remembered */
    }
  };

  // Closes the menu with Escape, by a click elsewhere, and when the focus or the reader leaves it.
  const menu = document.querySelector(".menu");
  if (menu) {
    const close = event => {
      if (!(event.type === "click" && event.target.closest(".menu > summary"))) menu.open = false;
    };
    document.addEventListener("click", close);
    addEventListener("pagehide", close);
    menu.addEventListener("focusout", event => {
      const to = /** @type {PageElement} */ (event.relatedTarget);
      if (to && !menu.contains(to)) close(event);
    });
    menu.addEventListener("keydown", event => {
      if (event.key !== "Escape") return;
      close(event);
      menu.querySelector("summary").focus();
    });
  }

  // Loads the scripts of folded content when it opens. With a remembered device it is open from the start if it is out
  // of view.
  all("details[data-scripts]").forEach(details => {
    details.addEventListener(
      "toggle",
      () => {
        Promise.all(details.dataset.scripts.split(" ").map(load)).catch(() => {
          /* its text says where else to look */
        });
      },
      { once: true },
    );
    if (kbgen.ownDevice() && details.getBoundingClientRect().top > innerHeight) {
      details.classList.add("kept");
      details.open = true;
    }
  });

  // Search: loads its script on first use, and passes on what was typed meanwhile. Who enters another field meanwhile
  // wants no dialog.
  const link = document.getElementById("kbgen-search");
  let early = null;
  function search() {
    if (kbgen.openSearch) return kbgen.openSearch("");
    if (early !== null) return;
    early = "";
    Promise.all(root.dataset.finder.split(" ").map(load)).then(
      () => {
        if (early !== null) kbgen.openSearch(early);
        early = null;
      },
      () => {
        if (early !== null) location.href = link.href;
      },
    );
  }
  const mac = /Mac|iP/.test(navigator.platform);
  if (link) {
    link.setAttribute("aria-haspopup", "dialog");
    link.addEventListener("click", event => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      search();
    });
    addEventListener("focusin", event => {
      if (event.target.closest("input, textarea, select")) early = null;
    });
    addEventListener("keydown", event => {
      const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
      const slash = event.key === "/" && plain && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if ((slash && early === null) || (event.key === "k" && (mac ? event.metaKey : event.ctrlKey))) search();
      else if (early !== null && plain && event.key.length === 1) early += event.key;
      else if (early && event.key === "Enter") early += "\n";
      else return;
      event.preventDefault();
    });
  }

  // Variants of a command: shows one, with buttons for the others. The last choice applies to all pages; the default
  // is the reader's system. Without scripts all variants are shown.
  let chosen = [];
  try {
    chosen = [].concat(JSON.parse(localStorage.getItem("variants"))).filter(name => typeof name === "string");
  } catch {
    /* nothing is remembered */
  }
  const system = /Win/.test(navigator.platform) ? "Windows" : /Mac/.test(navigator.platform) ? "macOS" : "Linux";

  const shows = all(".variants").map(group => {
    const bySystem = group.dataset.by === "os";
    const blocks = all(".code", group);
    const bar = document.createElement("div");
    bar.className = "variant-names";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", bySystem ? t("System") : t("Tool"));
    // Labels are `Ollama · Linux`: the tool first, the system last.
    const names = blocks.map(block => block.dataset.label.split(" · ")[bySystem ? "pop" : "shift"]());
    const buttons = names.map(name => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => {
        choose(name);
      });
      bar.append(button);
      return button;
    });
    group.prepend(bar);
    return () => {
      const order = chosen.concat(system);
      const places = names.map(name => {
        // "Linux and macOS" is for readers of either.
        const isOne = wanted => wanted === name || (bySystem && (name.includes(wanted) || wanted.includes(name)));
        const at = order.findIndex(isOne);
        return at < 0 ? order.length : at;
      });
      const shown = places.indexOf(Math.min(...places));
      blocks.forEach((block, at) => {
        block.classList.toggle("on", at === shown);
        block.classList.toggle("off", at !== shown);
        buttons[at].setAttribute("aria-pressed", String(at === shown));
      });
    };
  });
  function show() {
    shows.forEach(each => {
      each();
    });
  }
  function choose(name) {
    chosen = [name].concat(chosen.filter(other => other !== name)).slice(0, 12);
    try {
      localStorage.setItem("variants", JSON.stringify(chosen));
    } catch {
      /* not remembered */
    }
    show();
  }
  show();
})();
