//! Parses the patterns and conditions of all error pages and collects their errors.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use kbgen_signature::{self as signature, Cause, Extractor, Index, Pattern, ReadingPage};

use crate::diagnosis::extractors::parse_extractors;
use crate::diagnosis::readings::parse_readings;
use crate::diagnosis::signature_parser::{SignatureError, SignatureParser};
use crate::engine::Engine;
use crate::facts::{Facts, Fingerprint, Name, map, read, unrecorded};
use crate::files::{Key, Sources, Spanned};
use crate::site::kinds::{ErrorData, ErrorKind, SignatureText, key};
use crate::site::{self, Head, Page, Site};

/// Returns whether a pattern matches a text.
pub fn finds(pattern: &str, text: &str) -> bool {
    let Ok(pattern) = Pattern::parse(pattern) else { return false };
    let page = signature::Page {
        slug: "page".to_string(),
        kind: signature::Kind::Cause,
        signatures: vec![signature::Signature::of(pattern)],
        causes: Vec::new(),
    };
    !Index::build(&[page], &[]).diagnose(text).matches.is_empty()
}

/// Returns the bits of information of a pattern; `None` if it is invalid.
pub fn specificity(pattern: &str) -> Option<u32> {
    Some(signature::Signature::of(Pattern::parse(pattern).ok()?).specificity())
}

/// The signatures of a site.
#[derive(Debug, Clone)]
pub struct CompiledSignatures {
    /// Index of all valid signatures.
    pub index: Index,
    /// Extractors that several pages share.
    pub extractors: Vec<Extractor>,
    /// Errors in patterns and fragments.
    pub pattern_errors: Vec<SignatureError>,
    /// Errors in conditions, derived values and templates.
    pub condition_errors: Vec<SignatureError>,
    /// Slugs of error pages and extractors with an error in them or in an extractor they use; their matches are not
    /// reliable.
    incomplete: BTreeSet<String>,
}

/// Signatures of a site, compiled on first use.
#[derive(Debug)]
pub struct LazySignatures {
    key: Key,
    compiled: OnceLock<Arc<CompiledSignatures>>,
}

impl LazySignatures {
    /// Returns the signatures of a site, without compiling them if their key is known.
    pub fn new(site: &Site, sources: &Sources, engine: &Engine) -> Self {
        let compiled = OnceLock::new();
        let key = engine.key("signatures", || drop(compiled.set(compile(site, sources, engine))));
        Self { key, compiled }
    }

    /// Returns the compiled signatures; the site must be the same at each call.
    pub fn of(&self, site: &Site, sources: &Sources, engine: &Engine) -> &CompiledSignatures {
        read(name());
        self.compiled.get_or_init(|| unrecorded(|| compile(site, sources, engine)))
    }
}

fn compile(site: &Site, sources: &Sources, engine: &Engine) -> Arc<CompiledSignatures> {
    engine.value("compiled", || CompiledSignatures::new(site, sources))
}

fn name() -> Name {
    Name::new("signatures", "")
}

impl Facts for LazySignatures {
    fn visit(&self, visit: &mut dyn FnMut(Name, Fingerprint)) {
        visit(name(), Fingerprint::of([self.key]));
    }
}

impl CompiledSignatures {
    /// Returns whether a page or an extractor, and all it uses, is free of errors.
    pub fn is_complete(&self, slug: &str) -> bool {
        !self.incomplete.contains(slug)
    }

    /// Returns whether all pages and extractors are free of errors.
    pub fn is_all_complete(&self) -> bool {
        self.incomplete.is_empty()
    }

    /// Compiles all valid signatures. Skips symptoms, which have no message.
    pub fn new(site: &Site, sources: &Sources) -> Self {
        let ParsedSignatures { pages, extractors, readings, pattern_errors, condition_errors, incomplete } =
            ParsedSignatures::new(site, sources);
        let index = Index::with_readings(&pages, &extractors, &readings);
        Self { index, extractors, pattern_errors, condition_errors, incomplete }
    }
}

/// The signatures of a site before they are compiled.
pub(super) struct ParsedSignatures {
    pub pages: Vec<signature::Page>,
    pub extractors: Vec<Extractor>,
    pub readings: Vec<ReadingPage>,
    pattern_errors: Vec<SignatureError>,
    condition_errors: Vec<SignatureError>,
    incomplete: BTreeSet<String>,
}

