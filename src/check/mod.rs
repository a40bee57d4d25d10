//! Checks of the content, one per file, listed in [`ALL`] with their rules. Some run apart: `markup` on each body,
//! `broken_menu` and `unknown_reference::categories` on the settings.

mod alias_clash;
mod bad_call;
mod bad_condition;
mod bad_declaration;
mod bad_include;
mod bad_pattern;
mod branch_source;
mod broken_anchor;
mod broken_link;
mod broken_menu;
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
mod missing_pack;
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
mod unproven_fix;
mod unused_template;
mod weak_signature;
mod wrong_figure;
mod wrong_match;
mod wrong_reading;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jiff::civil::Date;
use kbgen_signature::Diagnosis;
use rayon::prelude::*;

use crate::diag::{Diagnostic, Rule};
use crate::diagnosis::{self, CompiledSignatures, LazySignatures, SignatureError};
use crate::engine::{Engine, Kind};
use crate::facts::{Fact, Fingerprint, Name, unrecorded};
use crate::files::{Sources, Span, Spanned};
use crate::site::kinds::ErrorData;
use crate::site::{Head, Links, MakeSite, Page, Site};

pub use broken_menu::run as menu;
pub use markup::RULES as MARKUP_RULES;
pub use unknown_reference::categories;

/// Returns the rules of all checks of pages, and of menus.
pub fn rules() -> Vec<Rule> {
    ALL.iter().map(|check| check.rule).chain([broken_menu::RULE]).collect()
}

/// Inputs of checks.
#[derive(Debug, Clone, Copy)]
pub struct CheckContext<'s> {
    /// Source files, for locations.
    pub sources: &'s Sources,
    /// Pages to check: all readable pages of the site, or a single page.
    pub pages: &'s Site,
    /// All pages of the site.
    pub site: &'s Site,
    /// Link targets of the pages.
    pub links: &'s Links,
    /// Signatures of the pages.
    pub signatures: &'s LazySignatures,
    /// Matches of the samples.
    pub sample_matches: &'s SampleMatches,
    /// Date for checks of future dates.
    pub today: &'s Fact<Date>,
    /// Results of earlier builds.
    pub engine: &'s Engine,
}

impl<'s> CheckContext<'s> {
    /// Returns the parsed signatures.
    pub fn compiled(&self) -> &'s CompiledSignatures {
        self.signatures.of(self.site, self.sources, self.engine)
    }

    /// Returns the matches of each sample of each signature, best first, by the sample's span.
    pub fn sample_matches(&self) -> &'s BTreeMap<Span, Diagnosis> {
        // Samples are facts that the signatures depend on.
        let compiled = self.compiled();
        self.sample_matches.0.get_or_init(|| unrecorded(|| match_samples(self.site, compiled, self.engine)))
    }
}

/// Matches of each sample of each signature, computed on first use.
#[derive(Debug, Default)]
pub struct SampleMatches(OnceLock<BTreeMap<Span, Diagnosis>>);

