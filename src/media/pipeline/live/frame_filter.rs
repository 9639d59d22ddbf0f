//! A filter after the equalizer that gives exactly one frame for each frame.

use crate::pipeline::{Delivery, Input, Source};
use anyhow::{Context, Result, ensure};
use histeq::internal::frame::Frame;
use std::sync::{Arc, Mutex, PoisonError};

/// A filter that gives exactly one frame for each frame.
pub struct FrameFilter {
    next: Next,
    filtered: Box<dyn Source>,
}

/// The next frame for the filter.
#[derive(Clone, Default)]
struct Next(Arc<Mutex<Option<Frame>>>);

impl Source for Next {
    fn next(&mut self) -> Result<Option<Delivery>> {
        let frame = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        ensure!(frame.is_some(), "the filter behind the equalizer holds a frame back");
        Ok(Some(Delivery { frame, ..Delivery::default() }))
    }
}

impl FrameFilter {
    /// The filter that `build` connects to a source of equalized frames, and the properties of its output.
    ///
    /// # Errors
    /// The error of `build`.
    pub fn new(build: impl FnOnce(Box<dyn Source>) -> Result<(Box<dyn Source>, Input)>) -> Result<(Self, Input)> {
        let next = Next::default();
        let (filtered, input) = build(Box::new(next.clone()))?;
        Ok((FrameFilter { next, filtered }, input))
    }

    /// Filters `frame`.
    ///
    /// # Errors
    /// When the filter fails, or needs more frames before it gives one.
    pub fn apply(&mut self, frame: Frame) -> Result<Frame> {
        *self.next.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(frame);
        let delivery = self.filtered.next()?;
        delivery.and_then(|delivery| delivery.frame).context("the filter behind the equalizer gave no frame")
    }
}
