//! Finds placeholder addresses in `site.toml`.

use crate::config::{Settings, toml};
use crate::diag::{Diagnostic, Rule};
use crate::files::Sources;
use crate::schema::{self, Record as _, Syntax};

/// A site with these addresses must not be published. Not a rule of `check`: a local build may have them.
const PLACEHOLDER_ADDRESS: Rule = Rule {
    code: "placeholder-address",
    requirement: "a published site has real URLs in site.toml",
    why: "feeds, canonical links and edit links would lead to hosts that do not exist",
};

/// Reserved host names (RFC 2606, RFC 6761).
const RESERVED: [&str; 7] =
    ["example", "example.com", "example.net", "example.org", "invalid", "localhost", "test"];

/// Returns a finding for each placeholder: in `base_url` (or `given`, which replaces it), `repository` and `contact`.
pub fn placeholders(sources: &Sources, given: Option<&str>) -> Vec<Diagnostic> {
    let Some(file) = sources.find("site.toml") else { return Vec::new() };
    // Syntax errors are reported by the build itself.
    let node = toml::parse(&sources.get(file).text, file, &mut Vec::new());
    let fields = schema::read(&node, Settings::FIELDS, "site.toml", Syntax::Toml, &mut Vec::new());
    let written = Settings::of(&fields);
    let given = given.map(str::to_string);
    let base_url = written.base_url.map(|url| url.map(|url| given.unwrap_or(url)));
    let values = [("base_url", base_url), ("repository", written.repository), ("contact", written.contact)];
    let values = values.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let is_placeholder = |host: &str| is_reserved(host) || host.starts_with("127.");
    let placeholders = values.filter(|(_, value)| is_placeholder(host(&value.value)));
    placeholders
        .map(|(name, value)| {
            let message = format!("`{name}` is the placeholder `{}`", value.value);
            let help = match name {
                "base_url" => "set it to the URL of the published site, or pass `--base-url`",
                "repository" => "set it to the URL of the repository, or remove the line",
                _ => "set a real address, or remove the line",
            };
            Diagnostic::error(&PLACEHOLDER_ADDRESS, value.span, message).help(help)
        })
        .collect()
}

/// Returns the host of a web or email address.
fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    host.split(':').next().unwrap_or(host)
}

/// Returns whether a host name, or a parent domain of it, is reserved.
pub fn is_reserved(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let lies_in = |name: &str| host == *name || host.ends_with(&format!(".{name}"));
    RESERVED.iter().any(|name| lies_in(name))
}