fn match_samples(site: &Site, compiled: &CompiledSignatures, engine: &Engine) -> BTreeMap<Span, Diagnosis> {
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
pub enum CheckScope {
    /// A single page, and whether the pages it refers to exist.
    Page,
    /// Broken links.
    Links,
    /// Pages that claim the same address, or one that is not free. None is rendered as long as there are any.
    Addresses,
    /// Several pages together.
    Site,
}

/// A check and its rule.
#[derive(Debug)]
pub struct Check {
    /// The rule.
    pub rule: Rule,
    /// Scope. A check of single pages reports only spans in the file of the page.
    pub scope: CheckScope,
    /// Finds all violations.
    pub run: fn(&CheckContext<'_>) -> Vec<Diagnostic>,
}

/// The checks of pages, links, addresses and sites.
pub const ALL: &[Check] = &[
    Check { rule: alias_clash::RULE, scope: CheckScope::Addresses, run: alias_clash::run },
    Check { rule: bad_call::RULE, scope: CheckScope::Page, run: bad_call::run },
    Check { rule: bad_condition::RULE, scope: CheckScope::Site, run: bad_condition::run },
    Check { rule: bad_declaration::RULE, scope: CheckScope::Site, run: bad_declaration::run },
    Check { rule: bad_include::RULE, scope: CheckScope::Page, run: bad_include::run },
    Check { rule: bad_pattern::RULE, scope: CheckScope::Site, run: bad_pattern::run },
    Check { rule: branch_source::RULE, scope: CheckScope::Page, run: branch_source::run },
    Check { rule: broken_anchor::RULE, scope: CheckScope::Links, run: broken_anchor::run },
    Check { rule: broken_link::RULE, scope: CheckScope::Links, run: broken_link::run },
    Check { rule: cause_solution::RULE, scope: CheckScope::Page, run: cause_solution::run },
    Check { rule: command_character::RULE, scope: CheckScope::Page, run: command_character::run },
    Check { rule: costly_signature::RULE, scope: CheckScope::Site, run: costly_signature::run },
    Check { rule: duplicate_id::RULE, scope: CheckScope::Page, run: duplicate_id::run },
    Check { rule: duplicate_slug::RULE, scope: CheckScope::Addresses, run: duplicate_slug::run },
    Check { rule: empty_body::RULE, scope: CheckScope::Page, run: empty_body::run },
    Check { rule: future_date::RULE, scope: CheckScope::Page, run: future_date::run },
    Check { rule: misleading_link::RULE, scope: CheckScope::Page, run: misleading_link::run },
    Check { rule: missing_file::RULE, scope: CheckScope::Links, run: missing_file::run },
    Check { rule: missing_pack::RULE, scope: CheckScope::Site, run: missing_pack::run },
    Check { rule: mixed_script::RULE, scope: CheckScope::Page, run: mixed_script::run },
    Check { rule: no_check_section::RULE, scope: CheckScope::Page, run: no_check_section::run },
    Check { rule: no_signature::RULE, scope: CheckScope::Page, run: no_signature::run },
    Check { rule: placeholder::RULE, scope: CheckScope::Page, run: placeholder::run },
    Check { rule: private_data::RULE, scope: CheckScope::Page, run: private_data::run },
    Check { rule: punycode_host::RULE, scope: CheckScope::Page, run: punycode_host::run },
    Check { rule: reserved_name::RULE, scope: CheckScope::Addresses, run: reserved_name::run },
    Check { rule: same_solution::RULE, scope: CheckScope::Site, run: same_solution::run },
    Check { rule: signature_collision::RULE, scope: CheckScope::Site, run: signature_collision::run },
    Check { rule: solution_heading::RULE, scope: CheckScope::Page, run: solution_heading::run },
    Check { rule: solution_order::RULE, scope: CheckScope::Page, run: solution_order::run },
    Check { rule: unknown_reference::RULE, scope: CheckScope::Site, run: unknown_reference::run },
    Check { rule: unproven_fix::RULE, scope: CheckScope::Site, run: unproven_fix::run },
    Check { rule: unused_template::RULE, scope: CheckScope::Site, run: unused_template::run },
    Check { rule: weak_signature::RULE, scope: CheckScope::Page, run: weak_signature::run },
    Check { rule: wrong_figure::RULE, scope: CheckScope::Site, run: wrong_figure::run },
    Check { rule: wrong_match::RULE, scope: CheckScope::Site, run: wrong_match::run },
    Check { rule: wrong_reading::RULE, scope: CheckScope::Site, run: wrong_reading::run },
];

/// Maximum number of findings per check with a suggested name. A search takes time proportional to the number of
/// pages, and many such findings mean that a folder was moved.
const MAX_SUGGESTIONS: usize = 100;

/// Returns the findings of single pages, of links and of addresses, unordered. A page without findings is checked again
/// when a fact it read has changed.
pub fn pages(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let pages: Vec<_> = context.site.split_pages().filter(|(head, _)| !head.is_unread()).collect();
    let run_checks = |(head, make_site): &(&Head, MakeSite<'_>)| {
        context.engine.check(&format!("page {}", head.path), || {
            let context = CheckContext { pages: &make_site(), ..*context };
            let mut found: Vec<_> =
                checks_of(CheckScope::Page).flat_map(|check| (check.run)(&context)).collect();
            found.extend(markup::run(&context));
            found
        })
    };
    let mut found: Vec<_> = pages.par_iter().flat_map_iter(run_checks).collect();
    let others = checks_of(CheckScope::Links).chain(checks_of(CheckScope::Addresses));
    found.extend(others.flat_map(|check| (check.run)(context)));
    found
}

/// Returns the findings that involve several pages, unordered.
pub fn site(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let checks: Vec<&Check> = checks_of(CheckScope::Site).collect();
    let run_checks = |check: &&Check| context.engine.check(check.rule.code, || (check.run)(context));
    checks.par_iter().flat_map(run_checks).collect()
}

fn checks_of(scope: CheckScope) -> impl Iterator<Item = &'static Check> {
    ALL.iter().filter(move |check| check.scope == scope)
}

/// Returns the first pattern of the page that matches a text.
fn pattern_in(error: &Page<ErrorData>, text: &Spanned<String>) -> Option<Span> {
    let mut patterns = error.data.signatures.iter().filter_map(|signature| signature.texts().first());
    patterns.find(|pattern| diagnosis::finds(&pattern.value, &text.value)).map(|pattern| pattern.span)
}

/// Converts errors of patterns and conditions to findings.
fn signature_findings(rule: &Rule, faults: &[SignatureError]) -> Vec<Diagnostic> {
    faults
        .iter()
        .map(|fault| Diagnostic::error(rule, fault.span, fault.message.clone()).help(fault.help.clone()))
        .collect()
}
