//! Reads Python tracebacks: the exception that ended the program, its chain, and the frames in which it was raised. The
//! traceback may be cut off, wrapped at a narrow width, a JSON string, or joined to one line. Also reads the stack that
//! `faulthandler` prints when a process crashes outside of Python code.
//!
//! `static/js/readings.js` implements the same algorithm; change both together.

use std::ops::RangeInclusive;
use std::rc::Rc;

use crate::exception::{ENDINGS, LogPart, MAX_LENGTH, exception, inline_exception, is_first, is_name};
use crate::figure::{Figure, Figures};
use crate::native_stack;
use crate::prefix::LineChars;
use crate::traceback_lines::{content, crash_code, frame, has_time, lines_of};

/// Lines after the exception that belong to its message.
const MESSAGE_LINES: usize = 6;
/// Ending of the title of a stack that `faulthandler` prints.
const DUMP_TITLE: &str = "(most recent call first)";
/// Most lines from a frame to its exception, with the code of the frame and marks below it.
const MAX_FRAME_LINES: usize = 4;
/// Most characters of a frame over several lines.
const MAX_WRAPPED_LENGTH: usize = 400;
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
    /// `error` and `message`; `root_error` and `root_message` of the first exception of a chain; `package` of the deepest
    /// frame in an installed package, and `package_frame` if it did not call other code; `own_frame` of the deepest frame in
    /// other code; `node` for a custom node of ComfyUI; `frames`, their number, unless the exception only reports another
    /// failure;
    /// `cut_frame`, the last frame of a traceback that is cut off before its exception. Of a stack without an exception
    /// `dump_frame`, its deepest frame, and `crash_code`, the exit code of the process. Of a native call stack `library`,
    /// `function` and `frames`.
    pub figures: Figures,
}

#[derive(Debug, Clone, Default)]
struct Raised {
    /// Empty if the traceback is cut off before it.
    name: String,
    message: String,
    /// Whether it only reports another failure.
    is_wrapper: bool,
    line: usize,
    frames: Vec<(String, String)>,
    is_cut: bool,
    /// Whether it is a stack without an exception.
    is_dump: bool,
    /// Exit code of the process after a stack without an exception.
    crash_code: String,
}

impl Traceback {
    /// Returns the lines of the chain and of the message.
    pub fn lines(&self) -> RangeInclusive<usize> {
        self.first_line..=self.line + MESSAGE_LINES
    }

    /// Moves the lines behind those that precede the text.
    pub fn after(self, lines: usize) -> Self {
        Self { line: self.line + lines, first_line: self.first_line + lines, ..self }
    }

    /// Reads the last traceback of a log that does not only report another failure and that Python does not ignore. Without
    /// a traceback, reads the first line that begins with the name of an exception, and without one the native call stack.
    pub fn read(log: &str) -> Option<Self> {
        let mut reader = Reader { first: 1, ..Reader::default() };
        for (at, line) in log.split('\n').enumerate() {
            for piece in lines_of(line) {
                reader.read_line(at + 1, &piece);
            }
        }
        reader.finish(log);
        let Some((root, raised, first_line)) = reader.best else {
            let (line, figures) = native_stack::read(log)?;
            return Some(Self { line, first_line: line, figures });
        };
        Some(Self { line: raised.line, first_line, figures: figures(&root, &raised) })
    }
}

/// The state after the lines that have been read.
#[derive(Default)]
struct Reader {
    /// First exception of the chain.
    root: Option<Rc<Raised>>,
    frames: Vec<(String, String)>,
    /// The first and the last exception of a chain, and its first line.
    best: Option<(Rc<Raised>, Rc<Raised>, usize)>,
    /// Whether the next traceback belongs to the chain.
    linked: bool,
    /// Whether the lines belong to a traceback whose exception has not been read.
    inside: bool,
    /// First line of the chain.
    first: usize,
    /// Last line of a frame.
    last: usize,
    /// Whether Python ignores the next exception, as that of a destructor.
    ignored: bool,
    /// The exception that the first line of a traceback in IPython names.
    announced: String,
    /// The beginning of a frame that continues on the next line.
    wrapped: String,
    /// The first exception within a line.
    inline: Option<Raised>,
    /// The stack of the thread that crashed, deepest frame first, at the line of its title.
    dump: Raised,
    /// Whether the lines belong to a stack whose most recent call is first, and whether it is that of `dump`.
    in_dump: bool,
    in_crashed_thread: bool,
    characters: LineChars,
}

