// Variants of one command: one is shown, the others are a press away. What was chosen last goes for every page;
// before that the reader's own system does. Without this script all of them stand one below the other.
(function () {
  "use strict";
  var list = function (from, selector) { return Array.prototype.slice.call(from.querySelectorAll(selector)); };
  var MOST_REMEMBERED = 12;

  var chosen = [];
  try { chosen = JSON.parse(localStorage.getItem("variants")) || []; } catch (_) { /* nothing is remembered */ }
  var system = /Win/.test(navigator.platform) ? "Windows" : /Mac/.test(navigator.platform) ? "macOS" : "Linux";

  var shows = list(document, ".variants").map(function (group) {
    var by_system = group.dataset.by === "os";
    var blocks = list(group, ".code"), bar = document.createElement("div");
    bar.className = "variant-names";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", by_system ? "System" : "Tool");
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
    chosen = [name].concat(chosen.filter(function (other) { return other !== name; })).slice(0, MOST_REMEMBERED);
    try { localStorage.setItem("variants", JSON.stringify(chosen)); } catch (_) { /* not remembered */ }
    show();
  }
  show();
})();
