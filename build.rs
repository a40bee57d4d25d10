//! Derives the version of cached results from the sources, and compresses what the program embeds: the names of published
//! models and the knowledge base in `content/`.

use std::env;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// Folders with sources of the program. The second does not exist in a packaged crate, whose dependencies have versions.
const FOLDERS: [&str; 2] = ["src", "crates"];
const MODEL_NAMES: &str = "data/model-names.txt";

fn main() -> io::Result<()> {
    let mut files = vec![PathBuf::from("Cargo.lock"), PathBuf::from(MODEL_NAMES)];
    for folder in FOLDERS.into_iter().filter(|folder| Path::new(folder).exists()) {
        collect(Path::new(folder), &mut files)?;
        println!("cargo::rerun-if-changed={folder}");
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files.iter().filter(|file| file.is_file()) {
        (file.as_os_str(), fs::read(file)?).hash(&mut hasher);
    }
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!("cargo::rerun-if-changed={MODEL_NAMES}");
    println!("cargo::rustc-env=KBGEN_SOURCES={:016x}", hasher.finish());
    compress("model-names.deflate", &fs::read(MODEL_NAMES)?)?;
    embed_knowledge_base()
}

fn compress(name: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    let mut encoder = DeflateEncoder::new(File::create(folder.join(name))?, Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish().map(drop)
}

/// Compresses the settings and pages of the knowledge base, each as its path, its length and its text, the settings
/// first. `src/load/embedded.rs` reads them.
fn embed_knowledge_base() -> io::Result<()> {
    // Otherwise each edit of a page would compile the program again for `cargo test` and `cargo run`, which use the
    // folder. The next compilation for another reason embeds the current pages.
    let is_release = env::var_os("PROFILE").is_some_and(|profile| profile == "release");
    if is_release {
        println!("cargo::rerun-if-changed=site.toml");
        println!("cargo::rerun-if-changed=content");
    }
    let mut pages = Vec::new();
    collect(Path::new("content"), &mut pages)?;
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    let mut archive = Vec::new();
    let mut date = String::new();
    for path in [PathBuf::from("site.toml")].into_iter().chain(pages) {
        let text = fs::read_to_string(&path)?;
        let verified = text.lines().find_map(|line| line.strip_prefix("verified: ")).unwrap_or_default();
        date = date.max(verified.trim_matches(['"', '\'', ' ']).to_string());
        let name = path.to_string_lossy().replace('\\', "/");
        write!(archive, "{name}\n{}\n{text}", text.len())?;
    }
    let mut hasher = DefaultHasher::new();
    archive.hash(&mut hasher);
    println!("cargo::rustc-env=KBGEN_EMBEDDED_HASH={:016x}", hasher.finish());
    println!("cargo::rustc-env=KBGEN_EMBEDDED_DATE={date}");
    println!("cargo::rustc-env=KBGEN_EMBEDDED_COMMIT={}", commit().unwrap_or_default());
    // Git appends to this file at each commit and checkout.
    let moves = Path::new(".git/logs/HEAD");
    if is_release && moves.exists() {
        println!("cargo::rerun-if-changed={}", moves.display());
    }
    compress("knowledge-base.deflate", &archive)
}

/// Returns the commit of the sources: that of the published package, or of the git checkout.
fn commit() -> Option<String> {
    if let Ok(info) = fs::read_to_string(".cargo_vcs_info.json") {
        let (_, after) = info.split_once("\"sha1\": \"")?;
        return Some(after.get(..9)?.to_string());
    }
    if !Path::new(".git").exists() {
        return None;
    }
    let git = Command::new("git")
        .args(["--no-optional-locks", "describe", "--always", "--dirty", "--abbrev=9", "--exclude=*"])
        .output()
        .ok()?;
    git.status.success().then(|| String::from_utf8_lossy(&git.stdout).trim().to_string())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => collect(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}
