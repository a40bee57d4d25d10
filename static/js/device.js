// Remembers a device as the reader's own, in this browser only: model pages, error pages and the calculator use it.
(() => {
  "use strict";
  const { t } = kbgen;
  const button = document.getElementById("remember");
  if (!button) return;
  const { device } = button.dataset;

  function show() {
    const own = kbgen.ownDevice() === device;
    button.setAttribute("aria-pressed", String(own));
    button.textContent = own ? t("My GPU ✓") : t("Remember as my GPU");
  }
  button.addEventListener("click", () => {
    kbgen.rememberDevice(kbgen.ownDevice() === device ? "" : device);
    show();
  });
  button.hidden = false;
  show();
})();
