//! Words that look Latin but contain letters of another script.

use crate::check::{CheckContext, texts};
use crate::diag::{Diagnostic, Rule};
use crate::unicode_safety::{Lookalike, lookalikes};

pub(super) const RULE: Rule = Rule {
    code: "mixed-script",
    requirement: "words do not contain letters of another script that look like Latin letters",
    why: "a name or a command could look like a different one; text in other scripts is allowed",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for head in texts::heads(context) {
        for text in texts::whole(context, head) {
            let span = text.span(&(0..text.text.len()));
            let is_code = |at: usize| span == head.body.span && texts::is_code(head, at);
            found.extend(lookalikes(text.text, is_code).iter().map(|word| {
                let written = &text.text[word.range.clone()];
                Diagnostic::error(&RULE, text.span(&word.range), message(written, word)).help(help(word))
            }));
        }
    }
    found
}

fn message(written: &str, word: &Lookalike) -> String {
    let Lookalike { letter, script, .. } = word;
    format!(
        "`{written}` contains the {script} letter `{letter}` (U+{:04X}), which looks Latin",
        u32::from(*letter)
    )
}

fn help(word: &Lookalike) -> String {
    match word.latin {
        Some(letter) => format!("retype the word in one script; the Latin letter is `{letter}`"),
        None => "retype the word in one script".to_string(),
    }
}
