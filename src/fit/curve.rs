//! A term of the estimate as straight pieces over the cells of the cache.
//!
//! The terms are straight between few break points, so they are looked at where they might bend and taken for
//! straight where many points between lie on the line. A test holds the pieces against the estimator at every
//! context of several models.

use std::collections::BTreeMap;

use crate::site::{CELLS, Curve};

/// Points of a stretch, in 1/32 of its length, that have to lie on its line beside its ends and their neighbours.
const PROBES: [u64; 6] = [5, 11, 16, 20, 25, 29];

/// The pieces of `term`, which is asked for bytes at a number of cells, up to those of `max_ctx` tokens.
///
/// # Errors
/// The first error of `term`.
pub(super) fn curve<E>(max_ctx: u64, term: impl FnMut(u64) -> Result<u64, E>) -> Result<Curve, E> {
    let last = max_ctx.max(1).div_ceil(CELLS);
    let mut finder = Finder { term, known: BTreeMap::new() };
    let mut pieces = Vec::new();
    let mut at = 1;
    if last == 1 {
        pieces.push((CELLS, finder.at(1)?, 0));
    }
    while at < last {
        let end = finder.end_of_line(at, last)?;
        let (value, slope) = (finder.at(at)?, finder.at(at + 1)?.saturating_sub(finder.at(at)?));
        pieces.push((at * CELLS, value, slope));
        // The end lies on this line; the next piece begins behind it unless it lies on that line as well.
        at = end;
        if at < last {
            at += 1;
            if at == last {
                pieces.push((at * CELLS, finder.at(at)?, 0));
            }
        }
    }
    Ok(Curve { pieces })
}

struct Finder<F> {
    term: F,
    known: BTreeMap<u64, u64>,
}

impl<E, F: FnMut(u64) -> Result<u64, E>> Finder<F> {
    fn at(&mut self, step: u64) -> Result<u64, E> {
        if let Some(value) = self.known.get(&step) {
            return Ok(*value);
        }
        let value = (self.term)(step * CELLS)?;
        self.known.insert(step, value);
        Ok(value)
    }

    /// The last step that lies on the line from `start` through its neighbour.
    fn end_of_line(&mut self, start: u64, last: u64) -> Result<u64, E> {
        let (mut good, mut bad) = (start + 1, last + 1);
        // Doubling keeps the look-ups near the start, where terms bend; bisection then finds the end.
        let mut reach = 2;
        while good < last {
            let next = (start + reach).min(last);
            if next <= good {
                reach *= 2;
                continue;
            }
            if self.is_line(start, next)? {
                good = next;
                reach *= 2;
            } else {
                bad = next;
                break;
            }
        }
        while bad - good > 1 && good < last {
            let middle = good.midpoint(bad);
            if self.is_line(start, middle)? { good = middle } else { bad = middle }
        }
        Ok(good)
    }

    fn is_line(&mut self, start: u64, end: u64) -> Result<bool, E> {
        let first = self.at(start)?;
        let Some(slope) = self.at(start + 1)?.checked_sub(first) else { return Ok(false) };
        let length = end - start;
        let probes = PROBES.map(|probe| start + length * probe / 32);
        for step in [end, end - 1].into_iter().chain(probes) {
            if step > start && self.at(step)? != first + slope * (step - start) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(term: impl Fn(u64) -> u64, max_ctx: u64) -> usize {
        let curve = curve(max_ctx, |cells| Ok::<_, ()>(term(cells))).expect("no error");
        for cells in (CELLS..=max_ctx.div_ceil(CELLS) * CELLS).step_by(256) {
            assert_eq!(curve.at(cells), term(cells), "at {cells}");
        }
        curve.pieces.len()
    }

    #[test]
    fn pieces_give_the_term_everywhere() {
        assert_eq!(exact(|cells| cells * 7, 131_072), 1);
        assert_eq!(exact(|_| 5, 100), 1);
        assert!(exact(|cells| (cells * 3).max(50_000 + cells), 131_072) <= 3);
        assert!(exact(|cells| if cells < 4096 { cells } else { cells + 1000 }, 40_000) <= 3);
        assert!(exact(|cells| cells.min(8192) * 2, 8_704) <= 3);
    }
}
