//! Pauses the source while the frames between source and sink take more bytes than [`Limits`] allow.
//! Channels only limit the number of frames, and a few large frames can fill the memory. One frame is always allowed.

use crate::sys::no_thread;
use anyhow::{Result, anyhow};
use histeq::Limits;
use histeq::internal::frame::Frame;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

/// How often the source checks whether it may continue. Processing frames that fill the memory takes far longer.
const INTERVAL: Duration = Duration::from_millis(1);

/// The frames between source and sink. Frames in the stage that wait for later frames do not count: they can leave only
/// if the source continues.
pub(super) struct Flow {
    /// The most bytes of these frames.
    most_bytes: usize,
    /// Frames in the channels and in the sink.
    moving: AtomicUsize,
    /// Frames that the stage can send on without more input.
    in_stage: AtomicUsize,
    /// Size of the last frame, in bytes.
    frame_bytes: AtomicUsize,
}

impl Flow {
    /// No frame, within these limits.
    pub fn new(limits: &Limits) -> Self {
        Flow {
            most_bytes: limits.under_way(),
            moving: AtomicUsize::new(0),
            in_stage: AtomicUsize::new(0),
            frame_bytes: AtomicUsize::new(0),
        }
    }

    /// Waits until there is room for another frame of the last frame's size, or `interrupt` is set.
    pub fn wait_for_room(&self, interrupt: &AtomicBool) {
        while !self.has_room() && !interrupt.load(SeqCst) {
            std::thread::sleep(INTERVAL);
        }
    }

    fn has_room(&self) -> bool {
        let frames = self.moving.load(SeqCst) + self.in_stage.load(SeqCst);
        // Twice, because the equalized frame is as large as its original.
        frames == 0 || 2 * (frames + 1) * self.frame_bytes.load(SeqCst) <= self.most_bytes
    }

    /// Notes that the source sends this frame.
    pub fn read(&self, frame: &Frame) {
        self.frame_bytes.store(frame.bytes(), SeqCst);
        self.moving.fetch_add(1, SeqCst);
    }

    /// Notes that the stage has received a frame, and can send on `in_stage` frames without more input.
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

/// Starts a thread named `name`.
///
/// # Errors
/// When the system cannot start a thread. Then `stop` is called first, so that threads started earlier end.
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    stop: &dyn Fn(),
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().name(name.to_owned()).spawn_scoped(scope, work).map_err(|error| {
        stop();
        no_thread(&error)
    })
}

/// The result of the thread of a stage; a panic becomes an error.
pub fn joined<T>(stage: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    let name = stage.thread().name().unwrap_or("stage").to_owned();
    stage.join().unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(anyhow!("bug in the {name} stage: {text} (please report it)"))
    })
}

/// Calls a function when it is dropped.
pub struct OnDrop<F: Fn()>(pub F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
