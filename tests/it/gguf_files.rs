//! `kbgen fit` of GGUF files: headers of a small Llama are written here, in one file or several.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::expect;

/// Hidden width, feed-forward width and vocabulary.
const SIZES: [u64; 3] = [512, 1024, 1000];

fn text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

/// A header: the metadata of a Llama of two layers and those of the split, then these tensors, of the type Q8_0.
pub fn header(split: Option<[u64; 2]>, tensors: &[(String, [u64; 2])]) -> Vec<u8> {
    let [hidden, ffn, _] = SIZES;
    let mut numbers = vec![
        ("llama.block_count", 2),
        ("llama.context_length", 8192),
        ("llama.embedding_length", hidden),
        ("llama.feed_forward_length", ffn),
        ("llama.attention.head_count", 4),
        ("llama.attention.head_count_kv", 2),
        ("general.file_type", 7),
    ];
    if let Some([number, count]) = split {
        numbers.extend([("split.no", number), ("split.count", count)]);
    }
    let mut bytes = b"GGUF\x03\0\0\0".to_vec();
    bytes.extend((tensors.len() as u64).to_le_bytes());
    bytes.extend((numbers.len() as u64 + 2).to_le_bytes());
    for (key, value) in [("general.architecture", "llama"), ("general.name", "Small Llama")] {
        text(&mut bytes, key);
        bytes.extend(8_u32.to_le_bytes());
        text(&mut bytes, value);
    }
    for (key, value) in numbers {
        text(&mut bytes, key);
        bytes.extend(4_u32.to_le_bytes());
        bytes.extend((value as u32).to_le_bytes());
    }
    for (name, dimensions) in tensors {
        text(&mut bytes, name);
        bytes.extend(2_u32.to_le_bytes());
        dimensions.iter().for_each(|size| bytes.extend(size.to_le_bytes()));
        bytes.extend(8_u32.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
    }
    bytes
}

pub fn tensors() -> Vec<(String, [u64; 2])> {
    let [hidden, ffn, vocabulary] = SIZES;
    let mut tensors = vec![("token_embd.weight".to_string(), [hidden, vocabulary])];
    for layer in 0..2 {
        let of_layer = [
            ("attn_q", [hidden, hidden]),
            ("attn_k", [hidden, hidden / 2]),
            ("attn_v", [hidden, hidden / 2]),
            ("attn_output", [hidden, hidden]),
            ("ffn_gate", [hidden, ffn]),
            ("ffn_up", [hidden, ffn]),
            ("ffn_down", [ffn, hidden]),
        ];
        tensors.extend(of_layer.map(|(name, sizes)| (format!("blk.{layer}.{name}.weight"), sizes)));
    }
    tensors.push(("output.weight".to_string(), [hidden, vocabulary]));
    tensors
}

fn fit(file: &str, arguments: &[&str], input: Option<&Path>) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/site");
    let input = input.map_or_else(Stdio::null, |path| fs::File::open(path).unwrap().into());
    expect::kbgen().arg("--root").arg(root).args(["fit", file]).args(arguments).stdin(input).output().unwrap()
}

