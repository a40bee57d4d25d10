//! The part of a knowledge base that a diagnosis needs, as plain data that can be cached.

use std::collections::BTreeMap;

use kbgen_signature::{Extractor, Index};
use serde::{Deserialize, Serialize};

use crate::diagnosis::compiled::ParsedSignatures;
use crate::diagnosis::relevant_figures;
use crate::files::Sources;
use crate::site::Site;
use crate::site::kinds::{self, ErrorKind};

/// The compiled signatures of a knowledge base, with the titles, addresses and causes of their pages.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DiagnosisDb {
    /// Index of the signatures.
    pub index: Index,
    /// Error pages by slug; the first one of duplicates.
    pub(super) errors: BTreeMap<String, ErrorEntry>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ErrorEntry {
    pub kind: ErrorKind,
    pub title: String,
    pub address: String,
    /// Causes with a condition, which a match can name.
    pub causes: Vec<CauseEntry>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CauseEntry {
    pub id: String,
    pub case: Option<String>,
    pub title: String,
    /// See [`relevant_figures`].
    pub figures: Vec<String>,
}

impl DiagnosisDb {
    /// Compiles all valid signatures.
    pub fn new(site: &Site, sources: &Sources) -> Self {
        let ParsedSignatures { pages, extractors, readings, .. } = ParsedSignatures::new(site, sources);
        let mut errors = BTreeMap::new();
        for error in &site.errors {
            let causes = error.data.causes.iter().filter(|cause| cause.when.is_some());
            errors.entry(error.head.id.slug.clone()).or_insert_with(|| ErrorEntry {
                kind: error.data.kind,
                title: error.head.title.value.clone(),
                address: error.head.id.address(),
                causes: causes.map(|cause| CauseEntry::of(cause, &extractors)).collect(),
            });
        }
        Self { index: Index::with_readings(&pages, &extractors, &readings), errors }
    }
}

impl CauseEntry {
    fn of(cause: &kinds::Cause, extractors: &[Extractor]) -> Self {
        Self {
            id: cause.id.value.clone(),
            case: cause.case.as_ref().map(|case| case.value.clone()),
            title: cause.title.value.clone(),
            figures: relevant_figures(cause, extractors),
        }
    }
}
