//! The look that is decided by the first frames (`Look::Auto`): they are held until then.

use crate::Result;
use crate::equalize::{Mask, measure};
use crate::frame::Frame;
use crate::options::Options;
use crate::spec::Measure;
use std::sync::Arc;

/// The first frames of a video.
#[derive(Default)]
pub(super) struct Choosing {
    wanted: usize,
    mask: Option<Arc<Mask>>,
    frames: Vec<Frame>,
    measures: Vec<Measure>,
}

impl Choosing {
    /// Until this many frames have come.
    pub fn new(wanted: usize, mask: Option<Arc<Mask>>) -> Self {
        Choosing { wanted, mask, ..Choosing::default() }
    }

    /// The same without the frames.
    pub fn again(&self) -> Self {
        Choosing::new(self.wanted, self.mask.clone())
    }

    /// Holds a frame. Answers whether it was the last one that is needed.
    pub fn hold(&mut self, frame: Frame) -> Result<bool> {
        self.measures.push(measure(&frame, frame.whole(), self.mask.as_deref())?);
        self.frames.push(frame);
        Ok(self.frames.len() >= self.wanted)
    }

    /// Decides the look of `options`. Returns the frames, and why.
    pub fn choose(&mut self, options: &mut Options) -> (Vec<Frame>, String) {
        let reason = options.choose_look(&std::mem::take(&mut self.measures));
        (std::mem::take(&mut self.frames), reason)
    }
}
