//! `--fetch` of `kbgen fit` and `kbgen new model` against a server on this machine.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::expect;
use crate::gguf_files::{header, tensors};

/// Writes a response for a target, such as `/file?x`, and the requested range.
type Respond = dyn Fn(&mut TcpStream, &str, Option<[usize; 2]>) -> std::io::Result<()> + Send + Sync;

/// Server that records the heads of its requests. Its thread ends with the test.
struct Server {
    address: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(respond: Box<Respond>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let heads = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&heads);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
                let target = head[0].split(' ').nth(1).unwrap().to_string();
                let range = head.iter().find_map(|line| line.strip_prefix("Range: bytes=")).map(|range| {
                    let (start, end) = range.split_once('-').unwrap();
                    [start, end].map(|place| place.parse().unwrap())
                });
                recorded.lock().unwrap().push(head.join("\n"));
                // the client may have closed the connection
                let _ = respond(&mut stream, &target, range);
            }
        });
        Self { address, heads }
    }

    /// Serves these files, with ranges.
    fn files(files: Vec<(&'static str, Vec<u8>)>) -> Self {
        Self::start(Box::new(move |stream, target, range| {
            let found = files.iter().find(|(name, _)| *name == target);
            let Some((_, bytes)) = found else { return answer(stream, "404 Not Found", "", b"") };
            match range {
                None => answer(stream, "200 OK", "", bytes),
                Some([start, _]) if start >= bytes.len() => answer(stream, "416 Range", "", b""),
                Some([start, end]) => {
                    let end = (end + 1).min(bytes.len());
                    let range = format!("Content-Range: bytes {start}-{}/{}\r\n", end - 1, bytes.len());
                    answer(stream, "206 Partial Content", &range, &bytes[start..end])
                }
            }
        }))
    }

    fn fit(&self, arguments: &[&str]) -> Output {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/site");
        self.run(&root, &[&["fit", "--fetch"], arguments].concat())
    }

    fn run(&self, root: &Path, arguments: &[&str]) -> Output {
        let mut command = expect::kbgen();
        command.arg("--root").arg(root).args(arguments);
        command.env("HF_ENDPOINT", &self.address).env("HF_TOKEN", "hf_secret");
        command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1").output().unwrap()
    }

    fn report(&self, model: &str) -> Value {
        let output = self.fit(&[model, "--memory", "1", "--format", "json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn refusal(&self, model: &str) -> String {
        let output = self.fit(&[model]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Returns the targets requested so far.
    fn targets(&self) -> Vec<String> {
        let heads = self.heads.lock().unwrap();
        heads.iter().map(|head| head.split(' ').nth(1).unwrap().to_string()).collect()
    }
}

fn answer(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) -> std::io::Result<()> {
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n")?;
    stream.write_all(body)
}

/// A header with a text before all other metadata.
fn header_with(key: &str, value: &[u8]) -> Vec<u8> {
    let short = header(None, &tensors());
    let entries = u64::from_le_bytes(short[16..24].try_into().unwrap()) + 1;
    let length = |text: &[u8]| (text.len() as u64).to_le_bytes();
    let entry =
        [&length(key.as_bytes())[..], key.as_bytes(), &8_u32.to_le_bytes(), &length(value), value].concat();
    [&short[..16], &entries.to_le_bytes(), &entry, &short[24..]].concat()
}

/// A header with metadata of 2 MiB, such as a vocabulary, before all else.
fn long_header() -> Vec<u8> {
    header_with("pad", &vec![b'x'; 2 << 20])
}

/// A list of files as the hub writes it.
fn list(files: &[&str]) -> Vec<u8> {
    let entry = |path: &&str| json!({ "type": "file", "path": path, "size": 1 });
    Value::Array(files.iter().map(entry).collect()).to_string().into_bytes()
}

const INDEX: &str = "model.safetensors.index.json";
const TREE: &str = "/api/models/o/r-GGUF/tree/main?recursive=true";

#[test]
fn a_header_is_read_in_ranges_from_a_url_a_repository_and_all_parts() {
    let mut whole = long_header();
    // the data, of which only the end of the last range is read
    whole.resize(30 << 20, 0);
    let server = Server::files(vec![
        ("/m.gguf", whole.clone()),
        (
            TREE,
            list(&[
                "README.md",
                "q/m-Q8_0-00001-of-00002.gguf",
                "q/m-Q8_0-00002-of-00002.gguf",
                "mmproj-m.gguf",
            ]),
        ),
        ("/o/r-GGUF/resolve/main/q/m-Q8_0-00001-of-00002.gguf", header(Some([0, 2]), &tensors()[..6])),
        ("/o/r-GGUF/resolve/main/q/m-Q8_0-00002-of-00002.gguf", header(Some([1, 2]), &tensors()[6..])),
    ]);
    let of_url = server.report(&format!("{}/m.gguf", server.address));
    assert_eq!(of_url["model"]["title"], "Small Llama");
    let ranges: Vec<String> = server.heads.lock().unwrap().iter().map(|head| head.to_lowercase()).collect();
    assert_eq!(ranges.len(), 2);
    assert!(
        ranges[0].contains("bytes=0-1048575") && ranges[1].contains("bytes=1048576-5242879"),
        "{ranges:?}"
    );
    let command = of_url["commands"]["llama_cpp"][0].as_str().unwrap();
    assert!(command.starts_with(&format!("llama-server -mu {}/m.gguf -ngl", server.address)), "{command}");

    let of_parts = server.report("hf:o/r-GGUF");
    assert_eq!(of_parts["devices"], of_url["devices"]);
    let command = of_parts["commands"]["llama_cpp"][0].as_str().unwrap();
    let download = "llama-server -hf o/r-GGUF -hff q/m-Q8_0-00001-of-00002.gguf --no-mmproj -ngl";
    assert!(command.starts_with(download), "{command}");
    assert!(server.heads.lock().unwrap().iter().all(|head| !head.contains("hf_secret")));
}

#[test]
fn files_beside_the_model_are_read_from_their_servers() {
    let typed = |kind: &str| header_with("general.type", kind.as_bytes());
    let server = Server::files(vec![
        ("/m.gguf", header(None, &tensors())),
        (TREE, list(&["m-Q8_0.gguf", "m-mmproj.gguf", "lora.gguf"])),
        ("/o/r-GGUF/resolve/main/m-mmproj.gguf", typed("mmproj")),
        ("/o/r-GGUF/resolve/main/lora.gguf", typed("adapter")),
        ("/o/r-GGUF/resolve/main/m-Q8_0.gguf", header(None, &tensors())),
    ]);
    let url = format!("{}/m.gguf", server.address);
    let arguments = [
        [url.as_str(), "--memory"],
        ["1", "--mmproj"],
        ["hf:o/r-GGUF", "--lora"],
        ["hf:o/r-GGUF:lora.gguf", "--draft"],
        ["hf:o/r-GGUF:Q8_0", "--format"],
    ];
    let arguments = [&arguments.concat()[..], &["json"]].concat();
    let output = server.fit(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let files: Vec<&str> =
        report["additions"].as_array().unwrap().iter().map(|each| each["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["m-mmproj.gguf", "lora.gguf", "m-Q8_0.gguf"]);
    let commands = report["commands"]["llama_cpp"].as_array().unwrap();
    let download = format!("curl -fLO {}/o/r-GGUF/resolve/main/m-mmproj.gguf", server.address);
    assert_eq!(commands[0], download);
    let command = commands[3].as_str().unwrap();
    assert!(command.ends_with("--mmproj m-mmproj.gguf --lora lora.gguf -md m-Q8_0.gguf"), "{command}");
    let other = server.fit(&[&url, "--mmproj", "hf:o/r-GGUF:lora.gguf"]);
    let message = String::from_utf8(other.stderr).unwrap();
    assert!(message.contains("lora.gguf: the file is no projector but `adapter` of `llama`"), "{message}");
}

#[test]
fn a_page_is_written_from_an_address() {
    let config = json!({
        "model_type": "llama", "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 1000, "max_position_embeddings": 8192,
    });
    let index =
        json!({ "metadata": { "total_size": 1 }, "weight_map": { "lm_head.weight": "a.safetensors" } });
    let server = Server::files(vec![
        ("/m.gguf", header(None, &tensors())),
        ("/api/models/o/r/tree/main?recursive=true", list(&["config.json", INDEX])),
        ("/o/r/resolve/main/config.json", config.to_string().into_bytes()),
        ("/o/r/resolve/main/model.safetensors.index.json", index.to_string().into_bytes()),
    ]);
    let folder = TempDir::new().unwrap();
    let site = folder.path().join("kb");
    assert!(expect::kbgen().arg("init").arg(&site).output().unwrap().status.success());
    let url = format!("{}/m.gguf", server.address);
    for (slug, from, id) in [("of-url", url.as_str(), "⟦owner/name⟧"), ("of-checkpoint", "hf:o/r", "o/r")]
    {
        let output = server.run(&site, &["new", "model", slug, "--from", from]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("pass `--fetch`"), "{message}");
        let output = server.run(&site, &["new", "model", slug, "--fetch", "--from", from]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let page = fs::read_to_string(site.join(format!("content/models/{slug}.md"))).unwrap();
        for line in [&format!("hf_id: {id}\n"), "  hidden: 512\n", "  kv_heads: 2\n", "  ffn: 1024\n"] {
            assert!(page.contains(line), "{line} in {page}");
        }
    }
}

#[test]
fn several_models_are_listed_and_one_is_selected_by_its_file_or_quantization() {
    let file = header(None, &tensors());
    let files = ["m-Q4_K_M.gguf", "m-UD-Q4_K_M.gguf", "m-Q8_0.gguf", "m-Q8_0-mmproj.gguf", "notes.txt"];
    let server = Server::files(vec![
        (TREE, list(&files)),
        ("/o/r-GGUF/resolve/main/m-Q8_0.gguf", file.clone()),
        ("/api/models/o/none/tree/main?recursive=true", list(&["notes.txt"])),
    ]);
    let message = server.refusal("hf:o/r-GGUF");
    assert!(
        message.contains("o/r-GGUF has 3 models; pass one of:\n  hf:o/r-GGUF:m-Q4_K_M.gguf\n"),
        "{message}"
    );
    assert!(!message.contains("mmproj"), "{message}");
    for model in ["hf:o/r-GGUF:m-Q8_0.gguf", "hf:o/r-GGUF:q8_0", "https://huggingface.co/o/r-GGUF:Q8_0"] {
        assert_eq!(server.report(model)["settings"]["quant"], "Q8_0", "{model}");
    }
    let page = "https://huggingface.co/o/r-GGUF/blob/main/m-Q8_0.gguf";
    assert_eq!(server.report(page)["settings"]["quant"], "Q8_0", "the page of a file");
    for (model, problem) in [
        ("hf:o/r-GGUF:Q4_K_M", "o/r-GGUF has 2 models; pass one of"),
        ("hf:o/r-GGUF:Q5_K_M", "no file `Q5_K_M` in o/r-GGUF; it has:"),
        ("hf:o/none", "o/none has neither GGUF files nor a checkpoint"),
        ("hf:o/gone", "/api/models/o/gone/tree/main does not exist (HTTP 404)"),
        ("hf:o/r/../x", "invalid repository"),
        ("qwen3:8b", "`--fetch` needs an address"),
    ] {
        let message = server.refusal(model);
        assert!(message.contains(problem), "{model}: {message}");
    }
}

#[test]
fn of_a_checkpoint_the_configuration_and_the_index_are_read() {
    let names = ["model.embed_tokens.weight", "model.layers.0.self_attn.q_proj.weight", "lm_head.weight"];
    let map: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_string(), json!("model-00001-of-00001.safetensors"))).collect();
    let total: u64 = 123_456_000;
    let index = json!({ "metadata": { "total_size": total }, "weight_map": map });
    let config = json!({
        "model_type": "llama", "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 1000, "max_position_embeddings": 8192,
    });
    let server = Server::files(vec![
        ("/api/models/o/r/tree/main?recursive=true", list(&["config.json", INDEX, "model.safetensors"])),
        ("/o/r/resolve/main/config.json", config.to_string().into_bytes()),
        ("/o/r/resolve/main/model.safetensors.index.json", index.to_string().into_bytes()),
    ]);
    let output = server.fit(&["hf:o/r", "--memory", "8", "--format", "json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["other_engines"]["vllm"]["weights_bytes"], total);
    assert!(report["commands"]["vllm"][0].as_str().unwrap().starts_with("vllm serve o/r "));
    assert_eq!(server.targets().len(), 3, "{:?}", server.targets());
}

#[test]
fn a_server_that_ignores_ranges_is_read_as_far_as_needed() {
    let server = Server::start(Box::new(|stream, target, _| {
        write!(stream, "HTTP/1.1 200 OK\r\n\r\n")?;
        if target == "/m.gguf" {
            stream.write_all(&long_header())?;
        } else {
            // an array of 2^40 strings of 1,000 bytes
            let key = [&1_u64.to_le_bytes()[..], b"k", &9_u32.to_le_bytes(), &8_u32.to_le_bytes()].concat();
            let counts = [0_u64, 1].map(u64::to_le_bytes).concat();
            stream
                .write_all(&[b"GGUF\x03\0\0\0", &counts[..], &key, &(1_u64 << 40).to_le_bytes()].concat())?;
        }
        let text = [&1000_u64.to_le_bytes()[..], &[b'x'; 1000]].concat().repeat(100);
        loop {
            stream.write_all(&text)?;
        }
    }));
    assert_eq!(server.report(&format!("{}/m.gguf", server.address))["model"]["title"], "Small Llama");
    let message = server.refusal(&format!("{}/endless.gguf", server.address));
    assert!(message.contains("no complete header in the first 256 MiB"), "{message}");
    assert_eq!(server.targets().len(), 2);
}

#[test]
fn a_response_without_a_model_is_refused_with_the_reason() {
    let server = Server::start(Box::new(|stream, target, range| {
        let page = "Content-Type: text/html; charset=utf-8\r\n";
        match target.split('?').next().unwrap() {
            "/401" => answer(stream, "401 Unauthorized", "", b""),
            "/403" => answer(stream, "403 Forbidden", page, b"<html>"),
            "/429" => answer(stream, "429 Too Many Requests", "Retry-After: 30\r\n", b""),
            "/503" => answer(stream, "503 Service Unavailable", "", b""),
            "/page" => answer(stream, "200 OK", page, b"<!doctype html>"),
            "/pointer" => answer(stream, "200 OK", "", b"version https://git-lfs.github.com/spec/v1\n"),
            "/loop" => answer(stream, "302 Found", "Location: /loop\r\n", b""),
            "/file" => answer(stream, "302 Found", "Location: file:///etc/passwd\r\n", b""),
            "/cut" => write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nGGUF"),
            "/other" => answer(stream, "206 Partial Content", "Content-Range: bytes 9-99/100\r\n", &[0; 91]),
            "/headers" => write!(stream, "HTTP/1.1 200 OK\r\n{}", "X-Padding: x\r\n".repeat(10_000)),
            "/first" if range.is_some_and(|[start, _]| start == 0) => {
                let range = format!("Content-Range: bytes 0-99/{}\r\n", 9 << 20);
                answer(stream, "206 Partial Content", &range, &header(None, &tensors())[..100])
            }
            "/first" => answer(stream, "200 OK", "", b"GGUF"),
            _ => write!(stream, "SSH-2.0-OpenSSH_9.9\r\n"),
        }
    }));
    for (path, problem) in [
        ("401", "no access to"),
        ("403?signature=secret", "/403 (HTTP 403)"),
        ("429", "too many requests (HTTP 429); try again in 30 s"),
        ("503", "the server answers with HTTP 503"),
        ("page", "is a web page and not a file"),
        ("pointer", "not a GGUF file: it begins with `vers`"),
        ("loop", "more than 5 redirects"),
        ("file", "redirect to `file:`, which is not secure"),
        ("cut", "(18)"),
        ("other", "the server sends another range than requested"),
        ("first", "the server does not support ranges"),
        ("headers", "the server sends endless headers"),
        ("ssh", "cannot fetch"),
    ] {
        let message = server.refusal(&format!("{}/{path}", server.address));
        assert!(message.contains(problem), "{path}: {message}");
        assert!(!message.contains("secret"), "{message}");
    }
    assert!(
        server.refusal("http://127.0.0.1:1/m.gguf").contains("cannot fetch http://127.0.0.1:1/m.gguf: (7)")
    );
    assert!(server.heads.lock().unwrap().iter().all(|head| !head.contains("hf_secret")));
}
