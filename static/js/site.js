// Small conveniences on every page. The page is whole without them.
(function () {
  "use strict";
  var root = document.documentElement;
  var all = function (selector, from) { return Array.prototype.slice.call((from || document).querySelectorAll(selector)); };

  // Where a browser demands it (Trusted Types), this makes addresses of scripts, and only of files of this site.
  var base = new URL(root.dataset.root || "./", location.href).href;
  var own = { createScriptURL: function (address) {
    var full = new URL(address, location.href).href;
    if (full.indexOf(base) !== 0) throw new TypeError("not of this site");
    return full;
  } };
  var policy = window.trustedTypes ? trustedTypes.createPolicy("kbgen", own) : own;

  // What a page loads when it is first wanted, each file once, and run in the order asked for.
  var loads = {};
  function load(address) {
    return loads[address] = loads[address] || new Promise(function (done, failed) {
      var style = /\.css$/.test(address), element = document.createElement(style ? "link" : "script");
      if (style) element.rel = "stylesheet";
      if (style) element.href = address; else element.src = policy.createScriptURL(address);
      element.async = false;
      element.onload = done;
      element.onerror = function () { delete loads[address]; failed(); };
      document.head.appendChild(element);
    });
  }
  window.kbgenLoad = load;

  // The paste box has its script once it is wanted: something comes near it, or the address carries a case.
  var paste = document.getElementById("paste");
  if (paste) {
    var want = function () { load(paste.dataset.script).catch(function () {}); };
    ["focusin", "pointerenter", "dragenter"].forEach(function (name) { paste.addEventListener(name, want, { once: true }); });
    // A file that is dropped before that does not take the place of the page.
    ["dragover", "drop"].forEach(function (name) { paste.addEventListener(name, function (event) { if ([].indexOf.call(event.dataTransfer.types, "Files") >= 0) event.preventDefault(); }); });
    var arrive = function () { if (/^#case=/.test(location.hash)) want(); };
    addEventListener("hashchange", arrive);
    arrive();
  }

  // Theme: one switch; choosing what the system says anyway forgets the choice.
  var dark = matchMedia("(prefers-color-scheme: dark)");
  var shown = function () { return root.dataset.theme || (dark.matches ? "dark" : "light"); };
  var button = document.getElementById("theme");
  if (button) button.addEventListener("click", function () {
    var next = shown() === "dark" ? "light" : "dark";
    var own = next !== (dark.matches ? "dark" : "light");
    if (own) root.dataset.theme = next; else delete root.dataset.theme;
    try { if (own) localStorage.setItem("theme", next); else localStorage.removeItem("theme"); } catch (_) { /* not remembered */ }
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
    var done = function () {
      button.textContent = t("Copied");
      setTimeout(function () { button.textContent = label; }, 1600);
    };
    var by_hand = function () {
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
      button.addEventListener("click", function () { copy(text(code), button, label); });
      bar.appendChild(button);
    };
    if (code.querySelector(".p")) add(t("Copy all"), "copy-all", function () { return code.textContent; });
    add(t("Copy"), "copy", copyable);
    block.appendChild(bar);
  }
  all(".code").forEach(offer);
  window.kbgenOfferCopy = offer;

  // Contents: the section being read is marked.
  var toc = document.querySelector(".toc");
  var links = all(".toc a");
  var places = links.map(function (link) { return document.getElementById(decodeURIComponent(link.hash.slice(1))); });
  if (links.length && "IntersectionObserver" in window) {
    var waiting = false;
    var mark = function () {
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
    addEventListener("scroll", function () { if (!waiting) { waiting = true; requestAnimationFrame(mark); } }, { passive: true });
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
  document.addEventListener("click", function (event) {
    var link = event.target.closest && event.target.closest("a.anchor");
    if (link && navigator.clipboard) navigator.clipboard.writeText(link.href).catch(function () {});
  });

  // What is folded away brings its scripts when it opens. With a card remembered it is open from the start, if out of sight.
  all("details[data-scripts]").forEach(function (details) {
    details.addEventListener("toggle", function () {
      Promise.all(details.dataset.scripts.split(" ").map(load)).catch(function () { /* its text says where else to look */ });
    }, { once: true });
    try {
      if (localStorage.getItem("card") && details.getBoundingClientRect().top > innerHeight) {
        details.classList.add("kept");
        details.open = true;
      }
    } catch (_) { /* it stays folded */ }
  });

  // Search: its script is loaded when it is first wanted, and gets what was typed meanwhile.
  var link = document.getElementById("kbgen-search"), early = null;
  function search() {
    if (window.kbgenFind) return window.kbgenFind("");
    if (early !== null) return;
    early = "";
    Promise.all(root.dataset.finder.split(" ").map(load)).then(function () {
      window.kbgenFind(early);
      early = null;
    }, function () { location.href = link.href; });
  }
  var mac = /Mac|iP/.test(navigator.platform);
  if (link) {
    link.setAttribute("aria-haspopup", "dialog");
    link.addEventListener("click", function (event) {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      search();
    });
    addEventListener("keydown", function (event) {
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
  try { chosen = JSON.parse(localStorage.getItem("variants")) || []; } catch (_) { /* nothing is remembered */ }
  var system = /Win/.test(navigator.platform) ? "Windows" : /Mac/.test(navigator.platform) ? "macOS" : "Linux";

  var shows = all(".variants").map(function (group) {
    var by_system = group.dataset.by === "os";
    var blocks = all(".code", group), bar = document.createElement("div");
    bar.className = "variant-names";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", by_system ? t("System") : t("Tool"));
    // A label reads `Ollama · Linux`: the tool first, the system last.
    var names = blocks.map(function (block) { return block.dataset.label.split(" · ")[by_system ? "pop" : "shift"](); });
    var buttons = names.map(function (name) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", function () { choose(name); });
      bar.append(button);
      return button;
    });
    group.prepend(bar);
    return function () {
      var order = chosen.concat(system);
      var places = names.map(function (name) { var at = order.indexOf(name); return at < 0 ? order.length : at; });
      var shown = places.indexOf(Math.min.apply(null, places));
      blocks.forEach(function (block, at) {
        block.classList.toggle("on", at === shown);
        block.classList.toggle("off", at !== shown);
        buttons[at].setAttribute("aria-pressed", at === shown);
      });
    };
  });
  function show() { shows.forEach(function (each) { each(); }); }
  function choose(name) {
    chosen = [name].concat(chosen.filter(function (other) { return other !== name; })).slice(0, 12);
    try { localStorage.setItem("variants", JSON.stringify(chosen)); } catch (_) { /* not remembered */ }
    show();
  }
  show();
})();
