//! Files for static hosts: headers, redirects, robots, and `.nojekyll`.

use crate::files::Outputs;
use crate::render::RenderInputs;
use crate::site::Site;

/// Content-Security-Policy of every page; also stated in the pages, for hosts that send no headers.
pub(super) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; \
require-trusted-types-for 'script'; trusted-types default";

/// File names.
const FILES: [&str; 4] = ["_headers", "_redirects", "robots.txt", ".nojekyll"];

/// Makes the files.
pub(super) fn files(inputs: &RenderInputs<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    let robots = format!("User-agent: *\nAllow: /\n\nSitemap: {}sitemap.xml\n", inputs.config.base_url);
    let texts = [headers(), redirects(inputs.site), robots, String::new()];
    FILES.into_iter().zip(texts).for_each(|(path, text)| outputs.add(path, text));
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

/// Formats one redirect per alias; aliases are checked to be plain addresses.
fn redirects(site: &Site) -> String {
    let mut lines: Vec<String> = site
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
