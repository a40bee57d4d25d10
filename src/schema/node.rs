//! Parsed file before validation: keys and values with spans.

use crate::files::{Span, Spanned};

/// Format of a file, in which messages explain the correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// Front matter of a page.
    Yaml,
    /// `site.toml`.
    Toml,
}

/// Value with its span.
#[derive(Debug, Clone)]
pub struct Node {
    /// Span; of a list or mapping, from its first to its last item.
    pub span: Span,
    /// Value.
    pub kind: NodeKind,
}

/// Value of a node.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// Empty value, `null` or `~`.
    Null,
    /// Value after a reported syntax error, parsed only to find further errors.
    Unreadable,
    /// Scalar as written, without quotes.
    Scalar {
        /// Text of the scalar.
        text: String,
        /// Whether it was quoted or a block scalar, and can only be text.
        quoted: bool,
    },
    /// Items in order.
    List(Vec<Node>),
    /// Keys and values in order, including duplicates.
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

    /// Returns whether the node contains an unreadable value.
    pub fn holds_unreadable(&self) -> bool {
        match &self.kind {
            NodeKind::Unreadable => true,
            NodeKind::Null | NodeKind::Scalar { .. } => false,
            NodeKind::List(items) => items.iter().any(Self::holds_unreadable),
            NodeKind::Map(pairs) => pairs.iter().any(|(_, value)| value.holds_unreadable()),
        }
    }

    /// Returns the name for messages.
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
