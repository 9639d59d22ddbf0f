//! The last frames that went into a backend, for one that is to go on where it stops.

use crate::equalize::Equalizer;
use crate::frame::Frame;
use crate::spec::Settings;
use anyhow::Result;
use std::collections::VecDeque;

/// The most bytes of samples that are held on to: 85 frames of 8-bit 4:2:0 at 1080p, 21 at 4K.
const MOST_BYTES: usize = 256 << 20;

/// So many of the last frames as decide together with the next one what becomes of it, each with its settings. They share
/// their planes with the backend's.
pub(super) struct Recent {
    frames: VecDeque<(Frame, Settings)>,
    bytes: usize,
    most_bytes: usize,
}

impl Default for Recent {
    fn default() -> Self {
        Recent::of_at_most(MOST_BYTES)
    }
}

impl Recent {
    /// None yet, and never more than so many bytes.
    pub fn of_at_most(most_bytes: usize) -> Self {
        Recent { frames: VecDeque::new(), bytes: 0, most_bytes }
    }

    /// Whether this frame can be held on to, and those before it that are needed.
    pub fn has_room_for(&self, frame: &Frame, settings: &Settings) -> bool {
        let needed = settings.warm_up() as usize;
        let surplus = (self.frames.len() + 1).saturating_sub(needed);
        let draining: usize = self.frames.iter().take(surplus).map(|(frame, _)| bytes(frame)).sum();
        needed == 0 || self.bytes - draining + bytes(frame) <= self.most_bytes
    }

    /// Holds on to `frame`, and no longer to what is not needed any more. Settings with another window begin anew, so
    /// that the current ones tell what is needed.
    pub fn push(&mut self, frame: &Frame, settings: &Settings) {
        let needed = settings.warm_up() as usize;
        self.frames.push_back((frame.clone(), *settings));
        self.bytes += bytes(frame);
        while self.frames.len() > needed {
            let oldest = self.frames.pop_front();
            self.bytes -= oldest.map_or(0, |(frame, _)| bytes(&frame));
        }
    }

    /// Has a backend that has seen nothing yet know what the other one knows.
    ///
    /// # Errors
    /// When the backend fails.
    pub fn warm_up(self, backend: &mut dyn Equalizer) -> Result<()> {
        self.frames.into_iter().try_for_each(|(frame, settings)| {
            backend.set(settings);
            backend.warm_up(frame)
        })
    }
}

/// Bytes of its samples.
fn bytes(frame: &Frame) -> usize {
    frame.planes().iter().map(|plane| plane.row_bytes() * plane.rows()).sum()
}
