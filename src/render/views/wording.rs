//! Formats signatures for people.

use crate::site::kinds::SignatureText;

/// Formats a signature, with `…` for its placeholders.
pub(in crate::render) fn signature_text(text: SignatureText<'_>) -> String {
    match text {
        SignatureText::Pattern(pattern) => show_pattern(&pattern.value),
        SignatureText::All(fragments) => {
            fragments.iter().map(|fragment| show_pattern(&fragment.value)).collect::<Vec<_>>().join(" … ")
        }
        SignatureText::Unclear => String::new(),
    }
}

fn show_pattern(pattern: &str) -> String {
    let mut shown = String::new();
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '{' | '}' if letters.peek() == Some(&letter) => {
                letters.next();
                shown.push(letter);
            }
            '{' => {
                for inner in letters.by_ref() {
                    if inner == '}' {
                        break;
                    }
                }
                shown.push('…');
            }
            letter => shown.push(letter),
        }
    }
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::show_pattern;

    #[test]
    fn shows_placeholders_as_dots_and_braces_as_braces() {
        assert_eq!(show_pattern("Tried to allocate {requested:bytes}. {{x}}"), "Tried to allocate …. {x}");
    }
}
