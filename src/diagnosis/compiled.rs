//! Patterns and conditions of all error pages, parsed; and every fault in them with its place.

use std::sync::OnceLock;

use crate::diagnosis::extractors::{extractors, shared};
use crate::diagnosis::parser::{Parser, PartFault};
use crate::files::Sources;
use crate::signature::{self, Cause, Extractor, Index, Pattern};
use crate::site::kinds::{ErrorData, ErrorKind, SignatureText};
use crate::site::{Page, Site};

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
    /// Parses everything; what is wrong is left out and kept as a fault. Symptoms have no message.
    pub fn new(site: &Site, sources: &Sources) -> Self {
        let mut parser = Parser::new(sources);
        let extractors = extractors(&site.extractors, &mut parser);
        Self::of(site, extractors, parser)
    }

    /// The signatures of a few pages alone, which may use the extractors of the site.
    pub fn few(few: &Site, site: &Site, sources: &Sources) -> Self {
        Self::of(few, shared(site, sources), Parser::new(sources))
    }

    fn of(site: &Site, extractors: Vec<Extractor>, parser: Parser<'_>) -> Self {
        let mut reader = Reader { extractors: &extractors, parser };
        let errors = site.errors.iter().filter(|error| error.data.kind != ErrorKind::Symptom);
        let pages: Vec<signature::Page> = errors.map(|error| reader.page(error)).collect();
        let Parser { pattern_faults, condition_faults, .. } = reader.parser;
        Self { index: Index::build(&pages, &extractors), extractors, pattern_faults, condition_faults }
    }
}

/// Reads one page after another.
struct Reader<'s> {
    /// Shared extractors.
    extractors: &'s [Extractor],
    parser: Parser<'s>,
}

impl Reader<'_> {
    fn page(&mut self, error: &Page<ErrorData>) -> signature::Page {
        let signatures: Vec<signature::Signature> =
            error.data.signatures.iter().filter_map(|entry| self.signature(entry)).collect();
        let readable: Vec<String> = signatures.iter().flat_map(|entry| self.readable(entry)).collect();
        let mut causes = Vec::new();
        for cause in &error.data.causes {
            if let Some(case) = &cause.case {
                self.parser.template(case, &readable);
            }
            let when = cause.when.as_ref().and_then(|when| self.parser.condition(when, &readable));
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

    fn signature(&mut self, entry: &crate::site::kinds::Signature) -> Option<signature::Signature> {
        let texts = match &entry.text {
            SignatureText::Pattern(pattern) => std::slice::from_ref(pattern),
            SignatureText::All(fragments) => fragments.as_slice(),
            SignatureText::Unclear => return None,
        };
        let all: Vec<Pattern> = texts.iter().filter_map(|text| self.parser.pattern(text)).collect();
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
        if signature.all.len() != texts.len() {
            return None;
        }
        let readable = self.readable(&signature);
        signature.when = entry.when.as_ref().and_then(|when| self.parser.condition(when, &readable));
        Some(signature)
    }

    fn readable(&self, signature: &signature::Signature) -> Vec<String> {
        signature.names(self.extractors).into_iter().map(str::to_owned).collect()
    }
}
