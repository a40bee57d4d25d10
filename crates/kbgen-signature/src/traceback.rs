//! Reads Python tracebacks: the exception that ended the program, its chain, and the frames in which it was raised.
//!
//! `static/js/readings.js` implements the same algorithm; change both together.

use std::ops::RangeInclusive;

use crate::figure::{Figure, Figures};
use crate::normal::color_code_length;
use crate::prefix::{LineChars, prefix_length};

/// Most characters of a message, a function or a path that are kept.
const MAX_LENGTH: usize = 160;
/// Lines after the exception that belong to its message.
const MESSAGE_LINES: usize = 6;
/// Endings of the names of exceptions.
const ENDINGS: [&str; 7] = ["Error", "Exception", "Interrupt", "Exit", "Timeout", "Failure", "StopIteration"];
/// Parts of messages that only report that another process or an earlier step failed.
const WRAPPERS: [&str; 7] = [
    "See root cause above",
    "See stack trace",
    "ChildFailedError",
    "CalledProcessError",
    "KeyboardInterrupt",
    "SystemExit",
    "CancelledError",
];

/// The exception that ended a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Traceback {
    /// 1-based line of the exception.
    pub line: usize,
    /// 1-based line of the first traceback of its chain.
    pub first_line: usize,
    /// `error` and `message`; `root_error` and `root_message` of the first exception of a chain; `package` and
    /// `package_frame` of the deepest frame in an installed package; `own_frame` of the deepest frame in other code;
    /// `node` for a custom node of ComfyUI; `frames`, their number, unless the exception only reports another failure.
    pub figures: Figures,
}

#[derive(Debug, Clone, Default)]
struct Raised {
    name: String,
    message: String,
    /// Whether it only reports another failure.
    is_wrapper: bool,
    line: usize,
    frames: Vec<(String, String)>,
}

impl Traceback {
    /// Returns the lines of the chain and of the message.
    pub(crate) fn lines(&self) -> RangeInclusive<usize> {
        self.first_line..=self.line + MESSAGE_LINES
    }

    /// Moves the lines behind those that precede the text.
    pub fn after(self, lines: usize) -> Self {
        Self { line: self.line + lines, first_line: self.first_line + lines, ..self }
    }

    /// Reads the last traceback of a log that does not only report another failure. Without a traceback, reads the first
    /// line that begins with the name of an exception.
    pub fn read(log: &str) -> Option<Self> {
        let (mut chain, mut frames): (Vec<Raised>, Vec<(String, String)>) = Default::default();
        let mut best: Option<(Vec<Raised>, usize)> = None;
        let (mut linked, mut inside, mut first) = (false, false, 1);
        let mut characters = LineChars::default();
        for (at, line) in log.split('\n').enumerate() {
            let is_marker =
                ["File ", ".py", "Traceback", "above exception"].iter().any(|part| line.contains(part));
            let is_needed = inside || best.is_none();
            let is_likely = is_needed && ENDINGS.iter().any(|ending| line.contains(ending));
            if !is_marker && !is_likely {
                continue;
            }
            let content = content(line, &mut characters);
            if content.contains("Traceback (most recent call last)") {
                if !linked {
                    chain.clear();
                    first = at + 1;
                }
                frames.clear();
                (linked, inside) = (false, true);
            } else if content.starts_with("During handling of the above exception")
                || content.starts_with("The above exception was the direct cause")
            {
                linked = true;
            } else if let Some(frame) = frame(&content) {
                frames.push(frame);
            } else if let Some((name, message)) = exception(&content, inside) {
                if !inside && best.is_some() {
                    continue;
                }
                if !inside {
                    (chain, first) = (Vec::new(), at + 1);
                }
                let is_wrapper = WRAPPERS.iter().any(|part| content.contains(part));
                let frames = std::mem::take(&mut frames);
                chain.push(Raised { name, message, is_wrapper, line: at + 1, frames });
                if !is_wrapper || best.is_none() {
                    best = Some((chain.clone(), first));
                }
                inside = false;
            }
        }
        let (chain, first_line) = best?;
        let raised = chain.last()?;
        Some(Self { line: raised.line, first_line, figures: figures(&chain[0], raised) })
    }
}

/// Returns a line without its prefix and colors.
fn content(line: &str, characters: &mut LineChars) -> String {
    characters.set(line, 0);
    let mut at = prefix_length(characters);
    let end = characters.content_end(at);
    let mut text = String::new();
    while at < end {
        match color_code_length(characters, at) {
            0 => {
                text.extend(Some(characters.at(at)).filter(|character| !character.is_control()));
                at += 1;
            }
            length => at += length,
        }
    }
    text.trim_matches(|character| " \u{2502}\u{2503}|".contains(character)).to_owned()
}

/// Reads `File "a.py", line 1, in f` or `a.py:1 in f` as path and line.
fn frame(content: &str) -> Option<(String, String)> {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let (path, line) = match content.strip_prefix("File \"") {
        Some(rest) => {
            let (path, rest) = rest.split_once("\", line ")?;
            (path, digits(rest))
        }
        None => {
            let (path, rest) = content.strip_prefix("File ").unwrap_or(content).split_once(".py:")?;
            let line = digits(rest);
            let is_frame =
                !path.contains(' ') && rest[line.len()..].trim_start_matches(',').starts_with(" in ");
            (&content[content.find(path)?..][..path.len() + 3], Some(line).filter(|_| is_frame)?)
        }
    };
    (!line.is_empty()).then(|| (path.replace('\\', "/"), line))
}

