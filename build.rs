//! Gives the program a name that changes with its sources: what another program kept is not its own. Compresses the names
//! of published models.

use std::env;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::DeflateEncoder;

const MODEL_NAMES: &str = "data/model-names.txt";

fn main() -> io::Result<()> {
    let mut files = vec![PathBuf::from("Cargo.lock"), PathBuf::from(MODEL_NAMES)];
    collect(Path::new("src"), &mut files)?;
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files.iter().filter(|file| file.is_file()) {
        (file.as_os_str(), fs::read(file)?).hash(&mut hasher);
    }
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!("cargo::rerun-if-changed={MODEL_NAMES}");
    println!("cargo::rustc-env=KBGEN_SOURCES={:016x}", hasher.finish());
    compress()
}

fn compress() -> io::Result<()> {
    let folder = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    let file = File::create(folder.join("model-names.deflate"))?;
    let mut encoder = DeflateEncoder::new(file, Compression::best());
    encoder.write_all(&fs::read(MODEL_NAMES)?)?;
    encoder.finish().map(drop)
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
