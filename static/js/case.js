// A case in an address: the text stands behind the "#", which no server sees.
(function () {
  "use strict";
  // The end of a text, without what does not belong where others may read it: names, tokens, addresses.
  window.kbgenMasked = function (text, longest) {
    return text.slice(-2 * longest)
      .replace(/\b(hf_|sk-|ghp_|github_pat_|AKIA)[\w-]{8,}/g, "[secret]")
      .replace(/((?:token|password|secret|api[_-]?key|authorization)["']?\s*[:=]\s*)\S+/gi, "$1[secret]")
      .replace(/[\w.+-]+@[\w-]+\.[\w.-]+/g, "[address]")
      .replace(/\b(?!127\.|0\.0\.0\.0)\d{1,3}(?:\.\d{1,3}){3}\b/g, "[ip]")
      .replace(/((?:\/home|\/Users|[A-Z]:\\Users)[\\/])[^\\/\s"']+/g, "$1[name]")
      .trim().slice(-longest)
      // Half a character cannot stand in an address.
      .replace(/\p{Surrogate}/gu, "");
  };

  // The address, from the root of the site, that opens diagnosis with the end of a text.
  window.kbgenCase = function (text, longest) {
    return "diagnose/index.html#case=" + encodeURIComponent(window.kbgenMasked(text, longest));
  };
})();
