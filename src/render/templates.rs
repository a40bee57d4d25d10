//! The template engine: undefined values are errors, and errors have a span in the template.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::value::{Object, Serde, Value};
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, escape_formatter,
};
use serde::Serialize;

use crate::diag::{Diagnostic, Rule, nearest};
use crate::facts::{Fact, Fingerprint, Name};
use crate::files::{Sources, Span};
use crate::i18n::Translations;
use crate::markdown::write_escaped;
use crate::render::assets::Assets;
use crate::render::translate;

/// A template with a syntax error or an undefined value.
pub const TEMPLATE_ERROR: Rule = Rule {
    code: "template-error",
    requirement: "templates are well formed and use only defined names",
    why: "pages would be incomplete",
};

/// All templates, compiled once.
pub(super) struct TemplateEngine<'s> {
    environment: Environment<'s>,
    /// Fact that each page reads: templates, names of static files, translations.
    fact: Fact<()>,
    sources: &'s Sources,
}

/// Marks HTML as safe; only for HTML that kbgen generated.
pub(super) fn html(markup: impl Into<String>) -> Value {
    Value::from_safe_string(markup.into())
}

/// Converts data to a template value.
pub(super) fn view_value(view: impl Serialize) -> Value {
    Value::from(Serde(view))
}

impl<'s> TemplateEngine<'s> {
    /// Compiles all templates.
    ///
    /// # Errors
    /// Every syntax error.
    pub fn new(sources: &'s Sources, assets: &Assets, texts: &Translations) -> Result<Self, Vec<Diagnostic>> {
        let mut environment = plain_engine();
        add_asset_function(&mut environment, assets);
        add_shared_function(&mut environment);
        translate::add_function(&mut environment, texts);
        let mut constants = BTreeMap::new();
        let mut faults = Vec::new();
        let mut parts: Vec<String> = assets.named_paths().map(|(_, path)| path.to_string()).collect();
        for (_, source) in sources.under("templates/") {
            parts.extend([source.path.clone(), source.text.to_string()]);
            let name = source.path.strip_prefix("templates/").unwrap_or(&source.path);
            let folded = translate::fold(&source.text, texts, &mut constants);
            if let Err(error) = environment.add_template_owned(name, folded) {
                faults.extend(diagnostic(sources, &error));
            }
        }
        for (name, html) in constants.into_values() {
            environment.add_global(name, html);
        }
        let fact = Fact::new(Name::new("templates", ""), Fingerprint::of_data(&(texts, parts)), ());
        if faults.is_empty() { Ok(Self { environment, fact, sources }) } else { Err(faults) }
    }

    /// Returns the fact that pages depend on in addition to their views.
    pub fn fact(&self) -> &Fact<()> {
        &self.fact
    }

    /// Renders a page.
    ///
    /// # Errors
    /// The first error, with its span in the template.
    pub fn render(&self, template: &str, view: &Value) -> Result<Vec<u8>, Diagnostic> {
        self.fact.touch();
        self.environment
            .get_template(template)
            .and_then(|template| template.render(view))
            .map(String::into_bytes)
            .map_err(|error| {
                diagnostic(self.sources, &error).unwrap_or_else(|| {
                    let settings = self.sources.find("site.toml").expect("a site has settings");
                    Diagnostic::error(
                        &TEMPLATE_ERROR,
                        Span::top(settings),
                        format!("template `{template}`: {error}"),
                    )
                    .help("fix the template, or delete the file to restore the template of the theme")
                })
            })
    }
}

/// Creates an engine without templates and functions.
pub(super) fn plain_engine<'s>() -> Environment<'s> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_debug(true);
    environment.set_formatter(format);
    environment
}

/// Writes a value. Text is escaped except for slashes, so that addresses stay readable.
fn format(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    match value.as_str().filter(|_| !value.is_safe()) {
        Some(text) => write_escaped(out, text).map_err(Error::from),
        None => escape_formatter(out, state, value),
    }
}

/// Adds `asset("site.css")`: the address of a static file, relative to the page.
fn add_asset_function(environment: &mut Environment<'_>, assets: &Assets) {
    let paths: Arc<BTreeMap<String, String>> =
        Arc::new(assets.named_paths().map(|(name, path)| (name.to_string(), path.to_string())).collect());
    environment.add_function("asset", move |state: &State<'_, '_>, name: String| -> Result<String, Error> {
        let root = state
            .lookup("page")
            .and_then(|page| page.get_attr("root").ok())
            .and_then(|root| root.as_str().map(str::to_string))
            .unwrap_or_default();
        match paths.get(&name) {
            Some(path) => Ok(format!("{root}{path}")),
            None => {
                let near = nearest(&name, paths.keys().map(String::as_str));
                let help = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                Err(Error::new(ErrorKind::InvalidOperation, format!("no static file `{name}`{help}")))
            }
        }
    });
}

