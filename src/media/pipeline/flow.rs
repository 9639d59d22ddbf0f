//! Holds the source back while as many bytes of frames are on their way to the sink as [`limits::under_way`] allows.
//! Channels count frames, of which a few can fill the memory. There is always room for one frame.

use histeq::frame::{Frame, limits};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// How often the source looks whether there is room again. Frames that fill the memory take far longer.
const INTERVAL: Duration = Duration::from_millis(1);

/// The frames between source and sink. Those that wait in the stage for later frames do not count: they move only if
/// the source goes on.
#[derive(Default)]
pub(super) struct Flow {
    /// Frames in the channels and in the sink.
    moving: AtomicUsize,
    /// Frames that come out of the stage without another one.
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
        // Each of them has a result.
        frames == 0 || 2 * (frames + 1) * self.frame_bytes.load(SeqCst) <= limits::under_way()
    }

    /// The source sends this frame.
    pub fn read(&self, frame: &Frame) {
        self.frame_bytes.store(frame.bytes(), SeqCst);
        self.moving.fetch_add(1, SeqCst);
    }

    /// The stage has taken a frame in, and can send on this many without another one.
    pub fn taken_in(&self, in_stage: usize) {
        self.holds(in_stage);
        self.moving.fetch_sub(1, SeqCst);
    }

    /// The stage can send on this many frames without another one.
    pub fn holds(&self, in_stage: usize) {
        self.in_stage.store(in_stage, SeqCst);
    }

    /// The stage sends a frame on, and can send on this many more.
    pub fn sent_on(&self, in_stage: usize) {
        self.moving.fetch_add(1, SeqCst);
        self.holds(in_stage);
    }

    /// The sink has written a frame.
    pub fn written(&self) {
        self.moving.fetch_sub(1, SeqCst);
    }
}
