/*
 * Finds the pages that match a pasted log: kbgen.match(table, log) works in steps, so that the page stays
 * responsive, and returns [{slug, score, line, column, figures, cause}], best first, in linear time. `steps` is the
 * number of steps, and `skipped` the line at which the budget was exhausted and signatures may have been missed, or
 * 0; `begun` lists the pages with a message that starts like the end of a short text,
 * `readings` the messages that kbgen.readings puts into words, and `occurrences` the places of each pattern. Of a table
 * in parts, a step may be a list of files that have to be loaded before the next one. One log at a time: a new call
 * cancels the previous one. Port of crates/kbgen-signature/; both share the test vectors in tests/data/matches.json.
 */
kbgen.match = (() => {
  "use strict";

  // Characters per step.
  const STEP = 8192;

  let text;
  let line;
  let begin;

  const isDigit = c => c > 47 && c < 58;
  const isLetter = c => c > 96 && c < 123;
  const isAlnum = c => isDigit(c) || isLetter(c);
  const within = (c, set) => set.includes(String.fromCharCode(c));

  /* prefix.rs: expressions that are tried at one position of the line, and read each character once. */

  const sticky = (source, ...parts) => RegExp(String.raw(source, ...parts), "uy");
  const BLANK = "[ \t\xa0\u2500-\u259f\u2771]";
  const LEVELS = "(?:TRACE|DEBUG|INFO|WARNING|WARN|ERROR|ERR|FATAL|CRITICAL|INF|WRN|DBG|NOTICE)";
  const PLACE = String.raw`(?=[\w/-]*\.)[\w./-]+:\d+`;
  const PROCESS = String.raw`(?:kernel|[\w.@/-]+\[\d+\]):(?![^ \t])`;
  const BLANKS = sticky`${BLANK}*`;
  // Every prefix has one of these characters.
  const MARKED = RegExp(String.raw`[\d>|:[(\\^\x1b\u241b]`);
  const COLOR = sticky`\[[\d;]{1,19}m|(?:[\x1b\u241b]|\^\[(?=\[)|\\(?:u001[bB]|x1[bB]|033|e)(?=\[))(?:\[[\d;?: ]*[@-~]?|\](?:[^\x07\x1b\\\u241b]{0,2000}(?:\x1b\\|[\x07\x1b\\\u241b]))?)?`;
  const COLORS = RegExp(COLOR.source, "gu");
  const COLOR_RUN = sticky`(?:${COLOR.source}){1,1000}`;
  const DATE = RegExp(
    `(?:(?:mon|tue|wed|thu|fri|sat|sun) ${BLANK}*)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) ${BLANK}*\\d\\d?(?= )`,
    "iy",
  );
  const CLOCK = sticky`(?=\d)[\d/:.,TZ+_APM-]+(?![^ \t\]|\0])`;
  const TIME = /\d\d:\d\d(?!\d)|(?:^|\D)\d:\d\d(?!\d)|\d\d[-/]\d\d[-/]\d\d|^\d\d[-/]\d\d$|\.\d\d\.\d\d\d\.\d\d\d/;
  const GROUP = sticky`\[[^\][(]{1,60}\]:?|\([^)[(]{1,60}\):?`;
  const TITLE = /\[(?:bug|BUG|Bug|Usage|Installation)\]:?/y;
  const KNOWN = RegExp(String.raw`pid=|^.[rR]ank|^.pod/|^.(?:${LEVELS}|${PLACE}).:?$|^\[[\d. ]{5,}\]`);
  const NAMED = sticky`[^\]]*\]${BLANK}*\|`;
  const BUILD = sticky`#\d+ [\d.]+`;
  const DASH = sticky`[-:\]](?=[ \0]|$)`;
  const QUOTE = sticky`>(?=[ >\0]|$)|\|(?=[ |\0]|$)`;
  const SERVICE = sticky`[^ \t]{2,60}[ \t]${BLANK}*\|(?= )|(?=[^ \t]{1,60}(?![^ \t]))(?:${PROCESS}|[^ \t]+[ \t]${BLANK}*${PROCESS})`;
  const LEVEL = sticky`${LEVELS}(?=${BLANK})`;
  const LOGGER = sticky`${LEVELS}(?=${BLANK})|[IWED](?= )|std(?:err|out) [FP] |${PLACE}\]|[^ \t]{1,48}[ \t]${BLANK}*[-|](?= )`;

  // The text in which `taken` reads: the beginning of the line for its prefix, then the whole line for its colors.
  let head;

  // The number of characters that an expression takes.
  function taken(expression, at) {
    expression.lastIndex = at;
    return expression.test(head) ? expression.lastIndex - at : 0;
  }

  const behindBlanks = at => at + taken(BLANKS, at);

  function timeLength(at) {
    const clock = taken(CLOCK, at);
    return taken(DATE, at) || (clock && TIME.test(head.substr(at, clock)) && clock);
  }

  function markLength(at, dated) {
    const c = head[at];
    if (c === "#") return taken(BUILD, at);
    if (c === "[" || c === "(") {
      const group = taken(GROUP, at);
      return (
        (!at && taken(TITLE, 0)) ||
        ((KNOWN.test(head.substr(at, group)) || timeLength(behindBlanks(at + 1)) || (c === "[" && taken(NAMED, at))) &&
          group)
      );
    }
    const level = taken(LEVEL, at);
    return (
      taken(QUOTE, at) ||
      (dated && taken(DASH, at)) ||
      taken(SERVICE, at) ||
      (dated ? taken(LOGGER, at) : level && timeLength(behindBlanks(at + level)) && level)
    );
  }

  function prefixLength() {
    head = line.slice(0, 1000);
    if (!MARKED.test(head)) return behindBlanks(0);
    let at = 0;
    let dated = false;
    for (let i = 0; i < 16; i++) {
      at = behindBlanks(at);
      let step = taken(COLOR, at);
      if (!step) {
        step = timeLength(at);
        if (step) dated = true;
        else step = markLength(at, dated);
        if (!step) break;
      }
      at += step;
    }
    return at;
  }

  /* normal.rs */

  const NONE = 0;
  const SPACE = 1;
  const BREAK = 2;
  const NOTHING = -1;
  const BLANKED = -2;
  const LINE = -3;
  const DOTS = -4;
  const ENTITY = /&(?:amp;)*(?:(gt|lt|quot|#34|apos|#39|#x27|nbsp);)?/iy;
  const ENTITIES = { gt: 62, lt: 60, quot: 34, "#34": 34, apos: 39, "#39": 39, "#x27": 39, nbsp: BLANKED };
  // Joins a number that was cut at the window or frame: neighboring lines are equally long, and digits meet.
  const CUT = /\d(?: [\u2500-\u259f]{2} )?\d$/;
  // Characters that are their own normal form, in lower case; 0 for others.
  const PLAIN = Uint8Array.from({ length: 127 }, (_, c) => (c < 33 || c === 38 || within(c, "[\\^") ? 0 : fold(c)));
  let bytes;
  let gaps;
  // The next line end from each character.
  let breaks;
  let places;
  let ends;
  let size;
  let gap;
  let earlier;
  let last;
  let end;

  /** @type {[number, RegExp][]} */
  const FOLDS = [
    [39, /[\u2018-\u201b\u2032]/],
    [34, /[\u201c-\u201f\u2033]/],
    [45, /[\u2010-\u2015\u2212]/],
    [DOTS, /\u2026/],
    [NOTHING, /[\xad\u200b-\u200f\u2060\ufeff\ufffd]/],
    [BLANKED, /[\xa0\u2000-\u200a\u2028\u2029\u202f\u2500-\u259f\u2771\u3000]/],
  ];

  // Results of `fold`.
  const folded = new Int16Array(65536);

  function fold(c) {
    if (c < 33) return c === 32 || (c > 8 && c < 14) ? BLANKED : NOTHING;
    if (c < 128) return c === 127 ? NOTHING : c > 64 && c < 91 ? c + 32 : c;
    if (c > 0xff00 && c < 0xff5f) return fold(c - 0xfee0);
    const found = c < 0xffff && FOLDS.find(([, set]) => set.test(String.fromCharCode(c)));
    return found ? found[0] : 0x80 | (c & 0x7f);
  }

  function push(byte, from, to) {
    bytes[size] = byte;
    gaps[size] = gap;
    places[size] = begin + from;
    ends[size++] = begin + to;
    gap = NONE;
  }

  // The number of backslashes between the parts of a Windows path on this line.
  function separatorRun() {
    const found =
      /(?:^|[^0-9A-Za-z])(?:[A-Z]:(\\+)|[a-z]:(\\+)(?![nrt\\]))/.exec(line) ||
      /[\w.-](\\+)(?!U0|[abefnrtuvx])[A-Za-z]/.exec(line);
    return found ? (found[1] || found[2]).length : 0;
  }

  // The start of the content of the line; its end is in `end`.
  function trimmed() {
    const skipped = prefixLength();
    const framed = skipped && /^ *\|/.test(line.slice(0, skipped));
    end = line.length;
    if (
      last.length > 39 &&
      (last.length === end || last.length === earlier.length) &&
      CUT.test(last.slice(-3) + line.slice(0, skipped + 1).slice(-3))
    ) {
      gap = NONE;
    }
    earlier = last;
    last = line;
    if (framed) while (end > skipped && within(line.charCodeAt(end - 1), " |")) end--;
    head = line;
    return skipped;
  }

  function pushPiece(at, end, separators) {
    while (at < end) {
      let c = line.charCodeAt(at);
      let step = 1;
      let kind = PLAIN[c];
      if (kind) {
        push(kind, at, ++at);
        continue;
      }
      const next = line.charCodeAt(at + 1);
      if (
        c === 27 ||
        c === 0x241b ||
        (c === 91 && next < 60) ||
        (c === 92 && isAlnum(next)) ||
        (c === 94 && next === 91)
      ) {
        const color = taken(COLOR_RUN, at);
        if (color) {
          at += color;
          continue;
        }
      }
      if (c === 92) {
        while (line.charCodeAt(at + step) === 92) step++;
        const next = line[at + step] || "\0";
        const named = /^u[\da-f]{4}/i.exec(line.substr(at + step, 5));
        const code = named ? parseInt(named[0].slice(1), 16) : 0xd800;
        kind = 47;
        if ("\"'".includes(next)) kind = line.charCodeAt(at + step++);
        else if ("\0/".includes(next)) kind = NOTHING;
        else if ("nrt".includes(next) && step !== separators) {
          kind = LINE;
          step++;
        } else if (code < 0xd800 || code > 0xdfff) {
          kind = fold(code);
          step += 5;
        }
      } else if (c === 38 && (next === 35 || isLetter(next | 32))) {
        ENTITY.lastIndex = at;
        const found = ENTITY.exec(line);
        step = found[0].length;
        kind = ENTITIES[(found[1] || "").toLowerCase()] || 38;
      } else {
        c = line.codePointAt(at);
        if (c > 0xffff) step = 2;
        kind = folded[c] || (folded[c] = fold(c));
      }
      if (kind >= 0) push(kind, at, at + step);
      else if (kind === BLANKED) gap = Math.max(gap, SPACE);
      else if (kind === LINE) gap = BREAK;
      else if (kind === DOTS) for (let i = 0; i < 3; i++) push(46, at, at + step);
      at += step;
    }
    return at;
  }

  function* normalize() {
    const room = text.length * (text.includes("\u2026") ? 3 : 1);
    bytes = new Uint8Array(room);
    gaps = new Uint8Array(room);
    places = new Uint32Array(room);
    ends = new Uint32Array(room);
    size = gap = 0;
    earlier = last = "";
    let pause = STEP;
    for ({ 1: line, index: begin } of text.matchAll(/([^\n\r]+)[\n\r]?|[\n\r]{1,8192}/g)) {
      gap = BREAK;
      if (begin > pause) {
        yield;
        pause = begin + STEP;
      }
      if (!line) continue;
      const separators = line.includes("\\") ? separatorRun() : 0;
      for (let at = trimmed(); at < end;) {
        at = pushPiece(at, Math.min(end, at + STEP), separators);
        if (at < end) yield;
      }
    }
    bytes = bytes.subarray(0, size);
    breaks = new Uint32Array(size + 2).fill(size);
    for (let at = size - 1; at > 0; at--) breaks[at] = gaps[at] === BREAK ? at : breaks[at + 1];
  }

  /* step_budget.rs: counts the same steps as the program, so that both stop at the same position. */

  const STRETCH = 1024;
  const STEPS = 65536;
  let steps;
  let left;
  let exhausted;

  // Whether the budget allows this many steps; if not, none are allowed until the next section.
  function charge(count) {
    if ((exhausted = exhausted || count > left)) return false;
    left -= count;
    steps += count;
    return true;
  }

  /* placeholder.rs */

  const REACH = 120;
  const LINE_REACH = 400;

  const gapAt = at => (at < size ? gaps[at] : BREAK);
  // Sets of characters, as one entry for each.
  const set = has => Uint8Array.from({ length: 256 }, (_, c) => Number(has(c)));
  const WORD = set(c => isAlnum(c) || c > 127 || within(c, "_-./:+@#~%$*=&"));
  const PATH = set(c => c > 127 || (c > 32 && c < 127 && !within(c, "'\"\x60,;<>|")));
  const VERSION = set(c => isAlnum(c) || within(c, ".+-_"));
  const DIGITS = set(isDigit);
  const LETTERS = set(isLetter);
  const HEX = set(c => within(c, "0123456789abcdef"));
  const EVERY = set(() => true);
  const PUNCTUATION = set(c => within(c, ".,:;)]}"));
  const WORDS = { word: WORD, path: PATH, version: VERSION };
  // The number of ends of the last placeholder, whatever follows them.
  let endings = 0;
  const spell = (from, to) => String.fromCharCode(...bytes.subarray(from, to));
  const factor = unit => (/^(?:b|bytes?|[kmgt](?:i?b)?)$/.test(unit) ? 1024 ** "bkmgt".indexOf(unit[0]) : 0);

  function stretch(from, wrapped, allowed, reach = REACH) {
    let at = from;
    while (
      at < size &&
      at - from < reach &&
      allowed[bytes[at]] &&
      (at === from || gaps[at] === NONE || (wrapped && gaps[at] === BREAK))
    ) {
      at++;
    }
    return at;
  }

  // The end of the line, at most the maximum length of a text away.
  function lineEnd(from) {
    return from < size ? Math.min(from + LINE_REACH, breaks[from + 1]) : from;
  }
  // The end of an `any` that ends a pattern: that of the line, or of the JSON string around the pattern.
  function restEnd(from) {
    const end = lineEnd(from);
    let quoted = false;
    for (let at = from; at < end; at++) {
      if (bytes[at] !== 34) continue;
      if (!quoted && (bytes[at + 1] === 44 || bytes[at + 1] === 125)) return at;
      quoted = !quoted;
    }
    return end;
  }
  const textEnd = from => Math.max(Math.min(size, from + REACH), lineEnd(from));

  // The ends of an `any` before the wanted character: first those within the line with closed brackets and quotes. It
  // does not contain the beginning of the pattern.
  function clauseEnds(from, wanted, beginning) {
    const last = textEnd(from);
    const final = beginning.at(-1);
    const clauses = [];
    const others = [];
    let depth = 0;
    let quoted = false;
    let broken = false;
    let end = from;
    for (; end <= last; end++) {
      if (end > from) {
        const c = bytes[end - 1];
        if (c === 40 || c === 91 || c === 123) depth++;
        else if (depth && (c === 41 || c === 93 || c === 125)) depth--;
        else if (c === 34) quoted = !quoted;
        if (end - 1 > from && gaps[end - 1] === BREAK) broken = true;
        if (c === final && end - from >= beginning.length && begins(beginning, end - beginning.length)) break;
      }
      if (bytes[end] === wanted) (depth || quoted || broken ? others : clauses).push(end);
    }
    return charge(8 + ((Math.min(end, last) - from) >> 4)) ? clauses.concat(others) : [];
  }

  // The ends of a placeholder, best first; of a word, only those before the wanted character.
  function holeEnds(type, from, wanted = -1) {
    const list = [];
    const last = type === "any" || type === "quoted" ? textEnd(from) : 0;
    const open = bytes[from];
    let at;
    if (type === "start" || type === "end") {
      if (gapAt(from) === BREAK) list.push(from);
    } else if (type === "any") {
      for (at = from; at <= last; at++) list.push(at);
    } else if (type === "quoted") {
      // A quote with other backslashes than the first one belongs to a text within the text.
      const inner = [];
      const length = at => ends[at] - places[at];
      if (within(open, "'\"\x60")) {
        for (at = from + 1; at < last; at++) {
          if (bytes[at] === open || (open === 96 && bytes[at] === 39)) {
            (length(at) === length(from) ? list : inner).push(at + 1);
          }
        }
      }
      list.push(...inner);
    } else if (WORDS[type]) {
      if (type !== "version" || isDigit(open) || (open === 118 && isDigit(bytes[from + 1]))) {
        endings = wordEnds(from, WORDS[type], list, wanted);
        return list;
      }
    } else {
      numberEnds(type, from, false, list);
      numberEnds(type, from, true, list);
      if (type === "bytes") list.sort((a, b) => Number(isLetter(bytes[b - 1])) - Number(isLetter(bytes[a - 1])));
      const distinct = list.filter((end, i) => end !== list[i - 1]);
      endings = distinct.length;
      return distinct;
    }
    endings = list.length;
    return list;
  }

  // Returns the number of ends, of which only those before the wanted character are listed.
  function wordEnds(from, allowed, list, wanted) {
    let count = 0;
    let best = -1;
    const push = at => {
      if (wanted < 0 || bytes[at] === wanted) list.push(at);
    };
    for (let wrapped = 0; wrapped < 2; wrapped++) {
      const whole = stretch(from, wrapped, allowed, LINE_REACH);
      let trimmed = whole;
      let at;
      if (best === whole || whole === from) continue;
      while (trimmed > from && PUNCTUATION[bytes[trimmed - 1]]) trimmed--;
      for (at = trimmed; at > from; at--) push(at);
      for (at = trimmed + 1; at <= whole; at++) push(at);
      if (!count) best = trimmed > from ? trimmed : from + 1;
      count += whole - from;
    }
    return count;
  }

  function numberEnds(type, from, wrapped, list) {
    const near = at => gapAt(at) === NONE || (wrapped && gapAt(at) === BREAK);
    const signed = at => (within(bytes[at], "-+") ? at + 1 : at);
    const hex = type === "hex";
    const start = !hex ? signed(from) : bytes[from] === 48 && bytes[from + 1] === 120 ? from + 2 : from;
    const whole = stretch(start, wrapped, hex ? HEX : DIGITS);
    let end = whole;
    let next;
    if (whole === start) return;
    if (!hex && type !== "int" && bytes[whole] === 46 && near(whole) && isDigit(bytes[whole + 1]) && near(whole + 1)) {
      end = stretch(whole + 1, wrapped, DIGITS);
    }
    if (type === "bytes") {
      next = stretch(end, wrapped, LETTERS);
      if (next > end && factor(spell(end, next))) list.push(next);
    } else if (type === "float" && bytes[end] === 101 && near(end)) {
      const exponent = signed(end + 1);
      next = stretch(exponent, wrapped, DIGITS);
      if (next > exponent) list.push(next);
    }
    list.push(end);
  }

  function holeStart(type, end) {
    const allowed = type === "path" ? PATH : type === "quoted" ? EVERY : WORD;
    const spaced = type === "quoted" || type === "bytes";
    let first = end;
    let at;
    if (type === "start" || type === "end") return gapAt(end) === BREAK ? end : -1;
    while (first > 0 && end - first < (spaced ? REACH : LINE_REACH) && allowed[bytes[first - 1]]) {
      first--;
      if (!spaced && gaps[first] !== NONE) break;
    }
    if (/^(word|path)$/.test(type)) return first < end ? first : -1;
    if (type === "quoted") {
      const close = bytes[end - 1];
      for (at = end - 2; at >= first; at--) if (bytes[at] === close || (close === 39 && bytes[at] === 96)) return at;
      return -1;
    }
    for (at = Math.max(first, end - 40); at < end; at++) {
      if ((!at || gaps[at] !== NONE || !VERSION[bytes[at - 1]]) && holeEnds(type, at).includes(end)) return at;
    }
    return -1;
  }

  function holeFigure(type, from, to) {
    if (type === "int" || type === "float") return Number(spell(from, to));
    if (factor(type)) {
      const [, number, unit] = /([^a-z]*)(.*)/.exec(spell(from, to));
      return Math.floor(Number(number) * factor(unit || type) + 0.5);
    }
    if (type === "quoted" && from + 2 <= to) {
      from++;
      to--;
    } else if (from >= to) return;
    let out = "";
    for (let at = from; at < to; at++) {
      const piece = text.slice(places[at], ends[at]);
      if (at > from && gaps[at] !== NONE) out += " ";
      if (piece[0] === "\\" && piece.length > 1) {
        const [end, code] = /u(.{4})$|["']?$/.exec(piece);
        out += code ? String.fromCharCode(parseInt(code, 16)) : end || "\\";
      } else if ([...piece].length > 1) out += String.fromCharCode(bytes[at]);
      else if (at === from || places[at] !== places[at - 1]) out += piece;
    }
    return out;
  }

  /* matcher.rs */

  // Maximum length of a placeholder.
  const longest = type =>
    type === "start" || type === "end"
      ? 0
      : /^(?:any|quoted|word|path)$/.test(type)
        ? LINE_REACH
        : /^(?:bytes|mib|gib|float)$/.test(type)
          ? 3 * REACH + 4
          : REACH + 2;

  const squeezed = part => (typeof part === "string" ? part.replace(/ /g, "") : "");
  const codes = letters => [...letters].map(letter => letter.charCodeAt(0));

  // `anchor` is the part and offset of the literal text that the pattern is searched by, and `wanted` the extractors
  // that read figures at its occurrences.
  function matcher(pattern, inMessage, [anchor, offset] = [0, 0], wanted = []) {
    const made = { parts: [], letters: 0, weight: 0, offset, wanted, inMessage };
    pattern.forEach(part => {
      if (typeof part !== "string") {
        made.parts.push({ type: part[0], name: part[1] });
        if (part[0] !== "any") made.weight += 3;
        return;
      }
      const letters = codes(squeezed(part));
      const spaced = [...part.matchAll(/( ?)[^ ]/gu)].map(([, space]) => space > "");
      const { type } = made.parts.at(-1) || {};
      made.parts.push({
        bytes: letters,
        spaced,
        before: /^(?:any|word|path)$/.test(type) && spaced[0],
        after: part.endsWith(" "),
        any: type === "any",
        strict: type === "any" && !letters.some(isAlnum),
      });
      made.letters += letters.length;
    });
    made.weight += made.letters;
    const first = made.parts.findIndex(({ bytes }) => bytes);
    made.first = first;
    made.beginning = made.parts[first].bytes;
    made.reach = made.parts
      .slice(first, anchor)
      .reduce((sum, { bytes, type }) => sum + (bytes ? bytes.length : longest(type)), 0);
    return made;
  }

  function begins(list, at) {
    for (let i = 0; i < list.length; i++) if (list[i] !== bytes[at + i]) return false;
    return true;
  }

  function stands(m, at) {
    const span = { start: at, end: at, holes: [], tries: 512 };
    if (!charge(8)) return;
    for (let part = m.first - 1; part >= 0; part--) {
      if (!charge(32)) return;
      const end = span.start;
      span.start = holeStart(m.parts[part].type, end);
      if (span.start < 0) return;
      span.holes.unshift([span.start, end]);
    }
    if (!m.first && isJoined(at) && isRun(at)) return;
    span.end = rest(m, span, m.first, at);
    if (span.end >= 0) return span;
  }

  const isRun = here =>
    (isLetter(bytes[here - 1]) && isLetter(bytes[here])) || (isDigit(bytes[here - 1]) && isDigit(bytes[here]));
  const isJoined = here => here > 0 && here < size && gaps[here] === NONE;
  const joined = here => isAlnum(bytes[here - 1]) && isAlnum(bytes[here]);
  // Whether a text lacks the white space that a pattern has beside a placeholder.
  const fused = ({ strict }, here) => isJoined(here) && (strict || isRun(here));

  function literal(m, part, from, first) {
    if (from + part.bytes.length > size || !begins(part.bytes, from)) return -1;
    for (let i = first || from === 0 ? 1 : 0; i < part.bytes.length; i++) {
      const here = from + i;
      const wanted = part.spaced[i];
      if (wanted === (gaps[here] !== NONE) || !joined(here)) continue;
      if (!m.inMessage && m.letters < (!wanted && gaps[here] === BREAK ? 12 : 20)) return -1;
    }
    return from + part.bytes.length;
  }

  function endsWell({ parts, letters }, end) {
    if (!isJoined(end)) return true;
    if (isDigit(bytes[end - 1]) && isDigit(bytes[end])) return !parts.at(-1).bytes;
    return (letters >= 12 && !parts.at(-1).any) || !joined(end);
  }

  // The end of the parts from an index on, whose placeholders are added to the span; -1 if they do not match.
  function rest(m, span, index, from) {
    const part = m.parts[index];
    const next = m.parts[index + 1];
    let end;
    if (!part) return endsWell(m, from) ? from : -1;
    if (part.bytes) {
      end = charge(1 + (part.bytes.length >> 4)) ? literal(m, part, from, from === span.start) : -1;
      if (end < 0 || (part.before && fused(part, from)) || (part.after && fused(part, end))) return -1;
      return rest(m, span, index + 1, end);
    }
    if (!next && part.type === "any") {
      end = restEnd(from);
      span.holes.push([from, end]);
      return end;
    }
    const wanted = next && next.bytes ? next.bytes[0] : -1;
    const isClause = part.type === "any" && wanted >= 0;
    const list = isClause ? clauseEnds(from, wanted, m.beginning) : holeEnds(part.type, from, wanted);
    if (!isClause && !charge(8 + (endings >> 4))) return -1;
    for (const tried of list) {
      if (wanted >= 0 && bytes[tried] !== wanted) continue;
      if (!span.tries) return -1;
      span.tries--;
      span.holes.push([from, tried]);
      end = rest(m, span, index + 1, tried);
      if (end >= 0) return end;
      span.holes.pop();
    }
    return -1;
  }

  function figuresAt(m, span) {
    const figures = merged();
    let hole = 0;
    m.parts.forEach(({ type, name }) => {
      if (!type) return;
      const [from, to] = span.holes[hole++];
      const figure = name ? holeFigure(type, from, to) : undefined;
      // As in Rust, a number above the range has no value.
      if (figure !== undefined && figure !== 1 / 0) figures[name] = figure;
    });
    return figures;
  }

  function firstIn(m, from, to) {
    const end = Math.min(to, size);
    const last = end - m.beginning.length;
    if (!charge(Math.max(0, end - from) >> 4)) return;
    for (let at = from; at <= last && (at = bytes.indexOf(m.beginning[0], at)) >= 0 && at <= last; at++) {
      const span = begins(m.beginning, at) && stands(m, at);
      if (span && span.start >= from && span.end <= to) return span;
    }
  }

  /* expression.rs */

  // Compares versions by their numbers, up to the first part that is not a number; false for other texts.
  function versionOrder(...texts) {
    const [left, right] = texts.map(text => {
      const parts = text.replace(/^v/, "").split(/[.+-]/);
      const end = parts.findIndex(part => !/^\d{1,9}$/.test(part));
      return parts.slice(0, end < 0 ? undefined : end).map(Number);
    });
    if (!left.length || !right.length) return false;
    for (let at = 0; at < left.length || at < right.length; at++) {
      const difference = (left[at] || 0) - (right[at] || 0);
      if (difference) return difference;
    }
    return 0;
  }

  function worth(node, figures) {
    if (typeof node === "number") return node;
    if (typeof node === "string") return figures[node];
    const [sign, one, other] = node;
    if (sign === "'") return one;
    if (sign === "known") return one in figures;
    const a = worth(one, figures);
    if (sign === "not") return a === undefined ? a : !a;
    const b = worth(other, figures);
    if (sign === "and") return a === false || b === false ? false : a && b;
    if (sign === "or") return a === true || b === true ? true : a === undefined ? a : b;
    if (typeof a !== typeof b || a === undefined) return;
    if (typeof a !== "number" && !/[!=]=/.test(sign)) {
      const order = typeof a === "string" && /[<>]/.test(sign) && versionOrder(a, b);
      return order === false ? undefined : worth([sign, order, 0], figures);
    }
    const computed = {
      "==": a === b,
      "!=": a !== b,
      "<": a < b,
      "<=": a <= b,
      ">": a > b,
      ">=": a >= b,
      "+": a + b,
      "-": a - b,
      "*": a * b,
      "/": a / b,
      "//": Math.floor(a / b),
    }[sign];
    return typeof computed === "number" && !Number.isFinite(computed) ? undefined : computed;
  }

  const holds = (when, figures) => !when || worth(when, figures) === true;

  /* extractor.rs */

  const BEHIND = 1500;
  const PLACE_BEFORE = 6000;
  const PLACE_BEHIND = 3000;
  const TRACEBACK = codes("traceback(mostrecentcalllast)");

  // The first value read is kept.
  const add = (figures, name, value) => {
    if (!(name in figures)) figures[name] = value;
  };
  function merged(...all) {
    const figures = Object.create(null);
    all.forEach(each => {
      for (const name in each) add(figures, name, each[name]);
    });
    return figures;
  }

  function gather(extractor, message, span, known) {
    const figures = merged(known);
    const next = firstIn(message, span.end, span.start + BEHIND);
    const limit = next ? next.start : span.start + BEHIND;
    extractor.fields.forEach(({ name, repeat, patterns }) => {
      const values = [];
      const isRead = () => !repeat && values.length;
      for (const wording of patterns) {
        for (let at = span.start, found; !isRead() && (found = firstIn(wording, at, limit)); at = found.end) {
          const [read] = Object.values(figuresAt(wording, found));
          if (typeof read === "number") values.push(read);
        }
      }
      if (values.length) {
        add(
          figures,
          name,
          values.reduce((sum, value) => sum + value),
        );
      }
      if (values.length > 1) values.forEach((value, i) => add(figures, `${name}_${i + 1}`, value));
    });
    extractor.derived.forEach(({ name, value, when }) => {
      const computed = worth(value, figures);
      if (holds(when, figures) && typeof computed === "number") {
        add(figures, name, Math.max(0, Math.floor(computed + 0.5)));
      }
    });
    const verdict = extractor.verdicts.find(({ when }) => holds(when, figures));
    if (verdict) add(figures, "verdict", verdict.name);
    if (extractor.places.length) add(figures, "place", placeOf(extractor, span));
    return figures;
  }

  function placeOf(extractor, span) {
    const first = Math.max(0, span.start - PLACE_BEFORE);
    let from = span.start - TRACEBACK.length;
    while (from >= first && !begins(TRACEBACK, from)) from--;
    const between = (from, to) =>
      extractor.places.find(place => place.fragments.some(fragment => firstIn(fragment, from, to)));
    const place = between(Math.max(from, first), span.start) || between(span.end, span.end + PLACE_BEHIND);
    return place ? place.name : "unknown";
  }

  /* anchor_search.rs */

  const FIRST = 4;
  const join = (list, at) => (list[at] << 24) | (list[at + 1] << 16) | (list[at + 2] << 8) | list[at + 3];
  const hash = key => Math.imul(key, 0x9e3779b1) >>> 16;

  // A tree of the anchors with four characters in each step; a node has the anchors that end before the next step. Most
  // nodes are never visited, so that a node is divided at its first visit.
  function prepareAnchors(anchors) {
    const filter = new Uint8Array(65536);
    const divide = (place, depth) => {
      place.ends = [];
      place.next = new Map();
      for (const id of place.ids) {
        const rest = codes(anchors[id].substr(depth, FIRST));
        const key = join(rest, 0);
        if (rest.length < FIRST) place.ends.push({ rest, id });
        else if (place.next.has(key)) place.next.get(key).ids.push(id);
        else place.next.set(key, { ids: [id] });
      }
    };
    const ids = [...anchors.keys()].filter(id => anchors[id]).sort((a, b) => anchors[a].length - anchors[b].length);
    const root = { ids };
    divide(root, 0);
    for (const key of root.next.keys()) filter[hash(key)] = 1;
    root.ends.forEach(({ rest }) => {
      if (rest.length < FIRST - 1) filter.fill(1);
      for (let next = 0; next < 256; next++) filter[hash(join([...rest, next], 0))] = 1;
    });
    // Calls a function with the patterns whose anchors are at a position, shorter anchors first.
    const visit = (from, found) => {
      for (let at = from, place = root; place; at += FIRST) {
        if (!place.ends) divide(place, at - from);
        for (const { rest, id } of place.ends) if (begins(rest, at)) found(id);
        place = place.next.get(join(bytes, at));
      }
    };
    return { filter, visit };
  }

  // The patterns of a table in parts have gaps. Most patterns are never tried, so that each is read at its first try.
  function prepare(table) {
    const { patterns } = table;
    const inside = patterns => patterns.map(pattern => matcher(pattern, true));
    const extracting = table.pages.flatMap(({ signatures }) => signatures.filter(({ extract }) => extract >= 0));
    const literals = patterns.map(pattern => pattern.map(squeezed));
    const anchors = literals.map((parts, id) => {
      const [part, offset] = table.anchors[id];
      return parts[part].substr(offset, 24);
    });
    const made = [];
    const make = id => {
      const own = extracting.filter(({ all }) => all[0] === id).map(({ extract }) => extract);
      return matcher(
        patterns[id],
        false,
        table.anchors[id],
        table.parts ? (table.uses[id] || [])[1] : [...new Set(own)],
      );
    };
    return {
      ...prepareAnchors(anchors),
      literals,
      anchors,
      matcherOf: id => (made[id] = made[id] || make(id)),
      extractors: table.extractors.map(({ fields, places = [], ...others }) => ({
        derived: [],
        verdicts: [],
        ...others,
        fields: fields.map(field => ({ ...field, patterns: inside(field.patterns) })),
        places: places.map(place => ({ ...place, fragments: inside(place.fragments) })),
      })),
    };
  }

  /* scanner.rs, index.rs */

  // Occurrences of a pattern that are kept.
  const MOST = 8;
  // Different patterns that are found in a text; what follows the last one is not read.
  const PATTERNS = 256;
  let patterns;
  // The end of the positions at which each pattern was tried.
  let tried;

  // Matches a pattern whose anchor is at `at`.
  function candidate({ matcherOf, extractors }, all, id, at) {
    const m = matcherOf(id);
    const found = all[id];
    const literal = at - m.offset;
    const to = m.reach ? literal - m.beginning.length + 1 : literal + 1;
    if (to < 1) return;
    const from = Math.max(tried[id], m.reach ? literal - m.reach : literal);
    tried[id] = Math.max(tried[id], to);
    if (!charge(1 + (Math.max(0, to - from) >> 4))) return;
    for (let at = from; at < to && found.length < MOST; at++) {
      if (!begins(m.beginning, at) || (found.length && at < found.at(-1).end)) continue;
      const span = stands(m, at);
      if (!span) continue;
      if (!charge(64)) return;
      const figures = figuresAt(m, span);
      const extracted = [];
      m.wanted.forEach(id => {
        extracted[id] = gather(extractors[id], m, span, figures);
      });
      found.push(Object.assign(span, { figures, extracted }));
      if (found.length === 1 && ++patterns === PATTERNS) exhausted = true;
    }
  }

  // Reads a window; returns the position at which the budget was exhausted, or -1.
  function readWindow(start, reader, all) {
    const { filter, visit } = reader;
    const end = Math.min(size, start + STRETCH);
    let at = start;
    left = Math.min(STEPS, left + STEPS / 32);
    exhausted = false;
    let key = join(bytes, at);
    const found = id => exhausted || all[id].length === MOST || candidate(reader, all, id, at);
    for (; at < end; at++) {
      if (filter[hash(key)]) visit(at, found);
      key = (key << 8) | bytes[at + FIRST];
      if (exhausted) return at;
    }
    return -1;
  }

  // Whether programs often go on after a message: its line is a warning, a failed import or source code of a traceback,
  // or Python ignored the traceback.
  function isSurvivable(start) {
    const at = places[start];
    const [before] = /[^\n]{0,200}$/u.exec(text.slice(Math.max(0, at - 400), at));
    const [behind] = /^[^\n]{0,200}/u.exec(text.slice(at, at + 400));
    if (/warn/i.test(before) || /ImportError|No module named/.test(before + behind)) return true;
    const first = Math.max(0, start - 1000);
    const near = gaps.subarray(first, start + 1);
    const own = near.lastIndexOf(BREAK);
    if (own < 1) return false;
    const frame = near.lastIndexOf(BREAK, own - 1);
    const lines = spell(first, start + 1);
    return (
      (frame >= 0 && /^file\x22(?!.*assert)/.test(lines.slice(frame))) ||
      /exceptionignoredin(?!.*(?:exceptionignoredin|error:))/.test(lines.slice(0, own))
    );
  }

  function* read(reader) {
    const all = reader.anchors.map(() => []);
    let stop;
    tried = new Uint32Array(all.length);
    steps = patterns = 0;
    left = STEPS;
    for (let from = 0; from < size && patterns < PATTERNS; from += STRETCH) {
      if (from % STEP === 0) yield;
      const start = readWindow(from, reader, all);
      if (start >= 0) stop = stop || { start };
    }
    let line = 1;
    let column = 1;
    let counted = 0;
    all
      .flat()
      .concat(stop || [])
      .sort((a, b) => a.start - b.start)
      .forEach(place => {
        for (; counted < places[place.start]; counted++) {
          const c = text.charCodeAt(counted);
          if (c < 0xdc00 || c > 0xdfff) column++;
          if (c === 10) {
            line++;
            column = 1;
          }
        }
        Object.assign(place, { line, column });
      });
    return [all, stop ? stop.line : 0];
  }

  function findSignature(
    { matcherOf },
    page,
    { all: ids, not = [], not_on_line: beside = [], extract, when, weak = false },
    all,
  ) {
    // A pattern that is not loaded does not match.
    const places = id => all[id] || [];
    if (ids.some(id => !places(id).length)) return;
    const near = (id, { line }, reach) => places(id).some(other => Math.abs(other.line - line) <= reach);
    // Of a frequent fragment, only the first occurrences are known; it excludes later messages if it excludes an
    // earlier one.
    const excludes = (list, place, reach) =>
      list.some(
        id =>
          near(id, place, reach) ||
          (places(id)[MOST - 1]?.line < place.line && places(ids[0]).some(other => near(id, other, reach))),
      );
    const weight = ids.reduce((sum, id) => sum + matcherOf(id).weight, when ? 10 : 0);
    const letters = ids.reduce((sum, id) => sum + matcherOf(id).letters, 0);
    const told = finding => Object.keys(finding.figures).length;
    const found = all[ids[0]]
      .filter(
        place =>
          ids.every(id => places(id).length === MOST || near(id, place, 200)) &&
          !excludes(not, place, 40) &&
          !excludes(beside, place, 0),
      )
      .map(place => {
        const distance = other => Math.abs(other.line - place.line);
        const others = ids.slice(1).map(id => places(id).reduce((a, b) => (distance(b) < distance(a) ? b : a)).figures);
        const figures = merged(place.figures, ...others, place.extracted[extract]);
        return { page, place, weight, weak, brief: letters < 11 && !Object.keys(figures).length, figures };
      })
      .filter(finding => holds(when, finding.figures));
    const most = Math.max(...found.map(told));
    const likely = found.filter(finding => told(finding) * 2 >= most);
    return likely.find(({ place }) => !(place.survivable = isSurvivable(place.start))) || likely[0];
  }

  function findPage(reader, page, all) {
    const [best, ...others] = page.signatures
      .map(signature => findSignature(reader, page, signature, all))
      .filter(Boolean)
      .sort((a, b) => a.weak - b.weak || b.weight - a.weight || a.place.start - b.place.start);
    others.forEach(({ place, weight, weak, figures }) => {
      if (Math.abs(place.line - best.place.line) <= 20) best.figures = merged(best.figures, figures);
      if (
        weak === best.weak &&
        (place.survivable === best.place.survivable
          ? place.start < best.place.start && weight * 2 >= best.weight
          : best.place.survivable)
      ) {
        best.place = place;
      }
    });
    return best;
  }

  // How many characters at the end of a short text the message of a pattern starts with, or contains, by pattern.
  function beginnings({ literals, anchors }) {
    let end = size;
    const letters = new Map();
    while (end && within(bytes[end - 1], ".,:;!?")) end--;
    if (end < 16) return letters;
    const whole = spell(0, end);
    const starts = [...gaps.subarray(0, Math.min(end - 16, end >> 1) + 1).keys()].filter(at => gaps[at] !== NONE);
    literals.forEach((parts, id) => {
      const contains = part => part.length > end && part.includes(whole);
      if (whole.includes(anchors[id].slice(0, KEY)) && parts.some(contains)) letters.set(id, end);
      const at = starts.find(at => parts[0].length > end - at && parts[0].startsWith(whole.slice(at)));
      if (at !== undefined) letters.set(id, end - at);
    });
    return letters;
  }

  // Pages with a message that starts like the end of a short text, the longest match first.
  function begun({ pages }, letters) {
    const found = [];
    for (const [id, count] of letters) {
      pages.forEach(({ slug, kind, signatures }) => {
        const own = kind !== "reading" ? signatures.filter(({ all }) => all[0] === id) : [];
        if (own.length) found.push({ slug, count, unsure: +own.every(({ when }) => when) });
      });
    }
    found.sort((a, b) => b.count - a.count || a.unsure - b.unsure);
    return [...new Set(found.map(({ slug }) => slug))];
  }

  const EARLY = [60, 40, 28, 18, 10, 4];
  const KINDS = { cause: 60000, warning: 30000, wrapper: 0, reading: 0 };

  function rank(findings) {
    const strongest = {};
    let event = -1;
    let first = -480;
    let last;
    const failure = Math.max(
      ...findings.map(({ page, place, weak, brief }) =>
        page.kind === "cause" && !place.survivable && !weak && !brief ? place.start : -1,
      ),
    );
    findings
      .sort((a, b) => a.weak - b.weak || a.place.start - b.place.start)
      .forEach(finding => {
        const { page, place, weak } = finding;
        const { start, end, survivable } = place;
        // A cause that the program survived ranks as a warning.
        finding.kind = page.kind === "cause" && survivable && start < failure ? "warning" : page.kind;
        if (weak) return;
        if (start >= last + 160 || start >= first + 480) {
          event++;
          first = start;
          last = 0;
        }
        last = Math.max(last, end);
        finding.event = event;
        finding.group = finding.kind + event;
        strongest[finding.group] = Math.max(strongest[finding.group] || 0, Math.min(finding.weight, 30));
      });
    return findings
      .map(({ page, kind, place, weight, weak, brief, figures, event, group }) => {
        const bonus = (!brief && EARLY[event]) || 0;
        const cause = (page.causes || []).find(({ when }) => holds(when, figures));
        return {
          slug: page.slug,
          score: (weak ? 0 : KINDS[kind] + (strongest[group] + bonus) * 200) + Math.min(weight, 199),
          line: place.line,
          column: place.column,
          figures,
          cause: cause ? cause.id : null,
          ...(weak && { weak }),
          ...(brief && { brief }),
          ...(place.survivable && { survivable: true }),
        };
      })
      .sort((a, b) => b.score - a.score);
  }

  /* parts.rs */

  const KEY = 6;
  // The part of each key, and whether one starts with two characters.
  function readKeys({ keys, starts }) {
    const parts = new Map();
    const begins = new Uint8Array(65536);
    let part = 0;
    for (let at = 0; at < keys.length / KEY; at++) {
      const key = keys.slice(at * KEY, at * KEY + KEY);
      if (starts[part + 1] === at) part++;
      parts.set(key, part);
      begins[(key.charCodeAt(0) << 8) | key.charCodeAt(1)] = 1;
    }
    return { parts, begins };
  }

  // The files with patterns whose keys the text contains.
  function* missingPatterns(table) {
    const { patterns, files } = table.parts;
    const { parts, begins } = (table.parts.read = table.parts.read || readKeys(table.parts));
    const missing = new Set();
    for (let at = 0; at + KEY <= size; at++) {
      if (at % STEP === 0) yield;
      if (!begins[(bytes[at] << 8) | bytes[at + 1]]) continue;
      const part = parts.get(spell(at, at + KEY));
      if (part !== undefined && !patterns[part]) missing.add(files.patterns[part]);
    }
    return [...missing];
  }

  const prepared = new WeakMap();

  // A line without its prefix and colors.
  function message(row) {
    line = row;
    return row.slice(prefixLength()).replace(COLORS, "");
  }

  function* match(table, log) {
    text = log;
    yield* normalize();
    const files = table.parts ? yield* missingPatterns(table) : [];
    if (files.length) yield files;
    if (files.length || !prepared.has(table)) prepared.set(table, prepare(table));
    const reader = prepared.get(table);
    const [all, skipped] = yield* read(reader);
    const letters = log.length > 1000 ? new Map() : beginnings(reader);
    if (table.parts) {
      const { pages, files } = table.parts;
      const parts = new Set(
        all.flatMap((places, id) => (((places.length || letters.has(id)) && table.uses[id]) || [[]])[0]),
      );
      const missing = [...parts].filter(part => !pages[part]).map(part => files.pages[part]);
      if (missing.length) yield missing;
    }
    const found = table.pages.map(page => findPage(reader, page, all)).filter(Boolean);
    bytes = gaps = breaks = places = ends = null;
    return Object.assign(rank(found.filter(({ page }) => page.kind !== "reading")), {
      steps,
      skipped,
      begun: begun(table, letters),
      readings: rank(found.filter(({ page }) => page.kind === "reading")),
      occurrences: all,
    });
  }
  match.reading = { message, worth, holds };
  return match;
})();
