//! Filters between the equalizer and the sink, on a thread of their own.

use super::flow::Flow;
use super::threads::{joined, start};
use super::{Delivery, Input, Message, Outcome, Source};
use anyhow::Result;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::sync::{Arc, OnceLock};
use std::thread::scope;

/// Capacity of the channel before the filters, in deliveries.
const QUEUED: usize = 2;

/// Filters behind the equalizer.
pub struct Filtering {
    /// To the filters.
    equalized: Sender<Message>,
    /// Out of the filters.
    filtered: Box<dyn Source>,
    /// How the equalized frames ended.
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
    /// The filters that `build` puts behind the source of equalized frames, and what comes out of them.
    ///
    /// # Errors
    /// Those of `build`.
    pub fn new(build: impl FnOnce(Box<dyn Source>) -> Result<(Box<dyn Source>, Input)>) -> Result<(Self, Input)> {
        let (equalized, to_filter) = bounded(QUEUED);
        let (end, flow) = (Arc::<OnceLock<_>>::default(), Arc::<Flow>::default());
        let source = EqualizedSource { equalized: to_filter, end: end.clone(), flow: flow.clone() };
        let (filtered, input) = build(Box::new(source))?;
        Ok((Filtering { equalized, filtered, end, flow }, input))
    }

    /// Runs `equalize` on this thread, which sends messages to the channel that it is given, and the filters on
    /// another, which send theirs to `next`.
    ///
    /// # Errors
    /// Those of both.
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
                // A missing end means that the equalizer failed.
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
