//! Links whose text shows another host than their target.

use crate::check::{CheckContext, texts};
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;
use crate::markdown::Link;
use crate::unicode_safety::host;

pub(super) const RULE: Rule = Rule {
    code: "misleading-link",
    requirement: "links whose text is a URL lead to the host of that URL",
    why: "readers trust the displayed URL",
};

/// Top-level domains, to tell hosts from file names such as `setup.py`, `llama.cpp` and `README.md`.
const TOP_LEVEL: [&str; 44] = [
    "ai", "app", "at", "be", "biz", "br", "ca", "ch", "cloud", "cn", "co", "com", "cz", "de", "dev", "dk",
    "edu", "es", "eu", "example", "fi", "fr", "gov", "in", "info", "io", "it", "jp", "kr", "me", "mil",
    "net", "nl", "no", "nz", "onion", "org", "ru", "se", "tech", "tv", "uk", "us", "xyz",
];

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for head in texts::heads(context) {
        let span = |link: &Link| head.body.span.part(link.range.start, link.range.end);
        found.extend(head.body.outline.links.iter().filter_map(|link| finding(link, span(link))));
    }
    for (line, outline) in texts::lines(context, texts::LINK_MARKS) {
        found.extend(outline.links.iter().filter_map(|link| finding(link, line.span)));
    }
    found
}

fn finding(link: &Link, span: Span) -> Option<Diagnostic> {
    let shown = shown_hosts(&link.text).into_iter().find(|shown| !leads_to(&link.destination, shown))?;
    let message = match target(&link.destination) {
        Some(target) => format!("link text shows `{shown}`, but the link leads to `{target}`"),
        None => format!("link text shows `{shown}`, but the link leads elsewhere"),
    };
    Some(
        Diagnostic::error(&RULE, span, message)
            .help("describe the target in words, or link to the displayed URL"),
    )
}

/// Returns whether a destination starts with a host instead of a scheme: `www.example.org/page`.
pub(super) fn starts_with_host(destination: &str) -> bool {
    let name = destination.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let ending = name.rsplit_once('.').filter(|(host, _)| !host.is_empty()).map_or("", |(_, ending)| ending);
    TOP_LEVEL.contains(&ending) || name.starts_with("www.")
}

/// Returns the hosts shown by the text of a link: those of URLs in it, or the text itself if it is a host name.
fn shown_hosts(text: &str) -> Vec<String> {
    let bare = |word: &str| {
        word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '[' | ']')).to_lowercase()
    };
    let words: Vec<String> = text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect();
    let addresses = words.iter().filter_map(|word| {
        let start = word.find("https://").or_else(|| word.find("http://"))?;
        host(&word[start..])
    });
    let mut hosts: Vec<String> = addresses.collect();
    if let [word] = &words[..] {
        let name = word.split_once('@').map_or(word.as_str(), |(_, host)| host);
        let name = name.split(['/', '?', '#', ':']).next().unwrap_or_default();
        if hosts.is_empty() && starts_with_host(name) {
            hosts.push(name.to_string());
        }
    }
    hosts
}

/// Returns the host of a URL or of a mail address.
fn target(destination: &str) -> Option<String> {
    match destination.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("mailto:")) {
        Some(_) => {
            let address = destination[7..].split('?').next()?;
            address.rsplit_once('@').map(|(_, host)| host.to_lowercase())
        }
        None => host(destination),
    }
}

/// Whether a destination leads to a host, to one below it, or to the one that it is below of.
fn leads_to(destination: &str, shown: &str) -> bool {
    let Some(target) = target(destination) else { return false };
    let is_below = |name: &str, other: &str| {
        name == other
            || other.contains('.') && name.strip_suffix(other).is_some_and(|rest| rest.ends_with('.'))
    };
    let shown = shown.strip_prefix("www.").unwrap_or(shown);
    let target = target.strip_prefix("www.").unwrap_or(&target);
    is_below(target, shown) || is_below(shown, target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misleads(text: &str, destination: &str) -> bool {
        let link = Link { text: text.into(), destination: destination.into(), image: false, range: 0..0 };
        let place = Span::top(crate::files::Sources::default().add("a.md", ""));
        finding(&link, place).is_some()
    }

    #[test]
    fn a_host_that_is_shown_is_where_the_link_leads() {
        for (text, destination) in [
            ("https://github.com/ollama/ollama", "https://evil.example/ollama"),
            ("ollama.com", "https://ollama.com.evil.example/"),
            ("see HTTPS://GitHub.com/x.", "https://evil.example/"),
            ("(www.python.org)", "https://evil.example/"),
            ("https://github.com", "https:github.com@evil.example"),
            ("https://github.com/x", "/errors/x/"),
            ("security@ollama.com", "mailto:me@evil.example"),
            ("github.com/ollama", "https://notgithub.com/ollama"),
        ] {
            assert!(misleads(text, destination), "[{text}]({destination})");
        }
        for (text, destination) in [
            ("https://github.com/a/b", "https://github.com/a/b/issues/1"),
            ("github.com", "https://docs.github.com/x"),
            ("docs.vllm.ai/en", "https://docs.vllm.ai/en/latest/"),
            ("www.nvidia.com", "https://nvidia.com"),
            ("llama.cpp", "https://github.com/ggml-org/llama.cpp"),
            ("setup.py", "https://github.com/x/setup.py"),
            ("README.md", "../README.md"),
            ("how github.com builds it", "https://blog.example/"),
            ("a@b.org", "mailto:a@b.org?subject=x"),
            ("version 1.2.3", "https://a.org"),
            ("Node.js", "https://nodejs.org"),
        ] {
            assert!(!misleads(text, destination), "[{text}]({destination})");
        }
    }
}
