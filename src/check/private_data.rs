//! Access tokens and user names in pages.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::check::{CheckContext, texts};
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;
use crate::site::Head;

pub(super) const RULE: Rule = Rule {
    code: "private-data",
    requirement: "pages contain no access tokens, private keys or home folders with a user name",
    why: "pasted logs leak them, and a published token must be revoked",
};

/// Prefixes of access tokens, with the minimum number of characters after them.
/// <https://huggingface.co/docs/hub/security-tokens>,
/// <https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/>,
/// <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html>,
/// <https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml>.
const TOKENS: [(&str, usize); 18] = [
    ("hf_", 30),
    ("api_org_", 30),
    ("sk-", 20),
    ("ghp_", 36),
    ("gho_", 36),
    ("ghu_", 36),
    ("ghs_", 36),
    ("ghr_", 36),
    ("github_pat_", 40),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 35),
    ("glpat-", 20),
    ("npm_", 36),
    ("pplx-", 48),
    ("pypi-AgEIcHlwaS5vcmc", 50),
    ("xoxb-", 20),
    ("xoxp-", 20),
];
/// Minimum number of distinct characters of a token. Placeholders such as `hf_xxxxxxxx` have fewer.
const DIFFERENT: usize = 8;

/// End of the first line of a private key.
const KEY_END: &str = "PRIVATE KEY-----";
/// Maximum length of that line, in bytes.
const MAX_KEY_LINE: usize = 64;

/// Parent folders of home folders.
const HOMES: [&str; 5] = ["/home/", "/Users/", ":\\Users\\", ":\\\\Users\\\\", ":\\\\\\\\Users\\\\\\\\"];
/// Generic names: placeholders and system accounts.
const NOBODY: [&str; 34] = [
    "admin",
    "administrator",
    "app",
    "coder",
    "default",
    "dev",
    "developer",
    "ec2-user",
    "foo",
    "guest",
    "jenkins",
    "jovyan",
    "linuxbrew",
    "me",
    "my-name",
    "name",
    "node",
    "nonroot",
    "public",
    "root",
    "runner",
    "shared",
    "someone",
    "test",
    "ubuntu",
    "user",
    "user1",
    "username",
    "users",
    "vscode",
    "x",
    "you",
    "your-name",
    "yourname",
];

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    texts::files(context).flat_map(|head| in_page(head, &context.sources.get(head.source).text)).collect()
}

fn in_page(head: &Head, text: &str) -> Vec<Diagnostic> {
    let place = |range: Range<usize>| Span::new(head.source, range.start, range.end);
    let (secrets, users) = in_text(text);
    let secrets = secrets.into_iter().map(|range| {
        Diagnostic::error(&RULE, place(range), "access token or private key")
            .help("replace it with a placeholder such as `hf_xxx`, and revoke it if it is real")
    });
    let users = users.into_iter().map(|range| {
        let message = format!("home folder of user `{}`", &text[range.clone()]);
        Diagnostic::warning(&RULE, place(range), message).help("replace the name with `user`")
    });
    secrets.chain(users).collect()
}

/// Start of the first line of a private key.
const KEY_START: &str = "-----BEGIN ";

/// Texts at the start of tokens, then of private keys, then of home folders.
static STARTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let starts = TOKENS.iter().map(|(start, _)| *start).chain([KEY_START]).chain(HOMES);
    AhoCorasick::new(starts).expect("the texts are few and short")
});

/// Finds access tokens, private keys, and user names in paths of home folders.
fn in_text(text: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (mut secrets, mut users) = (Vec::new(), Vec::new());
    for found in STARTS.find_iter(text) {
        let (which, at) = (found.pattern().as_usize(), found.start());
        match (TOKENS.get(which), which.checked_sub(TOKENS.len() + 1)) {
            (Some(token), _) => secrets.extend(token_at(text, at, *token)),
            (None, Some(home)) => users.extend(user_at(text, at, HOMES[home])),
            (None, None) => secrets.extend(key_at(text, at)),
        }
    }
    (secrets, users)
}

fn token_at(text: &str, at: usize, (beginning, fewest): (&str, usize)) -> Option<Range<usize>> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    // A token starts at a word boundary; this also keeps the search linear.
    if text[..at].ends_with(is_part) {
        return None;
    }
    let rest = &text[at + beginning.len()..];
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let mut letters: Vec<u8> = rest.bytes().take(length).collect();
    letters.sort_unstable();
    letters.dedup();
    let has = |kind: fn(&u8) -> bool| letters.iter().any(kind);
    // Tokens of Hugging Face can have no digits.
    let is_random = has(u8::is_ascii_digit) || has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let is_varied = letters.len() >= DIFFERENT && is_random;
    let is_example = rest[..length].contains("EXAMPLE");
    (length >= fewest && is_varied && !is_example).then(|| at..at + beginning.len() + length)
}

fn key_at(text: &str, at: usize) -> Option<Range<usize>> {
    let last = (at..=text.len().min(at + MAX_KEY_LINE)).rfind(|end| text.is_char_boundary(*end));
    let rest = &text[at..last.unwrap_or(at)];
    let end = rest.lines().next().and_then(|line| line.find(KEY_END))?;
    Some(at..at + end + KEY_END.len())
}

fn user_at(text: &str, at: usize, home: &str) -> Option<Range<usize>> {
    // Inside a longer path, it is not a home folder.
    let is_top =
        home.starts_with(':') || !text[..at].ends_with(|c: char| c.is_alphanumeric() || ".-_~}".contains(c));
    let start = at + home.len();
    let rest = &text[start..];
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name = rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())].trim_end_matches('.');
    let is_user = is_top && !name.is_empty() && !NOBODY.contains(&name.to_lowercase().as_str());
    is_user.then(|| start..start + name.len())
}
