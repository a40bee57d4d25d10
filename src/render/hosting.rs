//! Files for static hosts: headers, redirects, robots, and `.nojekyll`.

use crate::config::Config;
use crate::files::Outputs;
use crate::render::RenderInputs;
use crate::site::{ROBOTS, Site};

/// File names.
const FILES: [&str; 4] = ["_headers", "_redirects", ROBOTS, ".nojekyll"];

/// Makes the files.
pub(super) fn files(inputs: &RenderInputs<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    let robots = format!("User-agent: *\nAllow: /\n\nSitemap: {}sitemap.xml\n", inputs.config.base_url);
    let texts = [headers(inputs.config), redirects(inputs.site), robots, String::new()];
    let has_robots = inputs.sources.asset("static/root/robots.txt").is_some();
    let files = FILES.into_iter().zip(texts).filter(|(path, _)| *path != ROBOTS || !has_robots);
    files.for_each(|(path, text)| outputs.add(path, text));
    outputs
}

/// Formats `_headers`. Browsers ignore `frame-ancestors` in a page, so only the header contains it.
fn headers(config: &Config) -> String {
    let others: String = config.headers.iter().map(|(name, value)| format!("  {name}: {value}\n")).collect();
    format!(
        "/*\n  Content-Security-Policy: {}; frame-ancestors 'none'\n{others}\n\
         /static/*\n  Cache-Control: public, max-age=31536000, immutable\n\n\
         /social/*\n  Cache-Control: public, max-age=86400\n",
        config.csp
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
