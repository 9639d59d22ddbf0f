//! A short queue that never makes its writer wait: when it is full, the oldest entry makes room and is counted.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Holds the newest `capacity` entries; a capacity of one is a slot.
pub struct DropOldestQueue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    entries: VecDeque<T>,
    capacity: usize,
    closed: bool,
    dropped: u64,
}

/// What a look into the queue finds.
#[derive(Debug, PartialEq, Eq)]
pub enum Popped<T> {
    /// The oldest entry.
    Entry(T),
    /// Nothing yet.
    Empty,
    /// Nothing any more.
    Closed,
}

impl<T> DropOldestQueue<T> {
    /// An empty queue; a capacity of 0 counts as 1.
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.max(1);
        let state = State { entries: VecDeque::with_capacity(capacity), capacity, closed: false, dropped: 0 };
        DropOldestQueue { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Puts an entry in, at the cost of the oldest one if there is no room. What comes after the close is dropped.
    pub fn push(&self, entry: T) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        if state.entries.len() == state.capacity {
            state.entries.pop_front();
            state.dropped += 1;
        }
        state.entries.push_back(entry);
        self.changed.notify_one();
    }

    /// The oldest entry, waiting for one until the queue is closed and empty.
    pub fn pop(&self) -> Option<T> {
        let nothing = |state: &mut State<T>| state.entries.is_empty() && !state.closed;
        let waited = self.changed.wait_while(self.lock(), nothing);
        waited.unwrap_or_else(PoisonError::into_inner).entries.pop_front()
    }

    /// The same, waiting for this long at most.
    pub fn pop_within(&self, time: Duration) -> Popped<T> {
        let nothing = |state: &mut State<T>| state.entries.is_empty() && !state.closed;
        let waited = self.changed.wait_timeout_while(self.lock(), time, nothing);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match state.entries.pop_front() {
            Some(entry) => Popped::Entry(entry),
            None if state.closed => Popped::Closed,
            None => Popped::Empty,
        }
    }

    /// The oldest entry, if there is one.
    pub fn try_pop(&self) -> Option<T> {
        self.lock().entries.pop_front()
    }

    /// Takes nothing more; what is in it can still be had.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// How many entries had to make room.
    pub fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    /// Closes the queue when the guard goes, whichever way that is.
    pub fn close_after(&self) -> impl Drop + '_ {
        Closing(self)
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Closing<'a, T>(&'a DropOldestQueue<T>);

impl<T> Drop for Closing<'_, T> {
    fn drop(&mut self) {
        self.0.close();
    }
}
