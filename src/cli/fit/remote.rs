//! A model or another file on a server: the headers of its GGUF files, or the configuration and the index of a checkpoint.

use std::cell::RefCell;
use std::env;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use kbgen_estimate::fields::ArchitectureFields;
use kbgen_estimate::gguf::Header;
use kbgen_estimate::huggingface::{Checkpoint, StoredTensor, model_fields, read_header, read_index};
use serde::Deserialize;
use url::Url;

use crate::cli::fit::checkpoint_dir::{INDEX, MAX_CONFIG};
use crate::cli::fit::http::HttpClient;
use crate::cli::fit::model_file::{is_later_part, read_parts};
use crate::site::HUB_PREFIXES;

/// Address of the Hugging Face Hub, unless `HF_ENDPOINT` is set.
const HUB: &str = "https://huggingface.co";
/// Maximum size of a list of files, in bytes.
const MAX_LIST: u64 = 16 << 20;
/// Maximum size of an index, in bytes.
const MAX_INDEX: u64 = 100_000_000;
/// Maximum number of candidates in a message.
const MAX_CANDIDATES: usize = 60;
/// Parts of the names of files that are no models (`gguf_filename_is_model` in `common/download.cpp` of llama.cpp).
const NO_MODEL: [&str; 6] = ["mmproj", "imatrix", "mtp-", "eagle3-", "dflash-", "dspark-"];

/// Kind of file to select in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum FileKind {
    /// Model or adapter.
    Model,
    /// Projector of a model.
    Projector,
}

/// Headers of a file on a server.
pub(in crate::cli) enum Fetched {
    /// GGUF file.
    File {
        /// Path of the file, or of the first part of a split one.
        path: PathBuf,
        header: Header,
        /// URLs of the parts.
        urls: Vec<Url>,
        /// Options of llama-server that download it as the model.
        download: Vec<String>,
    },
    /// Checkpoint of Hugging Face.
    Checkpoint { repository: String, fields: Box<ArchitectureFields>, checkpoint: Checkpoint },
}

/// Address of a file.
enum Address {
    /// Repository on the hub, and a file or quantization of it.
    Repository { name: String, file: Option<String> },
    /// Any file.
    Url(Url),
}

/// File in a repository, as the hub lists it.
#[derive(Debug, Deserialize)]
struct ListedFile {
    #[serde(rename = "type")]
    kind: String,
    path: String,
}

/// Returns whether an argument is an address instead of a name or a file.
pub(in crate::cli) fn is_address(argument: &str) -> bool {
    argument.starts_with("http://")
        || HUB_PREFIXES.iter().any(|prefix| argument.starts_with(prefix))
        || argument.starts_with("https://")
}

/// Returns the message for an address without `--fetch`.
pub(in crate::cli) fn needs_fetch(argument: &str) -> String {
    format!("to read the header of `{argument}` from its server, which needs the network, pass `--fetch`")
}

/// Reads the headers of a file on a server.
///
/// # Errors
/// If the address is invalid, or its server does not have such a file there. If there are several, they are listed.
pub(in crate::cli) fn fetch(argument: &str, kind: FileKind) -> Result<Fetched> {
    let client = HttpClient::from_environment()?;
    let hub = env::var("HF_ENDPOINT").ok().filter(|hub| !hub.is_empty());
    let hub = hub.as_deref().unwrap_or(HUB);
    let hub = Url::parse(hub).ok().filter(|hub| matches!(hub.scheme(), "https" | "http") && hub.has_host());
    let hub = hub.context("HF_ENDPOINT is no URL of a server")?;
    match address(argument, &hub)? {
        Address::Url(url) => {
            let download = vec!["-mu".to_string(), url.to_string()];
            let name = url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
            let name = PathBuf::from(name);
            let url_of = |file: &Path| {
                let mut part = url.clone();
                if file.file_name() != name.file_name() {
                    let own = file.file_name().unwrap_or_default().to_string_lossy();
                    part = url.join(&own).with_context(|| format!("invalid file name {own}"))?;
                }
                Ok(part)
            };
            gguf(&client, name.clone(), &url_of, download)
        }
        Address::Repository { name, file } => {
            let files = files(&client, &hub, &name)?;
            let url_of = |file: &str| in_hub(&hub, &name, &["resolve", "main", file]);
            if let Some(found) = select(&files, &name, file.as_deref(), kind)? {
                let download = ["-hf", &name, "-hff", found, "--no-mmproj"].map(str::to_string).to_vec();
                // parts have the separators of this system
                let url_of = |path: &Path| url_of(&path.to_string_lossy().replace('\\', "/"));
                return gguf(&client, PathBuf::from(found), &url_of, download);
            }
            checkpoint(&client, &files, &name, &url_of)
        }
    }
}

