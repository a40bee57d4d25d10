//! A parsed file before anything is demanded of it: every key and value with its place.

use crate::files::{Span, Spanned};

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
    /// A value behind a syntax fault, which is reported: it was read only to find further faults.
    Unreadable,
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
    Map(Vec<(Spanned<String>, Node)>),
}

impl Node {
    /// Marks every scalar that contains one of these positions in its file as unreadable.
    pub fn mark_unreadable(&mut self, positions: &[usize]) {
        let span = self.span;
        match &mut self.kind {
            NodeKind::List(items) => items.iter_mut().for_each(|item| item.mark_unreadable(positions)),
            NodeKind::Map(pairs) => pairs.iter_mut().for_each(|(_, value)| value.mark_unreadable(positions)),
            NodeKind::Scalar { .. } if positions.iter().any(|at| (span.start..span.end).contains(at)) => {
                self.kind = NodeKind::Unreadable;
            }
            NodeKind::Null | NodeKind::Scalar { .. } | NodeKind::Unreadable => {}
        }
    }

    /// Whether a value in it is unreadable.
    pub fn holds_unreadable(&self) -> bool {
        match &self.kind {
            NodeKind::Unreadable => true,
            NodeKind::Null | NodeKind::Scalar { .. } => false,
            NodeKind::List(items) => items.iter().any(Self::holds_unreadable),
            NodeKind::Map(pairs) => pairs.iter().any(|(_, value)| value.holds_unreadable()),
        }
    }

    /// What a person would call it, for messages.
    pub fn name(&self) -> &'static str {
        match &self.kind {
            NodeKind::Null => "nothing",
            NodeKind::Unreadable => "unreadable",
            NodeKind::Scalar { quoted: true, .. } => "quoted text",
            NodeKind::Scalar { text, .. } if matches!(text.as_str(), "true" | "false") => "a flag",
            NodeKind::Scalar { text, .. } if text.parse::<f64>().is_ok() => "a number",
            NodeKind::Scalar { .. } => "text",
            NodeKind::List(_) => "a list",
            NodeKind::Map(_) => "a mapping",
        }
    }
}
