//! Cancellation: a flag that any thread can set and every stage checks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A cancellation flag, shared by its clones. A request to cancel cannot be taken back.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    cancelled: Arc<AtomicBool>,
    /// Waiting for input is to end.
    abandoned: Arc<AtomicBool>,
    /// Those that are cancelled with it.
    parts: Arc<Mutex<Vec<Cancel>>>,
}

impl Cancel {
    /// Requests a clean end: all frames that have been read are finished, and no more are read.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        self.abandon();
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(Cancel::cancel);
    }

    /// A flag for a part of the run: it is cancelled with this one, and can be cancelled by itself. To be called before this
    /// one can be cancelled.
    pub fn part(&self) -> Self {
        let part = Cancel::default();
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).push(part.clone());
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

    /// The flag that is set when waiting for input is to end, for code that waits.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.abandoned.clone()
    }
}