/// Reads `package.NameError: message` as name and message.
fn exception(content: &str, inside: bool) -> Option<(String, String)> {
    let (name, message) = match content.split_once(':') {
        Some((name, message)) => (name, message.trim()),
        None => (content, ""),
    };
    let is_name = |name: &str| {
        let mut characters = name.chars();
        characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && characters.all(|other| other.is_ascii_alphanumeric() || "._".contains(other))
    };
    let last = name.rsplit('.').next()?;
    let ends =
        ENDINGS.iter().any(|ending| last.ends_with(ending) && (last != *ending || last == "StopIteration"));
    let is_exception = is_name(name) && ends && (inside || !message.is_empty());
    is_exception.then(|| (name.to_owned(), message.chars().take(MAX_LENGTH).collect()))
}

/// Returns the figures of a chain by its first and its last exception.
fn figures(root: &Raised, last: &Raised) -> Figures {
    let mut figures = Figures::default();
    let mut add = |name: &str, text: &str| {
        if !text.is_empty() {
            figures.add(name, Figure::Text(text.chars().take(MAX_LENGTH).collect()));
        }
    };
    add("error", &last.name);
    add("message", &last.message);
    if root.line != last.line {
        add("root_error", &root.name);
        add("root_message", &root.message);
    }
    let place = |path: &str, line: &str| format!("{path}, line {line}");
    for (path, line) in last.frames.iter().rev().chain(root.frames.iter().rev()) {
        if let Some((_, node)) = path.split_once("custom_nodes/") {
            add("node", node.split('/').next().unwrap_or_default());
        }
        if let Some((_, inner)) =
            path.split_once("site-packages/").or_else(|| path.split_once("dist-packages/"))
        {
            if !inner.contains("importlib") {
                add("package", inner.split('/').next().unwrap_or_default().trim_end_matches(".py"));
                add("package_frame", &place(inner, line));
            }
        } else if !path.starts_with('<')
            && !path.to_ascii_lowercase().contains("/lib/")
            && !path.contains("lib/python")
        {
            let parts: Vec<&str> = path.rsplit('/').take(2).collect();
            add("own_frame", &place(&parts.into_iter().rev().collect::<Vec<_>>().join("/"), line));
        }
    }
    let says_nothing = last.is_wrapper && root.line == last.line;
    if !last.frames.is_empty() && !says_nothing {
        figures.add("frames", Figure::Number(last.frames.len() as f64));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: &str = r#"loading
(EngineCore pid=7) ERROR 03-01 10:22:33 [core.py:708] Traceback (most recent call last):
(EngineCore pid=7) ERROR 03-01 10:22:33 [core.py:708]   File "/home/user/app/run.py", line 3, in <module>
(EngineCore pid=7) ERROR 03-01 10:22:33 [core.py:708]     import torch
(EngineCore pid=7) ERROR 03-01 10:22:33 [core.py:708]   File "/venv/lib/python3.12/site-packages/torch/nn/a.py", line 12, in f
(EngineCore pid=7) ERROR 03-01 10:22:33 [core.py:708] ModuleNotFoundError: No module named 'x'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "C:\app\custom_nodes\nodes-x\b.py", line 9, in g
    raise RuntimeError("y")
RuntimeError: Failed to import
Traceback (most recent call last):
  File "z.py", line 1, in h
RuntimeError: Engine core initialization failed. See root cause above.
"#;

    fn show(log: &str) -> Option<String> {
        let read = Traceback::read(log)?;
        let figures: Vec<String> =
            read.figures.iter().map(|(name, figure)| format!("{name}={figure}")).collect();
        Some(format!("{}-{} {}", read.first_line, read.line, figures.join("; ")))
    }

    #[test]
    fn reads_the_chain_before_a_wrapper() {
        assert_eq!(
            show(CHAIN).as_deref(),
            Some(
                "2-13 error=RuntimeError; message=Failed to import; root_error=ModuleNotFoundError; \
                 root_message=No module named 'x'; node=nodes-x; own_frame=nodes-x/b.py, line 9; package=torch; \
                 package_frame=torch/nn/a.py, line 12; frames=1"
            )
        );
    }

    #[test]
    fn reads_an_exception_without_a_traceback() {
        for (log, expected) in [
            ("ok\n> ValueError: a: b\nKeyError: 'c'", Some("2-2 error=ValueError; message=a: b")),
            ("Error: no", None),
            ("an Error: no", None),
            ("UserWarning: no", None),
            ("raise ValueError(1)", None),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nRuntimeError: failed. See root cause above.",
                Some("1-3 error=RuntimeError; message=failed. See root cause above.; own_frame=a.py, line 1"),
            ),
        ] {
            assert_eq!(show(log).as_deref(), expected, "{log}");
        }
    }
}
