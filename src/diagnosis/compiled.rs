//! Patterns and conditions of all error pages, parsed; and every fault in them with its place.

use crate::diag::nearest;
use crate::diagnosis::fragment::place;
use crate::files::{Placed, Sources, Span};
use crate::signature::{self, Cause, Expression, Extractor, Fault, Index, Pattern};
use crate::site::kinds::{ErrorData, ErrorKind, SignatureText};
use crate::site::{Page, Site};

/// What is wrong with a pattern or a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartFault {
    /// Where.
    pub span: Span,
    /// What, as a phrase.
    pub message: String,
    /// What to do.
    pub help: String,
}

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
    /// Faults in patterns and fragments.
    pub pattern_faults: Vec<PartFault>,
    /// Faults in conditions.
    pub condition_faults: Vec<PartFault>,
}

impl Compiled {
    /// Parses everything; what is wrong is left out and kept as a fault. Symptoms have no message.
    pub fn new(site: &Site, sources: &Sources) -> Self {
        let mut reader = Reader {
            extractors: vec![signature::torch_oom()],
            pattern_faults: Vec::new(),
            condition_faults: Vec::new(),
        };
        let errors = site.errors.iter().filter(|error| error.data.kind != ErrorKind::Symptom);
        let pages: Vec<signature::Page> = errors.map(|error| reader.page(error, sources)).collect();
        Self {
            index: Index::build(&pages, &reader.extractors),
            pattern_faults: reader.pattern_faults,
            condition_faults: reader.condition_faults,
        }
    }
}

/// What reading one page after another gathers.
struct Reader {
    /// Shared extractors.
    extractors: Vec<Extractor>,
    pattern_faults: Vec<PartFault>,
    condition_faults: Vec<PartFault>,
}

impl Reader {
    fn page(&mut self, error: &Page<ErrorData>, sources: &Sources) -> signature::Page {
        let signatures: Vec<signature::Signature> =
            error.data.signatures.iter().filter_map(|entry| self.signature(entry, sources)).collect();
        let readable: Vec<String> = signatures
            .iter()
            .flat_map(|entry| entry.names(&self.extractors))
            .map(str::to_string)
            .chain(["place".to_string()])
            .collect();
        let mut causes = Vec::new();
        for cause in &error.data.causes {
            let Some(when) = cause.when.as_ref().and_then(|when| self.condition(when, &readable, sources))
            else {
                continue;
            };
            causes.push(Cause { id: cause.id.value.clone(), when });
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

    fn signature(
        &mut self,
        entry: &crate::site::kinds::Signature,
        sources: &Sources,
    ) -> Option<signature::Signature> {
        let texts = match &entry.text {
            SignatureText::Pattern(pattern) => std::slice::from_ref(pattern),
            SignatureText::All(fragments) => fragments.as_slice(),
            SignatureText::Unclear => return None,
        };
        let all: Vec<Pattern> = texts.iter().filter_map(|text| self.pattern(text, sources)).collect();
        let not = entry.not.iter().filter_map(|text| self.pattern(text, sources)).collect();
        if let Some(name) = &entry.extract
            && !self.extractors.iter().any(|extractor| extractor.name == name.value)
        {
            let known: Vec<_> = self.extractors.iter().map(|known| format!("`{}`", known.name)).collect();
            self.pattern_faults.push(PartFault {
                span: name.span,
                message: format!("there is no extractor `{}`", name.value),
                help: format!("known: {}", known.join(", ")),
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
        let mut readable: Vec<String> =
            signature.names(&self.extractors).into_iter().map(str::to_string).collect();
        readable.push("place".to_string());
        signature.when = entry.when.as_ref().and_then(|when| self.condition(when, &readable, sources));
        Some(signature)
    }

    fn pattern(&mut self, text: &Placed<String>, sources: &Sources) -> Option<Pattern> {
        match Pattern::parse(&text.value) {
            Ok(pattern) => Some(pattern),
            Err(fault) => {
                self.pattern_faults.push(placed(text, fault, sources));
                None
            }
        }
    }

    fn condition(
        &mut self,
        text: &Placed<String>,
        readable: &[String],
        sources: &Sources,
    ) -> Option<Expression> {
        let expression = match Expression::parse(&text.value) {
            Ok(expression) => expression,
            Err(fault) => {
                self.condition_faults.push(placed(text, fault, sources));
                return None;
            }
        };
        for name in expression.names() {
            if readable.iter().any(|known| known == name) {
                continue;
            }
            let at = text.value.find(name).unwrap_or(0);
            let near = nearest(name, readable.iter().map(String::as_str));
            self.condition_faults.push(PartFault {
                span: place(sources, text, &(at..at + name.len())),
                message: format!("no signature of the page reads the figure `{name}`"),
                help: match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("they read {}", readable.join(", ")),
                },
            });
        }
        Some(expression)
    }
}

fn placed(text: &Placed<String>, fault: Fault, sources: &Sources) -> PartFault {
    PartFault { span: place(sources, text, &fault.range), message: fault.message, help: fault.help }
}
