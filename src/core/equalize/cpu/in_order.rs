//! A section that workers enter in order: frames are counted and mapped in parallel, but their curves are made one
//! after the other, in the order of the video, because a curve may depend on earlier frames.

use std::sync::{Condvar, Mutex, PoisonError};

/// State to which tickets 0, 1, 2, ... get access, in this order.
pub struct InOrder<T> {
    inner: Mutex<Inner<T>>,
    moved: Condvar,
}

struct Inner<T> {
    state: T,
    next: u64,
    closed: bool,
}

/// The section is closed: an earlier ticket will never be used.
#[derive(Debug, PartialEq, Eq)]
pub struct Closed;

impl<T> InOrder<T> {
    /// A section around `state`, waiting for ticket 0.
    pub fn new(state: T) -> Self {
        InOrder { inner: Mutex::new(Inner { state, next: 0, closed: false }), moved: Condvar::new() }
    }

    /// Waits until every ticket before `ticket` has passed, then calls `work` with the state.
    ///
    /// # Errors
    /// When the section is closed before this ticket's turn.
    pub fn pass<R>(&self, ticket: u64, work: impl FnOnce(&mut T) -> R) -> Result<R, Closed> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let mut inner = self
            .moved
            .wait_while(inner, |inner| inner.next != ticket && !inner.closed)
            .unwrap_or_else(PoisonError::into_inner);
        if inner.closed {
            return Err(Closed);
        }
        let result = work(&mut inner.state);
        inner.next += 1;
        self.moved.notify_all();
        Ok(result)
    }

    /// Refuses all tickets from now on, waiting ones included, because an earlier ticket will never be used.
    pub fn close(&self) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_pass_in_order_however_they_arrive() {
        let in_order = InOrder::new(Vec::new());
        std::thread::scope(|scope| {
            for ticket in [2, 0, 3, 1] {
                let in_order = &in_order;
                scope.spawn(move || in_order.pass(ticket, |seen| seen.push(ticket)));
            }
        });
        assert_eq!(in_order.inner.into_inner().unwrap().state, [0, 1, 2, 3]);
    }

    #[test]
    fn closing_turns_away_those_who_wait_for_a_ticket_that_never_comes() {
        let in_order = InOrder::new(());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| in_order.pass(1, |()| ()));
            in_order.close();
            assert_eq!(waiting.join().unwrap(), Err(Closed));
        });
    }
}
