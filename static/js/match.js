/* Finds the pages that fit a pasted log: kbgenMatch(table, text) gives [{slug, score, line, column, figures, cause}],
   best first, in linear time. The twin of src/signature/; tests/data/matches.json holds both to one result. */
var kbgenMatch = (() => {
  "use strict";

  var text = "", begin = 0, length = 0;

  function code(at) { return at < length ? text.charCodeAt(begin + at) : 0; }
  function lower(c) { return c > 64 && c < 91 ? c + 32 : c; }
  function isDigit(c) { return c > 47 && c < 58; }
  function isUpper(c) { return c > 64 && c < 91; }
  function isLetter(c) { return isUpper(c) || (c > 96 && c < 123); }
  function isAlnum(c) { return isDigit(c) || isLetter(c); }
  function within(c, set) { return c > 0 && c < 128 && set.indexOf(String.fromCharCode(c)) >= 0; }
  function isHex(c) { return isDigit(c) || (lower(c) > 96 && lower(c) < 103); }

  function starts(at, word) {
    for (var i = 0; i < word.length; i++) {
      if (lower(code(at + i)) !== lower(word.charCodeAt(i))) return false;
    }
    return true;
  }
  function run(at, allowed) {
    var end = at;
    while (end < length && allowed(text.charCodeAt(begin + end))) end++;
    return end - at;
  }
  function isBlank(c) { return c === 32 || c === 9 || c === 0xa0 || (c > 0x24ff && c < 0x25a0) || c === 0x2771; }
  function digits(at) { return run(at, isDigit); }
  function token(at) { return run(at, c => c !== 32 && c !== 9); }
  function spaces(at) { return run(at, isBlank); }

  /* prefix.rs */

  var DATE = /(?:(?:mon|tue|wed|thu|fri|sat|sun) [ \t\xa0\u2500-\u259f\u2771]*)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) [ \t\xa0\u2500-\u259f\u2771]*\d\d?(?= )/iy;
  var TIME = /\d\d:\d\d(?!\d)|(?:^|\D)\d:\d\d(?!\d)|\d\d[-\/]\d\d[-\/]\d\d|^\d\d[-\/]\d\d$|\.\d\d\.\d\d\d\.\d\d\d/;
  var LEVEL = /(?:TRACE|DEBUG|INFO|WARNING|WARN|ERROR|ERR|FATAL|CRITICAL|INF|WRN|DBG|NOTICE)(?![A-Z])/y;
  var PROCESS = /^(?:kernel|[\w.@\/-]+\[\d+\]):$/i;

  function measure(pattern, at) {
    pattern.lastIndex = begin + at;
    var found = pattern.exec(text);
    return found ? found[0].length : 0;
  }

  function isName(c) { return isAlnum(c) || within(c, "_-./"); }

  function prefixLength() {
    var at = 0, dated = false;
    for (var i = 0; i < 16; i++) {
      at += spaces(at);
      var colour = colourLength(at);
      if (colour) { at += colour; continue; }
      var step = timeLength(at);
      if (step) dated = true;
      else step = markLength(at, dated);
      if (!step) break;
      at += step;
    }
    return Math.min(at, length);
  }

  function markLength(at, dated) {
    var c = code(at), next = code(at + 1);
    if (c === 62 && (next === 32 || next === 62 || !next)) return 1;
    if (c === 124 && (next === 32 || next === 124 || !next)) return 1;
    if (c === 35) return buildStepLength(at);
    if (dated && within(c, "-:]") && (next === 32 || !next)) return 1;
    if (c === 91) return groupLength(at, 93);
    if (c === 40) return groupLength(at, 41);
    return serviceLength(at) || levelLength(at, dated) || (dated ? loggerLength(at) : 0);
  }

  function timeLength(at) {
    var date = measure(DATE, at);
    if (date) return date;
    var size = run(at, c => isDigit(c) || within(c, "-/:.,TZ+_APM")), after = code(at + size);
    return isDigit(code(at)) && (!after || within(after, " \t]|")) && TIME.test(text.substr(begin + at, size)) ? size : 0;
  }

  function groupLength(at, close) {
    var inner = run(at + 1, c => c !== close && c !== 91 && c !== 40);
    var end = at + 1 + inner, after = end + 1 + spaces(end + 1);
    if (!inner || inner > 60 || code(end) !== close) return 0;
    var known = starts(at + 1, "rank") || starts(at + 1, "pod/") || timeLength(at + 1 + spaces(at + 1)) || levelWord(at + 1) === inner ||
      placeLength(at + 1) === inner || (close === 93 && code(after) === 124);
    var figures = close === 93 && inner > 4;
    for (var from = at + 1; from < end; from++) {
      if (starts(from, "pid=")) known = true;
      if (!isDigit(code(from)) && !within(code(from), ". ")) figures = false;
    }
    return known || figures ? end + 1 + (code(end + 1) === 58 ? 1 : 0) - at : 0;
  }

  function buildStepLength(at) {
    var step = digits(at + 1);
    var seconds = run(at + step + 2, c => isDigit(c) || c === 46);
    return step && seconds && code(at + step + 1) === 32 ? step + seconds + 2 : 0;
  }

  function placeLength(at) {
    var name = run(at, isName), count = digits(at + name + 1), dotted = false;
    for (var from = at; from < at + name; from++) if (code(from) === 46) dotted = true;
    return dotted && count && code(at + name) === 58 ? name + 1 + count : 0;
  }

  function levelWord(at) { return measure(LEVEL, at); }

  function levelLength(at, dated) {
    var size = levelWord(at);
    if (!size) return dated && within(code(at), "IWED") && code(at + 1) === 32 ? 1 : 0;
    var after = at + size + spaces(at + size);
    return after > at + size && (dated || timeLength(after)) ? size : 0;
  }

  function serviceLength(at) {
    var first = token(at), after = at + first + spaces(at + first);
    if (!first || first > 60) return 0;
    if (code(after) === 124 && after > at + first && code(after + 1) === 32 && first > 1) return after + 1 - at;
    if (isProcess(at, first)) return first;
    var second = token(after);
    return second && isProcess(after, second) ? after + second - at : 0;
  }

  function isProcess(at, size) { return PROCESS.test(text.substr(begin + at, size)); }

  function loggerLength(at) {
    var size = token(at), place = placeLength(at), stream = measure(/std(?:err|out) [FP] /iy, at);
    if (stream) return stream;
    if (place && code(at + place) === 93) return place + 1;
    var after = at + size + spaces(at + size);
    return size && size <= 48 && within(code(after), "-|") && code(after + 1) === 32 && after > at + size ? after + 1 - at : 0;
  }

  /* normal.rs */

  var NONE = 0, SPACE = 1, BREAK = 2;
  var NOTHING = -1, BLANK = -2, LINE = -3, DOTS = -4;
  var ENTITIES = { "gt;": 62, "lt;": 60, "quot;": 34, "apos;": 39, "nbsp;": 32, "#39;": 39, "#x27;": 39, "#34;": 34 };
  var bytes, gaps, places, ends, size, gap;

  function fold(c) {
    if (c < 128) {
      if (c === 32 || (c > 8 && c < 14)) return BLANK;
      return c < 32 || c === 127 ? NOTHING : lower(c);
    }
    if ((c > 0x2017 && c < 0x201c) || c === 0x2032) return 39;
    if ((c > 0x201b && c < 0x2020) || c === 0x2033) return 34;
    if ((c > 0x200f && c < 0x2016) || c === 0x2212) return 45;
    if (c === 0x2026) return DOTS;
    if (c === 0xad || (c > 0x200a && c < 0x2010) || c === 0x2060 || c === 0xfeff || c === 0xfffd) return NOTHING;
    if (c === 0xa0 || (c > 0x1fff && c < 0x200b) || c === 0x2028 || c === 0x2029 || c === 0x202f || c === 0x3000) return BLANK;
    if ((c > 0x24ff && c < 0x25a0) || c === 0x2771) return BLANK;
    if (c > 0xff00 && c < 0xff5f) return fold(c - 0xfee0);
    return 0x80 | (c & 0x7f);
  }

  function push(byte, from, to) {
    bytes[size] = byte;
    gaps[size] = gap;
    places[size] = begin + from;
    ends[size++] = begin + to;
    gap = NONE;
  }

  function colourLength(at) {
    var c = code(at), lead = 0, end;
    if (c === 91) {
      end = at + 1;
      while (end - at < 20 && (isDigit(code(end)) || code(end) === 59)) end++;
      return end > at + 1 && code(end) === 109 ? end + 1 - at : 0;
    }
    if (c === 27 || c === 0x241b) lead = 1;
    else if (c === 94 && code(at + 1) === 91 && code(at + 2) === 91) lead = 2;
    else if (c === 92) {
      ["\\u001b", "\\x1b", "\\033", "\\e"].some(name => {
        if (starts(at, name) && code(at + name.length) === 91) return lead = name.length;
      });
    }
    if (!lead) return 0;
    end = at + lead + 1;
    if (code(end - 1) === 91) {
      while (isDigit(code(end)) || within(code(end), ";?: ")) end++;
      return end + (code(end) > 63 && code(end) < 127 ? 1 : 0) - at;
    }
    if (code(end - 1) === 93) {
      for (c = end; c < length; c++) if (within(code(c), "\x07\x1b\\") || code(c) === 0x241b) return c + (starts(c, "\x1b\\") ? 2 : 1) - at;
      return end - at;
    }
    return lead;
  }

  function backslashes(at) { return run(at, c => c === 92); }

  function separatorRun() {
    for (var at = 1; at < length; at++) {
      if (code(at) !== 58 || code(at + 1) !== 92 || !isLetter(code(at - 1))) continue;
      if (at > 1 && isAlnum(code(at - 2))) continue;
      var count = backslashes(at + 1);
      if (isUpper(code(at - 1)) || !within(code(at + 1 + count), "nrt")) return count;
    }
    return 0;
  }

  function pushLine(skipped) {
    var separators = separatorRun(), at = 0, end = length;
    while (at < skipped && code(at) === 32) at++;
    if (at < skipped && code(at) === 124) while (end > skipped && (code(end - 1) === 32 || code(end - 1) === 124)) end--;
    for (at = skipped; at < end;) {
      var colour = colourLength(at), c = code(at), step = 1, kind, i;
      if (colour) { at += colour; continue; }
      if (c === 92) {
        step = backslashes(at);
        var next = code(at + step);
        kind = 47;
        if (!next || within(next, "\"'/")) kind = NOTHING;
        else if (within(next, "nrt") && step !== separators) { kind = LINE; step++; }
        else if (next === 117) {
          for (i = 1; i < 5 && isHex(code(at + step + i));) i++;
          var named = i === 5 ? parseInt(text.substr(begin + at + step + 1, 4), 16) : -1;
          if (named >= 0 && (named < 0xd800 || named > 0xdfff)) { kind = fold(named); step += 5; }
        }
      } else if (c === 38) {
        while (starts(at + step, "amp;")) step += 4;
        kind = 38;
        for (var name in ENTITIES) if (starts(at + step, name)) { kind = fold(ENTITIES[name]); step += name.length; break; }
      } else {
        if (c > 0xd7ff && c < 0xdc00) { c = text.codePointAt(begin + at); step = c > 0xffff ? 2 : 1; }
        kind = fold(c);
      }
      var to = Math.min(at + step, length);
      if (kind >= 0) push(kind, at, to);
      else if (kind === BLANK) gap = Math.max(gap, SPACE);
      else if (kind === LINE) gap = BREAK;
      else if (kind === DOTS) for (i = 0; i < 3; i++) push(46, at, to);
      at += step;
    }
  }

  function normalize(log) {
    var room = log.length * (/\u2026/.test(log) ? 3 : 1);
    text = log;
    bytes = new Uint8Array(room);
    gaps = new Uint8Array(room);
    places = new Uint32Array(room);
    ends = new Uint32Array(room);
    size = gap = begin = 0;
    while (begin < log.length) {
      length = 0;
      for (var c; begin + length < log.length && (c = log.charCodeAt(begin + length)) !== 10 && c !== 13;) length++;
      gap = BREAK;
      if (length) pushLine(prefixLength());
      begin += length + 1;
    }
    bytes = bytes.subarray(0, size);
  }

  /* hole.rs */

  var REACH = 120;

  function byteAt(at) { return at < size ? bytes[at] : 0; }
  function gapAt(at) { return at < size ? gaps[at] : BREAK; }
  function isWord(c) { return isAlnum(c) || c > 127 || within(c, "_-./:+@#~%$*=&"); }
  function isPath(c) { return c > 127 || (c > 32 && c < 127 && !within(c, "'\"`,;<>|")); }
  function isVersion(c) { return isAlnum(c) || within(c, ".+-_"); }
  function joined(a, b) { return isAlnum(a) && isAlnum(b); }
  function alike(a, b) { return (isLetter(a) && isLetter(b)) || (isDigit(a) && isDigit(b)); }
  function spell(from, to) { return String.fromCharCode.apply(null, bytes.subarray(from, to)); }
  function factor(unit) { return /^(?:b|bytes?|[kmgt](?:i?b)?)$/.test(unit) ? Math.pow(1024, "bkmgt".indexOf(unit[0])) : 0; }

  function stretch(from, wrapped, allowed) {
    var at = from;
    while (at < size && at - from < REACH && allowed(bytes[at])) {
      if (at > from && gaps[at] !== NONE && !(wrapped && gaps[at] === BREAK)) break;
      at++;
    }
    return at;
  }

  function holeEnds(type, from) {
    var list = [], at;
    if (type === "start" || type === "end") return gapAt(from) === BREAK ? [from] : list;
    if (type === "any") {
      for (at = from; at <= Math.min(size, from + REACH); at++) list.push(at);
    } else if (type === "quoted") {
      var open = byteAt(from), last = Math.min(size, from + REACH);
      if (within(open, "'\"`")) {
        for (at = from + 1; at < last; at++) if (bytes[at] === open || (open === 96 && bytes[at] === 39)) list.push(at + 1);
      }
    } else if (type === "word") list = wordEnds(from, isWord);
    else if (type === "path") list = wordEnds(from, isPath);
    else if (type === "version") {
      if (isDigit(byteAt(from)) || (byteAt(from) === 118 && isDigit(byteAt(from + 1)))) list = wordEnds(from, isVersion);
    } else {
      numberEnds(type, from, false, list);
      numberEnds(type, from, true, list);
      if (type === "bytes") {
        var full = list.filter(end => isLetter(bytes[end - 1]));
        list = full.concat(list.filter(end => !isLetter(bytes[end - 1])));
      }
    }
    return list;
  }

  function wordEnds(from, allowed) {
    var list = [], at;
    for (var wrapped = 0; wrapped < 2; wrapped++) {
      var whole = stretch(from, wrapped, allowed), trimmed = whole;
      if (list[0] === whole) continue;
      while (trimmed > from && within(byteAt(trimmed - 1), ".,:;)]}")) trimmed--;
      for (at = trimmed; at > from; at--) list.push(at);
      for (at = trimmed + 1; at <= whole; at++) list.push(at);
    }
    return list;
  }

  function numberEnds(type, from, wrapped, list) {
    var start, end, next;
    if (type === "hex") {
      start = byteAt(from) === 48 && byteAt(from + 1) === 120 ? from + 2 : from;
      end = stretch(start, wrapped, isHex);
      if (end > start) list.push(end);
      return;
    }
    function near(at) { return gapAt(at) === NONE || (wrapped && gapAt(at) === BREAK); }
    start = within(byteAt(from), "-+") ? from + 1 : from;
    var whole = end = stretch(start, wrapped, isDigit);
    if (whole === start) return;
    if (type !== "int" && byteAt(whole) === 46 && near(whole) && isDigit(byteAt(whole + 1)) && near(whole + 1)) {
      end = stretch(whole + 1, wrapped, isDigit);
    }
    if (type === "bytes") {
      next = stretch(end, wrapped, isLetter);
      if (next > end && factor(spell(end, next))) list.push(next);
    } else if (type === "float" && byteAt(end) === 101 && near(end)) {
      start = end + 1 + (within(byteAt(end + 1), "-+") ? 1 : 0);
      next = stretch(start, wrapped, isDigit);
      if (next > start) list.push(next);
    }
    list.push(end);
  }

  function holeStart(type, end) {
    var allowed = type === "path" ? isPath : type === "quoted" ? () => true : isWord;
    var first = end, at;
    if (type === "start" || type === "end") return gapAt(end) === BREAK ? end : -1;
    while (first > 0 && end - first < REACH && allowed(bytes[first - 1])) {
      first--;
      if (type !== "quoted" && type !== "bytes" && gaps[first] !== NONE) break;
    }
    if (type === "word" || type === "path") return first < end ? first : -1;
    if (type === "quoted") {
      var close = end ? bytes[end - 1] : 0;
      for (at = end - 2; at >= first; at--) if (bytes[at] === close || (close === 39 && bytes[at] === 96)) return at;
      return -1;
    }
    for (at = Math.max(first, end - 40, 0); at < end; at++) {
      if (at > 0 && gaps[at] === NONE && isVersion(bytes[at - 1])) continue;
      if (holeEnds(type, at).indexOf(end) >= 0) return at;
    }
    return -1;
  }

  function holeFigure(type, from, to) {
    var split = from;
    if (type === "int" || type === "float") return Number(spell(from, to));
    if (type === "bytes" || type === "mib" || type === "gib") {
      while (split < to && !isLetter(bytes[split])) split++;
      var unit = type === "bytes" ? factor(split < to ? spell(split, to) : "b") : factor(type);
      return Math.floor(Number(spell(from, split)) * unit + 0.5);
    }
    return type === "quoted" && from + 2 <= to ? display(from + 1, to - 1) : from < to ? display(from, to) : undefined;
  }

  function display(from, to) {
    var out = "";
    for (var at = from; at < to; at++) {
      if (at > from && gaps[at] !== NONE) out += " ";
      var piece = text.slice(places[at], ends[at]);
      if (piece.charCodeAt(0) === 92 && piece.length > 1) {
        out += piece.charAt(1) === "u" ? String.fromCharCode(parseInt(piece.slice(2), 16)) : "\\";
      } else if (piece.length === (piece.codePointAt(0) > 0xffff ? 2 : 1)) {
        if (at === from || places[at] !== places[at - 1]) out += piece;
      } else out += String.fromCharCode(bytes[at]);
    }
    return out;
  }

  /* find.rs */


  function matcher(parts, inMessage) {
    var made = { parts: [], letters: 0, weight: 0, anchor: null, mending: inMessage ? 0 : 12, spacing: inMessage ? 0 : 20 };
    parts.forEach(part => {
      if (typeof part !== "string") {
        made.parts.push({ type: part[0], name: part[1] });
        if (part[0] !== "any") made.weight += 3;
        return;
      }
      var letters = [], spaced = [], space = false;
      for (var i = 0; i < part.length; i++) {
        if (part.charCodeAt(i) === 32) { space = true; continue; }
        letters.push(part.charCodeAt(i) & 255);
        spaced.push(space);
        space = false;
      }
      made.parts.push({ bytes: letters, spaced: spaced });
      made.letters += letters.length;
      made.anchor = made.anchor || letters;
    });
    made.weight += made.letters;
    made.anchor = made.anchor || [];
    return made;
  }

  function begins(list, at) {
    for (var i = 0; i < list.length; i++) if (byteAt(at + i) !== list[i]) return false;
    return true;
  }

  function stands(m, at) {
    var span = { start: at, end: at, holes: [] }, piece = 0, budget = 512;
    if (m.parts[0].type) {
      span.start = holeStart(m.parts[0].type, at);
      if (span.start < 0) return null;
      span.holes.push([span.start, at]);
      piece = 1;
    } else if (at > 0 && gaps[at] === NONE && alike(bytes[at - 1], bytes[at])) return null;

    function literal(part, from, first) {
      if (from + part.bytes.length > size || !begins(part.bytes, from)) return -1;
      for (var i = first || from === 0 ? 1 : 0; i < part.bytes.length; i++) {
        var here = from + i, between = gaps[here];
        if (part.spaced[i] === (between !== NONE) || !joined(bytes[here - 1], bytes[here])) continue;
        if (m.letters < (!part.spaced[i] && between === BREAK ? m.mending : m.spacing)) return -1;
      }
      return from + part.bytes.length;
    }

    function rest(index, from, first) {
      var part = m.parts[index], end;
      if (!part) return endsWell(m, from) ? from : -1;
      if (part.bytes) {
        end = literal(part, from, first);
        return end < 0 ? -1 : rest(index + 1, end, false);
      }
      if (index + 1 === m.parts.length && part.type === "any") {
        end = lineEnd(from);
        span.holes.push([from, end]);
        return end;
      }
      var list = holeEnds(part.type, from), next = m.parts[index + 1];
      for (var i = 0; i < list.length; i++) {
        if (!budget) return -1;
        budget--;
        if (next && next.bytes && (list[i] >= size || bytes[list[i]] !== next.bytes[0])) continue;
        span.holes.push([from, list[i]]);
        end = rest(index + 1, list[i], false);
        if (end >= 0) return end;
        span.holes.pop();
      }
      return -1;
    }

    span.end = rest(piece, at, span.start === at);
    return span.end < 0 ? null : span;
  }

  function endsWell(m, end) {
    if (end >= size || gaps[end] !== NONE) return true;
    if (isDigit(bytes[end - 1]) && isDigit(bytes[end])) return !m.parts[m.parts.length - 1].bytes;
    return m.letters >= 12 || !joined(bytes[end - 1], bytes[end]);
  }

  function lineEnd(from) {
    var end = from;
    while (end < size && end - from < REACH && (end === from || gaps[end] !== BREAK)) end++;
    return end;
  }

  function eachFigure(m, span, take) {
    var hole = 0;
    m.parts.forEach(part => {
      if (!part.type) return;
      var figure = holeFigure(part.type, span.holes[hole][0], span.holes[hole][1]);
      hole++;
      if (part.name && figure !== undefined) take(part.name, figure);
    });
  }

  function firstIn(m, from, to) {
    to = Math.min(to, size);
    for (var at = from; at + m.anchor.length <= to; at++) {
      at = bytes.indexOf(m.anchor[0], at);
      if (at < 0 || at + m.anchor.length > to) return null;
      var span = begins(m.anchor, at) ? stands(m, at) : null;
      if (span && span.start >= from && span.end <= to) return span;
    }
    return null;
  }

  /* expression.rs */

  function worth(node, figures) {
    if (typeof node === "number") return node;
    if (typeof node === "string") return figures[node];
    var sign = node[0], a, b, sum;
    if (sign === "'") return node[1];
    if (sign === "known") return figures[node[1]] !== undefined;
    a = worth(node[1], figures);
    if (sign === "not") return a === true || a === false ? !a : undefined;
    b = worth(node[2], figures);
    if (sign === "and") return a === false || b === false ? false : a === true && b === true ? true : undefined;
    if (sign === "or") return a === true || b === true ? true : a === false && b === false ? false : undefined;
    if (typeof a !== typeof b || a === undefined) return undefined;
    if (sign === "==") return a === b;
    if (sign === "!=") return a !== b;
    if (typeof a !== "number") return undefined;
    switch (sign) {
      case "<": return a < b;
      case "<=": return a <= b;
      case ">": return a > b;
      case ">=": return a >= b;
      case "+": sum = a + b; break;
      case "-": sum = a - b; break;
      case "*": sum = a * b; break;
      case "//": sum = Math.floor(a / b); break;
      default: sum = a / b;
    }
    return Number.isFinite(sum) ? sum : undefined;
  }

  function holds(when, figures) { return when === undefined || worth(when, figures) === true; }

  /* extractor.rs */

  var BEHIND = 1500, PLACE_BEFORE = 6000, PLACE_BEHIND = 3000;
  var TRACEBACK = matcher(["traceback(mostrecentcalllast)"]).anchor;

  function add(figures, name, value) { if (!(name in figures)) figures[name] = value; }
  function extend(figures, others) { for (var name in others) add(figures, name, others[name]); }

  function gather(extractor, message, span, known) {
    var figures = Object.create(null), limit = Math.min(size, span.start + BEHIND), next = firstIn(message, span.end, limit);
    extend(figures, known);
    if (next) limit = next.start;
    extractor.fields.forEach(field => {
      var values = [];
      for (var i = 0; i < field.matchers.length && (field.repeat || !values.length); i++) {
        for (var at = span.start, found; (found = firstIn(field.matchers[i], at, limit)); at = found.end) {
          var first = true;
          eachFigure(field.matchers[i], found, (name, value) => {
            if (first && typeof value === "number") values.push(value);
            first = false;
          });
          if (!field.repeat && values.length) break;
        }
      }
      if (values.length) add(figures, field.name, values.reduce((sum, value) => sum + value));
      if (values.length > 1) values.forEach((value, i) => { add(figures, field.name + "_" + (i + 1), value); });
    });
    extractor.derived.forEach(derived => {
      var value = worth(derived.value, figures);
      if (holds(derived.when, figures) && typeof value === "number") add(figures, derived.name, Math.max(0, Math.floor(value + 0.5)));
    });
    var verdict = extractor.verdicts.find(each => holds(each.when, figures));
    if (verdict) add(figures, "verdict", verdict.name);
    if (extractor.places.length) add(figures, "place", placeOf(extractor, span));
    return figures;
  }

  function placeOf(extractor, span) {
    var first = Math.max(0, span.start - PLACE_BEFORE), from = span.start - TRACEBACK.length, name;
    while (from >= first && !begins(TRACEBACK, from)) from--;
    [[Math.max(from, first), span.start], [span.end, Math.min(size, span.end + PLACE_BEHIND)]].forEach(range => {
      extractor.places.forEach(place => {
        if (!name && place.matchers.some(m => firstIn(m, range[0], range[1]))) name = place.name;
      });
    });
    return name || "unknown";
  }

  /* scan.rs */

  function automaton(anchors) {
    var classes = new Uint8Array(256), width = 1, room = 1, states = 1;
    anchors = anchors.map(anchor => anchor.slice(0, 24));
    anchors.forEach(anchor => {
      room += anchor.length;
      anchor.forEach(byte => { if (!classes[byte]) classes[byte] = width++; });
    });
    var next = new Int32Array(room * width), found = [[]], fallback = new Int32Array(room), queue = [];
    anchors.forEach((anchor, id) => {
      var state = 0;
      anchor.forEach(byte => {
        var slot = state * width + classes[byte];
        if (!next[slot]) { next[slot] = states++; found.push([]); }
        state = next[slot];
      });
      if (anchor.length) found[state].push(id);
    });
    for (var i = 0; i < width; i++) if (next[i]) queue.push(next[i]);
    for (i = 0; i < queue.length; i++) {
      var state = queue[i], shorter = fallback[state];
      found[state] = found[state].concat(found[shorter]);
      for (var kind = 0; kind < width; kind++) {
        var slot = state * width + kind, other = next[shorter * width + kind];
        if (!next[slot]) next[slot] = other;
        else { fallback[next[slot]] = other; queue.push(next[slot]); }
      }
    }
    return { classes: classes, width: width, next: next, found: found, lengths: anchors.map(a => a.length) };
  }

  function prepare(table) {
    var matchers = table.patterns.map(parts => matcher(parts, false));
    var wanted = matchers.map(() => []);
    table.pages.forEach(page => {
      page.signatures.forEach(signature => {
        var list = wanted[signature.all[0]];
        if (signature.extract !== undefined && list.indexOf(signature.extract) < 0) list.push(signature.extract);
      });
    });
    function inside(parts) { return matcher(parts, true); }
    return {
      matchers: matchers,
      wanted: wanted,
      scan: automaton(matchers.map(m => m.anchor)),
      extractors: table.extractors.map(extractor => {
        return {
          fields: extractor.fields.map(field => {
            return { name: field.name, repeat: field.repeat, matchers: field.patterns.map(inside) };
          }),
          derived: extractor.derived || [],
          verdicts: extractor.verdicts || [],
          places: (extractor.places || []).map(place => {
            return { name: place.name, matchers: place.fragments.map(inside) };
          })
        };
      })
    };
  }

  /* reading.rs, index.rs */

  function read(reader) {
    var scan = reader.scan, state = 0, line = 1, column = 1, counted = 0;
    var all = reader.matchers.map(() => []), behind = all.map(() => 0);
    for (var at = 0; at < size; at++) {
      state = scan.next[state * scan.width + scan.classes[bytes[at]]];
      var hits = scan.found[state];
      for (var i = 0; i < hits.length; i++) {
        var id = hits[i], from = at + 1 - scan.lengths[id];
        if (all[id].length === 8 || from < behind[id]) continue;
        var m = reader.matchers[id], span = stands(m, from);
        if (!span) continue;
        behind[id] = span.end;
        var figures = Object.create(null);
        eachFigure(m, span, (name, value) => { add(figures, name, value); });
        all[id].push({
          start: span.start, end: span.end, offset: places[span.start], figures: figures,
          extracted: reader.wanted[id].map(extract => {
            return [extract, gather(reader.extractors[extract], m, span, figures)];
          })
        });
      }
    }
    var found = [].concat.apply([], all).sort((a, b) => a.offset - b.offset);
    found.forEach(place => {
      for (; counted < place.offset; counted++) {
        var c = text.charCodeAt(counted);
        if (c === 10) { line++; column = 1; }
        else if (c < 0xdc00 || c > 0xdfff) column++;
      }
      place.line = line;
      place.column = column;
    });
    return all;
  }

  function findSignature(reader, page, signature, all) {
    if ((signature.not || []).some(id => all[id].length)) return null;
    var others = signature.all.slice(1).map(id => all[id][0]);
    if (others.some(other => !other)) return null;
    var weight = signature.when !== undefined ? 10 : 0;
    signature.all.forEach(id => { weight += reader.matchers[id].weight; });
    var found = [], most = 0;
    all[signature.all[0]].forEach(place => {
      var figures = Object.create(null);
      extend(figures, place.figures);
      others.forEach(other => { extend(figures, other.figures); });
      place.extracted.forEach(pair => { if (pair[0] === signature.extract) extend(figures, pair[1]); });
      if (!holds(signature.when, figures)) return;
      most = Math.max(most, Object.keys(figures).length);
      found.push({ page: page, place: place, weight: weight, figures: figures });
    });
    return found.filter(finding => Object.keys(finding.figures).length * 2 >= most)[0];
  }

  function findPage(reader, page, all) {
    var found = page.signatures.map(signature => findSignature(reader, page, signature, all))
      .filter(Boolean)
      .sort((a, b) => b.weight - a.weight || a.place.start - b.place.start);
    var best = found[0];
    found.slice(1).forEach(other => {
      if (Math.abs(other.place.line - best.place.line) <= 20) extend(best.figures, other.figures);
      if (other.place.start < best.place.start && other.weight * 2 >= best.weight) best.place = other.place;
    });
    return best;
  }

  var EARLY = [60, 40, 28, 18, 10, 4], KINDS = { cause: 60000, warning: 30000, wrapper: 0 };

  function rank(findings) {
    var event = 0, first = 0, last = 0, strongest = {};
    findings.sort((a, b) => a.place.start - b.place.start);
    findings.forEach((finding, i) => {
      var place = finding.place;
      if (i && (place.start >= last + 160 || place.start >= first + 480)) { event++; last = 0; }
      if (!last) first = place.start;
      last = Math.max(last, place.end);
      finding.early = EARLY[event] || 0;
      finding.group = finding.page.kind + event;
      strongest[finding.group] = Math.max(strongest[finding.group] || 0, Math.min(finding.weight, 30));
    });
    return findings.map(finding => {
      var causes = (finding.page.causes || []).filter(cause => holds(cause.when, finding.figures));
      return {
        slug: finding.page.slug,
        score: KINDS[finding.page.kind] + (strongest[finding.group] + finding.early) * 200 + Math.min(finding.weight, 199),
        line: finding.place.line,
        column: finding.place.column,
        figures: finding.figures,
        cause: causes.length ? causes[0].id : null
      };
    }).sort((a, b) => b.score - a.score);
  }

  var prepared = new WeakMap();

  return (table, log) => {
    var reader = prepared.get(table);
    if (!reader) prepared.set(table, (reader = prepare(table)));
    normalize(log);
    var all = read(reader);
    var findings = table.pages.map(page => findPage(reader, page, all)).filter(Boolean);
    text = "";
    bytes = gaps = places = ends = null;
    return rank(findings);
  };
})();