impl ParsedSignatures {
    pub fn new(site: &Site, sources: &Sources) -> Self {
        let mut parser = SignatureParser::new(sources);
        let extractors = parse_extractors(&site.extractors, &mut parser);
        let readings = parse_readings(site, &mut parser);
        let errors = || parser.pattern_errors.iter().chain(&parser.condition_errors);
        let is_incomplete =
            |head: &Head| !head.is_read() || errors().any(|error| error.span.source == head.source);
        let heads = site.extractors.iter().map(|page| &page.head);
        let heads = heads.chain(site.readings.iter().map(|page| &page.head));
        let incomplete = heads.filter(|head| is_incomplete(head));
        let mut incomplete: BTreeSet<String> = incomplete.map(|head| head.id.slug.clone()).collect();
        let errors: Vec<_> =
            site.errors.iter().filter(|error| error.data.kind != ErrorKind::Symptom).collect();
        let compiled = map(&errors, |error| {
            let parser = SignatureParser::new(sources);
            let mut compiler = PageCompiler { extractors: &extractors, incomplete: &incomplete, parser };
            let (page, is_incomplete) = compiler.page(error);
            (page, is_incomplete, compiler.parser)
        });
        let SignatureParser { mut pattern_errors, mut condition_errors, .. } = parser;
        let mut pages = Vec::new();
        let mut found = Vec::new();
        for (page, is_incomplete, parser) in compiled {
            found.extend(is_incomplete.then(|| page.slug.clone()));
            pages.push(page);
            pattern_errors.extend(parser.pattern_errors);
            condition_errors.extend(parser.condition_errors);
        }
        incomplete.extend(found);
        Self { pages, extractors, readings, pattern_errors, condition_errors, incomplete }
    }
}

struct PageCompiler<'s> {
    extractors: &'s [Extractor],
    /// Slugs of extractors and readings with errors.
    incomplete: &'s BTreeSet<String>,
    parser: SignatureParser<'s>,
}

impl PageCompiler<'_> {
    /// Returns the signatures of a page, and whether it is incomplete.
    fn page(&mut self, error: &Page<ErrorData>) -> (signature::Page, bool) {
        let page = self.parse_page(error);
        let entries = &error.data.signatures;
        let is_unclear = entries.iter().any(|entry| matches!(entry.text(), SignatureText::Unclear));
        let uses_incomplete = entries.iter().any(|entry| self.uses_incomplete_extractor(entry));
        let has_errors = !self.parser.pattern_errors.is_empty() || !self.parser.condition_errors.is_empty();
        let is_unknown = !error.head.knows(key!(ErrorData.signatures));
        (page, is_unknown || is_unclear || uses_incomplete || has_errors)
    }

    fn uses_incomplete_extractor(&self, entry: &site::kinds::Signature) -> bool {
        entry.extract.as_ref().is_some_and(|name| self.incomplete.contains(&name.value))
    }

    fn parse_page(&mut self, error: &Page<ErrorData>) -> signature::Page {
        let mut signatures: Vec<signature::Signature> =
            error.data.signatures.iter().filter_map(|entry| self.signature(entry)).collect();
        let figure_names: Vec<String> =
            signatures.iter().flat_map(|entry| self.figure_names(entry)).collect();
        let is_known = signatures.len() == error.data.signatures.len()
            && error.head.knows(key!(ErrorData.signatures))
            && !error.data.signatures.iter().any(|entry| self.uses_incomplete_extractor(entry));
        let bare: Vec<_> = signatures.iter().filter_map(signature::Signature::without_backticks).collect();
        signatures.extend(bare);
        let figure_names = is_known.then_some(figure_names.as_slice());
        let mut causes = Vec::new();
        for cause in &error.data.causes {
            if let Some(case) = &cause.case {
                self.parser.template(case, figure_names);
            }
            let when = cause.when.as_ref().and_then(|when| self.parser.condition(when, figure_names));
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
        let mut patterns =
            |texts: &[Spanned<String>]| texts.iter().filter_map(|text| self.parser.pattern(text)).collect();
        let (not, not_on_line) = (patterns(&entry.not), patterns(&entry.not_on_line));
        if let Some(name) = &entry.extract
            && !self.extractors.iter().any(|extractor| extractor.name == name.value)
        {
            let known: Vec<_> = self.extractors.iter().map(|known| format!("`{}`", known.name)).collect();
            self.parser.pattern_errors.push(SignatureError {
                span: name.span,
                message: format!("unknown extractor `{}`", name.value),
                help: match known.is_empty() {
                    true => format!("add `content/extractors/{}.md`, or remove it", name.value),
                    false => format!("use one of {}", known.join(", ")),
                },
            });
        }
        let mut signature = signature::Signature {
            all,
            not,
            not_on_line,
            extract: entry.extract.as_ref().map(|name| name.value.clone()),
            when: None,
        };
        if signature.all.len() != entry.texts().len() {
            return None;
        }
        let figure_names = self.figure_names(&signature);
        let figure_names = Some(figure_names.as_slice()).filter(|_| !self.uses_incomplete_extractor(entry));
        signature.when = entry.when.as_ref().and_then(|when| self.parser.condition(when, figure_names));
        Some(signature)
    }

    fn figure_names(&self, signature: &signature::Signature) -> Vec<String> {
        signature.names(self.extractors).into_iter().map(str::to_owned).collect()
    }
}
