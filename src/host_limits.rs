//! Limits of static hosts, and warnings for sites close to them.
//!
//! `docs/publishing.md` lists each limit with its source.

use std::collections::BTreeMap;

use crate::site::{format_count, gib};

/// Sizes of a site that hosts limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteStats {
    /// Number of files.
    pub files: u64,
    /// Total bytes.
    pub bytes: u64,
    /// Bytes of the largest file.
    pub largest: u64,
    /// Number of rules in `_redirects`.
    pub redirects: u64,
    /// Bytes so far of files that are not complete, by path.
    begun: BTreeMap<String, u64>,
}

/// A limit of one host.
struct Limit {
    host: &'static str,
    what: &'static str,
    of: fn(&SiteStats) -> u64,
    max: u64,
    shown: fn(u64) -> String,
    remedy: &'static str,
}

const MIB: u64 = 1 << 20;

/// Percentage of a limit from which a warning is printed.
const WARNING_PERCENT: u64 = 80;

const LIMITS: &[Limit] = &[
    Limit {
        host: "GitHub Pages",
        what: "total",
        of: |site| site.bytes,
        max: 1_000_000_000,
        shown: format_bytes,
        remedy: "omit `--precompress`, which this host does not use, or choose another host",
    },
    Limit {
        host: "Cloudflare Pages",
        what: "files",
        of: |site| site.files,
        max: 20_000,
        shown: format_count,
        remedy: "omit `--precompress`, set `alternates = []` and `social_images = false`, or use a paid plan",
    },
    Limit {
        host: "Cloudflare Pages",
        what: "in the largest file",
        of: |site| site.largest,
        max: 25 * MIB,
        shown: format_bytes,
        remedy: "host that file elsewhere and link to it",
    },
    Limit {
        host: "Cloudflare Pages",
        what: "redirects",
        of: |site| site.redirects,
        max: 2000,
        shown: format_count,
        remedy: "remove the oldest `aliases`",
    },
    Limit {
        host: "Netlify",
        what: "redirects",
        of: |site| site.redirects,
        max: 10_000,
        shown: format_count,
        remedy: "remove the oldest `aliases`",
    },
];

impl SiteStats {
    /// Adds a file.
    pub fn add(&mut self, path: &str, bytes: &[u8]) {
        let begun = self.begun.remove(path).unwrap_or_default();
        self.add_file(begun + bytes.len() as u64);
        if path == "_redirects" {
            let lines = bytes.split(|byte| *byte == b'\n');
            self.redirects += lines.filter(|line| !line.is_empty() && line[0] != b'#').count() as u64;
        }
    }

    /// Counts bytes of a file that is added later.
    pub fn begin(&mut self, path: &str, length: u64) {
        *self.begun.entry(path.to_string()).or_default() += length;
    }

    /// Counts a file of `length` bytes that is not `_redirects`.
    pub fn add_file(&mut self, length: u64) {
        self.files += 1;
        self.bytes += length;
        self.largest = self.largest.max(length);
    }

    /// Returns one line if all limits are far, or else a warning per limit that is close or exceeded.
    pub fn report(&self) -> Vec<String> {
        let warnings: Vec<String> = LIMITS
            .iter()
            .filter(|limit| (limit.of)(self) * 100 >= limit.max * WARNING_PERCENT)
            .map(|limit| limit.warning((limit.of)(self)))
            .collect();
        if !warnings.is_empty() {
            return warnings;
        }
        let redirects = match self.redirects {
            1 => "1 redirect".to_string(),
            count => format!("{} redirects", format_count(count)),
        };
        vec![format!(
            "within the limits of GitHub Pages, Cloudflare Pages and Netlify: {} total, {} in the largest file, {redirects}",
            format_bytes(self.bytes),
            format_bytes(self.largest),
        )]
    }
}

impl Limit {
    fn warning(&self, is: u64) -> String {
        let Self { host, what, max, shown, remedy, .. } = self;
        let place = if is > *max { "over" } else { "near" };
        format!("warning: {place} the limit of {host}: {} of {} {what}; {remedy}", shown(is), shown(*max))
    }
}

/// Formats bytes with a unit of KiB or larger.
pub fn format_bytes(bytes: u64) -> String {
    match bytes {
        0..MIB => format!("{} KiB", bytes.div_ceil(1024)),
        _ => gib(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: SiteStats =
        SiteStats { files: 1400, bytes: 40 * MIB, largest: MIB, redirects: 1, begun: BTreeMap::new() };

    #[test]
    fn a_small_site_is_reported_in_one_line() {
        assert_eq!(
            SMALL.report(),
            ["within the limits of GitHub Pages, Cloudflare Pages and Netlify: 40.0 MiB total, \
              1.0 MiB in the largest file, 1 redirect"]
        );
    }

    #[test]
    fn a_limit_is_reported_when_close_and_when_exceeded() {
        let report = |size: SiteStats| size.report().join("\n");
        assert!(report(SiteStats { files: 15_999, ..SMALL }).starts_with("within"));
        assert_eq!(
            report(SiteStats { files: 16_000, ..SMALL }),
            "warning: near the limit of Cloudflare Pages: 16,000 of 20,000 files; omit `--precompress`, set \
             `alternates = []` and `social_images = false`, or use a paid plan"
        );
        assert!(
            report(SiteStats { largest: 26 * MIB, ..SMALL })
                .starts_with("warning: over the limit of Cloudflare")
        );
        assert!(
            report(SiteStats { bytes: 800_000_000, ..SMALL })
                .starts_with("warning: near the limit of GitHub")
        );
        assert_eq!(SiteStats { redirects: 9000, ..SMALL }.report().len(), 2, "two hosts limit redirects");
    }

    #[test]
    fn only_rules_count_as_redirects() {
        let mut size = SiteStats::default();
        size.add("_redirects", b"# old names\n/a/ /b/ 301\n\n/c/ /d/ 301\n");
        size.add("index.html", b"12345");
        assert_eq!(
            size,
            SiteStats { files: 2, bytes: 42, largest: 37, redirects: 2, begun: BTreeMap::new() }
        );
    }
}
