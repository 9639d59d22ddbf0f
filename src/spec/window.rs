//! The sums of histograms over the temporal window: the newest is added, what leaves is subtracted, so that a frame
//! costs the same whatever the length of the window.

use super::WindowUpdate;

/// The histograms that are remembered, and the sums of both windows. `Scenes` says what belongs where.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// By slot. A frame has fewer than 2^32 samples.
    slots: Vec<Vec<u32>>,
    sums: [Vec<u64>; 2],
}

impl Window {
    /// Takes in the histogram of a frame, and gives the sum over its window.
    ///
    /// # Panics
    /// When a frame has other bins than the one before and does not begin anew.
    pub fn next(&mut self, turn: &WindowUpdate, counts: &[u64]) -> &[u64] {
        if turn.anew {
            self.slots.clear();
            self.sums = [vec![0; counts.len()], vec![0; counts.len()]];
        }
        for leaving in turn.leaving.into_iter().flatten() {
            for (sum, count) in self.sums[leaving.window].iter_mut().zip(&self.slots[leaving.slot]) {
                *sum -= u64::from(*count);
            }
        }
        let sum = &mut self.sums[turn.window];
        if turn.fresh {
            sum.fill(0);
        }
        assert_eq!(sum.len(), counts.len());
        for (sum, count) in sum.iter_mut().zip(counts) {
            *sum += count;
        }
        if self.slots.len() <= turn.slot {
            self.slots.resize(turn.slot + 1, Vec::new());
        }
        let slot = &mut self.slots[turn.slot];
        slot.clear();
        slot.extend(counts.iter().map(|&count| count as u32));
        &self.sums[turn.window]
    }
}