/// Template variable that identifies pages of one shape: their menus, root and kind are the same.
pub(super) const SHAPE: &str = "layout_shape";

/// Attributes of `page` that pages of one shape share.
const SHAPE_ATTRIBUTES: [&str; 4] = ["home_href", "kind", "root", "static_root"];

/// Adds `shared("parts/header.html")`: the HTML of a template, rendered once for all pages of a shape; `none` if the template
/// reads anything else.
fn add_shared_function(environment: &mut Environment<'_>) {
    let known: Mutex<HashMap<(String, String), Value>> = Mutex::default();
    environment.add_function("shared", move |state: &State<'_, '_>, name: String| -> Result<Value, Error> {
        let variable = |name: &str| state.lookup(name).unwrap_or_default();
        let shape = variable(SHAPE).to_string();
        let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name, shape);
        if let Some(value) = known().get(&key) {
            return Ok(value.clone());
        }
        let template = state.env().get_template(&key.0)?;
        let reads_other = Arc::new(AtomicBool::new(false));
        let watched = |values: Value, names: BTreeSet<String>| {
            Value::from_object(WatchedValues { values, names, reads_other: Arc::clone(&reads_other) })
        };
        let page = watched(variable("page"), SHAPE_ATTRIBUTES.map(str::to_string).into());
        let variables = [("site", variable("site")), ("build", variable("build")), ("page", page)];
        let names =
            state.env().globals().map(|(name, _)| name).chain(variables.iter().map(|(name, _)| *name));
        let names = names.map(str::to_string).collect();
        let made = template.render(watched(Value::from_pairs(variables), names));
        let value = match made {
            Ok(made) if !reads_other.load(Ordering::Relaxed) => html(made),
            _ => Value::from(()),
        };
        Ok(known().entry(key).or_insert(value).clone())
    });
}

/// Values that note whether other names than the given ones are read.
#[derive(Debug)]
struct WatchedValues {
    values: Value,
    names: BTreeSet<String>,
    reads_other: Arc<AtomicBool>,
}

impl Object for WatchedValues {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        if key.as_str().is_none_or(|key| !self.names.contains(key)) {
            self.reads_other.store(true, Ordering::Relaxed);
        }
        self.values.get_item(key).ok().filter(|value| !value.is_undefined())
    }
}

/// Converts an error of the engine to a finding at the innermost location.
fn diagnostic(sources: &Sources, error: &Error) -> Option<Diagnostic> {
    let mut innermost = error;
    while let Some(inner) =
        std::error::Error::source(innermost).and_then(|inner| inner.downcast_ref::<Error>())
    {
        innermost = inner;
    }
    let placed = if innermost.name().is_some() { innermost } else { error };
    let file = sources.find(&format!("templates/{}", placed.name()?))?;
    let source = sources.get(file);
    let range = placed.range().unwrap_or_else(|| line_range(&source.text, placed.line().unwrap_or(1)));
    let words = match innermost.detail() {
        Some(detail) => format!("{}: {detail}", innermost.kind()),
        None => innermost.kind().to_string(),
    };
    let (words, near) = match words.split_once("; did you mean") {
        Some((words, near)) => (words, Some(format!("did you mean{near}"))),
        None => (words.as_str(), None),
    };
    let help = near.unwrap_or_else(|| {
        match innermost.kind() {
            ErrorKind::UndefinedError => {
                "use a variable of this template (see `docs/templates.md`), or test with `is defined` first"
            }
            ErrorKind::SyntaxError => "check for unbalanced blocks, braces or quotes here and above",
            _ => "fix the template, or delete the file to restore the template of the theme",
        }
        .to_string()
    });
    Some(Diagnostic::error(&TEMPLATE_ERROR, Span::new(file, range.start, range.end), words).help(help))
}

fn line_range(text: &str, line: usize) -> std::ops::Range<usize> {
    let start = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum::<usize>();
    let length = text[start.min(text.len())..].lines().next().map_or(0, str::len);
    start..start + length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_only_templates_that_depend_on_the_shape() {
        let mut environment = plain_engine();
        add_shared_function(&mut environment);
        environment.add_template("menu", "{{ site }} {{ page.root }}").unwrap();
        environment.add_template("own", "{% if page.title is defined %}{{ page.title }}{% endif %}").unwrap();
        environment.add_template("other", "{{ error|default(1) }}").unwrap();
        let page = "{{ shared('menu') }}, {{ shared('own') }}, {{ shared('other') }}";
        environment.add_template("page", page).unwrap();
        for title in ["a", "b"] {
            let values = Value::from_pairs([("root", "../"), ("title", title)]);
            let view = Value::from_pairs([("site", title.into()), (SHAPE, "x".into()), ("page", values)]);
            let made = environment.get_template("page").unwrap().render(view).unwrap();
            assert_eq!(made, "a ../, None, None");
        }
    }
}
