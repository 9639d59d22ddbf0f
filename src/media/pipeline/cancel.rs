//! Cancellation: a flag that any thread can set and every stage checks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A cancellation flag, shared by its clones. A request to cancel cannot be taken back.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    cancelled: Arc<AtomicBool>,
    /// When the flag was set.
    since: Arc<OnceLock<Instant>>,
    /// Set when waiting for input has to end.
    abandoned: Arc<AtomicBool>,
    /// The flags for parts of the run, which are cancelled together with this one.
    parts: Arc<Mutex<Vec<Cancel>>>,
}

impl Cancel {
    /// Requests a clean end: no more frames are read, and frames that have been read are processed if that takes little
    /// time.
    pub fn cancel(&self) {
        self.since.get_or_init(Instant::now);
        self.cancelled.store(true, Ordering::SeqCst);
        self.abandon();
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(Cancel::cancel);
    }

    /// A flag for a part of the run: it is cancelled together with this one, and can be cancelled separately.
    pub fn part(&self) -> Self {
        let part = Cancel::default();
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        // Removes the flags of parts that have ended, whose last clone is in this list.
        parts.retain(|part| Arc::strong_count(&part.parts) > 1);
        parts.push(part.clone());
        drop(parts);
        if self.is_cancelled() {
            part.cancel();
        }
        part
    }

    /// Ends all waiting for input without requesting a clean end, because the run is over or has failed.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::SeqCst);
    }

    /// Allows waiting for input again, for another run after one that is over, unless a clean end was requested.
    pub fn begin_again(&self) {
        self.abandoned.store(false, Ordering::SeqCst);
        if self.cancelled.load(Ordering::SeqCst) {
            self.abandon();
        }
    }

    /// Whether a clean end was requested.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Whether a clean end was requested at least `time` ago.
    pub fn is_over_for(&self, time: Duration) -> bool {
        self.since.get().is_some_and(|since| since.elapsed() >= time)
    }

    /// The flag that is set when waiting for input has to end, for code that waits.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.abandoned.clone()
    }
}