impl Reader {
    fn read_line(&mut self, at: usize, line: &str) {
        let is_marker = ["File", ".py", "Traceback", "above exception", "Exception ignored", DUMP_TITLE]
            .iter()
            .any(|part| line.contains(part));
        if !self.dump.frames.is_empty() && self.dump.crash_code.is_empty() {
            self.dump.crash_code = crash_code(line);
        }
        let is_needed = self.inside || self.best.is_none();
        let is_likely = is_needed && ENDINGS.iter().any(|ending| line.contains(ending));
        let follows_frame = self.inside && !self.frames.is_empty();
        if !is_marker && !is_likely && !follows_frame && self.wrapped.is_empty() {
            return;
        }
        let content = content(line, &mut self.characters);
        let joined = match self.wrapped.as_str() {
            "" => content.clone(),
            wrapped if wrapped.ends_with("File") || wrapped.ends_with("line") => {
                format!("{wrapped} {content}")
            }
            wrapped => format!("{wrapped}{content}"),
        };
        self.wrapped.clear();
        if content.contains(DUMP_TITLE) {
            self.in_dump = true;
            self.in_crashed_thread = self.dump.frames.is_empty() || content.starts_with("Current thread");
            if self.in_crashed_thread {
                self.dump = Raised { line: at, is_dump: true, ..Raised::default() };
            }
        } else if let (true, Some(frame)) = (self.in_dump, frame(&joined)) {
            if self.in_crashed_thread {
                self.dump.frames.push(frame);
            }
        } else if let Some(frame) = frame(&joined) {
            self.enter(at);
            self.frames.push(frame);
            self.last = at;
        } else if let Some((name, _)) = content.split_once("Traceback (most recent call last)") {
            if !self.linked {
                self.root = None;
                self.first = at;
            }
            self.frames.clear();
            self.in_dump = false;
            self.announced = Some(name.trim()).filter(|name| is_name(name)).unwrap_or_default().to_owned();
            (self.linked, self.inside) = (false, true);
        } else if content.starts_with("Exception ignored") {
            self.ignored = true;
        } else if content.starts_with("During handling of the above exception")
            || content.starts_with("The above exception was the direct cause")
        {
            self.linked = true;
        } else if let Some((name, message)) = exception(&content, self.part(at, line)) {
            if self.inside || self.best.is_none() {
                let is_ignored = std::mem::take(&mut self.ignored);
                let is_wrapper = is_ignored || WRAPPERS.iter().any(|part| content.contains(part));
                self.enter(at);
                self.raise(Raised { name, message, is_wrapper, line: at, ..Raised::default() });
            }
        } else if (joined == "File" || joined.starts_with("File \""))
            && joined.chars().count() < MAX_WRAPPED_LENGTH
        {
            self.wrapped = joined;
        } else if is_needed && !self.inside && self.inline.is_none() {
            let found = inline_exception(&content);
            self.inline =
                found.map(|(name, message)| Raised { name, message, line: at, ..Raised::default() });
        }
    }

    fn part(&self, at: usize, line: &str) -> LogPart {
        match (self.inside, self.frames.is_empty()) {
            (false, _) => LogPart::Text,
            (true, true) => LogPart::Traceback,
            (true, false) if at > self.last + MAX_FRAME_LINES || !line.starts_with(is_first) => {
                LogPart::Frames
            }
            (true, false) => LogPart::Below,
        }
    }

