//! The page that compares the cost of tokens at home with that of a cloud service.

use serde::Serialize;
use serde_json::{Value, json};

use crate::render::templates::view_value;
use crate::render::views::TemplatePage;
use crate::render::views::context::{PageMeta, RenderContext, with_layout};

#[derive(Serialize)]
struct CostView<'s> {
    fit: &'s Value,
    power: Value,
}

pub(super) fn build_pages(cx: &RenderContext<'_>) -> Vec<TemplatePage> {
    let address = "cost-vs-cloud/";
    let description = cx.tr(
        "The cost of a million tokens on your own GPU, including electricity and depreciation, and when the GPU pays for itself. You enter the prices; none are stored.",
    );
    let mut meta = PageMeta::listing(address, "cost", cx.tr("Cost vs. cloud"), description);
    meta.trail = vec![(cx.tr("Hardware").into(), "hardware/")];
    let layout = cx.layout(meta);
    let view = with_layout(layout, "cost", view_value(CostView { fit: cx.fit_index, power: power(cx) }));
    vec![TemplatePage { address: address.into(), template: "cost-vs-cloud.html".into(), view }]
}

/// Returns the power limits in watts, in the order of the fit index.
fn power(cx: &RenderContext<'_>) -> Value {
    json!(cx.site().devices.iter().map(|device| device.data.tdp_w).collect::<Vec<_>>())
}
