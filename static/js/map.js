// Lights up one error and its neighbours: where the pointer is, or what is open in the list, whose order the strokes have.
(function () {
  "use strict";
  var picture = document.getElementById("map"), said = document.getElementById("map-said");
  var entries = document.querySelectorAll(".map-list details"), strokes = picture.querySelectorAll(".points a");
  function light(at) {
    picture.querySelectorAll(".on").forEach(function (part) { part.classList.remove("on", "own"); });
    picture.classList.toggle("lit", at >= 0);
    said.textContent = at < 0 ? "" : strokes[at].textContent;
    if (at < 0) return;
    strokes[at].classList.add("on", "own");
    picture.querySelectorAll(".p" + at).forEach(function (curve) {
      curve.classList.add("on");
      curve.getAttribute("class").replace(/p(\d+)/g, function (_, end) { strokes[end].classList.add("on"); });
    });
  }
  function rest() { light([].findIndex.call(entries, function (entry) { return entry.open; })); }
  function arrive() {
    var summary = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!summary || summary.localName !== "summary") return;
    summary.parentNode.open = true;
    // What was open above it has closed.
    summary.scrollIntoView();
  }
  strokes.forEach(function (stroke, at) {
    stroke.addEventListener("pointerenter", function () { light(at); });
    entries[at].addEventListener("toggle", rest);
    entries[at].addEventListener("focusin", function () { light(at); });
    entries[at].addEventListener("pointerenter", function () { light(at); });
    entries[at].addEventListener("pointerleave", rest);
  });
  picture.addEventListener("pointerleave", rest);
  addEventListener("hashchange", arrive);
  arrive();
})();
