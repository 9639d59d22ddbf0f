//! What is decided of the segments of a clip that were read, within bounds of memory.

use histeq::Decided;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The most bytes that are kept of all segments but the newest; those that were not asked for for the longest time go
/// first.
const MAX_BYTES: usize = 512 << 20;

/// The most bytes of one segment, if it has more frames than one.
const MAX_SEGMENT: usize = 32 << 20;

/// The most frames of a segment: with those around it that are read, too, a frame far from all others comes soon.
const MAX_FRAMES: usize = 128;

/// What is decided of the frames of a clip.
pub struct Decisions {
    /// Frames of a segment.
    pub length: usize,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    segments: HashMap<usize, Segment>,
    bytes: usize,
    /// How often was asked.
    asked: u64,
}

struct Segment {
    decided: Arc<[Decided]>,
    bytes: usize,
    /// When it was asked for last.
    asked: u64,
}

/// What is decided of a frame.
pub struct OfFrame {
    segment: Arc<[Decided]>,
    at: usize,
}

impl std::ops::Deref for OfFrame {
    type Target = Decided;

    fn deref(&self) -> &Decided {
        &self.segment[self.at]
    }
}

impl Decisions {
    /// For frames of which each takes this many bytes; `whole` frames are one segment, if that is given.
    pub fn new(bytes_of_frame: usize, whole: Option<usize>) -> Self {
        let length = (MAX_SEGMENT / bytes_of_frame.max(1)).clamp(1, MAX_FRAMES);
        Decisions { length: whole.unwrap_or(length).max(1), known: Mutex::default() }
    }

    /// Whether a segment is known.
    pub fn has(&self, segment: usize) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).segments.contains_key(&segment)
    }

    /// What is decided of a frame, if that is known.
    pub fn frame(&self, frame: usize) -> Option<OfFrame> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.asked += 1;
        let asked = known.asked;
        let segment = known.segments.get_mut(&(frame / self.length))?;
        segment.asked = asked;
        Some(OfFrame { segment: segment.decided.clone(), at: frame % self.length })
    }

    /// Keeps what is decided of a segment.
    pub fn keep(&self, segment: usize, decided: Vec<Decided>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = decided.iter().map(Decided::bytes).sum();
        while known.bytes + bytes > MAX_BYTES {
            let oldest = known.segments.iter().min_by_key(|(_, segment)| segment.asked).map(|(index, _)| *index);
            let Some(gone) = oldest.and_then(|oldest| known.segments.remove(&oldest)) else { break };
            known.bytes -= gone.bytes;
        }
        let asked = known.asked;
        let before = known.segments.insert(segment, Segment { decided: decided.into(), bytes, asked });
        known.bytes = known.bytes + bytes - before.map_or(0, |before| before.bytes);
    }
}
