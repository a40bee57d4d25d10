// Runs before the first paint: the remembered theme, a sign that scripts run, and what the scripts share.
(root => {
  "use strict";
  root.classList.add("js");
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // Storage may be closed; the system's choice holds.
  }
  // A text of the interface with its holes filled; of two texts, the first is for one and the second for many.
  const t = (one, ...rest) => {
    const values = rest.pop() ?? {};
    const text = rest.length && values.n !== 1 ? rest[0] : one;
    return text.replace(/\{(\w+)\}/g, (hole, name) => values[name] ?? hole);
  };
  window.kbgen = { t };
})(document.documentElement);
