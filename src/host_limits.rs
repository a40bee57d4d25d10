//! Limits of static hosts, and warnings when a site comes close to one.
//!
//! Sources of the limits: `docs/publishing.md`.

/// Size of a site, as hosts measure it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SiteStats {
    /// Number of files.
    pub files: u64,
    /// Total bytes of all files.
    pub bytes: u64,
    /// Bytes of the largest file.
    pub largest: u64,
    /// Number of rules in `_redirects`.
    pub redirects: u64,
}

/// A limit of one host.
struct Limit {
    host: &'static str,
    what: &'static str,
    of: fn(&SiteStats) -> u64,
    most: u64,
    shown: fn(u64) -> String,
    remedy: &'static str,
}

const MIB: u64 = 1 << 20;

/// Percentage of a limit from which on a warning is printed.
const WARN_PERCENT: u64 = 80;

const LIMITS: &[Limit] = &[
    Limit {
        host: "GitHub Pages",
        what: "in all",
        of: |site| site.bytes,
        most: 1_000_000_000,
        shown: size,
        remedy: "leave out `--precompress`, which this host does not use, or publish elsewhere",
    },
    Limit {
        host: "Cloudflare Pages",
        what: "files",
        of: |site| site.files,
        most: 20_000,
        shown: plain,
        remedy: "leave out `--precompress`, which this host does not need, or take a paid plan",
    },
    Limit {
        host: "Cloudflare Pages",
        what: "in the largest file",
        of: |site| site.largest,
        most: 25 * MIB,
        shown: size,
        remedy: "keep that file elsewhere and link to it",
    },
    Limit {
        host: "Cloudflare Pages",
        what: "redirects",
        of: |site| site.redirects,
        most: 2000,
        shown: plain,
        remedy: "drop the oldest `aliases`",
    },
    Limit {
        host: "Netlify",
        what: "redirects",
        of: |site| site.redirects,
        most: 10_000,
        shown: plain,
        remedy: "drop the oldest `aliases`",
    },
];

impl SiteStats {
    /// Adds a file.
    pub fn add(&mut self, path: &str, bytes: &[u8]) {
        self.add_file(bytes.len() as u64);
        if path == "_redirects" {
            let lines = bytes.split(|byte| *byte == b'\n');
            self.redirects += lines.filter(|line| !line.is_empty() && line[0] != b'#').count() as u64;
        }
    }

    /// Adds a file of this length that is not a list of redirects.
    pub fn add_file(&mut self, length: u64) {
        self.files += 1;
        self.bytes += length;
        self.largest = self.largest.max(length);
    }

    /// Returns one line if no limit is near, else a line for each limit that is.
    pub fn report(&self) -> Vec<String> {
        let near: Vec<String> = LIMITS
            .iter()
            .filter(|limit| (limit.of)(self) * 100 >= limit.most * WARN_PERCENT)
            .map(|limit| limit.warning((limit.of)(self)))
            .collect();
        if !near.is_empty() {
            return near;
        }
        let redirects = match self.redirects {
            1 => "1 redirect".to_string(),
            count => format!("{count} redirects"),
        };
        vec![format!(
            "within the limits of GitHub Pages, Cloudflare Pages and Netlify: {} in all, {} in the largest file, {redirects}",
            size(self.bytes),
            size(self.largest),
        )]
    }
}

impl Limit {
    fn warning(&self, is: u64) -> String {
        let Self { host, what, most, shown, remedy, .. } = self;
        let place = if is > *most { "over" } else { "near" };
        format!("warning: {place} a limit of {host}: {} of {} {what}; {remedy}", shown(is), shown(*most))
    }
}

/// Formats a number of bytes.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..MIB => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{:.1} MiB", bytes as f64 / MIB as f64),
    }
}

fn plain(count: u64) -> String {
    count.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: SiteStats = SiteStats { files: 1400, bytes: 40 * MIB, largest: MIB, redirects: 1 };

    #[test]
    fn reports_a_small_site_in_one_line() {
        assert_eq!(
            SMALL.report(),
            ["within the limits of GitHub Pages, Cloudflare Pages and Netlify: 40.0 MiB in all, \
              1.0 MiB in the largest file, 1 redirect"]
        );
    }

    #[test]
    fn warns_near_and_above_a_limit() {
        let report = |size: SiteStats| size.report().join("\n");
        assert!(report(SiteStats { files: 15_999, ..SMALL }).starts_with("within"));
        assert_eq!(
            report(SiteStats { files: 16_000, ..SMALL }),
            "warning: near a limit of Cloudflare Pages: 16000 of 20000 files; leave out `--precompress`, which this \
             host does not need, or take a paid plan"
        );
        assert!(
            report(SiteStats { largest: 26 * MIB, ..SMALL })
                .starts_with("warning: over a limit of Cloudflare")
        );
        assert!(
            report(SiteStats { bytes: 800_000_000, ..SMALL }).starts_with("warning: near a limit of GitHub")
        );
        assert_eq!(SiteStats { redirects: 9000, ..SMALL }.report().len(), 2, "two hosts limit redirects");
    }

    #[test]
    fn only_rules_count_as_redirects() {
        let mut size = SiteStats::default();
        size.add("_redirects", b"# old names\n/a/ /b/ 301\n\n/c/ /d/ 301\n");
        size.add("index.html", b"12345");
        assert_eq!(size, SiteStats { files: 2, bytes: 42, largest: 37, redirects: 2 });
    }
}
