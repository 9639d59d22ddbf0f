//! A real backend that fails where a test wants it to.

use anyhow::{Result, bail};
use histeq_video::equalize::Equalizer;
use histeq_video::frame::{Frame, Pool};
use histeq_video::spec::{Curve, Settings};
use std::sync::Arc;

/// A call of the backend, and how many there were of its kind before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Submit(usize),
    Collect(usize),
    WarmUp(usize),
}

type Strike = Box<dyn FnMut(Call) -> Result<()> + Send>;

/// A real backend, every call of which is asked for first.
pub struct Failing {
    inner: Box<dyn Equalizer>,
    strike: Strike,
    submitted: usize,
    collected: usize,
    warmed_up: usize,
    /// The memory that it lends.
    pub pool: Option<Arc<dyn Pool>>,
}

impl Failing {
    /// Fails as `strike` says.
    pub fn new(inner: Box<dyn Equalizer>, strike: impl FnMut(Call) -> Result<()> + Send + 'static) -> Self {
        Failing { inner, strike: Box::new(strike), submitted: 0, collected: 0, warmed_up: 0, pool: None }
    }

    /// Fails at this call.
    pub fn at(inner: Box<dyn Equalizer>, at: Call) -> Self {
        Failing::new(inner, move |call| {
            if call == at {
                bail!("out of order");
            }
            Ok(())
        })
    }
}

impl Equalizer for Failing {
    fn submit(&mut self, frame: Frame) -> Result<()> {
        (self.strike)(Call::Submit(self.submitted))?;
        self.submitted += 1;
        self.inner.submit(frame)
    }

    fn warm_up(&mut self, frame: Frame) -> Result<()> {
        (self.strike)(Call::WarmUp(self.warmed_up))?;
        self.warmed_up += 1;
        self.inner.warm_up(frame)
    }

    fn collect(&mut self) -> Result<Option<Frame>> {
        (self.strike)(Call::Collect(self.collected))?;
        self.collected += 1;
        self.inner.collect()
    }

    fn finish(&mut self) -> Result<()> {
        self.inner.finish()
    }

    fn in_flight(&self) -> usize {
        self.inner.in_flight()
    }

    fn capacity(&self) -> usize {
        self.inner.capacity()
    }

    fn input_pool(&self) -> Option<Arc<dyn Pool>> {
        self.pool.clone()
    }

    fn set(&mut self, settings: Settings) {
        self.inner.set(settings);
    }

    fn set_curve(&mut self, curve: Option<Arc<Curve>>) {
        self.inner.set_curve(curve);
    }

    fn name(&self) -> String {
        "failing".to_owned()
    }
}