fn json(file: &str, input: Option<&Path>) -> Value {
    let output = fit(file, &["--memory", "1", "--format", "json"], input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the report for these arguments.
fn report(file: &str, arguments: &[&str]) -> Value {
    let output = fit(file, &[arguments, &["--format", "json"]].concat(), None);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refusal(file: &str, arguments: &[&str]) -> String {
    let output = fit(file, arguments, None);
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_file_a_split_file_a_folder_and_first_bytes_give_the_same_report() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let whole = path("small llama.gguf");
    fs::write(&whole, header(None, &tensors())).unwrap();
    let report = json(&whole, None);
    assert_eq!(report["model"]["title"], "Small Llama");
    assert_eq!(report["settings"]["quant"], "Q8_0");
    assert_eq!(report["verdict"], "fits");
    // 34 bytes hold 32 numbers; the embedding stays in the memory of the host
    let [hidden, ffn, vocabulary] = SIZES;
    let layers = 2 * (3 * hidden * hidden + 3 * hidden * ffn);
    let bytes = (layers + hidden * vocabulary) * 34 / 32;
    assert_eq!(report["devices"][0]["weights_bytes"], bytes);
    // two layers, K and V, two heads of 128, F16
    assert_eq!(report["devices"][0]["cache_bytes"], 2 * 2 * 256 * 2 * 8192);
    let command = report["commands"]["llama_cpp"][0].as_str().unwrap();
    assert!(command.starts_with(&format!("llama-server -m '{whole}'")), "{command}");

    let same = |other: Value| {
        assert_eq!((&other["devices"], &other["host"]), (&report["devices"], &report["host"]));
    };
    same(json("-", Some(Path::new(&whole))));
    same(json(&folder.path().to_string_lossy(), None));
    let parts = TempDir::new().unwrap();
    let part = |number| parts.path().join(format!("m-0000{number}-of-00002.gguf"));
    fs::write(part(1), header(Some([0, 2]), &tensors()[..6])).unwrap();
    fs::write(part(2), header(Some([1, 2]), &tensors()[6..])).unwrap();
    for path in [part(1), part(2), parts.path().to_path_buf()] {
        same(json(&path.to_string_lossy(), None));
    }
    fs::remove_file(part(1)).unwrap();
    let message = refusal(&part(2).to_string_lossy(), &[]);
    assert!(message.contains("m-00001-of-00002.gguf"), "{message}");
}

#[test]
fn a_file_without_a_number_of_kv_heads_has_as_many_as_heads() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("model.gguf");
    let wide = tensors().into_iter().map(|(name, [columns, rows])| match name.contains("attn_") {
        true => (name, [columns, columns]),
        false => (name, [columns, rows]),
    });
    let mut bytes = header(None, &wide.collect::<Vec<_>>());
    let key = b"attention.head_count_kv";
    let at = bytes.windows(key.len()).position(|part| part == key).unwrap();
    bytes[at..at + key.len()].copy_from_slice(b"attention.head_count_no");
    fs::write(&file, bytes).unwrap();
    // two layers, K and V, four heads of 128, F16
    assert_eq!(json(&file.to_string_lossy(), None)["devices"][0]["cache_bytes"], 2 * 2 * 512 * 2 * 8192);
}

#[test]
fn what_cannot_be_estimated_is_refused_with_the_reason() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (text, cut, good) = (path("text.gguf"), path("cut.gguf"), path("good.gguf"));
    fs::write(&text, "a text").unwrap();
    fs::write(&cut, &header(None, &tensors())[..200]).unwrap();
    fs::write(&good, header(None, &tensors())).unwrap();
    let partial = path("partial/no-layer-1.gguf");
    fs::create_dir(folder.path().join("partial")).unwrap();
    let first: Vec<_> = tensors().into_iter().filter(|(name, _)| !name.starts_with("blk.1.")).collect();
    fs::write(&partial, header(None, &first)).unwrap();
    for (file, arguments, reason) in [
        (partial.as_str(), [].as_slice(), "every layer of this architecture has attention"),
        (&text, &[], "not a GGUF file: it begins with `a te`"),
        (&cut, &[], "the file ends within its header"),
        (&good, &["--quant", "Q4_K_M"], "`--quant` does not apply to a file"),
        (&good, &["--ctx", "9000"], "supports 1 to 8,192 tokens"),
        (&good, &["--cpu-moe"], "has no experts"),
        (&path("missing.gguf"), &[], "missing.gguf"),
        (&path(""), &[], "3 `.gguf` files in"),
    ] {
        let message = refusal(file, arguments);
        assert!(message.contains(reason), "{message}");
    }
}

/// Writes a checkpoint of a Llama of two layers.
fn checkpoint(folder: &Path) {
    let [hidden, ffn, vocabulary] = SIZES;
    let mut tensors = vec![("model.embed_tokens.weight".to_string(), vec![vocabulary, hidden])];
    for layer in 0..2 {
        let of_layer = [
            ("self_attn.q_proj", vec![hidden, hidden]),
            ("self_attn.k_proj", vec![hidden / 2, hidden]),
            ("self_attn.v_proj", vec![hidden / 2, hidden]),
            ("self_attn.o_proj", vec![hidden, hidden]),
            ("mlp.gate_proj", vec![ffn, hidden]),
            ("mlp.up_proj", vec![ffn, hidden]),
            ("mlp.down_proj", vec![hidden, ffn]),
        ];
        tensors.extend(of_layer.map(|(name, shape)| (format!("model.layers.{layer}.{name}.weight"), shape)));
    }
    tensors.push(("lm_head.weight".to_string(), vec![vocabulary, hidden]));
    let mut start = 0;
    let mut header = serde_json::Map::new();
    for (name, shape) in tensors {
        let end = start + 2 * shape.iter().product::<u64>();
        header.insert(
            name,
            serde_json::json!({ "dtype": "BF16", "shape": shape, "data_offsets": [start, end] }),
        );
        start = end;
    }
    let header = Value::Object(header).to_string();
    let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
    fs::write(folder.join("model-00001-of-00001.safetensors"), bytes).unwrap();
    let index = serde_json::json!({ "weight_map": { "lm_head.weight": "model-00001-of-00001.safetensors" } });
    fs::write(folder.join("model.safetensors.index.json"), index.to_string()).unwrap();
    let config = serde_json::json!({
        "model_type": "llama", "hidden_size": hidden, "intermediate_size": ffn, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": vocabulary,
        "max_position_embeddings": 8192,
    });
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
}

#[test]
fn a_checkpoint_has_the_weights_of_its_headers() {
    let folder = TempDir::new().unwrap();
    checkpoint(folder.path());
    let path = folder.path().to_str().unwrap();
    let found = report(path, &["--memory", "8", "--quant", "Q8_0"]);
    let [hidden, ffn, vocabulary] = SIZES;
    let layer = 3 * hidden * hidden + 3 * hidden * ffn;
    let stored = 2 * (2 * vocabulary * hidden + 2 * layer);
    let vllm = &found["other_engines"]["vllm"];
    assert_eq!(vllm["weights_bytes"], stored);
    assert_eq!(vllm["weight_type"], "as stored");
    assert_eq!(found["settings"]["quant"], "Q8_0");
    let shared = report(path, &["--memory", "8", "--tensor-parallel-size", "1"]);
    assert_eq!(shared["other_engines"]["vllm"]["weights_bytes"], stored);
    fs::remove_file(folder.path().join("model-00001-of-00001.safetensors")).unwrap();
    let refused = String::from_utf8(fit(path, &[], None).stderr).unwrap();
    assert!(refused.contains("model-00001-of-00001.safetensors"), "{refused}");
}

#[test]
fn files_beside_the_model_take_memory_of_the_first_device() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("model.gguf");
    fs::write(&file, header(None, &tensors())).unwrap();
    let path = file.to_str().unwrap();
    let alone = report(path, &["--memory", "8"]);
    let drafted = report(path, &["--memory", "8", "-md", path, "-c", "4k"]);
    let addition = &drafted["additions"][0];
    assert_eq!(addition["kind"], "draft model");
    assert_eq!(addition["weights_bytes"], alone["devices"][0]["weights_bytes"]);
    // half of the default context
    assert_eq!(
        addition["cache_bytes"].as_u64().unwrap() * 2,
        alone["devices"][0]["cache_bytes"].as_u64().unwrap()
    );
    let parts =
        ["weights_bytes", "cache_bytes", "compute_bytes"].map(|part| addition[part].as_u64().unwrap());
    assert_eq!(drafted["devices"][0]["other_bytes"].as_u64().unwrap(), parts.iter().sum::<u64>());
    assert!(drafted["commands"]["llama_cpp"][0].as_str().unwrap().contains(" -md "));
    let refused = String::from_utf8(fit(path, &["--memory", "8", "--mmproj", path], None).stderr).unwrap();
    assert!(refused.contains("the file is no projector but `model` of `llama`"), "{refused}");
}

