//! Tools of `kbgen mcp`: their definitions, and calls with the JSON of the commands as results.

use std::cell::OnceCell;
use std::ffi::OsString;

use anyhow::{Result, anyhow, bail};
use clap::{ArgAction, CommandFactory, Parser};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::cli::arguments::{Arguments, Command};
use crate::cli::build_cache::BuildCache;
use crate::cli::diagnose::Diagnoser;
use crate::cli::explain::explain;
use crate::cli::fit;
use crate::cli::knowledge_base::KnowledgeBase;
use crate::diagnosis::slug_of_address;
use crate::escape;
use crate::site::Site;

/// Names of all tools.
pub(super) const NAMES: [&str; 4] = ["diagnose", "explain", "fit", "search"];

/// Pages in a result, unless the client sets a number.
const DEFAULT_TOP: u64 = 5;
/// Maximum number of pages in a result.
const MAX_TOP: u64 = 50;

/// A knowledge base and what the first call of a tool loads.
pub(super) struct Tools<'b> {
    base: &'b KnowledgeBase,
    cache: BuildCache,
    diagnoser: OnceCell<Diagnoser<'b>>,
    fit_pages: OnceCell<Site>,
}

/// An error page that `search` finds.
#[derive(Debug, Serialize)]
struct FoundPage {
    slug: String,
    title: String,
    /// Address from the root of the site, with a leading slash.
    url: String,
}

/// Returns the definitions of all tools.
pub(super) fn definitions() -> Value {
    let top = json!({
        "type": "integer", "minimum": 1, "maximum": MAX_TOP, "default": DEFAULT_TOP,
        "description": "Maximum number of pages to list",
    });
    let definition = |name: &str, title: &str, description: &str, properties: Value, required: &str| {
        json!({
            "name": name,
            "title": title,
            "description": description,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": [required],
                "additionalProperties": false,
            },
            "annotations": {"readOnlyHint": true, "openWorldHint": false},
        })
    };
    json!([
        definition(
            "diagnose",
            "Diagnose a log",
            "Find the known errors in a log or error message. Each match has the page, the line, the figures in the \
             message and the cause that they point to. Call `explain` with the `slug` of a match for its solutions.",
            json!({"log": {"type": "string", "description": "Log, or error message"}, "top": top}),
            "log",
        ),
        definition(
            "explain",
            "Explain an error",
            "Return an error page, with causes, checks, and solutions with commands, or a guide, as Markdown.",
            json!({"page": {"type": "string", "description": "`slug` or `url` of a page that `diagnose` or `search` found"}}),
            "page",
        ),
        definition(
            "fit",
            "Estimate memory",
            "Estimate whether a language model fits in the memory of a GPU, and return settings and commands to run it.",
            fit_properties(),
            "model",
        ),
        definition(
            "search",
            "Search pages",
            "Find error pages and guides by words. For a log or an error message, call `diagnose`.",
            json!({"query": {"type": "string", "description": "Words"}, "top": top}),
            "query",
        ),
    ])
}

/// Arguments of `kbgen fit` that the tool lacks: it estimates one model, and makes no requests.
const HIDDEN: [&str; 3] = ["format", "fetch", "models"];

/// Returns the schema of the main options of `kbgen fit`.
fn fit_properties() -> Value {
    let command = Arguments::command();
    let fit = command.find_subcommand("fit").expect("fit is a command");
    let mut properties = Map::new();
    let options = fit.get_arguments().filter(|option| option.get_help_heading().is_none());
    for option in options.filter(|option| !HIDDEN.contains(&option.get_id().as_str())) {
        let values: Vec<Value> =
            option.get_possible_values().iter().map(|value| json!(value.get_name())).collect();
        let mut schema = match option.get_action() {
            ArgAction::SetTrue => json!({"type": "boolean"}),
            ArgAction::Append => json!({"type": "array", "items": {"type": "string"}}),
            _ if !values.is_empty() => json!({"type": "string", "enum": values}),
            _ => json!({"type": "string"}),
        };
        schema["description"] = json!(option.get_help().map(ToString::to_string));
        properties.insert(option.get_id().to_string(), schema);
    }
    let model =
        "Name of a model, such as llama-3.1-8b-instruct, or the path of a GGUF file or checkpoint folder";
    properties.insert("model".into(), json!({"type": "string", "description": model}));
    Value::Object(properties)
}

impl<'b> Tools<'b> {
    pub fn new(base: &'b KnowledgeBase, cache: BuildCache) -> Self {
        Self { base, cache, diagnoser: OnceCell::new(), fit_pages: OnceCell::new() }
    }