    /// Starts a traceback whose first line is missing.
    fn enter(&mut self, at: usize) {
        if !self.inside {
            if !self.linked {
                self.root = None;
                self.first = at;
            }
            self.announced.clear();
            (self.linked, self.inside) = (false, true);
        }
    }

    fn raise(&mut self, raised: Raised) {
        let frames = std::mem::take(&mut self.frames);
        let is_better = !raised.is_wrapper || self.best.is_none();
        let raised = Rc::new(Raised { frames, ..raised });
        let root = self.root.get_or_insert_with(|| Rc::clone(&raised));
        if is_better {
            self.best = Some((Rc::clone(root), raised, self.first));
        }
        self.inside = false;
    }

    /// Ends a traceback that is cut off before its exception, unless an earlier one of another chain is whole. The line of
    /// an exception without a traceback, such as a title, names its exception; if lines with a time are between them, it is
    /// another one and says more. Without any other, takes an exception within a line.
    fn finish(&mut self, log: &str) {
        if self.best.is_none() && self.frames.is_empty() && !self.dump.frames.is_empty() {
            let mut dump = std::mem::take(&mut self.dump);
            dump.frames.reverse();
            let dump = Rc::new(dump);
            self.best = Some((Rc::clone(&dump), Rc::clone(&dump), dump.line));
            return;
        }
        if let (None, true, Some(inline)) = (&self.best, self.frames.is_empty(), &self.inline) {
            let inline = Rc::new(inline.clone());
            self.best = Some((Rc::clone(&inline), Rc::clone(&inline), inline.line));
            return;
        }
        let best = self.best.as_ref().map(|(_, raised, _)| raised.as_ref());
        let is_whole = best.is_some_and(|raised| !raised.frames.is_empty());
        // After an exception of the same chain, which the program handled, the cut traceback is the one that ended it.
        if self.inside && !self.frames.is_empty() && (!is_whole || self.root.is_some()) {
            let name = std::mem::take(&mut self.announced);
            let cut = Raised { name, line: self.last, is_cut: true, ..Raised::default() };
            let is_unnamed = cut.name.is_empty() && self.root.is_none();
            let named = best.or(self.inline.as_ref()).filter(|_| is_unnamed).cloned();
            let mut characters = LineChars::default();
            let mut is_apart = |title: &Raised| {
                let length = self.first.saturating_sub(title.line + 1);
                log.split('\n').skip(title.line).take(length).any(|line| has_time(line, &mut characters))
            };
            if let Some(other) = named.clone().filter(|title| is_apart(title)) {
                let other = Rc::new(other);
                self.best = Some((Rc::clone(&other), Rc::clone(&other), other.line));
                return;
            }
            let cut = Raised { is_cut: true, ..named.unwrap_or(cut) };
            self.first = self.first.min(cut.line);
            self.raise(cut);
        }
    }
}

