//! Names of models: tags, names on Hugging Face, repositories and files.

use crate::site::names::published::{PublishedModel, published};
use crate::site::names::quant_name::{NamedQuant, split_quant};
use crate::site::names::spelling::{Rank, spelling};
use crate::site::names::{NamedPage, Names, Resolved};

/// Prefixes of a model on the Hugging Face Hub; what follows is `owner/name`.
pub const HUB_PREFIXES: [&str; 5] =
    ["hf:", "https://huggingface.co/", "huggingface.co/", "https://hf.co/", "hf.co/"];

/// Formats at the end of the name of a repository.
const FORMATS: [&str; 24] = [
    "-gguf",
    "-i1",
    "-imatrix",
    "-imat",
    "-qat",
    "-awq",
    "-gptq",
    "-fp8",
    "-fp8-dynamic",
    "-bf16",
    "-nvfp4",
    "-mxfp4",
    "-int4",
    "-int8",
    "-4bit",
    "-6bit",
    "-8bit",
    "-3bit",
    "-5bit",
    "-mlx",
    "-dwq",
    "-bnb",
    "-unsloth",
    ":latest",
];

impl Names {
    /// Resolves the name of a model: a tag, a name on Hugging Face, a GGUF repository or a file.
    pub(super) fn resolve_model(&self, name: &str) -> Option<Resolved> {
        let path = without_host(name);
        let (whole, file) = match file_stem(&path) {
            Some((stem, file)) => (stem.to_string(), Some(file.to_string())),
            None => (path, None),
        };
        if let (Some(found), None) = (self.look_up_model(&whole), &file) {
            return Some(found);
        }
        let (name, quant) = split_quant(&whole).map_or((&*whole, None), |(head, quant)| (head, Some(quant)));
        let (plain, own_quant) = without_formats(name);
        let found = self
            .look_up_model(name)
            .or_else(|| self.look_up_model(&plain))
            .or_else(|| self.look_up_published([&whole, name, &plain]))?;
        Some(match found {
            Resolved::Page(page) => {
                let is_repository = name.contains('/') && name.to_lowercase().ends_with("-gguf");
                let repository = (is_repository && file.is_none()).then(|| name.to_string());
                Resolved::Page(NamedPage { quant: quant.or(own_quant), repository, file, ..page })
            }
            other => other,
        })
    }

    /// Looks a name up in the catalog. Of a name with an owner, such as `unsloth/Qwen3-8B`, the part after the owner must be
    /// complete.
    fn look_up_model(&self, name: &str) -> Option<Resolved> {
        self.look_up(&spelling(name), Rank::MAX).or_else(|| {
            let (_, own) = name.rsplit_once('/')?;
            self.look_up(&spelling(own), 0)
        })
    }

    /// Looks a name up among published models; only those whose model has a page count.
    fn look_up_published(&self, names: [&str; 3]) -> Option<Resolved> {
        let mut found: Vec<PublishedModel> = names
            .into_iter()
            .map(|name| published(name).into_iter().filter(|model| self.has(model.slug)).collect())
            .find(|found: &Vec<_>| !found.is_empty())?;
        found.sort_by_key(|model| model.slug);
        found.dedup_by_key(|model| model.slug);
        Some(match found.as_slice() {
            [only] => Resolved::Page(NamedPage { same_shape: Some(*only), ..NamedPage::new(only.slug) }),
            several => Resolved::Ambiguous(several.iter().map(|model| model.slug.to_string()).collect()),
        })
    }

    fn has(&self, slug: &str) -> bool {
        self.slugs.iter().any(|known| known == slug)
    }
}

/// Returns the name in an address: a tag, `owner/name`, or a path of a file.
fn without_host(name: &str) -> String {
    let Some(path) = HUB_PREFIXES.iter().find_map(|host| name.strip_prefix(host)) else {
        return name.strip_prefix("https://ollama.com/library/").unwrap_or(name).to_string();
    };
    let path = path.split(['?', '#']).next().unwrap_or(path);
    match path.to_lowercase().ends_with(".gguf") {
        true => path.to_string(),
        false => path.split('/').take(2).collect::<Vec<_>>().join("/"),
    }
}

/// Returns the name of a file without its folder, its ending and the number of its part, and the name itself. `None` for
/// other names.
fn file_stem(path: &str) -> Option<(&str, &str)> {
    let file = path.rsplit(['/', '\\']).next()?;
    let stem = file.get(..file.len().checked_sub(".gguf".len())?)?;
    if !file.to_lowercase().ends_with(".gguf") {
        return None;
    }
    let part = stem.rsplit_once("-of-").and_then(|(start, parts)| {
        let (start, number) = start.rsplit_once('-')?;
        let is_number = |text: &str| text.len() == 5 && text.bytes().all(|digit| digit.is_ascii_digit());
        (is_number(parts) && is_number(number)).then_some(start)
    });
    Some((part.unwrap_or(stem), file))
}

/// Removes the formats and the quantization from the end of a repository's name.
fn without_formats(name: &str) -> (String, Option<NamedQuant>) {
    let (mut plain, mut quant) = (name.to_lowercase(), None);
    while let Some(ending) = FORMATS.iter().find(|ending| plain.ends_with(*ending)) {
        plain.truncate(plain.len() - ending.len());
        if let Some((head, own)) = split_quant(&plain) {
            quant = Some(own);
            plain.truncate(head.len());
        }
    }
    (plain, quant)
}
