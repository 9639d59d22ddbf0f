//! Several live runs at the same time.

use super::engine::TICK;
use crate::pipeline::flow::start;
use anyhow::{Result, anyhow};
use crossbeam_channel::{Sender, unbounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Scope, scope};

/// Tasks, each on its own thread. A task that ends or fails does not affect the others.
pub struct Works<'scope, 'env, T> {
    scope: &'scope Scope<'scope, 'env>,
    results: Sender<(usize, Result<T>)>,
    running: usize,
}

impl<'env, T: Send + 'env> Works<'_, 'env, T> {
    /// Starts a task. Its end is reported with `number`.
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
            // Sending never blocks, because the channel is unbounded.
            self.results.send((number, Err(error))).unwrap_or_default();
        }
    }
}

/// An event that [`run_several`] reports.
pub enum Happened<T> {
    /// The task of this number has ended.
    Ended(usize, Result<T>),
    /// No task has ended in the last 100 ms. Also reported once at the start.
    Nothing,
}

/// Calls `on` at the start, then whenever a task ends, and after every 100 ms without an end. Returns when no task runs
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
