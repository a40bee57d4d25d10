//! Dates on which links last worked, so that they are not requested again too soon.

use std::collections::BTreeMap;

use anyhow::Result;
use jiff::civil::Date;

use crate::cache::Cache;

/// File name in the cache.
const FILE: &str = "links.json";

/// Dates of the last response by URL.
#[derive(Debug)]
pub(super) struct LinkHistory<'c> {
    cache: Option<&'c Cache>,
    today: Date,
    days: i64,
    answered: BTreeMap<String, Date>,
}

impl<'c> LinkHistory<'c> {
    /// Reads the history. Empty if the file is missing or unreadable.
    pub fn open(cache: Option<&'c Cache>, today: Date, fresh: u32) -> Self {
        let bytes = cache.and_then(|cache| cache.read(FILE)).unwrap_or_default();
        let kept: BTreeMap<String, String> = serde_json::from_slice(&bytes).unwrap_or_default();
        let answered = kept.into_iter().filter_map(|(url, day)| Some((url, day.parse().ok()?))).collect();
        Self { cache, today, days: i64::from(fresh), answered }
    }

    /// Returns whether a URL worked within the configured number of days.
    pub fn is_fresh(&self, url: &str) -> bool {
        self.answered.get(url).is_some_and(|day| age(*day, self.today) < self.days)
    }

    /// Records that a URL worked today.
    pub fn answered(&mut self, url: &str) {
        self.answered.insert(url.to_string(), self.today);
    }

    /// Writes the fresh entries.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep(mut self) -> Result<()> {
        let (today, days) = (self.today, self.days);
        self.answered.retain(|_, day| age(*day, today) < days);
        let kept: BTreeMap<&str, String> =
            self.answered.iter().map(|(url, day)| (url.as_str(), day.to_string())).collect();
        let text = format!("{}\n", serde_json::to_string_pretty(&kept)?);
        self.cache.map_or(Ok(()), |cache| cache.write(FILE, text.as_bytes()))
    }
}

/// Returns the days between two dates. A future date counts as expired.
fn age(day: Date, today: Date) -> i64 {
    match (today - day).get_days() {
        days if days >= 0 => i64::from(days),
        _ => i64::MAX,
    }
}
