//! A wish to stop, which any thread can express and every stage looks at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by its clones. Once cancelled, it stays so.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    asked: Arc<AtomicBool>,
    /// Nobody needs to wait for input any more.
    waits_no_more: Arc<AtomicBool>,
}

impl Cancel {
    /// Asks for a clean end: what has been read is finished, nothing more is read.
    pub fn cancel(&self) {
        self.asked.store(true, Ordering::Relaxed);
        self.abandon();
    }

    /// Ends all waiting for input, because nobody is there any more to take it. The end is not one that was asked for.
    pub fn abandon(&self) {
        self.waits_no_more.store(true, Ordering::Relaxed);
    }

    /// Has somebody asked?
    pub fn is_cancelled(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// What is set when waiting for input is to end, for whoever waits.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.waits_no_more.clone()
    }
}
