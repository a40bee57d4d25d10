//! Share pictures: one for each error, model, device and guide, one for all other pages.
//!
//! Pages refer to their picture in `parts/head.html`. Pictures are made separately from pages: they take long, and
//! only a published site needs them.

mod card;
mod colors;
mod renderer;

use rayon::prelude::*;
use serde::Serialize;

use crate::facts::Fingerprint;
use crate::files::{Key, Sink};
use crate::render::assets::Assets;
use crate::render::social::card::{Card, has_own};
use crate::render::social::colors::Colors;
use crate::render::social::renderer::{CardRenderer, HEIGHT, WIDTH};
use crate::render::{Audience, RenderInputs};
use crate::site::{Head, PageId};

/// Version of the drawing; part of the keys of pictures. A test fails if the drawing changes without it.
const DRAWING_VERSION: &str = "3";

/// Picture for pages without one of their own.
const SITE_PICTURE: &str = "social/site.png";

/// A site's own picture that replaces it, below `static/`.
const OWN_PICTURE: &str = "social.png";

/// Number of pictures per thread and batch: letters are rasterized once per batch.
const BATCH_SIZE: usize = 48;

/// A picture, for the `head` of a page.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Picture {
    /// Absolute address: services do not accept relative ones.
    href: String,
    width: u32,
    height: u32,
    alt: String,
}

/// Looks up the picture of each page.
pub(super) struct Pictures<'s> {
    inputs: &'s RenderInputs<'s>,
    renderer: CardRenderer,
}

impl<'s> Pictures<'s> {
    /// Creates the lookup.
    pub fn new(inputs: &'s RenderInputs<'s>) -> Self {
        Self { inputs, renderer: CardRenderer::new() }
    }

    /// Returns the picture of a page, its own if it has one.
    pub fn of(&self, head: Option<&Head>, assets: &Assets) -> Option<Picture> {
        if !are_wanted(self.inputs) {
            return None;
        }
        let config = self.inputs.config;
        let own = head.filter(|head| has_own(head.id.kind) && self.renderer.can_draw(&head.title.value));
        let (path, alt) = match own {
            Some(head) => (path(&head.id), format!("{}: {}", config.title, head.title.value)),
            None => (assets.path(OWN_PICTURE).unwrap_or(SITE_PICTURE).to_string(), config.title.clone()),
        };
        let drawn = (WIDTH as u32, HEIGHT as u32);
        let (width, height) = if path.starts_with("static/") { assets.size(OWN_PICTURE)? } else { drawn };
        Some(Picture { href: format!("{}{path}", config.base_url), width, height, alt })
    }
}

/// Returns whether pictures are made; not for local previews.
fn are_wanted(inputs: &RenderInputs<'_>) -> bool {
    inputs.config.social_images && **inputs.audience == Audience::World
}

/// Returns the path of a picture: `social/errors/<slug>.png`.
fn path(id: &PageId) -> String {
    format!("social/{}.png", id.address().trim_end_matches('/'))
}

/// Draws all pictures that pages refer to.
pub(super) fn files(inputs: &RenderInputs<'_>, sink: &dyn Sink) {
    if !are_wanted(inputs) {
        return;
    }
    let renderer = CardRenderer::new();
    let own = card::all(inputs).into_iter().filter(|(_, card)| renderer.can_draw(&card.title));
    let mut cards: Vec<(String, Card)> = own.map(|(id, card)| (path(&id), card)).collect();
    if inputs.sources.asset(&format!("static/{OWN_PICTURE}")).is_none() {
        cards.push((SITE_PICTURE.into(), card::site(inputs)));
    }
    let (title, colors) = (&inputs.config.title, Colors::of(inputs.sources, &inputs.config.theme.style));
    cards.par_chunks(BATCH_SIZE).for_each(|row| draw(row, title, &colors, sink));
}

/// Draws a batch of pictures.
fn draw(row: &[(String, Card)], site_title: &str, colors: &Colors, sink: &dyn Sink) {
    let mut renderer = CardRenderer::new();
    for (path, card) in row {
        let data = Fingerprint::of_data(&(DRAWING_VERSION, path, site_title, colors, card));
        let key = Key::of([data.0.to_le_bytes()]);
        if !sink.reuse_group(&key) {
            let png = renderer.draw(site_title, card).png(colors).expect("writing to memory never fails");
            sink.write_group(&key, vec![(path.clone(), png)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{self, Sources};
    use crate::render::social::card::{CardBody, MemoryFigures};

    #[test]
    fn changed_drawings_need_a_new_version() {
        let parts = [(5 << 30, "Weights".into()), (1 << 30, "Cache".into()), (1 << 28, "Compute".into())];
        let memory =
            MemoryFigures { run: "Q4_K_M".into(), parts, size: 8 << 30, answer: "fits in 8 GB".into() };
        let contents = [
            CardBody::Message("out of … memory".into()),
            CardBody::Figures(vec![("24 GB".into(), "memory".into())]),
            CardBody::MemoryFigures(memory),
            CardBody::Lead("The first paragraph of a page.".into()),
        ];
        let card = |content| Card { kind: "Kind".into(), title: "A title".into(), is_error: true, content };
        let cards: Vec<(String, Card)> = (0..).map(|at| at.to_string()).zip(contents.map(card)).collect();
        let memory = files::MemorySink::default();
        draw(&cards, "Site", &Colors::of(&Sources::default(), ""), &memory);
        let outputs = memory.into_outputs();
        let drawn: Vec<u8> = outputs.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
        let digest = crate::render::assets::digest(&drawn);
        assert_eq!(
            (DRAWING_VERSION, digest.as_str()),
            ("3", "7e658c20d80e"),
            "a new drawing needs a new `DRAWING_VERSION`"
        );
    }
}