/// Parses an address. `hub` replaces the Hugging Face Hub.
fn address(argument: &str, hub: &Url) -> Result<Address> {
    let Some(path) = HUB_PREFIXES.iter().find_map(|prefix| argument.strip_prefix(prefix)) else {
        let url = Url::parse(argument).ok().filter(Url::has_host);
        return Ok(Address::Url(url.ok_or_else(|| anyhow!("`{argument}` is no URL"))?));
    };
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let (path, file) = path.split_once(':').map_or((path, None), |(path, file)| (path, Some(file)));
    let parts: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let is_name = |name: &&str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !name.is_empty() && !name.starts_with('.') && name.chars().all(is_plain)
    };
    match parts.as_slice() {
        [owner, name] | [owner, name, "tree", ..] if [owner, name].into_iter().all(is_name) => {
            let file = file.filter(|file| !file.is_empty() && *file != "latest").map(str::to_string);
            Ok(Address::Repository { name: format!("{owner}/{name}"), file })
        }
        [owner, name, "blob" | "resolve" | "raw", revision, rest @ ..]
            if [owner, name].into_iter().all(is_name) && !rest.is_empty() =>
        {
            let file = rest.join("/");
            Ok(Address::Url(in_hub(hub, &format!("{owner}/{name}"), &["resolve", revision, &file])?))
        }
        _ => bail!("invalid repository `{argument}`; expected hf:OWNER/NAME or hf:OWNER/NAME:FILE"),
    }
}

/// Returns the URL of a path in a repository.
fn in_hub(hub: &Url, repository: &str, path: &[&str]) -> Result<Url> {
    let mut url = hub.clone();
    url.set_query(None);
    let segments = path.iter().flat_map(|part| part.split('/'));
    match url.path_segments_mut() {
        Ok(mut own) => own.pop_if_empty().extend(repository.split('/').chain(segments)),
        Err(()) => bail!("{hub}: no URL of a server"),
    };
    Ok(url)
}

/// Lists the files of a repository.
fn files(client: &HttpClient, hub: &Url, repository: &str) -> Result<Vec<String>> {
    let mut url = in_hub(hub, &format!("api/models/{repository}"), &["tree", "main"])?;
    url.set_query(Some("recursive=true"));
    let json = client.read(&url, MAX_LIST)?;
    let listed: Vec<ListedFile> =
        serde_json::from_slice(&json).with_context(|| format!("{repository}: not a list of files"))?;
    let is_file = |file: &ListedFile| file.kind == "file" && !file.path.chars().any(char::is_control);
    Ok(listed.into_iter().filter(is_file).map(|file| file.path).collect())
}

