/*
 * Pages by name: kbgen.names(data, text) returns the typed {parts} and {pages: [{address, title, note, group,
 * worth}]}, best first. Pages are found by the word index of diagnosis; those with a matching name come first.
 */
kbgen.names = (() => {
  "use strict";

  // Names are separated in many ways: "rtx4090", "llama3.1:8b", "Q4_K_M".
  const split = text => text.toLowerCase().match(/[a-z]+|\d+/g) || [];
  const isNumber = part => /\d/.test(part);

  // Groups of results; pages of no list come last.
  const GROUPS = { categories: "errors/" };

  function read({ index, notes, also, groups }) {
    return index.documents.map(([address, title], at) => {
      const [folder, slug] = address.split(/\/#?/);
      const own = GROUPS[folder] || `${folder}/`;
      const names = [title, slug, ...also[at].split("|")].map(split).filter(name => name.length);
      return {
        address,
        title,
        note: notes[at],
        names,
        beside: split(notes[at]),
        group: groups.some(([list]) => list === own) && slug ? own : "",
      };
    });
  }

  // How well a name matches: above 1 it has all typed parts, above 2 it starts with the input, 3 is equal.
  function likeness(typed, whole, name, beside) {
    const joined = name.join("");
    const share = whole.length / joined.length;
    if (joined === whole) return 3;
    if (whole.length > 2 && joined.startsWith(whole)) return 2 + share;
    const left = [...name];
    let had = 0;
    typed.forEach((part, i) => {
      // The last part may be incomplete, a number before it may not.
      const open = i === typed.length - 1 || !isNumber(part);
      let at = left.indexOf(part);
      if (at < 0 && open) at = left.findIndex(other => other.startsWith(part));
      if (at >= 0) had += 0.5 + part.length / left.splice(at, 1)[0].length / 2;
      else if (beside.includes(part)) had += 0.6;
    });
    const coverage = had / typed.length;
    return coverage > 0.99 ? 1 + Math.min(share, 0.99) : coverage * coverage;
  }

  const opened = new WeakMap();

  return (data, text) => {
    if (!opened.has(data)) opened.set(data, read(data));
    // For "owner/model", the model is the name.
    const all = opened.get(data);
    const every = split(text.replace(/^\S+\/(?=\S+$)/, "")).slice(0, 40);
    const telling = every.filter(part => !data.index.ignored.includes(` ${part} `));
    const typed = telling.length ? telling : every;
    const whole = every.join("");
    const hits = kbgen.search(data.index, text, all.length);
    const scores = new Map(hits.map(hit => [hit.address, hit.score / hits[0].score]));
    const pages = all
      .map(page => {
        const spoken = scores.get(page.address) || 0;
        const named = typed.length ? Math.max(...page.names.map(name => likeness(typed, whole, name, page.beside))) : 0;
        return { ...page, worth: named + spoken, kept: named > 0.7 || spoken > 0.4 };
      })
      .filter(page => page.kept)
      .sort((a, b) => b.worth - a.worth);
    return { parts: typed, pages };
  };
})();
