//! Every judgment on content, one a file; each is listed in [`ALL`] with its rule.

mod alias_clash;
mod bad_call;
mod bad_condition;
mod bad_pattern;
mod broken_anchor;
mod broken_link;
mod cause_solution;
mod command_character;
mod costly_signature;
mod duplicate_id;
mod duplicate_slug;
mod empty_body;
mod future_date;
mod markup;
mod misleading_link;
mod missing_file;
mod mixed_script;
mod no_check_section;
mod no_signature;
mod placeholder;
mod private_data;
mod punycode_host;
mod reserved_name;
mod same_solution;
mod signature_collision;
mod solution_heading;
mod solution_order;
mod texts;
mod unknown_reference;
mod unused_template;
mod weak_signature;
mod wrong_figure;
mod wrong_match;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jiff::civil::Date;
use kbgen_signature::Diagnosis;
use rayon::prelude::*;

use crate::diag::{Diagnostic, Rule};
use crate::diagnosis::{CompiledSignatures, LazySignatures, SignatureError};
use crate::engine::{Engine, Kind};
use crate::facts::{Fact, Fingerprint, Name, unrecorded};
use crate::files::{Sources, Span};
use crate::site::{Head, Links, Site};

pub use markup::RULES as MARKUP_RULES;

/// The site and its context, as checks read them.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'s> {
    /// The files, for places.
    pub sources: &'s Sources,
    /// The pages that are judged: all of the site that could be read, or one.
    pub pages: &'s Site,
    /// All pages of the site.
    pub site: &'s Site,
    /// Where their links lead.
    pub links: &'s Links,
    /// Their signatures.
    pub signatures: &'s LazySignatures,
    /// Matches of their samples.
    pub hits: &'s Hits,
    /// Today.
    pub today: &'s Fact<Date>,
    /// Results of earlier builds.
    pub engine: &'s Engine,
}

impl<'s> Subject<'s> {
    /// The signatures, parsed.
    pub fn compiled(&self) -> &'s CompiledSignatures {
        self.signatures.of(self.site, self.sources, self.engine)
    }

    /// Returns the matches of each sample of each signature, best first, by the sample's span.
    pub fn hits(&self) -> &'s BTreeMap<Span, Diagnosis> {
        // Samples are facts that the signatures depend on.
        let compiled = self.compiled();
        self.hits.0.get_or_init(|| unrecorded(|| sample_hits(self.site, compiled, self.engine)))
    }
}

/// Matches of each sample of each signature, computed on first use.
#[derive(Debug, Default)]
pub struct Hits(OnceLock<BTreeMap<Span, Diagnosis>>);

fn sample_hits(site: &Site, compiled: &CompiledSignatures, engine: &Engine) -> BTreeMap<Span, Diagnosis> {
    let table = serde_json::to_vec(compiled.index.table()).expect("plain data is always JSON");
    let table = Fact::new(Name::new("signature table", ""), Fingerprint::of([table]), &compiled.index);
    engine.register(&table);
    let hits = site.errors.par_iter().flat_map_iter(|error| {
        let found: Vec<Diagnosis> = engine.query(Kind::Hits, &error.head.path, || {
            let samples = error.data.signatures.iter().flat_map(|signature| &signature.samples);
            samples.map(|sample| table.diagnose(&sample.value)).collect()
        });
        let samples = error.data.signatures.iter().flat_map(|signature| &signature.samples);
        samples.map(|sample| sample.span).zip(found).collect::<Vec<_>>()
    });
    hits.collect()
}

/// Scope of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Each page by itself, and whether what it names is there.
    Page,
    /// Links that lead nowhere.
    Links,
    /// Pages against each other.
    Site,
}

