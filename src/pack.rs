//! Packs: subjects that a site enables, with their kinds of pages, generated pages and files.

use crate::schema::words;

words! {
    /// A subject that a site can enable.
    pub enum Pack {
        /// Language models: pages of models, devices and quantizations, and the calculators that use them.
        Llm = "llm",
    }
}

impl Pack {
    /// Returns the static files that only pages of the pack use.
    pub fn static_files(self) -> &'static [&'static str] {
        match self {
            Self::Llm => &[
                "calculator.css",
                "chart.css",
                "form.css",
                "js/answer.js",
                "js/calculator.js",
                "js/choose.js",
                "js/combobox.js",
                "js/command.js",
                "js/compare.js",
                "js/cost.js",
                "js/device.js",
                "js/fit.js",
                "js/gguf.js",
                "js/picture.js",
                "js/settings.js",
                "js/tools.js",
                "js/your-gpu.js",
                "tools.css",
            ],
        }
    }
}
