// Runs before the first paint: the remembered theme, and a sign that scripts run.
(function (root) {
  root.classList.add("js");
  try {
    var theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch (_) { /* storage may be closed; the system's choice holds */ }
})(document.documentElement);
