// Small conveniences on every page. The page is whole without them.
(() => {
  "use strict";
  const { t } = kbgen;
  const root = document.documentElement;
  const all = (selector, from) => Array.from((from || document).querySelectorAll(selector));

  // A browser that knows Trusted Types asks this before it loads a script: only files of this site are.
  if (window.trustedTypes) {
    trustedTypes.createPolicy("default", {
      createScriptURL: address =>
        new URL(address, location.href).href.startsWith(new URL(root.dataset.root, location.href).href)
          ? address
          : null,
    });
  }

  // What a page loads when it is first wanted, each file once, and run in the order asked for.
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

  // The paste box has its script once it is wanted: something comes near it, or the address carries a case, as a text
  // or as figures behind an anchor.
  const paste = document.getElementById("paste");
  if (paste) {
    const want = () => {
      load(paste.dataset.script).catch(() => {});
    };
    ["focusin", "pointerenter", "dragenter"].forEach(name => {
      paste.addEventListener(name, want, { once: true });
    });
    // A press of the button before the script is there counts once it is.
    paste.addEventListener("click", event => {
      if (event.target.id === "paste-go" && !kbgen.findPage) {
        load(paste.dataset.script).then(
          () => {
            kbgen.findPage();
          },
          () => {},
        );
      }
    });
    // A file that is dropped before that does not take the place of the page.
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

  // Theme: one switch; choosing what the system says anyway forgets the choice.
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

  // Copy: in a console block only what is typed, without prompts and output.
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

  // The target of a link is shown where it is folded away; newer browsers do this themselves.
  const isFolded = element => element.parentElement.closest("details:not([open])");
  function unfoldTarget() {
    const target = document.querySelector(":target");
    if (!target || !isFolded(target)) return;
    for (let box = isFolded(target); box; box = isFolded(box)) box.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", unfoldTarget);
  document.addEventListener("click", event => {
    if (event.target.closest('a[href^="#"]')) setTimeout(unfoldTarget);
  });
  unfoldTarget();

  // Everything is printed.
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

  // Contents: the section being read is marked.
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
      // The one that was chosen stays marked while it stands where one reads.
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

  // The badge is judged by the reader's date, not by the day of the build.
  const now = new Date();
  const today = new Date(now.getTime() - now.getTimezoneOffset() * 60000).toISOString().slice(0, 10);
  all("[data-overdue-on]").forEach(badge => {
    const note = badge.querySelector(".overdue");
    if (note) note.hidden = today < badge.dataset.overdueOn;
  });

  // A heading's link copies its address as well as going there.
  document.addEventListener("click", event => {
    const link = event.target.closest && event.target.closest("a.anchor");
    if (link && navigator.clipboard) navigator.clipboard.writeText(link.href).catch(() => {});
  });

  // What is folded away brings its scripts when it opens. With a card remembered it is open from the start, if out of
  // sight.
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
    try {
      if (localStorage.getItem("card") && details.getBoundingClientRect().top > innerHeight) {
        details.classList.add("kept");
        details.open = true;
      }
    } catch {
      /* it stays folded */
    }
  });

  // Search: its script is loaded when it is first wanted, and gets what was typed meanwhile.
  const link = document.getElementById("kbgen-search");
  let early = null;
  function search() {
    if (kbgen.openSearch) return kbgen.openSearch("");
    if (early !== null) return;
    early = "";
    Promise.all(root.dataset.finder.split(" ").map(load)).then(
      () => {
        kbgen.openSearch(early);
        early = null;
      },
      () => {
        location.href = link.href;
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
    addEventListener("keydown", event => {
      const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
      const slash = event.key === "/" && plain && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if ((slash && early === null) || (event.key === "k" && (mac ? event.metaKey : event.ctrlKey))) search();
      else if (early !== null && plain && event.key.length === 1) early += event.key;
      else return;
      event.preventDefault();
    });
  }

  // Variants of one command: one is shown, the others are a press away. What was chosen last goes for every page;
  // before that the reader's own system does. Without scripts all of them stand one below the other.
  let chosen = [];
  try {
    chosen = JSON.parse(localStorage.getItem("variants")) || [];
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
    // A label reads `Ollama · Linux`: the tool first, the system last.
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
        const at = order.indexOf(name);
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
