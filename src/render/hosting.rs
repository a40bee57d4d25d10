//! What static hosts read: headers, redirects, robots, and GitHub's switch against Jekyll.

use crate::files::Outputs;
use crate::render::views::Shelf;

/// The policy of every page; the pages state it too, for hosts that send no headers.
pub(super) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; \
require-trusted-types-for 'script'; trusted-types default";

/// `_headers`, `_redirects`, `robots.txt`, `.nojekyll`.
pub(super) fn files(shelf: &Shelf<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    outputs.add("_headers", headers());
    outputs.add("_redirects", redirects(shelf));
    outputs.add(
        "robots.txt",
        format!("User-agent: *\nAllow: /\n\nSitemap: {}sitemap.xml\n", shelf.order.config.base_url),
    );
    outputs.add(".nojekyll", "");
    outputs
}

fn headers() -> String {
    format!(
        "/*\n  Content-Security-Policy: {CONTENT_SECURITY_POLICY}; frame-ancestors 'none'\n  \
         X-Content-Type-Options: nosniff\n  Referrer-Policy: no-referrer\n  \
         Permissions-Policy: camera=(), geolocation=(), microphone=()\n\n\
         /static/*\n  Cache-Control: public, max-age=31536000, immutable\n\n\
         /social/*\n  Cache-Control: public, max-age=86400\n"
    )
}

/// One line an alias; addresses were checked to be plain.
fn redirects(shelf: &Shelf<'_>) -> String {
    let mut lines: Vec<String> = shelf
        .site()
        .heads()
        .flat_map(|head| {
            let target = head.id.address();
            head.aliases
                .iter()
                .map(move |alias| format!("/{}/ /{target} 301\n", alias.value.trim_matches('/')))
        })
        .collect();
    lines.sort();
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_state_the_policy_of_the_headers() {
        let head = include_str!("../../templates/parts/csp.html");
        assert!(head.contains(CONTENT_SECURITY_POLICY), "templates/parts/csp.html states another policy");
    }
}
