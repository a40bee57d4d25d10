// Models from GGUF files in the calculator. Loaded when the reader opens a file. Only headers are read, and nothing
// leaves the page. The types of tensors and the shapes of models are those of data/gguf.js, which the estimator writes;
// cache and compute buffer are those of the model with the same shape, and with a part in RAM, of its quantization with
// the same layers. Formats and limits: src/gguf/header.rs of kbgen-estimate.
(() => {
  "use strict";
  const { t } = kbgen;
  const lookup = kbgen.fit;
  const CHUNK = 262144;
  const MAX_HEADER = 536870912;
  const MAX_ENTRIES = 131072;
  const MAX_NAME = 1024;
  const MAX_STORED = 4096;
  const MAX_DEPTH = 4;
  const MAX_LAYERS = 1024;
  const MAX_PARTS = 1024;
  const MAX_ELEMENTS = 2 ** 42;
  const GPU_ALIGNMENT = 128;
  const HOST_ALIGNMENT = 32;
  const ROW_PADDING = 512;
  /** Bytes of a scalar by its type in metadata. */
  const SIZES = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];
  const FLOATS = [6, 12];
  /** Keys that are used, without the architecture before them, and how many are stored at most. */
  const KEYS =
    /^(general|split)\.|\.((block|nextn_predict_layers|expert|expert_used|attention\.head|ssm\.group)(_count)?|ssm\.state_size|context_length|attention\.sliding_window(_pattern)?)$/;
  const MAX_VALUES = 1000;
  const TEXT = 8;
  const ARRAY = 9;
  /** A value that is longer than any that is used. */
  const SKIPPED = {};
  const decoder = new TextDecoder();

  function invalid(message) {
    return Object.assign(new Error(message), { isKnown: true });
  }

  // ---- the header ------------------------------------------------------------
  /** Reads a file from its start, a chunk at a time. `take(n)` is the position of the next `n` bytes in `view`. */
  function readerOf(file) {
    const end = Math.min(file.size, MAX_HEADER);
    const input = { view: new DataView(new ArrayBuffer(0)), lacks, more, take, skip, u32, u64, text };
    let start = 0;
    let at = 0;
    function lacks(bytes) {
      return at + bytes > start + input.view.byteLength;
    }
    async function more(bytes) {
      skip(bytes);
      at -= bytes;
      start = at;
      input.view = new DataView(await file.slice(at, at + Math.max(CHUNK, bytes)).arrayBuffer());
      if (input.view.byteLength < bytes) throw invalid(t("the file ends within its header"));
    }
    function take(bytes) {
      at += bytes;
      return at - bytes - start;
    }
    function skip(bytes) {
      if (!(at + bytes <= end)) {
        throw invalid(end < file.size ? t("its header is too long") : t("the file ends within its header"));
      }
      at += bytes;
    }
    async function u32() {
      if (lacks(4)) await more(4);
      return input.view.getUint32(take(4), true);
    }
    async function u64() {
      if (lacks(8)) await more(8);
      return Number(input.view.getBigUint64(take(8), true));
    }
    async function text(most) {
      const length = await u64();
      if (length > most) throw invalid(t("a name in its header is too long"));
      if (lacks(length)) await more(length);
      return decoder.decode(new Uint8Array(input.view.buffer, take(length), length));
    }
    return input;
  }
  function scalar(view, kind, at) {
    if (kind === 1) return view.getInt8(at);
    if (kind === 2) return view.getUint16(at, true);
    if (kind === 3) return view.getInt16(at, true);
    if (kind === 4) return view.getUint32(at, true);
    if (kind === 5) return view.getInt32(at, true);
    if (kind === 6) return view.getFloat32(at, true);
    if (kind === 10) return Number(view.getBigUint64(at, true));
    if (kind === 11) return Number(view.getBigInt64(at, true));
    return kind === 12 ? view.getFloat64(at, true) : view.getUint8(at);
  }
  async function valueOf(input, kind, depth) {
    if (kind === TEXT) {
      const length = await input.u64();
      if (length > MAX_STORED) {
        input.skip(length);
        return SKIPPED;
      }
      if (input.lacks(length)) await input.more(length);
      return decoder.decode(new Uint8Array(input.view.buffer, input.take(length), length));
    }
    if (kind === ARRAY) return arrayOf(input, depth);
    const size = SIZES[kind];
    if (!size) throw invalid(t("its metadata has the unknown type {n}", { n: kind }));
    if (input.lacks(size)) await input.more(size);
    return scalar(input.view, kind, input.take(size));
  }
  async function arrayOf(input, depth) {
    const kind = await input.u32();
    const length = await input.u64();
    const size = SIZES[kind];
    if (kind === TEXT || (kind === ARRAY && depth)) {
      for (let i = 0; i < length; i++) {
        if (kind === ARRAY) await arrayOf(input, depth - 1);
        else {
          if (input.lacks(8)) await input.more(8);
          input.skip(Number(input.view.getBigUint64(input.take(8), true)));
        }
      }
      return SKIPPED;
    }
    if (!size) throw invalid(t("its metadata has the unknown type {n}", { n: kind }));
    if (length > MAX_STORED || FLOATS.includes(kind)) {
      input.skip(length * size);
      return SKIPPED;
    }
    if (input.lacks(length * size)) await input.more(length * size);
    const start = input.take(length * size);
    return Array.from({ length }, (_, i) => scalar(input.view, kind, start + i * size));
  }
  async function count(input) {
    const n = await input.u64();
    if (n > MAX_ENTRIES) throw invalid(t("its header has more entries than that of any model"));
    return n;
  }
  /** The metadata and the tensors of a file. */
  async function headerOf(file, { types }) {
    const input = readerOf(file);
    if ((await input.u32()) !== 0x46554747) throw invalid(t("it is not a GGUF file"));
    const version = await input.u32();
    if (version !== 2 && version !== 3) throw invalid(t("its version of GGUF is not supported"));
    const tensorCount = await count(input);
    const entryCount = await count(input);
    const values = new Map();
    for (let i = 0; i < entryCount; i++) {
      const key = await input.text(MAX_NAME);
      const value = await valueOf(input, await input.u32(), MAX_DEPTH);
      if (KEYS.test(key) && values.size < MAX_VALUES) values.set(key, value);
    }
    const tensors = [];
    for (let i = 0; i < tensorCount; i++) {
      const name = await input.text(MAX_NAME);
      const dimensions = await input.u32();
      if (dimensions > 4) throw invalid(t("tensor {name} has {n} dimensions", { name, n: dimensions }));
      const sizes = [1, 1, 1, 1];
      for (let j = 0; j < dimensions; j++) sizes[j] = await input.u64();
      const type = await input.u32();
      await input.u64();
      const block = types[type];
      if (!block) throw invalid(t("tensor {name} has the unknown type {n}", { name, n: type }));
      if (sizes.reduce((product, size) => product * size) > MAX_ELEMENTS) {
        throw invalid(t("tensor {name} has more elements than any model", { name }));
      }
      tensors.push({ name, sizes, block });
    }
    return { values, tensors };
  }

  // ---- the files of a model --------------------------------------------------
  /** The first header, with the tensors of all parts, and the first file. */
  async function headersOf(files, data) {
    const [, start, , total] = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i.exec(files[0].name) || [];
    const parts = Number(total) || 1;
    if (parts === 1) {
      if (files.length > 1) throw invalid(t("open one model, or all parts of one model"));
      const header = await headerOf(files[0], data);
      const named = header.values.get("split.count");
      if (named > 1) {
        const end = "-00001-of-" + String(named).padStart(5, "0") + ".gguf";
        throw invalid(t("it is a part of a split file, whose name must end with {end}", { end }));
      }
      return { ...header, file: files[0] };
    }
    if (parts > MAX_PARTS) throw invalid(t("it has more than {n} parts", { n: MAX_PARTS }));
    const named = number => `${start}-${String(number).padStart(5, "0")}-of-${total}.gguf`;
    const all = Array.from({ length: parts }, (_, i) => files.find(file => file.name === named(i + 1)));
    const missing = all.flatMap((file, i) => (file ? [] : [named(i + 1)]));
    if (missing.length) {
      const names = missing.slice(0, 3).join(", ");
      throw invalid(
        missing.length > 3
          ? t("{n} of its {all} parts are missing: {names} and more", { n: missing.length, all: parts, names })
          : t("parts of it are missing: {names}", { names }),
      );
    }
    if (files.length > parts) throw invalid(t("open one model, or all parts of one model"));
    const headers = [];
    for (const file of all) headers.push(await headerOf(file, data));
    return { values: headers[0].values, tensors: headers.flatMap(header => header.tensors), file: all[0] };
  }

  // ---- shape -----------------------------------------------------------------
  // Embeddings stay in RAM; what projects or normalizes them is with the first layer, as in src/gguf/model.rs.
  const isInput = name => /^(token_embd|position_embd|token_types|per_layer_token_embd)\./.test(name);
  const layerOf = name => {
    const [, layer] = /^blk\.(\d+)\./.exec(name) || [];
    if (layer === undefined) return /^(per_layer_|token_embd_norm\.)/.test(name) && !isInput(name) ? 0 : null;
    return Number(layer);
  };
  const isExperts = name => layerOf(name) !== null && /_(ch)?exps\./.test(name);
  /** What is known of a model: figures of the metadata, and its tensors without layers that predict further tokens. */
  function modelOf({ values, tensors, file }) {
    const text = key => (typeof values.get(key) === "string" ? values.get(key) : "");
    const name = text("general.architecture");
    const kind = text("general.type") || "model";
    if (kind !== "model" || name === "clip") {
      throw invalid(t("it is not a language model but {kind}", { kind: kind === "model" ? name : kind }));
    }
    if (!name) throw invalid(t("it names no architecture"));
    const value = key => values.get(`${name}.${key}`);
    const numbers = key => [value(key)].flat().map(n => (typeof n === "number" && n >= 0 ? Math.trunc(n) : 0));
    const number = key => numbers(key)[0];
    const layers = Math.max(0, number("block_count") - number("nextn_predict_layers"));
    if (!layers || layers > MAX_LAYERS) throw invalid(t("its number of layers is invalid"));
    const loaded = tensors.filter(tensor => !(layerOf(tensor.name) >= layers));
    const byName = new Map(loaded.map(tensor => [tensor.name, tensor]));
    return {
      name,
      layers,
      value,
      number,
      numbers,
      loaded,
      tensor: name => byName.get(name),
      tied: !tensors.some(tensor => tensor.name === "output.weight"),
      hasOutput: !name.endsWith("bert"),
      title: text("general.name") || file.name.replace(/\.gguf$/i, ""),
      type: values.get("general.file_type"),
      elements: tensors.reduce((sum, { sizes }) => sum + sizes.reduce((product, size) => product * size), 0),
      bytes: tensors.reduce((sum, tensor) => sum + bytesOf(tensor), 0),
    };
  }
  /** A letter for each layer; as `kinds` in src/gguf/fields.rs. */
  function kindsOf(model, data) {
    const pattern = model.value("attention.sliding_window_pattern");
    const listed = Array.isArray(pattern) ? pattern : null;
    const every = typeof pattern === "number" ? pattern : data.every[model.name] || 0;
    const hasWindow = model.number("attention.sliding_window") > 0;
    const slides = layer => hasWindow && (listed ? listed[layer] === 1 : every > 0 && (layer + 1) % every > 0);
    return Array.from({ length: model.layers }, (_, layer) => {
      const has = (...names) => names.some(name => model.tensor(`blk.${layer}.${name}.weight`));
      if (has("attn_kv_a_mqa")) return "M";
      if (has("ssm_conv1d", "shortconv.conv")) return "R";
      if (has("attn_q", "attn_qkv")) return slides(layer) ? "S" : "F";
      return "N";
    });
  }
  /** The key of the shape; as `shape_key` in src/gguf/shape.rs. */
  function keyOf(model, data) {
    const kinds = kindsOf(model, data);
    const attention = kinds.includes("S") ? kinds.indexOf("S") : kinds.indexOf("F");
    const hasBias = ["attn_q", "attn_qkv"].some(name => model.tensor(`blk.${attention}.${name}.bias`));
    const one = model.tensor("rope_freqs.weight");
    const long = model.tensor("rope_factors_long.weight");
    const numbers = [
      Math.max(...model.numbers("attention.head_count")),
      model.number("expert_count") ? model.number("expert_used_count") : 0,
      kinds.includes("S") ? model.number("attention.sliding_window") : 0,
      model.number("ssm.group_count"),
      model.number("ssm.state_size"),
      Number(hasBias),
      Number(model.loaded.some(({ name }) => name.endsWith(".exp_probs_b.bias"))),
      one ? 1 : long ? 2 : 0,
      one ? one.sizes[0] : long ? long.sizes[0] : 0,
    ];
    const lines = model.loaded.flatMap(({ name, sizes }) => {
      const layer = layerOf(name);
      const place = data.names[name.replace(/^blk\.\d+\./, "")];
      return place === undefined
        ? []
        : [`${layer === null ? "" : layer} ${place} ${sizes[0]} ${sizes[1]} ${sizes[2] * sizes[3]}`];
    });
    const text = [`${kinds.join("")} ${numbers.join(" ")}`, ...lines.sort()].join("\n");
    let hash = 0x811c9dc5;
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    return `${model.name}-${model.layers}-${(hash >>> 0).toString(16).padStart(8, "0")}`;
  }

  // ---- weights ---------------------------------------------------------------
  const rowOf = ([elements, bytes], columns) => Math.ceil(columns / elements) * bytes;
  const bytesOf = ({ sizes, block }) => rowOf(block, sizes[0]) * sizes[1] * sizes[2] * sizes[3];
  const aligned = (bytes, to) => Math.ceil(bytes / to) * to;
  /** The bytes that a tensor takes on a GPU and in RAM; as `allocated_bytes` in src/weights.rs. */
  function placed(tensor) {
    const bytes = bytesOf(tensor);
    const rest = tensor.sizes[0] % ROW_PADDING;
    const tail = rest && tensor.block[0] > 1 ? rowOf(tensor.block, ROW_PADDING - rest) : 0;
    return [aligned(bytes + tail, GPU_ALIGNMENT), aligned(bytes, HOST_ALIGNMENT)];
  }
  /** The weights in the form of a quantization of a model's table. */
  function weightsOf(model, data) {
    const kinds = Array.from({ length: model.layers }, () => [0, 0, 0, 0]);
    const quant = { file: 0, in: 0, out: [0, 0], touch: 0, big: 0, kinds, layer: kinds.flatMap((_, i) => [i, 1]) };
    const factors = { gpu: 0, host: 0 };
    const experts = model.number("expert_count");
    const used = model.number("expert_used_count");
    for (const tensor of model.loaded) {
      const { name } = tensor;
      const [gpu, host] = placed(tensor);
      const bytes = bytesOf(tensor);
      const layer = layerOf(name);
      quant.file += bytes;
      const isEmbedding = name === "token_embd.weight";
      // Of the tables before the layers, a token reads a row; the output of a tied model reads the embedding.
      if (!isInput(name) || (isEmbedding && model.tied)) {
        quant.touch += isExperts(name) && experts ? Math.floor(bytes / experts) * used : bytes;
      }
      if (layer !== null) {
        const kind = kinds[layer];
        kind[0] += gpu;
        kind[1] += host;
        if (isExperts(name)) {
          kind[2] += gpu;
          kind[3] += host;
        }
      } else if (isInput(name)) quant.in += host;
      else if (name.startsWith("rope_f")) {
        factors.gpu += gpu;
        factors.host += host;
      } else {
        quant.out[0] += gpu;
        quant.out[1] += host;
        quant.big = Math.max(quant.big, gpu);
      }
      if (isEmbedding && model.tied && model.hasOutput) {
        quant.out[0] += gpu;
        quant.big = Math.max(quant.big, gpu);
        if (data.copies.includes(model.name)) quant.out[1] += host;
      }
    }
    return { quant: lookup.unpackQuant(quant), factors };
  }

  /** The quantization whose layers have the same weights: its buffers for a part in RAM are those of the file. */
  function sameLayers(quant, base) {
    const isSame = (kind, i) => [0, 1, 2, 3].every(n => kind[n] === quant.kindOf[i][n]);
    return base.quants.find(each => each && each.kindOf.every(isSame));
  }

  // ---- for the calculator ----------------------------------------------------
  /** The command that estimates the file in a terminal, with the settings of the calculator. */
  function commandOf(file, state, index) {
    const words = ["kbgen fit", kbgen.quoteName(file.name, state.os)];
    const named = state.devices.filter(device => device.id);
    const sizes = state.devices.map(device => `--memory ${device.mem / lookup.GIB}`);
    if (named.length === state.devices.length) {
      words.push(...named.map(device => `--gpu ${device.id}`));
      if (named.some(device => device.entry.sizes)) words.push(...sizes);
    } else if (!named.length) words.push(...sizes);
    if (state.os) words.push(`--os ${state.os}`);
    words.push(`--ctx ${state.ctx}`);
    const [k, v] = [index.kv[state.k], index.kv[state.v]];
    if (k !== "f16" || v !== "f16") words.push(`--kv-type ${k === v ? k : `${k}/${v}`}`);
    if (state.slots > 1) words.push(`--slots ${state.slots}`);
    if (state.runner === "ollama" || state.runner === "library") words.push(`--runner ${state.runner}`);
    const { others } = state.devices[0];
    if (others) words.push(`--other-memory ${others / lookup.GIB}`);
    return words.join(" ");
  }
  /** The answer for a file whose shape no model of the site has: the weights, and nothing else. */
  const weightsOnly = (label, size) => () => ({
    verdict: "unknown",
    word: t("Not covered"),
    title: t("Not covered"),
    margin: t("No model of this site has the shape of this file, so only its weights are known: {size}.", { size }),
    short: "",
    devices: [],
    stats: [{ name: t("Weights"), value: size, note: t("exact") }],
    offers: [],
    rows: [{ name: label }],
    setting: { layers: null, experts: 0 },
    most: 0,
    mostLayers: 0,
    meets: null,
  });

  /**
   * Reads the files of a model: `{name, file, label, slug, size, table(base, place)}`. `slug` is the model with the
   * same shape, if there is one, `base` its table, and `place` the index of the new quantization. `index` is that of
   * the calculator.
   */
  kbgen.openModel = async (files, index) => {
    const data = kbgen.gguf;
    let header;
    try {
      header = await headersOf(files, data);
    } catch (error) {
      if (error.isKnown) throw error;
      throw invalid(t("the file cannot be read"));
    }
    const model = modelOf(header);
    const { quant, factors } = weightsOf(model, data);
    const bits = ((model.bytes * 8) / Math.max(1, model.elements)).toFixed(2);
    const label = data.quants[model.type] || t("{n} bits per weight", { n: bits });
    const slug = data.shapes[keyOf(model, data)] || null;
    const longest = model.number("context_length") || index.ctx;
    const size = kbgen.answer.gib(quant.file) + " GiB";
    const own = `${label} (${t("file")})`;
    return {
      name: model.title,
      file: header.file.name,
      label: own,
      slug,
      size,
      table(base, place) {
        const quants = [];
        quants[place] = quant;
        const file = { command: state => commandOf(header.file, state, index) };
        const vllm = t("only llama.cpp and Ollama are estimated for a GGUF file");
        if (!base) {
          const answer = weightsOnly(own, size);
          return { layers: model.layers, max: longest, quants, file, isWhole: true, vllm, answer };
        }
        const all = base.factors && { ...factors, class: base.factors.class };
        const same = sameLayers(quant, base);
        if (same) quants[place] = { ...quant, kindOf: same.kindOf, split: same.split };
        return { ...base, max: Math.min(base.max, longest), quants, factors: all, file, isWhole: !same, vllm };
      },
    };
  };
})();
