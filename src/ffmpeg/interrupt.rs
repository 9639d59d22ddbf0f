//! What ends a read that waits: somebody's wish to stop, or a time-out.

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
}

const NEVER: u64 = u64::MAX;

fn now() -> u64 {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    EPOCH.get_or_init(Instant::now).elapsed().as_millis() as u64
}

impl From<Arc<AtomicBool>> for Interrupt {
    /// Interrupts when the flag is set, and has no time-out as yet.
    fn from(wish: Arc<AtomicBool>) -> Self {
        Interrupt(Arc::new(Inner { wish, deadline: AtomicU64::new(NEVER) }))
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

    /// Is it time to stop waiting?
    pub fn is_due(&self) -> bool {
        let deadline = self.0.deadline.load(Ordering::Relaxed);
        self.0.wish.load(Ordering::Relaxed) || deadline != NEVER && now() > deadline
    }
}
