//! Splits the text of Python tracebacks into lines and frames.
//!
//! `static/js/readings.js` implements the same algorithm; change both together.

use std::borrow::Cow;

use crate::exception::inline_exception;
use crate::normal::color_code_length;
use crate::prefix::{LineChars, prefix_length};

/// Ending of the first line of a traceback.
const HEAD: &str = "(most recent call last):";
/// Most characters between `exit code` and the code.
const MAX_CODE_DISTANCE: usize = 40;

/// Returns the exit code in a line, as `0x` and hexadecimal digits if the line has it in this form; empty if there is none.
pub(crate) fn crash_code(line: &str) -> String {
    let lower = line.to_ascii_lowercase();
    let Some(at) = ["exit code", "exitcode"].iter().find_map(|name| lower.find(name)) else {
        return String::new();
    };
    let rest: String = lower[at + 8..].chars().take(MAX_CODE_DISTANCE).collect();
    let digits = |text: &str, is_digit: fn(char) -> bool| -> String {
        text.chars().take_while(|character| is_digit(*character)).collect()
    };
    let hexadecimal = rest
        .split_once("0x")
        .map(|(_, digits_of)| digits(digits_of, |character| character.is_ascii_hexdigit()));
    if let Some(code) = hexadecimal.filter(|code| code.len() == 8) {
        return format!("0x{code}");
    }
    let start = rest.find(|character: char| character.is_ascii_digit()).unwrap_or(rest.len());
    let sign = if rest[..start].ends_with('-') { "-" } else { "" };
    let code = digits(&rest[start..], |character| character.is_ascii_digit());
    if code.is_empty() || code == "0" { String::new() } else { format!("{sign}{code}") }
}

/// Returns the lines of a traceback that is joined to one line by spaces: `Traceback …: File "a.py", line 1, in f g() File
/// "b.py", line 2, in g KeyError: 'a'`.
fn joined_lines(line: &str) -> Option<Vec<Cow<'_, str>>> {
    const FRAME: &str = " File \"";
    let head = line.find(HEAD)?;
    if !line[head + HEAD.len()..].trim_start().starts_with(FRAME.trim_start()) {
        return None;
    }
    let mut lines = vec![Cow::Borrowed(&line[..head + HEAD.len()])];
    for piece in line[head + HEAD.len()..].split(FRAME).skip(1) {
        lines.push(Cow::Owned(format!("{}{piece}", FRAME.trim_start())));
    }
    let last = lines.pop()?.into_owned();
    let exception = inline_exception(&last).and_then(|(name, _)| last.find(&format!("{name}: ")));
    let (frame, exception) = last.split_at(exception.unwrap_or(last.len()));
    lines.extend([frame, exception].map(|text| Cow::Owned(text.to_owned())));
    Some(lines)
}

/// Returns the lines of a traceback that a JSON string contains in one line, or that is joined to one line, else the line.
pub(crate) fn lines_of(line: &str) -> Vec<Cow<'_, str>> {
    if let Some(lines) = joined_lines(line) {
        return lines;
    }
    let rest = line.find(HEAD).map_or("", |at| &line[at + HEAD.len()..]);
    let run = rest.bytes().take_while(|byte| *byte == b'\\').count();
    if run == 0 || !rest[run..].starts_with('n') {
        return vec![Cow::Borrowed(line)];
    }
    let (mut lines, mut text, mut backslashes) = (Vec::new(), String::new(), 0);
    let is_quoted = rest.contains("File \\");
    // Within a path, `\n` is not the end of a line: `C:\new`.
    let mut is_in_path = false;
    for character in line.chars() {
        let escaped = std::mem::take(&mut backslashes);
        match character {
            '\\' => backslashes = escaped + 1,
            'n' if escaped == run && !is_in_path => lines.push(Cow::Owned(std::mem::take(&mut text))),
            '"' if escaped == 0 && is_quoted && !lines.is_empty() => break,
            '"' => {
                text.push('"');
                is_in_path = !is_in_path && text.ends_with("File \"");
            }
            _ => {
                text.extend((escaped > 0).then_some('/'));
                text.push(character);
            }
        }
    }
    lines.push(Cow::Owned(text));
    lines
}

/// Returns a line without its prefix and colors.
pub(crate) fn content(line: &str, characters: &mut LineChars) -> String {
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
    let text = text.trim_matches(|character| " \u{2502}\u{2503}|".contains(character));
    // Each line may be code in Markdown.
    let code = text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    code.map_or(text, str::trim).to_owned()
}

/// Returns whether a line has a time before its content, as the lines of a log have.
pub(crate) fn has_time(line: &str, characters: &mut LineChars) -> bool {
    let prefix = &line[..line.find(&content(line, characters)).unwrap_or(0)];
    let is_time =
        |bytes: &[u8]| (0..5).all(|at| if at == 2 { bytes[at] == b':' } else { bytes[at].is_ascii_digit() });
    prefix.as_bytes().windows(5).any(is_time)
}

/// Reads `File "a.py", line 1, in f`, `a.py:1 in f` or `File a.py:1` as path and line.
pub(crate) fn frame(content: &str) -> Option<(String, String)> {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let (path, line) = match content.strip_prefix("File \"") {
        Some(rest) => {
            let (path, rest) = rest.split_once("\", line ")?;
            (path, digits(rest))
        }
        None => {
            let file = content.strip_prefix("File ");
            let place = file.unwrap_or(content);
            let (path, rest) = place.split_once(".py:")?;
            let line = digits(rest);
            let rest = rest[line.len()..].trim_start_matches(',');
            let is_frame =
                !path.contains(' ') && (rest.starts_with(" in ") || file.is_some() && rest.is_empty());
            (&place[..path.len() + ".py".len()], Some(line).filter(|_| is_frame)?)
        }
    };
    let mut slashed = path.replace('\\', "/");
    while slashed.contains("//") {
        slashed = slashed.replace("//", "/");
    }
    (!line.is_empty()).then_some((slashed, line))
}

#[cfg(test)]
mod tests {
    use super::frame;

    #[test]
    fn a_frame_of_ipython_keeps_its_own_path() {
        for (line, expected) in
            [("File le.py:7, in g", "le.py"), ("File /opt/a.py:7", "/opt/a.py"), ("a.py:7 in f", "a.py")]
        {
            assert_eq!(frame(line), Some((expected.to_owned(), "7".to_owned())), "{line}");
        }
    }
}
