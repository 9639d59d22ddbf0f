//! Ends a read or a write that blocks: on cancellation, or after a time-out.
#![allow(unsafe_code, reason = "a C callback")]

use ffmpeg_next::ffi;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Shared by its clones, and looked at by FFmpeg's callback.
#[derive(Clone)]
pub struct Interrupt(Arc<Inner>);

struct Inner {
    wish: Arc<AtomicBool>,
    /// Milliseconds since `epoch`; `NEVER` for none.
    deadline: AtomicU64,
    /// How many milliseconds there still are after the wish.
    grace: AtomicU64,
    /// When the wish was first seen, like `deadline`.
    seen: AtomicU64,
}

const NEVER: u64 = u64::MAX;

fn now() -> u64 {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    EPOCH.get_or_init(Instant::now).elapsed().as_millis() as u64
}

impl From<Arc<AtomicBool>> for Interrupt {
    /// Interrupts when the flag is set, and has no time-out as yet.
    fn from(wish: Arc<AtomicBool>) -> Self {
        Interrupt(Arc::new(Inner {
            wish,
            deadline: AtomicU64::new(NEVER),
            grace: AtomicU64::new(0),
            seen: AtomicU64::new(NEVER),
        }))
    }
}

impl Interrupt {
    /// From now on, waiting may take this long.
    pub fn allow(&self, time: Duration) {
        self.0.deadline.store(now() + time.as_millis() as u64, Ordering::Relaxed);
    }

    /// From now on, waiting may take as long as it likes.
    pub fn allow_any(&self) {
        self.0.deadline.store(NEVER, Ordering::Relaxed);
    }

    /// From now on, there is this much time left after the wish to stop, so that what was begun can be completed.
    pub fn allow_after_wish(&self, time: Duration) {
        self.0.grace.store(time.as_millis() as u64, Ordering::Relaxed);
    }

    /// Is it time to stop waiting?
    pub fn is_due(&self) -> bool {
        let deadline = self.0.deadline.load(Ordering::Relaxed);
        self.0.wish.load(Ordering::Relaxed) && self.is_grace_over() || deadline != NEVER && now() > deadline
    }

    fn is_grace_over(&self) -> bool {
        let grace = self.0.grace.load(Ordering::Relaxed);
        let seen = self.0.seen.fetch_min(now(), Ordering::Relaxed);
        grace == 0 || seen != NEVER && now() > seen + grace
    }

    /// What FFmpeg calls while it waits. The interrupt has to outlive whatever keeps this.
    pub(super) fn callback(&self) -> ffi::AVIOInterruptCB {
        ffi::AVIOInterruptCB { callback: Some(is_due), opaque: std::ptr::from_ref(self).cast_mut().cast() }
    }
}

unsafe extern "C" fn is_due(interrupt: *mut c_void) -> i32 {
    // SAFETY: `interrupt` is from `callback`, and what it points to lives on.
    unsafe { &*interrupt.cast::<Interrupt>() }.is_due().into()
}
