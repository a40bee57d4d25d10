//! Markdown: outlines with errors, and HTML.
//!
//! Parsing has three steps: `calls` masks the estimator calls, pulldown-cmark parses the masked text, and `outline` or
//! `render` processes the events. Only `html_writer` and the files it uses write HTML, so no text of an author reaches a page
//! unescaped.

mod calls;
mod code_parts;
mod destination;
mod fence;
mod footnotes;
mod headings;
mod highlight;
mod html;
mod html_writer;
mod inline;
mod lexers;
mod limits;
mod line_cache;
mod markdown_error;
mod outline;
mod plain;
mod render;
mod scanners;
mod section_builder;
mod span_writer;
mod unsupported;
mod variant_group;

pub use calls::Call;
pub use code_parts::{CodePart, code_parts};
pub use destination::refused_scheme;
pub use fence::Fence;
pub(crate) use headings::slug;
pub use headings::{Heading, is_reserved_id};
pub use highlight::{LANGUAGES, highlight};
pub(crate) use html::write_escaped;
pub use inline::{inline, links_inline, outline_inline};
pub use markdown_error::{MarkdownError, MarkdownErrorKind};
pub use outline::{Link, Outline, outline};
pub use plain::{plain, plain_inline};
pub use render::{CallValue, Picture, RenderHooks, Rendered, Section, TocEntry, render, render_outlined};
pub use unsupported::UnsupportedSyntax;

use pulldown_cmark::Options;

/// Extensions of CommonMark in a body: GitHub's tables, footnotes, task lists, alerts and strikethrough, and `{#id}` after a
/// heading. Metadata blocks must stay disabled: they take quadratic time on `>---` lines.
const BODY: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_GFM)
    .union(Options::ENABLE_HEADING_ATTRIBUTES);