    /// Describes the knowledge base to the model.
    pub fn instructions(&self) -> String {
        let config = self.base.config();
        format!(
            "{}: {} Call `diagnose` with an error message or log first. Knowledge base: {}.",
            config.title,
            config.description,
            self.base.describe()
        )
    }

    /// Stores compiled signatures for the next run.
    pub fn save(&self) {
        if let Some(diagnoser) = self.diagnoser.get() {
            diagnoser.save(&self.cache);
        }
    }

    /// Calls a tool of [`NAMES`]. Returns the output of the command with `--format json`, and the same as data.
    ///
    /// # Errors
    /// If an argument is invalid.
    pub fn call(&self, name: &str, arguments: &Map<String, Value>) -> Result<(String, Value)> {
        let definitions = definitions();
        let tools = definitions.as_array().into_iter().flatten();
        let schema = tools.filter(|tool| tool["name"] == name).map(|tool| &tool["inputSchema"]).next();
        let schema = schema.ok_or_else(|| anyhow!("unknown tool `{name}`"))?;
        if let Some(unknown) = arguments.keys().find(|key| schema["properties"].get(key).is_none()) {
            bail!("unknown argument `{unknown}`");
        }
        match name {
            "diagnose" => {
                let found = self.diagnoser().diagnose_text(text(arguments, "log")?, top(arguments)?);
                self.result(found)
            }
            "explain" => self.result(explain(self.base.sources(), text(arguments, "page")?)?),
            "fit" => {
                let Command::Fit(options) = fit_command(arguments)? else { bail!("not an estimate") };
                let site = self.fit_pages.get_or_init(|| fit::pages(self.base, fit::is_used));
                self.result(fit::estimate(site, &options)?)
            }
            _ => self.result(self.search(text(arguments, "query")?, top(arguments)?)),
        }
    }

    fn diagnoser(&self) -> &Diagnoser<'b> {
        self.diagnoser.get_or_init(|| Diagnoser::new(self.base, self.cache.engine()))
    }

    fn result(&self, result: impl Serialize) -> Result<(String, Value)> {
        let answer = self.base.answer(result);
        Ok((escape::json(&answer), serde_json::to_value(&answer)?))
    }

    /// Returns the pages whose title is in the query, then those that share words with it.
    fn search(&self, query: &str, top: usize) -> Value {
        let index = self.diagnoser().text_index();
        let titles = index.title_matches(query).into_iter();
        let titles = titles.map(|found| (found.address.to_string(), found.title.to_string()));
        let hits = index.search(query, MAX_TOP as usize).into_iter().map(|hit| (hit.address, hit.title));
        let mut pages: Vec<FoundPage> = Vec::new();
        for (address, title) in titles.chain(hits) {
            let url = format!("/{address}");
            let slug = slug_of_address(&address);
            if pages.len() < top && !pages.iter().any(|page| page.slug == slug) {
                pages.push(FoundPage { slug: slug.to_string(), title, url });
            }
        }
        json!({"pages": pages})
    }
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str> {
    let text = arguments.get(name).and_then(Value::as_str);
    text.ok_or_else(|| anyhow!("`{name}` is not a string"))
}

fn top(arguments: &Map<String, Value>) -> Result<usize> {
    let top = arguments.get("top").map_or(Some(DEFAULT_TOP), Value::as_u64);
    match top.filter(|top| (1..=MAX_TOP).contains(top)) {
        Some(top) => Ok(top as usize),
        None => bail!("`top` is not a whole number from 1 to {MAX_TOP}"),
    }
}

/// Parses arguments as those of `kbgen fit`.
fn fit_command(arguments: &Map<String, Value>) -> Result<Command> {
    let model = text(arguments, "model")?;
    if model == "-" {
        bail!("`model` is not a name or a path");
    }
    let mut line = vec![OsString::from("kbgen"), OsString::from("fit")];
    for (name, value) in arguments.iter().filter(|(name, _)| *name != "model") {
        let option = format!("--{}", name.replace('_', "-"));
        let values = match value {
            Value::Bool(true) => {
                line.push(option.into());
                continue;
            }
            Value::Bool(false) | Value::Null => continue,
            Value::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        for value in values {
            let value = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => bail!("`{name}` has a value that is neither a string nor a number"),
            };
            line.push(format!("{option}={value}").into());
        }
    }
    line.extend(["--".into(), model.into()]);
    let parsed = Arguments::try_parse_from(line).map_err(|error| {
        let message = error.to_string();
        anyhow!("{}", message.lines().next().unwrap_or_default().trim_start_matches("error: "))
    });
    Ok(parsed?.command)
}
