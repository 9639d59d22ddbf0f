//! Holds the source back while the frames on their way to the sink take as many bytes as [`limits::under_way`] allows.
//! Channels count frames, of which a few can fill the memory. One frame is always allowed.

use histeq::frame::{Frame, limits};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// How often the source checks whether it may go on. Frames that fill the memory take far longer to process.
const INTERVAL: Duration = Duration::from_millis(1);

/// The frames between source and sink. Those that wait in the stage for later frames do not count: they move only if
/// the source goes on.
#[derive(Default)]
pub(super) struct Flow {
    /// Frames in the channels and in the sink.
    moving: AtomicUsize,
    /// Frames that the stage can send on without more input.
    in_stage: AtomicUsize,
    /// Bytes of the last frame.
    frame_bytes: AtomicUsize,
}

impl Flow {
    /// Waits until there is room for another frame like the last one, or `interrupt` is set.
    pub fn wait_for_room(&self, interrupt: &AtomicBool) {
        while !self.has_room() && !interrupt.load(SeqCst) {
            std::thread::sleep(INTERVAL);
        }
    }

    fn has_room(&self) -> bool {
        let frames = self.moving.load(SeqCst) + self.in_stage.load(SeqCst);
        // Each frame has a result of the same size.
        frames == 0 || 2 * (frames + 1) * self.frame_bytes.load(SeqCst) <= limits::under_way()
    }

    /// Notes that the source sends this frame.
    pub fn read(&self, frame: &Frame) {
        self.frame_bytes.store(frame.bytes(), SeqCst);
        self.moving.fetch_add(1, SeqCst);
    }

    /// Notes that the stage has taken in a frame, and can send on `in_stage` frames without more input.
    pub fn taken_in(&self, in_stage: usize) {
        self.holds(in_stage);
        self.moving.fetch_sub(1, SeqCst);
    }

    /// Notes that the stage can send on `in_stage` frames without more input.
    pub fn holds(&self, in_stage: usize) {
        self.in_stage.store(in_stage, SeqCst);
    }

    /// Notes that the stage sends a frame on, and can send on `in_stage` more without more input.
    pub fn sent_on(&self, in_stage: usize) {
        self.moving.fetch_add(1, SeqCst);
        self.holds(in_stage);
    }

    /// Notes that the sink has written a frame.
    pub fn written(&self) {
        self.moving.fetch_sub(1, SeqCst);
    }
}
