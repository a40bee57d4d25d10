//! Deduplication of layers: repeated periods of equal layers are built only a few times.

/// Maximum period of a repetition, in layers.
const MAX_PERIOD: usize = 12;

/// Layers to build, and the built layer that represents each layer of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LayerDedup {
    /// Kept layers, in order.
    pub(crate) kept: Vec<u64>,
    /// For each layer of the model, the index in `kept` of its representative.
    pub(crate) representatives: Vec<u16>,
    /// Positions of omitted layers.
    pub(crate) cuts: Vec<Cut>,
}

/// Omitted repetitions of the layers before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Cut {
    /// Index in `kept` of the first layer after the omitted ones.
    pub(crate) at: usize,
    /// Layers of one repetition.
    pub(crate) period: usize,
}

impl LayerDedup {
    /// Deduplicates layers with equal keys. Two periods and a layer remain before a cut and one layer after it, plus
    /// `more` periods on both sides.
    pub(crate) fn new<K: PartialEq>(layers: &[K], more: usize) -> LayerDedup {
        let mut dedup = LayerDedup { kept: Vec::new(), representatives: Vec::new(), cuts: Vec::new() };
        let mut start = 0;
        while start < layers.len() {
            match longest_cut(&layers[start..], more) {
                Some(run) => {
                    dedup.keep(start, run.before);
                    let first = dedup.kept.len() - run.period;
                    dedup.cuts.push(Cut { at: dedup.kept.len(), period: run.period });
                    dedup
                        .representatives
                        .extend((0..run.omitted).map(|place| (first + place % run.period) as u16));
                    let gone = run.before + run.omitted;
                    dedup.keep(start + gone, run.length - gone);
                    start += run.length;
                }
                None => {
                    dedup.keep(start, 1);
                    start += 1;
                }
            }
        }
        dedup
    }

    fn keep(&mut self, start: usize, count: usize) {
        for layer in start..start + count {
            self.representatives.push(self.kept.len() as u16);
            self.kept.push(layer as u64);
        }
    }
}

/// Layers that repeat with a period, and how many of them can be omitted.
#[derive(Debug)]
struct Run {
    period: usize,
    length: usize,
    before: usize,
    omitted: usize,
}

/// Returns the cut at the start of `layers` that omits the most layers.
fn longest_cut<K: PartialEq>(layers: &[K], more: usize) -> Option<Run> {
    let runs = (1..=MAX_PERIOD).filter_map(|period| {
        let same = layers.iter().skip(period).zip(layers).take_while(|(layer, before)| layer == before);
        let length = period + same.count();
        let (before, after) = (1 + (2 + more) * period, 1 + more * period);
        let omitted = length.checked_sub(before + after)? / period * period;
        (omitted > 0).then_some(Run { period, length, before, omitted })
    });
    // among equal cuts, prefer the shortest period
    runs.rev().max_by_key(|run| run.omitted)
}

#[cfg(test)]
mod tests {
    use crate::compute::layer_dedup::LayerDedup;

    #[test]
    fn every_layer_has_an_equal_representative() {
        for code in
            ["FFFFFFFFFFFF", "SSSSSFSSSSSFSSSSSFSSSSSFSSSSSFSS", "DDDMMMMMMMMM", "RRFRRRRRRFRF", "F", ""]
        {
            for more in 0..3 {
                let layers: Vec<char> = code.chars().collect();
                let dedup = LayerDedup::new(&layers, more);
                assert_eq!(dedup.representatives.len(), layers.len(), "{code}");
                for (layer, place) in layers.iter().zip(&dedup.representatives) {
                    assert_eq!(*layer, layers[dedup.kept[usize::from(*place)] as usize], "{code}");
                }
            }
        }
    }

    #[test]
    fn a_long_run_keeps_two_periods_and_a_layer_before_and_one_layer_after() {
        let dedup = LayerDedup::new(&[0; 30], 0);
        assert_eq!(dedup.kept, [0, 1, 2, 29]);
        let kept = LayerDedup::new(&[0; 4], 0);
        assert_eq!(kept.kept, [0, 1, 2, 3]);
        assert_eq!(kept.cuts, []);
    }
}