#[test]
fn further_models_take_memory_of_the_first_device() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("model.gguf");
    fs::write(&file, header(None, &tensors())).unwrap();
    let path = file.to_str().unwrap();
    let alone = report(path, &["--memory", "8"]);
    let both = report(path, &[path, "--memory", "8"]);
    let addition = &both["additions"][0];
    for part in ["weights_bytes", "cache_bytes", "compute_bytes"] {
        assert_eq!(addition[part], alone["devices"][0][part]);
    }
    // each process has a context of the driver
    assert_eq!(addition["driver_bytes"], alone["devices"][0]["driver_bytes"][1]);
    let need = |report: &Value, part: &str| report["devices"][0][part].as_u64().unwrap();
    let other = need(&both, "other_bytes");
    assert_eq!(other, need(&alone, "total_bytes") + addition["driver_bytes"].as_u64().unwrap());
    let free = |report: &Value| report["margin_bytes"].as_u64().unwrap();
    assert_eq!(free(&alone) - free(&both), other);
    assert!(addition["command"].as_str().unwrap().ends_with("--port 8081"));
    let text =
        String::from_utf8(fit(path, &[path, "--remaining-for", "6", "--memory", "8"], None).stdout).unwrap();
    assert!(text.contains("plus the model Small Llama, Q8_0:") && text.contains("It is tight"), "{text}");
}

#[test]
fn a_page_is_written_from_a_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("model.gguf");
    fs::write(&file, header(None, &tensors())).unwrap();
    let site = folder.path().join("kb");
    let run = |arguments: &[&str]| expect::kbgen().args(arguments).output().unwrap();
    assert!(run(&["init", site.to_str().unwrap()]).status.success());
    let new =
        ["--root", site.to_str().unwrap(), "new", "model", "small-llama", "--from", file.to_str().unwrap()];
    let created = run(&new);
    assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
    let page = fs::read_to_string(site.join("content/models/small-llama.md")).unwrap();
    for line in
        ["  name: llama", "  layers: F2", "  hidden: 512", "  kv_heads: 2", "  ffn: 1024", "  vocab: 1000"]
    {
        assert!(page.contains(line), "{line} in {page}");
    }
}
