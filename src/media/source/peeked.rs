//! A source whose first frames are looked at before they are delivered.

use crate::pipeline::{Delivery, Source};
use anyhow::Result;
use histeq::frame::{Frame, Pool};
use std::collections::VecDeque;
use std::sync::Arc;

/// A source, and its first deliveries.
pub struct PeekedSource {
    source: Box<dyn Source>,
    held: VecDeque<Delivery>,
}

impl PeekedSource {
    /// Reads frames of `source` and calls `look` with each, until it answers that it has seen enough. All of them are delivered
    /// afterwards, as if none had been read. [`look_around`](Source::look_around) has to be called before.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn new(mut source: Box<dyn Source>, mut look: impl FnMut(&Frame) -> bool) -> Result<Self> {
        let (mut held, mut is_enough) = (VecDeque::new(), false);
        while !is_enough {
            let Some(delivery) = source.next()? else { break };
            is_enough = delivery.frame.as_ref().is_some_and(&mut look);
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
