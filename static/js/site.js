// Small conveniences on every page. The page is whole without them.
(function () {
  "use strict";
  var root = document.documentElement;
  var all = (selector, from) => Array.from((from || document).querySelectorAll(selector));

  // A browser that knows Trusted Types asks this before it loads a script: only files of this site are.
  if (window.trustedTypes) trustedTypes.createPolicy("default", {
    createScriptURL: address => new URL(address, location).href.indexOf(new URL(root.dataset.root, location)) ? null : address,
  });

  // What a page loads when it is first wanted, each file once, and run in the order asked for.
  var loads = {};
  function load(address) {
    return loads[address] = loads[address] || new Promise(function (done, failed) {
      var style = /\.css$/.test(address), element = document.createElement(style ? "link" : "script");
      if (style) element.rel = "stylesheet";
      if (style) element.href = address; else element.src = address;
      element.async = false;
      element.onload = done;
      element.onerror = () => { delete loads[address]; failed(); };
      document.head.appendChild(element);
    });
  }
  window.kbgenLoad = load;

  // The paste box has its script once it is wanted: something comes near it, or the address carries a case, as a text or
  // as figures behind an anchor.
  var paste = document.getElementById("paste");
  if (paste) {
    var want = () => { load(paste.dataset.script).catch(() => {}); };
    ["focusin", "pointerenter", "dragenter"].forEach(function (name) { paste.addEventListener(name, want, { once: true }); });
    // A press of the button before the script is there counts once it is.
    paste.addEventListener("click", event => {
      if (event.target.id === "paste-go" && !window.kbgenFindPage) load(paste.dataset.script).then(() => { window.kbgenFindPage(); }, () => {});
    });
    // A file that is dropped before that does not take the place of the page.
    ["dragover", "drop"].forEach(function (name) { paste.addEventListener(name, event => { if (event.dataTransfer.types.includes("Files")) event.preventDefault(); }); });
    var arrive = () => { if (/^#(case=|[\w-]+&)/.test(location.hash)) want(); };
    addEventListener("hashchange", arrive);
    arrive();
  }

  // Theme: one switch; choosing what the system says anyway forgets the choice.
  var dark = matchMedia("(prefers-color-scheme: dark)");
  var shown = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  var button = document.getElementById("theme");
  if (button) button.addEventListener("click", () => {
    var next = shown() === "dark" ? "light" : "dark";
    var own = next !== (dark.matches ? "dark" : "light");
    if (own) root.dataset.theme = next; else delete root.dataset.theme;
    try { if (own) localStorage.setItem("theme", next); else localStorage.removeItem("theme"); } catch { /* not remembered */ }
  });

  // Copy: in a console block only what is typed, without prompts and output.
  function copyable(code) {
    if (!code.querySelector(".p")) return code.textContent.replace(/\n$/, "");
    var copy = code.cloneNode(true);
    all(".p", copy).forEach(function (prompt) { prompt.textContent = "\u0001"; });
    var open = false;
    return copy.textContent.split("\n").filter(function (line) {
      var keep = open || line.indexOf("\u0001") >= 0;
      open = keep && /[\\\x60^]\s*$/.test(line);
      return keep;
    }).join("\n").replace(/\u0001\s?/g, "");
  }
  function copy(text, button, label) {
    var done = () => {
      button.textContent = t("Copied");
      setTimeout(() => { button.textContent = label; }, 1600);
    };
    var by_hand = () => {
      var area = document.createElement("textarea");
      area.value = text;
      document.body.appendChild(area);
      area.select();
      if (document.execCommand("copy")) done();
      area.remove();
      button.focus();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, by_hand); else by_hand();
  }
  function offer(block) {
    if (block.querySelector(".copy")) return;
    var code = block.querySelector("code"), bar = document.createElement("div");
    bar.className = "copies";
    var add = function (label, kind, text) {
      var button = document.createElement("button");
      button.type = "button";
      button.className = kind;
      button.textContent = label;
      button.setAttribute("aria-live", "polite");
      button.addEventListener("click", () => { copy(text(code), button, label); });
      bar.appendChild(button);
    };
    if (code.querySelector(".p")) add(t("Copy all"), "copy-all", () => code.textContent);
    add(t("Copy"), "copy", copyable);
    block.appendChild(bar);
  }
  all(".code").forEach(offer);
  window.kbgenOfferCopy = offer;

  // Contents: the section being read is marked.
  var toc = document.querySelector(".toc");
  var links = all(".toc a");
  var places = links.map(link => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  if (links.length && "IntersectionObserver" in window) {
    var waiting = false;
    var mark = () => {
      waiting = false;
      var at = -1;
      places.forEach(function (place, i) { if (place && place.getBoundingClientRect().top < innerHeight * 0.3) at = i; });
      var ended = innerHeight + scrollY >= document.body.scrollHeight - 2;
      if (ended) at = links.length - 1;
      // The one that was chosen stays marked while it stands where one reads.
      links.forEach(function (link, i) {
        var top = link.hash === location.hash && places[i] ? places[i].getBoundingClientRect().top : -1;
        if (top >= 0 && top < innerHeight * (ended ? 1 : 0.3)) at = i;
      });
      links.forEach(function (link, i) {
        if (i !== at) return link.removeAttribute("aria-current");
        if (link.hasAttribute("aria-current")) return;
        link.setAttribute("aria-current", "true");
        var strip = link.parentNode.parentNode;
        if (strip.scrollWidth > strip.clientWidth) strip.scrollLeft = link.offsetLeft - 24;
        else if (toc.scrollHeight > toc.clientHeight) toc.scrollTop = link.offsetTop - toc.clientHeight / 2;
      });
    };
    addEventListener("scroll", () => { if (!waiting) { waiting = true; requestAnimationFrame(mark); } }, { passive: true });
    mark();
  }

  // The badge is judged by the reader's date, not by the day of the build.
  var now = new Date();
  var today = new Date(now - now.getTimezoneOffset() * 60000).toISOString().slice(0, 10);
  all("[data-overdue-on]").forEach(function (badge) {
    var note = badge.querySelector(".overdue");
    if (note) note.hidden = today < badge.dataset.overdueOn;
  });

  // A heading's link copies its address as well as going there.
  document.addEventListener("click", event => {
    var link = event.target.closest && event.target.closest("a.anchor");
    if (link && navigator.clipboard) navigator.clipboard.writeText(link.href).catch(() => {});
  });

  // What is folded away brings its scripts when it opens. With a card remembered it is open from the start, if out of sight.
  all("details[data-scripts]").forEach(function (details) {
    details.addEventListener("toggle", () => {
      Promise.all(details.dataset.scripts.split(" ").map(load)).catch(() => { /* its text says where else to look */ });
    }, { once: true });
    try {
      if (localStorage.getItem("card") && details.getBoundingClientRect().top > innerHeight) {
        details.classList.add("kept");
        details.open = true;
      }
    } catch { /* it stays folded */ }
  });

  // Search: its script is loaded when it is first wanted, and gets what was typed meanwhile.
  var link = document.getElementById("kbgen-search"), early = null;
  function search() {
    if (window.kbgenFind) return window.kbgenFind("");
    if (early !== null) return;
    early = "";
    Promise.all(root.dataset.finder.split(" ").map(load)).then(() => {
      window.kbgenFind(early);
      early = null;
    }, () => { location.href = link.href; });
  }
  var mac = /Mac|iP/.test(navigator.platform);
  if (link) {
    link.setAttribute("aria-haspopup", "dialog");
    link.addEventListener("click", event => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      search();
    });
    addEventListener("keydown", event => {
      var plain = !event.ctrlKey && !event.metaKey && !event.altKey;
      var slash = event.key === "/" && plain && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if (slash && early === null || event.key === "k" && (mac ? event.metaKey : event.ctrlKey)) search();
      else if (early !== null && plain && event.key.length === 1) early += event.key;
      else return;
      event.preventDefault();
    });
  }

  // Variants of one command: one is shown, the others are a press away. What was chosen last goes for every page;
  // before that the reader's own system does. Without scripts all of them stand one below the other.
  var chosen = [];
  try { chosen = JSON.parse(localStorage.getItem("variants")) || []; } catch { /* nothing is remembered */ }
  var system = /Win/.test(navigator.platform) ? "Windows" : /Mac/.test(navigator.platform) ? "macOS" : "Linux";

  var shows = all(".variants").map(function (group) {
    var by_system = group.dataset.by === "os";
    var blocks = all(".code", group), bar = document.createElement("div");
    bar.className = "variant-names";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", by_system ? t("System") : t("Tool"));
    // A label reads `Ollama · Linux`: the tool first, the system last.
    var names = blocks.map(block => block.dataset.label.split(" · ")[by_system ? "pop" : "shift"]());
    var buttons = names.map(function (name) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => { choose(name); });
      bar.append(button);
      return button;
    });
    group.prepend(bar);
    return () => {
      var order = chosen.concat(system);
      var places = names.map(function (name) { var at = order.indexOf(name); return at < 0 ? order.length : at; });
      var shown = places.indexOf(Math.min(...places));
      blocks.forEach(function (block, at) {
        block.classList.toggle("on", at === shown);
        block.classList.toggle("off", at !== shown);
        buttons[at].setAttribute("aria-pressed", at === shown);
      });
    };
  });
  function show() { shows.forEach(function (each) { each(); }); }
  function choose(name) {
    chosen = [name].concat(chosen.filter(other => other !== name)).slice(0, 12);
    try { localStorage.setItem("variants", JSON.stringify(chosen)); } catch { /* not remembered */ }
    show();
  }
  show();
})();
