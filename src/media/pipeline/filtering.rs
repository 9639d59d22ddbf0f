//! Filters between the equalizer and the sink, on a separate thread.

use super::flow::{Flow, joined, start};
use super::{Delivery, Input, Message, Outcome, Source};
use anyhow::Result;
use crossbeam_channel::{Receiver, Sender, bounded};
use histeq::Limits;
use std::sync::{Arc, OnceLock};
use std::thread::scope;

/// Capacity of the channel before the filters, in deliveries.
const QUEUED: usize = 2;

/// Filters after the equalizer.
pub struct Filtering {
    /// Sends frames to the filters.
    equalized: Sender<Message>,
    /// Gives the filtered frames.
    filtered: Box<dyn Source>,
    /// How the stream of equalized frames ended.
    end: Arc<OnceLock<Outcome>>,
    pub(super) flow: Arc<Flow>,
}

/// The equalized frames, as a source for filters.
struct EqualizedSource {
    equalized: Receiver<Message>,
    end: Arc<OnceLock<Outcome>>,
    flow: Arc<Flow>,
}

impl Filtering {
    /// The filters that `build` connects to the source of equalized frames, and the properties of their output. Frames
    /// between the run's source and the filters keep to `limits`.
    ///
    /// # Errors
    /// The error of `build`.
    pub fn new(
        limits: &Limits,
        build: impl FnOnce(Box<dyn Source>) -> Result<(Box<dyn Source>, Input)>,
    ) -> Result<(Self, Input)> {
        let (equalized, to_filter) = bounded(QUEUED);
        let (end, flow) = (Arc::<OnceLock<_>>::default(), Arc::new(Flow::new(limits)));
        let source = EqualizedSource { equalized: to_filter, end: end.clone(), flow: flow.clone() };
        let (filtered, input) = build(Box::new(source))?;
        Ok((Filtering { equalized, filtered, end, flow }, input))
    }

    /// Runs `equalize` on this thread, with the channel to the filters, and the filters on another thread, which sends
    /// their output to `next`.
    ///
    /// # Errors
    /// The equalizer's error, else the filters'.
    pub(super) fn run(
        self,
        next: &Sender<Message>,
        equalize: impl FnOnce(&Sender<Message>) -> Result<String>,
    ) -> Result<String> {
        let Filtering { equalized, mut filtered, end, .. } = self;
        scope(|scope| {
            let filter = start(scope, "filter", &|| {}, move || {
                while let Some(delivery) = filtered.next()? {
                    if next.send(Message::Delivery(delivery)).is_err() {
                        return Ok(());
                    }
                }
                // Without an `end`, the equalizer has failed: send no `End`.
                end.get().into_iter().for_each(|&outcome| drop(next.send(Message::End(outcome))));
                Ok(())
            })?;
            let name = equalize(&equalized);
            drop(equalized);
            let filtered: Result<()> = joined(filter);
            let name = name?;
            filtered.map(|()| name)
        })
    }
}

impl Source for EqualizedSource {
    fn next(&mut self) -> Result<Option<Delivery>> {
        match self.equalized.recv() {
            Ok(Message::Delivery(delivery)) => {
                if delivery.frame.is_some() {
                    self.flow.written();
                }
                Ok(Some(delivery))
            }
            Ok(Message::End(outcome)) => {
                let _ = self.end.set(outcome);
                Ok(None)
            }
            Err(_) => Ok(None),
        }
    }
}
