//! Content-Security-Policy and other response headers, extended by `site.toml`.

use crate::config::BAD_SETTINGS;
use crate::diag::Diagnostic;
use crate::files::Spanned;

/// Directives of the policy with their sources.
const DIRECTIVES: [(&str, &str); 10] = [
    ("default-src", "'none'"),
    ("script-src", "'self'"),
    ("style-src", "'self'"),
    ("img-src", "'self' data:"),
    ("connect-src", "'self'"),
    ("font-src", "'self'"),
    ("base-uri", "'none'"),
    ("form-action", "'none'"),
    ("require-trusted-types-for", "'script'"),
    ("trusted-types", "default"),
];

/// Directives that a site may add: resources that kbgen's own pages do not use.
const FURTHER: [&str; 5] = ["child-src", "frame-src", "manifest-src", "media-src", "worker-src"];

/// Headers of every page besides the policy.
const HEADERS: [(&str, &str); 3] = [
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
];

/// Settings of one table: keys and values.
type Pairs = Vec<(Spanned<String>, Spanned<String>)>;

/// Returns the Content-Security-Policy of every page: the built-in sources of each directive, then those of the site.
pub(super) fn policy(added: Pairs, found: &mut Vec<Diagnostic>) -> String {
    let mut directives: Vec<(String, String)> =
        DIRECTIVES.map(|(name, sources)| (name.into(), sources.into())).into();
    for (name, sources) in added {
        let is_known = DIRECTIVES.iter().any(|(known, _)| *known == name.value)
            || FURTHER.contains(&name.value.as_str());
        if !is_known {
            let known: Vec<_> = DIRECTIVES
                .iter()
                .map(|(known, _)| *known)
                .chain(FURTHER)
                .map(|known| format!("`{known}`"))
                .collect();
            let message = format!("`{}` is not a directive that can be extended", name.value);
            found.push(
                Diagnostic::error(&BAD_SETTINGS, name.span, message)
                    .help(format!("use one of {}", known.join(", "))),
            );
            continue;
        }
        if sources.value.is_empty()
            || !sources
                .value
                .chars()
                .all(|c| c.is_ascii_graphic() && !matches!(c, ';' | ',' | '"' | '&' | '<' | '>') || c == ' ')
        {
            let message = format!("`{}` is not a list of sources", sources.value);
            found.push(Diagnostic::error(&BAD_SETTINGS, sources.span, message).help(format!(
                "write sources separated by spaces: `{} = \"https://img.example\"`",
                name.value
            )));
            continue;
        }
        match directives.iter_mut().find(|(known, _)| *known == name.value) {
            Some((_, own)) if own == "'none'" => *own = sources.value,
            Some((_, own)) => *own = format!("{own} {}", sources.value),
            None => directives.push((name.value, sources.value)),
        }
    }
    let directives: Vec<_> = directives.iter().map(|(name, sources)| format!("{name} {sources}")).collect();
    directives.join("; ")
}

/// Returns the headers of every page besides the policy; those of the site replace built-in ones of the same name.
pub(super) fn headers(added: Pairs, found: &mut Vec<Diagnostic>) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = HEADERS.map(|(name, value)| (name.into(), value.into())).into();
    for (name, value) in added {
        let is_name =
            !name.value.is_empty() && name.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if !is_name || name.value.eq_ignore_ascii_case("Content-Security-Policy") {
            let message = format!("`{}` cannot be set as a header", name.value);
            let help = if is_name {
                "extend the policy in the table `[csp]`"
            } else {
                "header names consist of letters, digits and hyphens"
            };
            found.push(Diagnostic::error(&BAD_SETTINGS, name.span, message).help(help));
            continue;
        }
        if !value.value.chars().all(|c| c.is_ascii_graphic() || c == ' ') {
            let message = format!("the value of `{}` is not plain ASCII on one line", name.value);
            found.push(
                Diagnostic::error(&BAD_SETTINGS, value.span, message).help("percent-encode other characters"),
            );
            continue;
        }
        headers.retain(|(known, _)| !known.eq_ignore_ascii_case(&name.value));
        headers.push((name.value, value.value));
    }
    headers
}
