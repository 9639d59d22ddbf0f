//! The idle buffers that a pool keeps for reuse. Buffers that stay idle are freed after a while, so that a burst does
//! not hold memory for good.

/// Calls of [`Idle::take`] after which unused buffers are freed: at 30 frames a second four seconds, or two if a frame
/// needs two buffers.
const PERIOD: u32 = 128;

/// The idle buffers of a pool; the most recently used one is last.
pub(crate) struct Idle<T> {
    buffers: Vec<T>,
    /// The number of buffers that have been idle since the period began.
    unused: usize,
    takes: u32,
}

impl<T> Default for Idle<T> {
    fn default() -> Self {
        Idle { buffers: Vec::new(), unused: 0, takes: 0 }
    }
}

impl<T> Idle<T> {
    pub(crate) fn len(&self) -> usize {
        self.buffers.len()
    }

    /// Takes the most recently used buffer that fits, which is the likeliest to be in the cache. At the end of a
    /// period, frees half of the buffers that were idle throughout, the oldest first.
    pub(crate) fn take(&mut self, fits: impl Fn(&T) -> bool) -> Option<T> {
        let found = self.buffers.iter().rposition(fits).map(|index| self.buffers.remove(index));
        self.unused = self.unused.min(self.buffers.len());
        self.takes += 1;
        if self.takes == PERIOD {
            self.buffers.drain(..self.unused.div_ceil(2));
            self.takes = 0;
            self.unused = self.buffers.len();
        }
        found
    }

    /// Returns a buffer to the idle ones.
    pub(crate) fn put(&mut self, buffer: T) {
        self.buffers.push(buffer);
    }

    /// Frees the buffers that are not `wanted`.
    pub(crate) fn retain(&mut self, wanted: impl Fn(&T) -> bool) {
        self.buffers.retain(wanted);
    }

    /// Frees a buffer. Returns whether there was one.
    #[cfg(feature = "cuda")]
    pub(crate) fn drop_one(&mut self) -> bool {
        self.buffers.pop().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes `count` buffers at once and puts them back, repeatedly for a period.
    fn use_at_once(idle: &mut Idle<usize>, count: usize, made: &mut usize) {
        for _ in 0..PERIOD as usize / count {
            let taken: Vec<usize> = (0..count)
                .map(|_| {
                    idle.take(|_| true).unwrap_or_else(|| {
                        *made += 1;
                        *made
                    })
                })
                .collect();
            taken.into_iter().for_each(|buffer| idle.put(buffer));
        }
    }

    #[test]
    fn what_a_burst_needed_goes_and_what_is_needed_stays() {
        let (mut idle, mut made) = (Idle::default(), 0);
        use_at_once(&mut idle, 16, &mut made);
        assert_eq!((idle.len(), made), (16, 16));
        for _ in 0..8 {
            use_at_once(&mut idle, 2, &mut made);
        }
        assert_eq!((idle.len(), made), (2, 16), "nothing was made anew for the few that are in use");
    }
}
