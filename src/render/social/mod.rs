//! The picture that services show where a page is shared: one for each error, model, device and guide, one for the rest.
//!
//! A page names its picture in `parts/head.html`; the pictures are made apart from the pages, since they take the time
//! and only a published site needs them.

mod canvas;
mod card;
mod colors;
mod layout;
mod lettering;
mod mark;

use rayon::prelude::*;
use serde::Serialize;

use crate::files::{Key, Sink};
use crate::render::assets::Assets;
use crate::render::social::canvas::{HEIGHT, WIDTH};
use crate::render::social::card::{Card, has_own};
use crate::render::social::colors::Colors;
use crate::render::social::layout::Easel;
use crate::render::social::lettering::Lettering;
use crate::render::social::mark::Mark;
use crate::render::{Audience, Order};
use crate::site::{Head, PageId};

/// Changes with the drawing: pictures of another drawing are made anew. A test tells when it has to.
const DRAWING: &str = "2";

/// The picture of pages without one of their own.
const SITE_PICTURE: &str = "social/site.png";

/// A site's own picture in its place, under `static/`.
const OWN_PICTURE: &str = "social.png";

/// Pictures that one thread draws in a row: the letters that they share are drawn once.
const ROW: usize = 48;

/// A picture as the head of a page names it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Picture {
    /// Its whole address: services take no relative one.
    href: String,
    width: u32,
    height: u32,
    alt: String,
}

/// Tells each page its picture.
pub(super) struct Pictures<'s> {
    order: &'s Order<'s>,
    lettering: Lettering,
}

impl<'s> Pictures<'s> {
    /// The pictures of a site.
    pub fn new(order: &'s Order<'s>) -> Self {
        Self { order, lettering: Lettering::new() }
    }

    /// The picture of a page, by its file if it has one.
    pub fn of(&self, head: Option<&Head>, assets: &Assets) -> Option<Picture> {
        if !are_wanted(self.order) {
            return None;
        }
        let config = self.order.config;
        let own = head.filter(|head| has_own(head.id.kind) && self.lettering.can_write(&head.title.value));
        let (path, alt) = match own {
            Some(head) => (path(&head.id), format!("{}: {}", config.title, head.title.value)),
            None => (assets.path(OWN_PICTURE).unwrap_or(SITE_PICTURE).to_string(), config.title.clone()),
        };
        let drawn = (WIDTH as u32, HEIGHT as u32);
        let (width, height) = if path.starts_with("static/") { assets.size(OWN_PICTURE)? } else { drawn };
        Some(Picture { href: format!("{}{path}", config.base_url), width, height, alt })
    }
}

/// Whoever writes a site does not share the preview.
fn are_wanted(order: &Order<'_>) -> bool {
    order.config.social_images && **order.audience == Audience::World
}

/// `social/errors/<slug>.png`.
fn path(id: &PageId) -> String {
    format!("social/{}.png", id.address().trim_end_matches('/'))
}

/// Makes all pictures that pages name.
pub(super) fn files(order: &Order<'_>, sink: &dyn Sink) {
    if !are_wanted(order) {
        return;
    }
    let studio = Studio::new(order);
    let lettering = Lettering::new();
    let own = card::all(order).into_iter().filter(|(_, card)| lettering.can_write(&card.title));
    let mut cards: Vec<(String, Card)> = own.map(|(id, card)| (path(&id), card)).collect();
    if order.sources.asset(&format!("static/{OWN_PICTURE}")).is_none() {
        cards.push((SITE_PICTURE.into(), card::site(order)));
    }
    cards.par_chunks(ROW).for_each(|row| studio.row(row, sink));
}

/// What the pictures of a site are made with.
struct Studio<'s> {
    site_title: &'s str,
    colors: Colors,
    mark: Mark,
}

impl<'s> Studio<'s> {
    fn new(order: &Order<'s>) -> Self {
        let colors = Colors::of(order.sources);
        let icon = order.sources.asset("static/favicon.svg");
        let mark = icon.and_then(|icon| Mark::read(str::from_utf8(&icon.bytes).ok()?, &colors));
        Self { site_title: &order.config.title, colors, mark: mark.unwrap_or_default() }
    }

    /// Gives the pictures of some cards to the sink.
    fn row(&self, row: &[(String, Card)], sink: &dyn Sink) {
        let mut easel = None;
        for (path, card) in row {
            let mut draw = || {
                let easel = easel.get_or_insert_with(|| Easel::new(self.site_title, &self.mark));
                easel.draw(card).png(&self.colors).expect("writing to memory never fails")
            };
            let key = self.key(path, card);
            if !sink.take_kept(&key) {
                sink.take_made(&key, vec![(path.clone(), draw())]);
            }
        }
    }

    /// The hash of all that a picture shows and of the way it is drawn.
    fn key(&self, path: &str, card: &Card) -> Key {
        let Self { site_title, colors, mark } = self;
        Key::of([DRAWING, path, &format!("{site_title:?} {colors:?} {mark:?} {card:?}")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{self, Sources};
    use crate::render::social::card::{Matter, Memory, Mood};

    #[test]
    fn another_drawing_has_another_version() {
        let colors = Colors::of(&Sources::default());
        let mark = Mark::read(include_str!("../../../static/favicon.svg"), &colors).unwrap_or_default();
        let studio = Studio { site_title: "Site", colors, mark };
        let figures = vec![("24 GB".to_string(), "memory".to_string())];
        let run = "Q4_K_M".to_string();
        let memory = Memory { run, parts: [5 << 30, 1 << 30, 1 << 28], card_gib: Some(8.0), driver: 1 << 29 };
        let matters = [
            Matter::Message("out of … memory".into()),
            Matter::Figures(figures),
            Matter::Memory(memory),
            Matter::Lead("What a page says first.".into()),
        ];
        let cards = matters.map(|matter| Card {
            kind: "Kind".into(),
            title: "A title".into(),
            mood: Mood::Alarm,
            matter,
        });
        let cards: Vec<(String, Card)> = (0..).map(|at| at.to_string()).zip(cards).collect();
        let memory = files::Memory::default();
        studio.row(&cards, &memory);
        let outputs = memory.into_outputs();
        let drawn: Vec<u8> = outputs.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
        let digest = crate::render::assets::digest(&drawn);
        assert_eq!((DRAWING, digest.as_str()), ("2", "3daf5cbecce5"), "a new drawing needs a new `DRAWING`");
    }
}
