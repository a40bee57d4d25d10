//! Resolves user-typed names of models and devices through a table of spellings.
//!
//! Pages are found by slug, title, Hugging Face name and `also_known_as`, ignoring case and separators: `llama3.1:8b`
//! matches `Llama 3.1 8B`. Only words that do not distinguish products may be left out: the maker, and those of
//! [`ModelWord`] and [`device_rank`].

mod device_query;
mod model_query;
mod published;
mod quant_name;
mod spelling;

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::nearest;
use crate::site::kinds::DeviceClass;
use crate::site::names::device_query::DeviceQuery;
use crate::site::names::spelling::{
    ModelWord, Rank, begins_with_letter, device_rank, device_words, joined, line_words, spelling, words,
};
use crate::site::{Kind, Site};

pub use model_query::HUB_PREFIXES;
pub use published::{PublishedModel, all_published, published};
pub use quant_name::NamedQuant;

/// Page that a name resolves to, and what else the name says.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedPage {
    /// Slug of the page.
    pub slug: String,
    /// Quantization in the name of a file, repository or tag.
    pub quant: Option<NamedQuant>,
    /// GGUF repository that is the name: `owner/name-GGUF`.
    pub repository: Option<String>,
    /// File that is the name.
    pub file: Option<String>,
    /// Published model with the shape of the page's model, if it is not that model itself.
    pub same_shape: Option<PublishedModel>,
    /// Memory in GiB, if the device is sold with several sizes.
    pub memory_gb: Option<f64>,
}

/// Result of resolving a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Resolved {
    /// The only match.
    Page(NamedPage),
    /// Slugs of several matches.
    Ambiguous(Vec<String>),
    /// No match; the slugs of the nearest pages.
    Unknown(Vec<String>),
}

/// Spellings of the pages of a kind.
#[derive(Debug, Clone)]
pub struct Names {
    kind: Kind,
    slugs: Vec<String>,
    /// Slugs by spelling, each with its rank; exact spellings come first.
    spellings: BTreeMap<String, BTreeSet<(Rank, String)>>,
    /// Sizes in GiB that each device is sold with.
    sizes: BTreeMap<String, Vec<f64>>,
    /// Chips whose GPU shares the memory, by vendor.
    shared: Vec<(&'static str, String)>,
}

/// Maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 200;

/// Maximum number of pages that a message lists.
const MAX_LISTED: usize = 8;

/// Maximum number of nearest pages that a message lists.
const MAX_NEAREST: usize = 3;

impl Names {
    /// Builds the table of a site's models or devices; pages of other kinds are found by slug only.
    pub fn new(site: &Site, kind: Kind) -> Self {
        let mut names = Self::of_slugs(kind, site.slugs(kind).map(str::to_string).collect());
        for slug in names.slugs.clone() {
            names.insert(&spelling(&slug), 0, &slug);
        }
        if kind == Kind::Model {
            for page in &site.models {
                let hub = page.data.hf_id.as_deref().unwrap_or_default();
                let also: Vec<String> =
                    page.data.also_known_as.iter().chain(&page.data.ollama).cloned().collect();
                names.add_model(&page.head.id.slug, &page.head.title.value, hub, &also);
            }
        }
        if kind == Kind::Hardware {
            for page in &site.devices {
                let (slug, data) = (&page.head.id.slug, &page.data);
                names.add_device(slug, &page.head.title.value, data.vendor.name(), &data.also_known_as);
                let sizes = if data.memory_options_gb.is_empty() {
                    vec![data.memory_gb]
                } else {
                    data.memory_options_gb.clone()
                };
                names.sizes.insert(slug.clone(), sizes);
                if data.class == DeviceClass::Soc {
                    names.shared.push((data.vendor.name(), slug.clone()));
                }
            }
        }
        names
    }

    /// Builds the table of a site without pages.
    pub fn empty(kind: Kind) -> Self {
        Self::of_slugs(kind, Vec::new())
    }

    fn of_slugs(kind: Kind, slugs: Vec<String>) -> Self {
        Self { kind, slugs, spellings: BTreeMap::new(), sizes: BTreeMap::new(), shared: Vec::new() }
    }

    /// Returns the page that a name resolves to.
    pub fn resolve(&self, name: &str) -> Resolved {
        let name = name.trim();
        let found = match self.kind {
            _ if name.len() > MAX_NAME_BYTES => None,
            _ if self.slugs.iter().any(|slug| slug == name) => Some(Resolved::page(name)),
            Kind::Model => self.resolve_model(name),
            Kind::Hardware => self.resolve_device(name),
            _ => None,
        };
        found.unwrap_or_else(|| Resolved::Unknown(self.nearest(name)))
    }

