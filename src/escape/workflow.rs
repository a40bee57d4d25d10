//! Workflow commands of GitHub Actions, one per line.

use std::fmt;

use crate::escape::visible;

/// Commands for the runner of a workflow. Values cannot start another command or affect a terminal.
///
/// Escapes: <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkflowCommands(String);

impl WorkflowCommands {
    /// Adds the command `name` with properties and a message, both escaped.
    pub fn add(&mut self, name: &'static str, properties: &[(&'static str, &str)], message: &str) {
        let properties: Vec<String> =
            properties.iter().map(|(key, value)| format!("{key}={}", property(value))).collect();
        self.0.push_str(&format!("::{name} {}::{}\n", properties.join(","), data(message)));
    }
}

impl fmt::Display for WorkflowCommands {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    visible(&text).into_owned()
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_end_a_property_or_a_line() {
        let mut commands = WorkflowCommands::default();
        commands.add("error", &[("file", "a\n::stop-commands::x,line=1\u{1b}")], "50%\r\n::error::\u{202e}");
        assert_eq!(
            commands.to_string(),
            "::error file=a%0A%3A%3Astop-commands%3A%3Ax%2Cline=1\\u{1b}::50%25%0D%0A::error::\\u{202e}\n"
        );
    }
}
