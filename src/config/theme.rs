//! Theme settings: values of the custom properties of the style sheets, and the logo.

use serde::Serialize;

use crate::config::BAD_SETTINGS;
use crate::diag::{Diagnostic, nearest};
use crate::files::{Sources, Spanned};

/// Key of the logo in the table; all other keys are custom properties.
const LOGO: &str = "logo";

/// Theme settings of a site.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Theme {
    /// Static file that replaces the mark before the site's name: `logo.svg`.
    pub logo: Option<String>,
    /// Style sheet that sets the custom properties; empty without settings.
    pub style: String,
}

impl Theme {
    /// Checks the settings: the logo is a file in `static/`, and the style sheets declare the custom properties.
    pub(super) fn new(
        settings: Vec<(Spanned<String>, Spanned<String>)>,
        sources: &Sources,
        found: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut theme = Self::default();
        let mut declarations = String::new();
        let known = properties(sources);
        for (key, value) in settings {
            if key.value == LOGO {
                let path = format!("static/{}", value.value);
                if sources.asset(&path).is_some() {
                    theme.logo = Some(value.value);
                } else {
                    let message = format!("no file `{path}`");
                    found.push(
                        Diagnostic::error(&BAD_SETTINGS, value.span, message)
                            .help("add the file to `static/`"),
                    );
                }
                continue;
            }
            if !known.contains(&key.value) {
                let message = format!("the theme has no property `{}`", key.value);
                let help = match nearest(&key.value, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("use `{LOGO}` or one of {}", known.join(", ")),
                };
                found.push(Diagnostic::error(&BAD_SETTINGS, key.span, message).help(help));
                continue;
            }
            if value.value.is_empty()
                || value.value.contains([';', '{', '}', '<', '>', '@', '\\', '/', '*', '\n'])
            {
                let message = format!("`{}` is not a value of a style property", value.value);
                found.push(
                    Diagnostic::error(&BAD_SETTINGS, value.span, message)
                        .help("write a color, a length or a list of fonts: `light-dark(#7a5000, #ffc34d)`"),
                );
                continue;
            }
            declarations.push_str(&format!("--{}: {};\n", key.value, value.value));
        }
        if !declarations.is_empty() {
            theme.style = format!("@layer tokens {{\n:root {{\n{declarations}}}\n}}\n");
        }
        theme
    }
}

/// Returns the names of the custom properties that the first rule of the style sheets declares.
fn properties(sources: &Sources) -> Vec<String> {
    let first_rule = |style: &str| Some(style.split_once(":root {")?.1.split_once('}')?.0.to_string());
    let mut sheets = sources.assets_under("static/css/");
    let root =
        sheets.find_map(|asset| first_rule(&String::from_utf8_lossy(&asset.bytes))).unwrap_or_default();
    let names = root.split(';').filter_map(|line| line.trim().strip_prefix("--")?.split_once(':'));
    names.map(|(name, _)| name.trim().to_string()).collect()
}