    /// Resolves the name of a device: as on its page, or as drivers and people write it.
    fn resolve_device(&self, name: &str) -> Option<Resolved> {
        let exact = self.look_up(&spelling(name), Rank::MAX);
        if let Some(Resolved::Page(_)) = exact {
            return exact;
        }
        let query = DeviceQuery::new(name);
        let several = query.alternatives.iter().filter_map(|spelled| self.look_up(spelled, Rank::MAX));
        let alternatives: BTreeSet<String> = several.flat_map(Resolved::slugs).collect();
        if !alternatives.is_empty() {
            return Some(Resolved::Ambiguous(alternatives.into_iter().collect()));
        }
        let found = exact
            .or_else(|| query.spellings.iter().find_map(|spelled| self.look_up(spelled, Rank::MAX)))?
            .slugs();
        let is_variant =
            |slug: &&String| query.variants.iter().all(|variant| slug.contains(variant.as_str()));
        let variants: Vec<String> = found.iter().filter(is_variant).cloned().collect();
        let found = if variants.is_empty() { found } else { variants };
        Some(self.of_size(found, query.size))
    }

    /// Selects the devices that are sold with a memory size.
    pub fn of_size(&self, slugs: Vec<String>, size: Option<f64>) -> Resolved {
        let is_sold = |slug: &&String| {
            size.is_none_or(|size| self.sizes.get(*slug).is_some_and(|sizes| sizes.contains(&size)))
        };
        let fitting: Vec<String> = slugs.iter().filter(is_sold).cloned().collect();
        match fitting.as_slice() {
            [] => Resolved::Unknown(slugs),
            [only] => {
                let is_choice = self.sizes.get(only).is_some_and(|sizes| sizes.len() > 1);
                let memory_gb = size.filter(|_| is_choice);
                Resolved::Page(NamedPage { memory_gb, ..NamedPage::new(only) })
            }
            _ => Resolved::Ambiguous(fitting),
        }
    }

    fn look_up(&self, spelled: &str, most: Rank) -> Option<Resolved> {
        let found = self.spellings.get(spelled)?;
        let least = found.first().map(|(rank, _)| *rank).filter(|rank| *rank <= most)?;
        let mut slugs: Vec<String> =
            found.iter().filter(|(rank, _)| *rank == least).map(|(_, slug)| slug.clone()).collect();
        Some(match slugs.len() {
            1 => Resolved::page(&slugs.remove(0)),
            _ => Resolved::Ambiguous(slugs),
        })
    }

    /// Returns the most likely pages: those whose spelling contains this one, else those with similar slugs, else of an
    /// integrated GPU the chips that share their memory.
    fn nearest(&self, name: &str) -> Vec<String> {
        const LEAST_PART: usize = 5;
        let own: String = name.rsplit('/').next().unwrap_or(name).chars().take(MAX_NAME_BYTES).collect();
        let spelled = spelling(&own);
        let is_near = |slug: &&String| {
            let known = spelling(slug);
            (!spelled.is_empty() && known.contains(&spelled))
                || (known.len() >= LEAST_PART && spelled.contains(&known))
        };
        let mut found: Vec<&String> = self.slugs.iter().filter(is_near).collect();
        found.sort_by_key(|slug| slug.len().abs_diff(own.len()));
        while found.len() < MAX_NEAREST {
            let rest = self.slugs.iter().filter(|slug| !found.contains(slug)).map(String::as_str);
            let Some(near) = nearest(&own, rest) else { break };
            found.extend(self.slugs.iter().find(|slug| *slug == near));
        }
        if found.is_empty() && is_integrated_radeon(name) {
            found.extend(self.shared.iter().filter(|(vendor, _)| *vendor == "AMD").map(|(_, slug)| slug));
        }
        found.into_iter().take(MAX_NEAREST).cloned().collect()
    }

    fn insert(&mut self, spelled: &str, rank: Rank, slug: &str) {
        if !spelled.is_empty() {
            self.spellings.entry(spelled.to_string()).or_default().insert((rank, slug.to_string()));
        }
    }

