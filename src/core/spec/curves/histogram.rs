//! The histogram of luminance: a count of samples for each level.

use super::Levels;

/// The number of samples of each level: `counts[b]` samples have the code `lo + b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    levels: Levels,
    counts: Vec<u64>,
}

impl Histogram {
    /// A histogram without samples.
    pub fn new(levels: Levels) -> Self {
        Histogram { levels, counts: vec![0; levels.count()] }
    }

    /// The histogram of samples of which `counts[code]` have the code `code`. Codes outside of the levels count as the
    /// nearest level.
    ///
    /// # Panics
    /// When there are more counts than codes.
    pub fn from_codes<C: Copy + Into<u64>>(levels: Levels, counts: &[C]) -> Self {
        assert!(counts.len() <= levels.codes());
        let mut histogram = Histogram::new(levels);
        for (code, &count) in counts.iter().enumerate() {
            histogram.counts[levels.level_of(code as u16)] += count.into();
        }
        histogram
    }

    /// The histogram with these counts, one for each level.
    ///
    /// # Panics
    /// When there are more or fewer counts than levels.
    pub fn from_counts(levels: Levels, counts: Vec<u64>) -> Self {
        assert_eq!(counts.len(), levels.count());
        Histogram { levels, counts }
    }

    /// Counts one sample.
    #[inline]
    pub fn add(&mut self, code: u16) {
        self.counts[self.levels.level_of(code)] += 1;
    }

    /// The levels that are counted.
    pub fn levels(&self) -> Levels {
        self.levels
    }

    /// The counts, one for each level, black first.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Whether all samples have the same level.
    pub fn is_flat(&self) -> bool {
        self.counts.iter().filter(|&&count| count > 0).nth(1).is_none()
    }

    /// The number of samples.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}
