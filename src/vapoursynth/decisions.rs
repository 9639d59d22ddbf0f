//! A cache of what is decided of the segments of a clip, with a limit of memory.

use histeq::Decided;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Most bytes of all cached segments, unless the newest one alone has more. The least recently used ones are dropped
/// first.
const MAX_BYTES: usize = 512 << 20;

/// The most bytes of one segment, if it has more frames than one.
const MAX_SEGMENT: usize = 32 << 20;

/// Most frames of a segment. They are few so that a jump to a distant frame reads few frames.
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
    /// The number of requests for frames so far.
    asked: u64,
}

struct Segment {
    decided: Arc<[Decided]>,
    bytes: usize,
    /// The value of [`Known::asked`] at the last request for the segment.
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
    /// A cache for frames whose decisions take `bytes_of_frame` bytes each. With `whole`, that many frames are one
    /// segment.
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
