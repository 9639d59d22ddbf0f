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
    /// Set when waiting for input is to end.
    abandoned: Arc<AtomicBool>,
    /// The flags of parts of the run, which are cancelled with this one.
    parts: Arc<Mutex<Vec<Cancel>>>,
}

impl Cancel {
    /// Requests a clean end: no more frames are read, and those that have been are finished as far as that takes little
    /// time.
    pub fn cancel(&self) {
        self.since.get_or_init(Instant::now);
        self.cancelled.store(true, Ordering::SeqCst);
        self.abandon();
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(Cancel::cancel);
    }

    /// A flag for a part of the run: it is cancelled with this one, and can be cancelled by itself.
    pub fn part(&self) -> Self {
        let part = Cancel::default();
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        // Drops parts whose run has ended: the clone in this list is the last one.
        parts.retain(|part| Arc::strong_count(&part.parts) > 1);
        parts.push(part.clone());
        drop(parts);
        if self.is_cancelled() {
            part.cancel();
        }
        part
    }

    /// Ends all waiting for input without a request to cancel: for a run that is over, or has failed.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::SeqCst);
    }

    /// Lets another run wait for input again after one that is over, unless a clean end was requested.
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

    /// Whether a clean end was requested this long ago, or longer.
    pub fn is_over_for(&self, time: Duration) -> bool {
        self.since.get().is_some_and(|since| since.elapsed() >= time)
    }

    /// The flag that is set when waiting for input is to end, for code that waits.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.abandoned.clone()
    }
}
