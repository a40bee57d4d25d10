//! A model from a GGUF file instead of a page.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use kbgen_estimate::gguf::{Header, ModelFile};
use kbgen_estimate::quantization::FILE_TYPES;

/// Maximum number of parts of a split file that are read.
const MAX_PARTS: u64 = 1024;

/// A model file with its names.
#[derive(Debug)]
pub(super) struct GgufModel {
    /// Path for commands: the file, or the first part of a split file.
    pub path: PathBuf,
    /// Name in the metadata, or else the file name.
    pub title: String,
    /// Name of the mixture of types, such as `Q4_K_M`, or the bits per weight.
    pub quant: String,
    /// Options of llama-server that download it. Empty for a local file.
    pub download: Vec<String>,
    /// Architecture and weights.
    pub model: ModelFile,
}

/// Returns whether an argument is a file and not a name: it is `-`, or a path that exists.
pub(super) fn is_file(argument: &str) -> bool {
    let has_separator = argument.contains(std::path::is_separator);
    argument == "-" || ((has_separator || has_extension(Path::new(argument))) && Path::new(argument).exists())
}

/// Returns whether an argument that is not a known name can only be meant as a path: `./model`, `C:\\model.gguf`.
pub(super) fn is_path(argument: &str) -> bool {
    let separators = argument.matches(std::path::is_separator).count();
    has_extension(Path::new(argument)) || argument.starts_with(['.', '/', '~']) || separators > 1
}

fn has_extension(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"))
}

impl GgufModel {
    /// Reads a model, as [`read_headers`].
    ///
    /// # Errors
    /// If a file cannot be read, is damaged, or is not a language model.
    pub fn read(argument: &str) -> Result<Self> {
        let (path, header) = read_headers(argument)?;
        let model = Self::new(path, &header);
        if argument == "-" { model.context("standard input") } else { model }
    }

    /// Creates the model of a header.
    ///
    /// # Errors
    /// If it is not that of a language model.
    pub fn new(path: PathBuf, header: &Header) -> Result<Self> {
        let model = ModelFile::new(header).map_err(|error| anyhow!("{}: {error}", path.display()))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let elements: u64 =
            header.tensors.iter().map(|tensor| tensor.dimensions.iter().product::<u64>()).sum();
        let bits = || format!("{:.2} bits per weight", model.data.0 as f64 * 8.0 / elements.max(1) as f64);
        let number = header.number("general.file_type");
        let file_type = FILE_TYPES.iter().find(|(known, _)| Some(*known) == number);
        Ok(Self {
            title: header.text("general.name").map_or(stem, str::to_string),
            quant: file_type.map_or_else(bits, |(_, name)| (*name).to_string()),
            download: Vec::new(),
            path,
            model,
        })
    }

    /// Returns a name for `ollama create`, from the file name.
    pub fn slug(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        stem.chars()
            .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '-' })
            .collect()
    }
}

/// Reads the headers of a file, of all parts of a split file, of the only model in a folder, or of standard input (`-`).
/// Returns the path of the file, or of the first part.
///
/// # Errors
/// If a file cannot be read or is damaged.
pub(in crate::cli) fn read_headers(argument: &str) -> Result<(PathBuf, Header)> {
    if argument == "-" {
        let header = Header::read(io::stdin().lock()).context("standard input")?;
        return Ok((PathBuf::from("model.gguf"), header));
    }
    let given = PathBuf::from(argument);
    let path = if given.is_dir() { only_model(&given)? } else { given };
    read_parts(path, header)
}

/// Reads the header of a file, or of all parts of a split file. Returns the path of the file, or of the first part.
///
/// # Errors
/// If `open` fails, or the name of a split file is not that of a part.
pub(super) fn read_parts(path: PathBuf, open: impl Fn(&Path) -> Result<Header>) -> Result<(PathBuf, Header)> {
    let mut header = open(&path)?;
    let parts = header.number("split.count").unwrap_or(1);
    if parts > MAX_PARTS {
        bail!("{}: {parts} parts are more than {MAX_PARTS}", path.display());
    }
    if parts <= 1 {
        return Ok((path, header));
    }
    let part = |number| part_path(&path, number, parts);
    let Some(first) = part(1) else {
        bail!(
            "{}: part of a split file, whose name must end with `-{:05}-of-{parts:05}.gguf`",
            path.display(),
            header.number("split.no").unwrap_or_default() + 1
        );
    };
    header = open(&first)?;
    for number in 2..=parts {
        header.append(open(&part(number).expect("part 1 has a name"))?);
    }
    Ok((first, header))
}

fn header(path: &Path) -> Result<Header> {
    let named = || path.display().to_string();
    let file = File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Header::read(BufReader::with_capacity(1 << 16, file)).with_context(named)
}

/// Returns the path of a part of a split file, by the name that llama.cpp's `gguf-split` gives it.
fn part_path(path: &Path, number: u64, parts: u64) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let start = name.strip_suffix(".gguf")?.strip_suffix(&format!("-of-{parts:05}"))?;
    let (start, digits) = start.rsplit_once('-')?;
    let is_number = digits.len() == 5 && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| path.with_file_name(format!("{start}-{number:05}-of-{parts:05}.gguf")))
}

/// Returns whether a file is a part of a split file other than the first.
pub(super) fn is_later_part(name: &str) -> bool {
    name.contains("-of-") && !name.contains("-00001-of-")
}

/// Returns the only model in a folder. Projectors and later parts of split files do not count.
fn only_model(folder: &Path) -> Result<PathBuf> {
    let entries = folder.read_dir().with_context(|| folder.display().to_string())?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| folder.display().to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if has_extension(&path) && !name.starts_with("mmproj") && !is_later_part(&name) {
            found.push(path);
        }
    }
    found.sort();
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => bail!("no `.gguf` file in {}", folder.display()),
        [first, ..] => bail!(
            "{} `.gguf` files in {}; name one of them, such as {}",
            found.len(),
            folder.display(),
            first.display()
        ),
    }
}
