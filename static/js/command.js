// Commands for the settings of the calculator, by inference engine, with every computed value explicit.
// llama-server: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md. With `-np`, slots share one
// cache only with `--kv-unified`. Ollama: https://github.com/ollama/ollama/blob/main/docs/modelfile.mdx, faq.mdx and
// llm/llama_server.go; its batch grows above 4,096 tokens unless `num_batch` is set. vLLM: `vllm serve --help`.
(() => {
  "use strict";
  const { t } = kbgen;
  const ALL = 999;

  // The name of an opened file may contain anything. Control characters could end the line or the paste in a terminal.
  const printable = name => name.replace(/\p{Cc}/gu, " ");
  /** A file name as one word of PowerShell, where curly quotes also end a string, or of a POSIX shell. */
  kbgen.quoteName = (name, system) => {
    const word = printable(name).replace(/^-/, "./-");
    if (/^[\w.+/-]+$/.test(word)) return word;
    return `'${system === "windows" ? word.replace(/['‘’‚‛]/g, "$&$&") : word.replace(/'/g, "'\\''")}'`;
  };

  const layersOf = setting => (setting.layers === null ? ALL : setting.layers);
  function argumentsOf(state, setting, about) {
    const words = [`-m ${kbgen.quoteName(about.file, state.os)}`, `-ngl ${layersOf(setting)}`, `-c ${state.ctx}`];
    if (state.runner === "server") words.push(`-np ${state.slots}${state.slots > 1 ? " --kv-unified" : ""}`);
    if (about.table.embeds) words.push("--embeddings");
    words.push(
      `-ctk ${about.kv[setting.k]}`,
      `-ctv ${about.kv[setting.v]}`,
      `-fa ${about.table.unfused ? "off" : "on"}`,
    );
    // In PowerShell a comma separates the items of a list.
    const quote = state.os === "windows" ? "'" : "";
    if (setting.shares.length > 1) words.push(`-ts ${quote}${setting.shares.join(",")}${quote}`);
    if (setting.experts === "all" || setting.experts === about.table.layers) words.push("--cpu-moe");
    else if (setting.experts) words.push(`--n-cpu-moe ${setting.experts}`);
    return words.join(" ");
  }
  function ollama(state, setting, about) {
    const number = (name, value) => `PARAMETER ${name} ${value}`;
    const lines = [
      `FROM ./${printable(about.file)}`,
      number("num_ctx", state.ctx),
      number("num_batch", 512),
      number("num_gpu", layersOf(setting)),
    ];
    const several =
      setting.shares.length > 1 ? t(" It splits the layers by free memory, so the actual split may differ.") : "";
    const type = about.kv[setting.k];
    const server =
      state.os === "windows"
        ? `$env:OLLAMA_FLASH_ATTENTION='1'; $env:OLLAMA_KV_CACHE_TYPE='${type}'; ollama serve`
        : `OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=${type} ollama serve`;
    return [
      { label: t("Ollama server"), text: server },
      { label: t("Modelfile for ollama create"), text: lines.join("\n") },
      {
        note:
          t(
            "One request at a time (the default). Without num_batch, Ollama uses larger batches and more memory above 4,096 tokens if there is room.",
          ) + several,
      },
    ];
  }
  function vllm(state, setting, about) {
    const words = [
      `vllm serve ${about.table.hf || "MODEL"}`,
      `--max-model-len ${state.ctx}`,
      `--gpu-memory-utilization ${state.util / 100}`,
    ];
    if (state.devices.length > 1) words.push(`--tensor-parallel-size ${state.devices.length}`);
    if (state.fp8) words.push("--kv-cache-dtype fp8");
    /** @type {ReturnType<typeof kbgen.commands>} */
    const all = [{ label: "vLLM", text: words.join(" ") }];
    const type = about.dtypes[state.dtype];
    if (state.dtype > 0) {
      all.push({
        note: t("Enter the name of a repository with {type} weights; vLLM detects the type.", { type }),
      });
    }
    return all;
  }

  /**
   * The commands in order, as {label, text} and {note}: `state` and `setting` are those of the calculator, `about`
   * is {file, table, kv, dtypes}.
   */
  kbgen.commands = (state, setting, about) => {
    if (state.runner === "ollama") return ollama(state, setting, about);
    if (state.runner === "vllm") return vllm(state, setting, about);
    const text = argumentsOf(state, setting, about);
    if (state.runner === "server") return [{ label: "llama.cpp", text: `llama-server ${text}` }];
    return [
      { label: t("Arguments for other llama.cpp programs"), text },
      {
        note: t(
          "For programs that may need the logits of every token, such as llama-perplexity, for bindings with the same default, and for servers built before June 2026.",
        ),
      },
    ];
  };
})();
