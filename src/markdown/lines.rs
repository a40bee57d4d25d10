//! Lines of code that a grammar has read before.
//!
//! What a grammar makes of a line depends on the line and on where the lines above left it, and on nothing else. Blocks
//! differ, but most of their lines are commands that other blocks have too.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use syntect::parsing::{ParseState, ScopeStack, SyntaxReference};

use crate::markdown::spans::Class;

/// What the lines of a language may take before they are forgotten.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Places of a language that are remembered. A few dozen are usual; code that makes many is not worth it.
const MAX_PLACES: usize = 256;

/// A part of a line: its class, and how many bytes it has.
pub(crate) type Token = (Option<Class>, u32);

/// Where a grammar stands between two lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Between {
    /// What it expects.
    pub state: ParseState,
    /// The scopes that are open.
    pub scopes: ScopeStack,
}

/// A place between two lines, known by its number or not at all.
#[derive(Debug)]
pub(crate) enum Place {
    Known(usize),
    Own(Box<Between>),
}

/// A line behind a known place: its parts, and the place behind it.
#[derive(Debug, Clone)]
struct Line {
    tokens: Rc<[Token]>,
    next: usize,
}

/// What is known of a language. A place keeps its number for ever.
#[derive(Debug, Default)]
struct Language {
    places: Vec<Between>,
    /// For each place, the lines that were read there.
    lines: Vec<HashMap<Box<str>, Line>>,
    bytes: usize,
}

thread_local! {
    /// Languages by the names of their grammars. A pure cache, as that of whole blocks; each thread has its own, because
    /// the state of a grammar holds what Oniguruma captured, which stays on its thread.
    static LANGUAGES: RefCell<HashMap<String, Language>> = RefCell::default();
}

/// Asks or tells a language.
fn with_language<T>(name: &str, then: impl FnOnce(&mut Language) -> T) -> T {
    LANGUAGES.with_borrow_mut(|languages| match languages.get_mut(name) {
        Some(known) => then(known),
        None => then(languages.entry(name.to_string()).or_default()),
    })
}

impl Place {
    /// The beginning of a block.
    pub fn start(syntax: &SyntaxReference) -> Self {
        let start = Between { state: ParseState::new(syntax), scopes: ScopeStack::new() };
        with_language(&syntax.name, |language| language.number(&start))
            .map_or_else(|| Self::Own(Box::new(start)), Self::Known)
    }

    /// The parts of the line that stands here, and the place behind it; `read` is asked if nobody knows.
    pub fn read(
        self,
        language: &str,
        line: &str,
        read: impl FnOnce(&mut Between) -> Option<Vec<Token>>,
    ) -> Option<(Rc<[Token]>, Self)> {
        let (number, mut between) = match self {
            Self::Own(between) => (None, *between),
            Self::Known(number) => {
                let known = with_language(language, |known| match known.lines[number].get(line) {
                    Some(line) => Ok(line.clone()),
                    None => Err(known.places[number].clone()),
                });
                match known {
                    Ok(line) => return Some((line.tokens, Self::Known(line.next))),
                    Err(between) => (Some(number), between),
                }
            }
        };
        let tokens: Rc<[Token]> = read(&mut between)?.into();
        let next = with_language(language, |known| {
            let next = known.number(&between)?;
            if let Some(number) = number {
                known.learn(number, line, Line { tokens: tokens.clone(), next });
            }
            Some(next)
        });
        Some((tokens, next.map_or_else(|| Self::Own(Box::new(between)), Self::Known)))
    }
}

impl Language {
    /// The number of a place; none if it is new and there are too many.
    fn number(&mut self, between: &Between) -> Option<usize> {
        if let Some(number) = self.places.iter().position(|known| known == between) {
            return Some(number);
        }
        if self.places.len() == MAX_PLACES {
            return None;
        }
        self.places.push(between.clone());
        self.lines.push(HashMap::new());
        Some(self.places.len() - 1)
    }

    fn learn(&mut self, number: usize, text: &str, line: Line) {
        if self.bytes > MAX_BYTES {
            self.lines.iter_mut().for_each(HashMap::clear);
            self.bytes = 0;
        }
        self.bytes += text.len() + line.tokens.len() * size_of::<Token>();
        self.lines[number].insert(text.into(), line);
    }
}
