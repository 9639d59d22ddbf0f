//! A cache of the decisions for segments of a clip, with limited memory.

use histeq::Decided;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The most bytes of all cached segments, except if the newest alone is larger; the least recently used are dropped.
const MAX_BYTES: usize = 512 << 20;

/// The most bytes of a segment, unless it has only one frame.
const MAX_SEGMENT: usize = 32 << 20;

/// The most frames of a segment: so few that a jump to a distant frame reads few frames.
const MAX_FRAMES: usize = 128;

/// The decisions for the frames of a clip, by segments.
pub struct Decisions {
    /// The number of frames of a segment.
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

/// The decisions for a frame, with those of its segment.
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
    /// A cache for frames whose decisions need `bytes_of_frame` bytes each. `whole` is the number of frames of a
    /// segment; without it, a segment has as many as fit into `MAX_SEGMENT` bytes, at most `MAX_FRAMES`.
    pub fn new(bytes_of_frame: usize, whole: Option<usize>) -> Self {
        let length = (MAX_SEGMENT / bytes_of_frame.max(1)).clamp(1, MAX_FRAMES);
        Decisions { length: whole.unwrap_or(length).max(1), known: Mutex::default() }
    }

    /// Whether the decisions for a segment are cached.
    pub fn has(&self, segment: usize) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).segments.contains_key(&segment)
    }

    /// The decisions for a frame, if they are cached.
    pub fn frame(&self, frame: usize) -> Option<OfFrame> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.asked += 1;
        let asked = known.asked;
        let segment = known.segments.get_mut(&(frame / self.length))?;
        segment.asked = asked;
        Some(OfFrame { segment: segment.decided.clone(), at: frame % self.length })
    }

    /// Adds the decisions for a segment.
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
