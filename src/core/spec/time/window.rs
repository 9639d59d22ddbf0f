//! The sums of histograms over the temporal window. The newest histogram is added, and the histograms of frames that
//! leave the window are subtracted, so the time for a frame does not depend on the length of the window.

use super::WindowUpdate;

/// The histograms of the last W + F frames, and the sums of both windows. [`SceneWindows`](super::SceneWindows) decides
/// which frame belongs to which window.
#[derive(Clone, Debug, Default)]
pub struct WindowSums {
    /// The histograms, by slot. A frame has fewer than 2^32 samples.
    slots: Vec<Vec<u32>>,
    sums: [Vec<u64>; 2],
}

impl WindowSums {
    /// Adds the histogram of a frame, and returns the sum over its window.
    ///
    /// # Panics
    /// When a frame has another number of bins than the one before, and `update` is no reset.
    pub fn next(&mut self, update: &WindowUpdate, counts: &[u64]) -> &[u64] {
        if update.reset {
            self.slots.clear();
            self.sums = [vec![0; counts.len()], vec![0; counts.len()]];
        }
        for evicted in update.evicted.into_iter().flatten() {
            for (sum, count) in self.sums[evicted.window].iter_mut().zip(&self.slots[evicted.slot]) {
                *sum -= u64::from(*count);
            }
        }
        let sum = &mut self.sums[update.window];
        if update.starts_window {
            sum.fill(0);
        }
        assert_eq!(sum.len(), counts.len());
        if !update.joins {
            return &self.sums[update.window];
        }
        for (sum, count) in sum.iter_mut().zip(counts) {
            *sum += count;
        }
        if self.slots.len() <= update.slot {
            self.slots.resize(update.slot + 1, Vec::new());
        }
        let slot = &mut self.slots[update.slot];
        slot.clear();
        slot.extend(counts.iter().map(|&count| count as u32));
        &self.sums[update.window]
    }
}