    fn add_model(&mut self, slug: &str, title: &str, hub: &str, also: &[String]) {
        let (owner, file) = hub.split_once('/').unwrap_or(("", hub));
        let makers = words(owner);
        for name in [slug, title, file].into_iter().chain(also.iter().map(String::as_str)) {
            let all = words(name);
            for count in 0..=makers.len() {
                self.insert(&joined(makers[..count].iter().chain(&all)), 0, slug);
            }
            let unmade = match all.split_first() {
                Some((first, rest)) if makers.contains(first) && begins_with_letter(rest) => rest.to_vec(),
                _ => all.clone(),
            };
            for whole in [all, unmade] {
                self.add_shortened(&whole, |word| ModelWord::of(word).is_some().then_some(1), slug);
            }
        }
    }

    fn add_device(&mut self, slug: &str, title: &str, maker: &str, also: &[String]) {
        for name in [slug, title].into_iter().chain(also.iter().map(String::as_str)) {
            let (before, bracketed) = name.split_once('(').unwrap_or((name, ""));
            for name in [before, name] {
                let all = device_words(name);
                let rank = u8::from(!bracketed.is_empty() && name == before);
                let made = words(maker).into_iter().chain(all.iter().cloned()).collect::<Vec<_>>();
                for start in 0..=line_words(&all) {
                    let rank = rank.max(u8::from(start > 0));
                    self.insert(&joined(all[start..].iter()), rank, slug);
                    self.add_shortened(&all[start..], device_rank, slug);
                }
                self.insert(&joined(made.iter()), rank, slug);
                self.add_shortened(&made, device_rank, slug);
            }
        }
    }

    /// Adds every spelling that leaves out some of the words with a rank; the first word always remains.
    fn add_shortened(&mut self, all: &[String], rank_of: impl Fn(&str) -> Option<Rank>, slug: &str) {
        const MAX_OMITTED: usize = 6;
        let may_go: Vec<(usize, Rank)> = all
            .iter()
            .enumerate()
            .skip(1)
            .filter_map(|(at, word)| Some((at, rank_of(word)?)))
            .take(MAX_OMITTED)
            .collect();
        for chosen in 1_u32..1 << may_go.len() {
            let gone: Vec<(usize, Rank)> =
                (0..may_go.len()).filter(|bit| chosen & (1 << bit) != 0).map(|bit| may_go[bit]).collect();
            let rank = gone.iter().map(|(_, rank)| *rank).max().unwrap_or(1);
            let left = all.iter().enumerate().filter(|(at, _)| gone.iter().all(|(place, _)| place != at));
            self.insert(&joined(left.map(|(_, word)| word)), rank, slug);
        }
    }
}

impl NamedPage {
    fn new(slug: &str) -> Self {
        Self {
            slug: slug.to_string(),
            quant: None,
            repository: None,
            file: None,
            same_shape: None,
            memory_gb: None,
        }
    }
}

impl Resolved {
    fn page(slug: &str) -> Self {
        Self::Page(NamedPage::new(slug))
    }

    /// Returns the slugs of all matches.
    fn slugs(self) -> Vec<String> {
        match self {
            Self::Page(page) => vec![page.slug],
            Self::Ambiguous(slugs) => slugs,
            Self::Unknown(_) => Vec::new(),
        }
    }

    /// Returns the page, or an error message.
    ///
    /// # Errors
    /// If the name matches no page or several.
    pub fn only(self, kind: Kind, name: &str) -> Result<NamedPage, String> {
        let what = if kind == Kind::Hardware { "device" } else { kind.name() };
        match self {
            Self::Page(page) => Ok(page),
            Self::Ambiguous(slugs) => {
                Err(format!("ambiguous name `{name}`; it could be {}", format_slugs(&slugs)))
            }
            Self::Unknown(near) if near.is_empty() => Err(format!("no {what} `{name}` in the catalog")),
            Self::Unknown(near) => {
                Err(format!("no {what} `{name}` in the catalog; nearest: {}", format_slugs(&near)))
            }
        }
    }
}

/// Returns whether a name is that of an integrated Radeon, such as `780M`.
fn is_integrated_radeon(name: &str) -> bool {
    words(name).iter().any(|word| {
        let digits = word.strip_suffix(['m', 's']).unwrap_or_default();
        matches!(digits.len(), 3 | 4) && digits.bytes().all(|digit| digit.is_ascii_digit())
    })
}

/// Formats slugs in backticks, the last after `or`.
fn format_slugs(slugs: &[String]) -> String {
    let quoted: Vec<String> = slugs.iter().take(MAX_LISTED).map(|slug| format!("`{slug}`")).collect();
    match (slugs.len().saturating_sub(MAX_LISTED), quoted.split_last()) {
        (0, Some((last, first))) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        (0, _) => quoted.join(", "),
        (more, _) => format!("{} or one of {more} more", quoted.join(", ")),
    }
}
