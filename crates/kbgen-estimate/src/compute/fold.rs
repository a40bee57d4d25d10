//! Which layers of a model have to be looked at: a long run of the same few is cut short.

/// The longest pattern of layers that is looked for.
const LONGEST_PERIOD: usize = 12;

/// The layers that are kept of a model, and which of them each layer is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fold {
    /// The kept layers, in order.
    pub(crate) kept: Vec<u64>,
    /// For every layer of the model the place in `kept` of itself or of the one that stands
    /// for it.
    pub(crate) stands: Vec<u16>,
    /// Where layers were left out.
    pub(crate) cuts: Vec<Cut>,
}

/// Layers left out: so many repetitions of those just before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Cut {
    /// Place in `kept` of the first layer after those left out.
    pub(crate) at: usize,
    /// Layers of one repetition.
    pub(crate) period: usize,
}

impl Fold {
    /// Folds a model with these layers (equal keys: equal layers). Before a cut two whole
    /// periods and a layer stay, after it one layer; `more` periods more on either side.
    pub(crate) fn new<K: PartialEq>(layers: &[K], more: usize) -> Fold {
        let mut fold = Fold { kept: Vec::new(), stands: Vec::new(), cuts: Vec::new() };
        let mut start = 0;
        while start < layers.len() {
            match longest_cut(&layers[start..], more) {
                Some(run) => {
                    fold.keep(start, run.before);
                    let first = fold.kept.len() - run.period;
                    fold.cuts.push(Cut { at: fold.kept.len(), period: run.period });
                    fold.stands.extend((0..run.left_out).map(|place| (first + place % run.period) as u16));
                    let gone = run.before + run.left_out;
                    fold.keep(start + gone, run.length - gone);
                    start += run.length;
                }
                None => {
                    fold.keep(start, 1);
                    start += 1;
                }
            }
        }
        fold
    }

    fn keep(&mut self, start: usize, count: usize) {
        for layer in start..start + count {
            self.stands.push(self.kept.len() as u16);
            self.kept.push(layer as u64);
        }
    }
}

/// Layers that repeat with a period, and how many of them can be left out.
#[derive(Debug)]
struct Run {
    period: usize,
    length: usize,
    before: usize,
    left_out: usize,
}

/// The cut at the start of `layers` that leaves out the most.
fn longest_cut<K: PartialEq>(layers: &[K], more: usize) -> Option<Run> {
    let runs = (1..=LONGEST_PERIOD).filter_map(|period| {
        let same = layers.iter().skip(period).zip(layers).take_while(|(layer, before)| layer == before);
        let length = period + same.count();
        let (before, after) = (1 + (2 + more) * period, 1 + more * period);
        let left_out = length.checked_sub(before + after)? / period * period;
        (left_out > 0).then_some(Run { period, length, before, left_out })
    });
    // of equal ones the shortest period
    runs.rev().max_by_key(|run| run.left_out)
}

#[cfg(test)]
mod tests {
    use crate::compute::fold::Fold;

    #[test]
    fn every_layer_is_stood_for_by_one_like_it() {
        for code in
            ["FFFFFFFFFFFF", "SSSSSFSSSSSFSSSSSFSSSSSFSSSSSFSS", "DDDMMMMMMMMM", "RRFRRRRRRFRF", "F", ""]
        {
            for more in 0..3 {
                let layers: Vec<char> = code.chars().collect();
                let fold = Fold::new(&layers, more);
                assert_eq!(fold.stands.len(), layers.len(), "{code}");
                for (layer, place) in layers.iter().zip(&fold.stands) {
                    assert_eq!(*layer, layers[fold.kept[usize::from(*place)] as usize], "{code}");
                }
            }
        }
    }

    #[test]
    fn a_long_run_keeps_two_periods_and_a_layer_before_and_one_layer_after() {
        let fold = Fold::new(&[0; 30], 0);
        assert_eq!(fold.kept, [0, 1, 2, 29]);
        let kept = Fold::new(&[0; 4], 0);
        assert_eq!(kept.kept, [0, 1, 2, 3]);
        assert_eq!(kept.cuts, []);
    }
}
