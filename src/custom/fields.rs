//! Fields that a site adds to the front matter of errors and entries.

use serde::{Deserialize, Serialize};

use crate::custom::BAD_DECLARATION;
use crate::diag::{Diagnostic, nearest};
use crate::files::Spanned;
use crate::schema::{FieldOf, Fields, Need, ShapeOf, Slug, TextMap, Value, record, title_of, words};

words! {
    /// Type of a declared field.
    pub enum FieldKind {
        /// Text on one line.
        Text = "text",
        /// A web address.
        Url = "url",
        /// A day.
        Date = "date",
        /// A whole number.
        Integer = "integer",
        /// A number above zero.
        Number = "number",
        /// `true` or `false`.
        Flag = "flag",
        /// One of `words`.
        Choice = "choice",
        /// The slug of an entry of `collection`.
        Entry = "entry",
    }
}

record! {
    /// A field as declared in `site.toml`.
    #[derive(Debug)]
    pub struct FieldDeclaration {
        /// Type of the value; default: `text`.
        optional kind: FieldKind,
        /// Label on pages; default: the key.
        optional label: Option<String>,
        /// Description for editors and readers of the schema; default: the label.
        optional description: Option<String>,
        /// For `choice`: allowed words with their labels.
        optional words: Vec<(String, String)> as TextMap,
        /// For `entry`: the collection.
        optional collection: Option<Spanned<String>> as Slug,
        /// Whether the field has a list of values.
        optional list: bool,
        /// Whether every page must have the field.
        optional required: bool,
    }
}

/// The declared fields of a kind of page by key.
pub type FieldDeclarations = Vec<(Spanned<String>, FieldDeclaration)>;

/// A declared field.
#[derive(Debug, Clone, Serialize)]
pub struct OwnField {
    /// Key in the front matter.
    pub name: Spanned<String>,
    /// Type of the value.
    pub kind: FieldKind,
    /// Label on pages.
    pub label: String,
    /// Description in the schema.
    pub description: String,
    /// Allowed words with their labels.
    pub words: Vec<(String, String)>,
    /// Collection of the entries that it names.
    pub collection: Option<String>,
    /// Whether the field has a list of values.
    pub is_list: bool,
    /// Whether every page must have the field.
    pub is_required: bool,
}

/// Value of a declared field, without its list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum OwnItem {
    /// A text, address, date, word or slug.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// `true` or `false`.
    Flag(bool),
    /// An entry: its collection and slug, with a slash between them.
    Entry(String),
}

/// Values of a declared field on a page.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OwnValues {
    /// Key of the field.
    pub name: String,
    /// Values; one if the field is not a list.
    pub items: Vec<Spanned<OwnItem>>,
}

impl OwnField {
    /// Checks a declaration; `collections` are the collections of the site.
    pub(super) fn new(
        name: Spanned<String>,
        declaration: FieldDeclaration,
        collections: &[&str],
        found: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let fault = |span, message: String, help: String| {
            Err(Diagnostic::error(&BAD_DECLARATION, span, message).help(help))
        };
        let is_key = name.value.starts_with(|c: char| c.is_ascii_lowercase())
            && name.value.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        let FieldDeclaration { kind, label, description, words, collection, list, required } = declaration;
        let checked = match (kind, &collection) {
            _ if !is_key => fault(
                name.span,
                format!("`{}` is not a key", name.value),
                "use lowercase letters, digits and underscores".into(),
            ),
            (FieldKind::Choice, _) if words.is_empty() => fault(
                name.span,
                format!("the choice `{}` has no words", name.value),
                "add `words = { \"word\" = \"Label\" }`".into(),
            ),
            (_, Some(of)) if kind != FieldKind::Entry => fault(
                of.span,
                format!("`{}` does not name entries", name.value),
                "add `kind = \"entry\"`, or remove `collection`".into(),
            ),
            _ if kind != FieldKind::Choice && !words.is_empty() => fault(
                name.span,
                format!("`words` of `{}` requires `kind = \"choice\"`", name.value),
                "add `kind = \"choice\"`, or remove `words`".into(),
            ),
            (FieldKind::Entry, None) => fault(
                name.span,
                format!("`{}` names entries of no collection", name.value),
                "add `collection = \"…\"`".into(),
            ),
            (FieldKind::Entry, Some(of)) if !collections.contains(&of.value.as_str()) => {
                fault(of.span, format!("no collection `{}`", of.value), did_you_mean(&of.value, collections))
            }
            _ => Ok(()),
        };
        if let Err(finding) = checked {
            found.push(finding);
            return None;
        }
        let label = label.unwrap_or_else(|| title_of(&name.value));
        Some(Self {
            description: description.unwrap_or_else(|| label.clone()),
            label,
            name,
            kind,
            words,
            collection: collection.map(|of| of.value).filter(|_| kind == FieldKind::Entry),
            is_list: list,
            is_required: required,
        })
    }

