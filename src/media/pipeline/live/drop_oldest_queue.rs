//! A bounded queue whose writer need not wait: when it is full, the oldest entry is dropped and counted.

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::thread::sleep;
use std::time::Duration;

/// How long a waiting writer sleeps before it checks for room again.
const ROOM: Duration = Duration::from_millis(1);

/// Holds the newest `capacity` entries.
pub struct DropOldestQueue<T> {
    /// `None` once the queue is closed.
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

    /// Adds an entry; drops the oldest one if the queue is full. After [`close`](Self::close), does nothing.
    pub fn push(&self, entry: T) {
        let sender = self.sender.read().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = sender.as_ref() else { return };
        let mut sent = sender.try_send(entry);
        while let Err(TrySendError::Full(entry)) = sent {
            // In the meantime, a reader may have removed an entry: then none is dropped.
            if self.receiver.try_recv().is_ok() {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
            sent = sender.try_send(entry);
        }
    }

    /// As [`push`](Self::push), but waits for room while `waits` returns true.
    pub fn push_after_waiting(&self, entry: T, waits: impl Fn() -> bool) {
        while self.receiver.is_full() && waits() {
            sleep(ROOM);
        }
        self.push(entry);
    }

    /// Removes the oldest entry; waits if there is none. `None` if the queue is closed and empty.
    pub fn pop(&self) -> Option<T> {
        self.receiver.recv().ok()
    }

    /// Removes the oldest entry; waits at most `time` for one.
    ///
    /// # Errors
    /// `Timeout` if there is no entry yet, `Disconnected` if the queue is closed and empty.
    pub fn pop_within(&self, time: Duration) -> Result<T, RecvTimeoutError> {
        self.receiver.recv_timeout(time)
    }

    /// Removes the oldest entry, if there is one.
    pub fn try_pop(&self) -> Option<T> {
        self.receiver.try_recv().ok()
    }

    /// Closes the queue to new entries; those in it can still be read.
    pub fn close(&self) {
        *self.sender.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Number of entries.
    pub fn waiting(&self) -> usize {
        self.receiver.len()
    }

    /// Number of dropped entries.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}
