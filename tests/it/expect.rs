//! Expected output in files: compared, or rewritten if `KBGEN_BLESS` is set.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Once};

use jiff::civil::date;
use kbgen::engine::Engine;
use kbgen::load::Drafts;
use kbgen::pipeline::SiteOptions;
use kbgen::render::Audience;

/// Returns a path in the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the build options of the small site in `tests/golden`: a fixed date and no cache.
pub fn options() -> SiteOptions {
    SiteOptions {
        today: date(2026, 6, 30),
        drafts: Drafts::Exclude,
        base_url: None,
        audience: Audience::World,
        engine: Arc::new(Engine::without_cache()),
    }
}

/// Returns the cache folder of tests, so that they do not use the user's.
pub fn cache_dir() -> PathBuf {
    let mut hasher = DefaultHasher::new();
    env!("CARGO_MANIFEST_DIR").hash(&mut hasher);
    static CLEAN: Once = Once::new();
    let folder = std::env::temp_dir().join(format!("kbgen-tests-{:016x}", hasher.finish()));
    CLEAN.call_once(|| drop(fs::remove_dir_all(&folder)));
    folder
}

/// Returns a command for the program with a clean environment.
pub fn kbgen() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kbgen"));
    command.env("XDG_CACHE_HOME", cache_dir());
    command.env_remove("KBGEN_CACHE_DIR").env_remove("KBGEN_BASE_URL");
    command
}

/// Runs `kbgen diagnose` with these bytes as its input.
pub fn diagnose(input: &[u8], format: &str) -> Output {
    let mut child = kbgen()
        .args(["--root", repository("").to_str().unwrap(), "diagnose", "-", "--format", format])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().unwrap().write_all(input).expect("the program reads its input");
    child.wait_with_output().unwrap()
}

/// Returns whether expected output is rewritten instead of compared.
pub fn bless() -> bool {
    std::env::var_os("KBGEN_BLESS").is_some_and(|value| !value.is_empty())
}

/// Writes `text` unless the file already contains it.
pub fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|before| before == text) {
        return;
    }
    fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("the folder can be made");
    fs::write(path, text).expect("the expectation can be written");
}

/// Compares a file with `actual` and returns the difference, if any. With `KBGEN_BLESS`, writes the file.
pub fn same(path: &Path, actual: &str) -> Option<String> {
    if bless() {
        write(path, actual);
        return None;
    }
    let shown = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(path).display().to_string();
    match fs::read_to_string(path) {
        Err(error) => Some(format!("{shown}: {error}; KBGEN_BLESS=1 writes it")),
        Ok(expected) if expected == actual => None,
        Ok(expected) => Some(difference(&shown, &expected, actual)),
    }
}

/// Describes the first line that differs.
pub fn difference(name: &str, expected: &str, actual: &str) -> String {
    let (mut wanted, mut got) = (expected.lines(), actual.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (wanted.next(), got.next()) {
            (None, None) => return format!("{name}: only the end of the last line differs"),
            (wanted, got) if wanted == got => {}
            (wanted, got) => {
                let whole = match actual.lines().count() {
                    0..60 => format!("\nThe whole of it:\n{actual}"),
                    _ => String::new(),
                };
                return format!(
                    "{name}:{number}:\n  expected: {}\n  got:      {}{whole}",
                    wanted.unwrap_or("(the end)"),
                    got.unwrap_or("(the end)"),
                );
            }
        }
    }
}

/// Fails if there are differences.
pub fn all_well(faults: Vec<String>) {
    assert!(
        faults.is_empty(),
        "{}\n\nKBGEN_BLESS=1 cargo test writes expectations anew",
        faults.join("\n\n")
    );
}

/// Returns the sorted files below a folder of the repository with this suffix.
pub fn files(folder: &str, end: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = walkdir::WalkDir::new(repository(folder))
        .into_iter()
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.is_file() && path.to_string_lossy().ends_with(end))
        .collect();
    files.sort();
    files
}
