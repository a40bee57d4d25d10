//! Caches the tokens of lines of code.
//!
//! The tokens of a line depend only on the line and on the state of the parser before it. Most lines of code blocks are commands
//! that other blocks have, too.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use syntect::parsing::{ParseState, ScopeStack, SyntaxReference};

use crate::markdown::span_writer::TokenClass;

/// Size of the lines of a language at which they are cleared.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Maximum cached states of a language. A few dozen are typical.
const MAX_STATES: usize = 256;

/// The class of a token and its length in bytes.
pub(crate) type LineToken = (Option<TokenClass>, u32);

/// The state of a parser between two lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParserState {
    /// State of the grammar.
    pub grammar: ParseState,
    /// Open scopes.
    pub scopes: ScopeStack,
}

/// The state between two lines: the index of a cached state, or an uncached one.
#[derive(Debug)]
pub(crate) enum LineState {
    Known(usize),
    Own(Box<ParserState>),
}

/// The tokens of a line and the index of the state after it.
#[derive(Debug, Clone)]
struct CachedLine {
    tokens: Rc<[LineToken]>,
    next: usize,
}

/// The cache of a language. The index of a state never changes.
#[derive(Debug, Default)]
struct LanguageCache {
    states: Vec<ParserState>,
    /// Lines by the index of the state before them.
    lines: Vec<HashMap<Box<str>, CachedLine>>,
    bytes: usize,
}

thread_local! {
    /// Caches by the names of grammars. One per thread, so that threads do not wait for each other.
    static LANGUAGES: RefCell<HashMap<String, LanguageCache>> = RefCell::default();
}

fn with_language<T>(name: &str, then: impl FnOnce(&mut LanguageCache) -> T) -> T {
    LANGUAGES.with_borrow_mut(|languages| match languages.get_mut(name) {
        Some(known) => then(known),
        None => then(languages.entry(name.to_string()).or_default()),
    })
}

impl LineState {
    /// Returns the state at the start of a block.
    pub fn start(syntax: &SyntaxReference) -> Self {
        let start = ParserState { grammar: ParseState::new(syntax), scopes: ScopeStack::new() };
        with_language(&syntax.name, |language| language.index(&start))
            .map_or_else(|| Self::Own(Box::new(start)), Self::Known)
    }

    /// Returns the tokens of a line and the state after it; calls `parse` for a line that is not cached.
    pub fn parse(
        self,
        language: &str,
        line: &str,
        parse: impl FnOnce(&mut ParserState) -> Option<Vec<LineToken>>,
    ) -> Option<(Rc<[LineToken]>, Self)> {
        let (index, mut state) = match self {
            Self::Own(state) => (None, *state),
            Self::Known(index) => {
                let known = with_language(language, |known| match known.lines[index].get(line) {
                    Some(line) => Ok(line.clone()),
                    None => Err(known.states[index].clone()),
                });
                match known {
                    Ok(line) => return Some((line.tokens, Self::Known(line.next))),
                    Err(state) => (Some(index), state),
                }
            }
        };
        let tokens: Rc<[LineToken]> = parse(&mut state)?.into();
        let next = with_language(language, |known| {
            let next = known.index(&state)?;
            if let Some(index) = index {
                known.insert(index, line, CachedLine { tokens: tokens.clone(), next });
            }
            Some(next)
        });
        Some((tokens, next.map_or_else(|| Self::Own(Box::new(state)), Self::Known)))
    }
}

impl LanguageCache {
    /// Returns the index of a state and caches it if it is new; `None` if the cache is full.
    fn index(&mut self, state: &ParserState) -> Option<usize> {
        if let Some(index) = self.states.iter().position(|known| known == state) {
            return Some(index);
        }
        if self.states.len() == MAX_STATES {
            return None;
        }
        self.states.push(state.clone());
        self.lines.push(HashMap::new());
        Some(self.states.len() - 1)
    }

    fn insert(&mut self, index: usize, text: &str, line: CachedLine) {
        if self.bytes > MAX_BYTES {
            self.lines.iter_mut().for_each(HashMap::clear);
            self.bytes = 0;
        }
        self.bytes += text.len() + line.tokens.len() * size_of::<LineToken>();
        self.lines[index].insert(text.into(), line);
    }
}
