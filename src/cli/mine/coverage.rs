//! Compares mined messages with the signatures of a site.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use kbgen_signature::{Index, Kind, Match, Page, Pattern, Signature};
use rayon::prelude::*;
use serde::Serialize;

use crate::cli::mine::message::{Message, words};
use crate::cli::mine::site::Site as MessageSite;
use crate::files::{Sources, Spanned};
use crate::site::Site;

/// Fewest words of a signature that its program prints, in percent. The others are names of functions, which the
/// program inserts.
const MIN_QUOTED_PERCENT: usize = 60;
/// Words without weight that are added to a message when it is ranked: short ones have familiar words by chance.
const FREE_WORDS: usize = 3;

/// Messages of a source file: line, site and text.
pub(super) struct MinedSource {
    pub path: String,
    pub messages: Vec<(usize, Option<MessageSite>, Message)>,
}

/// Result of `kbgen mine`, as written for `--format json`.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Number of source files.
    pub files: usize,
    /// Number of different error messages and warnings.
    pub messages: usize,
    /// Number of messages that a signature matches.
    pub covered: usize,
    /// Messages without a signature, the likeliest first.
    pub uncovered: Vec<UncoveredMessage>,
    /// Signatures from the program's repository that match none of its texts.
    pub missing: Vec<MissingSignature>,
    /// All signatures of the site.
    #[serde(skip)]
    pub signatures: Vec<CheckedSignature>,
}

/// A message without a signature.
#[derive(Debug, Serialize)]
pub(super) struct UncoveredMessage {
    pub file: String,
    pub line: usize,
    /// Text with `{}` for each value.
    pub text: String,
    pub site: MessageSite,
}

/// A signature that the source does not print.
#[derive(Debug, Serialize)]
pub(super) struct MissingSignature {
    pub file: String,
    pub line: usize,
    pub pattern: String,
}

/// A signature compared with a source.
#[derive(Debug)]
pub(in crate::cli) struct CheckedSignature {
    /// Address where the message was observed.
    pub source: String,
    /// First text of the signature.
    pub text: Spanned<String>,
    /// Whether the source prints the message.
    pub is_printed: bool,
}

/// A signature with its patterns and samples.
struct Known<'s> {
    /// Address where the message was observed.
    source: &'s str,
    texts: &'s [Spanned<String>],
    /// Samples in the form of [`plain`].
    samples: Vec<String>,
}

/// The signatures of a site, prepared for comparison.
struct KnownMessages<'s> {
    signatures: Vec<Known<'s>>,
    /// A page for each signature and each of its patterns; the slug is the number of the signature.
    index: Index,
    /// Signatures by the words of their samples.
    by_word: HashMap<String, Vec<usize>>,
}

/// Signatures that know a message.
#[derive(Default)]
struct Matches {
    /// By their pattern.
    printed: BTreeSet<usize>,
    /// By a sample that contains the text of the message, perhaps within another message.
    quoted: BTreeSet<usize>,
    /// Whether one of the patterns is specific enough to assert an error, or a sample has the text.
    is_covered: bool,
}

impl Report {
    /// Compares messages with the signatures. Signatures count as missing if their source is in `repo`
    /// (`owner/name`).
    pub(super) fn new(site: &Site, content: &Sources, mined: &[MinedSource], repo: Option<&str>) -> Self {
        let known = KnownMessages::new(site);
        let all: Vec<_> =
            mined.iter().flat_map(|file| file.messages.iter().map(move |one| (file, one))).collect();
        let matches: Vec<Matches> = all.par_iter().map(|(_, (.., message))| known.find(message)).collect();
        let mut printed = BTreeSet::new();
        let mut quoted: HashMap<usize, BTreeSet<String>> = HashMap::new();
        let (mut texts, mut covered, mut uncovered) = (HashSet::new(), 0, Vec::new());
        for ((file, (line, site, message)), matches) in all.into_iter().zip(matches) {
            printed.extend(matches.printed);
            for signature in matches.quoted {
                quoted.entry(signature).or_default().extend(message.words());
            }
            let Some(site) = *site else { continue };
            let text = message.display();
            if !texts.insert(text.clone()) {
                continue;
            }
            if matches.is_covered {
                covered += 1;
                continue;
            }
            let found = UncoveredMessage { file: file.path.clone(), line: *line, text, site };
            uncovered.push((known.likelihood(message, site), found));
        }
        // Stable, so that equals stay in the order of the source.
        uncovered.sort_by_key(|(likelihood, _)| Reverse(*likelihood));
        let is_printed = |at: usize, signature: &Known<'_>| {
            let is_quoted = |printed: &BTreeSet<String>| {
                let words: Vec<String> =
                    signature.texts.iter().flat_map(|text| words_of(&text.value)).collect();
                let known = words.iter().filter(|word| printed.contains(*word)).count();
                known * 100 >= words.len() * MIN_QUOTED_PERCENT
            };
            printed.contains(&at) || quoted.get(&at).is_some_and(is_quoted)
        };
        let checked = |(at, signature): (usize, &Known<'_>)| {
            let text = signature.texts.first()?.clone();
            let source = signature.source.to_string();
            Some(CheckedSignature { source, text, is_printed: is_printed(at, signature) })
        };
        let signatures: Vec<CheckedSignature> =
            known.signatures.iter().enumerate().filter_map(checked).collect();
        let is_missing = |signature: &&CheckedSignature| {
            let is_own = repo.is_some_and(|repo| signature.source.contains(&format!("/{repo}/")));
            is_own && !signature.is_printed
        };
        let missing = signatures.iter().filter(is_missing).map(|CheckedSignature { text, .. }| {
            let file = content.get(text.span.source);
            let line = file.position(text.span.start).line;
            MissingSignature { file: file.path.clone(), line, pattern: text.value.clone() }
        });
        let missing = missing.collect();
        Self {
            files: mined.len(),
            messages: texts.len(),
            covered,
            uncovered: uncovered.into_iter().map(|(_, message)| message).collect(),
            missing,
            signatures,
        }
    }
}

