//! Pages, data, calls in prose and `kbgen fit` give the same results.

use std::fs;
use std::path::Path;
use std::process::Command;

use kbgen::files::Outputs;
use kbgen::load;
use kbgen::pipeline;
use serde_json::Value;

use crate::expect::{options, repository};

const MODELS: [(&str, &str, &str); 3] = [
    ("llama", "llama-3.1-8b-instruct", "Q4_K_M"),
    ("gpt", "gpt-oss-20b", "MXFP4"),
    ("qwen3", "qwen3-30b-a3b", "Q4_K_M"),
];
/// Model that returns vectors: family, slug and title.
const EMBEDDING: (&str, &str, &str) = ("bge", "bge-small-en-v1.5", "BGE Small EN v1.5");
const DEVICES: [(&str, &str); 3] =
    [("geforce-rtx-3060-12-gb", "12 GB"), ("tesla-t4", "16 GB"), ("geforce-rtx-4090", "24 GB")];
const QUANTS: [&str; 4] = ["Q4_K_M", "Q8_0", "F16", "MXFP4"];

/// Builds a site of these models and devices with a guide that uses their figures.
fn site(root: &Path) -> Outputs {
    let write = |path: String, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let head = |path: String| {
        let text = fs::read_to_string(repository(&path)).unwrap();
        let end = text[4..].find("\n---\n").unwrap() + 9;
        // Reported speeds name models that this site does not have.
        let lines =
            text[..end].lines().filter(|line| *line != "benchmarks:" && !line.starts_with("  - {model: "));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    write("site.toml".into(), "title = \"T\"\nbase_url = \"https://kb.example/\"\npacks = [\"llm\"]\n");
    for (family, slug, _) in MODELS.into_iter().chain([EMBEDDING]) {
        write(
            format!("content/models/{family}/{slug}.md"),
            &head(format!("content/models/{family}/{slug}.md")),
        );
    }
    for (slug, _) in DEVICES {
        write(
            format!("content/hardware/nvidia/{slug}.md"),
            &head(format!("content/hardware/nvidia/{slug}.md")),
        );
    }
    for quant in QUANTS {
        let page = format!(
            "---\ntitle: {quant}\ngguf_type: {quant}\nfamily: k-quant\nsources: [\"https://kb.example/\"]\n---\nText.\n"
        );
        write(format!("content/quants/{}.md", quant.to_lowercase().replace('_', "-")), &page);
    }
    let call = |gpu: &str| {
        format!(
            "{gpu}: {{{{ fit(\"llama-3.1-8b-instruct\", \"Q4_K_M\", gpu=\"{gpu}\").max_ctx }}}} tokens.\n\n"
        )
    };
    let calls: String = DEVICES.iter().map(|(slug, _)| call(slug)).collect();
    let compute = "{{ fit(\"llama-3.1-8b-instruct\", \"Q4_K_M\").compute }}";
    write("content/pages/about.md".into(), &format!("---\ntitle: About\n---\n{calls}Scratch: {compute}.\n"));
    let (sources, faults) = load::read(root).unwrap();
    let built = pipeline::build(&sources, faults, &options()).unwrap();
    built.outputs.unwrap_or_else(|| panic!("{:?}", built.analysis.findings))
}

fn fit(root: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kbgen"));
    let output =
        command.arg("--root").arg(root).arg("fit").args(arguments).args(["--format", "json"]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(outputs: &Outputs, path: &str) -> String {
    String::from_utf8(outputs.get(path).unwrap_or_else(|| panic!("no {path}")).to_vec()).unwrap()
}

/// Returns the first verdict in the table row with this title, with its note.
fn row(page: &str, title: &str) -> (String, String) {
    let is_titled = |row: &&str| {
        let head = row.split_once("</th>").map_or("", |(head, _)| head);
        row.contains("verdict") && head.trim_end_matches("</a>").ends_with(&format!(">{title}"))
    };
    let row = page.split("<tr").find(is_titled);
    let row = row.unwrap_or_else(|| panic!("no row of {title}"));
    let after = |text: &str, mark: &str| text.split_once(mark).map(|(_, rest)| rest.to_string());
    let cell = after(row, "verdict verdict-").unwrap();
    let cell = cell.split("</td>").next().unwrap().to_string();
    let verdict = cell.split('"').next().unwrap().to_string();
    let note = after(&cell, "class=\"upto\">").unwrap_or_default();
    (verdict, note.split('<').next().unwrap_or_default().to_string())
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

#[test]
fn pages_and_the_terminal_answer_alike() {
    let folder = tempfile::tempdir().unwrap();
    let outputs = site(folder.path());
    let about = text(&outputs, "about/index.html");
    for (_, model, quant) in MODELS {
        let page = text(&outputs, &format!("models/{model}/index.html"));
        let data: Value = serde_json::from_str(&text(&outputs, &format!("models/{model}.json"))).unwrap();
        assert_eq!(data["runs_on"]["quantization"], quant);
        let buffers = data["memory"]["buffers"].as_array().unwrap();
        let usual = buffers.iter().find(|row| row["cache_type"] == "f16" && row["ctx"] == 8192).unwrap();
        for (device, size) in DEVICES {
            let answer = fit(folder.path(), &[model, "--gpu", device, "--quant", quant]);
            let own = &answer["devices"][0];
            let (verdict, note) = row(&page, size);
            let figures = (own["compute_bytes"].clone(), own["cache_bytes"].clone());
            assert_eq!(figures, (usual["compute_bytes"].clone(), usual["cache_bytes"].clone()), "{model}");
            let card = text(&outputs, &format!("hardware/{device}/index.html"));
            let model_title = answer["model"]["title"].as_str().unwrap();
            assert_eq!(row(&card, model_title).0, verdict, "{model} on {device}");
            match answer["verdict"].as_str().unwrap() {
                "offload" => assert!(verdict == "part" || verdict == "no", "{model} on {device}: {verdict}"),
                other => assert_eq!(other, verdict, "{model} on {device}"),
            }
            if verdict == "fits" {
                let most = answer["largest_context"].to_string();
                assert_eq!(digits(&note), most, "{model} on {device}");
                assert!(model != "llama-3.1-8b-instruct" || digits(&about).contains(&most), "{about}");
            }
            if note == "experts in RAM" {
                let moved = fit(folder.path(), &[model, "--gpu", device, "--quant", quant, "--cpu-moe"]);
                assert_eq!(moved["verdict"], "fits", "{model} on {device}");
            }
        }
    }
}

#[test]
fn a_model_is_recommended_in_the_type_that_it_is_released_in() {
    let folder = tempfile::tempdir().unwrap();
    let outputs = site(folder.path());
    for (device, _) in DEVICES {
        let answer = fit(folder.path(), &["gpt-oss-20b", "--gpu", device]);
        assert_eq!(answer["settings"]["quant"], "MXFP4", "{device}");
        let offered: Vec<&Value> =
            answer["quantizations"].as_array().unwrap().iter().map(|row| &row["quant"]).collect();
        assert_eq!(offered, ["MXFP4"]);
    }
    let table = text(&outputs, "data/fit/gpt-oss-20b.js");
    assert!(table.contains("\"as\":\"MXFP4\"") && table.matches("\"file\":").count() == 1);
}

#[test]
fn an_embedding_model_has_a_page_but_is_not_proposed() {
    let folder = tempfile::tempdir().unwrap();
    let outputs = site(folder.path());
    let (_, slug, title) = EMBEDDING;
    let page = text(&outputs, &format!("models/{slug}/index.html"));
    assert!(page.contains("one vector of 384 numbers per text"));
    assert!(text(&outputs, "models/index.html").contains(title));
    for (device, _) in DEVICES {
        let proposed =
            ["models-by-memory/index.html", "data/runs.js", &format!("hardware/{device}/index.html")]
                .map(|path| text(&outputs, path).contains(title));
        assert_eq!(proposed, [false; 3], "{device}");
    }
    let answer = fit(folder.path(), &[slug, "--gpu", "geforce-rtx-4090", "--ctx", "512"]);
    let own = &answer["devices"][0];
    assert_eq!((&answer["verdict"], &own["cache_bytes"]), (&"fits".into(), &0.into()));
    assert_eq!(answer["speed"]["reason"], "an embedding model writes no text");
    let command = answer["commands"]["llama_cpp"][0].as_str().unwrap();
    // no GPU has a kernel of flash attention for heads of 32
    assert!(command.contains(" --embeddings -fa off"), "{command}");
}

#[test]
fn options_of_llama_cpp_mean_what_they_mean_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let report = |model: &str, options: &[&str]| {
        fit(root, &[&[model, "--gpu", "geforce-rtx-4090", "--quant", "Q4_K_M"], options].concat())
    };
    let llama = |options: &[&str]| report("llama-3.1-8b-instruct", options);
    let all = llama(&["--ctx", "4096", "--slots", "2"]);
    assert_eq!(all, llama(&["-c", "4096", "-np", "2", "-ngl", "999"]));
    assert_eq!(all, llama(&["--ctx-size=4096", "--parallel=2", "--n-gpu-layers=all"]));
    let some = llama(&["--layers", "20"]);
    assert_eq!(some["settings"]["gpu_layers"], 20);
    assert_eq!(some, llama(&["-ngl", "20"]));
    assert_eq!(some, llama(&["--gpu-layers", "20"]));
    let experts = report("qwen3-30b-a3b", &["--n-cpu-moe", "48"]);
    assert_eq!(experts["settings"]["cpu_expert_layers"], 48);
    assert_eq!(experts, report("qwen3-30b-a3b", &["-ncmoe", "99"]));
}

#[test]
fn layers_are_split_by_what_a_second_model_leaves() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cards = ["--memory", "24", "--memory", "24"];
    let report = fit(root, &[&["llama-3.3-70b-instruct", "qwen3-0.6b"], &cards[..]].concat());
    let split: Vec<u64> = serde_json::from_value(report["settings"]["tensor_split"].clone()).unwrap();
    assert!(split[0] < split[1], "{split:?}");
    let given = ["--tensor-split", "1,1"];
    let report = fit(root, &[&["llama-3.3-70b-instruct", "qwen3-0.6b"], &cards[..], &given].concat());
    assert_eq!(report["settings"]["tensor_split"], serde_json::json!([1, 1]));
}
