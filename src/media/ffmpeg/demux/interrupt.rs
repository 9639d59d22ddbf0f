//! Ends a blocking read or write of FFmpeg: on cancellation, or after a time-out.
#![allow(unsafe_code, reason = "a C callback")]

use ffmpeg_next::ffi;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A cancellation flag and a time-out, which FFmpeg polls while it waits. Clones share them.
#[derive(Clone)]
pub struct Interrupt(Arc<InterruptState>);

struct InterruptState {
    cancelled: Arc<AtomicBool>,
    /// When waiting times out: milliseconds on the clock of [`now`]; `NEVER` for no time-out.
    deadline: AtomicU64,
    /// Milliseconds that may pass between cancellation and the interrupt.
    grace: AtomicU64,
    /// When cancellation was first noticed, on the clock of [`now`]; else `NEVER`.
    cancelled_at: AtomicU64,
}

const NEVER: u64 = u64::MAX;

/// Milliseconds since the first call.
fn now() -> u64 {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    EPOCH.get_or_init(Instant::now).elapsed().as_millis() as u64
}

impl From<Arc<AtomicBool>> for Interrupt {
    /// An interrupt that is due when the flag is set. It has no time-out yet.
    fn from(cancelled: Arc<AtomicBool>) -> Self {
        Interrupt(Arc::new(InterruptState {
            cancelled,
            deadline: AtomicU64::new(NEVER),
            grace: AtomicU64::new(0),
            cancelled_at: AtomicU64::new(NEVER),
        }))
    }
}

impl Interrupt {
    /// Sets a time-out, which starts now.
    pub fn set_timeout(&self, time: Duration) {
        self.0.deadline.store(now() + time.as_millis() as u64, Ordering::Relaxed);
    }

    /// Removes the time-out.
    pub fn clear_timeout(&self) {
        self.0.deadline.store(NEVER, Ordering::Relaxed);
    }

    /// Sets the time that may pass between cancellation and the interrupt, for finishing the output.
    pub fn set_grace(&self, time: Duration) {
        self.0.grace.store(time.as_millis() as u64, Ordering::Relaxed);
    }

    /// Restarts the grace time after cancellation, for another blocking call.
    pub fn begin_grace(&self) {
        self.0.cancelled_at.store(NEVER, Ordering::Relaxed);
    }

    /// Whether a blocking call must return now.
    pub fn is_due(&self) -> bool {
        let deadline = self.0.deadline.load(Ordering::Relaxed);
        self.0.cancelled.load(Ordering::Relaxed) && self.is_grace_over() || deadline != NEVER && now() > deadline
    }

    fn is_grace_over(&self) -> bool {
        let grace = self.0.grace.load(Ordering::Relaxed);
        let cancelled_at = self.0.cancelled_at.fetch_min(now(), Ordering::Relaxed);
        grace == 0 || cancelled_at != NEVER && now() > cancelled_at + grace
    }

    /// The callback that FFmpeg polls while it waits. The interrupt has to outlive every context that holds it.
    pub(crate) fn callback(&self) -> ffi::AVIOInterruptCB {
        ffi::AVIOInterruptCB { callback: Some(is_due), opaque: std::ptr::from_ref(self).cast_mut().cast() }
    }
}

unsafe extern "C" fn is_due(interrupt: *mut c_void) -> i32 {
    // SAFETY: `interrupt` is the pointer from `callback`, whose target outlives the context.
    unsafe { &*interrupt.cast::<Interrupt>() }.is_due().into()
}
