//! What the files of new pages say before anything is filled in.

use anyhow::{Context, Result};
use jiff::civil::Date;

use crate::cli::new::guess;
use crate::site::{scaffold, title_of};

/// An error page of the site published at `base_url`. With a message its pattern is guessed.
pub(super) fn error(slug: &str, message: Option<&str>, today: Date, base_url: &str) -> Result<String> {
    let placeholder = scaffold::fill(scaffold::SAMPLE, &[("SLUG", slug)]);
    let sample = message.unwrap_or(&placeholder);
    let pattern = guess::pattern_of(sample);
    let quoted = |text: &str| -> Result<String> {
        // JSON's form of text is YAML too, and always on one line.
        serde_json::to_string(text).context("cannot write the message as text")
    };
    let title = quoted(&title_of(slug))?;
    let page = scaffold::fill(
        scaffold::ERROR,
        &[
            ("BASE_URL", base_url),
            ("TITLE", &title),
            ("TODAY", &today.to_string()),
            ("PATTERN", &quoted(&pattern)?),
            ("SAMPLE", &quoted(sample)?),
        ],
    );
    // What is proposed must be YAML, whatever the log held.
    let front = page.split("---\n").nth(1).unwrap_or_default();
    serde_yaml::from_str::<serde_yaml::Value>(front).context("the message cannot be written as YAML")?;
    Ok(page)
}

/// A model page.
pub(super) fn model(slug: &str) -> String {
    scaffold::fill(scaffold::MODEL, &[("TITLE", &title_of(slug))])
}

/// A hardware page.
pub(super) fn hardware(slug: &str) -> String {
    scaffold::fill(scaffold::HARDWARE, &[("TITLE", &title_of(slug))])
}

/// A guide.
pub(super) fn guide(slug: &str, today: Date) -> String {
    scaffold::fill(scaffold::GUIDE, &[("TITLE", &title_of(slug)), ("TODAY", &today.to_string())])
}
