//! Which addresses answered, and on which day: they are left alone for a while.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use jiff::civil::Date;

/// Where it is kept, from the root of the site; deleting it does no harm.
const PLACE: &str = ".kbgen-cache/links.json";

/// The days on which addresses answered.
#[derive(Debug)]
pub(super) struct Memory {
    path: PathBuf,
    today: Date,
    days: i64,
    answered: BTreeMap<String, Date>,
}

impl Memory {
    /// What is known; nothing when there is no such file or it cannot be read.
    pub fn open(root: &Path, today: Date, fresh: u32) -> Self {
        let path = root.join(PLACE);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let kept: BTreeMap<String, String> = serde_json::from_str(&text).unwrap_or_default();
        let answered = kept.into_iter().filter_map(|(url, day)| Some((url, day.parse().ok()?))).collect();
        Self { path, today, days: i64::from(fresh), answered }
    }

    /// Whether an address answered lately.
    pub fn is_fresh(&self, url: &str) -> bool {
        self.answered.get(url).is_some_and(|day| age(*day, self.today) < self.days)
    }

    /// Notes that it answered today.
    pub fn answered(&mut self, url: &str) {
        self.answered.insert(url.to_string(), self.today);
    }

    /// Writes down what is still fresh.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep(mut self) -> Result<()> {
        let (today, days) = (self.today, self.days);
        self.answered.retain(|_, day| age(*day, today) < days);
        let kept: BTreeMap<&str, String> =
            self.answered.iter().map(|(url, day)| (url.as_str(), day.to_string())).collect();
        let folder = self.path.parent().context("the file stands in a folder")?;
        fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
        let text = format!("{}\n", serde_json::to_string_pretty(&kept)?);
        fs::write(&self.path, text).with_context(|| format!("cannot write `{}`", self.path.display()))
    }
}

/// Days from one day to another; a day to come is long ago, since no clock told it.
fn age(day: Date, today: Date) -> i64 {
    match (today - day).get_days() {
        days if days >= 0 => i64::from(days),
        _ => i64::MAX,
    }
}
