//! The theme's own scripts without what only their authors read.

/// A script without comments that have lines of their own, indentation, empty lines and needless line ends.
///
/// Strings and expressions are left as they are: no text of the theme's scripts runs over a line end, which a test
/// makes sure of.
pub(super) fn compact(script: &str) -> String {
    let mut text = String::with_capacity(script.len());
    let mut in_comment = false;
    for mut line in script.lines().map(str::trim_start) {
        while in_comment || line.starts_with("/*") {
            let closed = line.split_once("*/");
            in_comment = closed.is_none();
            line = closed.map_or("", |(_, behind)| behind.trim_start());
            if in_comment {
                break;
            }
        }
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        text.push_str(line);
        // Behind these a line end says nothing, unless it closes a comment.
        if !line.ends_with(['{', ',', ';', '(']) || line.contains("//") {
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn only_comments_on_lines_of_their_own_go() {
        let script = "/* One\n   two. */\nvar a = \"// b\"; // c;\n\n  /* d */\n  // e\n  f(\"/*\");\n/* g */ h();\n/* i\n*/ j()\n\
                      let b = {\n  c: 1,\n  d: 2\n}\n";
        assert_eq!(compact(script), "var a = \"// b\"; // c;\nf(\"/*\");h();j()\nlet b = {c: 1,d: 2\n}\n");
    }

    #[test]
    fn no_text_of_a_script_runs_over_a_line_end() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("static/js");
        for file in fs::read_dir(folder).expect("the theme has scripts") {
            let path = file.expect("the folder can be read").path();
            let script = fs::read_to_string(&path).expect("a script is text");
            // A back quote in a string or an expression is written `\x60`, so that the others come in pairs.
            for line in script.lines() {
                assert!(
                    line.matches('`').count() % 2 == 0 && !line.ends_with('\\'),
                    "{}: {line}",
                    path.display()
                );
            }
        }
    }
}