/// A check: its rule, and what finds where it is broken.
#[derive(Debug)]
pub struct Check {
    /// The rule.
    pub rule: Rule,
    /// Its scope. A check of single pages reports only spans in the file of the page.
    pub reach: Reach,
    /// Finds every place where it is not met.
    pub run: fn(&Subject<'_>) -> Vec<Diagnostic>,
}

/// All checks.
pub const ALL: &[Check] = &[
    Check { rule: alias_clash::RULE, reach: Reach::Site, run: alias_clash::run },
    Check { rule: bad_call::RULE, reach: Reach::Page, run: bad_call::run },
    Check { rule: bad_condition::RULE, reach: Reach::Site, run: bad_condition::run },
    Check { rule: bad_pattern::RULE, reach: Reach::Site, run: bad_pattern::run },
    Check { rule: broken_anchor::RULE, reach: Reach::Links, run: broken_anchor::run },
    Check { rule: broken_link::RULE, reach: Reach::Links, run: broken_link::run },
    Check { rule: cause_solution::RULE, reach: Reach::Page, run: cause_solution::run },
    Check { rule: command_character::RULE, reach: Reach::Page, run: command_character::run },
    Check { rule: costly_signature::RULE, reach: Reach::Site, run: costly_signature::run },
    Check { rule: duplicate_id::RULE, reach: Reach::Page, run: duplicate_id::run },
    Check { rule: duplicate_slug::RULE, reach: Reach::Site, run: duplicate_slug::run },
    Check { rule: empty_body::RULE, reach: Reach::Page, run: empty_body::run },
    Check { rule: future_date::RULE, reach: Reach::Page, run: future_date::run },
    Check { rule: misleading_link::RULE, reach: Reach::Page, run: misleading_link::run },
    Check { rule: missing_file::RULE, reach: Reach::Links, run: missing_file::run },
    Check { rule: mixed_script::RULE, reach: Reach::Page, run: mixed_script::run },
    Check { rule: no_check_section::RULE, reach: Reach::Page, run: no_check_section::run },
    Check { rule: no_signature::RULE, reach: Reach::Page, run: no_signature::run },
    Check { rule: placeholder::RULE, reach: Reach::Page, run: placeholder::run },
    Check { rule: private_data::RULE, reach: Reach::Page, run: private_data::run },
    Check { rule: punycode_host::RULE, reach: Reach::Page, run: punycode_host::run },
    Check { rule: reserved_name::RULE, reach: Reach::Site, run: reserved_name::run },
    Check { rule: same_solution::RULE, reach: Reach::Site, run: same_solution::run },
    Check { rule: signature_collision::RULE, reach: Reach::Site, run: signature_collision::run },
    Check { rule: solution_heading::RULE, reach: Reach::Page, run: solution_heading::run },
    Check { rule: solution_order::RULE, reach: Reach::Page, run: solution_order::run },
    Check { rule: unknown_reference::RULE, reach: Reach::Site, run: unknown_reference::run },
    Check { rule: unused_template::RULE, reach: Reach::Site, run: unused_template::run },
    Check { rule: weak_signature::RULE, reach: Reach::Page, run: weak_signature::run },
    Check { rule: wrong_figure::RULE, reach: Reach::Site, run: wrong_figure::run },
    Check { rule: wrong_match::RULE, reach: Reach::Site, run: wrong_match::run },
];

/// Findings of one check that get the nearest of all names: to look for it takes as long as there are pages, and who
/// has more such faults has moved a folder.
const SOUGHT: usize = 100;

/// Returns the findings of each page on its own, in no order. A page without findings is checked again when something it
/// read has changed.
pub fn pages(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let pages: Vec<(&Head, Site)> =
        subject.site.split_pages().filter(|(head, _)| !head.is_unread()).collect();
    let judge = |(head, page): &(&Head, Site)| {
        subject.engine.check(&format!("page {}", head.path), || {
            let subject = Subject { pages: page, ..*subject };
            let mut found: Vec<_> = with(Reach::Page).flat_map(|check| (check.run)(&subject)).collect();
            found.extend(markup::run(&subject));
            found
        })
    };
    let mut found: Vec<_> = pages.par_iter().flat_map_iter(judge).collect();
    found.extend(with(Reach::Links).flat_map(|check| (check.run)(subject)));
    found
}

/// Returns the findings that concern several pages, in no order.
pub fn site(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let checks: Vec<&Check> = with(Reach::Site).collect();
    let judge = |check: &&Check| subject.engine.check(check.rule.code, || (check.run)(subject));
    checks.par_iter().flat_map(judge).collect()
}

fn with(reach: Reach) -> impl Iterator<Item = &'static Check> {
    ALL.iter().filter(move |check| check.reach == reach)
}

/// Faults of patterns and conditions as findings against a rule.
fn part_faults(rule: &Rule, faults: &[SignatureError]) -> Vec<Diagnostic> {
    faults
        .iter()
        .map(|fault| Diagnostic::error(rule, fault.span, fault.message.clone()).help(fault.help.clone()))
        .collect()
}
