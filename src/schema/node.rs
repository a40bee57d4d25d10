//! A parsed file before anything is demanded of it: every key and value with its place.

use crate::files::{Placed, Span};

/// A value somewhere in a file.
#[derive(Debug, Clone)]
pub struct Node {
    /// Where it stands; of a list or mapping, from its first to its last item.
    pub span: Span,
    /// What it is.
    pub kind: NodeKind,
}

/// What a node holds.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// Nothing was written, or `null` or `~`.
    Null,
    /// A word or number as it was written, without quotes.
    Scalar {
        /// The text.
        text: String,
        /// Whether it stood in quotes or in a block, so that it can only be text.
        quoted: bool,
    },
    /// Items in their order.
    List(Vec<Node>),
    /// Keys and values in their order, repeats included.
    Map(Vec<(Placed<String>, Node)>),
}

impl Node {
    /// What a person would call it, for messages.
    pub fn name(&self) -> &'static str {
        match &self.kind {
            NodeKind::Null => "nothing",
            NodeKind::Scalar { quoted: true, .. } => "quoted text",
            NodeKind::Scalar { text, .. } if matches!(text.as_str(), "true" | "false") => "a flag",
            NodeKind::Scalar { text, .. } if text.parse::<f64>().is_ok() => "a number",
            NodeKind::Scalar { .. } => "text",
            NodeKind::List(_) => "a list",
            NodeKind::Map(_) => "a mapping",
        }
    }
}
