// Runs before the first paint: applies the stored theme, marks that scripts run, and defines shared functions.
(root => {
  "use strict";
  root.classList.add("js");
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // Storage may be disabled; the system's theme applies.
  }
  // Fills the placeholders of a text; of two texts, selects singular or plural.
  const t = (one, ...rest) => {
    const values = rest.pop() ?? {};
    const text = rest.length && values.n !== 1 ? rest[0] : one;
    return text.replace(/\{(\w+)\}/g, (hole, name) => values[name] ?? hole);
  };
  window.kbgen = { t };
})(document.documentElement);
