//! Text for terminals and for logs that are shown in one.

use std::borrow::Cow;

use crate::escape::{command_positions, escape_of, visible};

/// Whether output has colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorChoice {
    /// Text with escape sequences.
    On,
    /// Plain text.
    Off,
}

/// A text style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// The subject of a result.
    Title,
    /// A heading or a conclusion.
    Strong,
    /// A quotation or a note.
    Muted,
    /// The word before an error message.
    Error,
}

impl Style {
    /// Returns the parameters of the SGR sequence (ECMA-48).
    fn parameters(self) -> &'static str {
        match self {
            Self::Title => "1;36",
            Self::Strong => "1",
            Self::Muted => "2",
            Self::Error => "1;31",
        }
    }
}

/// Text with escapes instead of control, bidirectional and invisible characters. Styles are separate data, so that text cannot
/// contain a style or start a workflow command in a CI log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalText {
    parts: Vec<StyledPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct StyledPart {
    /// SGR parameters; empty for none.
    style: Cow<'static, str>,
    text: String,
}

impl TerminalText {
    /// Creates text in a style.
    pub fn styled(style: Style, text: &str) -> Self {
        Self::part(style.parameters().into(), text)
    }

    /// Converts the output of a renderer that writes color sequences. Keeps these sequences, so the input of the renderer must be
    /// escaped.
    pub fn colored_by_renderer(text: &str) -> Self {
        let mut all = Self::default();
        let mut style = Cow::Borrowed("");
        for (index, piece) in text.split("\u{1b}[").enumerate() {
            let end = piece.find(|c: char| !c.is_ascii_digit() && c != ';').filter(|_| index > 0);
            let text = match end.map(|end| (&piece[..end], &piece[end..])) {
                Some((parameters, rest)) if rest.starts_with('m') => {
                    style = match (parameters, style.as_ref()) {
                        ("" | "0", _) => "".into(),
                        (more, "") => more.to_string().into(),
                        (more, before) => format!("{before};{more}").into(),
                    };
                    &rest[1..]
                }
                _ => piece,
            };
            all.push(Self::part(style.clone(), text));
        }
        all
    }

    fn part(style: Cow<'static, str>, text: &str) -> Self {
        match text {
            "" => Self::default(),
            text => Self { parts: vec![StyledPart { style, text: visible(text).replace("\r\n", "\n") }] },
        }
    }

    /// Appends text.
    pub fn push(&mut self, text: impl Into<Self>) {
        self.parts.extend(text.into().parts);
    }

    /// Returns the text for output, with styles if `color` is on.
    pub fn render(&self, color: ColorChoice) -> String {
        let plain: String = self.parts.iter().map(|part| part.text.as_str()).collect();
        let mut commands = command_positions(&plain).into_iter().peekable();
        let mut out = String::with_capacity(plain.len());
        let mut start = 0;
        for StyledPart { style, text } in &self.parts {
            let is_styled = color == ColorChoice::On && !style.is_empty();
            if is_styled {
                out.push_str(&format!("\u{1b}[{style}m"));
            }
            let mut end = 0;
            while let Some(at) = commands.next_if(|at| *at < start + text.len()).map(|at| at - start) {
                out.push_str(&text[end..at]);
                out.push_str(&text[at..].chars().next().map(escape_of).unwrap_or_default());
                end = at + 1;
            }
            out.push_str(&text[end..]);
            if is_styled {
                out.push_str("\u{1b}[0m");
            }
            start += text.len();
        }
        out
    }
}

impl From<&str> for TerminalText {
    fn from(text: &str) -> Self {
        Self::part("".into(), text)
    }
}

impl From<&String> for TerminalText {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<String> for TerminalText {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_only_its_own_styles() {
        let mut text = TerminalText::styled(Style::Strong, "a\u{1b}[31mb");
        text.push(" c\u{202e}\r\n");
        assert_eq!(text.render(ColorChoice::Off), "a\\u{1b}[31mb c\\u{202e}\n");
        assert_eq!(text.render(ColorChoice::On), "\u{1b}[1ma\\u{1b}[31mb\u{1b}[0m c\\u{202e}\n");
    }

    #[test]
    fn keeps_the_colors_of_a_renderer() {
        let text = TerminalText::colored_by_renderer("\u{1b}[1m\u{1b}[91merror\u{1b}[0m: a\u{1b}]0;b");
        assert_eq!(text.render(ColorChoice::Off), "error: a\\u{1b}]0;b");
        assert_eq!(text.render(ColorChoice::On), "\u{1b}[1;91merror\u{1b}[0m: a\\u{1b}]0;b");
    }

    #[test]
    fn escapes_workflow_commands() {
        let mut text = TerminalText::from("x\n ::stop-commands::a\n:");
        text.push(TerminalText::styled(Style::Muted, ":error::b ##[group]c"));
        assert_eq!(
            text.render(ColorChoice::Off),
            "x\n \\u{3a}:stop-commands::a\n\\u{3a}:error::b #\\u{23}[group]c"
        );
    }
}
