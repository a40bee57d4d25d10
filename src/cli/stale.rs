//! `kbgen stale`: lists pages due for review.

use jiff::civil::Date;
use serde::Serialize;

use crate::cli::arguments::upkeep::StaleOptions;
use crate::cli::arguments::{Arguments, OutputFormat};
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, environment};
use crate::config::Config;
use crate::escape::one_line;
use crate::load::{self, Drafts};
use crate::site::{PageId, Site};

#[derive(Serialize)]
struct StalePage {
    file: String,
    title: String,
    verified: String,
    overdue_on: String,
    /// Negative before the due date.
    days_overdue: i64,
}

pub(super) fn run(
    arguments: &Arguments,
    options: &StaleOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = environment::root(arguments.root.as_deref())?;
    let (sources, _) = load::read(&root)?;
    let (config, _) = Config::read(&sources);
    let (site, _) = load::pages(&sources, Drafts::Exclude);
    let today = options.date.unwrap_or_else(environment::today);
    let pages = stale(&site, &config, today, options.within);
    match options.format {
        OutputFormat::Json => terminal.print_json(&pages),
        OutputFormat::Human if pages.is_empty() => terminal.message("no pages due for review"),
        OutputFormat::Human => {
            for page in &pages {
                let when = match page.days_overdue {
                    0 => "due today".to_string(),
                    days if days > 0 => format!("{days} days overdue"),
                    days => format!("due in {} days", -days),
                };
                terminal.print(format!("{}: verified {}, {when}\n", one_line(&page.file), page.verified));
            }
        }
    }
    Ok(Outcome::Success)
}

fn stale(site: &Site, config: &Config, today: Date, within: i64) -> Vec<StalePage> {
    let category = |id: &PageId| {
        site.errors.iter().find(|error| error.head.id == *id).map(|error| error.data.category.as_str())
    };
    let mut pages: Vec<StalePage> = site
        .heads()
        .filter_map(|head| {
            let verified = head.verified.as_ref()?.value;
            let days = config.stale_after(category(&head.id));
            let overdue_on = verified.saturating_add(jiff::Span::new().days(days));
            let days_overdue = i64::from((today - overdue_on).get_days());
            (days_overdue >= -within).then(|| StalePage {
                file: head.path.clone(),
                title: head.title.value.clone(),
                verified: verified.to_string(),
                overdue_on: overdue_on.to_string(),
                days_overdue,
            })
        })
        .collect();
    pages.sort_by(|a, b| (b.days_overdue, &a.file).cmp(&(a.days_overdue, &b.file)));
    pages
}