/// Returns the file and its folder.
fn ending(path: &str) -> String {
    let parts: Vec<&str> = path.rsplit('/').take(2).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
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
    let mut caller = "";
    for frames in [&last.frames, &root.frames] {
        let mut is_called = false;
        for (path, line) in frames.iter().rev() {
            if let Some((_, node)) = path.split_once("custom_nodes/") {
                add("node", node.split('/').next().unwrap_or_default());
            }
            if let Some((_, inner)) =
                path.split_once("site-packages/").or_else(|| path.split_once("dist-packages/"))
            {
                let package = inner.split('/').next().unwrap_or_default().trim_end_matches(".py");
                if inner.contains("importlib") {
                    continue;
                }
                if !is_called {
                    add("package", package);
                    add("package_frame", &place(inner, line));
                } else if caller.is_empty() {
                    caller = package;
                }
            } else if !path.starts_with('<')
                && !path.to_ascii_lowercase().contains("/lib/")
                && !path.contains("lib/python")
            {
                add("own_frame", &place(&ending(path), line));
                is_called = true;
            }
        }
    }
    // A package that only called the other code, such as a launcher, did not raise the exception.
    add("package", caller);
    let says_nothing = last.is_wrapper && root.line == last.line;
    if !last.frames.is_empty() && !says_nothing {
        figures.add("frames", Figure::Number(last.frames.len() as f64));
    }
    if let (true, Some((path, line))) = (last.is_cut || last.is_dump, last.frames.last()) {
        let inner = path.split_once("-packages/").map(|(_, inner)| inner.to_owned());
        let frame = place(&inner.unwrap_or_else(|| ending(path)), line);
        let name = if last.is_dump { "dump_frame" } else { "cut_frame" };
        figures.add(name, Figure::Text(frame.chars().take(MAX_LENGTH).collect()));
    }
    if !last.crash_code.is_empty() {
        figures.add("crash_code", Figure::Text(last.crash_code.clone()));
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
            ("it says `a.ValueError: b: c`", Some("1-1 error=a.ValueError; message=b: c`")),
            (
                r#"{"m": "Traceback (most recent call last):\n  File \"C:\nvidia\test.py\", line 1, in f\nKeyError: 'c'"}"#,
                Some("1-1 error=KeyError; message='c'; own_frame=nvidia/test.py, line 1; frames=1"),
            ),
            ("not 1.ValueError: no", None),
            (
                "failed: Traceback (most recent call last): File \"/venv/site-packages/a/b.py\", line 9, in f g() \
                 File \"c.py\", line 1, in g raise x c.OddError: it: ended",
                Some("1-1 error=c.OddError; message=it: ended; own_frame=c.py, line 1; package=a; frames=2"),
            ),
            (
                "`Traceback (most recent call last):`\n`  File \"a.py\", line 1, in f`\n`KeyError: 'c'`",
                Some("1-3 error=KeyError; message='c'; own_frame=a.py, line 1; frames=1"),
            ),
            (
                "Thread 0x1 (most recent call first):\n  File \"wait.py\", line 1 in f\n\n\
                 Current thread 0x2 (most recent call first):\n\
                 \u{20} File \"/v/site-packages/a/b.py\", line 3 in g\n  File \"c.py\", line 9 in <module>\n\n\
                 Exit code: 1073740791 (0xC0000409) - Stack buffer overflow",
                Some(
                    "4-4 package=a; package_frame=a/b.py, line 3; own_frame=c.py, line 9; frames=2; \
                     dump_frame=a/b.py, line 3; crash_code=0xc0000409",
                ),
            ),
            (
                "# Exception: no wings\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f",
                Some(
                    "1-1 error=Exception; message=no wings; own_frame=a.py, line 1; frames=1; cut_frame=a.py, line 1",
                ),
            ),
            (
                "KeyError: 'c'\n2026-01-02 10:20:30 INFO done\n\
                 Traceback (most recent call last):\n  File \"a.py\", line 1, in f",
                Some("1-1 error=KeyError; message='c'"),
            ),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'c'\n\n\
                 During handling of the above exception, another exception occurred:\n\n\
                 Traceback (most recent call last):\n  File \"b.py\", line 2, in g",
                Some(
                    "1-8 root_error=KeyError; root_message='c'; own_frame=b.py, line 2; frames=1; cut_frame=b.py, line 2",
                ),
            ),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'c'\n\
                 Traceback (most recent call last):\n  File \"b.py\", line 2, in g",
                Some("1-3 error=KeyError; message='c'; own_frame=a.py, line 1; frames=1"),
            ),
            ("so ValueError: b\nKeyError: 'c'", Some("2-2 error=KeyError; message='c'")),
            ("UserWarning: no", None),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    a.b: int = g()\nsocket.timeout: timed out",
                Some("1-4 error=socket.timeout; message=timed out; own_frame=a.py, line 1; frames=1"),
            ),
            (
                "  File \"a.py\", line 1, in f\nmodel.safetensors:  45%|####",
                Some("1-1 own_frame=a.py, line 1; frames=1; cut_frame=a.py, line 1"),
            ),
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
