// The page of the calculator: its controls and the results.
(() => {
  "use strict";
  const { t } = kbgen;
  const $ = id => document.getElementById(id);
  const fit = JSON.parse($("fit-data").textContent);
  const links = JSON.parse($("calc-links").textContent);
  if (!fit.models.length) {
    $("calc").replaceChildren(t("No model on this site has figures yet."));
    return;
  }
  const lookup = kbgen.fit;
  const answers = kbgen.answer;
  const picture = kbgen.picture;
  const el = picture.el;
  const svgElement = picture.svgElement;
  const whole = answers.whole;
  const gib = answers.gib;
  const tokens = answers.tokens;
  const GIB = lookup.GIB;
  const MIB = lookup.MIB;
  const CELL = lookup.CELL;
  const SHORT = {
    fits: t("fits"),
    tight: t("tight"),
    part: t("in part"),
    limit: t("raised limit"),
    no: t("too small"),
    unknown: t("not covered"),
  };
  const root = document.documentElement.dataset.root;
  const byId = (list, id) => list.filter(entry => entry.id === id)[0];

  // ---- state ---------------------------------------------------------------
  const settings = kbgen.settings(fit, kbgen.ownDevice());
  const MOST_DEVICES = settings.mostDevices;
  let state;
  let table = null;
  // The first address after one is read only completes it; each later change can be undone with the Back button.
  let completes = true;
  function read() {
    clearTimeout(saving);
    completes = true;
    state = settings.read(location.hash.length > 1 ? location.hash : location.search);
  }
  let saving = 0;
  function save() {
    clearTimeout(saving);
    if (completes) write();
    else saving = setTimeout(write, 300);
  }
  function write() {
    clearTimeout(saving);
    if (!table) return;
    const address = settings.address(state);
    const way = completes ? "replaceState" : "pushState";
    completes = false;
    if (address === location.hash) return;
    try {
      history[way](null, "", address);
    } catch {
      /* file:// may refuse */
    }
  }

  // ---- the answer ------------------------------------------------------------
  let saying = 0;
  function show(answer) {
    const model = byId(fit.models, state.model);
    const vllm = state.runner === "vllm";
    $("verdict").className = `big verdict verdict-${answer.verdict}`;
    $("dock-verdict").className = `verdict verdict-${answer.verdict}`;
    // A number and its unit stay on one line.
    const words = answer.title.split(/([\d.,]+ [GM]iB)/);
    $("verdict").replaceChildren(...words.map((part, at) => (at % 2 ? el("span", part, "flag") : part)));
    $("dock-verdict").textContent = answer.word;
    if (answer.some) $("verdict").append(" ", el("span", answer.some, "some"));
    $("margin").textContent = answer.margin;
    if (answer.isSetting) {
      $("margin").append(
        ` ${t("How much of the memory the GPU can use is a setting of the BIOS and the driver.")} `,
        link(t("How to set it"), links.share),
      );
    }
    $("dock-margin").textContent = answer.short;
    clearTimeout(saying);
    saying = setTimeout(() => {
      $("say").textContent =
        `${model.name}, ${vllm ? fit.dtypes[state.dtype] : state.quant}, ${tokens(state.ctx)}: ${$("verdict").textContent}. ${answer.margin}`;
    }, 700);
    $("bars").hidden = $("held").hidden = !answer.devices.length;
    drawn = answer.devices;
    if (drawn.length) {
      draw();
      picture.table(answer.devices, links.methodology);
    }
    stats(answer.stats);
    offers(answer.offers);
    ladder(answer);
    const error = answer.meets && links.errors[answer.meets];
    const offersDevices = answer.meets && !vllm && !table.file;
    $("meet").hidden = !error && !offersDevices;
    $("meet").replaceChildren();
    if (error) {
      const fails =
        answer.moved && state.layers === null && !state.experts
          ? t("With all layers on the GPU, it fails with: ")
          : answer.verdict === "limit"
            ? t("With the default limit, it fails with: ")
            : t("With these settings, it fails with: ");
      $("meet").append(fails, link(error.title, error.href), ". ");
    }
    if (offersDevices) $("meet").append(link(t("Devices that run it"), devicesAddress()));
    commands(answer, model);
    pages(model);
  }
  // The picture has its scale from the width of the page.
  let drawn = [];
  let width = 0;
  function draw() {
    width = $("bars").clientWidth;
    picture.bars(drawn);
  }
  function link(text, href) {
    const element = el("a", text);
    element.href = href;
    return element;
  }
  function stats(list) {
    $("stats").replaceChildren();
    list.forEach(each => {
      const row = $("stats").appendChild(el("div"));
      const note = el("dd", each.note, "small");
      if (each.basis && links.methodology) note.appendChild(link(each.basis, `${links.methodology}#what-is-a-range`));
      row.append(el("dt", each.name), el("dd", each.value), note);
    });
  }
  // Alternatives that fit, as buttons.
  function offers(list) {
    const place = $("best");
    const active = /** @type {PageElement | null} */ (document.activeElement);
    const focused = active && place.contains(active) ? active.dataset.what : null;
    place.replaceChildren();
    list.forEach(each => {
      const button = place.appendChild(el("button"));
      button.type = "button";
      button.dataset.what = each.what;
      button.append(el("span", each.title), " ", el("b", each.text));
      if (each.change) button.append(" ", el("em", each.now ? t("in use") : t("Use it")));
      button.disabled = !each.change || each.now;
      button.addEventListener("click", () => {
        apply(each.change);
      });
    });
    // The pressed button is disabled now and cannot keep the focus.
    if (focused) (place.querySelector(`[data-what=${focused}]:not(:disabled)`) || $("verdict")).focus();
  }
  function apply(change) {
    for (const key in change) state[key] = change[key];
    if (change.quant) state.chosenQuant = change.quant;
    update();
  }

  // ---- all quantizations -------------------------------------------------------
  let rowsOf = "";
  let rows = [];
  function buildRows(list) {
    const names = list.map(each => each.name).join();
    if (rowsOf === names) return;
    rowsOf = names;
    $("ladder").replaceChildren();
    $("quant").replaceChildren();
    rows = list.map(each => {
      $("quant").appendChild(el("option", each.name)).value = each.name;
      const row = $("ladder").appendChild(el("tr"));
      const head = row.appendChild(el("th"));
      head.scope = "row";
      const input = radio("ladder", each.name, each.name, head, () => {
        chooseRow(each.name);
      });
      const cells = ["", "num", "num", "num"].map(kind => row.appendChild(el("td", null, kind)));
      const graph = row.appendChild(el("td", null, "graph"));
      const mini = graph.appendChild(svgElement("svg", { class: "mini", "aria-hidden": "true" }));
      graph.setAttribute("aria-hidden", "true");
      return { input, cells, mini };
    });
  }
  const rowName = () => (state.runner === "vllm" ? fit.dtypes[state.dtype] : state.quant);
  function chooseRow(name) {
    apply(state.runner === "vllm" ? { dtype: fit.dtypes.indexOf(name) } : { quant: name });
  }
  function ladder(answer) {
    const list = answer.rows;
    const room = list.length ? list[0].room : 0;
    const widest = Math.max(...list.map(each => each.total));
    const span = Math.max(room, Math.min(widest * 1.04, room * 3));
    const share = n => `${Math.max(0, (Math.min(n, span) / span) * 100).toFixed(2)}%`;
    $("ladder-part").hidden = !answer.devices.length || table.file;
    if (!answer.devices.length) return;
    $("ladder-needs").textContent = answer.needs;
    $("ladder-title").textContent = answer.heading;
    list.forEach((each, i) => {
      const row = rows[i];
      const inside = Math.min(each.weights, room);
      row.input.checked = each.name === rowName();
      row.cells[0].replaceChildren(
        el("span", answers.WORDS[each.verdict].toLowerCase() + (each.some || ""), `verdict verdict-${each.verdict}`),
      );
      row.cells[1].textContent = each.largest === null ? "–" : each.largest ? whole(each.largest) : t("none");
      row.cells[2].textContent = (each.least ? t("from ") : "") + gib(each.total);
      row.cells[3].textContent = each.file ? gib(each.file) : "–";
      row.mini.replaceChildren(
        svgElement("rect", { class: "seg seg-weights", width: share(inside), height: 14 }),
        svgElement("rect", {
          class: "seg seg-kv",
          x: share(inside),
          width: share(Math.max(0, Math.min(each.total, room) - each.weights)),
          height: 14,
        }),
      );
      if (each.total > room) {
        row.mini.appendChild(
          svgElement("rect", {
            class: "seg seg-over",
            x: share(room),
            width: share(Math.min(each.total, span) - room),
            height: 14,
          }),
        );
      }
      row.mini.appendChild(
        svgElement("rect", { class: "limit", x: share(room), y: -5, width: 2, height: 24, transform: "translate(-2)" }),
      );
    });
  }

  // ---- what one types, where one reads on -------------------------------------------
  function commands(answer, model) {
    const place = $("commands");
    const file = model.file || `${model.name.replace(/[^\w.-]+/g, "-")}-${state.quant}.gguf`;
    place.replaceChildren();
    // Of a file with other layers than those of every quantization only the whole model is covered.
    if (table.file && (answer.verdict === "no" || !table.compute)) {
      place.append(el("p", t("For an estimate with all options, run this in a terminal:"), "small"));
      return block(place, "kbgen", table.file.command(state));
    }
    // Offers no command that would fail.
    if (answer.verdict === "no") {
      return place.append(el("p", t("No command: the model does not fit with these settings."), "small"));
    }
    if (answer.limit) raiseLimit(place, answer);
    kbgen.commands(state, answer.setting, { file, table, kv: fit.kv, dtypes: fit.dtypes }).forEach(line => {
      if (line.note) {
        place.appendChild(el("p", line.note, "small"));
        return;
      }
      block(place, line.label, line.text);
    });
  }
  // The GPU limit of a Mac, as the page of its error describes it.
  function raiseLimit(place, { verdict, limit }) {
    const note = place.appendChild(el("p", null, "small"));
    const { size, left } = limit;
    note.append(
      verdict === "limit"
        ? t("First raise the GPU limit to {size}. {left} are left for macOS and other programs; a restart resets it.", {
            size,
            left,
          })
        : t("If it fails, raise the GPU limit to {size}. {left} are left for macOS and other programs.", {
            size,
            left,
          }),
    );
    const { metal } = links.errors;
    if (metal) note.append(" ", link(t("Before you raise it"), `${metal.href}#raise-limit`));
    block(place, "macOS", `sudo sysctl iogpu.wired_limit_mb=${limit.mib}`);
  }
  function block(place, label, text) {
    const block = place.appendChild(el("div", null, "code wrap"));
    const pre = block.appendChild(el("pre"));
    const code = pre.appendChild(el("code"));
    block.dataset.label = label;
    pre.tabIndex = 0;
    // Wraps between words, never inside a flag.
    text.split(" ").forEach((word, i) => {
      code.append(i ? " " : "", word[0] === "-" ? el("span", word, "flag") : word);
    });
    kbgen.offerCopy(block);
  }
  function devicesAddress() {
    const asked = new URLSearchParams({
      model: state.model,
      quant: state.quant,
      ctx: state.ctx,
      k: fit.kv[state.k],
      v: fit.kv[state.v],
    });
    return `${root}choose-gpu/index.html#${asked}`;
  }
  function pages(model) {
    const place = $("pages");
    const seen = {};
    const base = baseOf(model);
    place.replaceChildren();
    if (!base) return;
    place.append(
      t("Tables for all contexts and cache types: "),
      link(base.name, `${root}models/${base.id}/index.html`),
    );
    state.devices.forEach(device => {
      if (!device.id || seen[device.id]) return;
      seen[device.id] = true;
      place.append(", ", link(device.name, `${root}hardware/${device.id}/index.html`));
    });
    place.append(".");
    if (!model.file) place.append(" ", link(t("Devices that run it"), devicesAddress()));
  }
  // The model of the catalog, of which a file has the shape; none for another shape.
  const baseOf = model => (model.file ? model.base && byId(fit.models, model.base) : model);

  // ---- controls ----------------------------------------------------------------
  function radio(name, value, label, parent, chosen) {
    const wrap = parent.appendChild(el("label"));
    const input = wrap.appendChild(el("input"));
    input.type = "radio";
    input.name = name;
    input.value = value;
    wrap.appendChild(el("span", label));
    input.addEventListener("change", chosen);
    return input;
  }
  // Radio buttons for [[value, label], …]; `choose` is called with the value.
  function choices(id, list, choose) {
    list.forEach(each => {
      radio(id, each[0], each[1], $(id), () => {
        settled(id);
        choose(each[0]);
        update();
      });
    });
  }
  function mark(id, value) {
    Array.prototype.forEach.call($(id).querySelectorAll("input"), input => {
      input.checked = input.value === String(value);
    });
  }
  function on(id, event, act) {
    $(id).addEventListener(event, () => {
      if (act($(id).value) !== false) {
        settled(id);
        update();
      }
    });
  }

  const logSpan = () => Math.log(Math.max(table.max, 512) / CELL);
  const slideAt = ctx => Math.log(Math.max(ctx, CELL) / CELL) / logSpan();
  // A mark below a slider for the largest value that fits.
  function reach(id, share) {
    $(id).replaceChildren(svgElement("rect", { class: "reach-all", width: "100%", height: 4, y: 2 }));
    if (share > 0) {
      $(id).appendChild(
        svgElement("rect", {
          class: "reach-fits",
          width: `${(Math.min(1, share) * 100).toFixed(2)}%`,
          height: 4,
          y: 2,
        }),
      );
    }
    if (share > 0 && share < 1) {
      $(id).appendChild(svgElement("rect", { class: "limit", x: `${(share * 100).toFixed(2)}%`, width: 2, height: 8 }));
    }
  }
  const deviceBoxes = [];
  // Leaves a field alone while the reader types in it, unless the address has changed.
  function put(id, value) {
    if (completes || $(id) !== document.activeElement) $(id).value = value;
  }
  // The controls that need no table.
  function fields() {
    const vllm = state.runner === "vllm";
    const ollama = state.runner === "ollama";
    const several = state.devices.length > 1;
    $("quant-label").textContent = vllm ? t("Weight type") : t("Quantization");
    put("ctx", state.ctx);
    for (let n = 1; n <= MOST_DEVICES; n++) deviceControls(n, state.devices[n - 1]);
    $("device-add").hidden = state.devices.length >= MOST_DEVICES;
    systems();
    $("device-label-1").textContent = several ? t("Device 1") : t("Device");
    $("others-label-1").textContent = t("Used by other programs") + (several ? t(" on device 1") : "");
    put("runner", state.runner);
    Array.prototype.forEach.call(document.querySelectorAll("[data-for]"), field => {
      field.hidden = (field.dataset.for === "vllm") !== vllm;
    });
    put("ram", state.ram ? Math.round((state.ram / GIB) * 1000) / 1000 : "");
    $("ram-row").hidden = vllm || state.devices.every(device => device.shared);
    put("util", state.util);
    mark("fp8", state.fp8);
    mark("k", state.k);
    mark("v", state.v);
    mark("slots", state.slots);
    ["v", "slots"].forEach(id => {
      $(id).parentElement.disabled = ollama;
    });
    const changed = changes();
    $("more-count").textContent = changed ? t("{n} changed", { n: changed }) : "";
  }
  function controls(answer) {
    fields();
    const base = baseOf(byId(fit.models, state.model));
    $("model-facts").replaceChildren(
      t("{n} layers, up to {tokens}", { n: table.layers, tokens: tokens(table.max) }),
      ...(base ? [" · ", link(t("Memory tables"), `${root}models/${base.id}/index.html`)] : []),
    );
    put("quant", rowName());
    $("ctx").max = table.max;
    $("ctx-max").textContent = whole(table.max);
    put("ctx-slide", Math.round(1000 * slideAt(state.ctx)));
    $("ctx-slide").setAttribute("aria-valuetext", tokens(state.ctx));
    reach("ctx-reach", answer.most ? slideAt(answer.most) : 0);
    if (state.runner !== "vllm") llamaControls(answer);
  }
  const SYSTEMS = {
    linux: "Linux",
    windows: "Windows",
    macos: t("macOS, any version"),
    "macos-15": t("macOS 15 and earlier"),
    "macos-26": t("macOS 26 and later"),
  };
  function systems() {
    const names = state.systems.join();
    $("system-row").hidden = state.systems.length < 2;
    if ($("os").dataset.of !== names) {
      $("os").dataset.of = names;
      $("os").replaceChildren(...state.systems.map(system => new Option(SYSTEMS[system], system)));
    }
    put("os", state.os || state.systems[0]);
  }
  // Number of settings below "More settings" that differ from their defaults.
  function changes() {
    const vllm = state.runner === "vllm";
    return [
      state.runner !== "server",
      !vllm && state.k !== 0,
      !vllm && state.v !== 0,
      !vllm && state.slots !== 1,
      state.devices.some(device => device.others),
      !vllm && state.layers !== null,
      !vllm && state.experts !== 0,
      vllm && state.util !== settings.usual.util,
      vllm && state.fp8,
    ].filter(Boolean).length;
  }
  function llamaControls(answer) {
    const setting = answer.setting;
    const ollama = state.runner === "ollama";
    $("pair-note").hidden = state.k === state.v && !ollama;
    $("pair-note").textContent = ollama
      ? t("Ollama uses one type for both.")
      : t(
          "Standard CUDA builds have no kernel for two different types: they convert the cache to f16 in each pass, which is slow. A build with GGML_CUDA_FA_QUANTS=all has one.",
        );
    $("slots-note").hidden = state.slots === 1 && !ollama;
    $("slots-note").textContent = ollama
      ? t("For Ollama, the figures assume one request at a time (the default).")
      : t("They share the context of {tokens}.", { tokens: tokens(state.ctx) });
    $("moved-note").hidden = !answer.moved;
    $("moved-note").textContent = t("This does not fit, so the answer is for the model {how}.", { how: answer.moved });
    const layers = setting.layers === null ? table.layers + 1 : setting.layers;
    const hostExperts = setting.experts === "all" ? table.layers : setting.experts;
    mark("layers", state.layers === null ? "all" : state.layers === "auto" ? "auto" : "own");
    $("layers-own").hidden = typeof state.layers !== "number";
    $("layers-slide").max = table.layers + 1;
    put("layers-slide", layers);
    reach("layers-reach", answer.mostLayers / (table.layers + 1));
    $("layers-value").textContent = t("{n} of {all}, including the output", { n: layers, all: table.layers + 1 });
    $("layers-slide").setAttribute("aria-valuetext", $("layers-value").textContent);
    $("layers-field").hidden = Boolean(table.isWhole);
    $("experts-field").hidden = !lookup.hasExperts(table) || ollama || table.isWhole;
    mark("experts", state.experts === 0 ? "none" : typeof state.experts === "number" ? "own" : state.experts);
    $("experts-own").hidden = typeof state.experts !== "number" || !state.experts;
    $("experts-slide").max = table.layers;
    put("experts-slide", hostExperts);
    reach("experts-reach", 0);
    $("experts-value").textContent = t("first {n} of {all} layers", { n: hostExperts, all: table.layers });
    $("experts-slide").setAttribute("aria-valuetext", $("experts-value").textContent);
  }
  function deviceControls(n, device) {
    $(`device-row-${n}`).hidden = $(`others-row-${n}`).hidden = !device;
    if (!device) return;
    const entry = device.entry;
    const facts = $(`device-facts-${n}`);
    deviceBoxes[n - 1].show(device.id);
    const sizes = (entry && entry.sizes) || [];
    $(`own-${n}`).hidden = !!entry;
    $(`size-row-${n}`).hidden = !sizes.length;
    if (sizes.length && $(`size-${n}`).dataset.of !== entry.id) {
      $(`size-${n}`).dataset.of = entry.id;
      $(`size-${n}`).replaceChildren(...sizes.map(size => new Option(`${size[0] / GIB} GB`, size[0])));
    }
    if (sizes.length) put(`size-${n}`, device.mem);
    put(`memory-${n}`, Math.round((device.mem / ($(`memory-unit-${n}`).value === "MiB" ? MIB : GIB)) * 1000) / 1000);
    put(`others-${n}`, Math.round(device.others / MIB));
    facts.replaceChildren();
    if (entry) {
      if (device.isAssumed) {
        facts.append(
          el("strong", t("This is for {size}: select the memory size of yours.", { size: `${device.mem / GIB} GB` })),
          " ",
        );
      }
      facts.append(
        `${answers.roundGib(device.mem) + (entry.bw ? `, ${whole(entry.bw)} GB/s` : "")} · `,
        link(t("Details"), `${root}hardware/${entry.id}/index.html`),
      );
    } else facts.append(t("Without a GPU, enter the size of the RAM: weights and cache are as large there."));
  }
  // A device with the memory size that is typed beside its name: "m4 24gb".
  function deviceOf(id, typed) {
    const [, size] = /(\d+(?:\.\d+)?) ?gi?b\b/i.exec(typed) || [];
    if (!id) return size && settings.device(Number(size) * GIB);
    const device = settings.smallest(id);
    return (size && settings.sized(device, Number(size) * GIB)) || device;
  }
  // The verdict of each device in the list of devices.
  function deviceNote(n) {
    return (entry, typed) => {
      if (!entry.id || !table) return null;
      const devices = state.devices.slice();
      const other = deviceOf(entry.id, typed);
      other.others = devices[n - 1].others;
      settings.seen(other, state.os);
      devices[n - 1] = other;
      const word = answers.verdictOf(lookup.but(state, { devices }), table, fit);
      return { text: `${SHORT[word]} · ${answers.roundGib(other.mem)}`, kind: `verdict verdict-${word}` };
    };
  }

  // ---- loading ----------------------------------------------------------------
  const tableAddress = id => `${root}data/fit/${id}.js?${fit.stamp}`;
  const NEED_TABLE = ["quant", "ctx-slide", "layers-field", "experts-field"];
  function choose(id) {
    state.model = id;
    modelBox.show(id);
    const name = byId(fit.models, id).name;
    if (lookup.tables[id]) return arrived(lookup.tables[id]);
    table = null;
    enable();
    fields();
    $("waiting").hidden = false;
    $("broken").hidden = true;
    $("waiting").textContent = t("Loading the figures for {model}…", { model: name });
    undecided("", $("waiting").textContent);
    lookup.load(id, tableAddress(id), found => {
      if (state.model !== id) return;
      if (found) return arrived(found);
      $("waiting").hidden = true;
      $("broken").hidden = false;
      $("broken-model").textContent = name;
      $("broken-stale").textContent = $("answer-body").hidden
        ? ""
        : t("The results below are for the previously selected model.");
      undecided(t("No verdict"), t("The figures for {model} could not be loaded.", { model: name }));
    });
  }
  // Without a table the answer before stays in sight, but it is for another model: nothing in it can be used.
  function enable() {
    if (table) $("answer").removeAttribute("aria-busy");
    else $("answer").setAttribute("aria-busy", "true");
    $("answer-body").inert = $("ladder-part").inert = !table;
    NEED_TABLE.forEach(id => {
      $(id).disabled = !table;
    });
  }
  // Replaces the verdict where the answer is not in sight.
  function undecided(word, words) {
    clearTimeout(saying);
    $("dock-verdict").className = word ? "verdict verdict-unknown" : "";
    $("dock-verdict").textContent = word;
    $("dock-margin").textContent = $("say").textContent = words;
  }
  function arrived(found) {
    table = found;
    enable();
    $("waiting").hidden = $("broken").hidden = true;
    update();
  }
  function update() {
    if (!table) return fields();
    settings.settle(state, table);
    const answer = answers.of(state, table, fit);
    buildRows(answer.rows);
    controls(answer);
    $("answer-body").hidden = $("ladder-part").hidden = state.misread.length > 0;
    showMisread();
    // Keeps an invalid address: after a reload it must be reported again.
    if (state.misread.length) return;
    show(answer);
    save();
  }

  // ---- what the address has wrong ------------------------------------------------
  let reported = "";
  function showMisread() {
    const list = state.misread;
    const report = JSON.stringify(list);
    $("misread").hidden = !list.length;
    $("answer").hidden = list.length > 0;
    if (list.length) {
      $("margin").textContent = "";
      undecided(t("No verdict"), "");
    }
    if (report === reported) return;
    reported = report;
    $("misread-list").replaceChildren(
      ...list.map(each => {
        const row = el("li");
        row.append(el("code", `${each.name}=${each.text}`), `: ${each.why}`);
        return row;
      }),
    );
  }
  // Parameters of the address by the start of the id of their control.
  const PARAMETERS = {
    model: ["model", "file"],
    quant: ["quant", "dtype"],
    ctx: ["ctx"],
    device: ["gpu", "device", "mem"],
    memory: ["gpu", "device", "mem"],
    size: ["gpu", "device", "mem"],
    os: ["os"],
    file: ["file"],
    others: ["others"],
    runner: ["run"],
    k: ["k", "kv"],
    v: ["v", "kv"],
    slots: ["slots"],
    layers: ["ngl"],
    experts: ["moe"],
    ram: ["ram"],
    fp8: ["cache"],
    util: ["util"],
  };
  // A changed control replaces the invalid value in the address.
  function settled(id) {
    const names = PARAMETERS[id.replace(/-.*/, "")] || [];
    state.misread = state.misread.filter(each => names.indexOf(each.name) < 0);
  }

  // Published models whose names contain all words, as further names of the models with their shape.
  const MOST_PUBLISHED = 40;
  async function published(text) {
    await kbgen.load(links.names);
    const words = text.trim().split(" ");
    const named = fileNamed($("model").value);
    const found = [];
    // The name of a file may go on after that of the model and its size: "…-8B-Instruct-abliterated".
    while (!found.length && words.length) {
      (kbgen.published || []).forEach(([id, names]) => {
        const base = fit.models.find(model => model.id === id);
        names.split(" ").forEach(name => {
          const plain = name.toLowerCase().replace(/[^a-z0-9.]+/g, " ");
          if (base && words.every(word => plain.includes(word))) {
            found.push({
              id,
              name,
              group: t("Other published models, with the memory of:"),
              note: base.name,
              also: text,
              // A file has the whole name; a few words may be in any.
              isGuess: !(named && named.isFile) && !` ${plain} `.endsWith(` ${text.trim()} `),
            });
          }
        });
      });
      words.pop();
      if (!named || !words.some(word => /^\d+(\.\d+)?b$/.test(word))) break;
    }
    return found.slice(0, MOST_PUBLISHED);
  }
  // A quantization at the end of a name: "-UD-Q4_K_XL", ".i1-IQ3_M".
  const QUANT_AT_END = /[-._](?:(?:UD|i1)-)?(I?Q\d\w*|BF16|F16|MXFP4)(?:_MOE)?$/i;
  /**
   * The model and the quantization in the name of a GGUF file, a repository of Hugging Face or a model of Ollama, or
   * null for other text.
   */
  function fileNamed(text) {
    const [, file] = /([^/\\]*)\.gguf\s*$/i.exec(text) || [];
    const named = file ? [file.replace(/-\d{5}-of-\d{5}$/, "")] : repositoryNamed(text);
    if (!named) return null;
    const [name, tag = ""] = named;
    const [end, type] = QUANT_AT_END.exec(`${name}-${tag}`.replace(/-$/, "")) || ["", ""];
    const quant = type.toUpperCase();
    const model = `${name} ${tag}`.trim();
    return {
      isFile: Boolean(file),
      model: model.slice(0, model.length - end.length),
      quant: fit.quants.includes(quant) ? quant : null,
    };
  }
  // "hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q6_K", "unsloth/Qwen3-8B-GGUF", "llama3.1:8b": [name, tag].
  function repositoryNamed(text) {
    const address = text
      .trim()
      .replace(/^https?:\/\//i, "")
      .replace(/^(?:www\.)?(?:hf\.co|huggingface\.co|ollama\.com)\//i, "");
    const [, name, tag] = /^(?:[\w.-]+\/)?([\w.-]+)(?::([\w.-]+))?(?:[/?#]\S*)?$/.exec(address) || [];
    if (!name || !(tag || /\//.test(text) || /-GGUF$/i.test(name))) return null;
    return [name.replace(/-GGUF$/i, ""), tag === "latest" ? "" : tag];
  }
  const modelEntries = fit.models.map(model => ({
    id: model.id,
    name: model.name,
    group: model.family,
    note: `${whole(model.max / 1024)}K`,
  }));
  const modelBox = kbgen.combobox($("model"), {
    more: published,
    reads: typed => (fileNamed(typed) || { model: typed }).model,
    entries: modelEntries,
    choose(id, typed) {
      const { quant } = fileNamed(typed) || {};
      if (quant) {
        state.chosenQuant = quant;
        settled("quant");
      }
      settled("model");
      choose(id);
    },
  });
  // People name the Mac, not its chip. Each name is one word, as "pro" is also the name of a chip.
  const MACS = {
    "": "macbook macbookair macbookpro macmini imac",
    Pro: "macbook macbookpro macmini",
    Max: "macbook macbookpro macstudio",
    Ultra: "macstudio macpro",
  };
  const macsOf = ({ name }) => {
    const [chip, kind] = /^Apple M\d+ ?(\w*)/.exec(name) || [];
    return chip ? MACS[kind] || "" : "";
  };
  const withMac = typed => typed.replace(/\bmac(book)? (air|pro|mini|studio)\b/gi, "mac$1$2");
  const entries = [
    {
      id: "",
      name: t("Other amount of memory"),
      group: "",
      note: t("or no GPU"),
      also: t("cpu only, no gpu, without a gpu, custom"),
      always: true,
    },
    ...fit.devices.map(device => ({
      id: device.id,
      name: device.name,
      group: device.vendor,
      sizes: device.sizes,
      also: [
        ...(device.sizes || [[device.mem]]).map(size => `${size[0] / GIB}gb`),
        macsOf(device),
        device.shared && /AMD|Intel/.test(device.vendor) ? t("igpu integrated") : "",
      ].join(" "),
    })),
  ];
  // The first device is the reader's own, also on other pages.
  function remember() {
    const [device] = state.devices;
    if (device.id) kbgen.rememberDevice(device.isAssumed ? device.id : settings.specOf(device));
  }
  function deviceField(n) {
    deviceBoxes[n - 1] = kbgen.combobox($(`device-${n}`), {
      entries,
      reads: withMac,
      none: t("Enter the memory size of your device:"),
      instead: t("For a device that is not in the list, select “Other amount of memory”."),
      note: deviceNote(n),
      choose(id, typed) {
        const others = state.devices[n - 1].others;
        state.devices[n - 1] = deviceOf(id, typed) || settings.device(state.devices[n - 1].mem);
        state.devices[n - 1].others = others;
        settled("device");
        if (n === 1) remember();
        update();
        if (!id) $(`memory-${n}`).focus();
      },
    });
    on(`size-${n}`, "change", mem => {
      settings.sized(state.devices[n - 1], Number(mem));
      if (n === 1) remember();
    });
    const measured = () => {
      const amount = Number($(`memory-${n}`).value);
      if (!(amount > 0)) return false;
      state.devices[n - 1].mem = amount * ($(`memory-unit-${n}`).value === "MiB" ? MIB : GIB);
    };
    on(`memory-${n}`, "input", measured);
    on(`memory-unit-${n}`, "change", measured);
    on(`others-${n}`, "input", text => {
      state.devices[n - 1].others = Math.max(0, Number(text) || 0) * MIB;
    });
    if (n > 1) {
      on(`device-drop-${n}`, "click", () => {
        state.devices.splice(n - 1, 1);
        $("device-add").hidden = false;
        $("device-add").focus();
      });
    }
  }
  for (let n = 1; n <= MOST_DEVICES; n++) deviceField(n);
  on("device-add", "click", () => {
    const last = state.devices[state.devices.length - 1];
    state.devices.push(settings.device(settings.specOf(last)));
    setTimeout(() => {
      $(`device-${state.devices.length}`).focus();
    });
  });
  on("ram", "input", text => {
    state.ram = Math.max(0, Number(text) || 0) * GIB;
  });
  on("os", "change", os => {
    state.os = os;
  });
  choices(
    "k",
    fit.kv.map((name, i) => [i, name]),
    i => {
      state.k = i;
    },
  );
  choices(
    "v",
    fit.kv.map((name, i) => [i, name]),
    i => {
      state.v = i;
    },
  );
  choices(
    "slots",
    lookup.SLOTS.map(n => [n, n]),
    n => {
      state.slots = n;
    },
  );
  choices(
    "layers",
    [
      ["all", t("All")],
      ["auto", t("As many as fit")],
      ["own", t("Choose")],
    ],
    how => {
      state.layers = how === "all" ? null : how === "auto" ? "auto" : Math.floor(table.layers / 2);
    },
  );
  choices(
    "experts",
    [
      ["none", t("None")],
      ["auto", t("As few as needed")],
      ["all", t("All")],
      ["own", t("Choose")],
    ],
    how => {
      state.experts = how === "none" ? 0 : how === "own" ? Math.ceil(table.layers / 2) : how;
    },
  );

  // A file is one more model, in one more quantization. Its script is loaded when one is opened.
  const FILE_QUANT = fit.quants.length;
  let opened = 0;
  async function openFile(files) {
    if (!files.length) return;
    const mine = ++opened;
    const before = state.model;
    const note = $("file-note");
    note.className = "small";
    note.textContent = t("Reading {name}…", { name: files[0].name });
    try {
      await Promise.all([kbgen.load(links.gguf), kbgen.load(links.shapes)]);
      const model = await kbgen.openModel(Array.from(files), fit);
      const base = model.slug && (await new Promise(done => lookup.load(model.slug, tableAddress(model.slug), done)));
      if (mine !== opened) return;
      if (model.slug && !base) {
        throw new Error(t("The figures for {model} could not be loaded.", { model: model.slug }));
      }
      const entry = { id: "file", name: model.name, file: model.file, base: model.slug };
      [fit.models, modelEntries].forEach(list => {
        list.splice(0, list.length, ...list.filter(each => each.id !== "file"), entry);
      });
      modelBox.renew();
      fit.quants[FILE_QUANT] = model.label;
      lookup.tables.file = model.table(base, FILE_QUANT);
      note.textContent = base
        ? t("{name}: weights of {size}, exact. It has the shape of {model}, so cache and compute buffer are known.", {
            name: model.file,
            size: model.size,
            model: byId(fit.models, model.slug).name,
          })
        : t("{name}: weights of {size}, exact.", { name: model.file, size: model.size });
      // A model that was chosen in the meantime stays.
      if (state.model === before || state.model === "file") {
        state.chosenQuant = model.label;
        settled("model");
        settled("quant");
        choose("file");
      }
    } catch (error) {
      if (mine !== opened) return;
      note.className = "small file-error";
      note.textContent = `${files[0].name}: ${error.message || t("its reader could not be loaded")}`;
    }
    $("file").value = "";
  }
  $("file").addEventListener("change", () => openFile($("file").files));
  const carries = event => event.dataTransfer && event.dataTransfer.types.includes("Files");
  ["dragover", "drop"].forEach(name => {
    addEventListener(name, event => {
      if (!carries(event)) return;
      event.preventDefault();
      if (name === "drop") openFile(event.dataTransfer.files);
    });
  });

  $("quant").addEventListener("change", () => {
    settled("quant");
    chooseRow($("quant").value);
  });
  $("misread-accept").addEventListener("click", () => {
    state.misread = [];
    update();
    $("verdict").focus();
  });
  on("ctx", "input", text => {
    const n = Number(text);
    if (!(n >= 1)) return false;
    state.ctx = n;
  });
  on("ctx", "change", () => {
    $("ctx").value = state.ctx;
  });
  on("ctx-slide", "input", at => {
    const raw = CELL * Math.exp((at / 1000) * logSpan());
    const grain = raw >= 16384 ? 1024 : CELL;
    state.ctx = Number(at) === 1000 ? table.max : Math.round(raw / grain) * grain;
  });
  on("runner", "change", runner => {
    state.runner = runner;
  });
  choices(
    "fp8",
    [
      [false, t("16 bits")],
      [true, "fp8"],
    ],
    fp8 => {
      state.fp8 = fp8;
    },
  );
  on("util", "input", text => {
    const n = Number(text);
    if (!(n >= 1 && n <= 100)) return false;
    state.util = n;
  });
  on("layers-slide", "input", at => {
    state.layers = Number(at);
  });
  on("experts-slide", "input", at => {
    state.experts = Number(at);
  });
  $("reset").addEventListener("click", () => {
    const model = state.model;
    state = settings.read(`model=${model}`);
    update();
    $("more").querySelector("summary").focus();
  });
  $("again").addEventListener("click", () => {
    choose(state.model);
    $("model").focus();
  });
  $("copy-link").addEventListener("click", () => {
    write();
    kbgen.copy(location.href, $("copy-link"), t("Copy link"));
  });
  addEventListener("hashchange", () => {
    if (location.hash !== settings.address(state)) {
      read();
      choose(state.model);
    }
  });
  let resizing = 0;
  addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(() => {
      if (drawn.length && $("bars").clientWidth !== width) draw();
    }, 150);
  });

  // Access for tests.
  kbgen.calculator = {
    index: fit,
    state() {
      return state;
    },
  };

  read();
  $("more").open = state.misread.some(each => !/^(model|quant|ctx|gpu|device|mem)$/.test(each.name)) || changes() > 0;
  choose(state.model);
})();
