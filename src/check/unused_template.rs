//! Templates of a site that neither replace a template of the theme nor are included.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule, nearest};
use crate::files::Span;

pub(super) const RULE: Rule = Rule {
    code: "unused-template",
    requirement: "templates of a site replace a template of the theme or are included by another template",
    why: "a template with a misspelled name would be ignored",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let templates = || context.sources.under("templates/");
    let name = |path: &str| path.strip_prefix("templates/").unwrap_or(path).to_string();
    let shipped: Vec<String> = templates()
        .filter(|(_, source)| context.sources.is_shipped(&source.path))
        .map(|(_, source)| name(&source.path))
        .collect();
    let own = templates().filter(|(_, source)| !context.sources.is_shipped(&source.path));
    own.filter_map(|(file, source)| {
        let name = name(&source.path);
        let quoted = [format!("\"{name}\""), format!("'{name}'")];
        let is_used = templates().any(|(_, other)| quoted.iter().any(|quoted| other.text.contains(quoted)));
        let is_used = is_used
            || context
                .site
                .collections()
                .iter()
                .filter_map(|own| own.template.as_ref())
                .any(|own| own.value == name);
        let help = match nearest(&name, shipped.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `templates/{near}`?"),
            None => "rename it to a template of the theme, or delete it".to_string(),
        };
        let message = format!("unused template `{name}`");
        (!is_used).then(|| Diagnostic::warning(&RULE, Span::top(file), message).help(help))
    })
    .collect()
}
