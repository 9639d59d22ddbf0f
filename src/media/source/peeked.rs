//! A source whose first frames are looked at before they are delivered.

use crate::pipeline::{Delivery, Source};
use anyhow::Result;
use histeq::frame::{Frame, Pool};
use std::collections::VecDeque;
use std::sync::Arc;

/// Memory for the frames that are held, bytes.
const MOST_BYTES: usize = 256 << 20;

/// A source, and its first deliveries.
pub struct PeekedSource {
    source: Box<dyn Source>,
    held: VecDeque<Delivery>,
}

impl PeekedSource {
    /// Reads up to `frames` frames of `source`, within 256 MiB, and calls `look` with each. All of them are delivered
    /// afterwards, as if none had been read. [`look_around`](Source::look_around) has to be called before.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn new(mut source: Box<dyn Source>, frames: usize, mut look: impl FnMut(&Frame)) -> Result<Self> {
        let (mut held, mut bytes, mut seen) = (VecDeque::new(), 0, 0);
        while seen < frames && bytes < MOST_BYTES {
            let Some(delivery) = source.next()? else { break };
            if let Some(frame) = &delivery.frame {
                look(frame);
                seen += 1;
                bytes += frame.bytes();
            }
            held.push_back(delivery);
        }
        Ok(PeekedSource { source, held })
    }
}

impl Source for PeekedSource {
    fn next(&mut self) -> Result<Option<Delivery>> {
        match self.held.pop_front() {
            Some(delivery) => Ok(Some(delivery)),
            None => self.source.next(),
        }
    }

    /// Has no effect: the source has begun.
    fn look_around(&mut self, _before: u32, _behind: u32) {}

    fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.source.use_pool(pool);
    }
}
