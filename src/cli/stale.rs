//! `kbgen stale`: lists pages due for review: first those with texts that a program no longer has, then by date.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use jiff::civil::Date;
use serde::Serialize;

use crate::cli::arguments::upkeep::StaleOptions;
use crate::cli::arguments::{Arguments, OutputFormat};
use crate::cli::terminal::{Terminal, faulty_files_warning};
use crate::cli::verify::Report;
use crate::cli::{Outcome, environment};
use crate::config::Config;
use crate::diag;
use crate::escape::one_line;
use crate::load::{self, Drafts};
use crate::site::{Kind, PageId, Site};

#[derive(Serialize)]
struct StalePage {
    file: String,
    title: String,
    verified: String,
    overdue_on: String,
    /// Negative before the due date.
    days_overdue: i64,
    /// Options, variables and messages that the source of a program lacks.
    missing: Vec<String>,
}

pub(super) fn run(arguments: &Arguments, options: &StaleOptions, terminal: &Terminal) -> Result<Outcome> {
    let root = environment::root(arguments.root.as_deref())?;
    let (sources, mut found) = load::read(&root)?;
    let (config, faults) = Config::read(&sources);
    let (site, unread) = load::pages_declared(&sources, Drafts::Exclude, config.declared.clone());
    found.extend(faults.into_iter().chain(unread));
    let faulty_files = diag::faulty_files(&found);
    if faulty_files > 0 {
        terminal.message(faulty_files_warning(faulty_files));
    }
    let today = options.date.unwrap_or_else(environment::today);
    let missing = missing(&options.report)?;
    let pages = stale(&site, &config, today, options.within, &missing);
    match options.format {
        OutputFormat::Json => terminal.print_json(&pages),
        OutputFormat::Human if pages.is_empty() => terminal.message("no pages due for review"),
        OutputFormat::Human => {
            for page in &pages {
                let when = match page.days_overdue {
                    0 => "due today".to_string(),
                    1 => "1 day overdue".to_string(),
                    -1 => "due tomorrow".to_string(),
                    days if days > 0 => format!("{days} days overdue"),
                    days => format!("due in {} days", -days),
                };
                let missing = match page.missing.len() {
                    0 => String::new(),
                    count => format!(", {count} missing: {}", one_line(&page.missing.join(", "))),
                };
                let file = one_line(&page.file);
                terminal.print(format!("{file}: verified {}, {when}{missing}\n", page.verified));
            }
        }
    }
    Ok(Outcome::Success)
}

/// Reads the findings of reports, by page.
fn missing(reports: &[PathBuf]) -> Result<BTreeMap<String, Vec<String>>> {
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in reports {
        let shown = path.display();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read `{shown}`"))?;
        let report: Report = serde_json::from_str(&text)
            .with_context(|| format!("`{shown}` is not a report of `kbgen verify --format json`"))?;
        for claim in report.missing {
            let names = missing.entry(claim.file).or_default();
            if !names.contains(&claim.name) {
                names.push(claim.name);
            }
        }
    }
    Ok(missing)
}

fn stale(
    site: &Site,
    config: &Config,
    today: Date,
    within: i64,
    missing: &BTreeMap<String, Vec<String>>,
) -> Vec<StalePage> {
    let category = |id: &PageId| {
        let error = Some(id).filter(|id| id.kind == Kind::Error).and_then(|id| site.error(&id.slug));
        error.map(|error| error.data.category.as_str())
    };
    let mut pages: Vec<StalePage> = site
        .heads()
        .filter_map(|head| {
            let verified = head.verified.as_ref()?.value;
            let days = config.stale_after(category(&head.id));
            let overdue_on = verified.saturating_add(jiff::Span::new().days(days));
            let days_overdue = i64::from((today - overdue_on).get_days());
            let missing = missing.get(&head.path).cloned().unwrap_or_default();
            (days_overdue >= -within || !missing.is_empty()).then(|| StalePage {
                missing,
                file: head.path.clone(),
                title: head.title.value.clone(),
                verified: verified.to_string(),
                overdue_on: overdue_on.to_string(),
                days_overdue,
            })
        })
        .collect();
    pages.sort_by(|a, b| {
        (b.missing.len(), b.days_overdue, &a.file).cmp(&(a.missing.len(), a.days_overdue, &b.file))
    });
    pages
}
