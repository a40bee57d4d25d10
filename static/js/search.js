/* Searches the word index: kbgenSearch(index, text, limit) gives [{address, title, score, share}], best first.
   The twin of src/signature/words_query.rs; tests/data/words.json holds both to one result. */
var kbgenSearch = (function () {
  "use strict";

  var DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
  var IGNORED = (" a an and are as at be been but by can do does for from has have he how i if in into is it its me my " +
    "no not of on or so than that the then there these this to up was we were what when which with you your ");
  var TROUBLE = ["error", "fail", "exception", "cannot", "could not", "unable", "invalid", "not found", "unsupported", "fatal"];

  function keep(run, words) {
    var number = /^[0-9]+$/.test(run);
    if (run.length < (number ? 3 : 2) || run.length > (number ? 5 : 24)) return;
    var word = run.toLowerCase();
    if (IGNORED.indexOf(" " + word + " ") < 0) words.push(word);
  }

  function split(text) {
    var words = [];
    (text.match(/[A-Za-z0-9]+/g) || []).forEach(run => {
      var humps = run.length <= 60 ? run.replace(/([a-z])(?=[A-Z])/g, "$1 ").split(" ") : [run];
      keep(run, words);
      if (humps.length > 1) humps.forEach(hump => keep(hump, words));
    });
    return words;
  }

  /* The words of the index in order, and what stands in the index for each. */
  function open(index) {
    var before = "", postings = index.postings.split(" "), places = new Map();
    var words = (index.words.match(/[A-Z][^A-Z]*/g) || []).map((entry, at) => {
      before = before.slice(0, entry.charCodeAt(0) - 65) + entry.slice(1);
      places.set(before, at);
      return before;
    });
    return { words: words, places: places, postings: postings };
  }

  function asked(text) {
    var seen = new Set(), words = [], lines = text.split("\n").map(line => {
      var lower = line.toLowerCase();
      return { line: line, troubled: TROUBLE.some(word => lower.indexOf(word) >= 0) };
    });
    [[2, true], [1, false]].forEach(pass => {
      var looked = 0;
      lines.forEach(each => {
        if (each.troubled !== pass[1] || looked > 20000) return;
        split(each.line).forEach(word => {
          if (looked++ >= 20000 || words.length === 400 || seen.has(word)) return;
          seen.add(word);
          words.push([word, pass[0]]);
        });
      });
    });
    return words;
  }

  function add(posting, factor, scores) {
    var rarity = DIGITS.indexOf(posting.charAt(0)), at = 1, entry = 0;
    while (at < posting.length) {
      var gap = 0, place = 1, part = DIGITS.indexOf(posting.charAt(at++));
      while (part >= 32) {
        gap += (part - 32) * place;
        place *= 32;
        part = DIGITS.indexOf(posting.charAt(at++));
      }
      entry += gap + part * place;
      scores[entry] += rarity * DIGITS.indexOf(posting.charAt(at++)) * factor;
    }
  }

  /* Whether one letter added, lost, changed or swapped with its neighbor makes one word of the other. */
  function oneApart(one, other) {
    var short = one.length <= other.length ? one : other, long = short === one ? other : one, same = 0;
    if (short.length < 4 || long.length - short.length > 1) return false;
    while (same < short.length && short.charCodeAt(same) === long.charCodeAt(same)) same++;
    if (short.length < long.length) return short.slice(same) === long.slice(same + 1);
    return same < short.length && (short.slice(same + 1) === long.slice(same + 1) ||
      (short.charAt(same) === long.charAt(same + 1) && short.charAt(same + 1) === long.charAt(same) &&
        short.slice(same + 2) === long.slice(same + 2)));
  }

  var opened = new WeakMap();

  return function (index, text, limit) {
    var ready = opened.get(index), misspelt = 0;
    if (!ready) opened.set(index, (ready = open(index)));
    var scores = index.documents.map(() => 0), last = /[A-Za-z0-9]{2,}$/.exec(text);
    asked(text).forEach(pair => {
      var at = ready.places.get(pair[0]);
      if (at !== undefined) return add(ready.postings[at], 4 * pair[1], scores);
      if (pair[0].length < 4 || /^[0-9]+$/.test(pair[0]) || misspelt === 40) return;
      misspelt++;
      ready.words.forEach((word, i) => { if (oneApart(word, pair[0])) add(ready.postings[i], 2 * pair[1], scores); });
    });
    if (last && text.length <= 100) {
      var prefix = last[0].toLowerCase();
      ready.words.forEach((word, i) => {
        if (word !== prefix && word.startsWith(prefix)) add(ready.postings[i], 2, scores);
      });
    }
    return scores.map((score, i) => {
      var page = index.documents[i];
      return { address: page[0], title: page[1], score: score, share: Math.floor(score * 100 / (8 * Math.max(1, page[2]))) };
    })
      .filter(hit => hit.score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
  };
})();
