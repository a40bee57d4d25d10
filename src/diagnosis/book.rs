//! What a diagnosis needs of a knowledge base, as plain data that can be kept.

use std::collections::BTreeMap;

use kbgen_signature::{Extractor, Index, Table};
use serde::{Deserialize, Serialize};

use crate::diagnosis::{Compiled, told};
use crate::files::Sources;
use crate::site::Site;
use crate::site::kinds;

/// The signatures of a knowledge base, and the words for what they find.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Book {
    table: Table,
    /// Errors by slug; of two with one slug the first.
    pub(super) errors: BTreeMap<String, Entry>,
}

/// An error page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub title: String,
    pub address: String,
    pub causes: Vec<Cause>,
}

/// A cause that an error page names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Cause {
    pub id: String,
    pub case: Option<String>,
    pub title: String,
    /// The figures that it is known by.
    pub told: Vec<String>,
}

impl Book {
    /// Reads every signature; what is wrong is left out.
    pub fn new(site: &Site, sources: &Sources) -> Self {
        let compiled = Compiled::new(site, sources);
        let mut errors = BTreeMap::new();
        for error in &site.errors {
            errors.entry(error.head.id.slug.clone()).or_insert_with(|| Entry {
                title: error.head.title.value.clone(),
                address: error.head.id.address(),
                causes: error
                    .data
                    .causes
                    .iter()
                    .map(|cause| Cause::of(cause, &compiled.extractors))
                    .collect(),
            });
        }
        Self { table: compiled.index.table().clone(), errors }
    }

    /// The index that finds the errors in a log.
    pub fn index(&self) -> Index {
        Index::from_table(self.table.clone())
    }
}

impl Cause {
    fn of(cause: &kinds::Cause, extractors: &[Extractor]) -> Self {
        Self {
            id: cause.id.value.clone(),
            case: cause.case.as_ref().map(|case| case.value.clone()),
            title: cause.title.value.clone(),
            told: told(cause, extractors),
        }
    }
}
