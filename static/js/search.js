/*
 * Searches the word index: kbgen.search(index, text, limit) returns [{address, title, score, share, covered}], best
 * first, kbgen.search.isSuggested(index, hit, text) whether a page is close enough to be suggested for a question, and
 * kbgen.search.titled(index, text) the pages whose title occurs in the text. Of an index in parts,
 * kbgen.search.missing(index) returns the files that the searches so far lacked: load them and search again. Port of
 * crates/kbgen-signature/src/text_search.rs; both share the test vectors in tests/data/words.json.
 */
kbgen.search = (() => {
  "use strict";

  const NUMBER = /^\d+$/;

  // The words of a line; a name such as EngineDeadError is also split into its parts, and plurals become singular.
  function* split(line, ignored) {
    for (const [run] of line.matchAll(/[A-Za-z\d]+/g)) {
      const humps = run.length <= 60 ? run.replace(/([a-z])(?=[A-Z])/g, "$1 ").split(" ") : [];
      for (const part of humps.length > 1 ? [run, ...humps] : [run]) {
        const word = part.toLowerCase();
        const { length } = word;
        const fits = NUMBER.test(word) ? length > 2 && length < 6 : length > 1 && length < 25;
        if (fits && !ignored.includes(` ${word} `)) yield word.replace(/(..[^s])s$/, "$1");
      }
    }
  }

  // Access to the sorted words of an index with their positions, to its postings and its documents. Parts that are not
  // loaded have none, and are noted as missing.
  function read(index) {
    let before = "";
    const words = (index.words.match(/[A-Z][^A-Z]*/g) || []).map(
      entry => (before = before.slice(0, entry.charCodeAt(0) - 65) + entry.slice(1)),
    );
    const { starts, size, postings, documents } = index;
    const lists = [];
    const missing = new Set();
    function posting(at) {
      const part = starts.findLastIndex(start => start <= at);
      if (!lists[part] && part in postings) lists[part] = postings[part].split(" ");
      if (!lists[part]) missing.add(index.files.postings[part]);
      return (lists[part] || [])[at - starts[part]] || "";
    }
    // The entry of a document in lists that are divided like the documents.
    const part = at => Math.floor(at / size);
    const entry = (lists, at) => (lists[part(at)] || [])[at % size];
    function documentAt(at) {
      const found = entry(documents, at);
      if (!found) missing.add(index.files.documents[part(at)]);
      return found || [];
    }
    const places = new Map(words.map((word, at) => [word, at]));
    // The first question; questions come last.
    const first = index.worths.length - index.owners.length;
    return { words, places, posting, documentAt, entry, missing, first };
  }
  const opened = new WeakMap();
  function open(index) {
    if (!opened.has(index)) opened.set(index, read(index));
    return opened.get(index);
  }
  function missing(index) {
    const { missing } = open(index);
    const files = [...missing];
    missing.clear();
    return files;
  }

  const troubling = trouble => {
    const phrases = RegExp(trouble.join("|"), "i");
    return text => phrases.test(text);
  };

  // The distinct words of a text with their weights; those of error lines first.
  function asked({ ignored, trouble }, text) {
    const words = new Map();
    const lines = text.split(/\n+/);
    const troubled = lines.map(troubling(trouble));
    [2, 1].forEach(factor => {
      let looked = 0;
      lines.forEach((line, i) => {
        if (troubled[i] !== (factor === 2)) return;
        for (const word of split(line, ignored)) {
          if (looked++ < 20000 && words.size < 400 && !words.has(word)) words.set(word, factor);
        }
      });
    });
    return words;
  }

  // Adds the score of a word to the documents that have it, and its rarity, which is returned, to what they have.
  function add(posting, factor, scores, found) {
    // The values of base-64 digits from "0" to "o".
    const digits = [...posting].map(digit => digit.charCodeAt(0) - 48);
    const [rarity] = digits;
    let entry = 0;
    for (let at = 1; at < digits.length; at += 2) {
      let place = 1;
      for (; digits[at] > 31; place *= 32) entry += (digits[at++] % 32) * place;
      entry += digits[at] * place;
      scores[entry] += rarity * digits[at + 1] * factor;
      found[entry] += rarity;
    }
    return rarity;
  }

  // Whether two different words differ by one added, removed, changed or swapped letter.
  function oneApart(one, other) {
    const [short, long] = one.length <= other.length ? [one, other] : [other, one];
    if (long.length > short.length + 1 || (one[0] !== other[0] && one.at(-1) !== other.at(-1))) return false;
    let same = 0;
    if (short.length < 4) return false;
    while (same < short.length && short[same] === long[same]) same++;
    const rest = short.slice(same + 1);
    if (short.length < long.length) return short.slice(same) === long.slice(same + 1);
    return (
      rest === long.slice(same + 1) ||
      (short[same] === long[same + 1] && short[same + 1] === long[same] && rest.slice(1) === long.slice(same + 2))
    );
  }

  // A short line is a question or a single message, not a log.
  const isQuestion = text => /^.{0,200}$/.test(text.trim());
  // Letters and digits in lower case, words separated by spaces.
  const plain = text => ` ${(text.match(/[A-Za-z\d]+/g) || []).join(" ").toLowerCase()} `;

  // Pages whose title is the question or part of it: [{address, title, whole}], whole titles first, then the longest.
  function titled(index, text) {
    const asked = plain(text);
    if (!isQuestion(text) || !asked.trim()) return [];
    const { floors } = index;
    // A page whose title is in the text has at least the score of its title.
    const scores = floors && scored(index, text).scores;
    const { documentAt, first } = open(index);
    return [...index.worths.keys()]
      .filter(at => !floors || scores[at] >= 4 * floors[at])
      .flatMap(at => {
        const [address] = documentAt(index.owners[at - first] ?? at);
        const [, title] = documentAt(at);
        return address && title ? { address, title, words: plain(title) } : [];
      })
      .filter(({ words }) => words === asked || (words.replace(/ /g, "").length > 7 && asked.includes(words)))
      .sort((a, b) => b.words.length - a.words.length)
      .map(({ address, title, words }) => ({ address, title, whole: words === asked }));
  }

  // The score of each document.
  function scored(index, text) {
    const { words, posting, places } = open(index);
    const scores = index.worths.map(() => 0);
    const found = [...scores];
    let total = 0;
    const prefix = text.length <= 100 && (/[A-Za-z\d]{2,}$/.exec(text) || [""])[0].toLowerCase();
    let misspelt = 0;
    const wanted = asked(index, text);
    const [troubled = 1] = wanted.values();
    wanted.forEach((factor, word) => {
      let rarity = 50;
      if (places.has(word)) {
        rarity = add(posting(places.get(word)), 4 * factor, scores, found);
      } else if (word.length > 3 && !NUMBER.test(word) && misspelt++ < 40) {
        words.forEach((known, i) => {
          if (oneApart(known, word)) rarity = add(posting(i), 3 * factor, scores, found);
        });
      }
      total += rarity;
    });
    if (prefix) {
      words.forEach((word, i) => {
        if (word !== prefix && word.startsWith(prefix)) add(posting(i), 2, scores, []);
      });
    }
    return { scores, troubled, found, total };
  }

  // The places of the documents with a score, best first.
  const ranked = (scores, ranks = scores) =>
    [...scores.keys()].filter(at => scores[at] > 0).sort((a, b) => ranks[b] - ranks[a]);

  // A single message, not a typed question.
  const isMessage = ({ trouble }, text) =>
    /[={}[\]<>"\\]|: /.test(text) || (text.trim().length > 60 && (/_/.test(text) || troubling(trouble)(text)));

  const search = (index, text, limit) => {
    const { scores, troubled, found, total } = scored(index, text);
    const typed = isQuestion(text) && !isMessage(index, text);
    // Words on error lines count twice.
    const factor = troubled > 1 ? 100 : typed ? 200 : 0;
    const { documentAt, first } = open(index);
    const shares = scores.map((score, at) => Math.floor((score * factor) / index.worths[at]));
    // A page whose question has the words of a typed text comes first.
    const covers = scores.map(() => 0);
    index.owners.forEach((page, i) => {
      const at = first + i;
      covers[page] = Math.max(covers[page], shares[at]);
      for (const list of [shares, scores, found]) list[page] = Math.max(list[page], list[at]);
      scores[at] = 0;
    });
    const rank = (score, at) => score * (5000 + Math.min(covers[at], 100) ** 2) * (100 + index.boosts[at]);
    return ranked(scores, typed ? scores.map(rank) : scores)
      .slice(0, limit)
      .flatMap(at => {
        const [address, title] = documentAt(at);
        return address
          ? { address, title, score: scores[at], share: shares[at], covered: found[at] * 20 >= total * 9 }
          : [];
      });
  };
  // A message needs more in common with a page than a question.
  function isSuggested(index, { share, covered }, text) {
    return covered && share >= (isMessage(index, text) ? 80 : 40);
  }
  return Object.assign(search, { titled, isQuestion, isSuggested, missing, open, scored, ranked });
})();
