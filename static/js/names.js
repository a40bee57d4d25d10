/*
 * Pages by name: kbgen.names(data, text) returns the typed {parts} and {pages: [{address, title, note, group,
 * worth, similar}]}, best first, and the {missing} files of an index in parts, without which the answer is incomplete;
 * `similar` is the number of further pages with the same message, which follow all others. Pages are found by the word
 * index, by their names, and by the settings that their commands use.
 */
kbgen.names = (() => {
  "use strict";
  const { t } = kbgen;

  // Names are separated in many ways: "rtx4090", "llama3.1:8b", "Q4_K_M".
  const split = text => text.toLowerCase().match(/[a-z]+|\d+/g) || [];
  const isNumber = part => /\d/.test(part);
  const words = list => list.split(" ").filter(Boolean);

  // Words of a question, which is answered by a guide or a calculator rather than by an error, and those of them that
  // say nothing about its subject.
  const QUESTION = words(
    t("how which what should need much set setup install update upgrade configure choose buy best compare guide start"),
  );
  const FILLERS = words(t("how what need much set setup install configure use guide"));
  // Words with another word of the same meaning: "buy=choose".
  const SYNONYMS = Object.fromEntries(
    words(
      t(
        "which=choose should=choose buy=choose best=choose vs=compare setup=started install=started mac=apple macbook=apple laptop=mobile notebook=mobile multi=several multiple=several two=several upgrade=update",
      ),
    ).map(pair => pair.split("=")),
  );
  // Words between two names that are compared.
  const VERSUS = words(t("or vs versus"));

  // Groups of results; pages of no list come last.
  const GROUPS = { categories: "errors/" };

  // Number of pages beyond the first part of an index in parts that are compared with names.
  const CANDIDATES = 200;

  // Access to the pages by their place in the index; undefined for one whose part is not loaded.
  function read({ index, notes, also, groups, settings }) {
    const { entry, documentAt } = kbgen.search.open(index);
    const known = new Map();
    function page(at) {
      const [address, title] = documentAt(at);
      if (!address) return undefined;
      const note = entry(notes, at);
      const [folder, slug] = address.split(/\/#?/);
      const own = GROUPS[folder] || `${folder}/`;
      // Devices with several numbers of cores share a name.
      const name = folder === "hardware" ? title.replace(/ \(\d+-core.*/, "") : title;
      return {
        at,
        address,
        title,
        note,
        names: [name, slug, ...entry(also, at).split("|")].map(split).filter(name => name.length),
        beside: split(note),
        cores: split(title.slice(name.length)),
        owner: split((/^([^\s:]+): /.exec(title) || [])[1] || ""),
        isDevice: folder === "hardware",
        isTerm: folder === "glossary" || folder === "quants",
        isError: folder === "errors" && !!slug,
        group: groups.some(([list]) => list === own) && slug ? own : "",
      };
    }
    function pageAt(at) {
      if (!known.has(at)) {
        const found = page(at);
        if (!found) return undefined;
        known.set(at, found);
      }
      return known.get(at);
    }
    return { pageAt, first: Math.min(index.worths.length, index.size), settings: new Map(Object.entries(settings)) };
  }

  // Whether two words have the same stem: "quantize" and "quantization", "gpu" and "gpus".
  function related(one, other) {
    const [short, long] = one.length <= other.length ? [one, other] : [other, one];
    if (long === `${short}s`) return true;
    return short.length > 5 && long.startsWith(short.slice(0, -1));
  }

  // Words that say nothing about the subject of an error.
  const GENERIC = words(t("error errors code message failed problem issue"));

  // The words of a text that no page has, and those that only have a similar one.
  function unknownWords(data, text, { pageAt, first }) {
    const { index } = data;
    const { words: known, places } = kbgen.search.open(index);
    if (!spelled.has(data)) {
      const pages = [...Array(first).keys()].map(pageAt).filter(Boolean);
      const spellings = name => [...name, name.join("")];
      spelled.set(data, new Set(pages.flatMap(page => [...page.names, page.beside, page.cores].flatMap(spellings))));
    }
    const names = spelled.get(data);
    const tokens = text.toLowerCase().match(/[\p{L}\d]+/gu) || [];
    const begins = part => known.some(word => word.startsWith(part)) || [...names].some(name => name.startsWith(part));
    const isKnown = (part, isLast) =>
      part.length < 2 ||
      QUESTION.concat(FILLERS, VERSUS).includes(part) ||
      part in SYNONYMS ||
      index.ignored.includes(` ${part} `) ||
      [part, part.replace(/s$/, "")].some(word => places.has(word) || names.has(word)) ||
      ((isLast || !isNumber(part)) && begins(part));
    const isFound = (token, at) =>
      /^[a-z\d]+$/.test(token) &&
      (places.has(token) || names.has(token) || split(token).every(part => isKnown(part, at === tokens.length - 1)));
    const unknown = [...new Set(tokens.filter((token, at) => !isFound(token, at)))];
    const isSimilar = token => kbgen.search.scored(index, `${token} `).scores.some(Boolean);
    const similar = unknown.filter(isSimilar);
    const without = (list, left) => list.filter(token => !left.includes(token));
    return { places, similar, absent: without(unknown, similar), known: without(tokens, unknown) };
  }

  // How well a name matches: above 1 it has all typed parts, above 2 it starts with the input, 3 is equal.
  function likeness(typed, whole, name, beside) {
    const joined = name.join("");
    const share = typed.join("").length / joined.length;
    if (joined === whole) return 3;
    if (whole.length > 2 && joined.startsWith(whole)) return 2 + share;
    const left = [...name];
    let had = 0;
    typed.forEach((part, i) => {
      // The last part may be incomplete, a number before it may not.
      const open = i === typed.length - 1 || !isNumber(part);
      let at = left.indexOf(part);
      if (at < 0 && open) at = left.findIndex(other => other.startsWith(part));
      if (at < 0) at = left.findIndex(other => related(other, part));
      if (at >= 0) had += 0.5 + Math.min(1, part.length / left.splice(at, 1)[0].length) / 2;
      else if (beside.includes(part)) had += 0.6;
    });
    const coverage = had / typed.length;
    return coverage > 0.99 ? 1 + Math.min(share, 0.99) : coverage * coverage;
  }

  // The key of an environment variable, a flag or a parameter; empty for other words.
  function settingOf(word) {
    if (!/^-|_/.test(word)) return "";
    return word
      .replace(/^--|[=:].*$/g, "")
      .replace(/-/g, "_")
      .toLowerCase();
  }

  // The words of a setting in any order: "context length ollama" is OLLAMA_CONTEXT_LENGTH. Two words may be a subject.
  function spelledOut(settings, typed) {
    if (typed.length < 3) return undefined;
    const sorted = list => [...list].sort().join("_");
    const wanted = sorted(typed);
    return [...settings.keys()].find(key => sorted(key.split("_")) === wanted);
  }

  // The worth of pages by the settings in the text.
  function bySetting(settings, text, every) {
    const worth = new Map();
    const typed = text.trim().split(/\s+/);
    const whole = spelledOut(settings, every);
    const keys = whole ? [whole] : typed.map(settingOf);
    keys.forEach(key => {
      words(settings.get(key) || "").forEach((page, rank) => {
        worth.set(parseInt(page, 36), (keys.length > 1 ? 2 : 3.5) - rank / 10);
      });
    });
    return worth;
  }

  // Moves pages with the same message behind the best of them.
  function collapsed(pages) {
    const first = new Map();
    const later = [];
    const kept = pages.filter(page => {
      const same = page.isError && first.get(page.note);
      if (same) {
        same.similar++;
        later.push(page);
      } else first.set(page.note, page);
      return !same;
    });
    return kept.concat(later);
  }

  const opened = new WeakMap();
  const spelled = new WeakMap();

  return (data, typedText) => {
    if (!opened.has(data)) opened.set(data, read(data));
    // For "owner/model", the model is the name.
    const { pageAt, first, settings } = opened.get(data);
    const { places, absent, similar, known } = unknownWords(data, typedText, opened.get(data));
    // Beside a word that no page has, a similar one is another word: "schwarzes bild" is not "bind".
    const dropped = known.length && similar.length <= absent.length ? similar : [];
    const unknown = absent.concat(dropped);
    const text = dropped.length ? known.join(" ") : typedText;
    const every = split(text.replace(/^\S+\/(?=\S+$)/, "")).slice(0, 40);
    const isQuestion = every.some(part => QUESTION.includes(part));
    const isTerm = /^what/.test(every[0]);
    const telling = every.filter(part => SYNONYMS[part] || !data.index.ignored.includes(` ${part} `));
    const topical = isQuestion ? telling.filter(part => !FILLERS.includes(part)) : telling;
    const typed = topical.length ? topical : telling.length ? telling : every;
    const meant = [...new Set(typed.map(part => SYNONYMS[part] || part))];
    const isVersus = every.some(part => VERSUS.includes(part)) && every.filter(isNumber).length > 1;
    const whole = every.join("");
    const { scored, ranked, missing } = kbgen.search;
    // Fillers tell pages of one subject apart: "install cuda".
    const spokenWords = meant.concat(telling.filter(part => FILLERS.includes(part)));
    const { scores } = scored(data.index, isQuestion ? spokenWords.join(" ") : text);
    const hits = ranked(scores);
    const set = bySetting(settings, text, every);
    const candidates = new Set([...Array(first).keys(), ...hits.slice(0, CANDIDATES), ...set.keys()]);
    const all = [...candidates]
      .sort((a, b) => a - b)
      .map(pageAt)
      .filter(Boolean);
    const names = all.map(page => {
      const alike = (name, which) => {
        const found = typed.length
          ? Math.max(likeness(typed, whole, name, page.beside), likeness(meant, whole, name, page.beside))
          : 0;
        // The slug, after the title, says less.
        return which !== 1 || found >= 3 ? found : page.isDevice ? 0 : 0.8 * found;
      };
      return Math.max(...page.names.map(alike));
    });
    const pages = all
      .map((page, at) => {
        const named = names[at];
        const spoken = hits.length ? scores[page.at] / scores[hits[0]] : 0;
        const setting = set.get(page.at) || 0;
        let worth = setting > 3 ? setting + 4 : named + spoken + setting;
        // A page with this name comes before those that use the setting.
        if (set.size && named >= 3) worth += 5;
        // A page of one program, which the text does not name, comes after general ones.
        if (page.isError && page.owner.length && !page.owner.some(part => every.includes(part))) worth -= 0.35;
        // "install cuda" does not ask for the term.
        if (isQuestion) worth += page.isError ? -0.5 : page.isTerm === isTerm ? 0.6 : isTerm ? 0.3 : -2;
        // A term whose name is only a part of the text is a word of it, not its subject.
        else if (page.isTerm && named < 1) worth -= 0.3;
        if (isVersus && page.address === "compare/") worth += 3;
        const isNamed = named > 0.7 || worth >= 3;
        const isFound = spoken > 0.4 && !typed.some(part => page.cores.includes(part));
        const kept =
          isQuestion && page.isError ? named + spoken > 1.6 || (named > 0 && spoken === 1) : isNamed || isFound;
        return { ...page, similar: 0, named, worth, kept: kept || setting };
      })
      .filter(page => page.kept)
      .sort((a, b) => b.worth - a.worth);
    // A number beside words such as "error" says which one.
    const isGeneric =
      known.some(word => GENERIC.includes(word)) && known.every(word => /^\d+$/.test(word) || GENERIC.includes(word));
    const numbers = known.filter(word => isGeneric && isNumber(word) && !places.has(word));
    const found = pages.filter(({ names }) => numbers.every(number => names.some(name => name.includes(number))));
    if (!found.length) unknown.push(...numbers);
    const results = isGeneric && unknown.length ? [] : collapsed(found);
    return { parts: typed, pages: results, unknown: known.length ? unknown : [], missing: missing(data.index) };
  };
})();