/// Selects the requested file, or the only one of this kind. `None` if there is no GGUF file.
///
/// # Errors
/// If no file or several are possible.
fn select<'f>(
    files: &'f [String],
    repository: &str,
    asked: Option<&str>,
    kind: FileKind,
) -> Result<Option<&'f str>> {
    fn name(file: &str) -> &str {
        file.rsplit('/').next().unwrap_or(file)
    }
    let is_gguf = |file: &&&str| file.to_lowercase().ends_with(".gguf");
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let ggufs: Vec<&str> = files.iter().filter(is_gguf).copied().collect();
    if let Some(exact) = asked.and_then(|asked| ggufs.iter().find(|file| **file == asked)) {
        return Ok(Some(exact));
    }
    let is_of_kind = |file: &&str| match kind {
        FileKind::Model => {
            !NO_MODEL.iter().any(|part| name(file).contains(part)) && !is_later_part(name(file))
        }
        FileKind::Projector => name(file).contains("mmproj"),
    };
    let is_asked =
        |file: &&str| asked.is_none_or(|asked| name(file) == asked || has_quant(name(file), asked));
    let models: Vec<&str> = ggufs.into_iter().filter(is_of_kind).collect();
    let found: Vec<&str> = models.iter().filter(|file| is_asked(file)).copied().collect();
    let (problem, candidates) = match (found.as_slice(), asked) {
        ([only], _) => return Ok(Some(only)),
        ([], None) => return Ok(None),
        ([], Some(asked)) if models.is_empty() => bail!("no file `{asked}` in {repository}"),
        ([], Some(asked)) => (format!("no file `{asked}` in {repository}; it has"), models),
        (several, _) => (
            format!(
                "{repository} has {} {}; pass one of",
                several.len(),
                if kind == FileKind::Model { "models" } else { "projectors" }
            ),
            found,
        ),
    };
    let mut message = format!("{problem}:");
    for file in candidates.iter().take(MAX_CANDIDATES) {
        message.push_str(&format!("\n  hf:{repository}:{file}"));
    }
    if candidates.len() > MAX_CANDIDATES {
        message.push_str(&format!("\n  and {} more", candidates.len() - MAX_CANDIDATES));
    }
    Err(anyhow!(message))
}

/// Returns whether a file name has a quantization, such as `Q4_K_M`, between other characters than letters and digits.
fn has_quant(file: &str, quant: &str) -> bool {
    let (file, quant) = (file.to_lowercase(), quant.to_lowercase());
    file.match_indices(&quant).any(|(start, _)| {
        let before = file[..start].chars().next_back();
        let is_end = file[start + quant.len()..].starts_with(['.', '-']);
        is_end && before.is_none_or(|before| !before.is_alphanumeric() && before != '_')
    })
}

/// Reads the headers of a GGUF file and of the further parts of a split one.
fn gguf(
    client: &HttpClient,
    path: PathBuf,
    url_of: &dyn Fn(&Path) -> Result<Url>,
    download: Vec<String>,
) -> Result<Fetched> {
    let urls = RefCell::new(Vec::new());
    let (path, header) = read_parts(path, |path| {
        let url = url_of(path)?;
        let input = BufReader::with_capacity(1 << 16, client.reader(&url));
        urls.borrow_mut().push(url);
        Header::read(input).with_context(|| path.display().to_string())
    })?;
    let mut urls = urls.into_inner();
    // of a split file, the given part was read first, to count the parts
    if urls.len() > 1 {
        urls.remove(0);
    }
    Ok(Fetched::File { path, header, urls, download })
}

/// Reads the configuration of a checkpoint, and its index or the header of its only file.
fn checkpoint(
    client: &HttpClient,
    files: &[String],
    repository: &str,
    url_of: &dyn Fn(&str) -> Result<Url>,
) -> Result<Fetched> {
    const ONLY_FILE: &str = "model.safetensors";
    let has = |name: &str| files.iter().any(|file| file == name);
    if !has("config.json") || !(has(INDEX) || has(ONLY_FILE)) {
        bail!("{repository} has neither GGUF files nor a checkpoint with config.json and {INDEX}");
    }
    let config = client.read(&url_of("config.json")?, MAX_CONFIG)?;
    let (tensors, total_size) = match has(INDEX) {
        true => {
            let index = read_index(client.read(&url_of(INDEX)?, MAX_INDEX)?.as_slice()).context(INDEX)?;
            let size =
                index.total_size.with_context(|| format!("{repository}: {INDEX} has no `total_size`"))?;
            let unsized_tensor =
                |name| StoredTensor { name, dtype: String::new(), shape: Vec::new(), bytes: 0 };
            (index.tensors.into_iter().map(unsized_tensor).collect(), Some(size))
        }
        false => {
            let input = BufReader::with_capacity(1 << 16, client.reader(&url_of(ONLY_FILE)?));
            (read_header(input).context(ONLY_FILE)?, None)
        }
    };
    let fields = model_fields(&config, &tensors).with_context(|| format!("{repository}: config.json"))?;
    let (layers, kv_heads) = (fields.layer_count(), fields.kv_heads);
    let checkpoint = Checkpoint { tensors, layers, kv_heads, total_size };
    Ok(Fetched::Checkpoint { repository: repository.to_string(), fields: Box::new(fields), checkpoint })
}
