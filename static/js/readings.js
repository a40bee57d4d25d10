/* What a log says, where no page names the cause: kbgen.readings(table, found, text, before)
   gives [{slug, line, figures, says, next, pages}], and the lines `start` to `end` of the traceback, for the result of
   kbgen.match; `text` is the end of the log, behind so many lines. It gives null if it needs kbgen.readingTexts, which
   is not loaded.
   Port of crates/kbgen-signature/src/reading.rs and traceback.rs; both share the samples of content/readings. */
kbgen.readings = (() => {
  "use strict";

  /* traceback.rs */

  const LONGEST = 400;
  const MESSAGE_LINES = 6;
  const FRAME_LINES = 4;
  // Parts of a traceback after a frame.
  const [BEHIND, BELOW] = [1, 2];
  const ENDINGS = ["Error", "Exception", "Interrupt", "Exit", "Timeout", "Failure", "StopIteration"];
  const MARKED = /File|\.py|Traceback|above exception|Exception ignored|\(most recent call first\)/;
  const LIKELY = RegExp(`\\w(?:${ENDINGS.join("|")})|Exception:|StopIteration`);
  const WRAPPER =
    /See root cause above|See stack trace|ChildFailedError|CalledProcessError|KeyboardInterrupt|SystemExit|CancelledError/;
  const FRAME = /^File "(.*?)", line (\d+)|^(?:File )?([^ ]*?\.py):(\d+),* in |^File ([^ ]*?\.py):(\d+),*$/;
  const RAISED = /^([A-Za-z_][\w.]*)(?::(.*))?$/;
  const HEAD = "Traceback (most recent call last)";
  const ROW_HEAD = "(most recent call last):";
  const DUMP_TITLE = "(most recent call first)";
  const cut = text => [...text].slice(0, LONGEST).join("");

  // The lines of a traceback that a JSON string contains in one line, else the line.
  function escapedLines(row) {
    const joined = joinedLines(row);
    if (joined) return joined;
    const at = row.indexOf(`${ROW_HEAD}\\`);
    const rest = row.slice(at);
    const found = at >= 0 && /^[^\\]*(\\+)n/.exec(rest);
    if (!found) return [row];
    const quoted = rest.includes("File \\");
    const lines = [""];
    // Within a path, a backslash and an n are not the end of a line.
    let inPath = false;
    for (const [piece, run, letter] of row.matchAll(/(\\*)([^\\])/gu)) {
      if (letter === "n" && run === found[1] && !inPath) lines.push("");
      else if (letter === '"' && !run && quoted && lines.length > 1) break;
      else {
        inPath = letter === '"' ? !inPath && lines[lines.length - 1].endsWith("File ") : inPath;
        lines[lines.length - 1] += letter === '"' ? letter : piece.replace(/^\\+/, "/");
      }
    }
    return lines;
  }

  // The lines of a traceback that is joined to one line by spaces.
  function joinedLines(row) {
    const at = row.indexOf(ROW_HEAD) + ROW_HEAD.length;
    if (!row.includes(ROW_HEAD) || !row.slice(at).trimStart().startsWith('File "')) return null;
    const [, ...pieces] = row.slice(at).split(' File "');
    const last = `File "${pieces.pop()}`;
    const { name } = inlineException(last, 0) || {};
    const end = name ? last.indexOf(`${name}: `) : last.length;
    return [row.slice(0, at), ...pieces.map(piece => `File "${piece}`), last.slice(0, end), last.slice(end)];
  }

  // The exit code in a line, as hexadecimal digits if the line has it in this form.
  function crashCode(row) {
    const at = row.toLowerCase().search(/exit ?code/);
    const rest = at < 0 ? "" : [...row.slice(at + 8).toLowerCase()].slice(0, 40).join("");
    const hexadecimal = /0x([\da-f]*)/.exec(rest);
    if (hexadecimal && hexadecimal[1].length === 8) return hexadecimal[0];
    const [code] = /-?\d+/.exec(rest) || ["0"];
    return code === "0" ? "" : code;
  }

  // A line without its prefix, colors and frame. Each line may be code in Markdown.
  const contentOf = (row, message) =>
    message(row)
      // eslint-disable-next-line no-control-regex
      .replace(/[\0-\x1f\x7f-\x9f]/g, "")
      .replace(/^[ \u2502\u2503|]+|[ \u2502\u2503|]+$/g, "")
      .replace(/^`\s*(.*?)\s*`$/s, "$1");

  // Whether a line has a time before its content, as the lines of a log have.
  const hasTime = (row, message) => /\d\d:\d\d/.test(row.slice(0, Math.max(0, row.indexOf(contentOf(row, message)))));

  function traceback(text, before, { message }) {
    let best;
    let root;
    let frames = [];
    let linked = false;
    let inside = false;
    let first = 1;
    let ended = 0;
    let announced = "";
    let wrapped = "";
    let inline;
    let ignored = false;
    // The stack of the thread that crashed, deepest frame first.
    let dump;
    let inDump = false;
    let inCrashedThread = false;
    // Starts a traceback whose first line is missing.
    const enter = at => {
      if (inside) return;
      if (!linked) {
        root = undefined;
        first = at;
      }
      announced = "";
      linked = false;
      inside = true;
    };
    const raise = raised => {
      const last = { ...raised, frames };
      root = root || last;
      frames = [];
      inside = false;
      if (!best || !raised.wrapper) best = { root, last, first };
    };
    // Below its frame, the exception is not indented as code is.
    const partOf = (at, row) => (at > ended + FRAME_LINES || !/^[A-Za-z_]/.test(row) ? BEHIND : BELOW);
    function readLine(at, row) {
      if (!row && !wrapped) return;
      const marked = MARKED.test(row);
      if (dump && dump.frames.length && !dump.code) dump.code = crashCode(row);
      if (!marked && !((inside || !best) && LIKELY.test(row)) && !(inside && frames.length) && !wrapped) return;
      const line = contentOf(row, message);
      const joined = /(?:File|line)$/.test(wrapped) ? `${wrapped} ${line}` : wrapped + line;
      const frame = FRAME.exec(joined);
      const raised = RAISED.exec(line);
      wrapped = "";
      const place = frame && [
        (frame[1] || frame[3] || frame[5]).replace(/[\\/]+/g, "/"),
        frame[2] || frame[4] || frame[6],
      ];
      if (line.includes(DUMP_TITLE)) {
        inDump = true;
        inCrashedThread = !dump || !dump.frames.length || line.startsWith("Current thread");
        if (inCrashedThread) dump = { name: "", message: "", line: at, frames: [], isDump: true };
      } else if (place && inDump) {
        if (inCrashedThread) dump.frames.push(place);
      } else if (place) {
        enter(at);
        frames.push(place);
        ended = at;
      } else if (line.includes(HEAD)) {
        const [name] = line.split(HEAD);
        if (!linked) {
          root = undefined;
          first = at;
        }
        frames = [];
        inDump = false;
        announced = /^[A-Za-z_][\w.]*$/.test(name.trim()) ? name.trim() : "";
        linked = false;
        inside = true;
      } else if (line.startsWith("Exception ignored")) {
        ignored = true;
      } else if (/^(?:During handling of the above exception|The above exception was the direct cause)/.test(line)) {
        linked = true;
      } else if (raised && isException(raised[1], (raised[2] || "").trim(), inside, frames.length && partOf(at, row))) {
        if (!inside && best) return;
        enter(at);
        const wrapper = ignored || WRAPPER.test(line);
        raise({ name: raised[1], message: cut((raised[2] || "").trim()), wrapper, line: at });
        ignored = false;
      } else if (/^File(?: "|$)/.test(joined) && [...joined].length < 400) wrapped = joined;
      else if (!best && !inside && !inline) inline = inlineException(line, at);
    }
    text.split("\n").forEach((row, at) => escapedLines(row).forEach(piece => readLine(at + 1, piece)));
    if (!best && !frames.length && dump && dump.frames.length) {
      dump.frames.reverse();
      best = { root: dump, last: dump, first: dump.line };
    }
    if (!best && !frames.length && inline) best = { root: inline, last: inline, first: inline.line };
    const named = best && best.last;
    // After an exception of the same chain, which the program handled, the cut traceback is the one that ended it.
    if (inside && frames.length && (root || !(named && named.frames.length))) {
      const title = named || inline;
      const raised = !announced && !root && title;
      const last = raised || { name: announced, message: "", wrapper: false, line: ended };
      // Lines of a log between them tell that the traceback is of another exception, which says less.
      const between = text.split("\n").slice(last.line, first - 1);
      if (raised && between.some(row => hasTime(row, message))) {
        best = { root: raised, last: raised, first: raised.line };
      } else {
        first = Math.min(first, last.line);
        raise({ ...last, ended: true });
      }
    }
    if (!best) return nativeStack(text, before);
    const { last } = best;
    return { line: last.line + before, first: best.first + before, figures: figuresOf(best.root, last) };
  }

  function isException(name, message, inside, part) {
    const own = name.split(".").pop();
    const ends = ENDINGS.some(ending => own.endsWith(ending) && (own !== ending || own === "StopIteration"));
    const isMember = own && own !== name;
    const known =
      ends ||
      (inside && part && ((isMember && /^[A-Z]/.test(own)) || name === "Exception")) ||
      (inside && part === BELOW && isMember && message && !message.includes("%|"));
    return known && (inside || message);
  }

  // The first exception with a message within a line.
  function inlineException(line, at) {
    for (const { 0: name, index } of line.matchAll(/(?<![\w.])[A-Za-z_][\w.]*(?=: )/g)) {
      const message = line.slice(index + name.length + 1).trim();
      const known = name === "Exception" ? message : isException(name, message, false, 0);
      if (known) return { name, message: cut(message), line: at, frames: [] };
    }
    return undefined;
  }

  // The file and its folder.
  const ending = path => path.split("/").slice(-2).join("/");

  function figuresOf(root, last) {
    const figures = Object.create(null);
    const add = (name, text) => {
      if (text && !(name in figures)) figures[name] = cut(text);
    };
    const chained = root.line !== last.line;
    add("error", last.name);
    add("message", last.message);
    if (chained) {
      add("root_error", root.name);
      add("root_message", root.message);
    }
    let caller;
    for (const frames of [last.frames, root.frames]) {
      let called = false;
      [...frames].reverse().forEach(([path, line]) => {
        const node = /custom_nodes\/([^/]*)/.exec(path);
        const inner = /site-packages\/(.*)/.exec(path) || /dist-packages\/(.*)/.exec(path);
        if (node) add("node", node[1]);
        if (inner) {
          const name = inner[1].split("/")[0].replace(/(?:\.py)+$/, "");
          if (inner[1].includes("importlib")) return;
          if (called) caller = caller || name;
          else {
            add("package", name);
            add("package_frame", `${inner[1]}, line ${line}`);
          }
        } else if (!/^<|\/lib\/|lib\/python/i.test(path)) {
          add("own_frame", `${ending(path)}, line ${line}`);
          called = true;
        }
      });
    }
    // A package that only called the other code, such as a launcher, did not raise the exception.
    add("package", caller);
    // An exception that only reports another failure says nothing.
    if (last.frames.length && (chained || !last.wrapper)) figures.frames = last.frames.length;
    if ((last.ended || last.isDump) && last.frames.length) {
      const [path, line] = last.frames.at(-1);
      const [, inner] = /-packages\/(.*)/.exec(path) || [];
      add(last.isDump ? "dump_frame" : "cut_frame", `${inner === undefined ? ending(path) : inner}, line ${line}`);
    }
    add("crash_code", last.code);
    return figures;
  }

  /* native_stack.rs */

  const SYSTEM =
    /^(?:libc\.so|libc-2|libpthread|ld-linux|libstdc\+\+|libgcc_s|libm\.so|libdl|libsystem_|dyld|libc\+\+|libobjc|libdispatch|ntdll|kernel32|kernelbase|ucrtbase|vcruntime|msvcp|python|libpython|linux-vdso)/i;
  const REPORTING = /abort|backtrace|stacktrace|signalhandler|terminate|unexpected|throw|raise|c10::error/i;
  const MOST_REPORTING = 8;
  // gdb, LLVM and systemd, glibc, macOS.
  const NUMBERED = /^#\d+ +(?:0x[\da-f]+ *)?(?:in )?(.*)$/i;
  const GDB = /^(.*\(.*) from ([^ ]*)$/;
  const LLVM = /^(.*)\(([^(]*?) *\+ *0x[^+(]*\)$/;
  const GLIBC = /^([^ (]*)\((.*)\+0x.*\) *\[0x[^[]*\]$/;
  const MACOS = /^\d+ +([^ ]+\.dylib) +(?:0x[\da-f]+ *)?(.*) \+ \d+$/i;

  function nativeFrame(row) {
    const line = row.trim().replace(/^\[.*?\] +/, "");
    const numbered = NUMBERED.exec(line);
    if (numbered) {
      const found = numbered[1].includes(" from ") ? GDB.exec(numbered[1]) : LLVM.exec(numbered[1]);
      return found && { path: found[2], name: found[1] };
    }
    const found = GLIBC.exec(line) || MACOS.exec(line);
    return found && { path: found[1], name: found[2] };
  }

  function nativeStack(text, before) {
    const frames = [];
    text.split("\n").forEach((row, at) => {
      // Every frame has one of these characters.
      const found = row.length < 2000 && /[#+]/.test(row) && nativeFrame(row);
      if (found && found.path) frames.push({ ...found, line: at + 1 + before });
    });
    const library = path => path.replace(/^.*[/\\]/, "").replace(/\.so\..*$/, ".so");
    const isReporting = ({ name }) => REPORTING.test(name);
    const begin = frames.slice(0, MOST_REPORTING).map(isReporting).lastIndexOf(true) + 1;
    const own = frames.slice(begin).find(frame => !SYSTEM.test(library(frame.path)) && !isReporting(frame));
    if (!own || frames.length < 2) return null;
    const figures = Object.create(null);
    const name = own.name.split("(")[0].trim();
    figures.library = cut(library(own.path));
    if (!["", "??", "n/a"].includes(name)) figures.function = cut(name);
    figures.frames = frames.length;
    return { line: own.line, first: own.line, figures };
  }

  /* reading.rs */

  const MOST = 3;
  const MESSAGES = 8;
  // Roles of readings that do not name the cause, in the order of an answer; see role.rs.
  const [OUTCOME, CRASH, POINTER, REPEAT] = [1, 2, 3, 4];
  const ROLES = { outcome: OUTCOME, crash: CRASH, pointer: POINTER, repeat: REPEAT };
  const roleOf = ({ role }) => ROLES[role] || 0;
  const LOW_LEVELS = "TRACE DEBUG INFO NOTICE NOTE WARNING WARN DBG DEBG INF WRN".split(" ");
  const HIGH_LEVELS = "ERROR ERR FATAL CRITICAL PANIC".split(" ");

  const LOGGER = RegExp(`^\\s*(?:${HIGH_LEVELS.join("|")}):[\\w.]+:`);

  // Whether a line is no report of an error: its first level is lower, or it is of Chromium.
  function isQuiet(row) {
    for (const { 0: word, index } of row.matchAll(/\w+/g)) {
      const behind = row[index + word.length];
      const upper = word.toUpperCase();
      const isMarked = word === upper || behind === ":" || row[index - 1] === "=";
      const isLetter = row[index - 1] === "[" && behind === ":" && /^[VIW]$/.test(word);
      const isLow = isMarked && LOW_LEVELS.includes(upper);
      if (isLetter || isLow || (/Warning$/.test(word) && behind === ":")) return true;
      if ((isMarked && HIGH_LEVELS.includes(upper)) || /(?:Error|Exception)$/.test(word)) {
        return row[index - 1] === ":" && behind === ":" && /\.(?:cc|mm)[(:]/.test(row.slice(index));
      }
    }
    return false;
  }

  // Whether the figures of a message are on its line, or on the next ones after a line that may be wrapped or ends
  // with a colon.
  function isOnLine(figures, row) {
    const spell = text => text.replace(/[^A-Za-z\d]/g, "").toLowerCase();
    const whole = spell(row);
    const isPart = figure => typeof figure !== "string" || whole.includes(spell(figure));
    return [...row].length >= 60 || row.trimEnd().endsWith(":") || Object.values(figures).every(isPart);
  }

  const TIME = /^(?:time=)*["[]*(?:\d{4}-\d\d-\d\d|\d{4}\/\d\d\/\d\d|\d\d:\d\d:\d\d|\d\d?:\d\d[AP]M)/;
  const LEVEL_DISTANCE = 4;
  const isLevel = word => {
    const name = word.replace(/^[^A-Za-z\d]+|[^A-Za-z\d]+$/g, "");
    return word.startsWith("level=") || LOW_LEVELS.includes(name) || HIGH_LEVELS.includes(name);
  };
  // Whether another line of a log begins with a word, if two lines were joined: a time alone belongs to the message.
  const isJoined = (word, at, words) =>
    at &&
    !TIME.test(words[0]) &&
    (word === "[GIN]" || (TIME.test(word) && words.slice(at + 1, at + 1 + LEVEL_DISTANCE).some(isLevel)));

  // Without the marks that Python prints below code, `^^^^` and `~~^~~`, and without another line.
  function clean(text) {
    if (typeof text !== "string") return text;
    const words = text.split(" ");
    const end = words.findIndex(isJoined);
    const kept = end < 0 ? words : words.slice(0, end);
    return kept.filter(word => !/^[~^]+$/.test(word)).join(" ");
  }
  const cleaned = figures => Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, clean(figure)]));

  const readsForm = ({ role }) => role === "form";

  // Whether a rule may read a message: one for any message reads only reports of errors, and no text of several lines.
  function mayRead(rule, figures, row) {
    if (!readsForm(rule) && roleOf(rule) < REPEAT) return true;
    // Without the name of its logger, the message is read on its own.
    const isMessage = !readsForm(rule) || !LOGGER.test(row);
    return !isQuiet(row) && (!figures || (isMessage && isOnLine(figures, row)));
  }

  // The meaning of a value, or else of the module that it is a part of.
  function meaning(table, value) {
    for (let text = String(value); ; text = text.slice(0, text.lastIndexOf("."))) {
      for (const key of [text, text.toLowerCase()]) if (Object.keys(table).includes(key)) return table[key];
      if (!text.includes(".")) return undefined;
    }
  }

  function fill({ values, end }, figures, worth) {
    const parts = values.map(([before, value]) => [before, worth(value, figures)]);
    const filled = parts.every(([, value]) => ["number", "string"].includes(typeof value));
    // Where a message continues on the next line, its sentence ends before the colon or bracket.
    return filled ? (parts.flat().join("") + end).replace(/[ :,([{]*(\.?)$/, "$1") : null;
  }

  function reading(rule, line, figures, { worth, holds }) {
    const texts = kbgen.readingTexts;
    (rule.lookups || []).forEach(({ figure, table, name }) => {
      const known = texts[table];
      const found = known && figure in figures && meaning(known.table || {}, figures[figure]);
      if (found && !(name in figures)) figures[name] = found;
    });
    for (const { when, text, next, pages = [] } of texts[rule.slug].says) {
      const says = holds(when, figures) && fill(text, figures, worth);
      const then = says && fill(next, figures, worth);
      if (then) return { slug: rule.slug, line, figures, says, next: then, pages };
    }
    return null;
  }

  // Whether a line only passes on a failure.
  const passesOn = (line, found, rules) =>
    rules
      .filter(rule => roleOf(rule) && roleOf(rule) < REPEAT)
      .some(({ slug }) => found.readings.some(other => other.slug === slug && other.line === line));

  // The role of a reading: without frames, the traceback is a single line; cut off, or with a message that names no
  // cause, it says less than a message.
  function roleIn(rule, each, isPassedOn) {
    if (!rule.traceback) return roleOf(rule);
    if (!each.figures.frames || isPassedOn(each.line)) return REPEAT;
    return "cut_frame" in each.figures ? OUTCOME : roleOf(rule);
  }

  // The places in the log that a reading matches, and whether a `not` fragment of it is near a line.
  function placesOf(table, { occurrences }, name) {
    const { signatures } = table.pages.find(({ slug, kind }) => slug === name && kind === "reading");
    const places = ids => ids.flatMap(id => occurrences[id] || []);
    const fragments = places(signatures.flatMap(({ not = [] }) => not));
    const isExcluded = line => fragments.some(other => Math.abs(other.line - line) <= 40);
    return { isExcluded, own: places(signatures.map(({ all }) => all[0])).sort((a, b) => a.start - b.start) };
  }

  const CUE = /^\s*\[[^\]]* --> [^\]]*\]\s*(.*?)\s*$/;
  // A sentence for a transcription in a loop; sounds, such as [Music], may be repeated.
  function repeatedCue(rows, before) {
    const texts = rows.map(row => (row.includes(" --> ") && (CUE.exec(row) || [])[1]) || "");
    const isLoop = (text, at) =>
      text && /^[^[(*\u266a]/.test(text) && [1, 2, 3].every(more => texts[at + more] === text);
    const at = texts.findIndex(isLoop);
    return at < 0 ? [] : [[at + before + 1, `A transcription repeats one text: ${texts[at]}`]];
  }

  // The messages of exceptions and error lines, each read on its own.
  function* messages(table, found, trace, ruleOf, rowOf, repeated) {
    const known = trace ? ["message", "root_message"].map(name => [trace.line, trace.figures[name]]) : [];
    const names = ["message", "answer", "failure", "reason"];
    const printed = found.readings.flatMap(({ line, figures }) => names.map(name => [line, figures[name]]));
    const told = repeated.concat(known, printed).filter(([, message]) => message !== undefined);
    for (const [line, message] of told.slice(0, MESSAGES)) {
      const work = kbgen.match(table, `Error: ${message}`);
      let step = work.next();
      // A part of the table that is not loaded has no message of this text.
      while (!step.done && !step.value) step = work.next();
      const causes = step.done ? step.value.readings : [];
      yield* causes
        .filter(({ slug }) => !roleOf(ruleOf(slug)) && mayRead(ruleOf(slug), null, rowOf(line)))
        .filter(({ slug }) => !placesOf(table, found, slug).isExcluded(line))
        .map(own => ({ ...own, line }));
    }
  }

  const read = (table, found, text, before = 0) => {
    const rules = table.readings || [];
    const tools = kbgen.match.reading;
    const trace = traceback(text, before, tools);
    const rows = text.split("\n");
    const rowOf = line => rows[line - before - 1] || "";
    const ruleOf = name => rules.find(({ slug }) => slug === name);
    const isReadable = each => mayRead(ruleOf(each.slug), each.figures, rowOf(each.line));
    // A later message, if the rule may not read the first one.
    const later = ({ slug }) => {
      const { isExcluded, own } = placesOf(table, found, slug);
      const others = own.filter(({ line }) => !isExcluded(line)).map(({ line, figures }) => ({ slug, line, figures }));
      return others.find(isReadable);
    };
    const all = found.readings
      .map(each => (isReadable(each) ? each : later(each)))
      .filter(Boolean)
      .concat(...messages(table, found, trace, ruleOf, rowOf, repeatedCue(rows, before)));
    const isPassedOn = line => passesOn(line, found, rules);
    const { error, frames, cut_frame: cutFrame } = (trace && trace.figures) || {};
    // The exception that ended the program.
    const ending = error && frames && !cutFrame && !isPassedOn(trace.line) && trace;
    const survivable = new Set();
    const matched = rules.map(rule => {
      if (rule.traceback) return trace && { line: trace.line, figures: { ...trace.figures } };
      const match = all.find(({ slug, line }) => slug === rule.slug && !(readsForm(rule) && isPassedOn(line)));
      if (!match) return null;
      const near = trace && match.line >= trace.first && match.line <= trace.line + MESSAGE_LINES;
      if (match.survivable) survivable.add(rule.slug);
      return { line: match.line, figures: { ...(near && trace.figures), ...cleaned(match.figures) } };
    });
    if (!kbgen.readingTexts && matched.some(Boolean)) return null;
    const said = [];
    const worded = matched
      .map((each, at) => ({ one: each && reading(rules[at], each.line, each.figures, tools), rule: rules[at] }))
      .filter(({ one }) => one)
      .map(({ one, rule }) => ({ one, rule, role: roleIn(rule, one, isPassedOn) }));
    // The program went on after a failed import or a warning if a traceback begins later, or if it crashed later.
    const crashes = worded.filter(({ role }) => role === CRASH).map(({ one }) => one.line);
    const lastFailure = Math.max(...crashes, trace ? trace.first : 0);
    worded
      .map(({ one, rule, role }) => {
        const { line } = one;
        const isSurvived = survivable.has(one.slug) && lastFailure > line;
        // A message of any form says less than the exception behind it.
        const isBefore = readsForm(rule) && Boolean(ending) && ending.first > line;
        const rank = [isSurvived, role > 0, isQuiet(rowOf(line)), isBefore, role, rule.order, line].map(Number);
        return { one, role, rank };
      })
      .sort((a, b) => a.rank.map((value, at) => value - b.rank[at]).find(Boolean) || 0)
      .forEach(({ one, role }, at, [first]) => {
        if (role && !first.role) return;
        const hasLine = ({ line }) => line === one.line;
        const inTrace = trace && one.line >= trace.first && one.line <= trace.line;
        const hasTrace = other => inTrace && other.one.line === trace.line;
        const isRepeated =
          role === REPEAT && (found.some(hasLine) || said.some(other => hasLine(other.one) || hasTrace(other)));
        // Of a line, one reading says what happened, and another one where the cause is.
        const isRead = said.some(other => hasLine(other.one) && other.role >= POINTER === role >= POINTER);
        if (!isRepeated && !isRead) said.push({ role, one });
      });
    const readings = said.slice(0, MOST).map(({ role, one }) => {
      if (!role) return { ...one, names_cause: true };
      if (role < POINTER) return { ...one, explains: true, ends: true };
      return role < REPEAT ? { ...one, explains: true } : one;
    });
    // Without frames, the traceback does not end the program.
    const end = frames ? trace.line + MESSAGE_LINES : 0;
    const ended = error && frames && !cutFrame ? trace.line : 0;
    return Object.assign(readings, {
      start: trace ? trace.first : 0,
      end,
      ended,
      message: trace && trace.figures.message,
    });
  };
  return Object.assign(read, { isQuiet });
})();

// Settings of the calculator in a log: {model, quant, ctx, gpu, mem}.
(() => {
  "use strict";
  // How many characters before and after a message are read.
  const ABOVE = 600;
  const BELOW = 100;
  const WIDTH = 2000;
  const GIB = 1073741824;
  const squeezed = name => name.toLowerCase().replace(/[^a-z0-9.]/g, "");
  const escaped = text => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  // Slugs by name without separators; null if two models share one. File names may lack the maker's name, and Ollama's
  // tags omit "instruct".
  function namesOf(models) {
    const names = {};
    const short = {};
    const put = (list, name, slug) => {
      list[name] = name in list && list[name] !== slug ? null : slug;
    };
    models.forEach(model => {
      const [title, repository] = model;
      const slug = kbgen.slugOf(model);
      // The name of a repository is left out if it is the title.
      const [owner, file = title] = (repository || "").split("/");
      const own = [slug, title].concat(owner ? [file, owner + file, owner.split("-")[0] + file] : []);
      own.map(squeezed).forEach(name => {
        put(names, name, slug);
        put(short, name.replace(/(instruct|chat|it)$/, ""), slug);
      });
    });
    for (const name in short) if (!(name in names)) names[name] = short[name];
    return names;
  }
  // The model and quantization in a path, an id or a tag; null if there is none.
  function modelOf(token, names, quants) {
    let name = token
      .replace(/[.,:;]+$/, "")
      .split(/[\/\\]|--/)
      .pop()
      .replace(/\.(gguf|safetensors|bin)$/i, "")
      .replace(/-\d{5}-of-\d{5}$/, "");
    let quant = null;
    quants.forEach(each => {
      if (!quant && new RegExp(`[-._:]${escaped(each)}$`, "i").test(name)) quant = each;
    });
    if (quant) name = name.slice(0, -quant.length - 1).replace(/[-._]UD$/, "");
    const slug = Object.prototype.hasOwnProperty.call(names, squeezed(name)) ? names[squeezed(name)] : null;
    return slug && /\d/.test(name) ? { model: slug, quant } : null;
  }
  function modelIn(line, names, quants) {
    const tokens = line.match(/[A-Za-z~.\/\\][\w.+~-]*(?:[\/\\:]+[\w.+~-]+)*/g) || [];
    const general = /general\.name\s+str\s*=\s*(.+)/.exec(line);
    if (general) tokens.push(general[1].trim());
    return tokens
      .map(token => modelOf(token, names, quants))
      .filter(Boolean)
      .pop();
  }
  function contextIn(line) {
    const found =
      /(?:n_ctx(?:_seq)?|num_ctx|ctx[-_]size|max[-_]model[-_]len|max[-_]seq[-_]len)[\x22\x27]?\s*[=:\s]\s*(\d{3,8})\b/.exec(
        line,
      ) || /llama-\w+.*\s-c (\d{3,8})\b/.exec(line);
    return found && Number(found[1]);
  }
  // The only device named in the lines. Titles in the catalog include the memory if a GPU has two sizes: then a total
  // or the free memory in the same line distinguishes them.
  function deviceIn(lines, devices, total) {
    const base = title => title.replace(/ \d+ GB$/, "");
    const all = devices.map(([title]) => base(title)).sort((a, b) => b.length - a.length);
    const pattern = new RegExp(
      `\\b(${all.map(name => escaped(name).replace(/ /g, "[ -]")).join("|")})(?![\\w]| (?:Ti|SUPER|Mobile|D|Max)\\b)`,
      "g",
    );
    let named = {};
    let least = 0;
    lines.forEach(line => {
      const names = line.replace(/ Laptop GPU/g, " Mobile").match(pattern) || [];
      const free = names.length && /(\d+) MiB free\b/.exec(line);
      if (free) least = Math.max(least, Number(free[1]) * 1048576);
      names.forEach(name => {
        named[name.replace(/-/g, " ")] = true;
      });
    });
    named = Object.keys(named);
    const fitting =
      named.length !== 1
        ? []
        : devices.filter(
            ([title, memory]) =>
              base(title).replace(/-/g, " ") === named[0] &&
              memory >= least &&
              (!total || Math.abs(memory - total) < 0.1 * memory),
          );
    return fitting.length === 1 ? kbgen.slugOf(fitting[0]) : null;
  }

  // The name of a GGUF file: the last one before a message, or else the first one after it; undefined if there is none.
  kbgen.fileInLog = (lines, line) => {
    const filesIn = part =>
      part
        .flatMap(text => text.slice(0, WIDTH).match(/[\w.+-]+\.gguf\b/g) || [])
        .filter(name => !name.includes("mmproj"));
    return filesIn(lines.slice(Math.max(0, line - ABOVE), line)).pop() || filesIn(lines.slice(line, line + BELOW))[0];
  };

  // Of several models, the last one before the message counts.
  kbgen.settingInLog = (text, match, catalog) => {
    const all = text.split("\n");
    const at = match.line - 1;
    const cut = line => line.slice(0, WIDTH);
    const above = all
      .slice(Math.max(0, at - ABOVE), at + 1)
      .map(cut)
      .reverse();
    const below = all.slice(at + 1, at + BELOW).map(cut);
    const lines = above.concat(below);
    const first = find => {
      for (const line of lines) {
        const found = find(line);
        if (found) return found;
      }
      return null;
    };
    const names = namesOf(catalog.models);
    const total = match.figures && match.figures.total;
    const model = first(line => modelIn(line, names, catalog.quants));
    const gpu = deviceIn(lines, catalog.devices, total);
    const setting = {};
    if (model) setting.model = model.model;
    if (model && model.quant) setting.quant = model.quant;
    const ctx = model && first(contextIn);
    if (ctx) setting.ctx = ctx;
    if (gpu) setting.gpu = gpu;
    else if (total > GIB) setting.mem = total;
    return setting;
  };
})();
