//! A wish to stop, which any thread can express and every stage looks at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by its clones. Once cancelled, it stays so.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks for a clean end: what has been read is finished, nothing more is read.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Has somebody asked?
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for a C callback.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}
