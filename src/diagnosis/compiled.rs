//! Patterns and conditions of all error pages, parsed; and every fault in them with its place.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use kbgen_signature::{self as signature, Cause, Extractor, Index, Pattern};

use crate::diagnosis::extractors::{extractors, shared};
use crate::diagnosis::parser::{Parser, PartFault};
use crate::files::Sources;
use crate::site::kinds::{ErrorData, ErrorKind, SignatureText, key};
use crate::site::{self, Head, Page, Site};

/// Whether a pattern, all by itself, finds a text.
pub fn finds(pattern: &str, text: &str) -> bool {
    let Ok(pattern) = Pattern::parse(pattern) else { return false };
    let page = signature::Page {
        slug: "page".to_string(),
        kind: signature::Kind::Cause,
        signatures: vec![signature::Signature::of(pattern)],
        causes: Vec::new(),
    };
    !Index::build(&[page], &[]).diagnose(text).is_empty()
}

/// The bits that a pattern tells, where it is one.
pub fn specificity(pattern: &str) -> Option<u32> {
    Some(signature::Signature::of(Pattern::parse(pattern).ok()?).specificity())
}

/// The signatures of a site.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The index over all signatures that were understood.
    pub index: Index,
    /// How figures are read that several pages share.
    pub extractors: Vec<Extractor>,
    /// Faults in patterns and fragments.
    pub pattern_faults: Vec<PartFault>,
    /// Faults in conditions.
    pub condition_faults: Vec<PartFault>,
    /// Slugs of errors and extractors that were not understood in full, because of a fault in them or in what they use.
    /// Signatures and extractors that could not be read, so their matches are unknown.
    unclear: BTreeSet<String>,
}

/// The signatures of a site, compiled when somebody looks at them.
#[derive(Debug, Clone, Default)]
pub struct Signatures(OnceLock<Compiled>);

impl Signatures {
    /// Those of the site, which is the same at each call.
    pub fn of(&self, site: &Site, sources: &Sources) -> &Compiled {
        self.0.get_or_init(|| Compiled::new(site, sources))
    }
}

impl Compiled {
    /// Whether it is known which texts a page matches, or what an extractor reads.
    pub fn is_clear(&self, slug: &str) -> bool {
        !self.unclear.contains(slug)
    }

    /// Whether it is known of all pages which texts they match.
    pub fn is_all_clear(&self) -> bool {
        self.unclear.is_empty()
    }

    /// Parses everything; what is wrong is left out and kept as a fault. Symptoms have no message.
    pub fn new(site: &Site, sources: &Sources) -> Self {
        let mut parser = Parser::new(sources);
        let extractors = extractors(&site.extractors, &mut parser);
        Self::of(site, site, extractors, parser)
    }

    /// The signatures of a few pages alone, which may use the extractors of the site.
    pub fn few(few: &Site, site: &Site, sources: &Sources) -> Self {
        Self::of(few, site, shared(site, sources), Parser::new(sources))
    }

    fn of(few: &Site, site: &Site, extractors: Vec<Extractor>, parser: Parser<'_>) -> Self {
        let faults = || parser.pattern_faults.iter().chain(&parser.condition_faults);
        let is_unclear =
            |head: &Head| !head.is_read() || faults().any(|fault| fault.span.source == head.source);
        let unclear = site.extractors.iter().map(|page| &page.head).filter(|head| is_unclear(head));
        let unclear = unclear.map(|head| head.id.slug.clone()).collect();
        let mut reader = Reader { extractors: &extractors, unclear, parser };
        let errors = few.errors.iter().filter(|error| error.data.kind != ErrorKind::Symptom);
        let pages: Vec<signature::Page> = errors.map(|error| reader.page(error)).collect();
        let Reader { parser: Parser { pattern_faults, condition_faults, .. }, unclear, .. } = reader;
        let index = Index::build(&pages, &extractors);
        Self { index, extractors, pattern_faults, condition_faults, unclear }
    }
}

