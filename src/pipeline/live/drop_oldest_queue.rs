//! A short queue that never makes its writer wait: when it is full, the oldest entry makes room and is counted.

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

/// Holds the newest `capacity` entries; a capacity of one is a slot.
pub struct DropOldestQueue<T> {
    /// `None` once it is closed.
    sender: RwLock<Option<Sender<T>>>,
    receiver: Receiver<T>,
    dropped: AtomicU64,
}

impl<T> DropOldestQueue<T> {
    /// An empty queue; a capacity of 0 counts as 1.
    pub fn new(capacity: usize) -> Self {
        let (sender, receiver) = bounded(capacity.max(1));
        DropOldestQueue { sender: RwLock::new(Some(sender)), receiver, dropped: AtomicU64::new(0) }
    }

    /// Puts an entry in, at the cost of the oldest one if there is no room. What comes after the close is dropped.
    pub fn push(&self, entry: T) {
        let sender = self.sender.read().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = sender.as_ref() else { return };
        let mut sent = sender.try_send(entry);
        while let Err(TrySendError::Full(entry)) = sent {
            // A reader may have made room meanwhile.
            if self.receiver.try_recv().is_ok() {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
            sent = sender.try_send(entry);
        }
    }

    /// The oldest entry, waiting for one until the queue is closed and empty.
    pub fn pop(&self) -> Option<T> {
        self.receiver.recv().ok()
    }

    /// The same, waiting for this long at most.
    ///
    /// # Errors
    /// `Timeout` when there is no entry yet, `Disconnected` when there will be none.
    pub fn pop_within(&self, time: Duration) -> Result<T, RecvTimeoutError> {
        self.receiver.recv_timeout(time)
    }

    /// The oldest entry, if there is one.
    pub fn try_pop(&self) -> Option<T> {
        self.receiver.try_recv().ok()
    }

    /// Takes nothing more; what is in it can still be had.
    pub fn close(&self) {
        *self.sender.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// How many entries had to make room.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Closes the queue when the guard goes, whichever way that is.
    pub fn close_after(&self) -> impl Drop + '_ {
        Closing(self)
    }
}

struct Closing<'a, T>(&'a DropOldestQueue<T>);

impl<T> Drop for Closing<'_, T> {
    fn drop(&mut self) {
        self.0.close();
    }
}
