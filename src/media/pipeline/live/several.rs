//! Several live runs at the same time.

use super::engine::TICK;
use crate::pipeline::threads::start;
use anyhow::{Result, anyhow};
use crossbeam_channel::{Sender, unbounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Scope, scope};

/// Works, each on a thread of its own. One that ends or fails does not affect the others.
pub struct Works<'scope, 'env, T> {
    scope: &'scope Scope<'scope, 'env>,
    results: Sender<(usize, Result<T>)>,
    running: usize,
}

impl<'env, T: Send + 'env> Works<'_, 'env, T> {
    /// Begins a work. Its end is reported with this number.
    pub fn begin(&mut self, number: usize, work: impl FnOnce() -> Result<T> + Send + 'env) {
        let results = self.results.clone();
        self.running += 1;
        let work = move || {
            let done = catch_unwind(AssertUnwindSafe(work));
            let result = done.unwrap_or_else(|_| Err(anyhow!("bug in the source stage (please report it)")));
            // The receiver outlives the threads.
            results.send((number, result)).unwrap_or_default();
        };
        if let Err(error) = start(self.scope, "source", &|| (), work) {
            // The number of messages in this channel has no limit.
            self.results.send((number, Err(error))).unwrap_or_default();
        }
    }
}

/// What [`run_several`] waits for.
pub enum Happened<T> {
    /// The work of this number has ended.
    Ended(usize, Result<T>),
    /// No work has ended in the last 100 ms; also sent at first.
    Nothing,
}

/// Calls `on` at first, then for each work that ends, and after every 100 ms without one. Returns when no work is left
/// and `on` has returned false. `on` is called on this thread.
pub fn run_several<'env, T: Send + 'env>(mut on: impl FnMut(Happened<T>, &mut Works<'_, 'env, T>) -> bool) {
    scope(|scope| {
        let (results, received) = unbounded();
        let mut works = Works { scope, results, running: 0 };
        let mut goes_on = on(Happened::Nothing, &mut works);
        while works.running > 0 || goes_on {
            goes_on = match received.recv_timeout(TICK) {
                Ok((number, result)) => {
                    works.running -= 1;
                    on(Happened::Ended(number, result), &mut works)
                }
                Err(_) => on(Happened::Nothing, &mut works),
            };
        }
    });
}