    /// Returns the shape of a single value.
    fn shape<'f>(&self, words: &'f [(&'f str, &'f str)]) -> ShapeOf<'f> {
        match self.kind {
            FieldKind::Text => ShapeOf::Text,
            FieldKind::Url => ShapeOf::Url,
            FieldKind::Date => ShapeOf::Date,
            FieldKind::Integer => ShapeOf::Integer { min: i64::MIN, max: i64::MAX },
            FieldKind::Number => ShapeOf::Number,
            FieldKind::Flag => ShapeOf::Flag,
            FieldKind::Choice => ShapeOf::Choice(words),
            FieldKind::Entry => ShapeOf::Slug,
        }
    }

    /// Returns the definition of the field; `shape` is that of a single value.
    fn definition<'f>(&'f self, shape: &'f ShapeOf<'f>) -> FieldOf<'f> {
        let list = ShapeOf::List { of: shape, at_least: 1, at_most: 64 };
        FieldOf {
            name: &self.name.value,
            shape: if self.is_list { list } else { *shape },
            need: if self.is_required { Need::Required } else { Need::Optional },
            doc: &self.description,
        }
    }

    /// Returns the values of the field in the front matter of a page.
    fn values(&self, fields: &Fields) -> Option<OwnValues> {
        let value = fields.value(&self.name.value)?;
        let item =
            |value: &Spanned<Value>| self.item(&value.value).map(|item| Spanned::new(item, value.span));
        let items = match &value.value {
            Value::List(items) => items.iter().filter_map(item).collect(),
            _ => vec![item(value)?],
        };
        Some(OwnValues { name: self.name.value.clone(), items })
    }

    fn item(&self, value: &Value) -> Option<OwnItem> {
        Some(match (value, &self.collection) {
            (Value::Text(slug), Some(collection)) => OwnItem::Entry(format!("{collection}/{slug}")),
            (Value::Text(text), None) => OwnItem::Text(text.clone()),
            (Value::Integer(number), _) => OwnItem::Integer(*number),
            (Value::Number(number), _) => OwnItem::Number(*number),
            (Value::Flag(flag), _) => OwnItem::Flag(*flag),
            (Value::Date(date), _) => OwnItem::Text(date.to_string()),
            (Value::List(_) | Value::Record(_) | Value::Map(_), _) => return None,
        })
    }

    /// Returns the values as JSON.
    pub fn json(&self, values: &OwnValues) -> serde_json::Value {
        let mut items = values.items.iter().map(|item| match &item.value {
            OwnItem::Text(text) => text.as_str().into(),
            OwnItem::Integer(number) => (*number).into(),
            OwnItem::Number(number) => (*number).into(),
            OwnItem::Flag(flag) => (*flag).into(),
            OwnItem::Entry(id) => id.rsplit('/').next().into(),
        });
        if self.is_list { items.collect() } else { items.next().unwrap_or_default() }
    }
}

/// Returns the values of declared fields in the front matter of a page, in the order of the declarations.
pub fn own_values(declared: &[OwnField], fields: &Fields) -> Vec<OwnValues> {
    declared.iter().filter_map(|field| field.values(fields)).collect()
}

/// Returns the entries that the values name: collection and slug, with a slash between them.
pub fn named_entries(own: &[OwnValues]) -> impl Iterator<Item = Spanned<String>> {
    own.iter().flat_map(|values| &values.items).filter_map(|item| match &item.value {
        OwnItem::Entry(id) => Some(Spanned::new(id.clone(), item.span)),
        _ => None,
    })
}

/// Calls a function with the definitions of declared fields, which borrow from the declarations.
pub fn with_definitions<T>(declared: &[OwnField], make: impl FnOnce(&[FieldOf<'_>]) -> T) -> T {
    let words: Vec<Vec<(&str, &str)>> = declared
        .iter()
        .map(|field| field.words.iter().map(|(word, label)| (word.as_str(), label.as_str())).collect())
        .collect();
    let shapes: Vec<ShapeOf<'_>> =
        declared.iter().zip(&words).map(|(field, words)| field.shape(words)).collect();
    let definitions: Vec<FieldOf<'_>> =
        declared.iter().zip(&shapes).map(|(field, shape)| field.definition(shape)).collect();
    make(&definitions)
}

/// Returns the help for an unknown name: the nearest known one, or how to declare it.
pub(super) fn did_you_mean(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("declare a collection `[collections.{name}]`"),
    }
}
