//! Reads the colors of the dark theme from the style sheets, so that pictures match a site's theme.

use serde::Serialize;

use crate::files::Sources;

/// Red, green, blue.
type Color = [u8; 3];

/// The three colors of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Colors {
    pub shared: Color,
    pub ink: Color,
    pub accent: Color,
}

/// Colors if the style sheets define none.
const DEFAULT: Colors =
    Colors { shared: [0x0c, 0x13, 0x17], ink: [0xe0, 0xe7, 0xe9], accent: [0xff, 0xb9, 0x1f] };

impl Colors {
    /// Reads the dark values of `--paper`, `--ink` and `--accent` from `static/css/` and the theme settings.
    pub fn of(sources: &Sources, theme: &str) -> Self {
        let sheets = sources.assets_under("static/css/").map(|asset| String::from_utf8_lossy(&asset.bytes));
        let style = sheets.collect::<Vec<_>>().join("\n") + theme;
        Self {
            shared: dark(&style, "--paper:").unwrap_or(DEFAULT.shared),
            ink: dark(&style, "--ink:").unwrap_or(DEFAULT.ink),
            accent: dark(&style, "--accent:").unwrap_or(DEFAULT.accent),
        }
    }

    /// Returns the color of secondary text.
    pub fn soft(&self) -> Color {
        self.mixed(self.ink, 3, 4)
    }

    /// Mixes `part`/`whole` of a color with the background.
    pub fn mixed(&self, color: Color, part: u8, whole: u8) -> Color {
        let mix = |(shared, color): (u8, u8)| {
            let (part, whole) = (u32::from(part), u32::from(whole));
            ((u32::from(shared) * (whole - part) + u32::from(color) * part + whole / 2) / whole) as u8
        };
        [0, 1, 2].map(|channel| mix((self.shared[channel], color[channel])))
    }
}

/// Returns the last value of a property; of `light-dark()` the second value.
fn dark(style: &str, property: &str) -> Option<Color> {
    let value = &style[style.rfind(property)? + property.len()..];
    let value = &value[..value.find([';', '}'])?];
    color(value[value.rfind('#')?..].trim_end_matches([' ', ')']))
}

/// Parses `#rrggbb`.
fn color(text: &str) -> Option<Color> {
    let digits = text.trim().strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    let [_, red, green, blue] = number.to_be_bytes();
    Some([red, green, blue])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_the_dark_side_of_the_last_value() {
        let style = ":root { --ink: light-dark(#15212a, #e0e7e9); --paper: light-dark(#ffffff, #111111);\n\
                     --accent: red } .top { --paper: #0c1317 }";
        assert_eq!(dark(style, "--ink:"), Some([0xe0, 0xe7, 0xe9]));
        assert_eq!(dark(style, "--paper:"), Some([0x0c, 0x13, 0x17]));
        assert_eq!(dark(style, "--accent:"), None);
        assert_eq!(dark(style, "--soft:"), None);
    }

    #[test]
    fn the_theme_has_the_default_colors() {
        let mut sources = Sources::default();
        assert_eq!(Colors::of(&sources, ""), DEFAULT);
        let tokens = include_bytes!("../../../static/css/10-tokens.css");
        sources.add_asset("static/css/10-tokens.css", tokens.to_vec());
        assert_eq!(Colors::of(&sources, ""), DEFAULT);
    }
}