impl<'s> KnownMessages<'s> {
    fn new(site: &'s Site) -> Self {
        let signatures = site.errors.iter().flat_map(|page| &page.data.signatures);
        let signatures: Vec<Known<'_>> = signatures
            .map(|one| Known {
                source: &one.source,
                texts: one.texts(),
                samples: one.samples.iter().map(|sample| plain(&sample.value)).collect(),
            })
            .collect();
        let mut by_word: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, signature) in signatures.iter().enumerate() {
            let words = signature.samples.iter().flat_map(|sample| words_of(sample));
            for word in words.collect::<BTreeSet<String>>() {
                by_word.entry(word).or_default().push(at);
            }
        }
        let page = |at: usize, text: &Spanned<String>| {
            let signatures = vec![Signature::of(Pattern::parse(&text.value).ok()?)];
            Some(Page { slug: at.to_string(), kind: Kind::Cause, signatures, causes: Vec::new() })
        };
        let texts =
            signatures.iter().enumerate().flat_map(|(at, one)| one.texts.iter().map(move |text| (at, text)));
        let pages: Vec<Page> = texts.filter_map(|(at, text)| page(at, text)).collect();
        Self { index: Index::build(&pages, &[]), signatures, by_word }
    }

    fn find(&self, message: &Message) -> Matches {
        let found: Vec<Match> =
            message.samples().iter().flat_map(|sample| self.index.diagnose(sample).matches).collect();
        let quoted = self.quoting(message);
        Matches {
            is_covered: !quoted.is_empty() || found.iter().any(|one| !one.weak),
            printed: found.iter().filter_map(|one| one.slug.parse().ok()).collect(),
            quoted,
        }
    }

    /// Returns the signatures with a sample that contains the constant text of a message.
    fn quoting(&self, message: &Message) -> BTreeSet<usize> {
        let with_word = |word: String| self.by_word.get(&word).map_or(&[][..], Vec::as_slice);
        let candidates = message.words().map(with_word).min_by_key(|signatures| signatures.len());
        let constants: Vec<String> = message.constants().map(plain).collect();
        let contains = |sample: &String| {
            constants
                .iter()
                .try_fold(sample.as_str(), |rest, constant| Some(rest.split_once(constant)?.1))
                .is_some()
        };
        let candidates = candidates.unwrap_or_default().iter().copied();
        candidates.filter(|at| self.signatures[*at].samples.iter().any(contains)).collect()
    }

    /// Returns a rank of a message: high if many signatures have samples with its words, lower for warnings.
    fn likelihood(&self, message: &Message, site: MessageSite) -> u64 {
        let words: BTreeSet<String> = message.words().collect();
        let signatures = |word: &String| self.by_word.get(word).map_or(0, Vec::len) as f64;
        let sum: f64 = words.iter().map(|word| signatures(word).ln_1p()).sum();
        let mean = sum / (words.len() + FREE_WORDS) as f64;
        (mean * if site == MessageSite::Warning { 500.0 } else { 1000.0 }) as u64
    }
}

/// Returns a text in lower case with single spaces.
fn plain(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the words of a text, or of a pattern without its placeholders.
fn words_of(text: &str) -> Vec<String> {
    let mut outside = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        outside.push_str(before);
        outside.push(' ');
        rest = after.split_once('}').map_or("", |(_, behind)| behind);
    }
    outside.push_str(rest);
    words(&outside).collect()
}