/// Reads one page after another.
struct Reader<'s> {
    /// Shared extractors.
    extractors: &'s [Extractor],
    /// Slugs of what was not understood in full.
    unclear: BTreeSet<String>,
    parser: Parser<'s>,
}

impl Reader<'_> {
    fn page(&mut self, error: &Page<ErrorData>) -> signature::Page {
        let faults = self.faults();
        let page = self.understood(error);
        let entries = &error.data.signatures;
        let is_unclear = entries.iter().any(|entry| matches!(entry.text(), SignatureText::Unclear));
        let uses_unclear = entries.iter().any(|entry| self.uses_unclear(entry));
        if !error.head.knows(key!(ErrorData.signatures))
            || is_unclear
            || uses_unclear
            || self.faults() > faults
        {
            self.unclear.insert(page.slug.clone());
        }
        page
    }

    fn faults(&self) -> usize {
        self.parser.pattern_faults.len() + self.parser.condition_faults.len()
    }

    /// Whether a signature reads figures by an extractor that was not understood.
    fn uses_unclear(&self, entry: &site::kinds::Signature) -> bool {
        entry.extract.as_ref().is_some_and(|name| self.unclear.contains(&name.value))
    }

    fn understood(&mut self, error: &Page<ErrorData>) -> signature::Page {
        let signatures: Vec<signature::Signature> =
            error.data.signatures.iter().filter_map(|entry| self.signature(entry)).collect();
        let readable: Vec<String> = signatures.iter().flat_map(|entry| self.readable(entry)).collect();
        let is_known = signatures.len() == error.data.signatures.len()
            && error.head.knows(key!(ErrorData.signatures))
            && !error.data.signatures.iter().any(|entry| self.uses_unclear(entry));
        let readable = is_known.then_some(readable.as_slice());
        let mut causes = Vec::new();
        for cause in &error.data.causes {
            if let Some(case) = &cause.case {
                self.parser.template(case, readable);
            }
            let when = cause.when.as_ref().and_then(|when| self.parser.condition(when, readable));
            causes.extend(when.map(|when| Cause { id: cause.id.value.clone(), when }));
        }
        signature::Page {
            slug: error.head.id.slug.clone(),
            kind: match error.data.kind {
                ErrorKind::Wrapper => signature::Kind::Wrapper,
                ErrorKind::Warning => signature::Kind::Warning,
                ErrorKind::Cause | ErrorKind::Symptom => signature::Kind::Cause,
            },
            signatures,
            causes,
        }
    }

    fn signature(&mut self, entry: &site::kinds::Signature) -> Option<signature::Signature> {
        if matches!(entry.text(), SignatureText::Unclear) {
            return None;
        }
        let all: Vec<Pattern> = entry.texts().iter().filter_map(|text| self.parser.pattern(text)).collect();
        let not = entry.not.iter().filter_map(|text| self.parser.pattern(text)).collect();
        if let Some(name) = &entry.extract
            && !self.extractors.iter().any(|extractor| extractor.name == name.value)
        {
            let known: Vec<_> = self.extractors.iter().map(|known| format!("`{}`", known.name)).collect();
            self.parser.pattern_faults.push(PartFault {
                span: name.span,
                message: format!("there is no extractor `{}`", name.value),
                help: match known.is_empty() {
                    true => format!("write `content/extractors/{}.md`, or leave it out", name.value),
                    false => format!("known: {}", known.join(", ")),
                },
            });
        }
        let mut signature = signature::Signature {
            all,
            not,
            extract: entry.extract.as_ref().map(|name| name.value.clone()),
            when: None,
        };
        if signature.all.len() != entry.texts().len() {
            return None;
        }
        let readable = self.readable(&signature);
        let readable = Some(readable.as_slice()).filter(|_| !self.uses_unclear(entry));
        signature.when = entry.when.as_ref().and_then(|when| self.parser.condition(when, readable));
        Some(signature)
    }

    fn readable(&self, signature: &signature::Signature) -> Vec<String> {
        signature.names(self.extractors).into_iter().map(str::to_owned).collect()
    }
}
