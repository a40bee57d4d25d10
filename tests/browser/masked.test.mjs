// What the links to a case and the requests for a page contain: node --test tests/browser/masked.test.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

globalThis.kbgen = {};
vm.runInThisContext(readFileSync(new URL("../../static/js/case.js", import.meta.url), "utf8"));

// Put together here, so that nobody takes this file for one that leaks tokens.
const letters = "aBdEgHjKmNpQsTvWyZbDfGhJkMnPqRsTuVw";
const mixed = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bD1fG3hJ5";
const base64 = "Zm9vOmJhcmJheg==";

const SECRET = [
  `token hf_${letters} is invalid`,
  `ghs_${mixed}`,
  `gho_${mixed}`,
  `sk-proj-${mixed}`,
  `sk-ant-api03-${mixed}`,
  `AKIA2B4D6F8H0J2L4N6P`,
  `AIza${mixed}`,
  `glpat-${mixed}`,
  `xoxb-${mixed}`,
  `nvapi-${mixed}`,
  `eyJ${mixed}.eyJ${mixed}.${mixed}`,
  `HF_TOKEN=${letters}`,
  `export OPENAI_API_KEY="${letters}"`,
  `'api_key': '${letters}'`,
  `{\\"apiKey\\": \\"${letters}\\"}`,
  `llama-server -m model.gguf --api-key ${letters} --port 8080`,
  `vllm serve MODEL --api-key=${letters}`,
  `password: ${letters}`,
  `POSTGRES_PASSWORD=${letters}`,
  `aws_secret_access_key = ${letters}`,
  `Authorization: Bearer ${letters}`,
  `Authorization: Basic ${base64} `,
  `curl -H "Authorization: Bearer ${letters}" http://127.0.0.1:8080/health`,
  `{"authorization": "Bearer ${letters}"}`,
  `"headers": {\\"Authorization\\": \\"Bearer ${letters}\\"}`,
  `sent header bearer ${letters}`,
  `x-api-key: ${letters}`,
  `Cookie: session=${letters}; user=${letters}`,
  `https://jane:${letters}@example.org/simple`,
  `postgres://kb:${letters}@db:5432/kb`,
  `GET https://cdn.example.org/model?X-Amz-Credential=${letters}&X-Amz-Signature=${mixed}`,
  `curl -u jane:${letters} https://example.org`,
  `"auth": "${base64}"`,
  `-----BEGIN OPENSSH PRIVATE KEY-----\n${mixed}\n${letters}\n-----END OPENSSH PRIVATE KEY-----`,
  `-----BEGIN RSA PRIVATE KEY-----\n${mixed}\n${letters}`,
  `${mixed}\n${letters}\n-----END RSA PRIVATE KEY-----\nafter`,
];

for (const text of SECRET) {
  test(`nobody else reads the secret of ${text.slice(0, 60)}`, () => {
    const masked = kbgen.masked(text, 1500);
    for (const secret of [letters, mixed, base64, "2B4D6F8H"]) assert.ok(!masked.includes(secret), masked);
    assert.match(masked, /\[secret\]/);
  });
}

for (const [text, masked] of [
  ["jane.doe@desk:~/llama.cpp$ make", "[name]@[host]:~/llama.cpp$ make"],
  ["(venv) jane@desk:/srv$ make", "(venv) [name]@[host]:/srv$ make"],
  ["[jane@desk llama.cpp]$ make", "[[name]@[host] llama.cpp]$ make"],
  ["mail jane@example.org", "mail [address]"],
  ["/home/jane/models/a.gguf", "/home/[name]/models/a.gguf"],
  ["/Users/jane/models", "/Users/[name]/models"],
  ["C:\\Users\\Jane Doe\\models", "C:\\Users\\[name]\\models"],
  ['"C:\\\\Users\\\\jane\\\\models"', '"C:\\\\Users\\\\[name]\\\\models"'],
  ["c:/Users/jane/models", "c:/Users/[name]/models"],
  ["USER=jane HOSTNAME=desk", "USER=[name] HOSTNAME=[name]"],
  ["from 192.168.1.20:8080 and 2001:db8:0:1:2:3:4:5", "from [ip]:8080 and [ip]"],
  ["ether aa:bb:cc:dd:ee:ff and fe80::1ff:fe23", "ether [ip] and [ip]"],
]) {
  test(`${text} shows no name`, () => assert.equal(kbgen.masked(text, 1500), masked));
}

for (const text of [
  "print_info: EOS token = 128009 '<|eot_id|>'",
  "hf_hub_download() got an unexpected keyword argument",
  "nvidia-cublas-cu12==12.4.5.8",
  "expecting library version 9.2.0.5",
  "52.17.408.135 W decode: failed to find a memory slot",
  "SyntaxError: Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
  "vite@5.4.10 build",
  "main: server is listening on http://127.0.0.1:8080 - starting the main loop",
  "ggml_cuda_init: found 1 CUDA devices: c10::cuda::CUDACachingAllocator, std::bad_alloc",
  "Bus-Id 00000000:01:00.0 at 12:34:56",
  "llama-server --max-tokens 512 -n 5",
  "docker run --user 1000:1000 IMAGE",
  "n_tokens = 2048, batch.n_tokens = 512, token_embd.weight",
]) {
  test(`${text} has nothing to hide`, () => assert.equal(kbgen.masked(text, 1500), text));
}

test("half of a token at the cut is left out", () => {
  for (const separator of ["\n", " "]) {
    for (let cut = 1; cut < 40; cut++) {
      const end = `${separator}${"x ".repeat(2000)}`.slice(0, 4 * 100 - cut);
      assert.ok(!kbgen.masked(`${"y ".repeat(500)}hf_${letters}${end}`, 100).includes(letters.slice(-cut)));
    }
  }
});

test("a long line is masked in bounded time", () => {
  for (const piece of ["a", "a@", "1.", "a:", "/Users/", "token=", "-----BEGIN ", "eyJ", "(", "C:\\"]) {
    kbgen.masked(piece.repeat(200000), 1500);
  }
});
