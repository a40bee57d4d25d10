/* What a log says, where no page names the cause: kbgen.readings(table, found, text, before)
   gives [{slug, line, figures, says, next, pages}] for the result of kbgen.match; `text` is the end of the log, behind
   so many lines.
   Port of crates/kbgen-signature/src/reading.rs and traceback.rs; both share the samples of content/readings. */
kbgen.readings = (() => {
  "use strict";

  /* traceback.rs */

  const LONGEST = 160;
  const MESSAGE_LINES = 6;
  const ENDINGS = ["Error", "Exception", "Interrupt", "Exit", "Timeout", "Failure", "StopIteration"];
  const MARKS = ["File ", ".py", "Traceback", "above exception"];
  const LIKELY = RegExp(`\\w(?:${ENDINGS.join("|")})|StopIteration`);
  const WRAPPER =
    /See root cause above|See stack trace|ChildFailedError|CalledProcessError|KeyboardInterrupt|SystemExit|CancelledError/;
  const FRAME = /^File "(.*?)", line (\d+)|^(?:File )?([^ ]*?\.py):(\d+),* in /;
  const RAISED = /^([A-Za-z_][\w.]*)(?::(.*))?$/;
  const cut = text => [...text].slice(0, LONGEST).join("");

  function traceback(text, before, { content }) {
    let best;
    let chain = [];
    let frames = [];
    let linked = false;
    let inside = false;
    let first = 1;
    text.split("\n").forEach((row, at) => {
      const marked = MARKS.some(mark => row.includes(mark));
      if (!marked && !((inside || !best) && LIKELY.test(row))) return;
      const line = content(row);
      const frame = FRAME.exec(line);
      const raised = RAISED.exec(line);
      if (line.includes("Traceback (most recent call last)")) {
        if (!linked) {
          chain = [];
          first = at + 1;
        }
        frames = [];
        linked = false;
        inside = true;
      } else if (/^(?:During handling of the above exception|The above exception was the direct cause)/.test(line)) {
        linked = true;
      } else if (frame) {
        frames.push([(frame[1] || frame[3]).replace(/\\/g, "/"), frame[2] || frame[4]]);
      } else if (raised) {
        const name = raised[1];
        const message = (raised[2] || "").trim();
        const own = name.split(".").pop();
        if (
          !ENDINGS.some(ending => own.endsWith(ending) && (own !== ending || own === "StopIteration")) ||
          (!inside && (!message || best))
        ) {
          return;
        }
        if (!inside) {
          chain = [];
          first = at + 1;
        }
        const wrapper = WRAPPER.test(line);
        chain = [...chain, { name, message: cut(message), wrapper, line: at + 1, frames }];
        frames = [];
        inside = false;
        if (!best || !wrapper) best = { chain, first };
      }
    });
    if (!best) return null;
    const last = best.chain.at(-1);
    return { line: last.line + before, first: best.first + before, figures: figuresOf(best.chain[0], last) };
  }

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
    [...last.frames]
      .reverse()
      .concat([...root.frames].reverse())
      .forEach(([path, line]) => {
        const node = /custom_nodes\/([^/]*)/.exec(path);
        const inner = /site-packages\/(.*)/.exec(path) || /dist-packages\/(.*)/.exec(path);
        if (node) add("node", node[1]);
        if (inner) {
          if (!inner[1].includes("importlib")) {
            add("package", inner[1].split("/")[0].replace(/(?:\.py)+$/, ""));
            add("package_frame", `${inner[1]}, line ${line}`);
          }
        } else if (!/^<|\/lib\/|lib\/python/i.test(path)) {
          add("own_frame", `${path.split("/").slice(-2).join("/")}, line ${line}`);
        }
      });
    // An exception that only reports another failure says nothing.
    if (last.frames.length && (chained || !last.wrapper)) figures.frames = last.frames.length;
    return figures;
  }

  /* reading.rs */

  const MOST = 3;
  const FALLBACK = 90;
  const REPEATING = 95;

  // The meaning of a value, or else of the module that it is a part of.
  function meaning(table, value) {
    for (let text = String(value); ; text = text.slice(0, text.lastIndexOf("."))) {
      for (const key of [text, text.toLowerCase()]) if (Object.keys(table).includes(key)) return table[key];
      if (!text.includes(".")) return undefined;
    }
  }

  function fill({ values, end }, figures, worth) {
    const parts = values.map(([before, value]) => [before, worth(value, figures)]);
    return parts.every(([, value]) => ["number", "string"].includes(typeof value)) ? parts.flat().join("") + end : null;
  }

  function reading(rules, rule, line, figures, { worth, holds }) {
    (rule.lookups || []).forEach(({ figure, table, name }) => {
      const known = rules.find(({ slug }) => slug === table);
      const found = known && figure in figures && meaning(known.table || {}, figures[figure]);
      if (found && !(name in figures)) figures[name] = found;
    });
    for (const { when, text, next } of rule.says) {
      const says = holds(when, figures) && fill(text, figures, worth);
      const then = says && fill(next, figures, worth);
      if (then) return { slug: rule.slug, line, figures, says, next: then, pages: rule.pages || [] };
    }
    return null;
  }

  // Without frames, the traceback is a single line.
  const bare = (rule, each) => rule.traceback && each && !each.figures.frames;

  return (table, found, text, before = 0) => {
    const rules = table.readings || [];
    const read = kbgen.match.reading;
    const trace = traceback(text, before, read);
    return rules
      .map(rule => {
        if (rule.traceback) return trace && reading(rules, rule, trace.line, { ...trace.figures }, read);
        const match = found.readings.find(({ slug }) => slug === rule.slug);
        if (!match) return null;
        const near = trace && match.line >= trace.first && match.line <= trace.line + MESSAGE_LINES;
        return reading(rules, rule, match.line, { ...(near && trace.figures), ...match.figures }, read);
      })
      .map((each, at) => ({ ...each, order: bare(rules[at], each) ? REPEATING : rules[at].order }))
      .filter(each => each.says)
      .sort((a, b) => a.order - b.order || a.line - b.line)
      .filter((each, at, all) => each.order < FALLBACK || all[0].order >= FALLBACK)
      .filter(
        (each, at, all) =>
          each.order < REPEATING || [...found, ...all.slice(0, at)].every(other => other.line !== each.line),
      )
      .slice(0, MOST)
      .map(each => {
        const reading = { ...each };
        delete reading.order;
        return reading;
      });
  };
})();
