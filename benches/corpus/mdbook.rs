//! The corpus as a book of mdBook: one chapter a page, with the front matter written out as Markdown.
//!
//! mdBook has no templates for fields, no lists by category, and leaves highlighting to the browser.

use std::path::Path;

use super::article::Article;
use super::{Corpus, put};

pub fn write(corpus: Corpus, folder: &Path) -> std::io::Result<()> {
    put(folder, "book.toml", "[book]\ntitle = \"Errors\"\n")?;
    let mut summary = String::from("# Summary\n\n- [Free the card](guides/free-the-card/index.md)\n");
    put(folder, "src/guides/free-the-card/index.md", "# Free the card\n\nStop what else holds the card.\n")?;
    for page in 0..corpus.pages {
        let Article { slug, title, front, body, .. } = Article::new(corpus, page);
        summary.push_str(&format!("- [{title}](errors/{slug}/index.md)\n"));
        let text = format!("# {title}\n\n```yaml\n{front}```\n\n{body}");
        put(folder, &format!("src/errors/{slug}/index.md"), &text)?;
    }
    put(folder, "src/SUMMARY.md", &summary)
}
