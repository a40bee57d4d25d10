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

use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

use crate::files::{Kept, Key, Sink};
use crate::render::assets::Assets;
use crate::render::social::canvas::{HEIGHT, WIDTH};
use crate::render::social::card::{Card, has_own};
use crate::render::social::colors::Colors;
use crate::render::social::layout::Easel;
use crate::render::social::lettering::Lettering;
use crate::render::social::mark::Mark;
use crate::render::{Audience, Order};
use crate::site::{Head, PageId};

/// Changes with the drawing: pictures of another drawing are not kept. A test tells when it has to.
const DRAWING: &str = "1";

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
    order.config.social_images && order.audience == Audience::World
}

/// `social/errors/<slug>.png`.
fn path(id: &PageId) -> String {
    format!("social/{}.png", id.address().trim_end_matches('/'))
}

/// Makes all pictures that pages name, but takes those that an earlier build kept; all come back, to be kept.
pub(super) fn files(order: &Order<'_>, kept: &Kept, sink: &dyn Sink) -> Kept {
    let mut all = Kept::default();
    if !are_wanted(order) {
        return all;
    }
    let studio = Studio::new(order);
    let lettering = Lettering::new();
    let own = card::all(order).into_iter().filter(|(_, card)| lettering.can_write(&card.title));
    let mut cards: Vec<(String, Card)> = own.map(|(id, card)| (path(&id), card)).collect();
    if order.sources.asset(&format!("static/{OWN_PICTURE}")).is_none() {
        cards.push((SITE_PICTURE.into(), card::site(order)));
    }
    let made: Vec<(Key, Arc<[u8]>)> =
        cards.par_chunks(ROW).flat_map_iter(|row| studio.row(row, kept, sink)).collect();
    made.into_iter().for_each(|(key, bytes)| all.add(key, bytes));
    all
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
    fn row(&self, row: &[(String, Card)], kept: &Kept, sink: &dyn Sink) -> Vec<(Key, Arc<[u8]>)> {
        let mut easel = None;
        let picture = |(path, card): &(String, Card)| {
            let key = self.key(card);
            let bytes = kept.get(&key).cloned().unwrap_or_else(|| {
                let easel = easel.get_or_insert_with(|| Easel::new(self.site_title, &self.mark));
                easel.draw(card).png(&self.colors).expect("writing to memory never fails").into()
            });
            sink.take(path.clone(), bytes.to_vec());
            (key, bytes)
        };
        row.iter().map(picture).collect()
    }

    /// The hash of all that a picture shows and of the way it is drawn.
    fn key(&self, card: &Card) -> Key {
        let Self { site_title, colors, mark } = self;
        let told = format!("{DRAWING} {site_title:?} {colors:?} {mark:?} {card:?}");
        *blake3::hash(told.as_bytes()).as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Nowhere, Sources};
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
        let cards = matters.map(|matter| {
            let card = Card { kind: "Kind".into(), title: "A title".into(), mood: Mood::Alarm, matter };
            (String::new(), card)
        });
        let row = studio.row(&cards, &Kept::default(), &Nowhere);
        let drawn: Vec<u8> = row.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
        let digest = crate::render::assets::digest(&drawn);
        assert_eq!((DRAWING, digest.as_str()), ("1", "2e6ea4c0f078"), "a new drawing needs a new `DRAWING`");
    }
}
