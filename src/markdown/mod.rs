//! Markdown: a text to its outline and faults, and a text to HTML.
//!
//! A body is read in three steps, each a file of its own: `calls` takes the estimator calls out of
//! the way, pulldown-cmark parses what is left, and `outline` or `render` walks the events. HTML is
//! only ever written by `render` and `html`, so nothing that an author wrote reaches a page unescaped.

mod calls;
mod destination;
mod fault;
mod fence;
mod footnotes;
mod foreign;
mod headings;
mod highlight;
mod html;
mod inline;
mod limits;
mod lines;
mod outline;
mod plain;
mod render;
mod scanners;
mod sections;
mod spans;
mod variants;
mod writer;

pub use calls::Call;
pub use destination::refused_scheme;
pub use fault::{Fault, FaultKind};
pub use headings::is_reserved_id;
pub use highlight::{LANGUAGES, highlight};
pub use inline::{inline, links_inline, outline_inline};
pub use outline::{Link, Outline, outline};
pub use plain::{plain, plain_inline};
pub use render::{Figure, Picture, Pieces, Rendered, Section, TocEntry, render, render_outlined};

use pulldown_cmark::Options;

/// What a body may use: GitHub's tables, footnotes, task lists, alerts and `~~struck~~` text, and
/// `{#id}` after a heading. Never the metadata blocks: they cost quadratic time on `>---` lines.
const BODY: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_GFM)
    .union(Options::ENABLE_HEADING_ATTRIBUTES);
