/* Pages for what a reader typed: kbgen.names(data, text) gives the typed {parts} and {pages: [{address, title, note,
   group, worth}]}, best first. The engine of diagnosis finds their words; a page that bears the typed name goes before
   those that speak of it. */
kbgen.names = (() => {
  "use strict";

  // Names are joined in many ways: "rtx4090", "llama3.1:8b", "Q4_K_M".
  const split = text => text.toLowerCase().match(/[a-z]+|\d+/g) || [];
  const isNumber = part => /\d/.test(part);

  // Lists that a page is found under; what is no list's own comes last.
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

  // What a name has of what was typed: above 1 all its parts, above 2 it begins with the whole, 3 is the name itself.
  function likeness(typed, whole, name, beside) {
    const joined = name.join("");
    const share = whole.length / joined.length;
    if (joined === whole) return 3;
    if (whole.length > 2 && joined.startsWith(whole)) return 2 + share;
    const left = [...name];
    let had = 0;
    typed.forEach((part, i) => {
      // The last part may go on; a number before it may not.
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
    // Of "owner/model" the model is the name.
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
