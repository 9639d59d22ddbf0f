//! The idle buffers that a pool keeps for reuse. Buffers that stay idle are freed after a while, so that a burst does
//! not hold memory for good.

/// Calls of [`Idle::take`] after which unused buffers are freed: at 30 frames a second, some four seconds, or two where
/// a frame takes two buffers.
const PERIOD: u32 = 128;

/// The idle buffers of a pool; the most recently used one is last.
pub(crate) struct Idle<T> {
    buffers: Vec<T>,
    /// How many buffers were idle all of the time since the period began.
    unused: usize,
    takes: u32,
}

impl<T> Default for Idle<T> {
    fn default() -> Self {
        Idle { buffers: Vec::new(), unused: 0, takes: 0 }
    }
}

impl<T> Idle<T> {
    /// The number of idle buffers.
    pub(crate) fn len(&self) -> usize {
        self.buffers.len()
    }

    /// The most recently used buffer that fits: it is the likeliest to be in the cache. At the end of a period, half of
    /// the buffers that were idle all through it are freed, the oldest first.
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

    /// Keeps a buffer.
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

    /// Takes `count` buffers at once and puts them back, again and again for a period.
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
