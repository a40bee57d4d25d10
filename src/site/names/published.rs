//! Published models of the shape of a model of the catalog, and their GGUF repositories.
//!
//! `data/model-names.txt` lists them; the program holds it compressed and reads it on first use.

use std::collections::HashMap;
use std::io::Read;
use std::sync::LazyLock;

use flate2::read::DeflateDecoder;

use crate::site::names::spelling::spelling;

static COMPRESSED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/model-names.deflate"));

static TEXT: LazyLock<String> = LazyLock::new(|| {
    let mut text = String::new();
    let read = DeflateDecoder::new(COMPRESSED).read_to_string(&mut text);
    read.map_or_else(|_| String::new(), |_| text)
});

static TABLE: LazyLock<PublishedModels> = LazyLock::new(|| PublishedModels::new(&TEXT));

/// A published model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublishedModel {
    /// Slug of the model of the catalog that has its shape.
    pub slug: &'static str,
    /// Owner and name on Hugging Face.
    pub name: &'static str,
    /// Repositories: of one named like the model, its owner only.
    repositories: &'static str,
}

impl PublishedModel {
    /// Returns its GGUF repositories, each with its owner.
    pub fn repositories(&self) -> impl Iterator<Item = String> {
        let name = self.name.split('/').next_back().unwrap_or_default();
        self.repositories.split_whitespace().map(move |repository| match repository.contains('/') {
            true => repository.to_string(),
            false => format!("{repository}/{name}-GGUF"),
        })
    }
}

struct PublishedModels {
    models: Vec<PublishedModel>,
    /// Positions by owner and name, by spelling of the name alone, and by repository.
    positions: HashMap<String, Vec<usize>>,
}

impl PublishedModels {
    fn new(text: &'static str) -> Self {
        let mut all = Self { models: Vec::new(), positions: HashMap::new() };
        let mut slug = "";
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some(model) = line.strip_prefix(' ') else {
                slug = line;
                continue;
            };
            let (name, repositories) = model.split_once(' ').unwrap_or((model, ""));
            all.insert(PublishedModel { slug, name, repositories });
        }
        all
    }

    fn insert(&mut self, model: PublishedModel) {
        let at = self.models.len();
        let bare = model.name.split('/').next_back().unwrap_or_default();
        let keys = [model.name.to_lowercase(), spelling(bare)];
        for key in keys.into_iter().chain(model.repositories().map(|repository| repository.to_lowercase())) {
            self.positions.entry(key).or_default().push(at);
        }
        self.models.push(model);
    }
}

/// Returns all published models, those of one shape together.
pub fn all_published() -> &'static [PublishedModel] {
    &TABLE.models
}

/// Returns the models of a name: `owner/name`, a GGUF repository, or a name without owner, which needs a number to be
/// more than a common word.
pub fn published(name: &str) -> Vec<PublishedModel> {
    if !name.contains(|c: char| c == '/' || c.is_ascii_digit()) {
        return Vec::new();
    }
    let key = if name.contains('/') { name.to_lowercase() } else { spelling(name) };
    let positions = TABLE.positions.get(&key);
    positions.into_iter().flatten().map(|at| TABLE.models[*at]).collect()
}
