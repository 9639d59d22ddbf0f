//! The look that is decided by the first frames (`Look::Auto`): they are held until then.

use crate::Result;
use crate::equalize::{Mask, measure};
use crate::frame::Frame;
use crate::options::{Options, Video};
use crate::spec::Measure;
use std::sync::Arc;

/// The first frames of a video.
#[derive(Default)]
pub(super) struct Choosing {
    video: Video,
    mask: Option<Arc<Mask>>,
    frames: Vec<Frame>,
    bytes: usize,
    measures: Vec<Measure>,
}

impl Choosing {
    /// No frames yet, of this video.
    pub fn new(video: Video, mask: Option<Arc<Mask>>) -> Self {
        Choosing { video, mask, ..Choosing::default() }
    }

    /// The same without the frames.
    pub fn again(&self) -> Self {
        Choosing::new(self.video, self.mask.clone())
    }

    /// Whether it holds no frame.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Holds a frame. Answers whether it was the last one that is needed.
    pub fn hold(&mut self, frame: Frame) -> Result<bool> {
        self.measures.push(measure(&frame, frame.whole(), self.mask.as_deref())?);
        self.bytes += frame.bytes();
        self.frames.push(frame);
        Ok(Options::are_enough_to_choose_by(&self.video, self.frames.len(), self.bytes))
    }

    /// Decides the look of `options`. Returns the frames, and why.
    pub fn choose(&mut self, options: &mut Options) -> (Vec<Frame>, String) {
        let reason = options.choose_look(&std::mem::take(&mut self.measures));
        (std::mem::take(&mut self.frames), reason)
    }
}
