//! The corpus as a site of this program.

use std::path::Path;

use super::article::Article;
use super::{CATEGORIES, Corpus, TOOLS, put};

/// Without pictures of shared pages, since other generators draw none.
const SETTINGS: &str = "title = \"Errors\"
tagline = \"Made of numbers.\"
description = \"A knowledge base for measurements.\"
base_url = \"https://kb.example/\"
language = \"en\"
repository = \"https://git.example/kb\"
branch = \"main\"
license = \"CC BY 4.0\"
stale_after_days = 180
social_images = false
";

pub fn write(corpus: Corpus, folder: &Path) -> std::io::Result<()> {
    put(folder, "site.toml", SETTINGS)?;
    for at in 0..CATEGORIES.min(corpus.pages) {
        let text = format!(
            "---\ntitle: Trouble of kind {at}\norder: {at}\n---\n\nPages about one kind of trouble.\n"
        );
        put(folder, &format!("content/errors/kind-{at:02}/_index.md"), &text)?;
    }
    for tool in TOOLS {
        let text = format!(
            "---\ntitle: {tool}\nhomepage: https://example.org/{tool}\nverified: 2026-11-01\nsources:\n  - \"https://example.org/{tool}\"\n---\n\nIt runs models. Its log says most of what there is to know.\n"
        );
        put(folder, &format!("content/tools/{tool}.md"), &text)?;
    }
    let guide = "---\ntitle: Free the card\nverified: 2026-11-01\nsources:\n  - \"https://example.org/\"\n---\n\nStop what else holds the card.\n";
    put(folder, "content/guides/free-the-card.md", guide)?;
    for page in 0..corpus.pages {
        let Article { slug, category, front, body, .. } = Article::new(corpus, page);
        let text = format!("---\n{front}kind: cause\n---\n\n{body}");
        put(folder, &format!("content/errors/{category}/{slug}.md"), &text)?;
    }
    Ok(())
}
