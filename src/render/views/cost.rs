//! The page that sets the cost of tokens at home against those of a service.

use serde::Serialize;
use serde_json::{Value, json};

use crate::render::templates::seen;
use crate::render::views::Leaf;
use crate::render::views::shelf::{Plate, Shelf, with_frame};

#[derive(Serialize)]
struct CostView<'s> {
    fit: &'s Value,
    power: Value,
}

pub(super) fn leaves(shelf: &Shelf<'_>) -> Vec<Leaf> {
    let address = "cost-vs-cloud/";
    let description = shelf.say(
        "What a million tokens cost on a card of your own, in electricity and with the card written off, and when the \
         card has paid for itself. You type the prices; none is stored here.",
    );
    let mut plate = Plate::listing(address, "cost", shelf.say("Cost against the cloud"), description);
    plate.trail = vec![(shelf.say("Hardware").into(), "hardware/")];
    let frame = shelf.frame(plate, (None, None));
    let view = with_frame(frame, "cost", seen(CostView { fit: shelf.fit_index, power: power(shelf) }));
    vec![Leaf { address: address.into(), template: "cost-vs-cloud.html", view }]
}

/// Power limits in watts, in the order of the index.
fn power(shelf: &Shelf<'_>) -> Value {
    json!(shelf.site().devices.iter().map(|device| device.data.tdp_w).collect::<Vec<_>>())
}
